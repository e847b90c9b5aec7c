#include "panel.h"

// Vectors of 16, 8 and 4 floats, at any address.
typedef float wide __attribute__((ext_vector_type(16), aligned(4)));
typedef float middle __attribute__((ext_vector_type(8), aligned(4)));
typedef float narrow __attribute__((ext_vector_type(4), aligned(4)));

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

#if defined(__x86_64__)
DEFINE_BLOCK(block_512, wide, 12)
DEFINE_PANEL(panel_512, block_512, float, wide, 12, CASES_12, __attribute__((target("avx512f"))))
DEFINE_BLOCK(block_256, middle, 6)
DEFINE_PANEL(panel_256, block_256, float, middle, 6, CASES_6, __attribute__((target("avx2,fma"))))
#endif
DEFINE_BLOCK(block_128, narrow, 4)
DEFINE_PANEL(panel_128, block_128, float, narrow, 4, CASES_4, )

static _Thread_local int most_floats = 16;

void rt_limit_vectors(int floats) { most_floats = floats; }

int rt_vector_floats(void) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return 16;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return 8;
#endif
    return 4;
}

RT_INLINE void multiply_floats(ptrdiff_t m, int columns, const rt_product *g, const float *a,
                               const float *b, float *c) {
#if defined(__x86_64__)
    int floats = rt_vector_floats();
    if (floats > most_floats) floats = most_floats;
    if (floats >= 16) return panel_512(m, columns, g, a, b, c);
    if (floats >= 8) return panel_256(m, columns, g, a, b, c);
#endif
    panel_128(m, columns, g, a, b, c);
}

void rt_multiply(ptrdiff_t m, int columns, const rt_product *g, const void *a, const void *b,
                 float *c) {
    if (g->halves.format == RT_FLOAT32) multiply_floats(m, columns, g, a, b, c);
    else rt_multiply_halves(m, columns, g, a, b, c);
}

void rt_gemm_panel(ptrdiff_t m, ptrdiff_t k, const float *a, ptrdiff_t row_step, ptrdiff_t k_step,
                   const float *b, ptrdiff_t b_step, float *c, ptrdiff_t ldc, int columns,
                   int adds, const rt_tail *tail) {
    static const ptrdiff_t start = 0;
    rt_product g = {k, row_step, k_step, b_step, ldc, 1, adds, &start, &start, tail, {RT_FLOAT32}};
    multiply_floats(m, columns, &g, a, b, c);
}
