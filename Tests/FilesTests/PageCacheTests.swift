import Foundation
import RetintFiles
import RetintTestSupport
import Testing

@Suite struct PageCacheTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func write(_ count: Int, to name: String) throws -> String {
        let path = folder.path(name)
        try Data((0..<count).map { UInt8(truncatingIfNeeded: $0) }).write(
            to: URL(filePath: path))
        return path
    }

    /// Whether the file system of the temporary folder can drop pages: one in memory, tmpfs, keeps
    /// all of them.
    private func canDrop() throws -> Bool {
        let result = try runProcess(
            URL(filePath: "/usr/bin/stat"), ["-f", "-c", "%T", folder.path])
        try #require(result.code == 0)
        return result.output != "tmpfs\n"
    }

    @Test func readingBringsPagesBack() throws {
        let path = try write(1_000_000, to: "file")
        #expect(try PageCache.residentBytes(of: path) >= 1_000_000)
        guard try canDrop() else { return }
        try PageCache.drop(path)
        #expect(try PageCache.residentBytes(of: path) == 0)
        let bytes = try readFile(path)
        #expect(bytes.count == 1_000_000 && bytes[999] == 231)
        #expect(try PageCache.residentBytes(of: path) >= 1_000_000)
    }

    @Test func coversFoldersAndWhatLinksLeadTo() throws {
        try FileManager.default.createDirectory(
            atPath: folder.path("model/Data"), withIntermediateDirectories: true)
        _ = try write(50_000, to: "model/Data/weights")
        _ = try write(10, to: "model/manifest")
        // A cycle of links must not be followed.
        for (link, target) in [("model/Data/up", ".."), ("link", "model")] {
            try FileManager.default.createSymbolicLink(
                atPath: folder.path(link), withDestinationPath: target)
        }
        let bytes = try PageCache.residentBytes(of: folder.path("model"))
        #expect(bytes >= 50_010 && bytes < 200_000)
        #expect(try PageCache.residentBytes(of: folder.path("link")) == bytes)
        guard try canDrop() else { return }
        try PageCache.drop(folder.path("link"))
        #expect(try PageCache.residentBytes(of: folder.path("model")) == 0)
    }

    @Test func anEmptyFileHasNoPages() throws {
        #expect(try PageCache.residentBytes(of: write(0, to: "empty")) == 0)
    }

    @Test func namesWhatIsMissing() {
        #expect(throws: FileError.self) { try PageCache.drop(folder.path("absent")) }
        #expect(throws: FileError.self) {
            try PageCache.residentBytes(of: folder.path("absent"))
        }
    }
}
