import CHDF5
import Foundation

/// libhdf5, set up for files that nobody vouches for, one caller at a time.
enum HDF5Library {
    // libhdf5 as distributions build it is not safe to call from two threads. The lock is recursive
    // because handles close themselves, also where the lock is held.
    private static let lock = NSRecursiveLock()

    /// Runs calls of libhdf5 while no other thread is in it.
    static func run<Result: ~Copyable, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock.lock()
        defer { lock.unlock() }
        _ = isSetUp
        chdf5_silence()
        return try body()
    }

    /// Why the last call failed, in libhdf5's innermost words.
    static var lastMessage: String {
        var text = [CChar](repeating: 0, count: 512)
        chdf5_last_message(&text, text.count)
        let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        let message = String(decoding: bytes, as: UTF8.self)
        return message.isEmpty ? "no reason given" : message
    }

    /// No plug-ins, and no links out of a file.
    private static let isSetUp: Bool = {
        H5open()
        H5PLset_loading_state(0)
        H5Lunregister(H5L_TYPE_EXTERNAL)
        return true
    }()
}

/// An open object of libhdf5, closed when it goes out of scope.
struct HDF5Handle: ~Copyable, Sendable {
    let id: hid_t

    /// - Parameter id: what libhdf5 returned; a negative one is a failure.
    init?(_ id: hid_t) {
        guard id >= 0 else { return nil }
        self.id = id
    }

    deinit {
        let id = id
        HDF5Library.run { _ = H5Idec_ref(id) }
    }
}

/// What calls of libhdf5 returned, as handles and errors.
extension FilePlace {
    /// The error of a call that has just failed.
    func failure(
        _ what: String, _ kind: TensorFileError.Kind = .damaged
    ) -> TensorFileError {
        error(kind, "\(what): \(HDF5Library.lastMessage)")
    }

    /// Takes what a call returned, or throws the error of the call.
    func handle(
        _ id: hid_t, _ what: String, _ kind: TensorFileError.Kind = .damaged
    ) throws(TensorFileError) -> HDF5Handle {
        guard let handle = HDF5Handle(id) else { throw failure(what, kind) }
        return handle
    }

    func check(
        _ status: some BinaryInteger, _ what: String, _ kind: TensorFileError.Kind = .damaged
    ) throws(TensorFileError) {
        guard status >= 0 else { throw failure(what, kind) }
    }
}
