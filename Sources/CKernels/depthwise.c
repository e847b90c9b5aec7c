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

// Channels summed at once, output pixels that share loads, and rows computed side by side.
enum { LANES = 16, PIXELS = 4, ROWS = 2, MOST_COLUMNS = 5 };
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

// A row of outputs of a 3×3 kernel: for each row of the kernel the first pixel of the input's row,
// and the floats from pixel to pixel. Rows outside the image have the step 0.
typedef struct {
    const float *x[3];
    ptrdiff_t steps[3];
    float *out;
} row_3x3;

RT_INLINE row_3x3 row_at(const rt_conv *c, float *y, const float *x, ptrdiff_t row) {
    line l = line_at(c, x, row);
    ptrdiff_t down = (ptrdiff_t)c->width * c->channels;
    row_3x3 r = {.out = y + row * c->out_width * c->channels};
    for (int kh = 0; kh < 3; kh++) {
        int isInside = kh >= l.first && kh < l.last;
        r.x[kh] = isInside ? l.x + (kh - l.first) * down : nothing;
        r.steps[kh] = isInside ? c->channels : 0;
    }
    return r;
}

// LANES channels of some rows of outputs side by side: what one row has loaded, the next finds in
// the first-level cache.
typedef struct {
    const row_3x3 *rows;
    int count, pad;
    ptrdiff_t channels, channel;
    const finish_vectors *tail;
} slice_3x3;

// `count` outputs next to each other of row r, from `ow` on. Each pixel is loaded once. Kernel
// columns outside [first, last) lie outside the image. `count`, `stride`, `first` and `last` are
// constants.
RT_INLINE void outputs_3x3(int count, int stride, int first, int last, const slice_3x3 *s,
                           const row_3x3 *r, const lanes w[3][3], ptrdiff_t ow) {
    lanes sum[PIXELS];
    EACH (int j = 0; j < count; j++) sum[j] = (lanes)0;
    EACH (int kh = 0; kh < 3; kh++) {
        ptrdiff_t step = r->steps[kh];
        const float *x = step ? r->x[kh] + (ow * stride - s->pad) * step + s->channel : nothing;
        EACH (int pixel = first; pixel < (count - 1) * stride + last; pixel++) {
            lanes v = *(const lanes *)(x + pixel * step);
            EACH (int j = 0; j < count; j++) {
                int kw = pixel - j * stride;
                if (kw >= 0 && kw < 3) sum[j] = v * w[kh][kw] + sum[j];
            }
        }
    }
    float *out = r->out + ow * s->channels + s->channel;
    if (s->tail) EACH (int j = 0; j < count; j++) finish(&sum[j], s->tail);
    EACH (int j = 0; j < count; j++) *(lanes *)(out + j * s->channels) = sum[j];
}

// The same of all rows.
RT_INLINE void columns_3x3(int count, int stride, int first, int last, const slice_3x3 *s,
                           const lanes w[3][3], ptrdiff_t ow) {
    for (int r = 0; r < s->count; r++)
        outputs_3x3(count, stride, first, last, s, s->rows + r, w, ow);
}

// All outputs of a slice. `stride` and `pad` are constants. From output `outer` on, the last column
// lies outside the image.
RT_INLINE void whole_3x3(int stride, int pad, const slice_3x3 *s, const float *kernel, int width,
                         int outer) {
    lanes w[3][3];
    EACH (int tap = 0; tap < 9; tap++)
        w[tap / 3][tap % 3] = *(const lanes *)(kernel + tap * s->channels + s->channel);
    int ow = 0;
    if (width < 2 * PIXELS) {
        if (pad == 1 && width > 0) {
            if (outer > 0) columns_3x3(1, stride, 1, 3, s, w, ow++);
            else columns_3x3(1, stride, 1, 2, s, w, ow++);
        }
        for (; ow < outer; ow++) columns_3x3(1, stride, 0, 3, s, w, ow);
        for (; ow < width; ow++) columns_3x3(1, stride, 0, 2, s, w, ow);
        return;
    }
    columns_3x3(PIXELS, stride, pad, 3, s, w, 0);
    for (ow = PIXELS; ow + PIXELS <= outer; ow += PIXELS)
        columns_3x3(PIXELS, stride, 0, 3, s, w, ow);
    // The last outputs, some of which may be computed already.
    if (ow == width) return;
    if (outer == width) columns_3x3(PIXELS, stride, 0, 3, s, w, width - PIXELS);
    else columns_3x3(PIXELS, stride, 0, 2, s, w, width - PIXELS);
}

RT_INLINE void rows_3x3(int stride, int pad, float *y, const float *x, const float *w_t,
                        const rt_conv *c, ptrdiff_t begin, ptrdiff_t end, const rt_tail *tail,
                        int outer) {
    for (ptrdiff_t first = begin; first < end; first += ROWS) {
        row_3x3 rows[ROWS];
        slice_3x3 s = {rows, (int)(end - first < ROWS ? end - first : ROWS), pad, c->channels};
        for (int r = 0; r < s.count; r++) rows[r] = row_at(c, y, x, first + r);
        for (ptrdiff_t channel = 0; channel < s.channels; channel += LANES) {
            // The last channels are computed with some before them that are computed already.
            s.channel = channel + LANES > s.channels ? s.channels - LANES : channel;
            finish_vectors vectors;
            if (tail) vectors = finish_at(tail, s.channel), s.tail = &vectors;
            whole_3x3(stride, pad, &s, w_t, c->out_width, outer);
        }
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
        if (tail) {
            finish_vectors end = finish_at(tail, i);
            for (int j = 0; j < pixels; j++) finish(&sum[j], &end);
        }
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
        for (int i = 0; i < count; i++) {
            finish_one_vectors end = finish_one_at(tail, first + i);
            finish_one(sum + i, &end);
        }
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

// Whether `rows_3x3` computes this: there is only a column of padding on either side.
static int is_3x3(const rt_conv *c) {
    int last = (c->out_width - 1) * c->stride_width - c->pad_left + 2;
    return c->channels >= LANES && c->kernel_height == 3 && c->kernel_width == 3
        && c->dilation_height == 1 && c->dilation_width == 1 && c->stride_width <= 2
        && c->pad_left <= 1 && last <= c->width;
}

// All outputs of a 3×3 kernel in rows [begin, end).
RT_INLINE void all_3x3(float *y, const float *x, const float *w_t, const rt_conv *c,
                       ptrdiff_t begin, ptrdiff_t end, const rt_tail *tail, int outer) {
    int isPadded = c->pad_left == 1;
    if (c->stride_width == 1) {
        if (isPadded) rows_3x3(1, 1, y, x, w_t, c, begin, end, tail, outer);
        else rows_3x3(1, 0, y, x, w_t, c, begin, end, tail, outer);
    } else {
        if (isPadded) rows_3x3(2, 1, y, x, w_t, c, begin, end, tail, outer);
        else rows_3x3(2, 0, y, x, w_t, c, begin, end, tail, outer);
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
    int inner, outer, whole = c->channels / LANES * LANES;
    inner_range(c, &inner, &outer);
    if (is_3x3(c)) return all_3x3(y, x, w_t, c, begin, end, tail, outer);
    for (ptrdiff_t row = begin; row < end; row++) {
        float *out = y + row * c->out_width * c->channels;
        int n = (int)(row / c->out_height), oh = (int)(row % c->out_height);
        for (int ow = 0; ow < c->out_width; ow++) {
            int isWhole = ow >= inner && ow < outer;
            if (!isWhole || whole < c->channels)
                edge_pixel(out, x, w_t, c, n, oh, ow, isWhole ? whole : 0, tail);
        }
        line l = line_at(c, x, row);
        inner_row(out, &l, w_t, inner, outer, tail);
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
