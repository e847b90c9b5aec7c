// Winograd's minimal filtering F(m×m, r×r) after Lavin and Gray, "Fast Algorithms for Convolutional
// Neural Networks", 2015: y = Aᵀ[(G w Gᵀ) ⊙ (Bᵀ x B)]A. F(2×2, 3×3) and F(3×3, 2×2) interpolate at
// 0, ±1, ∞ as they do; F(4×4, 3×3) at 0, ±2/3, ±3/2, ∞ instead of 0, ±1, ±2, ∞, which makes its
// largest rounding errors five times smaller at the same number of operations.
#include "CKernels.h"
#include "clones.h"
#include "half.h"
#include "tail.h"

// The lanes of vectors are channels.
enum { LANES = 16, SIDE_MOST = 6, TILE_MOST = 4 };
typedef float lanes __attribute__((ext_vector_type(16), aligned(4)));
DEFINE_TAIL(finish, lanes)

static int divide_up(int a, int b) { return (a + b - 1) / b; }

void rt_winograd_derive(rt_winograd *g) {
    int span = g->tile * g->dilation;
    g->groups_per_image = divide_up(divide_up(g->out_height + g->out_top, g->out_step), span);
    g->tiles_across = divide_up(divide_up(g->out_width + g->out_left, g->out_step), span);
    g->tiles_per_group = g->dilation * g->dilation * g->tiles_across;
    // One cache line more than the channels: with a power of two, all tiles would fall on a few
    // sets of the cache.
    g->depth = g->channels * g->in_step * g->in_step;
    g->stride = g->depth + LANES;
}

// The side of the square of inputs that a tile of outputs is computed from.
RT_INLINE int side_of(int tile) { return tile == 4 ? 6 : 4; }

// The side of the kernel in a tile.
RT_INLINE int taps_of(int tile) { return side_of(tile) - tile + 1; }

// The first output pixel of a tile, in its phase; the others are `dilation` apart.
typedef struct {
    int image, row, column;
} corner;

static corner corner_of(const rt_winograd *g, ptrdiff_t group, ptrdiff_t tile) {
    group += tile / g->tiles_per_group;
    int place = (int)(tile % g->tiles_per_group);
    int phase = place / g->tiles_across, across = place % g->tiles_across;
    corner c;
    c.image = (int)(group / g->groups_per_image);
    c.row = (int)(group % g->groups_per_image) * g->tile * g->dilation + phase / g->dilation;
    c.column = across * g->tile * g->dilation + phase % g->dilation;
    return c;
}

// MARK: The matrices, on vectors `step` apart

// F(4×4)'s points, their squares and cubes, the sum of the squares (whose product is 1), and what G
// divides by: products of differences of points.
static const float P = 2 / 3.f, P2 = 4 / 9.f, P3 = 8 / 27.f;
static const float Q = 3 / 2.f, Q2 = 9 / 4.f, Q3 = 27 / 8.f;
static const float SQUARES = 97 / 36.f, NORM_P = -1 / (8 / 9.f * 65 / 36.f);
static const float NORM_Q = 1 / (9 / 2.f * 65 / 36.f);

// Bᵀ: inputs to positions.
RT_INLINE void input_transform(int tile, const lanes *x, int step, lanes *y) {
    if (side_of(tile) == 4) {
        y[0 * step] = x[0 * step] - x[2 * step];
        y[1 * step] = x[1 * step] + x[2 * step];
        y[2 * step] = x[2 * step] - x[1 * step];
        y[3 * step] = x[3 * step] - x[1 * step];
    } else {
        lanes even = x[4 * step] - Q2 * x[2 * step], odd = P * (x[3 * step] - Q2 * x[1 * step]);
        lanes even2 = x[4 * step] - P2 * x[2 * step], odd2 = Q * (x[3 * step] - P2 * x[1 * step]);
        y[0 * step] = x[0 * step] - SQUARES * x[2 * step] + x[4 * step];
        y[1 * step] = even + odd;
        y[2 * step] = even - odd;
        y[3 * step] = even2 + odd2;
        y[4 * step] = even2 - odd2;
        y[5 * step] = x[1 * step] - SQUARES * x[3 * step] + x[5 * step];
    }
}

// Aᵀ: positions to outputs.
RT_INLINE void output_transform(int tile, const lanes *m, int step, lanes *y) {
    if (tile == 2) {
        y[0 * step] = m[0 * step] + m[1 * step] + m[2 * step];
        y[1 * step] = m[1 * step] - m[2 * step] + m[3 * step];
    } else if (tile == 3) {
        lanes plus = m[1 * step] + m[2 * step];
        y[0 * step] = m[0 * step] + plus;
        y[1 * step] = m[1 * step] - m[2 * step];
        y[2 * step] = plus + m[3 * step];
    } else {
        lanes plus = m[1 * step] + m[2 * step], minus = m[1 * step] - m[2 * step];
        lanes plus2 = m[3 * step] + m[4 * step], minus2 = m[3 * step] - m[4 * step];
        y[0 * step] = m[0 * step] + plus + plus2;
        y[1 * step] = P * minus + Q * minus2;
        y[2 * step] = P2 * plus + Q2 * plus2;
        y[3 * step] = P3 * minus + Q3 * minus2 + m[5 * step];
    }
}

// A: output gradients to positions.
RT_INLINE void gradient_transform(int tile, const lanes *y, int step, lanes *m) {
    if (tile == 2) {
        m[0 * step] = y[0 * step];
        m[1 * step] = y[0 * step] + y[1 * step];
        m[2 * step] = y[0 * step] - y[1 * step];
        m[3 * step] = y[1 * step];
    } else if (tile == 3) {
        lanes ends = y[0 * step] + y[2 * step];
        m[0 * step] = y[0 * step];
        m[1 * step] = ends + y[1 * step];
        m[2 * step] = ends - y[1 * step];
        m[3 * step] = y[2 * step];
    } else {
        lanes even = y[0 * step] + P2 * y[2 * step], odd = P * y[1 * step] + P3 * y[3 * step];
        lanes even2 = y[0 * step] + Q2 * y[2 * step], odd2 = Q * y[1 * step] + Q3 * y[3 * step];
        m[0 * step] = y[0 * step];
        m[1 * step] = even + odd;
        m[2 * step] = even - odd;
        m[3 * step] = even2 + odd2;
        m[4 * step] = even2 - odd2;
        m[5 * step] = y[3 * step];
    }
}

// G: weights to positions, which are written one after another.
RT_INLINE void weight_transform(int tile, const lanes *w, int step, lanes *u) {
    if (tile == 2) {
        lanes ends = 0.5f * (w[0 * step] + w[2 * step]), middle = 0.5f * w[1 * step];
        u[0] = w[0 * step];
        u[1] = ends + middle;
        u[2] = ends - middle;
        u[3] = w[2 * step];
    } else if (tile == 3) {
        u[0] = w[0 * step];
        u[1] = 0.5f * (w[0 * step] + w[1 * step]);
        u[2] = 0.5f * (w[0 * step] - w[1 * step]);
        u[3] = w[1 * step];
    } else {
        lanes ends = (w[0 * step] + P2 * w[2 * step]) * NORM_P;
        lanes ends2 = (w[0 * step] + Q2 * w[2 * step]) * NORM_Q;
        lanes middle = w[1 * step] * (P * NORM_P), middle2 = w[1 * step] * (Q * NORM_Q);
        u[0] = w[0 * step];
        u[1] = ends + middle;
        u[2] = ends - middle;
        u[3] = ends2 + middle2;
        u[4] = ends2 - middle2;
        u[5] = w[2 * step];
    }
}

// Gᵀ: positions to weight gradients.
RT_INLINE void weight_gradient_transform(int tile, const lanes *p, int step, lanes *w) {
    if (tile == 2) {
        lanes plus = 0.5f * (p[1 * step] + p[2 * step]), minus = 0.5f * (p[1 * step] - p[2 * step]);
        w[0 * step] = p[0 * step] + plus;
        w[1 * step] = minus;
        w[2 * step] = plus + p[3 * step];
    } else if (tile == 3) {
        w[0 * step] = p[0 * step] + 0.5f * (p[1 * step] + p[2 * step]);
        w[1 * step] = 0.5f * (p[1 * step] - p[2 * step]) + p[3 * step];
    } else {
        lanes plus = (p[1 * step] + p[2 * step]) * NORM_P;
        lanes minus = (p[1 * step] - p[2 * step]) * (P * NORM_P);
        lanes plus2 = (p[3 * step] + p[4 * step]) * NORM_Q;
        lanes minus2 = (p[3 * step] - p[4 * step]) * (Q * NORM_Q);
        w[0 * step] = p[0 * step] + plus + plus2;
        w[1 * step] = minus + minus2;
        w[2 * step] = P2 * plus + Q2 * plus2 + p[5 * step];
    }
}

// MARK: Inputs

// A square of input pixels, zeros outside the image. With a step, those of one phase: `channel`
// counts the phases' channels one after another.
RT_INLINE void load_square(lanes square[SIDE_MOST][SIDE_MOST], int side, const float *x,
                           const rt_winograd *g, corner c, int channel) {
    int step = g->in_step, phase = step == 1 ? 0 : channel / g->channels;
    int top = c.row * step + phase / step - g->pad_top;
    int left = c.column * step + phase % step - g->pad_left;
    channel -= phase * g->channels;
    for (int i = 0; i < side; i++) {
        int h = top + i * step * g->dilation;
        for (int j = 0; j < side; j++) {
            int w = left + j * step * g->dilation;
            int inside = h >= 0 && h < g->height && w >= 0 && w < g->width;
            ptrdiff_t pixel = ((ptrdiff_t)c.image * g->height + h) * g->width + w;
            square[i][j] =
                inside ? *(const lanes *)(x + pixel * g->channels + channel) : (lanes)0;
        }
    }
}

RT_INLINE void input_tiles(int tile, void *v, ptrdiff_t ld, const float *x, const rt_winograd *g,
                           ptrdiff_t group, ptrdiff_t begin, ptrdiff_t end, rt_format format,
                           float scale) {
    int side = side_of(tile);
    for (ptrdiff_t t = begin; t < end; t++) {
        corner c = corner_of(g, group, t);
        for (int channel = 0; channel < g->depth; channel += LANES) {
            lanes square[SIDE_MOST][SIDE_MOST], half[SIDE_MOST][SIDE_MOST];
            load_square(square, side, x, g, c, channel);
            for (int j = 0; j < side; j++)
                input_transform(tile, &square[0][j], SIDE_MOST, &half[0][j]);
            ptrdiff_t d = (t - begin) * g->stride + channel;
            for (int i = 0; i < side; i++) {
                lanes row[SIDE_MOST];
                input_transform(tile, half[i], 1, row);
                for (int j = 0; j < side; j++, d += ld) {
                    if (format != RT_FLOAT32) row[j] *= scale;
                    store_as(v, d, &row[j], format);
                }
            }
        }
    }
}

RT_INLINE void inputs_as(void *v, ptrdiff_t ld, const float *x, const rt_winograd *g,
                         ptrdiff_t group, ptrdiff_t begin, ptrdiff_t end, rt_format format,
                         float scale) {
    if (side_of(g->tile) == 4) input_tiles(2, v, ld, x, g, group, begin, end, format, scale);
    else input_tiles(4, v, ld, x, g, group, begin, end, format, scale);
}

RT_CLONES
static void float_inputs(float *v, ptrdiff_t ld, const float *x, const rt_winograd *g,
                         ptrdiff_t group, ptrdiff_t begin, ptrdiff_t end) {
    inputs_as(v, ld, x, g, group, begin, end, RT_FLOAT32, 1);
}

RT_HALF_TARGET
static void half_inputs(rt_half *v, ptrdiff_t ld, const float *x, const rt_winograd *g,
                        ptrdiff_t group, ptrdiff_t begin, ptrdiff_t end, rt_format format,
                        float scale) {
    if (format == RT_FLOAT16) inputs_as(v, ld, x, g, group, begin, end, RT_FLOAT16, scale);
    else inputs_as(v, ld, x, g, group, begin, end, RT_BFLOAT16, scale);
}

void rt_winograd_input(void *v, ptrdiff_t ld, const float *x, const rt_winograd *g,
                       ptrdiff_t group, ptrdiff_t begin, ptrdiff_t end, rt_format format,
                       float scale) {
    if (format == RT_FLOAT32) float_inputs(v, ld, x, g, group, begin, end);
    else half_inputs(v, ld, x, g, group, begin, end, format, scale);
}

// MARK: Outputs

// Stores the outputs that lie in the image; with a step, into the pixels of one phase.
RT_INLINE void store_tile(float *y, lanes out[TILE_MOST][TILE_MOST], int tile,
                          const rt_winograd *g, corner c, int phase, int channel) {
    int step = g->out_step;
    int top = c.row * step + phase / step - g->out_top;
    int left = c.column * step + phase % step - g->out_left;
    for (int i = 0; i < tile; i++) {
        int h = top + i * step * g->dilation;
        if (h < 0 || h >= g->out_height) continue;
        for (int j = 0; j < tile; j++) {
            int w = left + j * step * g->dilation;
            if (w < 0 || w >= g->out_width) continue;
            ptrdiff_t pixel = ((ptrdiff_t)c.image * g->out_height + h) * g->out_width + w;
            *(lanes *)(y + pixel * g->out_channels + channel) = out[i][j];
        }
    }
}

RT_INLINE void output_tiles(int tile, float *y, const float *m, ptrdiff_t ld, const rt_winograd *g,
                            ptrdiff_t group, ptrdiff_t begin, ptrdiff_t end, int channel,
                            int count, const rt_tail *tail) {
    int side = side_of(tile);
    for (ptrdiff_t t = begin; t < end; t++, m += RT_PANEL) {
        corner c = corner_of(g, group, t);
        for (int first = 0; first < count; first += LANES) {
            int phase = g->out_step == 1 ? 0 : (channel + first) / g->out_channels;
            int output = channel + first - phase * g->out_channels;
            lanes half[SIDE_MOST][TILE_MOST], out[TILE_MOST][TILE_MOST];
            const float *s = m + first;
            for (int i = 0; i < side; i++) {
                lanes row[SIDE_MOST];
                for (int j = 0; j < side; j++, s += ld) row[j] = *(const lanes *)s;
                output_transform(tile, row, 1, half[i]);
            }
            for (int j = 0; j < tile; j++)
                output_transform(tile, &half[0][j], TILE_MOST, &out[0][j]);
            if (tail) {
                finish_vectors end = finish_at(tail, output);
                for (int i = 0; i < tile * tile; i++) finish(&out[i / tile][i % tile], &end);
            }
            store_tile(y, out, tile, g, c, phase, output);
        }
    }
}

RT_CLONES
void rt_winograd_output(float *y, const float *m, ptrdiff_t ld, const rt_winograd *g,
                        ptrdiff_t group, ptrdiff_t begin, ptrdiff_t end, int channel, int count,
                        const rt_tail *tail) {
    if (g->tile == 2) output_tiles(2, y, m, ld, g, group, begin, end, channel, count, tail);
    else if (g->tile == 3) output_tiles(3, y, m, ld, g, group, begin, end, channel, count, tail);
    else output_tiles(4, y, m, ld, g, group, begin, end, channel, count, tail);
}

// MARK: Gradients of outputs

RT_INLINE void load_tile(lanes in[4][4], int tile, const float *dy, const rt_winograd *g, corner c,
                         int channel) {
    for (int i = 0; i < tile; i++)
        for (int j = 0; j < tile; j++) {
            int h = c.row + i * g->dilation, w = c.column + j * g->dilation;
            ptrdiff_t pixel = ((ptrdiff_t)c.image * g->out_height + h) * g->out_width + w;
            int inside = h < g->out_height && w < g->out_width && channel < g->out_channels;
            in[i][j] =
                inside ? *(const lanes *)(dy + pixel * g->out_channels + channel) : (lanes)0;
        }
}

RT_INLINE void gradient_tiles(int tile, float *d, ptrdiff_t ld, const float *dy,
                              const rt_winograd *g, ptrdiff_t group, ptrdiff_t begin,
                              ptrdiff_t end, int channel) {
    int side = side_of(tile);
    for (ptrdiff_t t = begin; t < end; t++, d += RT_PANEL) {
        corner c = corner_of(g, group, t);
        for (int first = 0; first < RT_PANEL; first += LANES) {
            lanes in[4][4], half[SIDE_MOST][4];
            load_tile(in, tile, dy, g, c, channel + first);
            for (int j = 0; j < tile; j++) gradient_transform(tile, &in[0][j], 4, &half[0][j]);
            float *target = d + first;
            for (int i = 0; i < side; i++) {
                lanes row[SIDE_MOST];
                gradient_transform(tile, half[i], 1, row);
                for (int j = 0; j < side; j++, target += ld) *(lanes *)target = row[j];
            }
        }
    }
}

RT_CLONES
void rt_winograd_gradient(float *d, ptrdiff_t ld, const float *dy, const rt_winograd *g,
                          ptrdiff_t group, ptrdiff_t begin, ptrdiff_t end, int channel) {
    if (g->tile == 2) gradient_tiles(2, d, ld, dy, g, group, begin, end, channel);
    else if (g->tile == 3) gradient_tiles(3, d, ld, dy, g, group, begin, end, channel);
    else gradient_tiles(4, d, ld, dy, g, group, begin, end, channel);
}

// MARK: Weights

// Which of the kernel's elements are the r×r of one phase: all, or every second one, counted from
// the end if the outputs have phases.
static void phase_taps(int taps[9], const rt_winograd *g, int phase) {
    int side = taps_of(g->tile), step = g->kernel / side;
    for (int i = 0; i < side * side; i++) {
        int row = i / side, column = i % side;
        if (g->out_step == 2) row = side - 1 - row, column = side - 1 - column;
        taps[i] = (step * row + phase / 2) * g->kernel + step * column + phase % 2;
    }
}

// The first half of the transform of one vector of weights, w[tap]: columns to `side` rows.
RT_INLINE void weight_columns(int tile, const lanes *w, lanes half[SIDE_MOST][3]) {
    int side = side_of(tile), most = taps_of(tile);
    for (int j = 0; j < most; j++) {
        lanes out[SIDE_MOST];
        weight_transform(tile, w + j, most, out);
        for (int i = 0; i < side; i++) half[i][j] = out[i];
    }
}

// `count` weights of one phase, which uses the elements `taps`: w has `step` elements from tap to
// tap, u has `ld` from position to position.
RT_INLINE void panel_weights(int tile, float *u, ptrdiff_t ld, const float *w, ptrdiff_t step,
                             ptrdiff_t count, const int *taps) {
    int side = side_of(tile), most = taps_of(tile) * taps_of(tile);
    for (ptrdiff_t n = 0; n < count; n += LANES, u += LANES, w += LANES) {
        lanes in[9], half[SIDE_MOST][3];
        for (int t = 0; t < most; t++) in[t] = *(const lanes *)(w + taps[t] * step);
        weight_columns(tile, in, half);
        for (int i = 0; i < side; i++) {
            lanes row[SIDE_MOST];
            weight_transform(tile, half[i], 1, row);
            for (int j = 0; j < side; j++) *(lanes *)(u + (i * side + j) * ld) = row[j];
        }
    }
}

// The same for pairs of rows; the products are multiplied by `scale`.
RT_INLINE void paired_weights(int tile, rt_half *u, ptrdiff_t ld, const rt_half *w, ptrdiff_t step,
                              ptrdiff_t count, const int *taps, float scale, rt_format format) {
    int side = side_of(tile), most = taps_of(tile) * taps_of(tile);
    for (ptrdiff_t n = 0; n < count; n += 2 * LANES, u += 2 * LANES, w += 2 * LANES) {
        lanes in[2][9], half[2][SIDE_MOST][3];
        for (int t = 0; t < most; t++) {
            half_words low = *(const half_words *)(w + taps[t] * step), high = low >> 16;
            from_half(&in[0][t], &low, format);
            from_half(&in[1][t], &high, format);
            in[0][t] *= scale, in[1][t] *= scale;
        }
        for (int parity = 0; parity < 2; parity++) weight_columns(tile, in[parity], half[parity]);
        for (int i = 0; i < side; i++) {
            lanes row[2][SIDE_MOST];
            for (int parity = 0; parity < 2; parity++)
                weight_transform(tile, half[parity][i], 1, row[parity]);
            for (int j = 0; j < side; j++) {
                half_words low, high;
                to_half(&low, &row[0][j], format);
                to_half(&high, &row[1][j], format);
                *(half_words *)(u + (i * side + j) * ld) = low | high << 16;
            }
        }
    }
}

// Inputs [begin, end) of one phase and the kernel elements that it uses.
typedef struct {
    ptrdiff_t first, count;  // of the phase's own inputs
    int next;
    int taps[9];
} phase_inputs;

static phase_inputs phase_of(const rt_winograd *g, int channel, int begin, int end) {
    int phase = begin / g->channels, next = (phase + 1) * g->channels;
    phase_inputs p = {begin - phase * g->channels, 0, next > end ? end : next, {0}};
    p.count = p.next - begin;
    phase_taps(p.taps, g, g->in_step == 1 ? channel / g->out_channels : phase);
    return p;
}

RT_CLONES
void rt_winograd_weights(float *u, ptrdiff_t ld, const float *packed, const rt_winograd *g,
                         int channel, int begin, int end) {
    ptrdiff_t step = (ptrdiff_t)g->channels * RT_PANEL;
    while (begin < end) {
        phase_inputs p = phase_of(g, channel, begin, end);
        const float *w = packed + p.first * RT_PANEL;
        ptrdiff_t count = p.count * RT_PANEL;
        if (g->tile == 2) panel_weights(2, u, ld, w, step, count, p.taps);
        else if (g->tile == 3) panel_weights(3, u, ld, w, step, count, p.taps);
        else panel_weights(4, u, ld, w, step, count, p.taps);
        u += count;
        begin = p.next;
    }
}

RT_INLINE void paired_weights_as(rt_half *u, ptrdiff_t ld, const rt_half *packed,
                                 const rt_winograd *g, int channel, int begin, int end,
                                 float scale, rt_format format) {
    ptrdiff_t step = (ptrdiff_t)g->channels * RT_PANEL;
    while (begin < end) {
        phase_inputs p = phase_of(g, channel, begin, end);
        const rt_half *w = packed + p.first * RT_PANEL;
        ptrdiff_t count = p.count * RT_PANEL;
        if (g->tile == 2) paired_weights(2, u, ld, w, step, count, p.taps, scale, format);
        else if (g->tile == 3) paired_weights(3, u, ld, w, step, count, p.taps, scale, format);
        else paired_weights(4, u, ld, w, step, count, p.taps, scale, format);
        u += count;
        begin = p.next;
    }
}

RT_HALF_TARGET
void rt_winograd_paired_weights(rt_half *u, ptrdiff_t ld, const rt_half *packed,
                                const rt_winograd *g, int channel, int begin, int end,
                                float scale, rt_format format) {
    if (format == RT_FLOAT16)
        paired_weights_as(u, ld, packed, g, channel, begin, end, scale, RT_FLOAT16);
    else paired_weights_as(u, ld, packed, g, channel, begin, end, scale, RT_BFLOAT16);
}

// The reverse: gradients of one phase from their products p.
RT_INLINE void panel_weight_gradient(int tile, float *w, ptrdiff_t count, const float *p,
                                     ptrdiff_t ld, const int *taps) {
    int side = side_of(tile), most = taps_of(tile);
    for (ptrdiff_t n = 0; n < count; n += LANES, p += LANES, w += LANES) {
        lanes half[SIDE_MOST][3];
        for (int i = 0; i < side; i++) {
            lanes row[SIDE_MOST];
            for (int j = 0; j < side; j++) row[j] = *(const lanes *)(p + (i * side + j) * ld);
            weight_gradient_transform(tile, row, 1, half[i]);
        }
        for (int j = 0; j < most; j++) {
            lanes in[SIDE_MOST], out[3];
            for (int i = 0; i < side; i++) in[i] = half[i][j];
            weight_gradient_transform(tile, in, 1, out);
            for (int i = 0; i < most; i++) *(lanes *)(w + taps[i * most + j] * count) = out[i];
        }
    }
}

RT_CLONES
void rt_winograd_weight_gradient(float *dw, float *scratch, const float *p, ptrdiff_t ld,
                                 const rt_winograd *g, int channel) {
    int inputs = g->channels, elements = g->kernel * g->kernel, taps[9];
    ptrdiff_t size = (ptrdiff_t)inputs * RT_PANEL;
    for (int phase = 0; phase < g->in_step * g->in_step; phase++, p += size) {
        phase_taps(taps, g, phase);
        if (g->tile == 2) panel_weight_gradient(2, scratch, size, p, ld, taps);
        else if (g->tile == 3) panel_weight_gradient(3, scratch, size, p, ld, taps);
        else panel_weight_gradient(4, scratch, size, p, ld, taps);
    }
    int count = g->out_channels - channel < RT_PANEL ? g->out_channels - channel : RT_PANEL;
    for (int tap = 0; tap < elements; tap++)
        for (int first = 0; first < inputs; first += LANES)
            for (int o = 0; o < count; o++) {
                const float *column = scratch + tap * size + (ptrdiff_t)first * RT_PANEL + o;
                float *d = dw + ((ptrdiff_t)(channel + o) * elements + tap) * inputs + first;
                for (int i = 0; i < LANES; i++) d[i] = column[i * RT_PANEL];
            }
}
