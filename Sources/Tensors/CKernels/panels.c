// Convolution without patches: products of rows of the image and the weights of each kernel
// element, which are stored in panels of RT_PANEL output channels.
#include <string.h>

#include "gemm.h"

enum { BLOCK = 16 };

// Columns from rows of `inputs`, in blocks, so that the result stays in the first-level cache.
static void transpose_tap(float *d, const float *w, int inputs, ptrdiff_t ld, int count) {
    for (int first = 0; first < inputs; first += BLOCK) {
        int block = inputs - first < BLOCK ? inputs - first : BLOCK;
        for (int o = 0; o < count; o++) {
            const float *s = w + o * ld + first;
            float *column = d + (ptrdiff_t)first * RT_PANEL + o;
            for (int i = 0; i < block; i++) column[i * RT_PANEL] = s[i];
        }
    }
}

// Output channels [channel, channel + count) of all taps.
static void pack_columns(float *d, const float *w, int taps, int inputs, int outputs, int channel,
                         int count, rt_weight_order order) {
    for (int tap = 0; tap < taps; tap++, d += (ptrdiff_t)inputs * RT_PANEL) {
        if (order == RT_OUTPUTS_FIRST) {
            transpose_tap(d, w + ((ptrdiff_t)channel * taps + tap) * inputs, inputs,
                          (ptrdiff_t)taps * inputs, count);
            continue;
        }
        int from = order == RT_INPUTS_FIRST_ROTATED ? taps - 1 - tap : tap;
        for (int i = 0; i < inputs; i++)
            memcpy(d + (ptrdiff_t)i * RT_PANEL,
                   w + ((ptrdiff_t)i * taps + from) * outputs + channel,
                   (size_t)count * sizeof *d);
    }
}

void rt_pack_panel(float *d, const float *w, int taps, int inputs, int outputs, int channel,
                   rt_weight_order order) {
    int count = outputs - channel < RT_PANEL ? outputs - channel : RT_PANEL;
    if (count <= RT_HALF) memset(d, 0, sizeof *d * taps * inputs * RT_PANEL);
    if (count <= RT_HALF || count == RT_PANEL)
        return pack_columns(d, w, taps, inputs, outputs, channel, count, order);
    pack_columns(d, w, taps, inputs, outputs, channel, RT_HALF, order);
    pack_columns(d + RT_HALF, w, taps, inputs, outputs, channel + count - RT_HALF, RT_HALF, order);
}

// MARK: Convolution by products of panels

// Outputs j = 0, 1, … of one row, those at `first` + j·`step`, read the input at `position` +
// j·stride for each kernel column; [begin, end) are those for which that is in the image.
typedef struct {
    int tap, position, begin, end;
} reach;

static int ceiling(int a, int b) { return a > 0 ? (a + b - 1) / b : -(-a / b); }
static int smaller(int a, int b) { return a < b ? a : b; }
static int larger(int a, int b) { return a > b ? a : b; }

// The input row that a kernel row reads for an output row, or -1.
static int input_row(const rt_conv *c, int transposed, int oh, int kh) {
    int offset = kh * c->dilation_height - c->pad_top;
    int ih = oh * c->stride_height + offset;
    if (transposed) {
        if ((oh - offset) % c->stride_height != 0) return -1;
        ih = (oh - offset) / c->stride_height;
    }
    return ih >= 0 && ih < c->height ? ih : -1;
}

// What each kernel column reads for `count` outputs from `first` on, without those that read
// nothing. Returns how many there are.
static int reaches(reach *r, const rt_conv *c, int transposed, int first, int count) {
    int used = 0, stride = transposed ? 1 : c->stride_width;
    for (int kw = 0; kw < c->kernel_width; kw++) {
        int offset = kw * c->dilation_width - c->pad_left;
        int position = first * c->stride_width + offset;
        if (transposed) {
            if ((first - offset) % c->stride_width != 0) continue;
            position = (first - offset) / c->stride_width;
        }
        int begin = larger(ceiling(-position, stride), 0);
        int end = smaller(ceiling(c->width - position, stride), count);
        if (begin < end) r[used++] = (reach){kw, position, begin, end};
    }
    return used;
}

// The end of the outputs from `begin` on that read the same kernel columns.
static int segment_end(const reach *r, int used, int begin, int count) {
    int end = count;
    for (int i = 0; i < used; i++) {
        if (r[i].begin > begin) end = smaller(end, r[i].begin);
        if (r[i].end > begin) end = smaller(end, r[i].end);
    }
    return end;
}

// A row of a convolution: the first row of its image, and which rows of that its kernel rows read,
// -1 for none.
typedef struct {
    const void *x, *b;
    float *y;
    ptrdiff_t ld, image;
    int transposed, columns;
    const int *rows;
    rt_halves halves;
    const rt_tail *tail;
} line;

// Copies the kernel columns that output `begin` reads; returns how many there are.
static int columns_at(reach *own, const reach *r, int used, int begin) {
    int count = 0;
    for (int i = 0; i < used; i++)
        if (begin >= r[i].begin && begin < r[i].end) own[count++] = r[i];
    return count;
}

// Whether kernel columns read pixels next to each other: they are one run of the depth.
static int are_neighbors(const reach *r, int count) {
    for (int i = 1; i < count; i++)
        if (r[i].tap != r[i - 1].tap + 1 || r[i].position != r[i - 1].position + 1) return 0;
    return 1;
}

// Outputs [begin, end) of those from `first` on, all of which read the same kernel columns. Columns
// that read pixels next to each other are multiplied at once: few channels make short runs.
static void multiply_segment(const line *l, const rt_conv *c, const reach *r, int used, int first,
                             int begin, int end) {
    ptrdiff_t a_taps[RT_MOST_TAPS], b_taps[RT_MOST_TAPS];
    reach own[RT_MOST_TAPS];
    ptrdiff_t stride = l->transposed ? 1 : c->stride_width;
    ptrdiff_t step = l->transposed ? c->stride_width : 1;
    int taps = 0, count = columns_at(own, r, used, begin);
    int run = count > 0 && are_neighbors(own, count) ? count : 1;
    for (int kh = 0; kh < c->kernel_height; kh++)
        for (int i = 0; i < count && l->rows[kh] >= 0; i += run) {
            ptrdiff_t row = l->image + l->rows[kh];
            ptrdiff_t pixel = row * c->width + own[i].position + begin * stride;
            ptrdiff_t tap = (ptrdiff_t)kh * c->kernel_width + own[i].tap;
            a_taps[taps] = pixel * c->channels;
            b_taps[taps++] = tap * c->channels * RT_PANEL;
        }
    rt_product g = {(ptrdiff_t)run * c->channels, stride * c->channels, 1, RT_PANEL,
                    step * l->ld, taps, 0, a_taps, b_taps, l->tail, l->halves};
    rt_multiply(end - begin, l->columns, &g, l->x, l->b, l->y + (first + begin * step) * l->ld);
}

void rt_panel_convolution(float *y, ptrdiff_t ld, const void *x, const void *b, const rt_conv *c,
                          int transposed, int columns, ptrdiff_t begin, ptrdiff_t end,
                          rt_halves halves, const rt_tail *tail) {
    int rows[RT_MOST_TAPS], step = transposed ? c->stride_width : 1;
    reach r[RT_MOST_TAPS];
    for (ptrdiff_t row = begin; row < end; row++, y += c->out_width * ld) {
        ptrdiff_t image = row / c->out_height * c->height;
        for (int kh = 0; kh < c->kernel_height; kh++)
            rows[kh] = input_row(c, transposed, (int)(row % c->out_height), kh);
        line l = {x, b, y, ld, image, transposed, columns, rows, halves, tail};
        for (int first = 0; first < step; first++) {
            int count = (c->out_width - first + step - 1) / step;
            int used = reaches(r, c, transposed, first, count);
            for (int from = 0, to; from < count; from = to) {
                to = segment_end(r, used, from, count);
                multiply_segment(&l, c, r, used, first, from, to);
            }
        }
    }
}

// MARK: The gradient of the weights

// A 1×1 kernel at every pixel: rows are contiguous.
static int is_pointwise(const rt_conv *c) {
    return c->kernel_height == 1 && c->kernel_width == 1 && c->stride_height == 1
        && c->stride_width == 1 && c->pad_top == 0 && c->pad_left == 0
        && c->out_height == c->height && c->out_width == c->width;
}

// The pixels that one kernel element combines: `count` in each row.
typedef struct {
    ptrdiff_t outputs[RT_MOST_TAPS], inputs[RT_MOST_TAPS];
    int rows;
    ptrdiff_t count;
} stretches;

static void add_stretches(float *dw, const float *x, const float *dy, const rt_conv *c, int columns,
                          stretches *s) {
    ptrdiff_t patch = (ptrdiff_t)c->kernel_height * c->kernel_width * c->channels;
    rt_product g = {s->count, 1,          c->out_channels, (ptrdiff_t)c->stride_width * c->channels,
                    patch,    s->rows,    1,               s->outputs,
                    s->inputs, NULL,      {RT_FLOAT32}};
    if (s->rows > 0) rt_multiply(c->out_channels, columns, &g, dy, x, dw);
    s->rows = 0;
}

static void tap_gradient(float *dw, const float *x, const float *dy, const rt_conv *c, int columns,
                         int kh, const reach *r, ptrdiff_t begin, ptrdiff_t end) {
    stretches s = {.rows = 0, .count = r->end - r->begin};
    for (ptrdiff_t row = begin; row < end; row++) {
        int ih = input_row(c, 0, (int)(row % c->out_height), kh);
        if (ih < 0) continue;
        ptrdiff_t input = (row / c->out_height * c->height + ih) * c->width + r->position
            + (ptrdiff_t)r->begin * c->stride_width;
        s.outputs[s.rows] = (row * c->out_width + r->begin) * c->out_channels;
        s.inputs[s.rows++] = input * c->channels;
        if (s.rows == RT_MOST_TAPS) add_stretches(dw, x, dy, c, columns, &s);
    }
    add_stretches(dw, x, dy, c, columns, &s);
}

void rt_panel_weight_gradient(float *dw, const float *x, const float *dy, const rt_conv *c,
                              int channel, int columns, ptrdiff_t begin, ptrdiff_t end) {
    if (is_pointwise(c)) {
        stretches s = {{begin * c->width * c->out_channels}, {begin * c->width * c->channels}, 1,
                       (end - begin) * c->width};
        return add_stretches(dw + channel, x + channel, dy, c, columns, &s);
    }
    reach r[RT_MOST_TAPS];
    int used = reaches(r, c, 0, 0, c->out_width);
    for (int kh = 0; kh < c->kernel_height; kh++)
        for (int i = 0; i < used; i++) {
            float *d = dw + (ptrdiff_t)(kh * c->kernel_width + r[i].tap) * c->channels + channel;
            tap_gradient(d, x + channel, dy, c, columns, kh, &r[i], begin, end);
        }
}
