import CRetintImageCodecs

/// The packed rows of an image. The bytes do not depend on the number of threads.
final class PNGBlocks {
    /// Without bytes if memory ran out.
    let blocks: [CodecBlock]

    /// The bytes of a block before compression: enough that the overhead of starting one is small
    /// and that its end adds little to the file.
    private static let blockBytes = 1 << 18

    init(_ image: Image, level: Int32, threads: Int) {
        let (width, height) = (UInt32(clamping: image.width), UInt32(clamping: image.height))
        let rows = UInt32(max(Self.blockBytes / (3 * image.width + 1), 1))
        let starts = Array(stride(from: 0, to: height, by: Int(rows)))
        var blocks = [CodecBlock](repeating: CodecBlock(), count: starts.count)
        blocks.withUnsafeMutableBufferPointer { blocks in
            image.pixels.withUnsafeBufferPointer { pixels in
                concurrently(starts.count, threads: threads) { index in
                    let count = min(rows, height - starts[index])
                    codec_png_pack(
                        pixels.baseAddress, width, starts[index], count,
                        index == starts.count - 1, level, &blocks[index])
                }
            }
        }
        self.blocks = blocks
    }

    deinit {
        for block in blocks { codec_free(block.bytes) }
    }
}
