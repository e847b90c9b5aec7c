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

RT_CLONES
void rt_bilinear(float *y, float *line, const float *x, int height, int width, int channels,
                 int out_height, int out_width, const rt_samples *rows, const rt_samples *columns,
                 ptrdiff_t begin, ptrdiff_t end) {
    ptrdiff_t length = (ptrdiff_t)width * channels;
    for (ptrdiff_t row = begin; row < end; row++) {
        ptrdiff_t n = row / out_height, oh = row % out_height;
        blend(line, x + (n * height + rows->lower[oh]) * length,
              x + (n * height + rows->upper[oh]) * length, rows->weight[oh], length);
        float *d = y + row * out_width * channels;
        // Two channels, a and b: faster without a loop.
        if (channels == 2) blend_columns(d, line, columns, out_width, 2);
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
