import Glibc
import SystemPackage

/// The pages of files that the kernel keeps in memory.
package enum PageCache {
    /// Asks the kernel to drop the pages of a file, or of all files in a folder: fsync, because
    /// only pages that are on disk can be dropped, then posix_fadvise with POSIX_FADV_DONTNEED.
    ///
    /// The kernel may silently refuse, for instance on an in-memory file system or for pages
    /// that a process has mapped; check with ``residentBytes(of:)``. Caches below the kernel, such
    /// as those of a disk or of a virtual machine's host, stay.
    ///
    /// - Throws: ``FileError`` if a file cannot be opened.
    package static func drop(_ path: some PathConvertible) throws(FileError) {
        for file in try files(at: path.filePath, followingLinks: true) {
            try RegularFile(file).dropPages()
        }
    }

    /// The bytes of a file, or of all files in a folder, whose pages are in memory, as mincore
    /// reports them; whole pages.
    ///
    /// Since Linux 5.2, all pages of a file count if this user can neither write the file nor owns
    /// it.
    ///
    /// - Throws: ``FileError`` if a file cannot be opened or mapped.
    package static func residentBytes(of path: some PathConvertible) throws(FileError) -> Int {
        var bytes = 0
        for file in try files(at: path.filePath, followingLinks: true) {
            bytes += try RegularFile(file).residentBytes()
        }
        return bytes
    }

    /// A file itself, or the files of a folder; symbolic links in it are skipped.
    private static func files(
        at path: FilePath, followingLinks: Bool
    ) throws(FileError) -> [FilePath] {
        switch try FileKind(at: path, followingLinks: followingLinks) {
        case .nothing: throw FileError(path: path.string, operation: "read", number: ENOENT)
        case .file: return [path]
        case .link, .other: return []
        case .directory: break
        }
        // The path itself may be a symbolic link to the folder.
        guard let names = components(of: path.appending(".")) else {
            throw FileError(path: path.string, operation: "read")
        }
        var found: [FilePath] = []
        for name in names { found += try files(at: path.appending(name), followingLinks: false) }
        return found
    }
}

extension RegularFile {
    /// Asks the kernel to read bytes that will be needed soon.
    package func readAhead(at offset: Int, count: Int) {
        posix_fadvise(descriptor, offset, count, POSIX_FADV_WILLNEED)
    }

    fileprivate func dropPages() {
        fsync(descriptor)
        posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
    }

    fileprivate func residentBytes() throws(FileError) -> Int {
        guard byteCount > 0 else { return 0 }
        let pageBytes = sysconf(Int32(_SC_PAGESIZE))
        let memory = mmap(nil, byteCount, PROT_READ, MAP_SHARED, descriptor, 0)
        guard let memory, memory != MAP_FAILED else {
            throw FileError(path: path.string, operation: "map")
        }
        defer { munmap(memory, byteCount) }
        var pages = [UInt8](repeating: 0, count: (byteCount + pageBytes - 1) / pageBytes)
        guard mincore(memory, byteCount, &pages) == 0 else {
            throw FileError(path: path.string, operation: "map")
        }
        return pages.count { $0 & 1 == 1 } * pageBytes
    }
}
