// Convolution to a few channels, such as a and b: dot products along the input channels. The lanes
// of the other kernels are output channels, most of which would be empty here.
#include <string.h>

#include "CKernels.h"
#include "clones.h"

enum { LANES = 16 };
typedef float lanes __attribute__((ext_vector_type(16), aligned(4)));

// The sums of adjacent pairs: first those of a, then those of b.
RT_INLINE void add_pairs(lanes *sum, const lanes *left, const lanes *right) {
    lanes a = *left, b = *right;
    lanes even = __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26,
                                         28, 30);
    lanes odd = __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27,
                                        29, 31);
    *sum = even + odd;
}

// Lane i of s[0] becomes the sum of all lanes of s[i].
RT_INLINE void add_lanes(lanes s[LANES]) {
#pragma clang loop unroll(full)
    for (int count = LANES / 2; count > 0; count /= 2)
#pragma clang loop unroll(full)
        for (int i = 0; i < count; i++) add_pairs(&s[i], &s[2 * i], &s[2 * i + 1]);
}

// `count` values at x, padded with zeros to LANES.
RT_INLINE void load(lanes *value, const float *x, int count) {
    if (count == LANES) {
        *value = *(const lanes *)x;
    } else {
        *value = (lanes)0;
        memcpy(value, x, (size_t)count * sizeof *x);
    }
}

// `count` input channels of one kernel element.
RT_INLINE void add_products(int pixels, int outputs, lanes s[LANES], const float *x, ptrdiff_t step,
                            const float *w, ptrdiff_t patch, int count) {
    lanes v[LANES], value;
#pragma clang loop unroll(full)
    for (int o = 0; o < outputs; o++) load(&v[o], w + o * patch, count);
#pragma clang loop unroll(full)
    for (int p = 0; p < pixels; p++) {
        load(&value, x + p * step, count);
#pragma clang loop unroll(full)
        for (int o = 0; o < outputs; o++)
            s[p * outputs + o] = value * v[o] + s[p * outputs + o];
    }
}

// One row of the output and the kernel rows that it reads.
typedef struct {
    const rt_conv *c;
    const float *x, *w;
    int first_kh, last_kh, top;
} line;

// `pixels` outputs from `ow` on, of which kernel columns [first, last) lie in the image. A sum
// for each of pixels × outputs, LANES at most; constants wherever this is inlined.
RT_INLINE void block(int pixels, int outputs, float *y, const line *l, int ow, int first,
                     int last) {
    const rt_conv *c = l->c;
    lanes s[LANES];
#pragma clang loop unroll(full)
    for (int i = 0; i < LANES; i++) s[i] = (lanes)0;
    ptrdiff_t patch = (ptrdiff_t)c->kernel_height * c->kernel_width * c->channels;
    ptrdiff_t step = (ptrdiff_t)c->stride_width * c->channels;
    int left = ow * c->stride_width - c->pad_left;
    for (int kh = l->first_kh; kh < l->last_kh; kh++)
        for (int kw = first; kw < last; kw++) {
            ptrdiff_t pixel = (ptrdiff_t)(l->top + kh * c->dilation_height) * c->width + left
                + kw * c->dilation_width;
            const float *x = l->x + pixel * c->channels;
            const float *w = l->w + (kh * c->kernel_width + kw) * (ptrdiff_t)c->channels;
            int channel = 0;
            for (; channel + LANES <= c->channels; channel += LANES)
                add_products(pixels, outputs, s, x + channel, step, w + channel, patch, LANES);
            if (channel < c->channels)
                add_products(pixels, outputs, s, x + channel, step, w + channel, patch,
                             c->channels - channel);
        }
    add_lanes(s);
    memcpy(y + (ptrdiff_t)ow * outputs, s, sizeof *y * pixels * outputs);
}

// The kernel elements [first, last) along one axis that lie in the image for an output.
static void inside(int place, int pad, int stride, int dilation, int kernel, int size, int *first,
                   int *last) {
    int start = place * stride - pad;
    *first = start < 0 ? (-start + dilation - 1) / dilation : 0;
    *last = start >= size ? 0 : (size - 1 - start) / dilation + 1;
    if (*last > kernel) *last = kernel;
    if (*first > *last) *first = *last;
}

// The kernel columns [*first, *last) that lie in the image for an output; whether all do.
RT_INLINE int columns(const rt_conv *c, int ow, int *first, int *last) {
    inside(ow, c->pad_left, c->stride_width, c->dilation_width, c->kernel_width, c->width, first,
           last);
    return *first == 0 && *last == c->kernel_width;
}

// Outputs of which all columns of the kernel lie in the image, `pixels` at a time: the last ones
// with some before them that are computed already. The others one by one.
RT_INLINE void row(int outputs, float *y, const line *l) {
    const rt_conv *c = l->c;
    int pixels = LANES / outputs, begin = 0, end = c->out_width, first, last;
    while (begin < end && !columns(c, begin, &first, &last)) begin++;
    while (end > begin && !columns(c, end - 1, &first, &last)) end--;
    if (end - begin < pixels) end = begin;
    for (int ow = 0; ow < c->out_width;) {
        if (ow >= begin && ow < end) {
            int start = ow + pixels <= end ? ow : end - pixels;
            block(pixels, outputs, y, l, start, 0, c->kernel_width);
            ow = start + pixels;
        } else {
            columns(c, ow, &first, &last);
            block(1, outputs, y, l, ow++, first, last);
        }
    }
}

RT_CLONES
void rt_few_outputs(float *y, const float *x, const float *w, const rt_conv *c, ptrdiff_t begin,
                    ptrdiff_t end) {
    for (ptrdiff_t r = begin; r < end; r++) {
        ptrdiff_t n = r / c->out_height, oh = r % c->out_height;
        float *out = y + r * c->out_width * c->out_channels;
        line l = {.c = c, .x = x + n * c->height * c->width * c->channels, .w = w};
        l.top = (int)oh * c->stride_height - c->pad_top;
        inside((int)oh, c->pad_top, c->stride_height, c->dilation_height, c->kernel_height,
               c->height, &l.first_kh, &l.last_kh);
        switch (c->out_channels) {
        case 1: row(1, out, &l); break;
        case 2: row(2, out, &l); break;
        case 3: row(3, out, &l); break;
        case 4: row(4, out, &l); break;
        }
    }
}
