import Glibc
import SystemPackage

/// Writes bytes one after the other to a file, a pipe or standard output.
///
/// Unlike with ``AtomicFile``, written bytes are visible immediately: readers of a pipe need that,
/// and a video whose writing was interrupted can be played up to that point.
package final class ByteOutput {
    /// The name in errors: the path, or `standard output`.
    package let name: String
    private var descriptor: Int32
    private let closes: Bool

    /// Writes to standard output, which stays open.
    package init() { (name, descriptor, closes) = ("standard output", STDOUT_FILENO, false) }

    /// Writes to an open descriptor, and closes it at the end.
    package init(descriptor: Int32, name: String) {
        (self.name, self.descriptor, closes) = (name, descriptor, true)
    }

    /// Creates a file, or truncates an existing one.
    package init(_ path: some PathConvertible) throws(FileError) {
        name = path.filePath.string
        try requireUTF8(path.filePath, for: "write", remedy: "choose another name")
        descriptor = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        closes = true
        guard descriptor >= 0 else { throw FileError(path: name, operation: "write") }
    }

    deinit { try? close() }

    /// Closes the output: a program that reads its pipe reaches the end.
    ///
    /// - Throws: ``FileError`` if written bytes did not reach the disk.
    package func close() throws(FileError) {
        guard closes, descriptor >= 0 else { return }
        let result = Glibc.close(descriptor)
        descriptor = -1
        guard result == 0 else { throw FileError(path: name, operation: "write") }
    }

    /// Appends bytes.
    ///
    /// - Throws: ``FileError``, with EPIPE if the reader of a pipe has closed it. SIGPIPE is not
    ///   raised.
    package func write(_ bytes: some Collection<UInt8>) throws(FileError) {
        var failure: FileError?
        let done: Void? = bytes.withContiguousStorageIfAvailable { bytes in
            do throws(FileError) { try write(UnsafeRawBufferPointer(bytes)) } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        if done == nil { try write(Array(bytes)) }
    }

    private func write(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let count = withoutPipeSignal {
                Glibc.write(descriptor, part.baseAddress, part.count)
            }
            guard count >= 0 || errno == EINTR else {
                throw FileError(path: name, operation: "write")
            }
            rest = rest.dropFirst(max(count, 0))
        }
    }
}

/// Writes without the signal that a pipe without a reader raises, which would end the process.
private func withoutPipeSignal(_ write: () -> Int) -> Int {
    var signals = sigset_t(), before = sigset_t(), pending = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    sigpending(&pending)
    // A signal that was already pending is not ours to consume.
    guard sigismember(&pending, SIGPIPE) == 0 else { return write() }
    pthread_sigmask(SIG_BLOCK, &signals, &before)
    let count = write()
    let code = errno
    if count < 0, code == EPIPE {
        var now = timespec()
        while sigtimedwait(&signals, nil, &now) < 0, errno == EINTR {}
    }
    pthread_sigmask(SIG_SETMASK, &before, nil)
    errno = code
    return count
}
