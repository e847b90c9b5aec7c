import RetintGraph
import RetintTensorFiles
import RetintTestSupport
import Testing

/// Damaged safetensors files are read or refused; whatever is read has the shape that it says.
@Suite struct SafetensorsDamageTests {
    static let files = ["flat", "types", "others", "names", "empty", "plain"]

    @Test(arguments: files)
    func truncations(file: String) throws {
        try expectTruncationsRefused(of: file, .safetensors, readAll)
    }

    /// Every byte of the length and the header, turned over in every way that one bit or all do.
    @Test(arguments: files)
    func flippedBytes(file: String) throws {
        let scratch = try TemporaryFolder()
        let whole = try bytes(of: golden(file, .safetensors))
        let path = scratch.path("damaged.safetensors")
        let header = Array(whole.indices.prefix(8 + headerLength(whole)))
        for position in header.sampled(file) {
            for mask in (0..<8).map({ 1 << $0 }) + [0xff] as [UInt8] {
                var damaged = whole
                damaged[position] ^= mask
                try write(damaged, to: path)
                _ = failure { try readAll(path) }
            }
        }
    }

    /// Numbers are not checked: whatever bits stand there are read.
    @Test func flippedNumbers() throws {
        let scratch = try TemporaryFolder()
        let whole = try bytes(of: golden("types", .safetensors))
        let path = scratch.path("damaged.safetensors")
        for position in whole.indices.dropFirst(8 + headerLength(whole)) {
            var damaged = whole
            damaged[position] ^= 0x7f
            try write(damaged, to: path)
            #expect(failure { try readAll(path) } == nil, "byte \(position)")
        }
    }

    private func headerLength(_ bytes: [UInt8]) -> Int {
        bytes.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    private func readAll(_ path: String) throws {
        try TensorFilesTests.readAll(SafetensorsReader(path: path))
    }
}
