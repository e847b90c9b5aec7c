import Foundation
import Glibc

/// Opens files of a package without following links and without waiting on pipes.
enum RegularFile {
    /// The open file and its size in bytes.
    static func open(_ path: String) throws(MLPackageError) -> (FileHandle, Int) {
        let descriptor = Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path, reason(errno)) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw failure(path, "it has to be a plain file")
        }
        return (handle, Int(status.st_size))
    }

    /// All bytes of a file that has at most `limit` of them.
    static func contents(of path: String, limit: Int) throws(MLPackageError) -> Data {
        let (handle, size) = try open(path)
        guard size <= limit else {
            throw failure(path, "it may have \(limit) bytes at most, not \(size)")
        }
        guard let data = try? handle.read(upToCount: limit) ?? Data(), data.count == size else {
            throw failure(path, "it cannot be read whole")
        }
        return data
    }

    /// What stands at a path, links not followed.
    static func kind(of path: String) -> Kind {
        var status = stat()
        guard lstat(path, &status) == 0 else { return .nothing }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return .file
        case S_IFDIR: return .directory
        case S_IFLNK: return .link
        default: return .other
        }
    }

    enum Kind { case nothing, file, directory, link, other }

    private static func failure(_ path: String, _ rule: String) -> MLPackageError {
        MLPackageError(
            file: path, place: "", rule: rule,
            remedy: "Check the path, or export or copy the package again.")
    }

    private static func reason(_ code: Int32) -> String {
        switch code {
        case ENOENT: "there is no such file"
        case ELOOP: "it has to be a plain file, not a link"
        default: String(cString: strerror(code))
        }
    }
}
