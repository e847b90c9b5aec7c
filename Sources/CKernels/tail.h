// What is done to results as they are stored: rt_tail on vectors.
#pragma once

#include "CKernels.h"
#include "clones.h"

// y·scale + bias, then min and max that let NaN through. `INTS` has as many lanes as VECTOR.
#define DEFINE_TAIL(NAME, VECTOR, INTS)                                                            \
    RT_INLINE void NAME(VECTOR *y, const rt_tail *tail, ptrdiff_t channel) {                       \
        if (tail->scale) *y = *y * *(const VECTOR *)(tail->scale + channel);                       \
        if (tail->bias) *y = *y + *(const VECTOR *)(tail->bias + channel);                         \
        VECTOR low = tail->low - (VECTOR){0}, high = tail->high - (VECTOR){0};                     \
        INTS below = *y < low, above = *y > high;                                                  \
        *y = (VECTOR)(((INTS)*y & ~(below | above)) | ((INTS)low & below) | ((INTS)high & above)); \
    }
