#include <math.h>
#include <string.h>

#include "CKernels.h"
#include "clones.h"
#include "vectormath.h"

// Sums run in float over short blocks of rows and in double across them: fast, and accurate for any
// length. Those of up to VECTORS vectors of columns stay in registers meanwhile.
enum { COLUMNS = 64, ROWS = 128, LANES = 16, VECTORS = COLUMNS / LANES };
typedef float lanes __attribute__((ext_vector_type(16), aligned(4)));
typedef double wide_lanes __attribute__((ext_vector_type(16), aligned(8)));
#define EACH _Pragma("clang loop unroll(full)") for

static ptrdiff_t smaller(ptrdiff_t a, ptrdiff_t b) { return a < b ? a : b; }

// What is summed: x; or t = x − shift and t²; or dy and dy·t.
typedef enum { SUMS, MOMENTS, PRODUCTS } summands;

typedef struct {
    const float *x, *dy, *shift;
    ptrdiff_t columns, begin, end;
    double *sums;
} rows;

RT_INLINE void add_lanes(double *sums, const lanes *s) {
    *(wide_lanes *)sums += __builtin_convertvector(*s, wide_lanes);
}

// The columns of some vectors from `first` on. `kind` and `vectors` are constants.
RT_INLINE void add_vectors(summands kind, int vectors, const rows *r, ptrdiff_t first) {
    lanes s[VECTORS], q[VECTORS], shift[VECTORS];
    EACH (int v = 0; v < vectors; v++) {
        s[v] = q[v] = (lanes)0;
        if (kind != SUMS) shift[v] = *(const lanes *)(r->shift + first + v * LANES);
    }
    for (ptrdiff_t row = r->begin; row < r->end; row++)
        EACH (int v = 0; v < vectors; v++) {
            ptrdiff_t at = row * r->columns + first + v * LANES;
            lanes x = *(const lanes *)(r->x + at), t = kind == SUMS ? x : x - shift[v];
            lanes g = kind == PRODUCTS ? *(const lanes *)(r->dy + at) : t;
            s[v] += g;
            if (kind != SUMS) q[v] += g * t;
        }
    EACH (int v = 0; v < vectors; v++) {
        add_lanes(r->sums + first + v * LANES, &s[v]);
        if (kind != SUMS) add_lanes(r->sums + r->columns + first + v * LANES, &q[v]);
    }
}

// The last columns, which fill no vector.
RT_INLINE void add_rest(summands kind, const rows *r, ptrdiff_t first) {
    float s[LANES] = {0}, q[LANES] = {0};
    ptrdiff_t count = r->columns - first;
    for (ptrdiff_t row = r->begin; row < r->end; row++)
        for (ptrdiff_t i = 0; i < count; i++) {
            ptrdiff_t at = row * r->columns + first + i;
            float t = kind == SUMS ? r->x[at] : r->x[at] - r->shift[first + i];
            float g = kind == PRODUCTS ? r->dy[at] : t;
            s[i] += g;
            if (kind != SUMS) q[i] += g * t;
        }
    for (ptrdiff_t i = 0; i < count; i++) {
        r->sums[first + i] += s[i];
        if (kind != SUMS) r->sums[r->columns + first + i] += q[i];
    }
}

RT_INLINE void add_rows(summands kind, rows r) {
    ptrdiff_t end = r.end;
    for (; r.begin < end; r.begin = r.end) {
        r.end = smaller(r.begin + ROWS, end);
        ptrdiff_t first = 0;
        for (; first + COLUMNS <= r.columns; first += COLUMNS)
            add_vectors(kind, VECTORS, &r, first);
        for (; first + LANES <= r.columns; first += LANES) add_vectors(kind, 1, &r, first);
        if (first < r.columns) add_rest(kind, &r, first);
    }
}

RT_CLONES
void rt_column_sums(double *sums, const float *x, ptrdiff_t columns, ptrdiff_t begin,
                    ptrdiff_t end) {
    add_rows(SUMS, (rows){x, NULL, NULL, columns, begin, end, sums});
}

RT_CLONES
void rt_column_moments(double *sums, const float *x, const float *shift, ptrdiff_t columns,
                       ptrdiff_t begin, ptrdiff_t end) {
    add_rows(MOMENTS, (rows){x, NULL, shift, columns, begin, end, sums});
}

RT_CLONES
void rt_column_products(double *sums, const float *x, const float *dy, const float *mean,
                        ptrdiff_t columns, ptrdiff_t begin, ptrdiff_t end) {
    add_rows(PRODUCTS, (rows){x, dy, mean, columns, begin, end, sums});
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

RT_CLONES
float rt_max_abs(const float *x, ptrdiff_t n) {
    float most[LANES] = {0}, best = 0;
    ptrdiff_t whole = n - n % LANES;
    for (ptrdiff_t k = 0; k < whole; k += LANES)
        for (ptrdiff_t i = 0; i < LANES; i++) {
            float size = fabsf(x[k + i]);
            most[i] = size > most[i] ? size : most[i];
        }
    for (ptrdiff_t i = whole; i < n; i++) best = fabsf(x[i]) > best ? fabsf(x[i]) : best;
    for (ptrdiff_t i = 0; i < LANES; i++) best = most[i] > best ? most[i] : best;
    return best;
}

// Softmax of one contiguous row of at least LANES elements, in explicit vectors: the compiler
// vectorizes neither the maximum nor the last elements of a row that fill no vector. Those are
// computed together with elements before them, which are counted once.
RT_INLINE void softmax_row(float *y, const float *x, int logarithm,
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

// The same for rows that do not overlap.
RT_INLINE void softmax_row_apart(float *restrict y, const float *restrict x, int logarithm,
                                 ptrdiff_t n) {
    softmax_row(y, x, logarithm, n);
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
            softmax_row_apart(y + at, x + at, logarithm, count);
            continue;
        }
        for (ptrdiff_t first = 0; first < inner; first += COLUMNS)
            softmax_columns(y + at + first, x + at + first, logarithm, count, inner,
                            inner - first < COLUMNS ? inner - first : COLUMNS);
    }
}

RT_CLONES
void rt_softmax_rows(float *x, ptrdiff_t stride, ptrdiff_t count, ptrdiff_t rows, float factor,
                     const float *addend) {
    for (ptrdiff_t row = 0; row < rows; row++, x += stride) {
        if (addend) {
            for (ptrdiff_t i = 0; i < count; i++) x[i] = x[i] * factor + addend[i];
            addend += count;
        } else if (factor != 1) {
            for (ptrdiff_t i = 0; i < count; i++) x[i] *= factor;
        }
        if (count >= LANES) softmax_row(x, x, 0, count);
        else softmax_columns(x, x, 0, count, 1, 1);
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
