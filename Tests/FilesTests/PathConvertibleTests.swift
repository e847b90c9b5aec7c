import Foundation
import RetintFiles
import RetintTestSupport
import SystemPackage
import Testing

@Suite struct PathConvertibleTests {
    @Test(arguments: ["/a/b c/ü.h5", "a.h5", "../a", "a%20b#c?d"])
    func stringPathAndURLAreAlike(path: String) {
        let absolute = URL(filePath: path).path
        #expect(path.filePath == FilePath(path))
        #expect(FilePath(path).filePath.string == path)
        #expect(URL(filePath: path).filePath.string == absolute)
    }

    @Test func eachNamesTheSameFile() throws {
        let scratch = try TemporaryFolder()
        let path = scratch.path("a b.txt")
        try AtomicFile.write([1, 2], to: path)
        #expect(try readFile(path) == [1, 2])
        #expect(try readFile(FilePath(path)) == [1, 2])
        #expect(try readFile(URL(filePath: path)) == [1, 2])
        #expect(FileIdentity(of: path) == FileIdentity(of: URL(filePath: path)))
    }

    @Test func nulDoesNotEndAPath() throws {
        let scratch = try TemporaryFolder()
        try AtomicFile.write([1], to: scratch.path("a"))
        #expect(throws: FileError.self) { try readFile(scratch.path("a\0b")) }
    }

    @Test func otherURLsNameNoFile() throws {
        let url = try #require(URL(string: "https://localhost/etc/passwd"))
        #expect(url.filePath.string == "https:/localhost/etc/passwd")
        #expect(throws: FileError.self) { try readFile(url) }
    }
}
