#include <math.h>
#include <string.h>

#include "CKernels.h"
#include "clones.h"
#include "vectormath.h"

// Sums run in float over short blocks and in double across them: fast, and accurate for any length.
enum { COLUMNS = 64, ROWS = 128 };

static ptrdiff_t smaller(ptrdiff_t a, ptrdiff_t b) { return a < b ? a : b; }

RT_CLONES
static void block_sums(double *sums, const float *x, ptrdiff_t columns, ptrdiff_t first,
                       ptrdiff_t count, ptrdiff_t begin, ptrdiff_t end) {
    float s[COLUMNS] = {0};
    for (ptrdiff_t row = begin; row < end; row++) {
        const float *a = x + row * columns + first;
        for (ptrdiff_t i = 0; i < count; i++) s[i] += a[i];
    }
    for (ptrdiff_t i = 0; i < count; i++) sums[first + i] += s[i];
}

void rt_column_sums(double *sums, const float *x, ptrdiff_t columns, ptrdiff_t begin,
                    ptrdiff_t end) {
    for (ptrdiff_t row = begin; row < end; row += ROWS)
        for (ptrdiff_t first = 0; first < columns; first += COLUMNS)
            block_sums(sums, x, columns, first, smaller(columns - first, COLUMNS), row,
                       smaller(row + ROWS, end));
}

RT_CLONES
static void block_moments(double *sums, const float *x, const float *shift, ptrdiff_t columns,
                          ptrdiff_t first, ptrdiff_t count, ptrdiff_t begin, ptrdiff_t end) {
    float s[COLUMNS] = {0}, q[COLUMNS] = {0};
    for (ptrdiff_t row = begin; row < end; row++) {
        const float *a = x + row * columns + first;
        for (ptrdiff_t i = 0; i < count; i++) {
            float t = a[i] - shift[first + i];
            s[i] += t;
            q[i] += t * t;
        }
    }
    for (ptrdiff_t i = 0; i < count; i++) {
        sums[first + i] += s[i];
        sums[columns + first + i] += q[i];
    }
}

void rt_column_moments(double *sums, const float *x, const float *shift, ptrdiff_t columns,
                       ptrdiff_t begin, ptrdiff_t end) {
    for (ptrdiff_t row = begin; row < end; row += ROWS)
        for (ptrdiff_t first = 0; first < columns; first += COLUMNS)
            block_moments(sums, x, shift, columns, first, smaller(columns - first, COLUMNS), row,
                          smaller(row + ROWS, end));
}

RT_CLONES
static void block_products(double *sums, const float *x, const float *dy, const float *mean,
                           ptrdiff_t columns, ptrdiff_t first, ptrdiff_t count, ptrdiff_t begin,
                           ptrdiff_t end) {
    float s[COLUMNS] = {0}, q[COLUMNS] = {0};
    for (ptrdiff_t row = begin; row < end; row++) {
        const float *a = x + row * columns + first, *g = dy + row * columns + first;
        for (ptrdiff_t i = 0; i < count; i++) {
            s[i] += g[i];
            q[i] += g[i] * (a[i] - mean[first + i]);
        }
    }
    for (ptrdiff_t i = 0; i < count; i++) {
        sums[first + i] += s[i];
        sums[columns + first + i] += q[i];
    }
}

void rt_column_products(double *sums, const float *x, const float *dy, const float *mean,
                        ptrdiff_t columns, ptrdiff_t begin, ptrdiff_t end) {
    for (ptrdiff_t row = begin; row < end; row += ROWS)
        for (ptrdiff_t first = 0; first < columns; first += COLUMNS)
            block_products(sums, x, dy, mean, columns, first, smaller(columns - first, COLUMNS),
                           row, smaller(row + ROWS, end));
}

RT_CLONES
static float short_sum(const float *x, ptrdiff_t n) {
    RT_REASSOCIATE
    float sum = 0;
    for (ptrdiff_t i = 0; i < n; i++) sum += x[i];
    return sum;
}

double rt_sum(const float *x, ptrdiff_t n) {
    double sum = 0;
    for (ptrdiff_t i = 0; i < n; i += 1024) sum += short_sum(x + i, smaller(n - i, 1024));
    return sum;
}

float rt_max(const float *x, ptrdiff_t n) {
    float best = -INFINITY;
    for (ptrdiff_t i = 0; i < n; i++) best = (x[i] > best || x[i] != x[i]) ? x[i] : best;
    return best;
}

enum { LANES = 16 };

// Softmax of one contiguous row of at least LANES elements, in explicit vectors: the compiler
// vectorizes neither the maximum nor the last elements of a row that fill no vector. Those are
// computed together with elements before them, which are counted once.
RT_INLINE void softmax_row(float *restrict y, const float *restrict x, int logarithm,
                           ptrdiff_t n) {
    ptrdiff_t last = n - LANES, known = (LANES - n % LANES) % LANES;
    float most[LANES], sums[LANES], rest[LANES];
    for (ptrdiff_t i = 0; i < LANES; i++) most[i] = x[last + i];
    for (ptrdiff_t k = 0; k < last; k += LANES)
        for (ptrdiff_t i = 0; i < LANES; i++) most[i] = x[k + i] > most[i] ? x[k + i] : most[i];
    for (ptrdiff_t half = LANES / 2; half > 0; half /= 2)
        for (ptrdiff_t i = 0; i < half; i++)
            most[i] = most[i] > most[half + i] ? most[i] : most[half + i];
    float best = most[0];

    for (ptrdiff_t i = 0; i < LANES; i++) {
        rest[i] = rt_expf_to_one(x[last + i] - best);
        sums[i] = i < known ? 0.0f : rest[i];
    }
    for (ptrdiff_t k = 0; k < last; k += LANES)
        for (ptrdiff_t i = 0; i < LANES; i++) {
            float e = rt_expf_to_one(x[k + i] - best);
            y[k + i] = e;
            sums[i] += e;
        }
    for (ptrdiff_t half = LANES / 2; half > 0; half /= 2)
        for (ptrdiff_t i = 0; i < half; i++) sums[i] += sums[half + i];

    if (logarithm) {
        float shift = best + logf(sums[0]);
        for (ptrdiff_t i = 0; i < n; i++) y[i] = x[i] - shift;
    } else {
        float scale = 1.0f / sums[0];
        for (ptrdiff_t k = 0; k < last; k += LANES)
            for (ptrdiff_t i = 0; i < LANES; i++) y[k + i] *= scale;
        for (ptrdiff_t i = 0; i < LANES; i++) y[last + i] = rest[i] * scale;
    }
}

// Softmax down the columns of [count, inner], `n` ≤ COLUMNS columns at once.
RT_INLINE void softmax_columns(float *y, const float *x, int logarithm, ptrdiff_t count,
                               ptrdiff_t inner, ptrdiff_t n) {
    float best[COLUMNS], sum[COLUMNS] = {0};
    for (ptrdiff_t i = 0; i < n; i++) best[i] = x[i];
    for (ptrdiff_t k = 1; k < count; k++)
        for (ptrdiff_t i = 0; i < n; i++) {
            float v = x[k * inner + i];
            best[i] = v > best[i] ? v : best[i];
        }
    for (ptrdiff_t k = 0; k < count; k++)
        for (ptrdiff_t i = 0; i < n; i++) {
            float e = rt_expf_to_one(x[k * inner + i] - best[i]);
            y[k * inner + i] = e;
            sum[i] += e;
        }
    for (ptrdiff_t i = 0; i < n; i++) sum[i] = logarithm ? best[i] + logf(sum[i]) : 1.0f / sum[i];
    for (ptrdiff_t k = 0; k < count; k++)
        for (ptrdiff_t i = 0; i < n; i++) {
            ptrdiff_t at = k * inner + i;
            y[at] = logarithm ? x[at] - sum[i] : y[at] * sum[i];
        }
}

RT_CLONES
void rt_softmax(float *y, const float *x, int logarithm, ptrdiff_t count, ptrdiff_t inner,
                ptrdiff_t begin, ptrdiff_t end) {
    for (ptrdiff_t outer = begin; outer < end; outer++) {
        ptrdiff_t at = outer * count * inner;
        if (inner == 1 && count >= LANES) {
            softmax_row(y + at, x + at, logarithm, count);
            continue;
        }
        for (ptrdiff_t first = 0; first < inner; first += COLUMNS)
            softmax_columns(y + at + first, x + at + first, logarithm, count, inner,
                            inner - first < COLUMNS ? inner - first : COLUMNS);
    }
}

/// The scale is computed as for a quantized package, and the code by a division, so that a weight
/// has the same value in training and in the package.
RT_CLONES
void rt_fake_quantize(float *y, const float *x, ptrdiff_t outer, ptrdiff_t slices,
                      ptrdiff_t inner, ptrdiff_t begin, ptrdiff_t end, float largest_code) {
    for (ptrdiff_t slice = begin; slice < end; slice++) {
        float largest = 0;
        for (ptrdiff_t run = 0; run < outer; run++) {
            const float *from = x + (run * slices + slice) * inner;
            for (ptrdiff_t i = 0; i < inner; i++) {
                float magnitude = fabsf(from[i]);
                largest = magnitude > largest ? magnitude : largest;
            }
        }
        float scale = 2 * largest / (2 * largest_code);
        if (!(scale > 0)) scale = 1;
        for (ptrdiff_t run = 0; run < outer; run++) {
            ptrdiff_t at = (run * slices + slice) * inner;
            for (ptrdiff_t i = 0; i < inner; i++) y[at + i] = scale * rintf(x[at + i] / scale);
        }
    }
}
