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
        guard threads > 1 else { return call.run(thread: 0, threads: 1) }
        withUnsafeMutablePointer(to: &call) { context in
            rt_pool_run(
                pool,
                { context, thread, threads in
                    let call = context.unsafelyUnwrapped.assumingMemoryBound(to: KernelCall.self)
                    call.pointee.run(thread: Int(thread), threads: Int(threads))
                }, context)
        }
    }
}

/// One phase of a kernel, as it is passed to the threads.
struct KernelCall {
    unowned(unsafe) let kernel: Kernel
    let phase: Int
    let workspace: UnsafeMutablePointer<Float>

    func run(thread: Int, threads: Int) {
        kernel.run(phase: phase, part: Part(index: thread, of: threads), workspace)
    }
}

/// One thread's part of a kernel's work.
struct Part {
    let index: Int
    let of: Int

    init(index: Int, of count: Int) {
        self.index = index
        self.of = count
    }

    /// This thread's share of `0..<count`, in multiples of `unit` except at the end.
    func range(_ count: Int, unit: Int = 1) -> Range<Int> {
        let units = (count + unit - 1) / unit
        let begin = min(units * index / of * unit, count)
        let end = min(units * (index + 1) / of * unit, count)
        return begin..<end
    }

    /// The part of this thread's share of `0..<count` that lies in `offset..<offset + length`,
    /// counted from `offset`, in multiples of `unit` except at the end.
    func range(_ count: Int, of length: Int, at offset: Int, unit: Int) -> Range<Int> {
        func bound(_ index: Int) -> Int {
            let bound = min(max(count * index / of - offset, 0), length)
            return bound == length ? length : bound / unit * unit
        }
        return bound(index)..<bound(index + 1)
    }
}
