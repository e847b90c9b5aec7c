// Applies an rt_tail to vectors of results.
#pragma once

#include "CKernels.h"
#include "clones.h"

// (y·scale + bias)·factor, then max and min that keep NaN. A condition on vectors
// selects lane by lane, which is one instruction.
#define DEFINE_TAIL(NAME, VECTOR)                                                                  \
    RT_INLINE void NAME(VECTOR *y, const rt_tail *tail, ptrdiff_t channel) {                       \
        if (tail->scale) *y = *y * *(const VECTOR *)(tail->scale + channel);                       \
        if (tail->bias) *y = *y + *(const VECTOR *)(tail->bias + channel);                         \
        *y = *y * tail->factor;                                                                    \
        VECTOR low = tail->low - (VECTOR)0, high = tail->high - (VECTOR)0;                         \
        *y = *y < low ? low : *y;                                                                  \
        *y = *y > high ? high : *y;                                                                \
    }
