#include "libraries.h"

#include <dlfcn.h>
#include <stddef.h>

static bool find_functions(void *library, const LibraryFunction *functions) {
    for (; functions->name; ++functions) {
        *functions->address = dlsym(library, functions->name);
        if (!*functions->address) return false;
    }
    return true;
}

bool load_library(const char *const *files, const LibraryFunction *functions) {
    for (; *files; ++files) {
        void *library = dlopen(*files, RTLD_NOW | RTLD_LOCAL);
        if (!library) continue;
        if (find_functions(library, functions)) return true;
        dlclose(library);
    }
    return false;
}
