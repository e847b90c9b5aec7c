#include <math.h>
#include <string.h>

#include "CKernels.h"
#include "clones.h"

// The part [first, last) of a window along one axis that lies in the image.
typedef struct {
    int first, last;
} span;

static inline span window_span(int place, int stride, int pad, int kernel, int extent) {
    int start = place * stride - pad;
    span s = {start < 0 ? 0 : start, start + kernel};
    if (s.last > extent) s.last = extent;
    return s;
}

static inline span rows_of(const rt_conv *c, int oh) {
    return window_span(oh, c->stride_height, c->pad_top, c->kernel_height, c->height);
}

static inline span columns_of(const rt_conv *c, int ow) {
    return window_span(ow, c->stride_width, c->pad_left, c->kernel_width, c->width);
}

static inline ptrdiff_t pixel(const rt_conv *c, int n, int h, int w) {
    return (((ptrdiff_t)n * c->height + h) * c->width + w) * c->channels;
}

RT_CLONES
void rt_max_pool(float *y, const float *x, const rt_conv *c, ptrdiff_t begin, ptrdiff_t end) {
    for (ptrdiff_t row = begin; row < end; row++) {
        int n = (int)(row / c->out_height);
        span hs = rows_of(c, (int)(row % c->out_height));
        for (int ow = 0; ow < c->out_width; ow++) {
            float *d = y + (row * c->out_width + ow) * c->channels;
            span ws = columns_of(c, ow);
            for (int i = 0; i < c->channels; i++) d[i] = -INFINITY;
            for (int h = hs.first; h < hs.last; h++)
                for (int w = ws.first; w < ws.last; w++) {
                    const float *s = x + pixel(c, n, h, w);
                    for (int i = 0; i < c->channels; i++)
                        d[i] = (s[i] > d[i] || s[i] != s[i]) ? s[i] : d[i];
                }
        }
    }
}

// Adds one window's gradient to its first maximum.
static void route_to_maximum(float *dx, const float *x, float gradient, const rt_conv *c, int n,
                             span hs, span ws, int channel) {
    float best = -INFINITY;
    ptrdiff_t winner = -1;
    for (int h = hs.first; h < hs.last; h++)
        for (int w = ws.first; w < ws.last; w++) {
            ptrdiff_t at = pixel(c, n, h, w) + channel;
            if (winner < 0 || x[at] > best) {
                best = x[at];
                winner = at;
            }
        }
    if (winner >= 0) dx[winner] += gradient;
}

void rt_max_pool_input(float *dx, const float *x, const float *dy, const rt_conv *c, int begin,
                       int end) {
    for (ptrdiff_t p = 0; p < (ptrdiff_t)c->batch * c->height * c->width; p++)
        memset(dx + p * c->channels + begin, 0, (size_t)(end - begin) * sizeof *dx);
    for (int n = 0; n < c->batch; n++)
        for (int oh = 0; oh < c->out_height; oh++)
            for (int ow = 0; ow < c->out_width; ow++) {
                const float *g = dy
                    + (((ptrdiff_t)n * c->out_height + oh) * c->out_width + ow) * c->channels;
                for (int i = begin; i < end; i++)
                    route_to_maximum(dx, x, g[i], c, n, rows_of(c, oh), columns_of(c, ow), i);
            }
}

// The divisor of the window's sum: its number of elements, with or without those in the padding.
static float divisor(const rt_conv *c, int count_padding, int pad_bottom, int pad_right, int oh,
                     int ow) {
    span hs = rows_of(c, oh), ws = columns_of(c, ow);
    if (!count_padding) return (float)(hs.last - hs.first) * (float)(ws.last - ws.first);
    int top = oh * c->stride_height - c->pad_top, left = ow * c->stride_width - c->pad_left;
    int bottom = top + c->kernel_height, right = left + c->kernel_width;
    if (bottom > c->height + pad_bottom) bottom = c->height + pad_bottom;
    if (right > c->width + pad_right) right = c->width + pad_right;
    return (float)(bottom - top) * (float)(right - left);
}

RT_CLONES
void rt_average_pool(float *y, const float *x, const rt_conv *c, int count_padding, int pad_bottom,
                     int pad_right, ptrdiff_t begin, ptrdiff_t end) {
    for (ptrdiff_t row = begin; row < end; row++) {
        int n = (int)(row / c->out_height), oh = (int)(row % c->out_height);
        span hs = rows_of(c, oh);
        for (int ow = 0; ow < c->out_width; ow++) {
            float *d = y + (row * c->out_width + ow) * c->channels;
            span ws = columns_of(c, ow);
            for (int i = 0; i < c->channels; i++) d[i] = 0;
            for (int h = hs.first; h < hs.last; h++)
                for (int w = ws.first; w < ws.last; w++) {
                    const float *s = x + pixel(c, n, h, w);
                    for (int i = 0; i < c->channels; i++) d[i] += s[i];
                }
            float scale = 1.0f / divisor(c, count_padding, pad_bottom, pad_right, oh, ow);
            for (int i = 0; i < c->channels; i++) d[i] *= scale;
        }
    }
}

void rt_average_pool_input(float *dx, const float *dy, const rt_conv *c, int count_padding,
                           int pad_bottom, int pad_right, int begin, int end) {
    for (ptrdiff_t p = 0; p < (ptrdiff_t)c->batch * c->height * c->width; p++)
        memset(dx + p * c->channels + begin, 0, (size_t)(end - begin) * sizeof *dx);
    for (int n = 0; n < c->batch; n++)
        for (int oh = 0; oh < c->out_height; oh++)
            for (int ow = 0; ow < c->out_width; ow++) {
                const float *g = dy
                    + (((ptrdiff_t)n * c->out_height + oh) * c->out_width + ow) * c->channels;
                span hs = rows_of(c, oh), ws = columns_of(c, ow);
                float scale = 1.0f / divisor(c, count_padding, pad_bottom, pad_right, oh, ow);
                for (int h = hs.first; h < hs.last; h++)
                    for (int w = ws.first; w < ws.last; w++) {
                        float *d = dx + pixel(c, n, h, w);
                        for (int i = begin; i < end; i++) d[i] += g[i] * scale;
                    }
            }
}
