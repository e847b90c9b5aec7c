import RetintCompiler

/// Copies one buffer to another.
final class CopyKernel: Kernel {
    private let source: Buffer
    private let target: Buffer

    init(source: Buffer, target: Buffer) {
        self.source = source
        self.target = target
        super.init(name: "copy", work: source.count)
    }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        let range = part.range(source.count)
        (target.pointer + range.lowerBound).update(
            from: source.pointer + range.lowerBound, count: range.count)
    }
}
