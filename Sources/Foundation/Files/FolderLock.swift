import RetintLocks
import SystemPackage

/// Reserves a folder for one owner, by a locked file `.lock` in it.
///
/// Other processes do not replace the files of such a folder, see ``OutputLock``.
package final class FolderLock {
    private static let name = ".lock"
    /// The locks of this process.
    private static let held = Mutex<Set<FileIdentity>>([])

    private let file: LockFile
    private let identity: FileIdentity?

    /// Locks a folder, which must exist.
    ///
    /// - Parameter names: files that the owner is going to write: nobody else may create them
    ///   meanwhile.
    /// - Throws: ``FileError`` if somebody else holds the lock, with that process, or if the file
    ///   cannot be created.
    public init(
        _ folder: some PathConvertible, reserving names: [String] = []
    ) throws(FileError) {
        let folder = folder.filePath
        file = try LockFile(folder.appending(Self.name), keeping: folder, lines: names)
        let identity = FileIdentity(of: file.path)
        self.identity = identity
        if let identity { Self.held.withLock { _ = $0.insert(identity) } }
    }

    deinit {
        if let identity { Self.held.withLock { _ = $0.remove(identity) } }
    }

    /// Throws if another process owns the folder of a file, and the file exists or is reserved.
    static func check(_ target: FilePath, for path: FilePath) throws(FileError) {
        let lock = target.removingLastComponent().appending(name)
        guard let identity = FileIdentity(of: lock),
            !held.withLock({ $0.contains(identity) }), let holder = LockFile.holder(of: lock)
        else { return }
        let isReserved = holder.lines.contains(target.lastComponent?.string ?? "")
        let isThere = try FileKind(at: target) != .nothing
        guard isReserved || isThere else { return }
        throw LockFile.inUse(path, by: holder)
    }
}
