/// Elementwise work that no other kernel applies to its result: one program, or several that do not
/// depend on each other and run as one step, such as the updates of all parameters.
final class ElementwiseKernel: Kernel, ObservableKernel, BatchableKernel, InPlaceKernel {
    var observers: [any ObservingKernel] = []
    private let programs: [ElementwiseProgram]
    private let count: Int
    /// Elements that are passed to observers at a time.
    private static let nearElements = 1 << 13

    init(name: String, programs: [ElementwiseProgram]) {
        self.programs = programs
        count = programs.reduce(0) { $0 + $1.count }
        super.init(name: name, work: count)
    }

    var batchablePrograms: [ElementwiseProgram] { observers.isEmpty ? programs : [] }

    override func workspaceCount(threads: Int) -> Int {
        threads * scratchPerThread
    }

    /// A thread may still run one program while another thread runs the next.
    private var scratchPerThread: Int { programs.map(\.scratchPerThread).max() ?? 0 }

    override func bind(threads: Int, workspace: UnsafeMutablePointer<Float>) {
        for program in programs {
            program.bind(threads: threads, scratch: workspace, step: scratchPerThread)
        }
    }

    /// A range must consist of whole pixels and whole repetitions of the program's vectors.
    func canBeObserved(channels: Int) -> Bool {
        programs.count == 1
            && max(channels, programs[0].unit).isMultiple(of: min(channels, programs[0].unit))
    }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        guard observers.isEmpty else { return runObserved(part) }
        var offset = 0
        for program in programs {
            let range = part.range(count, of: program.count, at: offset, unit: program.unit)
            program.run(range, thread: part.index)
            offset += program.count
        }
    }

    private func runObserved(_ part: Part) {
        let unit = observers.reduce(programs[0].unit) { max($0, $1.channels) }
        let step = max(Self.nearElements / unit, 1) * unit
        let own = part.range(count, unit: unit)
        for start in stride(from: own.lowerBound, to: own.upperBound, by: step) {
            let range = start..<min(start + step, own.upperBound)
            programs[0].run(range, thread: part.index)
            notifyObservers(range, thread: part.index)
        }
    }
}
