// Applies an rt_tail to vectors of results.
#pragma once

#include "CKernels.h"
#include "clones.h"

// NAME_at loads the tail of one vector of channels, NAME applies it: y·scale + bias in one
// operation, then max and min that keep NaN. A condition on vectors selects lane by lane, which is
// one instruction.
#define DEFINE_TAIL(NAME, VECTOR)                                                                  \
    typedef struct {                                                                               \
        VECTOR scale, bias, low, high;                                                             \
    } NAME##_vectors;                                                                              \
    RT_INLINE NAME##_vectors NAME##_at(const rt_tail *tail, ptrdiff_t channel) {                   \
        VECTOR zero = (VECTOR)0;                                                                   \
        NAME##_vectors t = {tail->factor - zero, zero, tail->low - zero, tail->high - zero};       \
        if (tail->scale) t.scale *= *(const VECTOR *)(tail->scale + channel);                      \
        if (tail->bias) t.bias = *(const VECTOR *)(tail->bias + channel) * tail->factor;           \
        return t;                                                                                  \
    }                                                                                              \
    RT_INLINE void NAME(VECTOR *y, const NAME##_vectors *t) {                                      \
        *y = *y * t->scale + t->bias;                                                              \
        *y = *y < t->low ? t->low : *y;                                                            \
        *y = *y > t->high ? t->high : *y;                                                          \
    }
