import RetintFiles
import RetintTensors

/// A tensor of float32 whose elements lie in a file one after another, and are read when they are
/// needed.
///
/// They are read, not mapped: a mapped file that another program cuts short ends the process.
struct FileTensor: TensorSource {
    let shape: Shape
    let file: RegularFile
    /// Where the first element lies, in bytes.
    let offset: Int

    func read(_ range: Range<Int>, into target: UnsafeMutablePointer<Float>) throws {
        let size = MemoryLayout<Float>.size
        try file.fill(
            UnsafeMutableRawBufferPointer(start: target, count: range.count * size),
            at: offset + range.lowerBound * size)
        try file.requireUnchanged()
    }
}
