import Foundation
import RetintTestSupport
import SystemPackage
import Testing

@testable import RetintFiles

/// Outputs that another process writes, or that would destroy something else.
@Suite struct OutputLockTests {
    private let scratch: TemporaryFolder

    init() throws { scratch = try TemporaryFolder() }

    private func refusal(of name: String) -> FileError? {
        do throws(FileError) {
            try AtomicFile.write([2], to: scratch.path(name))
        } catch {
            return error
        }
        return nil
    }

    @Test func outputOfAnotherProcessIsRefused() throws {
        try AtomicFile.write([1], to: scratch.path("a.h5"))
        let other = try RunningProcess(locking: scratch.path(".a.h5.retint-lock"))
        defer { other.interrupt() }
        let error = try #require(refusal(of: "a.h5"))
        #expect(error.file == scratch.path("a.h5"))
        #expect(error.reason.contains("in use") && !error.remedy.isEmpty)
        #expect(error.errorNumber == EBUSY)
        #expect(try readFile(scratch.path("a.h5")) == [1])
        #expect(refusal(of: "b.h5") == nil)
        #expect(try scratch.names() == [".a.h5.retint-lock", "a.h5", "b.h5"])
    }

    @Test func folderOfAnotherProcessKeepsItsFiles() throws {
        for name in ["there.h5", ".lock"] { try AtomicFile.write([1], to: scratch.path(name)) }
        try Data("1\nlast.h5\nbest.h5\n".utf8).write(to: URL(filePath: scratch.path(".lock")))
        let other = try RunningProcess(locking: scratch.path(".lock"))
        defer { other.interrupt() }
        for name in ["there.h5", "best.h5"] {
            #expect(refusal(of: name)?.reason == "it is in use by process 1", "\(name)")
        }
        // A new file harms nobody.
        #expect(refusal(of: "new.h5") == nil)
    }

    /// Files that have the name of a lock, but were not written as one: data, and a pipe, which
    /// would block.
    @Test(arguments: ["mine\n", nil])
    func filesThatAreNoLocksStay(content: String?) throws {
        let lock = scratch.path(".a.h5.retint-lock")
        if let content {
            try Data(content.utf8).write(to: URL(filePath: lock))
        } else {
            #expect(mkfifo(lock, 0o600) == 0)
        }
        let error = try #require(refusal(of: "a.h5"))
        #expect(error.reason.contains("not a file that retint wrote") && !error.remedy.isEmpty)
        // Leftovers are removed before the first output in a folder.
        #expect(refusal(of: "b.h5") == nil)
        #expect(try scratch.names().contains(".a.h5.retint-lock"))
        if let content { #expect(try readFile(lock) == Array(content.utf8)) }
    }

    /// A folder may be copied by hard links while a run is in it, or its power be lost.
    @Test(arguments: ["1\n", "123\nlast.h5\n", "\0\0\0\0"])
    func locksThatWereLeftBehindAreTaken(content: String) throws {
        let (lock, copy) = (scratch.path(".a.h5.retint-lock"), scratch.path("copy"))
        try Data(content.utf8).write(to: URL(filePath: copy))
        try FileManager.default.linkItem(atPath: copy, toPath: lock)
        #expect(refusal(of: "a.h5") == nil)
        #expect(try readFile(copy) == Array(content.utf8))
        #expect(try scratch.names() == ["a.h5", "copy"])
    }

    /// Also a lock with a second name is held.
    @Test func copiedLocksStayHeld() throws {
        let lock = scratch.path(".a.h5.retint-lock")
        let other = try RunningProcess(locking: lock)
        defer { other.interrupt() }
        try FileManager.default.linkItem(atPath: lock, toPath: scratch.path("copy"))
        #expect(refusal(of: "a.h5")?.reason.contains("in use") == true)
    }

    @Test func ownLocksCount() throws {
        let path = scratch.path("a.h5")
        var locks = [try OutputLock(path), try OutputLock(path)]
        #expect(refusal(of: "a.h5") == nil)
        for count in [1, 0] {
            #expect(try scratch.names() == [".a.h5.retint-lock", "a.h5"])
            locks.removeLast()
            #expect(locks.count == count)
        }
        #expect(try scratch.names() == ["a.h5"])
        let folder = try FolderLock(scratch.path, reserving: ["a.h5", "b.h5"])
        #expect(refusal(of: "a.h5") == nil)
        let text = String(decoding: try readFile(scratch.path(".lock")), as: UTF8.self)
        #expect(text == "\(getpid())\na.h5\nb.h5\n")
        withExtendedLifetime(folder) {}
    }

    /// An output has one lock, whatever its path and whether it exists yet.
    @Test(arguments: ["./new.h5", "../{}/new.h5", "link/new.h5", "new.h5"])
    func ownLocksCountByAnyPath(path: String) throws {
        let folder = URL(filePath: scratch.path).lastPathComponent
        try FileManager.default.createSymbolicLink(
            atPath: scratch.path("link"), withDestinationPath: scratch.path)
        let lock = try OutputLock(scratch.path(path.replacingOccurrences(of: "{}", with: folder)))
        #expect(refusal(of: "new.h5") == nil)
        try AtomicFile.write([1], to: scratch.path("new.h5"))
        #expect(refusal(of: "new.h5") == nil)
        #expect(try scratch.names() == [".new.h5.retint-lock", "link", "new.h5"])
        withExtendedLifetime(lock) {}
    }

    @Test func locksOfKilledProcessesLockNothing() throws {
        let names = [".a.h5.retint-lock", ".b.h5.retint-lock"]
        for name in names { try Data("1\n".utf8).write(to: URL(filePath: scratch.path(name))) }
        #expect(refusal(of: "a.h5") == nil)
        #expect(try scratch.names() == ["a.h5"])
    }

    @Test func longNamesHaveLocks() throws {
        let name = String(repeating: "ü", count: 127)
        let other = try RunningProcess(
            locking: lockPath(beside: FilePath(scratch.path(name))).string)
        defer { other.interrupt() }
        #expect(refusal(of: name) != nil)
        #expect(refusal(of: String(repeating: "ü", count: 126)) == nil)
    }

    @Test func linksThatLeadNowhereStay() throws {
        let link = scratch.path("a.h5")
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: scratch.path("gone/b.h5"))
        #expect(refusal(of: "a.h5")?.reason == "it is a broken symbolic link")
        #expect(throws: FileError.self) { try AtomicFile.replace(link) { _ in } }
        #expect(try FileKind(at: link, followingLinks: false) == .link)
    }

    @Test func foldersWithForeignFilesStay() throws {
        let content = FolderContent(marker: "m") { ["m", "Data/w"].contains($0) }
        let folder = scratch.path("p")
        func replace() throws {
            try AtomicFile.replace(folder, content: content) { temporary in
                try createFolder("\(temporary)/Data")
                for name in ["m", "Data/w"] {
                    try AtomicFile.write([1], to: "\(temporary)/\(name)")
                }
            }
        }
        try replace()
        try replace()
        for name in ["notes.txt", "Data/notes.txt"] {
            try AtomicFile.write([7], to: "\(folder)/\(name)")
            let error = #expect(throws: FileError.self) { try replace() }
            #expect(error?.reason.contains("it also contains \(name)") == true)
            #expect(try readFile("\(folder)/\(name)") == [7])
            removeTree("\(folder)/\(name)")
        }
        symlink("/nowhere", "\(folder)/Data/link")
        #expect(throws: FileError.self) { try replace() }
    }
}
