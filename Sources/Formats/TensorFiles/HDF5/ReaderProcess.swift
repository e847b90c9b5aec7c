import CRetintSystem
import Foundation
import RetintFiles
import RetintLocks

/// A child process in which libhdf5 has opened one file. Several threads may share it; they are
/// serialized.
final class ReaderProcess: HDF5Source {
    private let path: String
    private let channel: Mutex<ReaderChannel>
    /// Why the process ended: later requests fail for the same reason.
    private let end = Mutex<ReaderChannel.Failure?>(nil)

    /// Asks through a socket.
    ///
    /// - Parameter path: the path in errors.
    init(_ path: String, _ socket: Int32) {
        self.path = path
        channel = Mutex(ReaderChannel(socket))
    }

    /// Asks the process at the other end of `control` to fork a child for a file.
    convenience init(_ file: RegularFile, _ control: Int32) throws(TensorFileError) {
        let path = file.path.string
        var sockets: [Int32] = [-1, -1]
        guard processes_socket_pair(&sockets) == 0 else {
            throw FilePlace(path).error(.unreadable, "cannot start a process to read it")
        }
        self.init(path, sockets[0])
        let sent = processes_send_descriptors(control, [sockets[1], file.descriptor])
        close(sockets[1])
        guard sent == 0 else {
            throw FilePlace(path).error(
                .unreadable,
                "the process that starts the readers of HDF5 files has ended; run retint again")
        }
    }

    func answer(_ request: HDF5Request) throws(TensorFileError) -> HDF5Answer {
        do {
            return try channel.withLock { channel in
                try channel.send(request, [])
                let reply = try channel.receive(ReaderReply.self)
                guard var answer = reply.message.answer else {
                    throw reply.message.error ?? ReaderChannel.Failure.closed
                }
                if request.isForDatasets {
                    answer.datasets = try DatasetTable.decode(reply.bytes)
                } else {
                    answer.bytes = reply.bytes
                }
                return answer
            }
        } catch let error as TensorFileError {
            throw error
        } catch let failure as ReaderChannel.Failure {
            let first = end.withLock { end in
                let first = end ?? failure
                end = first
                return first
            }
            throw FilePlace(path).error(.damaged, Self.reason(first))
        } catch {
            throw FilePlace(path).error(
                .damaged,
                "libhdf5 returned impossible results: the file is damaged or malicious; copy or "
                    + "download it again")
        }
    }

    private static func reason(_ failure: ReaderChannel.Failure) -> String {
        switch failure {
        case .closed:
            "the process that reads it was killed, or ran out of memory; try again"
        case .crashed(SIGXCPU):
            "libhdf5 does not finish reading it within \(ReaderServer.seconds) s: "
                + "the file is damaged or malicious; copy or download it again"
        case .crashed(let signal):
            "libhdf5 crashed on it (signal \(signal)): the file is damaged or malicious; copy or "
                + "download it again"
        }
    }
}

/// The result from a child process.
struct ReaderReply: Codable {
    var answer: HDF5Answer?
    var error: TensorFileError?
}

/// Messages through a socket: the sizes of both parts in 8 bytes each, JSON, and raw bytes.
struct ReaderChannel: ~Copyable {
    enum Failure: Error {
        /// The other process has ended.
        case closed
        /// libhdf5 ended it, by this signal.
        case crashed(Int32)
    }

    /// No answer is this large; a child corrupted by libhdf5 may send anything.
    private static let maximumPart = 1 << 30
    /// As the size of the second part: a signal, in the first part, ended the process.
    private static let crash = UInt64.max
    private static let headSize = 16

    let socket: Int32

    init(_ socket: Int32) { self.socket = socket }

    deinit { close(socket) }

    func send(_ message: some Encodable, _ bytes: [UInt8]) throws {
        let json = [UInt8](try Self.encoder.encode(message))
        try send(Self.head(UInt64(json.count), UInt64(bytes.count)))
        try send(json)
        try send(bytes)
    }

    func receive<Message: Decodable>(
        _: Message.Type
    ) throws -> (message: Message, bytes: [UInt8]) {
        let sizes = try receive(Self.headSize).withUnsafeBytes {
            ($0.load(as: UInt64.self), $0.load(fromByteOffset: 8, as: UInt64.self))
        }
        guard sizes.1 != Self.crash else {
            throw Failure.crashed(Int32(truncatingIfNeeded: sizes.0))
        }
        guard max(sizes.0, sizes.1) <= Self.maximumPart else { throw Failure.closed }
        let json = try receive(Int(sizes.0))
        let message = try Self.decoder.decode(Message.self, from: Data(json))
        return (message, try receive(Int(sizes.1)))
    }

    /// Encodes and decodes a message.
    static func rehearse<Message: Codable>(_ message: Message) {
        _ = try? decoder.decode(Message.self, from: encoder.encode(message))
    }

    /// Reports a crash of this process as its last message.
    func reportCrashes() {
        let head = Self.head(0, Self.crash)
        // Signal handlers use it until the process ends.
        let message = UnsafeMutablePointer<UInt8>.allocate(capacity: head.count)
        message.initialize(from: head, count: head.count)
        processes_report_crashes(socket, message, head.count, 0)
    }

    private static func head(_ first: UInt64, _ second: UInt64) -> [UInt8] {
        withUnsafeBytes(of: (first, second)) { Array($0) }
    }

    private func send(_ bytes: [UInt8]) throws(Failure) {
        guard processes_send(socket, bytes, bytes.count) == 0 else { throw .closed }
    }

    private func receive(_ count: Int) throws(Failure) -> [UInt8] {
        var status: Int32 = 1
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            status = processes_receive(socket, buffer.baseAddress, count)
            initialized = status == 1 ? count : 0
        }
        guard status == 1 else { throw .closed }
        return bytes
    }

    static let encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return encoder
    }()

    static let decoder: JSONDecoder = {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return decoder
    }()
}
