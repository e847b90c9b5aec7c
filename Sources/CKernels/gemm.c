#include "gemm.h"

#include "clones.h"
#include "tail.h"

// Vectors of 16, 8 and 4 floats, at any address.
typedef float wide __attribute__((ext_vector_type(16), aligned(4)));
typedef float middle __attribute__((ext_vector_type(8), aligned(4)));
typedef float narrow __attribute__((ext_vector_type(4), aligned(4)));

// Loops over sums must be unrolled for the sums to stay in registers.
#define EACH _Pragma("clang loop unroll(full)") for
#define EACH_SUM EACH (int i = 0; i < rows; i++) EACH (int j = 0; j < vectors; j++)

// Floats of a panel that are fetched ahead: weights that are read once in a run come from afar.
enum { AHEAD = 16 * RT_PANEL };

// One block, `rows` by one or two vectors, stays in registers over the whole depth. `rows` and
// `vectors` are constants wherever this is inlined; the second vector of results begins `second`
// floats after the first. Every third row has a pointer: an address can
// hold two more steps, and the compiler, which would otherwise step from row to row, must not see
// how these pointers are related.
#define DEFINE_BLOCK(NAME, VECTOR, MOST)                                                           \
    DEFINE_TAIL(NAME##_tail, VECTOR)                                                               \
    RT_INLINE void NAME(int rows, int vectors, const rt_product *g, const float *a,                \
                        const float *b, float *c, int column, ptrdiff_t second) {                  \
        enum { LANES = sizeof(VECTOR) / sizeof(float), THIRD = (MOST + 2) / 3 };                   \
        VECTOR sum[MOST][2];                                                                       \
        EACH_SUM sum[i][j] = (VECTOR)0;                                                            \
        if (g->adds) EACH_SUM sum[i][j] = *(const VECTOR *)(c + i * g->ldc + j * second);          \
        ptrdiff_t row_step = g->row_step, k_step = g->k_step, b_step = g->b_step;                  \
        for (int t = 0; t < g->taps; t++) {                                                        \
            const float *w = b + g->b_taps[t], *x[THIRD];                                          \
            EACH (int i = 0; i < rows; i += 3) {                                                   \
                x[i / 3] = a + g->a_taps[t] + i * row_step;                                        \
                __asm__("" : "+r"(x[i / 3]));                                                      \
            }                                                                                      \
            for (ptrdiff_t p = g->k; p > 0; p--, w += b_step) {                                    \
                __builtin_prefetch(w + AHEAD);                                                     \
                if (vectors == 2) __builtin_prefetch(w + AHEAD + LANES);                           \
                VECTOR left = *(const VECTOR *)w;                                                  \
                VECTOR right = vectors == 2 ? *(const VECTOR *)(w + LANES) : left;                 \
                EACH (int i = 0; i < rows; i++) {                                                  \
                    /* x − 0 is x; x + 0 is not for −0, and costs an addition. */  \
                    VECTOR value = x[i / 3][i % 3 * row_step] - (VECTOR)0;                         \
                    sum[i][0] = value * left + sum[i][0];                                          \
                    if (vectors == 2) sum[i][1] = value * right + sum[i][1];                       \
                }                                                                                  \
                EACH (int i = 0; i < rows; i += 3) x[i / 3] += k_step;                             \
            }                                                                                      \
        }                                                                                          \
        if (g->tail)                                                                               \
            EACH (int j = 0; j < vectors; j++) {                                                   \
                NAME##_tail_vectors tail = NAME##_tail_at(g->tail, column + j * second);           \
                EACH (int i = 0; i < rows; i++) NAME##_tail(&sum[i][j], &tail);                    \
            }                                                                                      \
        EACH_SUM *(VECTOR *)(c + i * g->ldc + j * second) = sum[i][j];                             \
    }

#define CASE(BLOCK, ROWS)                                                                          \
    case ROWS:                                                                                     \
        if (vectors == 2) BLOCK(ROWS, 2, g, a, b, c, output, second);                              \
        else BLOCK(ROWS, 1, g, a, b, c, output, second);                                           \
        break;
#define CASES_4(BLOCK) CASE(BLOCK, 1) CASE(BLOCK, 2) CASE(BLOCK, 3) CASE(BLOCK, 4)
#define CASES_6(BLOCK) CASES_4(BLOCK) CASE(BLOCK, 5) CASE(BLOCK, 6)
#define CASES_12(BLOCK)                                                                            \
    CASES_6(BLOCK) CASE(BLOCK, 7) CASE(BLOCK, 8) CASE(BLOCK, 9) CASE(BLOCK, 10) CASE(BLOCK, 11)    \
    CASE(BLOCK, 12)

// A panel's product for one CPU generation: rows in strips of nearly equal height, and the panel's
// columns in pairs of vectors. Of 17 to 31 columns, the second half of the panel is the last
// RT_HALF: some are computed twice.
#define DEFINE_PANEL(NAME, BLOCK, VECTOR, MOST, CASES, TARGET)                                     \
    DEFINE_BLOCK(BLOCK, VECTOR, MOST)                                                              \
    TARGET RT_LOOPS static void NAME(                                                              \
        ptrdiff_t m, int columns, const rt_product *g, const float *first_a,                       \
        const float *first_b, float *first_c) {                                                    \
        enum { LANES = sizeof(VECTOR) / sizeof(float) };                                           \
        int whole = columns > RT_HALF ? RT_PANEL : RT_HALF, shift = columns - whole;               \
        ptrdiff_t strips = (m + MOST - 1) / MOST, second = LANES + (LANES == RT_HALF ? shift : 0); \
        for (ptrdiff_t s = 0; s < strips; s++) {                                                   \
            ptrdiff_t begin = m * s / strips, rows = m * (s + 1) / strips - begin;                 \
            for (int column = 0; column < whole; column += 2 * LANES) {                            \
                int vectors = whole - column > LANES ? 2 : 1;                                      \
                int output = column < RT_HALF ? column : column + shift;                           \
                const float *a = first_a + begin * g->row_step, *b = first_b + column;             \
                float *c = first_c + begin * g->ldc + output;                                      \
                switch (rows) { CASES(BLOCK) }                                                     \
            }                                                                                      \
        }                                                                                          \
    }

#if defined(__x86_64__)
DEFINE_PANEL(panel_512, block_512, wide, 12, CASES_12, __attribute__((target("avx512f"))))
DEFINE_PANEL(panel_256, block_256, middle, 6, CASES_6, __attribute__((target("avx2,fma"))))
#endif
DEFINE_PANEL(panel_128, block_128, narrow, 4, CASES_4, )

static _Thread_local int most_floats = 16;

void rt_limit_vectors(int floats) { most_floats = floats; }

int rt_vector_floats(void) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return 16;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return 8;
#endif
    return 4;
}

void rt_multiply(ptrdiff_t m, int columns, const rt_product *g, const float *a, const float *b,
                 float *c) {
#if defined(__x86_64__)
    int floats = rt_vector_floats();
    if (floats > most_floats) floats = most_floats;
    if (floats >= 16) return panel_512(m, columns, g, a, b, c);
    if (floats >= 8) return panel_256(m, columns, g, a, b, c);
#endif
    panel_128(m, columns, g, a, b, c);
}

void rt_gemm_panel(ptrdiff_t m, ptrdiff_t k, const float *a, ptrdiff_t row_step, ptrdiff_t k_step,
                   const float *b, ptrdiff_t b_step, float *c, ptrdiff_t ldc, int columns,
                   int adds, const rt_tail *tail) {
    static const ptrdiff_t start = 0;
    rt_product g = {k, row_step, k_step, b_step, ldc, 1, adds, &start, &start, tail};
    rt_multiply(m, columns, &g, a, b, c);
}
