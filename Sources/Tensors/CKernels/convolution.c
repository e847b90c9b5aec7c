#include <string.h>

#include "CKernels.h"
#include "clones.h"

// The position of a patch: image, output row, output column.
typedef struct {
    int n, oh, ow;
} patch;

static patch patch_at(const rt_conv *c, ptrdiff_t row) {
    patch p;
    p.ow = (int)(row % c->out_width);
    row /= c->out_width;
    p.oh = (int)(row % c->out_height);
    p.n = (int)(row / c->out_height);
    return p;
}

static void next_patch(const rt_conv *c, patch *p) {
    if (++p->ow < c->out_width) return;
    p->ow = 0;
    if (++p->oh < c->out_height) return;
    p->oh = 0;
    p->n++;
}

// One kernel element of one patch: a run of channels, or zeros outside the image.
static inline void copy_tap(float *d, const float *x, const rt_conv *c, patch p, int kh, int kw,
                            int channel, int count) {
    int h = p.oh * c->stride_height - c->pad_top + kh * c->dilation_height;
    int w = p.ow * c->stride_width - c->pad_left + kw * c->dilation_width;
    size_t bytes = (size_t)count * sizeof *d;
    if (h < 0 || h >= c->height || w < 0 || w >= c->width) {
        memset(d, 0, bytes);
    } else {
        ptrdiff_t pixel = ((ptrdiff_t)p.n * c->height + h) * c->width + w;
        const float *s = x + pixel * c->channels + channel;
        if (count == 1) *d = *s;
        else memcpy(d, s, bytes);
    }
}

void rt_im2col(float *cols, ptrdiff_t ld, const float *x, const rt_conv *c, int channel, int count,
               ptrdiff_t begin, ptrdiff_t end) {
    patch p = patch_at(c, begin);
    for (ptrdiff_t row = begin; row < end; row++, next_patch(c, &p), cols += ld) {
        float *d = cols;
        for (int kh = 0; kh < c->kernel_height; kh++)
            for (int kw = 0; kw < c->kernel_width; kw++, d += count)
                copy_tap(d, x, c, p, kh, kw, channel, count);
    }
}

RT_CLONES
static void add_run(float *restrict d, const float *restrict s, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++) d[i] += s[i];
}

// The output position that reads input position `i` through kernel element `k`, or -1.
static inline int reader(int i, int pad, int k, int dilation, int stride, int outputs) {
    int t = i + pad - k * dilation;
    if (t < 0 || t % stride != 0) return -1;
    t /= stride;
    return t < outputs ? t : -1;
}

void rt_col2im(float *x, const float *cols, const rt_conv *c, ptrdiff_t begin, ptrdiff_t end) {
    int channels = c->channels;
    ptrdiff_t ld = (ptrdiff_t)c->kernel_height * c->kernel_width * channels;
    for (ptrdiff_t h = begin; h < end; h++) {
        float *row = x + h * c->width * channels;
        memset(row, 0, (size_t)c->width * channels * sizeof *row);
        for (int kh = 0; kh < c->kernel_height; kh++) {
            int oh = reader((int)h, c->pad_top, kh, c->dilation_height, c->stride_height,
                            c->out_height);
            if (oh < 0) continue;
            for (int w = 0; w < c->width; w++)
                for (int kw = 0; kw < c->kernel_width; kw++) {
                    int ow = reader(w, c->pad_left, kw, c->dilation_width, c->stride_width,
                                    c->out_width);
                    if (ow < 0) continue;
                    const float *s = cols + ((ptrdiff_t)oh * c->out_width + ow) * ld
                        + ((ptrdiff_t)kh * c->kernel_width + kw) * channels;
                    add_run(row + (ptrdiff_t)w * channels, s, channels);
                }
        }
    }
}

void rt_flip_weights(float *d, const float *w, int outputs, int kernel_height, int kernel_width,
                     int inputs, int begin, int end) {
    int taps = kernel_height * kernel_width;
    for (int i = begin; i < end; i++)
        for (int t = 0; t < taps; t++) {
            float *row = d + ((ptrdiff_t)i * taps + (taps - 1 - t)) * outputs;
            const float *column = w + (ptrdiff_t)t * inputs + i;
            for (int o = 0; o < outputs; o++) row[o] = column[(ptrdiff_t)o * taps * inputs];
        }
}
