// Compiles a function for several CPU generations; the loader picks one at run time.
#pragma once

// The loader picks the versions before a sanitizer is ready, and their resolvers would call it.
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define RT_IS_SANITIZED 1
#else
#define RT_IS_SANITIZED 0
#endif

// The thread sanitizer looks at each access, and most are those of loops over arrays. With the
// macro RT_TRUSTS_LOOPS it leaves them out.
#if __has_feature(thread_sanitizer) && defined(RT_TRUSTS_LOOPS)
#define RT_LOOPS __attribute__((no_sanitize("thread")))
#else
#define RT_LOOPS
#endif

#if defined(__x86_64__) && defined(__linux__) && !RT_IS_SANITIZED
#define RT_CLONES \
    __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define RT_CLONES RT_LOOPS
#endif

#define RT_INLINE static inline __attribute__((always_inline)) RT_LOOPS

// Lets the compiler split sums over vector lanes; the order is fixed when it compiles.
#define RT_REASSOCIATE _Pragma("clang fp reassociate(on)")
