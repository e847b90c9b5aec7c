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

/// A tensor of float16 in a file, whose elements become float32 when they are read.
struct HalfFileTensor: TensorSource {
    let shape: Shape
    let file: RegularFile
    /// Where the first element lies, in bytes.
    let offset: Int

    func read(_ range: Range<Int>, into target: UnsafeMutablePointer<Float>) throws {
        let size = MemoryLayout<UInt16>.size
        let halves = try [UInt16](unsafeUninitializedCapacity: range.count) { buffer, count in
            let bytes = UnsafeMutableRawBufferPointer(
                UnsafeMutableBufferPointer(rebasing: buffer[..<range.count]))
            try file.fill(bytes, at: offset + range.lowerBound * size)
            count = range.count
        }
        try file.requireUnchanged()
        for index in halves.indices { target[index] = Float(halfBits: halves[index]) }
    }
}
