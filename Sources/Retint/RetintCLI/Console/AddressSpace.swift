import Foundation

/// The memory that the process may address (`ulimit -v`).
enum AddressSpace {
    /// What the libraries and a small network take, in which OpenBLAS waits for memory forever, and
    /// the stack of a thread for each processor.
    private static let (least, perProcessor) = (768 << 20, 16 << 20)

    /// Refuses a limit that is too low for threads: the system would wait for them forever.
    ///
    /// - Throws: ``CommandError``.
    static func requireEnough() throws {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0 else { return }
        let needed = least + perProcessor * ProcessInfo.processInfo.activeProcessorCount
        guard limit.rlim_cur < rlim_t(needed) else { return }
        throw CommandError(
            .failure,
            "the process may address only \(limit.rlim_cur >> 20) MiB; retint needs "
                + "\(needed >> 20) MiB here. Raise the limit (ulimit -v)")
    }
}
