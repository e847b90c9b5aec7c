// Vectors of 16-bit floating-point values.
#pragma once

#include "CKernels.h"
#include "clones.h"

typedef float half_lanes __attribute__((ext_vector_type(16), aligned(4)));
typedef uint32_t half_words __attribute__((ext_vector_type(16), aligned(4)));
typedef rt_half half_values __attribute__((ext_vector_type(16), aligned(2)));
typedef _Float16 half_floats __attribute__((ext_vector_type(16), aligned(2)));

// The nearest values, ties to even, in the low halves of words. The formats are constants wherever
// these are inlined, and the callers are made for CPUs that convert vectors of float16.
RT_INLINE void to_half(half_words *y, const half_lanes *x, rt_format format) {
    if (format == RT_FLOAT16) {
        half_floats values = __builtin_convertvector(*x, half_floats);
        half_values halves;
        __builtin_memcpy(&halves, &values, sizeof values);
        *y = __builtin_convertvector(halves, half_words);
        return;
    }
    half_words bits;
    __builtin_memcpy(&bits, x, sizeof bits);
    half_words rounded = bits + 0x7fff + (bits >> 16 & 1);
    // Rounding would carry NaN's fraction into its sign.
    half_words is_number = (half_words)((bits & 0x7fffffff) <= 0x7f800000);
    *y = ((rounded & is_number) | ((bits | 0x400000) & ~is_number)) >> 16;
}

// The reverse, of the low halves of words; the high ones are ignored.
RT_INLINE void from_half(half_lanes *y, const half_words *x, rt_format format) {
    if (format == RT_FLOAT16) {
        half_values bits = __builtin_convertvector(*x & 0xffff, half_values);
        half_floats values;
        __builtin_memcpy(&values, &bits, sizeof values);
        *y = __builtin_convertvector(values, half_lanes);
        return;
    }
    half_words bits = *x << 16;
    __builtin_memcpy(y, &bits, sizeof bits);
}

// Stores vectors of either kind at element i of v.
RT_INLINE void store_as(void *v, ptrdiff_t i, const half_lanes *x, rt_format format) {
    if (format == RT_FLOAT32) {
        *(half_lanes *)((float *)v + i) = *x;
        return;
    }
    half_words words;
    to_half(&words, x, format);
    *(half_values *)((rt_half *)v + i) = __builtin_convertvector(words, half_values);
}

// CPUs that convert vectors of either format.
#if defined(__x86_64__)
#define RT_HALF_TARGET __attribute__((target("arch=x86-64-v4")))
#else
#define RT_HALF_TARGET
#endif
