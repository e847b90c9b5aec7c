import Foundation
import RetintFiles
import RetintTestSupport
import Testing

@Suite struct RegularFileTests {
    private let scratch: TemporaryFolder

    init() throws {
        scratch = try TemporaryFolder()
        try AtomicFile.write(Array(0..<100), to: scratch.path("file"))
        #expect(symlink("file", scratch.path("link")) == 0)
        #expect(mkfifo(scratch.path("pipe"), 0o600) == 0)
        try createFolder(scratch.path("folder"))
    }

    @Test func linksAreFollowedOnRequest() throws {
        #expect(try RegularFile(scratch.path("link")).byteCount == 100)
        let error = #expect(throws: FileError.self) {
            try RegularFile(scratch.path("link"), followingLinks: false)
        }
        #expect(error?.reason == "it is a symbolic link")
        #expect(try RegularFile(scratch.path("file"), followingLinks: false).byteCount == 100)
    }

    @Test(arguments: [
        ("folder", "it is a directory"), ("pipe", "it is not a regular file"),
        ("none", "No such file or directory"), ("file/x", "Not a directory"),
    ])
    func onlyRegularFilesAreOpened(name: String, reason: String) {
        for followingLinks in [true, false] {
            let error = #expect(throws: FileError.self) {
                try RegularFile(scratch.path(name), followingLinks: followingLinks)
            }
            #expect(error?.reason == reason)
            #expect(error?.file == scratch.path(name))
        }
    }

    /// A file that another one names is opened below their folder, wherever links would lead.
    @Test func filesBeneathAFolderAreOpenedWithoutLinks() throws {
        try createFolder(scratch.path("folder/data"))
        try AtomicFile.write([7], to: scratch.path("folder/data/x"))
        #expect(symlink("data", scratch.path("folder/linked")) == 0)
        #expect(symlink("x", scratch.path("folder/data/link")) == 0)
        #expect(symlink("folder", scratch.path("way")) == 0)
        #expect(mkfifo(scratch.path("folder/data/pipe"), 0o600) == 0)
        for folder in ["folder", "way", "folder/"] {
            let file = try RegularFile("data/x", beneath: scratch.path(folder))
            #expect(try file.contents() == [7])
        }
        for (name, reason) in [
            ("linked/x", "it is a symbolic link"), ("data/link", "it is a symbolic link"),
            ("data/pipe", "it is not a regular file"), ("data", "it is a directory"),
            ("data/none", "No such file or directory"), ("data/x/y", "Not a directory"),
            ("data/pipe/y", "Not a directory"), ("../file", "must not have"),
            ("data/../../file", "must not have"), ("", "must not be empty"),
            (scratch.path("file"), "must not be absolute"), ("data/x\0", "must not have"),
        ] {
            let error = #expect(throws: FileError.self) {
                try RegularFile(name, beneath: scratch.path("folder"))
            }
            #expect(error?.reason.contains(reason) == true, "\(name): \(error as Any)")
        }
    }

    /// Holes take no space on the disk, but as much memory as other bytes.
    @Test func largeFilesOfHolesAreRefused() throws {
        func file(_ name: String, stored: Int, of count: Int) throws -> RegularFile {
            let path = scratch.path(name)
            try AtomicFile.write([UInt8](repeating: 1, count: stored), to: path)
            #expect(truncate(path, count) == 0)
            return try RegularFile(path)
        }
        #expect(try file("small", stored: 1, of: 16 << 20).byteCount == 16 << 20)
        #expect(try file("half", stored: 10 << 20, of: 20 << 20).byteCount == 20 << 20)
        for count in [20 << 20, 1 << 40] {
            let error = #expect(throws: FileError.self) {
                try file("sparse", stored: 4096, of: count)
            }
            #expect(error?.reason.contains("the rest are holes") == true)
            #expect(error?.remedy.contains("cp --sparse=never") == true)
        }
        #expect(throws: FileError.self) { try file("empty", stored: 0, of: 1 << 40) }
    }

    @Test func partsAreRead() throws {
        let file = try RegularFile(scratch.path("file"))
        #expect(try file.bytes(at: 98, count: 10) == [98, 99])
        #expect(try file.bytes(at: 200, count: 10) == [])
        #expect(try file.contents() == Array(0..<100))
        var bytes = [UInt8](repeating: 0, count: 4)
        #expect(throws: FileError.self) {
            try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 98) }
        }
        try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 96) }
        #expect(bytes == [96, 97, 98, 99])
    }

    @Test func changesAreNoticed() throws {
        let path = scratch.path("file")
        let file = try RegularFile(path)
        try AtomicFile.write([1], to: path)
        // Another file at the same path.
        try file.checkUnchanged()
        for change: (FileHandle) throws -> Void in [
            { try $0.write(contentsOf: Data([7])) }, { try $0.truncate(atOffset: 0) },
        ] {
            let file = try RegularFile(path)
            try file.checkUnchanged()
            usleep(20_000)
            let handle = try FileHandle(forUpdating: URL(filePath: path))
            try change(handle)
            try handle.close()
            let error = #expect(throws: FileError.self) { try file.checkUnchanged() }
            #expect(error?.reason == "it was changed while it was in use")
        }
    }

    /// Another name would be read, or written, than the one in the folder.
    @Test func namesThatAreNotUTF8AreNoFilesToSkip() throws {
        try createFolder(scratch.path("photos"))
        let name = scratch.path("photos/").utf8CString.dropLast() + [CChar(bitPattern: 0xFF)]
        let descriptor = (name + ".jpg".utf8CString).withUnsafeBufferPointer {
            open($0.baseAddress!, O_CREAT | O_WRONLY, 0o600)
        }
        #expect(descriptor >= 0)
        close(descriptor)
        let error = #expect(throws: FileError.self) {
            try listFiles(below: scratch.path("photos"), extensions: ["jpg"])
        }
        #expect(error?.reason == "its name is not UTF-8")
        // A name that has the replacement character itself is one like any other.
        unlink(Array(name + ".jpg".utf8CString))
        try AtomicFile.write([], to: scratch.path("photos/\u{FFFD}.jpg"))
        #expect(try listFiles(below: scratch.path("photos"), extensions: ["jpg"]).count == 1)
    }

    @Test func listingKeepsTheSpellingOfTheFolder() throws {
        try createFolder(scratch.path("photos/a/.hidden"))
        for name in ["b.JPG", "a/c.jpg", "a/.d.jpg", "a/e.txt", "a/.hidden/f.jpg"] {
            try AtomicFile.write([], to: scratch.path("photos/\(name)"))
        }
        #expect(symlink("..", scratch.path("photos/a/up")) == 0)
        #expect(symlink("photos", scratch.path("linked")) == 0)
        for folder in ["photos", "photos/", "linked"] {
            let root = scratch.path(folder)
            let prefix = root.hasSuffix("/") ? root : root + "/"
            let found = try listFiles(below: root, extensions: ["jpg"])
            #expect(found == ["a/c.jpg", "b.JPG"].map { prefix + $0 })
        }
    }
}

@Suite struct ContentHashTests {
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ])
    func isSHA256(text: String, digest: String) {
        var hash = ContentHash()
        for byte in text.utf8 { hash.update([byte]) }
        #expect(hash.digest.hexadecimal == digest)
    }

    @Test func valuesAreHashedAsLittleEndianBytes() {
        var (values, bytes) = (ContentHash(), ContentHash())
        values.update([Float(1), -2])
        bytes.update([0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0] as [UInt8])
        #expect(values.digest == bytes.digest)
    }
}
