import CKernels
import Locks

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

    /// The pool of this many threads; created when first needed, and kept.
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

    /// Runs `body` while no other program runs on this pool. The threads that call a pool of one
    /// do not share anything, and run at the same time.
    func withExclusiveUse<Failure>(_ body: () throws(Failure) -> Void) throws(Failure) {
        guard threads > 1 else { return try body() }
        try exclusive.withLock { _ throws(Failure) in try body() }
    }

    /// Runs one phase of a kernel on all threads.
    func run(_ call: inout KernelCall) {
        guard threads > 1 else { return call.run(Part(index: 0, of: 1)) }
        let pieces = max(call.kernel.pieces(of: call.phase, threads: threads), 1)
        withUnsafeMutablePointer(to: &call) { context in
            rt_pool_run(
                pool, Int32(pieces),
                { context, part in
                    let call = context.unsafelyUnwrapped.assumingMemoryBound(to: KernelCall.self)
                    call.pointee.run(Part(part.unsafelyUnwrapped.pointee))
                }, context)
        }
    }
}

/// One phase of a kernel, as it is passed to the threads.
struct KernelCall {
    unowned(unsafe) let kernel: Kernel
    let phase: Int
    let workspace: UnsafeMutablePointer<Float>

    func run(_ part: Part) {
        kernel.run(phase: phase, part: part, workspace)
    }
}

/// The part of a kernel's work that a thread does at a time: one of equal shares.
struct Part {
    /// The thread, and how many there are.
    let index, of: Int
    private let share, shares: Int
    /// Whether the thread has just done the share before.
    let continues: Bool

    /// The only share of a thread.
    init(index: Int, of count: Int) {
        (self.index, of) = (index, count)
        (share, shares, continues) = (index, count, false)
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
