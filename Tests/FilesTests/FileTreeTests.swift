import Glibc
import RetintFiles
import RetintTestSupport
import Testing

@Suite struct FileTreeTests {
    @Test func totalBytesCountsFilesInAllFolders() throws {
        let scratch = try TemporaryFolder()
        try createFolder(scratch.path("a/b"))
        try AtomicFile.write([1, 2, 3], to: scratch.path("a/three"))
        try AtomicFile.write([UInt8](repeating: 0, count: 5000), to: scratch.path("a/b/more"))
        #expect(try totalBytes(of: scratch.path("a")) == 5003)
        #expect(try totalBytes(of: scratch.path("a/three")) == 3)
    }

    @Test func totalBytesDoesNotFollowLinks() throws {
        let scratch = try TemporaryFolder()
        try createFolder(scratch.path("a"))
        try AtomicFile.write([UInt8](repeating: 0, count: 5000), to: scratch.path("outside"))
        symlink("../outside", scratch.path("a/link"))
        // The size of a link is the length of the path in it.
        #expect(try totalBytes(of: scratch.path("a")) == 10)
    }

    @Test func aFolderMayBeReachedByALink() throws {
        let scratch = try TemporaryFolder()
        try createFolder(scratch.path("a"))
        try AtomicFile.write([1, 2, 3], to: scratch.path("a/three"))
        symlink("a", scratch.path("link"))
        #expect(try totalBytes(of: scratch.path("link")) == 3)
    }

    @Test func totalBytesOfNothingIsAnError() throws {
        let scratch = try TemporaryFolder()
        let error = #expect(throws: FileError.self) { try totalBytes(of: scratch.path("none")) }
        #expect(error?.file == scratch.path("none"))
    }

    @Test func aTemporaryFolderIsRemoved() throws {
        struct Failure: Error {}
        var folder = ""
        let bytes = try withTemporaryFolder { path in
            folder = path
            try createFolder(path + "/sub")
            try AtomicFile.write([1, 2], to: path + "/sub/file")
            return try totalBytes(of: path)
        }
        #expect(bytes == 2)
        #expect(access(folder, F_OK) != 0)
        #expect(throws: Failure.self) {
            try withTemporaryFolder { path in
                folder = path
                throw Failure()
            }
        }
        #expect(access(folder, F_OK) != 0)
    }
}
