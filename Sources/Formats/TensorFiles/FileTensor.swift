import RetintFiles
import RetintTensors

/// A float32 tensor whose elements are contiguous in a file, and are read when they are
/// needed.
///
/// They are read, not mapped: if another program truncates a mapped file, the process crashes.
struct FileTensor: TensorSource {
    let shape: Shape
    let file: RegularFile
    /// The offset of the first element in bytes.
    let offset: Int

    func read(_ range: Range<Int>, into target: UnsafeMutablePointer<Float>) throws {
        let size = MemoryLayout<Float>.size
        try file.fill(
            UnsafeMutableRawBufferPointer(start: target, count: range.count * size),
            at: offset + range.lowerBound * size)
        try file.requireUnchanged()
    }
}
