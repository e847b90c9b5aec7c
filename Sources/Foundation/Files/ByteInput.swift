import Glibc
import Synchronization
import SystemPackage

/// A request to wait no longer for an input that may be silent, from any thread.
package final class ReadingStop: Sendable {
    private let flag = Atomic(false)

    package init() {}

    package var isRequested: Bool { flag.load(ordering: .relaxed) }

    package func request() { flag.store(true, ordering: .relaxed) }
}

/// Reads bytes one after the other from a file, a pipe or standard input.
package final class ByteInput {
    /// The name in errors: the path, or `standard input`.
    package let name: String
    private var descriptor: Int32
    private let closes: Bool
    /// Ends the input where it has nothing to read; nil to wait for as long as it takes.
    private let stop: ReadingStop?
    private var buffer: [UInt8] = []
    private var start = 0

    private static let bufferBytes = 1 << 16

    /// Reads standard input, which stays open.
    package init(until stop: ReadingStop? = nil) {
        (name, descriptor, closes) = ("standard input", STDIN_FILENO, false)
        self.stop = stop
    }

    /// Reads from an open descriptor, and closes it at the end.
    package init(descriptor: Int32, name: String) {
        (self.name, self.descriptor, closes) = (name, descriptor, true)
        stop = nil
    }

    /// Opens a file or a named pipe.
    package init(
        _ path: some PathConvertible, until stop: ReadingStop? = nil
    ) throws(FileError) {
        name = path.filePath.string
        descriptor = path.filePath.withPlatformString { open($0, O_RDONLY | O_CLOEXEC) }
        (closes, self.stop) = (true, stop)
        guard descriptor >= 0 else { throw FileError(path: name, operation: "read") }
    }

    deinit { close() }

    /// Closes the input: a program that writes to its pipe ends.
    package func close() {
        if closes, descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    /// The bytes up to the next newline, which is skipped; nil at the end of the input. Bytes after
    /// the last newline count as a line.
    ///
    /// - Returns: `limit` bytes if there is no newline among them, otherwise fewer.
    package func line(limit: Int) throws(FileError) -> ArraySlice<UInt8>? {
        while true {
            let rest = buffer[start...]
            if let end = rest.prefix(limit).firstIndex(of: UInt8(ascii: "\n")) {
                defer { start = end + 1 }
                return buffer[start..<end]
            }
            guard rest.count < limit, try fill() else {
                let taken = buffer[start...].prefix(limit)
                start += taken.count
                return taken.isEmpty ? nil : taken
            }
        }
    }

    /// The next `count` bytes; fewer if the input ends.
    package func bytes(_ count: Int) throws(FileError) -> [UInt8] {
        var failure: FileError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { target, initialized in
            do throws(FileError) {
                initialized = try read(into: UnsafeMutableRawBufferPointer(target), count)
            } catch { failure = error }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Returns the number of bytes.
    private func read(
        into target: UnsafeMutableRawBufferPointer, _ count: Int
    ) throws(FileError) -> Int {
        let buffered = min(count, buffer.count - start)
        target.copyBytes(from: buffer[start..<start + buffered])
        start += buffered
        var filled = buffered
        while filled < count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: target[filled..<count])
            let got = try transfer(into: rest)
            if got == 0 { break }
            filled += got
        }
        return filled
    }

    /// Reads more into the buffer; false at the end of the input.
    private func fill() throws(FileError) -> Bool {
        buffer.removeFirst(start)
        start = 0
        let kept = buffer.count
        buffer += [UInt8](repeating: 0, count: Self.bufferBytes)
        var failure: FileError?
        var got = 0
        buffer.withUnsafeMutableBytes { bytes in
            do throws(FileError) {
                got = try transfer(into: UnsafeMutableRawBufferPointer(rebasing: bytes[kept...]))
            } catch { failure = error }
        }
        buffer.removeLast(Self.bufferBytes - got)
        if let failure { throw failure }
        return got > 0
    }

    private func transfer(into bytes: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        guard stop.map(waitForBytes) ?? true else { return 0 }
        while true {
            let got = Glibc.read(descriptor, bytes.baseAddress, bytes.count)
            if got >= 0 { return got }
            guard errno == EINTR else { throw FileError(path: name, operation: "read") }
        }
    }

    /// Waits for something to read, which may be the end of the input; false after a stop.
    private func waitForBytes(until stop: ReadingStop) -> Bool {
        var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        repeat {
            if poll(&state, 1, Self.patience) > 0 { return true }
        } while !stop.isRequested
        return false
    }

    /// The milliseconds between two looks at the stop.
    private static let patience: Int32 = 50
}
