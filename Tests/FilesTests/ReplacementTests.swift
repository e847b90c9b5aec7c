import Foundation
import RetintTestSupport
import SystemPackage
import Testing

@testable import RetintFiles

/// Replacing folders, and what a crash in the middle leaves.
@Suite struct ReplacementTests {
    private let scratch: TemporaryFolder
    private let content = FolderContent(marker: "marker") { $0 == "marker" }

    init() throws { scratch = try TemporaryFolder() }

    private func write(_ content: UInt8, to folder: String) throws {
        try createFolder(folder)
        try AtomicFile.write([content], to: "\(folder)/marker")
    }

    private func replace(_ content: UInt8) throws {
        try AtomicFile.replace(scratch.path("p"), content: self.content) {
            try write(content, to: $0)
        }
    }

    /// A process number above any that the system hands out.
    private var deadProcess: String { "2147483646" }

    @Test func readersAlwaysFindACompleteFolder() async throws {
        try replace(0)
        let path = scratch.path("p/marker")
        let reader = Task.detached {
            var missing = 0
            while !Task.isCancelled {
                if (try? readFile(path)) == nil { missing += 1 }
            }
            return missing
        }
        for content in 1...50 { try replace(UInt8(content)) }
        reader.cancel()
        #expect(await reader.value == 0)
        #expect(try scratch.names() == ["p"])
    }

    @Test func anOpenFileStaysReadable() throws {
        try replace(1)
        let file = try RegularFile(scratch.path("p/marker"))
        try replace(2)
        #expect(try file.contents() == [1])
        #expect(try readFile(scratch.path("p/marker")) == [2])
    }

    @Test func foldersAreReplacedWithoutExchange() throws {
        try write(1, to: scratch.path("p"))
        try write(2, to: scratch.path("new"))
        let target = scratch.path("p").filePath
        try AtomicFile.displace(target, by: scratch.path("new").filePath, for: target)
        #expect(try readFile(scratch.path("p/marker")) == [2])
        #expect(try scratch.names() == ["p"])
    }

    @Test func displacedFolderReturnsAfterACrash() throws {
        try write(1, to: scratch.path(".p.retint-old"))
        #expect(throws: CancellationError.self) {
            try AtomicFile.replace(scratch.path("p"), content: content) { _ in
                throw CancellationError()
            }
        }
        #expect(try readFile(scratch.path("p/marker")) == [1])
        try write(3, to: scratch.path(".p.retint-old"))
        try replace(2)
        #expect(try readFile(scratch.path("p/marker")) == [2])
        #expect(try scratch.names() == ["p"])
    }

    /// Folders of that name with other content are somebody else's, and so are those of names that
    /// other programs use.
    @Test(arguments: [".p.retint-old/letter", ".p.old/marker", ".p.1-x.partial/marker"])
    func foldersOfOthersStay(file: String) throws {
        let folder = String(file.prefix { $0 != "/" })
        try createFolder(scratch.path(folder))
        try AtomicFile.write([5], to: scratch.path(file))
        for content in [UInt8(1), 2] {
            try replace(content)
            #expect(try readFile(scratch.path("p/marker")) == [content])
            #expect(try readFile(scratch.path(file)) == [5])
            #expect(try scratch.names() == [folder, "p"])
        }
    }

    /// Without a replacement that could be completed, such a folder does not take the name either.
    @Test func aFolderOfOthersIsNotMoved() throws {
        try createFolder(scratch.path(".p.retint-old"))
        try AtomicFile.write([5], to: scratch.path(".p.retint-old/letter"))
        #expect(throws: CancellationError.self) {
            try AtomicFile.replace(scratch.path("p"), content: content) { _ in
                throw CancellationError()
            }
        }
        #expect(try scratch.names() == [".p.retint-old"])
    }

    @Test func aMarkerOfAnotherKindIsNotEnough() throws {
        let own = FolderContent(
            marker: "marker", recognizes: { (try? readFile($0.appending("marker"))) == [1] },
            owns: { $0 == "marker" })
        try write(1, to: scratch.path("p"))
        try AtomicFile.checkReplaceable(scratch.path("p"), own)
        try write(9, to: scratch.path("p"))
        let error = #expect(throws: FileError.self) {
            try AtomicFile.checkReplaceable(scratch.path("p"), own)
        }
        #expect(error?.reason.contains("its marker is not of such a directory") == true)
    }

    @Test func leftoversOfCrashedWritesAreSwept() throws {
        let other = try RunningProcess(URL(filePath: "/bin/sleep"), ["60"])
        defer { other.interrupt() }
        let running = ".a.\(other.identifier)-x.retint-partial"
        let kept = [
            running, ".a.retint-partial", ".a.b-c.retint-partial", ".a.2147483646-x.partial",
            "a.1-x.old", ".a.2147483646-x.retint-partial.b.c",
        ]
        for name in kept { try Data().write(to: URL(filePath: scratch.path(name))) }
        try write(1, to: scratch.path(".p.\(deadProcess)-x.retint-partial"))
        for end in ["", ".mp4"] {
            let name = ".a.h5.\(deadProcess)-1z.retint-partial\(end)"
            try Data().write(to: URL(filePath: scratch.path(name)))
        }
        try AtomicFile.write([1], to: scratch.path("a"))
        #expect(try scratch.names() == (kept + ["a"]).sorted())
        try write(1, to: scratch.path(".p.\(deadProcess)-x.retint-partial"))
        try replace(2)
        #expect(try scratch.names() == (kept + ["a", "p"]).sorted())
    }

    @Test func unpublishedFilesDisappear() throws {
        do {
            let file = try PendingFile(for: scratch.path("a"))
            try file.write([1, 2, 3])
            #expect(try scratch.names().count == 2, "the file and its lock")
        }
        #expect(try scratch.names() == [])
    }

    @Test func longNamesLeaveRoomForTheMark() throws {
        for character in ["x", "é", "👩‍👩‍👧‍👦"] {
            let count = 255 / character.utf8.count
            let name = String(repeating: character, count: count)
            try AtomicFile.write([1], to: scratch.path(name))
            #expect(try readFile(scratch.path(name)) == [1])
        }
    }

    @Test func refusedFoldersAreNotBuilt() throws {
        try write(1, to: scratch.path("p"))
        let other = FolderContent(marker: "other") { _ in true }
        var isBuilt = false
        #expect(throws: FileError.self) {
            try AtomicFile.replace(scratch.path("p"), content: other) { _ in isBuilt = true }
        }
        #expect(!isBuilt)
    }
}
