#include <string.h>

#include "CKernels.h"
#include "clones.h"

// Vectors of 16, 8 and 4 floats that may lie anywhere.
typedef float wide __attribute__((ext_vector_type(16), aligned(4)));
typedef float middle __attribute__((ext_vector_type(8), aligned(4)));
typedef float narrow __attribute__((ext_vector_type(4), aligned(4)));

// What every block of a product shares. The depth is `taps` runs of `k`, which begin at a[a_taps[t]]
// and b[b_taps[t]]: a convolution's kernel elements, or a single one.
typedef struct {
    ptrdiff_t k, row_step, k_step, b_step, ldc;
    int taps, adds;
    const ptrdiff_t *a_taps, *b_taps;
    const rt_tail *tail;
} product;

// Sums stay in registers only if no loop over them is left.
#define EACH _Pragma("clang loop unroll(full)") for
#define EACH_SUM EACH (int i = 0; i < rows; i++) EACH (int j = 0; j < vectors; j++)

// One block, `rows` by one or two vectors, stays in registers over the whole depth. `rows` and
// `vectors` are constants wherever this is inlined. Rows are reached from every third one: three
// steps are what an address can hold, and the compiler, which would otherwise walk from row to row,
// must not know how these pointers hang together.
#define DEFINE_BLOCK(NAME, VECTOR, MOST)                                                           \
    RT_INLINE void NAME##_tail(int rows, int vectors, VECTOR sum[MOST][2], const rt_tail *tail,    \
                               int column) {                                                       \
        enum { LANES = sizeof(VECTOR) / sizeof(float) };                                           \
        if (tail->scale)                                                                           \
            EACH_SUM sum[i][j] *= *(const VECTOR *)(tail->scale + column + j * LANES);             \
        if (tail->bias)                                                                            \
            EACH_SUM sum[i][j] += *(const VECTOR *)(tail->bias + column + j * LANES);              \
        VECTOR low = tail->low - (VECTOR)0, high = tail->high - (VECTOR)0;                         \
        EACH_SUM sum[i][j] = sum[i][j] < low ? low : sum[i][j];                                    \
        EACH_SUM sum[i][j] = sum[i][j] > high ? high : sum[i][j];                                  \
    }                                                                                              \
    RT_INLINE void NAME(int rows, int vectors, const product *g, const float *a, const float *b,   \
                        float *c, int column) {                                                    \
        enum { LANES = sizeof(VECTOR) / sizeof(float), THIRD = (MOST + 2) / 3 };                   \
        VECTOR sum[MOST][2];                                                                       \
        EACH_SUM sum[i][j] = (VECTOR)0;                                                            \
        if (g->adds) EACH_SUM sum[i][j] = *(const VECTOR *)(c + i * g->ldc + j * LANES);           \
        ptrdiff_t row_step = g->row_step, k_step = g->k_step, b_step = g->b_step;                  \
        for (int t = 0; t < g->taps; t++) {                                                        \
            const float *w = b + g->b_taps[t], *x[THIRD];                                          \
            EACH (int i = 0; i < rows; i += 3) {                                                   \
                x[i / 3] = a + g->a_taps[t] + i * row_step;                                        \
                __asm__("" : "+r"(x[i / 3]));                                                      \
            }                                                                                      \
            for (ptrdiff_t p = g->k; p > 0; p--, w += b_step) {                                    \
                VECTOR left = *(const VECTOR *)w;                                                  \
                VECTOR right = vectors == 2 ? *(const VECTOR *)(w + LANES) : left;                 \
                EACH (int i = 0; i < rows; i++) {                                                  \
                    /* Less zero, not plus: x + 0 is not x for −0, and would cost an addition. */  \
                    VECTOR value = x[i / 3][i % 3 * row_step] - (VECTOR)0;                         \
                    sum[i][0] = __builtin_elementwise_fma(value, left, sum[i][0]);                 \
                    if (vectors == 2)                                                              \
                        sum[i][1] = __builtin_elementwise_fma(value, right, sum[i][1]);            \
                }                                                                                  \
                EACH (int i = 0; i < rows; i += 3) x[i / 3] += k_step;                             \
            }                                                                                      \
        }                                                                                          \
        if (g->tail) NAME##_tail(rows, vectors, sum, g->tail, column);                             \
        EACH_SUM *(VECTOR *)(c + i * g->ldc + j * LANES) = sum[i][j];                              \
    }

#define CASE(BLOCK, ROWS)                                                                          \
    case ROWS:                                                                                     \
        if (vectors == 2) BLOCK(ROWS, 2, g, a, b, c, column);                                      \
        else BLOCK(ROWS, 1, g, a, b, c, column);                                                   \
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

static int most_floats = 16;

void rt_limit_vectors(int floats) { most_floats = floats; }

static void multiply(ptrdiff_t m, int columns, const product *g, const float *a, const float *b,
                     float *c) {
#if defined(__x86_64__)
    if (most_floats >= 16 && __builtin_cpu_supports("avx512f"))
        return panel_512(m, columns, g, a, b, c);
    if (most_floats >= 8 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return panel_256(m, columns, g, a, b, c);
#endif
    panel_128(m, columns, g, a, b, c);
}

void rt_gemm_panel(ptrdiff_t m, ptrdiff_t k, const float *a, ptrdiff_t row_step, ptrdiff_t k_step,
                   const float *b, ptrdiff_t b_step, float *c, ptrdiff_t ldc, int columns,
                   int adds, const rt_tail *tail) {
    static const ptrdiff_t start = 0;
    product g = {k, row_step, k_step, b_step, ldc, 1, adds, &start, &start, tail};
    multiply(m, columns, &g, a, b, c);
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

// Outputs j = 0, 1, … of one row, those at `first` + j·`step`, read the input at place + j·stride
// for each kernel column; [begin, end) are those for which that lies in the picture.
typedef struct {
    int tap, place, begin, end;
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

// What each kernel column reads for `count` outputs from `first` on; those that read nothing are
// left out. Returns how many there are.
static int reaches(reach *r, const rt_conv *c, int transposed, int first, int count) {
    int used = 0, stride = transposed ? 1 : c->stride_width;
    for (int kw = 0; kw < c->kernel_width; kw++) {
        int offset = kw * c->dilation_width - c->pad_left;
        int place = first * c->stride_width + offset;
        if (transposed) {
            if ((first - offset) % c->stride_width != 0) continue;
            place = (first - offset) / c->stride_width;
        }
        int begin = larger(ceiling(-place, stride), 0);
        int end = smaller(ceiling(c->width - place, stride), count);
        if (begin < end) r[used++] = (reach){kw, place, begin, end};
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

// A row of a convolution: which input rows its kernel rows read, -1 for none.
typedef struct {
    const float *x, *b;
    float *y;
    ptrdiff_t ld;
    int transposed, columns;
    const int *rows;
    const rt_tail *tail;
} line;

// Outputs [begin, end) of those from `first` on, all of which read the same kernel columns.
static void multiply_segment(const line *l, const rt_conv *c, const reach *r, int used, int first,
                             int begin, int end) {
    ptrdiff_t a_taps[RT_MOST_TAPS], b_taps[RT_MOST_TAPS];
    ptrdiff_t stride = l->transposed ? 1 : c->stride_width, step = l->transposed ? c->stride_width : 1;
    int taps = 0;
    for (int kh = 0; kh < c->kernel_height; kh++)
        for (int i = 0; i < used && l->rows[kh] >= 0; i++) {
            if (begin < r[i].begin || begin >= r[i].end) continue;
            ptrdiff_t pixel = (ptrdiff_t)l->rows[kh] * c->width + r[i].place + begin * stride;
            a_taps[taps] = pixel * c->channels;
            b_taps[taps++] = (ptrdiff_t)(kh * c->kernel_width + r[i].tap) * c->channels * RT_PANEL;
        }
    product g = {c->channels, stride * c->channels, 1, RT_PANEL, step * l->ld, taps, 0,
                 a_taps,      b_taps,               l->tail};
    multiply(end - begin, l->columns, &g, l->x, l->b, l->y + (first + begin * step) * l->ld);
}

void rt_panel_convolution(float *y, ptrdiff_t ld, const float *x, const float *b, const rt_conv *c,
                          int transposed, int columns, ptrdiff_t begin, ptrdiff_t end,
                          const rt_tail *tail) {
    int rows[RT_MOST_TAPS], step = transposed ? c->stride_width : 1;
    reach r[RT_MOST_TAPS];
    for (ptrdiff_t row = begin; row < end; row++, y += c->out_width * ld) {
        const float *image = x + row / c->out_height * c->height * c->width * c->channels;
        for (int kh = 0; kh < c->kernel_height; kh++)
            rows[kh] = input_row(c, transposed, (int)(row % c->out_height), kh);
        line l = {image, b, y, ld, transposed, columns, rows, tail};
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
