// Stands before the C library's allocation, for the process of the tests alone, and counts. A
// sanitizer stands there itself, and calls a function for each allocation.
#include <errno.h>
#include <stddef.h>

#include "CAllocationCounter.h"

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static _Thread_local long count;

long allocations_of_this_thread(void) { return count; }

#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)

__attribute__((disable_sanitizer_instrumentation)) void __sanitizer_malloc_hook(
    const volatile void *memory, size_t size) {
    (void)memory;
    (void)size;
    count++;
}

#else

void *malloc(size_t size) {
    count++;
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count++;
    return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size) {
    count++;
    return __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    count++;
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
    count++;
    void *memory = __libc_memalign(alignment, size);
    if (!memory) return ENOMEM;
    *result = memory;
    return 0;
}

#endif
