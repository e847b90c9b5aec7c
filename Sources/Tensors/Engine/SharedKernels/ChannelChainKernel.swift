import CRetintKernels

/// A convolution, and one that does not mix its channels: each thread computes some channels of the
/// first result, then the same ones of the second, while they are in its cache.
final class ChannelChainKernel: Kernel {
    private let first, second: RowKernel
    private var isSplit = false
    private var secondWorkspace = 0

    /// - Returns: nil unless there is one kernel on either side, and both can compute some
    ///   channels.
    init?(_ first: [RowKernel], _ second: [RowKernel]) {
        guard first.count == 1, second.count == 1, let unit = second[0].channelUnit,
            first[0].channelUnit.map({ $0.isMultiple(of: unit) }) == true, second[0].keepsChannels,
            first[0].finishesWhenStored, second[0].finishesWhenStored
        else { return nil }
        (self.first, self.second) = (first[0], second[0])
        super.init(
            name: first[0].name + "+" + second[0].name, work: first[0].work + second[0].work)
    }

    override var multiplyAdds: Int { first.multiplyAdds + second.multiplyAdds }

    override func workspaceCount(threads: Int) -> Int {
        first.workspaceCount(threads: threads) + second.workspaceCount(threads: threads)
    }

    override func bind(threads: Int, workspace: UnsafeMutablePointer<Float>) {
        secondWorkspace = first.workspaceCount(threads: threads)
        first.bind(threads: threads, workspace: workspace)
        second.bind(threads: threads, workspace: workspace + secondWorkspace)
        isSplit = first.splitsChannels(threads)
    }

    override var phases: Int { isSplit ? 1 : first.phases + second.phases }

    private var channels: Int { first.output.shape[1] }
    private var unit: Int { first.channelUnit ?? channels }

    override func pieces(of phase: Int, threads: Int) -> Int {
        if isSplit { return first.pieces((channels - 1) / unit + 1, fewest: 1, threads: threads) }
        return phase < first.phases
            ? first.pieces(of: phase, threads: threads)
            : second.pieces(of: phase - first.phases, threads: threads)
    }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        guard !isSplit else { return runChannels(part, workspace) }
        if phase < first.phases {
            first.run(phase: phase, part: part, workspace)
        } else {
            second.run(phase: phase - first.phases, part: part, workspace + secondWorkspace)
        }
    }

    private func runChannels(_ part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        let own = part.range(channels, unit: unit)
        for start in stride(from: own.lowerBound, to: own.upperBound, by: unit) {
            let range = start..<min(start + unit, own.upperBound)
            first.compute(channels: range, part: part, workspace)
            second.compute(channels: range, part: part, workspace + secondWorkspace)
        }
    }
}
