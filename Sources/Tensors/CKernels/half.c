// 16-bit floating-point values: conversion, and products of them.
#include "half.h"

#include "panel.h"
#include "vectormath.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

// MARK: The CPU

rt_half_speed rt_half_products(rt_format format) {
#if defined(__x86_64__)
    if (!__builtin_cpu_supports("x86-64-v4")) return RT_HALF_IMPOSSIBLE;
    if (format == RT_FLOAT16)
        return __builtin_cpu_supports("avx512fp16") ? RT_HALF_FASTER : RT_HALF_IMPOSSIBLE;
    // Intel's dot products of bfloat16 run at half the speed of products in float32 (measured on
    // Emerald Rapids), AMD's at twice that.
    if (format == RT_BFLOAT16 && __builtin_cpu_supports("avx512bf16"))
        return __builtin_cpu_is("amd") ? RT_HALF_FASTER : RT_HALF_SLOWER;
#endif
    return RT_HALF_IMPOSSIBLE;
}

// MARK: Conversion

// One value, for CPUs of any age.
RT_INLINE rt_half half_bits(float x, rt_format format) {
    uint32_t bits = (uint32_t)rt_to_bits(x);
    if (format == RT_BFLOAT16) {
        if (x != x) return (rt_half)(bits >> 16 | 0x40);
        return (rt_half)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    }
    float rounded = rt_halff(x);
    uint32_t magnitude = (uint32_t)rt_to_bits(rounded) & 0x7fffffff, sign = bits >> 16 & 0x8000;
    if (x != x) return (rt_half)(sign | 0x7e00);
    if (magnitude >= 0x47800000) return (rt_half)(sign | 0x7c00);
    // Below 2^-14, values are multiples of 2^-24.
    if (magnitude < 0x38800000)
        return (rt_half)(sign | (uint32_t)(rt_from_bits((int32_t)magnitude) * 0x1p24f));
    return (rt_half)(sign | ((magnitude >> 13) - (112 << 10)));
}

// One value that is finite.
RT_INLINE float half_value(rt_half x, rt_format format) {
    if (format == RT_BFLOAT16) return rt_from_bits((int32_t)((uint32_t)x << 16));
    // The exponent's bias is 112 less.
    float magnitude = rt_from_bits((x & 0x7fff) << 13) * 0x1p112f;
    return x & 0x8000 ? -magnitude : magnitude;
}

RT_INLINE void pair_rows(rt_half *d, const float *s, ptrdiff_t rows, float scale,
                         rt_format format) {
    for (ptrdiff_t row = 0; row < rows; row += 2, d += 2 * RT_PANEL, s += 2 * RT_PANEL)
        for (int i = 0; i < RT_PANEL; i++) {
            d[2 * i] = half_bits(s[i] * scale, format);
            d[2 * i + 1] = half_bits(s[RT_PANEL + i] * scale, format);
        }
}

RT_CLONES
void rt_pair_rows(rt_half *d, const float *s, ptrdiff_t rows, float scale, rt_format format) {
    if (format == RT_FLOAT16) pair_rows(d, s, rows, scale, RT_FLOAT16);
    else pair_rows(d, s, rows, scale, RT_BFLOAT16);
}

RT_INLINE void unpair_rows(float *d, const rt_half *s, ptrdiff_t rows, float scale,
                           rt_format format) {
    for (ptrdiff_t row = 0; row < rows; row += 2, d += 2 * RT_PANEL, s += 2 * RT_PANEL)
        for (int i = 0; i < RT_PANEL; i++) {
            d[i] = half_value(s[2 * i], format) * scale;
            d[RT_PANEL + i] = half_value(s[2 * i + 1], format) * scale;
        }
}

RT_CLONES
void rt_unpair_rows(float *d, const rt_half *s, ptrdiff_t rows, float scale, rt_format format) {
    if (format == RT_FLOAT16) unpair_rows(d, s, rows, scale, RT_FLOAT16);
    else unpair_rows(d, s, rows, scale, RT_BFLOAT16);
}

RT_INLINE void to_halves(rt_half *d, const float *s, ptrdiff_t n, float scale, rt_format format) {
    ptrdiff_t i = 0;
    for (; i + 16 <= n; i += 16) {
        half_lanes x = *(const half_lanes *)(s + i) * scale;
        store_as(d, i, &x, format);
    }
    for (; i < n; i++) d[i] = half_bits(s[i] * scale, format);
}

RT_HALF_TARGET
void rt_to_halves(rt_half *d, const float *s, ptrdiff_t n, float scale, rt_format format) {
    if (format == RT_FLOAT16) to_halves(d, s, n, scale, RT_FLOAT16);
    else to_halves(d, s, n, scale, RT_BFLOAT16);
}

// MARK: Products

#if defined(__x86_64__)

typedef float wide __attribute__((ext_vector_type(16), aligned(4)));
// Two values of a row, of which products with two rows of a panel are summed.
typedef int pair __attribute__((aligned(2), may_alias));

// A block as in gemm.c, of two steps in depth at a time. Sums of `STEPS` of those are added to
// float32 totals.
#define DEFINE_HALF_BLOCK(NAME, SUM, ZERO, ADD_PRODUCTS, WIDEN, STEPS, TARGET)                     \
    DEFINE_TAIL(NAME##_tail, wide)                                                                 \
    TARGET RT_INLINE void NAME(int rows, int vectors, const rt_product *g, const rt_half *a,       \
                               const rt_half *b, float *c, int column, ptrdiff_t second) {         \
        enum { MOST = 12, LANES = 32 };                                                            \
        SUM sum[MOST][2];                                                                          \
        wide total[MOST][2];                                                                       \
        EACH_SUM sum[i][j] = ZERO;                                                                 \
        EACH_SUM total[i][j] = g->adds ? *(const wide *)(c + i * g->ldc + j * second) : (wide)0;   \
        ptrdiff_t row_step = g->row_step, left = STEPS;                                            \
        for (int t = 0; t < g->taps; t++) {                                                        \
            const rt_half *w = b + g->b_taps[t], *x[4];                                            \
            EACH (int i = 0; i < rows; i += 3) {                                                   \
                x[i / 3] = a + g->a_taps[t] + i * row_step;                                        \
                __asm__("" : "+r"(x[i / 3]));                                                      \
            }                                                                                      \
            for (ptrdiff_t p = g->k / 2; p > 0;) {                                                 \
                ptrdiff_t steps = p < left ? p : left;                                             \
                p -= steps, left -= steps;                                                         \
                for (; steps > 0; steps--, w += 2 * RT_PANEL) {                                    \
                    __builtin_prefetch(w + 2 * AHEAD);                                             \
                    if (vectors == 2) __builtin_prefetch(w + 2 * AHEAD + LANES);                   \
                    __m512i right = _mm512_loadu_si512(w);                                         \
                    __m512i far = vectors == 2 ? _mm512_loadu_si512(w + LANES) : right;            \
                    EACH (int i = 0; i < rows; i++) {                                              \
                        const rt_half *both = x[i / 3] + i % 3 * row_step;                         \
                        __m512i value = _mm512_set1_epi32(*(const pair *)both);                    \
                        sum[i][0] = ADD_PRODUCTS(sum[i][0], value, right);                         \
                        if (vectors == 2) sum[i][1] = ADD_PRODUCTS(sum[i][1], value, far);         \
                    }                                                                              \
                    EACH (int i = 0; i < rows; i += 3) x[i / 3] += 2;                              \
                }                                                                                  \
                if (left > 0) continue;                                                            \
                EACH_SUM total[i][j] += WIDEN(sum[i][j]) * g->halves.unscale;                      \
                EACH_SUM sum[i][j] = ZERO;                                                         \
                left = STEPS;                                                                      \
            }                                                                                      \
        }                                                                                          \
        if (left < STEPS) EACH_SUM total[i][j] += WIDEN(sum[i][j]) * g->halves.unscale;            \
        if (g->tail)                                                                               \
            EACH (int j = 0; j < vectors; j++) {                                                   \
                NAME##_tail_vectors tail = NAME##_tail_at(g->tail, column + j * second);           \
                EACH (int i = 0; i < rows; i++) NAME##_tail(&total[i][j], &tail);                  \
            }                                                                                      \
        EACH_SUM *(wide *)(c + i * g->ldc + j * second) = total[i][j];                             \
    }

#define FLOAT16_TARGET __attribute__((target("arch=x86-64-v4,avx512fp16")))
#define BFLOAT16_TARGET __attribute__((target("arch=x86-64-v4,avx512bf16")))

typedef short words __attribute__((ext_vector_type(32)));
static const words EVEN_AND_ODD = {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30,
                                   1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31};

// The sums of columns: those of their even steps and of their odd ones lie side by side.
FLOAT16_TARGET RT_INLINE wide widened(__m512h sum) {
    __m512i apart = _mm512_permutexvar_epi16((__m512i)EVEN_AND_ODD, _mm512_castph_si512(sum));
    __m256i even = _mm512_castsi512_si256(apart), odd = _mm512_extracti64x4_epi64(apart, 1);
    return (wide)(_mm512_cvtph_ps(even) + _mm512_cvtph_ps(odd));
}

#define ADD_FLOAT16(SUM, X, W) _mm512_fmadd_ph(_mm512_castsi512_ph(X), _mm512_castsi512_ph(W), SUM)
#define ADD_BFLOAT16(SUM, X, W) _mm512_dpbf16_ps(SUM, (__m512bh)(X), (__m512bh)(W))
#define AS_WIDE(SUM) ((wide)(SUM))

// Sums in float16 of 32, 96 and 128 products of random values have errors of 0.7e-3, 1.1e-3 and
// 1.2e-3 of the result; shorter ones cost more time. Those of bfloat16 are in float32.
DEFINE_HALF_BLOCK(float16_block, __m512h, _mm512_setzero_ph(), ADD_FLOAT16, widened, 64,
                  FLOAT16_TARGET)
DEFINE_PANEL(float16_panel, float16_block, rt_half, wide, 12, CASES_12, FLOAT16_TARGET)

DEFINE_HALF_BLOCK(bfloat16_block, __m512, _mm512_setzero_ps(), ADD_BFLOAT16, AS_WIDE,
                  PTRDIFF_MAX, BFLOAT16_TARGET)
DEFINE_PANEL(bfloat16_panel, bfloat16_block, rt_half, wide, 12, CASES_12, BFLOAT16_TARGET)

#endif

void rt_multiply_halves(ptrdiff_t m, int columns, const rt_product *g, const void *a,
                        const void *b, float *c) {
#if defined(__x86_64__)
    if (g->halves.format == RT_FLOAT16) float16_panel(m, columns, g, a, b, c);
    else bfloat16_panel(m, columns, g, a, b, c);
#endif
}

void rt_gemm_halves(ptrdiff_t m, ptrdiff_t k, const rt_half *a, ptrdiff_t row_step,
                    const rt_half *b, float *c, ptrdiff_t ldc, int columns, int adds,
                    rt_halves halves, const rt_tail *tail) {
    static const ptrdiff_t start = 0;
    rt_product g = {k, row_step, 1, RT_PANEL, ldc, 1, adds, &start, &start, tail, halves};
    rt_multiply_halves(m, columns, &g, a, b, c);
}
