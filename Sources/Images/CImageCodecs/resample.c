#include <string.h>

#include "CImageCodecs.h"
#include "clones.h"

#define LANES 8
typedef uint8_t bytes8 __attribute__((vector_size(LANES)));
typedef int32_t ints8 __attribute__((vector_size(4 * LANES)));
typedef float floats8 __attribute__((vector_size(4 * LANES)));

#define HALF (1 << (RESAMPLE_PRECISION_BITS - 1))

RT_INLINE uint8_t clip(int32_t sum) {
    const int32_t value = sum >> RESAMPLE_PRECISION_BITS;
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

#define LOAD(type, pointer) ({ type value_; memcpy(&value_, (pointer), sizeof value_); value_; })
#define WIDEN(pointer) __builtin_convertvector(LOAD(bytes8, pointer), ints8)

// Eight pixels are three vectors; a lane always holds the same channel, as 24 divides by 3.
RT_INLINE int dot_24(
    const uint8_t *input, const int32_t *weights, int count, int32_t sums[3]) {
    ints8 a = {0}, b = {0}, c = {0};
    int i = 0;
    for (; i + 24 <= count; i += 24) {
        a += WIDEN(input + i) * LOAD(ints8, weights + i);
        b += WIDEN(input + i + 8) * LOAD(ints8, weights + i + 8);
        c += WIDEN(input + i + 16) * LOAD(ints8, weights + i + 16);
    }
    // Fold 24 lanes to 12, 6 and 3: lanes so far apart hold the same channel.
    a += __builtin_shufflevector(b, c, 4, 5, 6, 7, 8, 9, 10, 11);
    b += __builtin_shufflevector(c, c, 4, 5, 6, 7, -1, -1, -1, -1);
    a += __builtin_shufflevector(a, b, 6, 7, 8, 9, 10, 11, -1, -1);
    a += __builtin_shufflevector(a, a, 3, 4, 5, -1, -1, -1, -1, -1);
    for (int channel = 0; channel < 3; channel++) sums[channel] += a[channel];
    return i;
}

RT_CLONES void resample_row_rgb8(
    const uint8_t *row, uint8_t *output, ResampleWindows windows, const int32_t *weights) {
    for (int x = 0; x < windows.count; x++) {
        const uint8_t *input = row + 3 * (size_t)windows.starts[x];
        const int32_t *weight = weights + (size_t)windows.stride * x;
        const int count = 3 * windows.counts[x];
        int32_t sums[3] = {HALF, HALF, HALF};
        int i = dot_24(input, weight, count, sums);
#pragma clang loop vectorize(disable) unroll(disable)
        for (; i < count; i += 3)
            for (int channel = 0; channel < 3; channel++)
                sums[channel] += input[i + channel] * weight[i];
        for (int channel = 0; channel < 3; channel++) output[3 * x + channel] = clip(sums[channel]);
    }
}

RT_CLONES void resample_row_float(
    const float *row, float *output, ResampleWindows windows, const float *weights) {
    for (int x = 0; x < windows.count; x++) {
        const float *input = row + windows.starts[x];
        const float *weight = weights + (size_t)windows.stride * x;
        float sum = 0;
        for (int i = 0; i < windows.counts[x]; i++) sum += input[i] * weight[i];
        output[x] = sum;
    }
}

RT_CLONES void resample_column_8(
    const uint8_t *rows, size_t pitch, int count, const int32_t *weights, uint8_t *output,
    size_t width) {
    size_t x = 0;
    for (; x + 16 <= width; x += 16) {
        int32_t sums[16];
        for (int lane = 0; lane < 16; lane++) sums[lane] = HALF;
        for (int i = 0; i < count; i++)
            for (int lane = 0; lane < 16; lane++)
                sums[lane] += rows[pitch * i + x + lane] * weights[i];
        for (int lane = 0; lane < 16; lane++) output[x + lane] = clip(sums[lane]);
    }
    for (; x < width; x++) {
        int32_t sum = HALF;
        for (int i = 0; i < count; i++) sum += rows[pitch * i + x] * weights[i];
        output[x] = clip(sum);
    }
}

RT_CLONES void resample_column_float(
    const float *rows, size_t pitch, int count, const float *weights, float *output, size_t width) {
    size_t x = 0;
    for (; x + LANES <= width; x += LANES) {
        floats8 sum = {0};
        for (int i = 0; i < count; i++)
            sum += LOAD(floats8, rows + pitch * i + x) * weights[i];
        memcpy(output + x, &sum, sizeof sum);
    }
    for (; x < width; x++) {
        float sum = 0;
        for (int i = 0; i < count; i++) sum += rows[pitch * i + x] * weights[i];
        output[x] = sum;
    }
}
