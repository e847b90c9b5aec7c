import Files
import Glibc
import Testing

/// A directory of its own for one test.
private struct Scratch: ~Copyable {
    let path: String

    init() {
        path = "/tmp/retint-files-\(UInt64.random(in: 0 ... .max))"
        mkdir(path, 0o777)
    }

    deinit {
        _ = try? AtomicFile.replace(path, marker: ".") { mkdir($0, 0o777) }
        rmdir(path)
    }

    func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }

    /// The names in the directory, hidden ones too.
    var names: [String] {
        var names: [String] = []
        let directory = opendir(path)!
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}

private struct BuildFailure: Error {}

@Suite struct AtomicFileTests {
    @Test(arguments: [0, 1, 5000, 3_000_000])
    func writtenBytesAreReadBack(count: Int) throws {
        let scratch = Scratch()
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try AtomicFile.write([1, 2, 3], to: scratch("a"))
        try AtomicFile.write(bytes, to: scratch("a"))
        #expect(try readFile(scratch("a")) == bytes)
        #expect(scratch.names == ["a"])
    }

    @Test func permissionsAndLinksStay() throws {
        let scratch = Scratch()
        try AtomicFile.write([1], to: scratch("real"))
        chmod(scratch("real"), 0o640)
        symlink("real", scratch("link"))
        try AtomicFile.write([2], to: scratch("link"))
        #expect(try readFile(scratch("real")) == [2])
        var status = stat()
        #expect(lstat(scratch("link"), &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
        #expect(stat(scratch("real"), &status) == 0 && status.st_mode & 0o777 == 0o640)
    }

    @Test func wrongPlacesAreRefused() throws {
        let scratch = Scratch()
        mkdir(scratch("directory"), 0o777)
        try AtomicFile.write([1], to: scratch("file"))
        let cases = [
            ("", "the path is empty"), ("/dev/null", "not a regular file"),
            (scratch("directory"), "it is a directory"), (scratch("no/a"), "No such file"),
            (scratch("file/a"), "Not a directory"),
            (scratch(String(repeating: "x", count: 300)), "File name too long"),
        ]
        for (path, reason) in cases {
            let error = #expect(throws: FileError.self) { try AtomicFile.write([1], to: path) }
            #expect(try #require(error).description.contains(reason))
        }
        #expect(scratch.names == ["directory", "file"])
    }

    @Test func pathsInTheWorkingDirectoryNeedNoSlash() throws {
        let name = "retint-files-\(UInt64.random(in: 0 ... .max))"
        defer { unlink(name) }
        try AtomicFile.write([7], to: name)
        #expect(try readFile(name) == [7])
    }

    @Test func failedBuildLeavesNothing() throws {
        let scratch = Scratch()
        try AtomicFile.write([1], to: scratch("old"))
        for name in ["old", "new"] {
            #expect(throws: BuildFailure.self) {
                try AtomicFile.replace(scratch(name)) { temporary in
                    try build(directory: temporary)
                    throw BuildFailure()
                }
            }
            #expect(throws: FileError.self) { try AtomicFile.replace(scratch(name)) { _ in } }
        }
        #expect(scratch.names == ["old"])
        #expect(try readFile(scratch("old")) == [1])
    }
}

private func build(directory: String, content: UInt8 = 1) throws {
    mkdir(directory, 0o777)
    mkdir("\(directory)/Data", 0o777)
    try AtomicFile.write([content], to: "\(directory)/Data/weight.bin")
    try AtomicFile.write([content], to: "\(directory)/Manifest.json")
    symlink("Manifest.json", "\(directory)/link")
}

@Suite struct AtomicDirectoryTests {
    @Test func directoryIsBuiltAndReplaced() throws {
        let scratch = Scratch()
        for content in [UInt8(1), 2] {
            let result = try AtomicFile.replace(scratch("p/"), marker: "Manifest.json") {
                try build(directory: $0, content: content)
                return content
            }
            #expect(result == content)
            #expect(try readFile(scratch("p/Data/weight.bin")) == [content])
            #expect(scratch.names == ["p"])
        }
    }

    @Test func emptyDirectoryGivesWay() throws {
        let scratch = Scratch()
        mkdir(scratch("p"), 0o777)
        try AtomicFile.replace(scratch("p")) { try build(directory: $0) }
        #expect(try readFile(scratch("p/Manifest.json")) == [1])
    }

    @Test(arguments: [nil, "Manifest.json"])
    func foreignDirectoryStays(marker: String?) throws {
        let scratch = Scratch()
        mkdir(scratch("home"), 0o777)
        try AtomicFile.write([5], to: scratch("home/letter"))
        let error = #expect(throws: FileError.self) {
            try AtomicFile.replace(scratch("home"), marker: marker) { try build(directory: $0) }
        }
        #expect(try #require(error).reason.contains("not empty"))
        #expect(try readFile(scratch("home/letter")) == [5])
        #expect(scratch.names == ["home"])
    }

    @Test func fileAndDirectoryDoNotReplaceEachOther() throws {
        let scratch = Scratch()
        try AtomicFile.write([1], to: scratch("file"))
        mkdir(scratch("directory"), 0o777)
        #expect(throws: FileError.self) {
            try AtomicFile.replace(scratch("file")) { try build(directory: $0) }
        }
        #expect(throws: FileError.self) {
            try AtomicFile.replace(scratch("directory")) { try AtomicFile.write([2], to: $0) }
        }
        #expect(scratch.names == ["directory", "file"])
    }
}

@Suite struct ReadingTests {
    @Test func limitIsKept() throws {
        let scratch = Scratch()
        try AtomicFile.write([UInt8](repeating: 3, count: 100), to: scratch("a"))
        #expect(try readFile(scratch("a"), maximumBytes: 100).count == 100)
        let error = #expect(throws: FileError.self) {
            try readFile(scratch("a"), maximumBytes: 99)
        }
        #expect(try #require(error).description.contains("it has 100 bytes, more than 99"))
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

    @Test func pipeDoesNotBlock() {
        let scratch = Scratch()
        mkfifo(scratch("pipe"), 0o666)
        #expect(throws: FileError.self) { try readFile(scratch("pipe")) }
    }
}
