#include <string.h>

#include "CKernels.h"
#include "clones.h"
#include "tail.h"

// Vectors of 16, 8 and 4 floats that may lie anywhere.
typedef float wide __attribute__((ext_vector_type(16), aligned(4)));
typedef float middle __attribute__((ext_vector_type(8), aligned(4)));
typedef float narrow __attribute__((ext_vector_type(4), aligned(4)));

// What every block of a product shares.
typedef struct {
    ptrdiff_t k, row_step, k_step, b_step, ldc;
    int adds;
    const rt_tail *tail;
} product;

// One block, `rows` by one or two vectors, stays in registers over the whole depth. `rows` and
// `vectors` are constants wherever this is inlined.
#define DEFINE_BLOCK(NAME, VECTOR, MOST)                                                           \
    DEFINE_TAIL(NAME##_tail, VECTOR)                                                \
    RT_INLINE void NAME(int rows, int vectors, const product *g, const float *a, const float *b,   \
                        float *c, int column) {                                                    \
        enum { LANES = sizeof(VECTOR) / sizeof(float) };                                           \
        VECTOR sum[MOST][2];                                                                       \
        for (int i = 0; i < rows; i++)                                                             \
            for (int j = 0; j < vectors; j++)                                                      \
                sum[i][j] =                                                                        \
                    g->adds ? *(const VECTOR *)(c + i * g->ldc + j * LANES) : (VECTOR)0;         \
        for (ptrdiff_t p = 0; p < g->k; p++, a += g->k_step, b += g->b_step) {                     \
            VECTOR left = *(const VECTOR *)b;                                                      \
            VECTOR right = vectors == 2 ? *(const VECTOR *)(b + LANES) : left;                     \
            for (int i = 0; i < rows; i++) {                                                       \
                /* Less zero, not plus: x + 0 is not x for −0, and would cost an addition. */      \
                VECTOR x = a[i * g->row_step] - (VECTOR)0;                                       \
                sum[i][0] = __builtin_elementwise_fma(x, left, sum[i][0]);                         \
                if (vectors == 2) sum[i][1] = __builtin_elementwise_fma(x, right, sum[i][1]);      \
            }                                                                                      \
        }                                                                                          \
        if (g->tail)                                                                               \
            for (int i = 0; i < rows; i++)                                                         \
                for (int j = 0; j < vectors; j++)                                                  \
                    NAME##_tail(&sum[i][j], g->tail, column + j * LANES);                          \
        for (int i = 0; i < rows; i++)                                                             \
            for (int j = 0; j < vectors; j++)                                                      \
                *(VECTOR *)(c + i * g->ldc + j * LANES) = sum[i][j];                               \
    }

#define CASE(BLOCK, ROWS)                                                                          \
    case ROWS:                                                                                     \
        if (vectors == 2) BLOCK(ROWS, 2, g, a, b, c, column);                                            \
        else BLOCK(ROWS, 1, g, a, b, c, column);                                                         \
        break;
#define CASES_4(BLOCK) CASE(BLOCK, 1) CASE(BLOCK, 2) CASE(BLOCK, 3) CASE(BLOCK, 4)
#define CASES_6(BLOCK) CASES_4(BLOCK) CASE(BLOCK, 5) CASE(BLOCK, 6)
#define CASES_12(BLOCK)                                                                            \
    CASES_6(BLOCK) CASE(BLOCK, 7) CASE(BLOCK, 8) CASE(BLOCK, 9) CASE(BLOCK, 10) CASE(BLOCK, 11)    \
    CASE(BLOCK, 12)

// A panel's product for one CPU generation: rows in strips of nearly one height, and the panel's
// columns in as many pairs of vectors as it takes.
#define DEFINE_PANEL(NAME, BLOCK, VECTOR, MOST, CASES, TARGET)                                     \
    DEFINE_BLOCK(BLOCK, VECTOR, MOST)                                                              \
    TARGET static void NAME(ptrdiff_t m, int columns, const product *g, const float *first_a,      \
                            const float *first_b, float *first_c) {                                \
        enum { LANES = sizeof(VECTOR) / sizeof(float) };                                           \
        ptrdiff_t strips = (m + MOST - 1) / MOST;                                                  \
        for (ptrdiff_t s = 0; s < strips; s++) {                                                   \
            ptrdiff_t begin = m * s / strips, rows = m * (s + 1) / strips - begin;                 \
            for (int column = 0; column < columns; column += 2 * LANES) {                          \
                int vectors = columns - column > LANES ? 2 : 1;                                    \
                const float *a = first_a + begin * g->row_step, *b = first_b + column;             \
                float *c = first_c + begin * g->ldc + column;                                      \
                switch (rows) { CASES(BLOCK) }                                                     \
            }                                                                                      \
        }                                                                                          \
    }

#if defined(__x86_64__)
DEFINE_PANEL(panel_512, block_512, wide, 12, CASES_12, __attribute__((target("avx512f"))))
DEFINE_PANEL(panel_256, block_256, middle, 6, CASES_6, __attribute__((target("avx2,fma"))))
#endif
DEFINE_PANEL(panel_128, block_128, narrow, 4, CASES_4, )

void rt_gemm_panel(ptrdiff_t m, ptrdiff_t k, const float *a, ptrdiff_t row_step, ptrdiff_t k_step,
                   const float *b, ptrdiff_t b_step, float *c, ptrdiff_t ldc, int columns,
                   int adds, const rt_tail *tail) {
    product g = {k, row_step, k_step, b_step, ldc, adds, tail};
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return panel_512(m, columns, &g, a, b, c);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return panel_256(m, columns, &g, a, b, c);
#endif
    panel_128(m, columns, &g, a, b, c);
}

// MARK: Panels of weights

enum { BLOCK = 16 };

// Columns from rows of `inputs`, in blocks, so that what is written stays in the nearest cache.
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

void rt_pack_panel(float *d, const float *w, int taps, int inputs, int outputs, int channel,
                   rt_weight_order order) {
    int count = outputs - channel < RT_PANEL ? outputs - channel : RT_PANEL;
    if (count < RT_PANEL) memset(d, 0, sizeof *d * taps * inputs * RT_PANEL);
    for (int tap = 0; tap < taps; tap++, d += (ptrdiff_t)inputs * RT_PANEL) {
        if (order == RT_OUTPUTS_FIRST) {
            transpose_tap(d, w + ((ptrdiff_t)channel * taps + tap) * inputs, inputs,
                          (ptrdiff_t)taps * inputs, count);
            continue;
        }
        int from = order == RT_INPUTS_FIRST_TURNED ? taps - 1 - tap : tap;
        for (int i = 0; i < inputs; i++)
            memcpy(d + (ptrdiff_t)i * RT_PANEL, w + ((ptrdiff_t)i * taps + from) * outputs + channel,
                   (size_t)count * sizeof *d);
    }
}

// MARK: Convolution by products of panels

// Along one axis, the places of the output that one kernel element reaches, and of the input that
// it reads there.
typedef struct {
    int count, output, output_step, input, input_step;
} reach;

static int ceiling(int a, int b) { return a > 0 ? (a + b - 1) / b : -(-a / b); }

// Outputs o with 0 ≤ o·stride + offset < inputs.
static reach reach_forward(int offset, int stride, int inputs, int outputs) {
    int first = offset < 0 ? ceiling(-offset, stride) : 0;
    int last = ceiling(inputs - offset, stride);
    if (last > outputs) last = outputs;
    return (reach){last - first, first, 1, first * stride + offset, stride};
}

// Inputs i with 0 ≤ i·stride + offset < outputs.
static reach reach_transposed(int offset, int stride, int inputs, int outputs) {
    reach r = reach_forward(offset, stride, outputs, inputs);
    return (reach){r.count, r.input, r.input_step, r.output, r.output_step};
}

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

static void add_row(float *y, ptrdiff_t ld, const float *x, const float *b, const rt_conv *c,
                    int transposed, ptrdiff_t row, int columns) {
    int n = (int)(row / c->out_height), oh = (int)(row % c->out_height);
    ptrdiff_t tap = (ptrdiff_t)c->channels * RT_PANEL;
    for (int kh = 0; kh < c->kernel_height; kh++) {
        int ih = input_row(c, transposed, oh, kh);
        if (ih < 0) continue;
        const float *line = x + ((ptrdiff_t)n * c->height + ih) * c->width * c->channels;
        for (int kw = 0; kw < c->kernel_width; kw++) {
            int offset = kw * c->dilation_width - c->pad_left;
            reach r = (transposed ? reach_transposed : reach_forward)(
                offset, c->stride_width, c->width, c->out_width);
            if (r.count <= 0) continue;
            rt_gemm_panel(r.count, c->channels, line + (ptrdiff_t)r.input * c->channels,
                          (ptrdiff_t)r.input_step * c->channels, 1,
                          b + (kh * c->kernel_width + kw) * tap, RT_PANEL, y + r.output * ld,
                          r.output_step * ld, columns, 1, NULL);
        }
    }
}

DEFINE_TAIL(finish_vector, wide)

RT_CLONES
static void finish_pixels(float *y, ptrdiff_t ld, int pixels, int columns, const rt_tail *tail) {
    for (int w = 0; w < pixels; w++, y += ld)
        for (int i = 0; i < columns; i += BLOCK) {
            wide value = *(const wide *)(y + i);
            finish_vector(&value, tail, i);
            *(wide *)(y + i) = value;
        }
}

void rt_panel_convolution(float *y, ptrdiff_t ld, const float *x, const float *b, const rt_conv *c,
                          int transposed, int columns, ptrdiff_t begin, ptrdiff_t end,
                          const rt_tail *tail) {
    for (ptrdiff_t row = begin; row < end; row++, y += c->out_width * ld) {
        for (int w = 0; w < c->out_width; w++) memset(y + w * ld, 0, sizeof *y * columns);
        add_row(y, ld, x, b, c, transposed, row, columns);
        if (tail) finish_pixels(y, ld, c->out_width, columns, tail);
    }
}
