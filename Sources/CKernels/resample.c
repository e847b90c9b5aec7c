#include <string.h>

#include "CKernels.h"
#include "clones.h"

RT_CLONES
static void blend(float *restrict d, const float *restrict a, const float *restrict b,
                  const float *restrict e, const float *restrict f, float row, float col, int n) {
    float w00 = (1 - row) * (1 - col), w01 = (1 - row) * col;
    float w10 = row * (1 - col), w11 = row * col;
    for (int i = 0; i < n; i++) d[i] = w00 * a[i] + w01 * b[i] + w10 * e[i] + w11 * f[i];
}

void rt_bilinear(float *y, const float *x, int height, int width, int channels, int out_height,
                 int out_width, const int *row_lower, const int *row_upper, const float *row_weight,
                 const int *col_lower, const int *col_upper, const float *col_weight,
                 ptrdiff_t begin, ptrdiff_t end) {
    ptrdiff_t line = (ptrdiff_t)width * channels;
    for (ptrdiff_t row = begin; row < end; row++) {
        ptrdiff_t n = row / out_height, oh = row % out_height;
        const float *top = x + (n * height + row_lower[oh]) * line;
        const float *bottom = x + (n * height + row_upper[oh]) * line;
        float *d = y + row * out_width * channels;
        for (int ow = 0; ow < out_width; ow++, d += channels) {
            ptrdiff_t left = (ptrdiff_t)col_lower[ow] * channels;
            ptrdiff_t right = (ptrdiff_t)col_upper[ow] * channels;
            blend(d, top + left, top + right, bottom + left, bottom + right, row_weight[oh],
                  col_weight[ow], channels);
        }
    }
}

// How much output `o` reads of input `i`.
static inline float share(int i, int lower, int upper, float weight) {
    return (i == lower ? 1 - weight : 0) + (i == upper ? weight : 0);
}

RT_CLONES
static void add_scaled(float *restrict d, const float *restrict s, float scale, int n) {
    for (int i = 0; i < n; i++) d[i] += scale * s[i];
}

void rt_bilinear_input(float *dx, const float *dy, int height, int width, int channels,
                       int out_height, int out_width, const int *row_lower, const int *row_upper,
                       const float *row_weight, const int *col_lower, const int *col_upper,
                       const float *col_weight, const int *row_first, const int *row_last,
                       const int *col_first, const int *col_last, ptrdiff_t begin, ptrdiff_t end) {
    for (ptrdiff_t row = begin; row < end; row++) {
        ptrdiff_t n = row / height;
        int h = (int)(row % height);
        float *line = dx + row * width * channels;
        memset(line, 0, (size_t)width * channels * sizeof *line);
        for (int oh = row_first[h]; oh < row_last[h]; oh++) {
            float vertical = share(h, row_lower[oh], row_upper[oh], row_weight[oh]);
            const float *g = dy + (n * out_height + oh) * out_width * channels;
            for (int w = 0; w < width; w++)
                for (int ow = col_first[w]; ow < col_last[w]; ow++) {
                    float horizontal = share(w, col_lower[ow], col_upper[ow], col_weight[ow]);
                    add_scaled(line + (ptrdiff_t)w * channels, g + (ptrdiff_t)ow * channels,
                               vertical * horizontal, channels);
                }
        }
    }
}
