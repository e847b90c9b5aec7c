// The thread sanitizer sees locks of pthreads, but not `Synchronization.Mutex`, whose code on Linux
// is compiled without it: all that such a mutex protects looks like a race. With the condition
// THREAD_SANITIZER, which `Scripts/check sanitizers` sets, a mutex of pthreads takes its place.

#if THREAD_SANITIZER
    import Glibc

    /// `Synchronization.Mutex` for the thread sanitizer.
    package final class Mutex<Value: ~Copyable>: @unchecked Sendable {
        private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        private let value = UnsafeMutablePointer<Value>.allocate(capacity: 1)

        package init(_ value: consuming sending Value) {
            pthread_mutex_init(lock, nil)
            self.value.initialize(to: value)
        }

        deinit {
            pthread_mutex_destroy(lock)
            lock.deallocate()
            value.deinitialize(count: 1)
            value.deallocate()
        }

        package func withLock<Result: ~Copyable, Failure>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            pthread_mutex_lock(lock)
            defer { pthread_mutex_unlock(lock) }
            return try body(&value.pointee)
        }
    }
#else
    @_exported public import struct Synchronization.Mutex
#endif
