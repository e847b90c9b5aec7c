import CRetintKernels
import RetintCompiler

/// Rounds a convolution's whole input to 16 bits: first all threads look for its largest value,
/// which determines its scale.
struct HalfInputs {
    let x: Buffer
    let format: rt_format
    /// After scaling, the largest value is below 2^this.
    let exponent: Int
    let memory: UnsafeMutablePointer<Float>

    /// Floats between the threads' values: a cache line.
    private static let step = 16

    /// Floats of the threads' largest values.
    static func largestCount(threads: Int) -> Int { threads * step }

    /// Whether all threads must first call ``findLargest(_:)``.
    static func needsLargest(_ format: rt_format) -> Bool { format == RT_FLOAT16 }

    func findLargest(_ part: Part) {
        let own = part.range(x.count)
        memory[part.index * Self.step] = rt_max_abs(x.pointer + own.lowerBound, own.count)
    }

    func scale(_ part: Part) -> Float {
        guard Self.needsLargest(format) else { return 1 }
        let largest = (0..<part.of).reduce(Float(0)) { max($0, memory[$1 * Self.step]) }
        return format.scale(of: largest, below: exponent)
    }

    func round(_ part: Part, into target: UnsafeMutablePointer<rt_half>) {
        let own = part.range(x.count)
        rt_to_halves(
            target + own.lowerBound, x.pointer + own.lowerBound, own.count, scale(part), format)
    }
}
