#include <string.h>

#include "CKernels.h"
#include "clones.h"

void rt_depthwise_weights(float *w_t, const float *w, int channels, int taps) {
    for (int c = 0; c < channels; c++)
        for (int t = 0; t < taps; t++)
            w_t[(ptrdiff_t)t * channels + c] = w[(ptrdiff_t)c * taps + t];
}

// Channels summed at once: accumulators stay in registers.
enum { BLOCK = 64 };

RT_INLINE void multiply_add(float *restrict sum, const float *restrict x, const float *restrict w,
                            int n) {
    for (int i = 0; i < n; i++) sum[i] += x[i] * w[i];
}

RT_INLINE void row_forward(float *y, const float *x, const float *w_t, const rt_conv *c, int n,
                           int oh, int begin, int count) {
    for (int ow = 0; ow < c->out_width; ow++) {
        float sum[BLOCK];
        memset(sum, 0, sizeof sum);
        for (int kh = 0; kh < c->kernel_height; kh++) {
            int h = oh * c->stride_height - c->pad_top + kh * c->dilation_height;
            if (h < 0 || h >= c->height) continue;
            for (int kw = 0; kw < c->kernel_width; kw++) {
                int w = ow * c->stride_width - c->pad_left + kw * c->dilation_width;
                if (w < 0 || w >= c->width) continue;
                const float *s = x + (((ptrdiff_t)n * c->height + h) * c->width + w) * c->channels;
                const float *k = w_t + ((ptrdiff_t)kh * c->kernel_width + kw) * c->channels;
                if (count == BLOCK) multiply_add(sum, s + begin, k + begin, BLOCK);
                else if (count == 32) multiply_add(sum, s + begin, k + begin, 32);
                else if (count == 16) multiply_add(sum, s + begin, k + begin, 16);
                else multiply_add(sum, s + begin, k + begin, count);
            }
        }
        memcpy(y + (ptrdiff_t)ow * c->channels + begin, sum, (size_t)count * sizeof *sum);
    }
}

RT_CLONES
void rt_depthwise(float *y, const float *x, const float *w_t, const rt_conv *c, ptrdiff_t begin,
                  ptrdiff_t end) {
    for (ptrdiff_t row = begin; row < end; row++) {
        float *out = y + row * c->out_width * c->channels;
        int n = (int)(row / c->out_height), oh = (int)(row % c->out_height);
        for (int first = 0; first < c->channels; first += BLOCK) {
            int left = c->channels - first;
            row_forward(out, x, w_t, c, n, oh, first, left < BLOCK ? left : BLOCK);
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
