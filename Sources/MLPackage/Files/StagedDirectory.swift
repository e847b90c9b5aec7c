import Foundation
import Glibc

/// A directory that is built beside its place and then put there whole.
///
/// Until `commit` the place is untouched. Replacing a directory takes two renames, since a full
/// directory cannot be renamed over: whoever looks in between finds nothing there, and a crash in
/// between leaves the old one beside under its `.old` name, from where the next write to the same
/// place puts it back first.
struct StagedDirectory {
    let path: String
    private let destination: String
    private let parent: String

    /// Makes an empty directory beside `destination`.
    init(for destination: String) throws {
        let url = URL(fileURLWithPath: destination).standardizedFileURL
        self.destination = url.path
        parent = url.deletingLastPathComponent().path
        let name = url.lastPathComponent
        let mark = String(UInt32.random(in: 0...UInt32.max), radix: 36)
        path = "\(parent)/.\(name).\(getpid())-\(mark).partial"
        try Self.restore(self.destination)
        try Self.checkReplaceable(self.destination)
        Self.sweep(parent, name: name)
        try Self.makeDirectory(path)
    }

    /// Makes a directory below the staged one.
    func makeDirectory(_ name: String) throws {
        try Self.makeDirectory(path + "/" + name)
    }

    /// Waits until everything is on disk, then puts the directory in its place.
    func commit() throws {
        try Self.synchronizeTree(path)
        let isReplacing = RegularFile.kind(of: destination) == .directory
        let old = Self.oldPath(destination)
        if isReplacing { try Self.rename(destination, to: old) }
        do {
            try Self.rename(path, to: destination)
        } catch {
            if isReplacing { try? Self.rename(old, to: destination) }
            throw error
        }
        try Self.synchronize(parent)
        if isReplacing { try? FileManager.default.removeItem(atPath: old) }
    }

    /// Removes what was built.
    func discard() {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Creates a file that must not exist yet.
    static func createFile(_ path: String) throws -> FileHandle {
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw failure(path) }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }
}

extension StagedDirectory {
    private static func oldPath(_ destination: String) -> String {
        let url = URL(fileURLWithPath: destination)
        return "\(url.deletingLastPathComponent().path)/.\(url.lastPathComponent).old"
    }

    /// Brings back the old directory where a crash came between the two renames.
    private static func restore(_ destination: String) throws {
        let old = oldPath(destination)
        guard RegularFile.kind(of: old) == .directory else { return }
        if RegularFile.kind(of: destination) == .nothing {
            try rename(old, to: destination)
        } else {
            try FileManager.default.removeItem(atPath: old)
        }
    }

    /// Only a package or an empty directory may be replaced: a mistyped path must not cost a
    /// person's files.
    private static func checkReplaceable(_ destination: String) throws {
        switch RegularFile.kind(of: destination) {
        case .nothing: return
        case .directory:
            let content = try FileManager.default.contentsOfDirectory(atPath: destination)
            try require(
                content.isEmpty || content.contains(Manifest.fileName), "",
                "a directory that is not a package stands there", "Give another path.")
        default:
            throw Fault("", "something that is not a package stands there", "Give another path.")
        }
    }

    /// Removes what writers that are no longer running have left.
    private static func sweep(_ parent: String, name: String) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        for stale in names where stale.hasPrefix(".\(name).") && stale.hasSuffix(".partial") {
            let process = stale.dropFirst(name.count + 2).prefix { $0.isNumber }
            guard let identifier = Int32(process), kill(identifier, 0) != 0, errno == ESRCH else {
                continue
            }
            try? FileManager.default.removeItem(atPath: parent + "/" + stale)
        }
    }

    private static func synchronizeTree(_ path: String) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            let child = path + "/" + name
            if RegularFile.kind(of: child) == .directory { try synchronizeTree(child) }
        }
        try synchronize(path)
    }

    private static func synchronize(_ directory: String) throws {
        let descriptor = Glibc.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(directory) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure(directory) }
    }

    private static func makeDirectory(_ path: String) throws {
        guard mkdir(path, 0o777) == 0 else { throw failure(path) }
    }

    private static func rename(_ path: String, to target: String) throws {
        guard Glibc.rename(path, target) == 0 else { throw failure(target) }
    }

    private static func failure(_ path: String) -> Fault {
        var fault = Fault(
            path, String(cString: strerror(errno)), "Check the path, its rights and the space left."
        )
        fault.isSystems = true
        return fault
    }
}
