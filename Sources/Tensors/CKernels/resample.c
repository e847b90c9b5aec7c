// Bilinear interpolation in two passes, rows first: rows are contiguous.
#include <string.h>

#include "CKernels.h"
#include "clones.h"

// Channels blended at once.
enum { LANES = 16 };
typedef float lanes __attribute__((ext_vector_type(16), aligned(4)));

RT_INLINE void blend(float *restrict d, const float *restrict a, const float *restrict b,
                     float weight, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++) d[i] = a[i] + weight * (b[i] - a[i]);
}

RT_INLINE void blend_columns(float *d, const float *line, const rt_samples *columns, int outputs,
                             int channels) {
    for (int ow = 0; ow < outputs; ow++, d += channels)
        blend(d, line + (ptrdiff_t)columns->lower[ow] * channels,
              line + (ptrdiff_t)columns->upper[ow] * channels, columns->weight[ow], channels);
}

// The same for LANES channels or more: outputs between the same two inputs share their loads. The
// last channels are computed with some before them that are computed already.
RT_INLINE void blend_vectors(float *d, const float *line, const rt_samples *columns, int outputs,
                             int channels) {
    for (int first = 0, end; first < outputs; first = end) {
        const float *a = line + (ptrdiff_t)columns->lower[first] * channels;
        const float *b = line + (ptrdiff_t)columns->upper[first] * channels;
        for (end = first + 1; end < outputs && columns->lower[end] == columns->lower[first]; end++)
            ;
        for (int next = 0; next < channels; next += LANES) {
            int i = next + LANES > channels ? channels - LANES : next;
            lanes low = *(const lanes *)(a + i), step = *(const lanes *)(b + i) - low;
            float *target = d + (ptrdiff_t)first * channels + i;
            for (int ow = first; ow < end; ow++, target += channels)
                *(lanes *)target = columns->weight[ow] * step + low;
        }
    }
}

// MARK: Twice the size

// Whether outputs lie a quarter and three quarters of the way between inputs. The outputs are then,
// but for the first and the last one, two between each pair of inputs.
static int doubles(const rt_samples *s, int inputs, int outputs) {
    return outputs == 2 * inputs && inputs > 1 && s->weight[1] == 0.25f && s->weight[2] == 0.75f;
}

// Two rows of the input, and the weight of the second.
typedef struct {
    const float *upper, *lower;
    float weight;
} row_pair;

// LANES values between the two rows.
RT_INLINE void between(lanes *value, const row_pair *r, ptrdiff_t i) {
    lanes a = *(const lanes *)(r->upper + i), b = *(const lanes *)(r->lower + i);
    *value = a + r->weight * (b - a);
}

// A row of twice the width, of LANES channels or more: each input is blended once, and not stored.
// The last channels are computed with some before them that are computed already.
RT_INLINE void double_row(float *d, const row_pair *r, int width, int channels) {
    for (int next = 0; next < channels; next += LANES) {
        int i = next + LANES > channels ? channels - LANES : next;
        float *target = d + i;
        lanes left, right;
        between(&left, r, i);
        *(lanes *)target = left;
        for (int w = 1; w < width; w++, left = right) {
            between(&right, r, (ptrdiff_t)w * channels + i);
            lanes step = right - left;
            *(lanes *)(target += channels) = 0.25f * step + left;
            *(lanes *)(target += channels) = 0.75f * step + left;
        }
        *(lanes *)(target + channels) = left;
    }
}

// A row of a and b, which are blended already.
RT_INLINE void double_pairs(float *d, const float *line, int width) {
    d[0] = line[0], d[1] = line[1];
    d += 2;
    int w = 0;
    for (; w + 1 + LANES / 2 <= width; w += LANES / 2, line += LANES, d += 2 * LANES) {
        lanes left = *(const lanes *)line, step = *(const lanes *)(line + 2) - left;
        lanes near = 0.25f * step + left, far = 0.75f * step + left;
        *(lanes *)d = __builtin_shufflevector(near, far, 0, 1, 16, 17, 2, 3, 18, 19, 4, 5, 20, 21,
                                              6, 7, 22, 23);
        *(lanes *)(d + LANES) = __builtin_shufflevector(near, far, 8, 9, 24, 25, 10, 11, 26, 27,
                                                        12, 13, 28, 29, 14, 15, 30, 31);
    }
    for (; w + 1 < width; w++, line += 2, d += 4)
        for (int c = 0; c < 2; c++) {
            float step = line[2 + c] - line[c];
            d[c] = 0.25f * step + line[c];
            d[2 + c] = 0.75f * step + line[c];
        }
    d[0] = line[0], d[1] = line[1];
}

RT_CLONES
void rt_bilinear(float *y, float *line, const float *x, int height, int width, int channels,
                 int out_height, int out_width, const rt_samples *rows, const rt_samples *columns,
                 ptrdiff_t begin, ptrdiff_t end) {
    ptrdiff_t length = (ptrdiff_t)width * channels;
    int isDouble = doubles(columns, width, out_width);
    for (ptrdiff_t row = begin; row < end; row++) {
        ptrdiff_t n = row / out_height, oh = row % out_height;
        row_pair r = {x + (n * height + rows->lower[oh]) * length,
                      x + (n * height + rows->upper[oh]) * length, rows->weight[oh]};
        float *d = y + row * out_width * channels;
        if (isDouble && channels >= LANES) {
            double_row(d, &r, width, channels);
            continue;
        }
        blend(line, r.upper, r.lower, r.weight, length);
        // Two channels, a and b: faster without a loop.
        if (isDouble && channels == 2) double_pairs(d, line, width);
        else if (channels == 2) blend_columns(d, line, columns, out_width, 2);
        else if (channels >= LANES) blend_vectors(d, line, columns, out_width, channels);
        else blend_columns(d, line, columns, out_width, channels);
    }
}

// How much output `o` reads of input `i`.
RT_INLINE float share(const rt_samples *s, int i, int o) {
    return (i == s->lower[o] ? 1 - s->weight[o] : 0) + (i == s->upper[o] ? s->weight[o] : 0);
}

RT_INLINE void add_scaled(float *restrict d, const float *restrict s, float scale, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++) d[i] += scale * s[i];
}

RT_INLINE void gather_columns(float *d, const float *line, const rt_samples *columns, int width,
                              int channels) {
    memset(d, 0, (size_t)width * channels * sizeof *d);
    for (int w = 0; w < width; w++, d += channels)
        for (int ow = columns->first[w]; ow < columns->last[w]; ow++)
            add_scaled(d, line + (ptrdiff_t)ow * channels, share(columns, w, ow), channels);
}

RT_CLONES
void rt_bilinear_input(float *dx, float *line, const float *dy, int height, int width, int channels,
                       int out_height, int out_width, const rt_samples *rows,
                       const rt_samples *columns, ptrdiff_t begin, ptrdiff_t end) {
    ptrdiff_t length = (ptrdiff_t)out_width * channels;
    for (ptrdiff_t row = begin; row < end; row++) {
        ptrdiff_t n = row / height;
        int h = (int)(row % height);
        memset(line, 0, (size_t)length * sizeof *line);
        for (int oh = rows->first[h]; oh < rows->last[h]; oh++)
            add_scaled(line, dy + (n * out_height + oh) * length, share(rows, h, oh), length);
        float *d = dx + row * width * channels;
        if (channels == 2) gather_columns(d, line, columns, width, 2);
        else gather_columns(d, line, columns, width, channels);
    }
}
