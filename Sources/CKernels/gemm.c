#include "CKernels.h"
#include "clones.h"

// Vectors of 16, 8 and 4 floats that may lie anywhere.
typedef float wide __attribute__((vector_size(64), aligned(4)));
typedef float middle __attribute__((vector_size(32), aligned(4)));
typedef float narrow __attribute__((vector_size(16), aligned(4)));

// One block of the product, `rows` by two vectors, stays in registers over the whole depth. `rows`
// is a constant wherever this is inlined.
#define DEFINE_BLOCK(NAME, VECTOR, MOST)                                                           \
    RT_INLINE void NAME(int rows, ptrdiff_t k, const float *a, ptrdiff_t row_step,                 \
                        ptrdiff_t k_step, const float *b, float *c, ptrdiff_t ldc, int adds) {     \
        enum { LANES = sizeof(VECTOR) / sizeof(float) };                                           \
        VECTOR sum[MOST][2];                                                                       \
        for (int i = 0; i < rows; i++)                                                             \
            for (int j = 0; j < 2; j++)                                                            \
                sum[i][j] = adds ? *(const VECTOR *)(c + i * ldc + j * LANES) : (VECTOR){0};       \
        for (ptrdiff_t p = 0; p < k; p++, a += k_step, b += RT_PANEL) {                            \
            VECTOR left = *(const VECTOR *)b, right = *(const VECTOR *)(b + LANES);                \
            for (int i = 0; i < rows; i++) {                                                       \
                /* Less zero, not plus: x + 0 is not x for −0, and would cost an addition. */      \
                VECTOR x = a[i * row_step] - (VECTOR){0};                                          \
                sum[i][0] = __builtin_elementwise_fma(x, left, sum[i][0]);                         \
                sum[i][1] = __builtin_elementwise_fma(x, right, sum[i][1]);                        \
            }                                                                                      \
        }                                                                                          \
        for (int i = 0; i < rows; i++)                                                             \
            for (int j = 0; j < 2; j++) *(VECTOR *)(c + i * ldc + j * LANES) = sum[i][j];          \
    }

#define CASE(BLOCK, ROWS)                                                                          \
    case ROWS: BLOCK(ROWS, k, a, row_step, k_step, b, c, ldc, adds); break;
#define CASES_4(BLOCK) CASE(BLOCK, 1) CASE(BLOCK, 2) CASE(BLOCK, 3) CASE(BLOCK, 4)
#define CASES_6(BLOCK) CASES_4(BLOCK) CASE(BLOCK, 5) CASE(BLOCK, 6)
#define CASES_12(BLOCK)                                                                            \
    CASES_6(BLOCK) CASE(BLOCK, 7) CASE(BLOCK, 8) CASE(BLOCK, 9) CASE(BLOCK, 10) CASE(BLOCK, 11)    \
    CASE(BLOCK, 12)

// A panel's product for one CPU generation: rows in strips of nearly one height, and the panel's
// columns in as many pairs of vectors as it takes.
#define DEFINE_PANEL(NAME, BLOCK, VECTOR, MOST, CASES, TARGET)                                     \
    DEFINE_BLOCK(BLOCK, VECTOR, MOST)                                                              \
    TARGET static void NAME(ptrdiff_t m, int columns, ptrdiff_t k, const float *a,                 \
                            ptrdiff_t row_step, ptrdiff_t k_step, const float *b, float *c,        \
                            ptrdiff_t ldc, int adds) {                                             \
        enum { PAIR = 2 * sizeof(VECTOR) / sizeof(float) };                                        \
        const float *first_a = a, *first_b = b;                                                    \
        float *first_c = c;                                                                        \
        ptrdiff_t strips = (m + MOST - 1) / MOST;                                                  \
        for (ptrdiff_t s = 0; s < strips; s++) {                                                   \
            ptrdiff_t begin = m * s / strips, rows = m * (s + 1) / strips - begin;                 \
            for (int column = 0; column < columns; column += PAIR) {                               \
                a = first_a + begin * row_step;                                                    \
                b = first_b + column;                                                              \
                c = first_c + begin * ldc + column;                                                \
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
                   const float *b, float *c, ptrdiff_t ldc, int columns, int adds) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        return panel_512(m, RT_PANEL, k, a, row_step, k_step, b, c, ldc, adds);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return panel_256(m, columns, k, a, row_step, k_step, b, c, ldc, adds);
#endif
    panel_128(m, columns, k, a, row_step, k_step, b, c, ldc, adds);
}
