import RetintFiles
import RetintTestSupport
import Testing

/// Values that share bytes of a file are bounded by its size.
@Suite struct SharedBytesTests {
    private let scratch: TemporaryFolder

    init() throws { scratch = try TemporaryFolder() }

    private func shared(_ sizes: Int...) throws -> SharedBytes {
        var shared = SharedBytes()
        for (index, size) in sizes.enumerated() {
            let path = scratch.path("\(index)")
            try AtomicFile.write([UInt8](repeating: 1, count: size), to: path)
            shared.add(try RegularFile(path))
        }
        return shared
    }

    @Test func smallValuesMayBeShared() throws {
        var shared = try shared(1000)
        for _ in 0..<1000 { #expect(shared.take(1000) == nil) }
    }

    @Test func fourCopiesOfLargeFilesAreAllowed() throws {
        var shared = try shared(20 << 20, 1 << 20)
        for _ in 0..<4 { #expect(shared.take(21 << 20) == nil) }
        #expect(shared.take(1)?.contains("bytes from files of \(21 << 20)") == true)
    }

    @Test func nothingOverflows() throws {
        var shared = try shared(1)
        #expect(shared.take(.max) != nil)
        #expect(shared.take(.max) != nil)
    }
}
