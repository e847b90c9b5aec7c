import Glibc
import RetintTestSupport
import SystemPackage
import Testing

@testable import RetintFiles

@Suite struct PathBytesTests {
    private let scratch: TemporaryFolder

    init() throws { scratch = try TemporaryFolder() }

    /// The path of a name in a folder, with bytes that need not be UTF-8.
    private func path(_ name: [UInt8], in folder: String = "") -> FilePath {
        let bytes = Array("\(scratch.path(folder))/".utf8) + name
        return FilePath(platformString: bytes.map { CChar(bitPattern: $0) } + [0])
    }

    private func create(_ path: FilePath) {
        let descriptor = path.withPlatformString { open($0, O_CREAT | O_WRONLY, 0o600) }
        #expect(descriptor >= 0)
        close(descriptor)
    }

    /// A slash and a combining character are one `Character`.
    @Test(arguments: [
        "../\u{301}a", "a/../\u{301}b", "/\u{301}a", "a//\u{301}b", "./\u{200D}a", "../\u{FE0F}/a",
    ])
    func combiningCharactersHideNoFlaw(path: String) {
        #expect(RelativePath.flaw(in: path) != nil)
    }

    @Test(arguments: ["a/\u{301}b", "\u{301}", "..a/b", "a/e\u{301}"])
    func otherPathsArePlain(path: String) { #expect(RelativePath.flaw(in: path) == nil) }

    @Test func nothingOutsideAFolderIsOpened() throws {
        try createFolder(scratch.path("in"))
        try AtomicFile.write([1], to: scratch.path("\u{301}secret"))
        #expect(throws: FileError.self) {
            try RegularFile("../\u{301}secret", beneath: scratch.path("in"))
        }
    }

    /// A file behind a link that a combining character would hide.
    @Test func linksBeforeCombiningCharactersAreObstacles() throws {
        try createFolder(scratch.path("other"))
        try AtomicFile.write([1], to: scratch.path("other/\u{301}a"))
        try createFolder(scratch.path("in"))
        #expect(symlink("../other", scratch.path("in/link")) == 0)
        let found = try RelativePath.obstacle(in: "link/\u{301}a", below: scratch.path("in"))
        #expect(found?.kind == .link)
        #expect(throws: FileError.self) {
            try RegularFile("link/\u{301}a", beneath: scratch.path("in"))
        }
    }

    /// In any folder, whatever its name looks like: otherwise the photo would be skipped.
    @Test(arguments: ["", "caf", "caf.d"])
    func photosWithOtherBytesAreNamed(folder: String) throws {
        var parent: [UInt8] = []
        if !folder.isEmpty {
            parent = Array("photos/\(folder)".utf8)
            parent[parent.firstIndex(of: UInt8(ascii: "f"))!] = 0xE9
        }
        try createFolder(scratch.path("photos"))
        if !parent.isEmpty { #expect(path(parent).withPlatformString { mkdir($0, 0o700) } == 0) }
        let start = parent.isEmpty ? "photos/" : "/"
        let name: [UInt8] = Array(start.utf8) + [0xE9] + Array(".jpg".utf8)
        create(path(parent + name))
        let error = #expect(throws: FileError.self) {
            try listFiles(below: scratch.path("photos"), extensions: ["jpg"])
        }
        #expect(error?.reason == "its name is not UTF-8")
        #expect(error?.file.hasSuffix("\\xE9.jpg") == true)
        // What is no photo may have any name.
        #expect(try listFiles(below: scratch.path("photos"), extensions: ["png"]).isEmpty)
    }

    @Test func photosWithOtherBytesCanBeLeftOut() throws {
        try createFolder(scratch.path("photos"))
        for first: UInt8 in [0xFF, 0xE9] {
            create(path([first] + Array(".jpg".utf8), in: "photos"))
        }
        try AtomicFile.write([], to: scratch.path("photos/a.jpg"))
        var leftOut: [String] = []
        let found = try listFiles(below: scratch.path("photos"), extensions: ["jpg"]) {
            leftOut.append($0.file)
        }
        #expect(found == [scratch.path("photos/a.jpg")])
        #expect(leftOut == ["\\xE9.jpg", "\\xFF.jpg"].map { scratch.path("photos/\($0)") })
    }

    /// One of a repaired name would be taken twice, and the other one never.
    @Test func aFileWithTheReplacementCharacterHidesNoOther() throws {
        try createFolder(scratch.path("photos"))
        create(path([0xE9] + Array(".jpg".utf8), in: "photos"))
        try AtomicFile.write([], to: scratch.path("photos/\u{FFFD}.jpg"))
        #expect(throws: FileError.self) {
            try listFiles(below: scratch.path("photos"), extensions: ["jpg"])
        }
    }

    /// The order of a folder's entries differs from one file system to the next.
    @Test func equivalentNamesHaveAnOrder() throws {
        let names = ["\u{E9}.jpg", "e\u{301}.jpg"]
        for (index, order) in [names, names.reversed()].enumerated() {
            try createFolder(scratch.path("\(index)"))
            for name in order { try AtomicFile.write([], to: scratch.path("\(index)/\(name)")) }
            let found = try listFiles(below: scratch.path("\(index)"), extensions: ["jpg"])
            #expect(
                found.map { Array($0.utf8.suffix(6)) }
                    == [names[1], names[0]].map {
                        Array("/\($0)".utf8.suffix(6))
                    })
        }
    }

    @Test func treesWithOtherBytesAreRemoved() throws {
        try createFolder(scratch.path("tree"))
        create(path([0xFF], in: "tree"))
        #expect(try totalBytes(of: scratch.path("tree")) == 0)
        #expect(removeTree(scratch.path("tree")))
        #expect(try FileKind(at: scratch.path("tree")) == .nothing)
    }

    /// Nothing is written under another name.
    @Test func outputsWithOtherBytesAreRefused() throws {
        for target in [path([0xFF]), path([0xFF, 0x2F, 0x61])] {
            let error = #expect(throws: FileError.self) { try AtomicFile.write([1], to: target) }
            #expect(error?.reason == "its name is not UTF-8")
        }
        #expect(try listFiles(below: scratch.path(""), extensions: [""]).isEmpty)
        #expect(entries(of: scratch.path("")) == [])
    }

    @Test func bytesAreShown() {
        #expect(
            path([0x61, 0xE9, 0xC3, 0xA9, 0xC3]).lastComponent.map {
                FilePath(root: nil, [$0]).visible
            } == "a\\xE9é\\xC3")
    }
}
