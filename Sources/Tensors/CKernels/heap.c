#include "CKernels.h"

#include <stdlib.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

void rt_trim_heap(void) {
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}
