import Glibc
import RetintLocks
import SystemPackage

/// Temporary files and folders are named `.NAME.PROCESS-MARK.retint-partial`: hidden, and removable
/// by another process once the one that created them no longer runs. Where a program tells the
/// format from the extension, that follows. No other program uses such names, nor those below.
private let partialExtension = "retint-partial"
/// Folders that are being replaced are named `.NAME.retint-old`.
private let displacedSuffix = ".retint-old"
/// The locks of ``OutputLock`` are named `.NAME.retint-lock`.
private let lockSuffix = ".retint-lock"

/// An unused hidden name of at most 255 bytes in the folder of `path`.
func temporaryPath(beside path: FilePath, keepingExtension: Bool = false) -> FilePath {
    let mark = String(UInt64.random(in: 0 ... .max), radix: 36)
    // A character may take many bytes, a scalar at most four.
    let name = String((path.lastComponent?.string ?? "").unicodeScalars.prefix(40))
    let own = keepingExtension ? path.extension.map { ".\($0)" } ?? "" : ""
    return sibling(of: path, named: ".\(name).\(getpid())-\(mark).\(partialExtension)\(own)")
}

/// The name under which a folder is kept while another one replaces it, on a file system that
/// cannot exchange the two.
func displacedPath(of path: FilePath) -> FilePath {
    sibling(of: path, named: ".\(path.lastComponent?.string ?? "")\(displacedSuffix)")
}

/// The file that is locked while the output at `path` is written.
func lockPath(beside path: FilePath) -> FilePath {
    let name = path.lastComponent?.string ?? ""
    let longest = 255 - 1 - lockSuffix.utf8.count
    let short = name.utf8.count <= longest ? name : digest(of: name)
    return sibling(of: path, named: ".\(short)\(lockSuffix)")
}

private func digest(of name: String) -> String {
    var hash = ContentHash()
    hash.update(Array(name.utf8))
    return hash.digest.hexadecimal
}

private func sibling(of path: FilePath, named name: String) -> FilePath {
    path.removingLastComponent().appending(name)
}

/// Removes the temporary files and folders that processes which no longer run left in a folder, in
/// which this process is going to write.
func sweepLeftovers(in folder: FilePath) {
    sweptFolders.withLock { _ = $0.insert(folder) }
    // All of ours are UTF-8.
    for name in entries(of: folder) ?? [] {
        if name.hasPrefix("."), name.hasSuffix(lockSuffix) {
            sweepLock(folder.appending(name))
            continue
        }
        guard let process = maker(ofTemporary: name), !isRunning(process) else { continue }
        removeTree(folder.appending(name))
    }
}

/// Removes the temporary files and folders of this process, which is about to end, and its locks of
/// outputs: nobody will publish or release them.
package func removeOwnLeftovers() {
    for folder in sweptFolders.withLock({ $0 }) {
        for name in entries(of: folder) ?? [] where maker(ofTemporary: name) == getpid() {
            removeTree(folder.appending(name))
        }
    }
    OutputLock.removeFiles()
}

/// Removes a lock that nobody holds, by taking and releasing it.
private func sweepLock(_ path: FilePath) {
    guard LockFile.holder(of: path) == nil else { return }
    _ = try? LockFile(path, keeping: path)
}

/// Sweeps a folder before the first file that this process writes there.
func sweepLeftoversOnce(in folder: FilePath) {
    let isNew = sweptFolders.withLock { $0.insert(folder).inserted }
    if isNew { sweepLeftovers(in: folder) }
}

private let sweptFolders = Mutex<Set<FilePath>>([])

/// The process in a temporary file's name; nil for any other name.
private func maker(ofTemporary name: String) -> pid_t? {
    var stem = FilePath(name)
    if stem.extension != partialExtension { stem.extension = nil }
    guard name.hasPrefix("."), stem.extension == partialExtension else { return nil }
    let mark = (stem.stem ?? "").split(separator: ".").last ?? ""
    let parts = mark.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let process = pid_t(parts[0]), process > 0 else { return nil }
    return process
}

/// Whether a process runs, one of another user included.
private func isRunning(_ process: pid_t) -> Bool {
    kill(process, 0) == 0 || errno != ESRCH
}
