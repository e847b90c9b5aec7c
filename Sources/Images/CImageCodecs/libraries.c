#include "libraries.h"

#include <dlfcn.h>
#include <stddef.h>

static bool find_functions(void *handle, const LibraryFunction *functions) {
    for (; functions->name; ++functions) {
        *functions->address = dlsym(handle, functions->name);
        if (!*functions->address) return false;
    }
    return true;
}

static bool load(const Library *library) {
    void *handle = dlopen(library->file, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return false;
    if (find_functions(handle, library->functions)) return true;
    dlclose(handle);
    return false;
}

bool load_library(Library *library) {
    pthread_mutex_lock(&library->lock);
    if (!library->was_tried) library->is_loaded = load(library);
    library->was_tried = true;
    const bool is_loaded = library->is_loaded;
    pthread_mutex_unlock(&library->lock);
    return is_loaded;
}
