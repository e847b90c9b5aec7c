#include <string.h>

#include "CKernels.h"
#include "clones.h"
#include "tail.h"

// Channels summed at once, output pixels that share loads, and rows computed side by side; columns
// of a kernel whose weight gradient is summed in registers, and columns of any kernel that share
// loads.
enum {
    LANES = RT_SLICE, PIXELS = 4, ROWS = 2, MOST_COLUMNS = 5, NEAR_COLUMNS = 4, MOST_TERMS = 9
};
typedef float lanes __attribute__((ext_vector_type(RT_SLICE), aligned(4)));
typedef float half_lanes __attribute__((ext_vector_type(RT_SLICE / 2), aligned(4)));
// Loops over sums must be unrolled for the sums to stay in registers.
#define EACH _Pragma("clang loop unroll(full)") for
DEFINE_TAIL(finish, lanes)
DEFINE_TAIL(finish_one, float)

// The first channel of a slice. The last slice has some channels of the one before.
static ptrdiff_t slice_start(int channels, int width, ptrdiff_t slice) {
    ptrdiff_t start = slice * width;
    return start + width <= channels ? start : channels > width ? channels - width : 0;
}

void rt_depthwise_weights(float *w_s, const float *w, int channels, int taps, int width,
                          int rotates, ptrdiff_t begin, ptrdiff_t end) {
    int used = channels < width ? channels : width;
    for (ptrdiff_t slice = begin; slice < end; slice++) {
        float *d = w_s + slice * taps * width;
        const float *s = w + slice_start(channels, width, slice) * taps;
        memset(d, 0, sizeof *d * taps * width);
        for (int t = 0; t < taps; t++)
            for (int i = 0; i < used; i++)
                d[t * width + i] = s[(ptrdiff_t)i * taps + (rotates ? taps - 1 - t : t)];
    }
}

RT_INLINE void multiply_add(float *restrict sum, const float *restrict x, const float *restrict w,
                            int n) {
    for (int i = 0; i < n; i++) sum[i] += x[i] * w[i];
}

// A row of outputs and the kernel rows [first, last) that lie in the image; `x` is the input row
// that the first of them reads, `y` the outputs, where there are any.
typedef struct {
    const rt_conv *c;
    const float *x;
    int first, last;
    float *y;
} line;

static line line_at(const rt_conv *c, const float *x, ptrdiff_t row) {
    int n = (int)(row / c->out_height), oh = (int)(row % c->out_height);
    int top = oh * c->stride_height - c->pad_top, d = c->dilation_height;
    int first = top < 0 ? (-top + d - 1) / d : 0;
    int last = top >= c->height ? 0 : (c->height - 1 - top) / d + 1;
    if (last > c->kernel_height) last = c->kernel_height;
    if (first > last) first = last;
    ptrdiff_t input = (ptrdiff_t)n * c->height + top + first * d;
    return (line){c, x + input * c->width * c->channels, first, last, NULL};
}

// LANES channels from `channel` on, and their weights, one vector for each kernel element.
typedef struct {
    ptrdiff_t channel;
    const lanes *w;
    const finish_vectors *tail;
} slice;

RT_INLINE void store(int count, lanes *sum, const line *l, const slice *s, ptrdiff_t ow) {
    ptrdiff_t channels = l->c->out_channels;
    float *out = l->y + ow * channels + s->channel;
    if (s->tail) EACH (int j = 0; j < count; j++) finish(&sum[j], s->tail);
    EACH (int j = 0; j < count; j++) *(lanes *)(out + j * channels) = sum[j];
}

// One pixel of a slice; `twice` if each channel of the input has two outputs, a constant.
RT_INLINE void load(int twice, lanes *v, const float *x) {
    if (!twice) {
        *v = *(const lanes *)x;
        return;
    }
    half_lanes h = *(const half_lanes *)x;
    *v = __builtin_shufflevector(h, h, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
}

// The product of one kernel row and pixels [begin, end) of those that it reads.
RT_INLINE void add_row(int twice, int columns, int stride, int count, int isInside, lanes *sum,
                       const float *x, ptrdiff_t channels, const lanes *w, ptrdiff_t begin,
                       ptrdiff_t end) {
    EACH (int pixel = 0; pixel < (count - 1) * stride + columns; pixel++) {
        if (!isInside && (pixel < begin || pixel >= end)) continue;
        lanes v;
        load(twice, &v, x + pixel * channels);
        EACH (int j = 0; j < count; j++) {
            int kw = pixel - j * stride;
            if (kw >= 0 && kw < columns) sum[j] = v * w[kw] + sum[j];
        }
    }
}

// The same for one column of a kernel, with any stride: `x` is the first pixel that it reads.
RT_INLINE void add_column(int twice, int stride, int count, int isInside, lanes *sum,
                          const float *x, ptrdiff_t channels, const lanes *w, ptrdiff_t begin,
                          ptrdiff_t end) {
    EACH (int j = 0; j < count; j++) {
        ptrdiff_t pixel = (ptrdiff_t)j * stride;
        if (!isInside && (pixel < begin || pixel >= end)) continue;
        lanes v;
        load(twice, &v, x + pixel * channels);
        sum[j] = v * *w + sum[j];
    }
}

// The product of one kernel row of any width. Columns next to each other share the pixels that they
// load: `stride` is a constant, or 0 if the columns or the outputs are farther apart.
RT_INLINE void add_any_row(int twice, int stride, int count, int isInside, lanes *sum,
                           const float *x, const rt_conv *c, const lanes *w, ptrdiff_t begin,
                           ptrdiff_t end) {
    ptrdiff_t channels = c->channels, reach = c->dilation_width;
    int kw = 0;
    for (; stride && kw + NEAR_COLUMNS <= c->kernel_width; kw += NEAR_COLUMNS)
        add_row(twice, NEAR_COLUMNS, stride, count, isInside, sum, x + kw * channels, channels,
                w + kw, begin - kw, end - kw);
    for (; kw < c->kernel_width; kw++)
        add_column(twice, c->stride_width, count, isInside, sum, x + kw * reach * channels,
                   channels, w + kw, begin - kw * reach, end - kw * reach);
}

// `count` outputs next to each other, from `ow` on. Each pixel is loaded once. All parameters
// before `l` are constants: `twice` as in `load`, the kernel's columns, without dilation, or 0 for
// any kernel, the stride as in `add_any_row`, and whether all pixels that are read lie inside the
// image's width.
RT_INLINE void close_outputs(int twice, int columns, int stride, int count, int isInside,
                             const line *l, const slice *s, ptrdiff_t ow) {
    const rt_conv *c = l->c;
    ptrdiff_t channels = c->channels, left = ow * c->stride_width - c->pad_left;
    ptrdiff_t begin = -left, end = c->width - left;
    ptrdiff_t down = (ptrdiff_t)c->dilation_height * c->width * channels;
    const float *x = l->x + left * channels + (twice ? s->channel / 2 : s->channel);
    const lanes *w = s->w + l->first * c->kernel_width;
    lanes sum[PIXELS];
    EACH (int j = 0; j < count; j++) sum[j] = (lanes)0;
    if (isInside && columns == 3 && l->last - l->first == 3)
        EACH (int kh = 0; kh < 3; kh++)
            add_row(twice, 3, stride, count, 1, sum, x + kh * down, channels, w + kh * 3, 0, 0);
    else
        for (int kh = l->first; kh < l->last; kh++, x += down, w += c->kernel_width)
            if (columns)
                add_row(twice, columns, stride, count, isInside, sum, x, channels, w, begin, end);
            else add_any_row(twice, stride, count, isInside, sum, x, c, w, begin, end);
    store(count, sum, l, s, ow);
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

// PIXELS outputs of each row.
RT_INLINE void columns_at(int twice, int columns, int stride, int isInside, const line *rows,
                          int count, const slice *s, ptrdiff_t ow) {
    for (int r = 0; r < count; r++)
        close_outputs(twice, columns, stride, PIXELS, isInside, rows + r, s, ow);
}

// All outputs of a slice in some rows: what one row has loaded, the next finds in the first-level
// cache. `twice`, `columns` and `stride` are constants.
RT_INLINE void close_slice(int twice, int columns, int stride, const line *rows, int count,
                           const slice *s, int inner, int outer) {
    int width = rows->c->out_width;
    if (width < PIXELS) {
        for (int r = 0; r < count; r++)
            for (int ow = 0; ow < width; ow++)
                close_outputs(twice, columns, stride, 1, 0, rows + r, s, ow);
        return;
    }
    for (int ow = 0; ow < width; ow += PIXELS) {
        // The last outputs are computed with some before them that are computed already.
        int first = ow + PIXELS > width ? width - PIXELS : ow;
        if (first >= inner && first + PIXELS <= outer)
            columns_at(twice, columns, stride, 1, rows, count, s, first);
        else columns_at(twice, columns, stride, 0, rows, count, s, first);
    }
}

RT_INLINE void slice_rows(const line *rows, int count, const slice *s, int inner, int outer) {
    const rt_conv *c = rows->c;
    int columns = c->kernel_width;
    int stride = c->dilation_width == 1 && c->stride_width <= 2 ? c->stride_width : 0;
    if (c->out_channels != c->channels) {
        if (stride == 1) close_slice(1, 0, 1, rows, count, s, inner, outer);
        else if (stride == 2) close_slice(1, 0, 2, rows, count, s, inner, outer);
        else close_slice(1, 0, 0, rows, count, s, inner, outer);
    } else if (columns == 3 && stride == 1) close_slice(0, 3, 1, rows, count, s, inner, outer);
    else if (columns == 3 && stride == 2) close_slice(0, 3, 2, rows, count, s, inner, outer);
    else if (columns == 5 && stride == 1) close_slice(0, 5, 1, rows, count, s, inner, outer);
    else if (columns == 5 && stride == 2) close_slice(0, 5, 2, rows, count, s, inner, outer);
    else if (columns == 7 && stride == 1) close_slice(0, 7, 1, rows, count, s, inner, outer);
    else if (stride == 1) close_slice(0, 0, 1, rows, count, s, inner, outer);
    else if (stride == 2) close_slice(0, 0, 2, rows, count, s, inner, outer);
    else close_slice(0, 0, 0, rows, count, s, inner, outer);
}

// A row of outputs of fewer channels than a slice has.
RT_INLINE void narrow_row(const line *l, const float *w_s, const rt_tail *tail) {
    const rt_conv *c = l->c;
    ptrdiff_t down = (ptrdiff_t)c->dilation_height * c->width * c->channels;
    for (int ow = 0; ow < c->out_width; ow++) {
        float *sum = l->y + (ptrdiff_t)ow * c->channels;
        memset(sum, 0, (size_t)c->channels * sizeof *sum);
        const float *x = l->x;
        for (int kh = l->first; kh < l->last; kh++, x += down)
            for (int kw = 0; kw < c->kernel_width; kw++) {
                int w = ow * c->stride_width - c->pad_left + kw * c->dilation_width;
                if (w < 0 || w >= c->width) continue;
                multiply_add(sum, x + (ptrdiff_t)w * c->channels,
                             w_s + (kh * c->kernel_width + kw) * LANES, c->channels);
            }
        for (int i = 0; tail && i < c->channels; i++) {
            finish_one_vectors end = finish_one_at(tail, i);
            finish_one(sum + i, &end);
        }
    }
}

RT_CLONES
void rt_depthwise(float *y, const float *x, const float *w_s, const rt_conv *c, ptrdiff_t begin,
                  ptrdiff_t end, ptrdiff_t first, ptrdiff_t last, const rt_tail *tail) {
    int inner, outer, taps = c->kernel_height * c->kernel_width;
    inner_range(c, &inner, &outer);
    for (ptrdiff_t row = begin; row < end; row += ROWS) {
        line rows[ROWS];
        int count = (int)(end - row < ROWS ? end - row : ROWS);
        for (int r = 0; r < count; r++) {
            rows[r] = line_at(c, x, row + r);
            rows[r].y = y + (row + r) * c->out_width * c->out_channels;
        }
        int isNarrow = c->out_channels < LANES;
        for (int r = 0; r < count && isNarrow; r++) narrow_row(rows + r, w_s, tail);
        for (ptrdiff_t i = first; !isNarrow && i < last; i++) {
            slice s = {slice_start(c->out_channels, LANES, i),
                       (const lanes *)(w_s + i * taps * LANES), NULL};
            finish_vectors vectors;
            if (tail) vectors = finish_at(tail, s.channel), s.tail = &vectors;
            slice_rows(rows, count, &s, inner, outer);
        }
    }
}

// What one pixel of the gradient is summed from: pixels of dy and the weights they are multiplied
// by, [C] each.
typedef struct {
    const float *dy[MOST_TERMS], *w[MOST_TERMS];
    int count;
} terms;

// Adds to d, or stores for the first terms.
RT_INLINE void add_terms(float *d, const terms *t, int channels, int isFirst) {
    int i = 0;
    for (; i + 2 * LANES <= channels; i += 2 * LANES) {
        lanes left = isFirst ? (lanes)0 : *(const lanes *)(d + i);
        lanes right = isFirst ? (lanes)0 : *(const lanes *)(d + i + LANES);
        for (int k = 0; k < t->count; k++) {
            const float *g = t->dy[k] + i, *w = t->w[k] + i;
            left = *(const lanes *)g * *(const lanes *)w + left;
            right = *(const lanes *)(g + LANES) * *(const lanes *)(w + LANES) + right;
        }
        *(lanes *)(d + i) = left;
        *(lanes *)(d + i + LANES) = right;
    }
    for (; i < channels; i++) {
        float sum = isFirst ? 0.0f : d[i];
        for (int k = 0; k < t->count; k++) sum += t->dy[k][i] * t->w[k][i];
        d[i] = sum;
    }
}

// The output that reads an input through a kernel element, or -1.
RT_INLINE int output_at(int input, int pad, int offset, int stride, int outputs) {
    int at = input + pad - offset;
    if (at < 0 || at % stride) return -1;
    at /= stride;
    return at < outputs ? at : -1;
}

RT_CLONES
void rt_depthwise_input(float *dx, const float *dy, const float *w_t, const rt_conv *c,
                        ptrdiff_t begin, ptrdiff_t end) {
    ptrdiff_t channels = c->channels;
    for (ptrdiff_t pixel = begin * c->width; pixel < end * c->width; pixel++) {
        ptrdiff_t row = pixel / c->width;
        int n = (int)(row / c->height), h = (int)(row % c->height), w = (int)(pixel % c->width);
        terms t = {.count = 0};
        int isFirst = 1;
        for (int kh = 0; kh < c->kernel_height; kh++) {
            int oh = output_at(h, c->pad_top, kh * c->dilation_height, c->stride_height,
                               c->out_height);
            for (int kw = 0; oh >= 0 && kw < c->kernel_width; kw++) {
                int ow = output_at(w, c->pad_left, kw * c->dilation_width, c->stride_width,
                                   c->out_width);
                if (ow < 0) continue;
                if (t.count == MOST_TERMS) {
                    add_terms(dx + pixel * channels, &t, c->channels, isFirst);
                    t.count = isFirst = 0;
                }
                ptrdiff_t output = ((ptrdiff_t)n * c->out_height + oh) * c->out_width + ow;
                t.dy[t.count] = dy + output * channels;
                t.w[t.count++] = w_t + (kh * (ptrdiff_t)c->kernel_width + kw) * channels;
            }
        }
        add_terms(dx + pixel * channels, &t, c->channels, isFirst);
    }
}

// MARK: The gradient of the weights

// The content of rows outside the image.
static const float nothing[LANES];

// A row of outputs of a 3×3 kernel: for each row of the kernel the first pixel of the input's row,
// and the floats from pixel to pixel. Rows outside the image have the step 0.
typedef struct {
    const float *x[3];
    ptrdiff_t steps[3];
    const float *out;
} row_3x3;

RT_INLINE row_3x3 row_at(const rt_conv *c, const float *y, const float *x, ptrdiff_t row) {
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

// Whether `weight_3x3` computes this: there is only a column of padding on either side.
static int is_3x3(const rt_conv *c) {
    int last = (c->out_width - 1) * c->stride_width - c->pad_left + 2;
    return c->channels >= LANES && c->kernel_height == 3 && c->kernel_width == 3
        && c->dilation_height == 1 && c->dilation_width == 1 && c->stride_width <= 2
        && c->pad_left <= 1 && last <= c->width;
}

// Outputs of a 3×3 kernel whose products are summed in registers before they are added to the
// gradient: few enough for float sums.
enum { NEAR_OUTPUTS = 64 };

// `count` outputs next to each other in a row, from `ow` on. Each pixel is loaded once. Kernel
// columns outside [first, last) lie outside the image for the first or last of them. `count`,
// `stride`, `first` and `last` are constants.
RT_INLINE void products_3x3(int count, int stride, int first, int last, lanes sum[3][3],
                            const row_3x3 *r, ptrdiff_t channels, int pad, ptrdiff_t ow) {
    lanes g[PIXELS];
    EACH (int j = 0; j < count; j++) g[j] = *(const lanes *)(r->out + (ow + j) * channels);
    EACH (int kh = 0; kh < 3; kh++) {
        ptrdiff_t step = r->steps[kh];
        const float *x = step ? r->x[kh] + (ow * stride - pad) * step : nothing;
        EACH (int pixel = first; pixel < (count - 1) * stride + last; pixel++) {
            lanes v = *(const lanes *)(x + pixel * step);
            EACH (int j = 0; j < count; j++) {
                int kw = pixel - j * stride;
                if (kw >= 0 && kw < 3) sum[kh][kw] = v * g[j] + sum[kh][kw];
            }
        }
    }
}

// All outputs of a row. From output `outer` on, the last column lies outside the image.
RT_INLINE void row_products(int stride, int pad, lanes sum[3][3], const row_3x3 *r,
                            ptrdiff_t channels, int width, int outer) {
    int ow = 0;
    if (pad == 1 && width > 0) {
        if (outer > 0) products_3x3(1, stride, 1, 3, sum, r, channels, pad, ow++);
        else products_3x3(1, stride, 1, 2, sum, r, channels, pad, ow++);
    }
    for (; ow + PIXELS <= outer; ow += PIXELS)
        products_3x3(PIXELS, stride, 0, 3, sum, r, channels, pad, ow);
    for (; ow < outer; ow++) products_3x3(1, stride, 0, 3, sum, r, channels, pad, ow);
    for (; ow < width; ow++) products_3x3(1, stride, 0, 2, sum, r, channels, pad, ow);
}

// The gradient of whole vectors of channels. `stride` and `pad` are constants.
RT_INLINE void weight_3x3(int stride, int pad, float *dw_t, const float *x, const float *dy,
                          const rt_conv *c, ptrdiff_t begin, ptrdiff_t end, int outer) {
    ptrdiff_t channels = c->channels, block = NEAR_OUTPUTS / c->out_width + 1;
    for (ptrdiff_t first = begin; first < end; first += block) {
        ptrdiff_t last = first + block < end ? first + block : end;
        for (ptrdiff_t channel = 0; channel + LANES <= channels; channel += LANES) {
            lanes sum[3][3];
            EACH (int tap = 0; tap < 9; tap++) sum[tap / 3][tap % 3] = (lanes)0;
            for (ptrdiff_t row = first; row < last; row++) {
                row_3x3 r = row_at(c, dy + channel, x + channel, row);
                row_products(stride, pad, sum, &r, channels, c->out_width, outer);
            }
            float *target = dw_t + channel;
            EACH (int tap = 0; tap < 9; tap++)
                *(lanes *)(target + tap * channels) += sum[tap / 3][tap % 3];
        }
    }
}

// Outputs [begin, end) of a row in LANES channels, and `columns` of a kernel row from `first` on,
// which all lie in the image. The sums stay in registers. `columns` is a constant wherever this is
// inlined.
RT_INLINE void add_inner(int columns, int first, float *dw_t, const float *x, const float *dy,
                         const rt_conv *c, int begin, int end) {
    lanes sum[2][MOST_COLUMNS];
    ptrdiff_t channels = c->channels, step = c->stride_width * channels;
    ptrdiff_t reach = c->dilation_width * channels;
    for (int i = 0; i < 2; i++)
        for (int kw = 0; kw < columns; kw++) sum[i][kw] = (lanes)0;
    const float *s = x + (begin * (ptrdiff_t)c->stride_width - c->pad_left) * channels
        + first * reach;
    for (int ow = begin; ow < end; ow += 2, s += 2 * step)
        for (int i = 0; i < 2 && ow + i < end; i++) {
            lanes g = *(const lanes *)(dy + (ow + i) * channels);
            for (int kw = 0; kw < columns; kw++)
                sum[i][kw] = g * *(const lanes *)(s + i * step + kw * reach) + sum[i][kw];
        }
    for (int kw = 0; kw < columns; kw++)
        *(lanes *)(dw_t + (first + kw) * channels) += sum[0][kw] + sum[1][kw];
}

// The same for all columns.
RT_INLINE void add_inner_row(float *dw_t, const float *x, const float *dy, const rt_conv *c,
                             int begin, int end) {
    int columns = c->kernel_width, first = 0;
    if (columns == 5) return add_inner(5, 0, dw_t, x, dy, c, begin, end);
    for (; first + NEAR_COLUMNS <= columns; first += NEAR_COLUMNS)
        add_inner(NEAR_COLUMNS, first, dw_t, x, dy, c, begin, end);
    switch (columns - first) {
    case 3: return add_inner(3, first, dw_t, x, dy, c, begin, end);
    case 2: return add_inner(2, first, dw_t, x, dy, c, begin, end);
    case 1: return add_inner(1, first, dw_t, x, dy, c, begin, end);
    }
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
RT_INLINE void add_gradient_row(float *dw_t, const float *x, const float *dy, const rt_conv *c,
                                int inner, int outer, int count) {
    int begin = count == LANES ? inner : c->out_width, end = count == LANES ? outer : begin;
    for (int ow = 0; ow < begin; ow++) add_edge(dw_t, x, dy, c, ow, count);
    if (begin < end) add_inner_row(dw_t, x, dy, c, begin, end);
    for (int ow = end; ow < c->out_width; ow++) add_edge(dw_t, x, dy, c, ow, count);
}

// The gradient of the channels from `channel` on.
RT_INLINE void weight_rows(float *dw_t, const float *x, const float *dy, const rt_conv *c,
                           ptrdiff_t begin, ptrdiff_t end, int channel, int inner, int outer) {
    int channels = c->channels;
    for (ptrdiff_t row = begin; row < end; row++) {
        int n = (int)(row / c->out_height), oh = (int)(row % c->out_height);
        const float *g = dy + row * c->out_width * channels;
        for (int kh = 0; kh < c->kernel_height; kh++) {
            int h = oh * c->stride_height - c->pad_top + kh * c->dilation_height;
            if (h < 0 || h >= c->height) continue;
            const float *line = x + ((ptrdiff_t)n * c->height + h) * c->width * channels;
            float *d = dw_t + (ptrdiff_t)kh * c->kernel_width * channels;
            for (int i = channel; i < channels; i += LANES)
                add_gradient_row(d + i, line + i, g + i, c, inner, outer,
                                 channels - i < LANES ? channels - i : LANES);
        }
    }
}

RT_CLONES
void rt_depthwise_weight(float *dw_t, const float *x, const float *dy, const rt_conv *c,
                         ptrdiff_t begin, ptrdiff_t end) {
    int inner, outer, channel = 0, pad = c->pad_left, stride = c->stride_width;
    inner_range(c, &inner, &outer);
    if (is_3x3(c)) {
        if (stride == 1 && pad == 1) weight_3x3(1, 1, dw_t, x, dy, c, begin, end, outer);
        else if (stride == 1) weight_3x3(1, 0, dw_t, x, dy, c, begin, end, outer);
        else if (pad == 1) weight_3x3(2, 1, dw_t, x, dy, c, begin, end, outer);
        else weight_3x3(2, 0, dw_t, x, dy, c, begin, end, outer);
        channel = c->channels / LANES * LANES;
    }
    if (channel < c->channels)
        weight_rows(dw_t, x, dy, c, begin, end, channel, inner, outer);
}
