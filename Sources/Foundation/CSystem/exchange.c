#define _GNU_SOURCE

#include "CFiles.h"

#include <fcntl.h>
#include <stdio.h>

int files_exchange(const char *path, const char *other) {
    return renameat2(AT_FDCWD, path, AT_FDCWD, other, RENAME_EXCHANGE);
}
