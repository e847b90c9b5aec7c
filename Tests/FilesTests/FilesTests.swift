import Glibc
import RetintFiles
import RetintTestSupport
import Testing

private struct BuildFailure: Error {}

@Suite struct AtomicFileTests {
    @Test(arguments: [0, 1, 5000, 3_000_000])
    func writtenBytesAreReadBack(count: Int) throws {
        let scratch = try TemporaryFolder()
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try AtomicFile.write([1, 2, 3], to: scratch.path("a"))
        try AtomicFile.write(bytes, to: scratch.path("a"))
        #expect(try readFile(scratch.path("a")) == bytes)
        #expect(try scratch.names() == ["a"])
    }

    @Test func permissionsAndLinksStay() throws {
        let scratch = try TemporaryFolder()
        try AtomicFile.write([1], to: scratch.path("real"))
        chmod(scratch.path("real"), 0o640)
        symlink("real", scratch.path("link"))
        try AtomicFile.write([2], to: scratch.path("link"))
        #expect(try readFile(scratch.path("real")) == [2])
        var status = stat()
        #expect(lstat(scratch.path("link"), &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
        #expect(stat(scratch.path("real"), &status) == 0 && status.st_mode & 0o777 == 0o640)
    }

    @Test func wrongPlacesAreRefused() throws {
        let scratch = try TemporaryFolder()
        mkdir(scratch.path("directory"), 0o777)
        try AtomicFile.write([1], to: scratch.path("file"))
        let cases = [
            ("", "the path is empty"), ("/dev/null", "not a regular file"),
            (scratch.path("directory"), "it is a directory"),
            (scratch.path("no/a"), "No such file"),
            (scratch.path("file/a"), "Not a directory"),
            (scratch.path(String(repeating: "x", count: 300)), "File name too long"),
        ]
        for (path, reason) in cases {
            let error = #expect(throws: FileError.self) { try AtomicFile.write([1], to: path) }
            #expect(try #require(error).description.contains(reason))
        }
        #expect(try scratch.names() == ["directory", "file"])
    }

    @Test func pathsInTheWorkingDirectoryNeedNoSlash() throws {
        let name = "retint-files-\(UInt64.random(in: 0 ... .max))"
        defer { unlink(name) }
        try AtomicFile.write([7], to: name)
        #expect(try readFile(name) == [7])
    }

    @Test func failedBuildLeavesNothing() throws {
        let scratch = try TemporaryFolder()
        try AtomicFile.write([1], to: scratch.path("old"))
        for name in ["old", "new"] {
            #expect(throws: BuildFailure.self) {
                try AtomicFile.replace(scratch.path(name)) { temporary in
                    try build(directory: temporary)
                    throw BuildFailure()
                }
            }
            #expect(throws: FileError.self) { try AtomicFile.replace(scratch.path(name)) { _ in } }
        }
        #expect(try scratch.names() == ["old"])
        #expect(try readFile(scratch.path("old")) == [1])
    }
}

private func build(directory: String, content: UInt8 = 1) throws {
    mkdir(directory, 0o777)
    mkdir("\(directory)/Data", 0o777)
    try AtomicFile.write([content], to: "\(directory)/Data/weight.bin")
    try AtomicFile.write([content], to: "\(directory)/Manifest.json")
    symlink("Manifest.json", "\(directory)/link")
}

/// What `build(directory:)` makes.
private let packageContent = FolderContent(marker: "Manifest.json") {
    ["Manifest.json", "link"].contains($0) || $0.hasPrefix("Data/")
}

@Suite struct AtomicDirectoryTests {
    @Test func directoryIsBuiltAndReplaced() throws {
        let scratch = try TemporaryFolder()
        for content in [UInt8(1), 2] {
            let result = try AtomicFile.replace(scratch.path("p/"), content: packageContent) {
                try build(directory: $0, content: content)
                return content
            }
            #expect(result == content)
            #expect(try readFile(scratch.path("p/Data/weight.bin")) == [content])
            #expect(try scratch.names() == ["p"])
        }
    }

    @Test func emptyDirectoryGivesWay() throws {
        let scratch = try TemporaryFolder()
        mkdir(scratch.path("p"), 0o777)
        try AtomicFile.replace(scratch.path("p")) { try build(directory: $0) }
        #expect(try readFile(scratch.path("p/Manifest.json")) == [1])
    }

    @Test(arguments: [nil, "Manifest.json"])
    func foreignDirectoryStays(marker: String?) throws {
        let content = marker.map { FolderContent(marker: $0) { _ in true } }
        let scratch = try TemporaryFolder()
        mkdir(scratch.path("home"), 0o777)
        try AtomicFile.write([5], to: scratch.path("home/letter"))
        let error = #expect(throws: FileError.self) {
            try AtomicFile.replace(scratch.path("home"), content: content) {
                try build(directory: $0)
            }
        }
        #expect(try #require(error).reason.contains("not empty"))
        #expect(try readFile(scratch.path("home/letter")) == [5])
        #expect(try scratch.names() == ["home"])
    }

    @Test func fileAndDirectoryDoNotReplaceEachOther() throws {
        let scratch = try TemporaryFolder()
        try AtomicFile.write([1], to: scratch.path("file"))
        mkdir(scratch.path("directory"), 0o777)
        #expect(throws: FileError.self) {
            try AtomicFile.replace(scratch.path("file")) { try build(directory: $0) }
        }
        #expect(throws: FileError.self) {
            try AtomicFile.replace(scratch.path("directory")) { try AtomicFile.write([2], to: $0) }
        }
        #expect(try scratch.names() == ["directory", "file"])
    }
}

@Suite struct ReadingTests {
    @Test func limitIsKept() throws {
        let scratch = try TemporaryFolder()
        try AtomicFile.write([UInt8](repeating: 3, count: 100), to: scratch.path("a"))
        #expect(try readFile(scratch.path("a"), maximumBytes: 100).count == 100)
        let error = #expect(throws: FileError.self) {
            try readFile(scratch.path("a"), maximumBytes: 99)
        }
        #expect(try #require(error).description.contains("it has 100 bytes; the limit is 99"))
    }

    @Test func filesWithoutASizeAreRead() throws {
        #expect(try !readFile("/proc/self/status").isEmpty)
    }

    @Test(arguments: [
        ("/tmp", "it is a directory"), ("/dev/null", "not a regular file"),
        ("/tmp/retint-no-such-file", "check the path"),
    ])
    func othersAreRefused(path: String, reason: String) throws {
        let error = #expect(throws: FileError.self) { try readFile(path) }
        #expect(try #require(error).description.contains(reason))
    }

    @Test func pipeDoesNotBlock() throws {
        let scratch = try TemporaryFolder()
        mkfifo(scratch.path("pipe"), 0o666)
        #expect(throws: FileError.self) { try readFile(scratch.path("pipe")) }
    }
}

@Suite struct UnusedNamesTests {
    @Test func areNumberedInOrder() {
        var names: Set<String> = ["b"]
        let found = (0..<100).map { _ in names.insertUnused("a") }
        #expect(found == ["a"] + (1..<100).map { "a_\($0)" })
        #expect(names.insertUnused("b", from: 2) == "b_2" && names.insertUnused("c") == "c")
        #expect(names.count == 103)
    }

    /// One by one, these would be 2 · 10¹⁰ steps.
    @Test func manyOfOneNameTakeNoTime() {
        var names: Set<String> = []
        for _ in 0..<200_000 { _ = names.insertUnused("constant") }
        #expect(names.count == 200_000 && names.contains("constant_199999"))
    }
}
