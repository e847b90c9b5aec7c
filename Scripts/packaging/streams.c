// The standard streams of the C library, for static libraries in a shared one.
//
// Debian compiles its static libraries for programs: they refer to stderr and stdout directly,
// which a shared library may not do with variables of another one. These are its own, and have the
// values of the C library's before anything runs.
#include <dlfcn.h>

__attribute__((visibility("hidden"))) void *stderr, *stdout;

__attribute__((constructor(101))) static void find_streams(void) {
    void **errors = dlsym(RTLD_DEFAULT, "stderr"), **results = dlsym(RTLD_DEFAULT, "stdout");
    stderr = errors ? *errors : 0;
    stdout = results ? *results : 0;
}
