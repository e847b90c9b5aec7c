import CRetintKernels
import RetintLocks

/// The threads that run a program's steps, including the calling thread.
final class ThreadPool: @unchecked Sendable {
    private let pool: OpaquePointer
    private let exclusive = Mutex(())

    let threads: Int

    private init(threads: Int) {
        pool = rt_pool_create(Int32(threads))
        self.threads = Int(rt_pool_threads(pool))
    }

    deinit { rt_pool_destroy(pool) }

    private static let pools = Mutex<[Int: ThreadPool]>([:])

    /// The pool with this many threads; created on first use, and kept.
    static func shared(threads: Int) -> ThreadPool {
        pools.withLock { pools in
            if let pool = pools[threads] { return pool }
            let pool = ThreadPool(threads: threads)
            pools[threads] = pool
            return pool
        }
    }

    /// The processors that this process may use.
    static var processorCount: Int { Int(rt_processor_count()) }

    /// Runs `body` while no other program runs on this pool. Callers of a pool with one thread
    /// do not share anything, and run concurrently.
    func withExclusiveUse<Failure>(_ body: () throws(Failure) -> Void) throws(Failure) {
        guard threads > 1 else { return try body() }
        try exclusive.withLock { _ throws(Failure) in try body() }
    }

    /// Runs one phase of a kernel on all threads.
    func run(_ call: KernelCall) {
        guard threads > 1, !call.isSmall else {
            // One thread does the parts of all, so that kernels need not distinguish.
            for thread in 0..<threads { call.run(Part(index: thread, of: threads)) }
            return
        }
        withUnsafePointer(to: call) { context in
            rt_pool_run(
                pool, call.pieces,
                { context, part in
                    let call = context.unsafelyUnwrapped.assumingMemoryBound(to: KernelCall.self)
                    call.pointee.run(Part(part.unsafelyUnwrapped.pointee))
                }, UnsafeMutableRawPointer(mutating: context))
        }
    }
}

/// One phase of a kernel, as passed to the threads. Its owner keeps the kernel alive, so that
/// the threads do not compete for its reference count.
struct KernelCall {
    private unowned(unsafe) let kernel: Kernel
    private let phase: Int
    private let workspace: UnsafeMutablePointer<Float>
    /// Pieces of each thread's part.
    let pieces: Int32
    /// Whether it stays on the calling thread, because waking others takes longer.
    let isSmall: Bool

    private static let smallWork = 8192

    private init(
        _ kernel: Kernel, _ phase: Int, threads: Int, _ workspace: UnsafeMutablePointer<Float>
    ) {
        (self.kernel, self.phase, self.workspace) = (kernel, phase, workspace)
        pieces = Int32(max(kernel.pieces(of: phase, threads: threads), 1))
        isSmall = kernel.work < Self.smallWork
    }

    /// All phases of a kernel that is bound.
    static func phases(
        of kernel: Kernel, threads: Int, _ workspace: UnsafeMutablePointer<Float>
    ) -> [KernelCall] {
        (0..<kernel.phases).map { KernelCall(kernel, $0, threads: threads, workspace) }
    }

    func run(_ part: Part) {
        kernel.run(phase: phase, part: part, workspace)
    }
}

/// The part of a kernel's work that a thread does at a time: one of equal shares.
struct Part {
    /// The thread's index, and the number of threads.
    let index, of: Int
    private let share, shares: Int
    /// Whether the thread has just done the previous share.
    let continues: Bool

    /// The only share of a thread.
    init(index: Int, of count: Int) {
        (self.index, of) = (index, count)
        (share, shares, continues) = (index, count, false)
    }

    /// One of the pieces of a thread's part.
    init(thread: Int, of threads: Int, piece: Int, of pieces: Int) {
        (index, of) = (thread, threads)
        (share, shares) = (thread * pieces + piece, threads * pieces)
        continues = piece > 0
    }

    init(_ part: rt_part) {
        (index, of) = (Int(part.thread), Int(part.threads))
        (share, shares, continues) = (Int(part.share), Int(part.shares), part.continues != 0)
    }

    /// This share of `0..<count`, in multiples of `unit` except at the end.
    func range(_ count: Int, unit: Int = 1) -> Range<Int> {
        let units = (count + unit - 1) / unit
        let begin = min(units * share / shares * unit, count)
        let end = min(units * (share + 1) / shares * unit, count)
        return begin..<end
    }

    /// The part of this share of `0..<count` that lies in `offset..<offset + length`, counted from
    /// `offset`, in multiples of `unit` except at the end.
    func range(_ count: Int, of length: Int, at offset: Int, unit: Int) -> Range<Int> {
        func bound(_ share: Int) -> Int {
            let bound = min(max(count * share / shares - offset, 0), length)
            return bound == length ? length : bound / unit * unit
        }
        return bound(share)..<bound(share + 1)
    }
}
