import CRetintHDF5
import Foundation

/// libhdf5, configured for untrusted files and called by one thread at a time.
enum HDF5Library {
    // Distributions build libhdf5 without thread safety. The lock is recursive because handles may
    // close themselves while it is held.
    private static let lock = NSRecursiveLock()

    /// Calls libhdf5 while no other thread does.
    static func run<Result: ~Copyable, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock.lock()
        defer { lock.unlock() }
        _ = isSetUp
        chdf5_silence()
        return try body()
    }

    /// libhdf5's innermost message about the last failure.
    static var lastMessage: String {
        var text = [CChar](repeating: 0, count: 512)
        chdf5_last_message(&text, text.count)
        let bytes = text.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }
        let message = String(decoding: bytes, as: UTF8.self)
        return message.isEmpty ? "no reason given" : message
    }

    /// Disables plug-ins and links to other files.
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

    /// - Parameter id: The result of a libhdf5 call; negative on failure.
    init?(_ id: hid_t) {
        guard id >= 0 else { return nil }
        self.id = id
    }

    deinit {
        let id = id
        HDF5Library.run { _ = H5Idec_ref(id) }
    }
}

/// Turns results of libhdf5 calls into handles and errors.
extension FilePlace {
    /// The error of the call that failed last: for damage the rule and what to do, since
    /// libhdf5's message speaks of its own parts.
    func failure(
        _ what: String, _ kind: TensorFileError.Kind = .damaged
    ) -> TensorFileError {
        let reason = HDF5Library.lastMessage
        guard kind == .damaged else { return error(kind, "\(what): \(reason)") }
        return error(
            kind,
            "\(what): the file is damaged or incomplete (libhdf5: \(reason)); copy or download it "
                + "again")
    }

    /// The handle that a call returned, or its error.
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
