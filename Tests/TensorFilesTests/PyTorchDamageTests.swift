import RetintGraph
import RetintTensorFiles
import RetintTestSupport
import Testing

/// Damaged PyTorch files are read or refused; whatever is read has the shape that it says.
@Suite struct PyTorchDamageTests {
    static let files = ["flat", "flat-legacy", "strided-legacy", "protocol-4-legacy"]

    @Test(arguments: files)
    func truncations(file: String) throws {
        try expectTruncationsRefused(of: file, .pytorch, readAll)
    }

    /// Every byte, turned over in two ways.
    @Test(arguments: files)
    func flippedBytes(file: String) throws {
        let scratch = try TemporaryFolder()
        let whole = try bytes(of: golden(file, .pytorch))
        let path = scratch.path("damaged.pth")
        for position in Array(whole.indices).sampled(file) {
            for mask in [1 << (position % 8), 0xff] as [UInt8] {
                var damaged = whole
                damaged[position] ^= mask
                try write(damaged, to: path)
                _ = failure { try readAll(path) }
            }
        }
    }

    /// The checksums of an archive find every change of an element.
    @Test func flippedNumbers() throws {
        let scratch = try TemporaryFolder()
        let whole = try bytes(of: golden("flat", .pytorch))
        let number = withUnsafeBytes(of: Float(17).bitPattern.littleEndian) { Array($0) }
        let place = try #require(
            whole.indices.dropLast(4).first { whole[$0..<$0 + 4].elementsEqual(number) })
        for offset in 0..<4 {
            var damaged = whole
            damaged[place + offset] ^= 1
            try write(damaged, to: scratch.path("damaged.pth"))
            let error = failure { try readAll(scratch.path("damaged.pth")) }
            #expect(error?.description.contains("checksum") == true)
        }
    }

    private func readAll(_ path: String) throws {
        try TensorFilesTests.readAll(PyTorchReader(path: path))
    }
}
