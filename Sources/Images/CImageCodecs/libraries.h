// Libraries that are loaded when a file needs them: retint works without them.

#pragma once

#include <stdbool.h>

/// A function of a library, and where its address goes.
typedef struct {
    const char *name;
    void **address;
} LibraryFunction;

#define LIBRARY_FUNCTION(table, library, name) {#library #name, (void **)&(table).name}

/// Loads the first of `files` that is there and has all functions. Both lists end with a NULL.
bool load_library(const char *const *files, const LibraryFunction *functions);
