#include <string.h>

#include "CKernels.h"
#include "clones.h"
#include "tail.h"

void rt_depthwise_weights(float *w_t, const float *w, int channels, int taps, int rotates) {
    for (int c = 0; c < channels; c++)
        for (int t = 0; t < taps; t++)
            w_t[(ptrdiff_t)(rotates ? taps - 1 - t : t) * channels + c] =
                w[(ptrdiff_t)c * taps + t];
}

RT_INLINE void multiply_add(float *restrict sum, const float *restrict x, const float *restrict w,
                            int n) {
    for (int i = 0; i < n; i++) sum[i] += x[i] * w[i];
}

// Channels summed at once, and output pixels that share a load of the weights.
enum { LANES = 16, PIXELS = 4, MOST_COLUMNS = 5 };
typedef float lanes __attribute__((ext_vector_type(16), aligned(4)));
// Loops over sums must be unrolled for the sums to stay in registers.
#define EACH _Pragma("clang loop unroll(full)") for
DEFINE_TAIL(finish, lanes)
DEFINE_TAIL(finish_one, float)

// A row of outputs and the kernel rows [first, last) that lie in the image; `x` is the input row
// that the first of them reads.
typedef struct {
    const rt_conv *c;
    const float *x;
    int first, last;
} line;

static line line_at(const rt_conv *c, const float *x, ptrdiff_t row) {
    int n = (int)(row / c->out_height), oh = (int)(row % c->out_height);
    int top = oh * c->stride_height - c->pad_top, d = c->dilation_height;
    int first = top < 0 ? (-top + d - 1) / d : 0;
    int last = top >= c->height ? 0 : (c->height - 1 - top) / d + 1;
    if (last > c->kernel_height) last = c->kernel_height;
    if (first > last) first = last;
    ptrdiff_t input = (ptrdiff_t)n * c->height + top + first * d;
    return (line){c, x + input * c->width * c->channels, first, last};
}

// The content of rows outside the image.
static const float nothing[LANES];

// A row of outputs of a 3×3 kernel, LANES channels: the weights, and the columns that the next
// output reads too, stay in registers. `stride` and `pad` are constants. From output `outer` on,
// the last column lies outside the image.
RT_INLINE void row_3x3(int stride, int pad, float *out, const line *l, const float *kernel,
                        const rt_tail *tail, ptrdiff_t channel, int outer) {
    const rt_conv *c = l->c;
    ptrdiff_t channels = c->channels, down = c->width * channels, steps[3];
    const float *x[3];
    lanes w[3][3], v[3][3];
    EACH (int kh = 0; kh < 3; kh++) {
        int isInside = kh >= l->first && kh < l->last;
        x[kh] = isInside ? l->x + (kh - l->first) * down + channel : nothing;
        steps[kh] = isInside ? channels : 0;
        EACH (int kw = 0; kw < 3; kw++)
            w[kh][kw] = *(const lanes *)(kernel + (3 * kh + kw) * channels + channel);
        EACH (int kw = 0; kw < 3 - stride; kw++) {
            v[kh][kw] = (lanes)0;
            if (kw < pad) continue;
            v[kh][kw] = *(const lanes *)x[kh];
            x[kh] += steps[kh];
        }
    }
    for (int ow = 0; ow < c->out_width; ow++, out += channels) {
        lanes sum = (lanes)0;
        EACH (int kh = 0; kh < 3; kh++) {
            EACH (int kw = 3 - stride; kw < 2; kw++, x[kh] += steps[kh])
                v[kh][kw] = *(const lanes *)x[kh];
            v[kh][2] = *(const lanes *)(ow < outer ? x[kh] : nothing);
            x[kh] += steps[kh];
            EACH (int kw = 0; kw < 3; kw++) sum = v[kh][kw] * w[kh][kw] + sum;
            EACH (int kw = 0; kw < 3 - stride; kw++) v[kh][kw] = v[kh][kw + stride];
        }
        if (tail) finish(&sum, tail, channel);
        *(lanes *)(out + channel) = sum;
    }
}

// `pixels` outputs from `ow` on, whose windows lie inside the image's width, all whole vectors of
// channels. Channels are the inner loop: pixels are apart by strides that fall on few sets of a
// cache. `pixels` and `columns` are constants where that matters.
RT_INLINE void inner_pixels(int pixels, int columns, float *y, const line *l, const float *w_t,
                            int ow, const rt_tail *tail) {
    const rt_conv *c = l->c;
    ptrdiff_t channels = c->channels, step = c->stride_width * channels;
    ptrdiff_t reach = c->dilation_width * channels;
    ptrdiff_t down = (ptrdiff_t)c->dilation_height * c->width * channels;
    const float *x = l->x + (ow * (ptrdiff_t)c->stride_width - c->pad_left) * channels;
    const float *w = w_t + (ptrdiff_t)l->first * columns * channels;
    float *out = y + ow * channels;
    for (ptrdiff_t i = 0; i + LANES <= channels; i += LANES) {
        lanes sum[PIXELS];
        for (int j = 0; j < pixels; j++) sum[j] = (lanes)0;
        const float *row = x + i, *kernel = w + i;
        for (int kh = l->first; kh < l->last; kh++, row += down)
            for (int kw = 0; kw < columns; kw++, kernel += channels) {
                lanes weight = *(const lanes *)kernel;
                for (int j = 0; j < pixels; j++)
                    sum[j] += *(const lanes *)(row + kw * reach + j * step) * weight;
            }
        if (tail)
            for (int j = 0; j < pixels; j++) finish(&sum[j], tail, i);
        for (int j = 0; j < pixels; j++) *(lanes *)(out + j * channels + i) = sum[j];
    }
}

// One output at any position, all channels from `first` on.
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

// Outputs whose windows lie inside the image's width: [begin, end).
static void inner_range(const rt_conv *c, int *begin, int *end) {
    int reach = (c->kernel_width - 1) * c->dilation_width;
    int first = (c->pad_left + c->stride_width - 1) / c->stride_width;
    int last = c->width + c->pad_left - reach - 1;
    last = last < 0 ? 0 : last / c->stride_width + 1;
    if (last > c->out_width) last = c->out_width;
    *begin = first < last ? first : last;
    *end = last;
}

// Whether `row_3x3` computes this: there is only a column of padding on either side.
static int is_3x3(const rt_conv *c) {
    int last = (c->out_width - 1) * c->stride_width - c->pad_left + 2;
    return c->kernel_height == 3 && c->kernel_width == 3 && c->dilation_height == 1
        && c->dilation_width == 1 && c->stride_width <= 2 && c->pad_left <= 1 && last <= c->width;
}

RT_INLINE void rows_3x3(int stride, int pad, float *out, const line *l, const float *w_t,
                         const rt_tail *tail, int outer) {
    for (ptrdiff_t i = 0; i + LANES <= l->c->channels; i += LANES)
        row_3x3(stride, pad, out, l, w_t, tail, i, outer);
}

// All outputs of a row, all whole vectors of channels.
RT_INLINE void whole_vectors_3x3(float *out, const line *l, const float *w_t, int outer,
                                  const rt_tail *tail) {
    int isPadded = l->c->pad_left == 1;
    if (l->c->stride_width == 1) {
        if (isPadded) rows_3x3(1, 1, out, l, w_t, tail, outer);
        else rows_3x3(1, 0, out, l, w_t, tail, outer);
    } else {
        if (isPadded) rows_3x3(2, 1, out, l, w_t, tail, outer);
        else rows_3x3(2, 0, out, l, w_t, tail, outer);
    }
}

// The inner outputs [begin, end) of a row, all whole vectors of channels.
RT_INLINE void inner_row(float *out, const line *l, const float *w_t, int begin, int end,
                         const rt_tail *tail) {
    int ow = begin, columns = l->c->kernel_width;
    for (; ow + PIXELS <= end; ow += PIXELS) {
        if (columns == 3) inner_pixels(PIXELS, 3, out, l, w_t, ow, tail);
        else inner_pixels(PIXELS, columns, out, l, w_t, ow, tail);
    }
    for (; ow < end; ow++) inner_pixels(1, columns, out, l, w_t, ow, tail);
}

RT_CLONES
void rt_depthwise(float *y, const float *x, const float *w_t, const rt_conv *c, ptrdiff_t begin,
                  ptrdiff_t end, const rt_tail *tail) {
    int inner, outer, isNine = is_3x3(c), whole = c->channels / LANES * LANES;
    inner_range(c, &inner, &outer);
    for (ptrdiff_t row = begin; row < end; row++) {
        float *out = y + row * c->out_width * c->channels;
        int n = (int)(row / c->out_height), oh = (int)(row % c->out_height);
        for (int ow = 0; ow < c->out_width && !(isNine && whole == c->channels); ow++) {
            int isWhole = isNine || (ow >= inner && ow < outer);
            if (!isWhole || whole < c->channels)
                edge_pixel(out, x, w_t, c, n, oh, ow, isWhole ? whole : 0, tail);
        }
        line l = line_at(c, x, row);
        if (isNine) whole_vectors_3x3(out, &l, w_t, outer, tail);
        else inner_row(out, &l, w_t, inner, outer, tail);
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

// Outputs [begin, end) of a row in LANES channels; all their kernel columns lie in the image. The
// sums of one kernel row stay in registers. `columns` is a constant wherever this is inlined.
RT_INLINE void add_inner(int columns, float *dw_t, const float *x, const float *dy,
                         const rt_conv *c, int begin, int end) {
    lanes sum[2][MOST_COLUMNS];
    ptrdiff_t channels = c->channels, step = c->stride_width * channels;
    ptrdiff_t reach = c->dilation_width * channels;
    for (int i = 0; i < 2; i++)
        for (int kw = 0; kw < columns; kw++) sum[i][kw] = (lanes)0;
    const float *s = x + (begin * (ptrdiff_t)c->stride_width - c->pad_left) * channels;
    for (int ow = begin; ow < end; ow += 2, s += 2 * step)
        for (int i = 0; i < 2 && ow + i < end; i++) {
            lanes g = *(const lanes *)(dy + (ow + i) * channels);
            for (int kw = 0; kw < columns; kw++)
                sum[i][kw] = g * *(const lanes *)(s + i * step + kw * reach) + sum[i][kw];
        }
    for (int kw = 0; kw < columns; kw++)
        *(lanes *)(dw_t + kw * channels) += sum[0][kw] + sum[1][kw];
}

// The same for one output at any position and `count` channels.
RT_INLINE void add_edge(float *dw_t, const float *x, const float *dy, const rt_conv *c, int ow,
                        int count) {
    for (int kw = 0; kw < c->kernel_width; kw++) {
        int w = ow * c->stride_width - c->pad_left + kw * c->dilation_width;
        if (w < 0 || w >= c->width) continue;
        multiply_add(dw_t + (ptrdiff_t)kw * c->channels, x + (ptrdiff_t)w * c->channels,
                     dy + (ptrdiff_t)ow * c->channels, count);
    }
}

// One kernel row over one output row, LANES channels or the last `count`.
RT_INLINE void add_row(float *dw_t, const float *x, const float *dy, const rt_conv *c, int inner,
                       int outer, int count) {
    int fits = count == LANES && (c->kernel_width == 3 || c->kernel_width == 5);
    int begin = fits ? inner : c->out_width, end = fits ? outer : c->out_width;
    for (int ow = 0; ow < begin; ow++) add_edge(dw_t, x, dy, c, ow, count);
    if (begin < end && c->kernel_width == 3) add_inner(3, dw_t, x, dy, c, begin, end);
    if (begin < end && c->kernel_width == 5) add_inner(5, dw_t, x, dy, c, begin, end);
    for (int ow = end; ow < c->out_width; ow++) add_edge(dw_t, x, dy, c, ow, count);
}

RT_CLONES
void rt_depthwise_weight(float *dw_t, const float *x, const float *dy, const rt_conv *c,
                         ptrdiff_t begin, ptrdiff_t end) {
    int channels = c->channels, inner, outer;
    inner_range(c, &inner, &outer);
    for (ptrdiff_t row = begin; row < end; row++) {
        int n = (int)(row / c->out_height), oh = (int)(row % c->out_height);
        const float *g = dy + row * c->out_width * channels;
        for (int kh = 0; kh < c->kernel_height; kh++) {
            int h = oh * c->stride_height - c->pad_top + kh * c->dilation_height;
            if (h < 0 || h >= c->height) continue;
            const float *line = x + ((ptrdiff_t)n * c->height + h) * c->width * channels;
            float *d = dw_t + (ptrdiff_t)kh * c->kernel_width * channels;
            for (int i = 0; i < channels; i += LANES)
                add_row(d + i, line + i, g + i, c, inner, outer,
                        channels - i < LANES ? channels - i : LANES);
        }
    }
}
