import Glibc

/// Whether the tests run under the address or the thread sanitizer, which need memory of their own.
package let isSanitized = dlsym(nil, "__asan_init") != nil || isThreadSanitized

/// Whether it is the thread sanitizer, whose own memory is a file.
package let isThreadSanitized = dlsym(nil, "__tsan_init") != nil
