import Glibc

/// The most that one call moves; Linux itself stops below 2 GiB.
private let largestChunk = 1 << 30

/// Reads the whole of a regular file.
///
/// - Parameter maximumBytes: A larger file is refused before it is read.
/// - Throws: `FileError` if it cannot be read, is not a regular file or is too large.
package func readFile(_ path: String, maximumBytes: Int = .max) throws(FileError) -> [UInt8] {
    // A pipe without a writer would block: it is opened without waiting, and then refused.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw FileError(path: path, operation: "read") }
    defer { close(descriptor) }
    let size = try regularFileSize(descriptor, path: path)
    guard size <= maximumBytes else { throw tooLarge(path, size, maximumBytes) }
    return try readAll(descriptor, path: path, expecting: size, maximumBytes: maximumBytes)
}

private func regularFileSize(_ descriptor: Int32, path: String) throws(FileError) -> Int {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw FileError(path: path, operation: "read") }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return Int(status.st_size)
    case S_IFDIR:
        throw FileError(
            path: path, operation: "read", reason: "it is a directory", remedy: "name a file")
    default:
        throw FileError(
            path: path, operation: "read", reason: "it is not a regular file",
            remedy: "copy it to a file first")
    }
}

/// Reads to the end, which need not be where the size said: the file may grow meanwhile, and
/// those under /proc say 0.
private func readAll(
    _ descriptor: Int32, path: String, expecting size: Int, maximumBytes: Int
) throws(FileError) -> [UInt8] {
    var bytes: [UInt8] = []
    while true {
        let missing = max(size - bytes.count, 4096)
        var chunk = [UInt8](repeating: 0, count: min(missing, largestChunk))
        let count = read(descriptor, &chunk, chunk.count)
        if count < 0 && errno == EINTR { continue }
        guard count >= 0 else { throw FileError(path: path, operation: "read") }
        if count == 0 { return bytes }
        append(&chunk, count: count, to: &bytes)
        guard bytes.count <= maximumBytes else {
            throw tooLarge(path, bytes.count, maximumBytes)
        }
    }
}

/// A file usually comes in one chunk, which then is not copied.
private func append(_ chunk: inout [UInt8], count: Int, to bytes: inout [UInt8]) {
    chunk.removeLast(chunk.count - count)
    if bytes.isEmpty {
        bytes = chunk
    } else {
        bytes += chunk
    }
}

private func tooLarge(_ path: String, _ size: Int, _ limit: Int) -> FileError {
    FileError(
        path: path, operation: "read", reason: "it has \(size) bytes, more than \(limit)",
        remedy: "name a smaller file")
}
