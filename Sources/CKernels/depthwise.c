#include <string.h>

#include "CKernels.h"
#include "clones.h"
#include "tail.h"

void rt_depthwise_weights(float *w_t, const float *w, int channels, int taps, int turns) {
    for (int c = 0; c < channels; c++)
        for (int t = 0; t < taps; t++)
            w_t[(ptrdiff_t)(turns ? taps - 1 - t : t) * channels + c] = w[(ptrdiff_t)c * taps + t];
}

RT_INLINE void multiply_add(float *restrict sum, const float *restrict x, const float *restrict w,
                            int n) {
    for (int i = 0; i < n; i++) sum[i] += x[i] * w[i];
}

// Channels summed at once, and output pixels that share a load of the weights.
enum { LANES = 16, PIXELS = 4 };
typedef float lanes __attribute__((ext_vector_type(16), aligned(4)));
DEFINE_TAIL(finish, lanes)
DEFINE_TAIL(finish_one, float)

// `pixels` outputs of one row whose windows lie inside the picture's width, LANES channels.
RT_INLINE void inner_pixels(int pixels, float *y, const float *x, const float *w_t,
                            const rt_conv *c, int n, int oh, int ow, int channel,
                            const rt_tail *tail) {
    lanes sum[PIXELS];
    for (int j = 0; j < pixels; j++) sum[j] = (lanes)0;
    ptrdiff_t step = (ptrdiff_t)c->stride_width * c->channels;
    int left = ow * c->stride_width - c->pad_left;
    for (int kh = 0; kh < c->kernel_height; kh++) {
        int h = oh * c->stride_height - c->pad_top + kh * c->dilation_height;
        if (h < 0 || h >= c->height) continue;
        const float *row = x + ((ptrdiff_t)n * c->height + h) * c->width * c->channels + channel;
        for (int kw = 0; kw < c->kernel_width; kw++) {
            const float *s = row + (ptrdiff_t)(left + kw * c->dilation_width) * c->channels;
            lanes w = *(const lanes *)(w_t + (kh * c->kernel_width + kw) * (ptrdiff_t)c->channels
                                       + channel);
            for (int j = 0; j < pixels; j++) sum[j] += *(const lanes *)(s + j * step) * w;
        }
    }
    if (tail)
        for (int j = 0; j < pixels; j++) finish(&sum[j], tail, channel);
    for (int j = 0; j < pixels; j++)
        *(lanes *)(y + (ptrdiff_t)(ow + j) * c->channels + channel) = sum[j];
}

// One output anywhere, all channels from `first` on.
RT_INLINE void edge_pixel(float *y, const float *x, const float *w_t, const rt_conv *c, int n,
                          int oh, int ow, int first, const rt_tail *tail) {
    float *sum = y + (ptrdiff_t)ow * c->channels + first;
    int count = c->channels - first;
    memset(sum, 0, (size_t)count * sizeof *sum);
    for (int kh = 0; kh < c->kernel_height; kh++) {
        int h = oh * c->stride_height - c->pad_top + kh * c->dilation_height;
        if (h < 0 || h >= c->height) continue;
        for (int kw = 0; kw < c->kernel_width; kw++) {
            int w = ow * c->stride_width - c->pad_left + kw * c->dilation_width;
            if (w < 0 || w >= c->width) continue;
            ptrdiff_t pixel = ((ptrdiff_t)n * c->height + h) * c->width + w;
            multiply_add(sum, x + pixel * c->channels + first,
                         w_t + (kh * c->kernel_width + kw) * (ptrdiff_t)c->channels + first, count);
        }
    }
    if (tail)
        for (int i = 0; i < count; i++) finish_one(sum + i, tail, first + i);
}

// Outputs whose windows lie inside the picture's width: [begin, end).
static void inner_range(const rt_conv *c, int *begin, int *end) {
    int reach = (c->kernel_width - 1) * c->dilation_width;
    int first = (c->pad_left + c->stride_width - 1) / c->stride_width;
    int last = c->width + c->pad_left - reach - 1;
    last = last < 0 ? 0 : last / c->stride_width + 1;
    if (last > c->out_width) last = c->out_width;
    *begin = first < last ? first : last;
    *end = last;
}

RT_CLONES
void rt_depthwise(float *y, const float *x, const float *w_t, const rt_conv *c, ptrdiff_t begin,
                  ptrdiff_t end, const rt_tail *tail) {
    int inner, outer, whole = c->channels / LANES * LANES;
    inner_range(c, &inner, &outer);
    for (ptrdiff_t row = begin; row < end; row++) {
        float *out = y + row * c->out_width * c->channels;
        int n = (int)(row / c->out_height), oh = (int)(row % c->out_height);
        for (int ow = 0; ow < c->out_width; ow++) {
            int isInner = ow >= inner && ow < outer;
            if (!isInner || whole < c->channels)
                edge_pixel(out, x, w_t, c, n, oh, ow, isInner ? whole : 0, tail);
        }
        for (int channel = 0; channel < whole; channel += LANES) {
            int ow = inner;
            for (; ow + PIXELS <= outer; ow += PIXELS)
                inner_pixels(PIXELS, out, x, w_t, c, n, oh, ow, channel, tail);
            for (; ow < outer; ow++) inner_pixels(1, out, x, w_t, c, n, oh, ow, channel, tail);
        }
    }
}

RT_CLONES
void rt_depthwise_input(float *dx, const float *dy, const float *w_t, const rt_conv *c,
                        ptrdiff_t begin, ptrdiff_t end) {
    int channels = c->channels;
    for (ptrdiff_t row = begin; row < end; row++) {
        int n = (int)(row / c->height), h = (int)(row % c->height);
        for (int w = 0; w < c->width; w++) {
            float *d = dx + (row * c->width + w) * channels;
            memset(d, 0, (size_t)channels * sizeof *d);
            for (int kh = 0; kh < c->kernel_height; kh++) {
                int oh = h + c->pad_top - kh * c->dilation_height;
                if (oh < 0 || oh % c->stride_height) continue;
                oh /= c->stride_height;
                if (oh >= c->out_height) continue;
                for (int kw = 0; kw < c->kernel_width; kw++) {
                    int ow = w + c->pad_left - kw * c->dilation_width;
                    if (ow < 0 || ow % c->stride_width) continue;
                    ow /= c->stride_width;
                    if (ow >= c->out_width) continue;
                    ptrdiff_t pixel = ((ptrdiff_t)n * c->out_height + oh) * c->out_width + ow;
                    multiply_add(d, dy + pixel * channels,
                                 w_t + ((ptrdiff_t)kh * c->kernel_width + kw) * channels, channels);
                }
            }
        }
    }
}

RT_CLONES
void rt_depthwise_weight(float *dw_t, const float *x, const float *dy, const rt_conv *c,
                         ptrdiff_t begin, ptrdiff_t end) {
    int channels = c->channels;
    for (ptrdiff_t row = begin; row < end; row++) {
        int n = (int)(row / c->out_height), oh = (int)(row % c->out_height);
        for (int kh = 0; kh < c->kernel_height; kh++) {
            int h = oh * c->stride_height - c->pad_top + kh * c->dilation_height;
            if (h < 0 || h >= c->height) continue;
            for (int ow = 0; ow < c->out_width; ow++) {
                const float *g = dy + (row * c->out_width + ow) * channels;
                for (int kw = 0; kw < c->kernel_width; kw++) {
                    int w = ow * c->stride_width - c->pad_left + kw * c->dilation_width;
                    if (w < 0 || w >= c->width) continue;
                    ptrdiff_t pixel = ((ptrdiff_t)n * c->height + h) * c->width + w;
                    multiply_add(dw_t + ((ptrdiff_t)kh * c->kernel_width + kw) * channels,
                                 x + pixel * channels, g, channels);
                }
            }
        }
    }
}
