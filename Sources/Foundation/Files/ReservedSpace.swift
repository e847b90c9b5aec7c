import Glibc
import SystemPackage

/// Space on a disk that is kept for a file to come, so that others cannot take it.
///
/// It belongs to a file without a name, which ends with the process at the latest.
package final class ReservedSpace {
    private let descriptor: Int32

    /// Reserves space; nil where the file system has no such files, or cannot reserve space.
    ///
    /// - Parameter folder: a folder of the file system.
    /// - Throws: ``FileError`` if the disk has less space.
    package init?(in folder: some PathConvertible, bytes: Int) throws(FileError) {
        let path = folder.filePath.string
        // O_TMPFILE, which Swift does not import because it is a combination.
        let withoutName = 0o20000000 | O_DIRECTORY
        descriptor = open(path, withoutName | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        let code = posix_fallocate(descriptor, 0, off_t(max(bytes, 1)))
        guard code != ENOSPC, code != EDQUOT else {
            throw FileError(path: path, operation: "reserve \(bytes) bytes in", number: code)
        }
        guard code == 0 else { return nil }
    }

    /// Gives the space back.
    deinit { if descriptor >= 0 { close(descriptor) } }
}
