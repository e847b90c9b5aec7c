import RetintCompiler
import RetintGraph
import RetintLocks
import RetintTensors

/// Reads the value of a variable, each thread a share of it, and lays it out in memory.
final class ReadingKernel: Kernel {
    private let source: any TensorSource
    private let buffer: Buffer
    private let firstFailure = Mutex<(any Error)?>(nil)

    /// Floats that are laid out at a time, so that they stay in a core's cache.
    private static let pieceFloats = 1 << 16

    init(_ name: String, _ source: any TensorSource, into buffer: Buffer) {
        (self.source, self.buffer) = (source, buffer)
        super.init(name: name, work: buffer.count)
    }

    /// Why the value was not read; nil if it was.
    var failure: (any Error)? { firstFailure.withLock { $0 } }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        do {
            if Layout.isRowMajor(buffer.shape) {
                let own = part.range(buffer.count)
                if !own.isEmpty { try source.read(own, into: buffer.pointer + own.lowerBound) }
            } else {
                try readSlices(part.range(buffer.shape[0]))
            }
        } catch {
            firstFailure.withLock { if $0 == nil { $0 = error } }
        }
    }

    /// Reads slices along the first axis, the first one in memory as well.
    private func readSlices(_ slices: Range<Int>) throws {
        let count = buffer.count / buffer.shape[0]
        let step = max(Self.pieceFloats / count, 1)
        let piece = UnsafeMutablePointer<Float>.allocate(capacity: min(step, slices.count) * count)
        defer { piece.deallocate() }
        for first in stride(from: slices.lowerBound, to: slices.upperBound, by: step) {
            var shape = buffer.shape
            shape[0] = min(step, slices.upperBound - first)
            try source.read(first * count..<(first + shape[0]) * count, into: piece)
            View(shape: shape, steps: shape.strides)
                .gather(from: piece, to: buffer.pointer + first * count, shape.count)
        }
    }
}
