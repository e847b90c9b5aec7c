// Libraries that are loaded when a file needs them: retint works without them.

#pragma once

#include <pthread.h>
#include <stdbool.h>

/// A function of a library, and where its address goes.
typedef struct {
    const char *name;
    void **address;
} LibraryFunction;

#define LIBRARY_FUNCTION(table, library, name) {#library #name, (void **)&(table).name}

typedef struct {
    const char *file;
    /// The last one has no name.
    const LibraryFunction *functions;
    pthread_mutex_t lock;
    bool was_tried;
    bool is_loaded;
} Library;

#define LIBRARY(file, functions) {file, functions, PTHREAD_MUTEX_INITIALIZER, false, false}

/// Loads a library the first time; returns whether it is there and has all functions.
bool load_library(Library *library);
