// Libraries of CUDA that compute on this machine, for tests where there is no GPU. They check what
// a real GPU would not forgive: memory that is not allocated or was freed, copies that overlap the
// end of an allocation, wrong strides, and results that are read before their stream has run.

#pragma once
#include <stddef.h>
#include <stdint.h>

/// Work that runs when its stream is waited for. `free` is called once, whether it ran or not.
typedef struct {
    void (*run)(void *context);
    void (*free)(void *context);
    void *context;
    /// Contexts of recorded work are run again and again.
    int *owners;
} mock_work;

/// Queues work behind all that the stream has, or records it.
void mock_enqueue(void *stream, void (*run)(void *), void (*free)(void *), void *context);

/// The size of the allocation from this address on; ends the process with a message if it is not
/// in one.
size_t mock_require(const char *what, uint64_t address, size_t bytes);

/// Adds milliseconds to the time that work takes by the clock of the GPU.
void mock_spend(double milliseconds);

/// Ends the process with a message.
_Noreturn void mock_fail(const char *format, ...);
