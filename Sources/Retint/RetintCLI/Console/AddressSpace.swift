import Foundation

/// The memory that the process may address (`ulimit -v`).
enum AddressSpace {
    /// With less than this, and the stack of a thread for each processor, OpenBLAS waits forever
    /// for memory.
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
