/// A kernel made of one C loop over a range of rows or channels.
final class LoopKernel: Kernel {
    private let count: Int
    private let scratch: Int
    private let body: (Range<Int>, UnsafeMutablePointer<Float>) -> Void

    /// - Parameters:
    ///   - scratch: the workspace of each thread in floats.
    ///   - body: does one part of the work with that workspace.
    init(
        name: String, work: Int, count: Int, scratch: Int,
        body: @escaping (Range<Int>, UnsafeMutablePointer<Float>) -> Void
    ) {
        (self.count, self.scratch, self.body) = (count, scratch, body)
        super.init(name: name, work: work)
    }

    convenience init(name: String, work: Int, count: Int, body: @escaping (Range<Int>) -> Void) {
        self.init(name: name, work: work, count: count, scratch: 0) { range, _ in body(range) }
    }

    override func workspaceCount(threads: Int) -> Int { threads * scratch }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        body(part.range(count), workspace + part.index * scratch)
    }
}
