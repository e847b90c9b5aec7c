// The product of a matrix and a panel, of blocks that stay in registers.
#pragma once

#include "clones.h"
#include "gemm.h"
#include "tail.h"

// Loops over sums must be unrolled for the sums to stay in registers.
#define EACH _Pragma("clang loop unroll(full)") for
#define EACH_SUM EACH (int i = 0; i < rows; i++) EACH (int j = 0; j < vectors; j++)

// Floats of a panel that are fetched ahead: weights that are read once in a run come from afar.
enum { AHEAD = 16 * RT_PANEL };

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

// A panel's product for one CPU generation: rows in strips of nearly equal height, at most MOST,
// and the panel's columns in pairs of vectors. Of 17 to 31 columns, the second half of the panel is
// the last RT_HALF: some are computed twice.
#define DEFINE_PANEL(NAME, BLOCK, ELEMENT, VECTOR, MOST, CASES, TARGET)                            \
    TARGET RT_LOOPS static void NAME(                                                              \
        ptrdiff_t m, int columns, const rt_product *g, const ELEMENT *first_a,                     \
        const ELEMENT *first_b, float *first_c) {                                                  \
        enum { LANES = sizeof(VECTOR) / sizeof(float) };                                           \
        int whole = columns > RT_HALF ? RT_PANEL : RT_HALF, shift = columns - whole;               \
        ptrdiff_t strips = (m + MOST - 1) / MOST, second = LANES + (LANES == RT_HALF ? shift : 0); \
        for (ptrdiff_t s = 0; s < strips; s++) {                                                   \
            ptrdiff_t begin = m * s / strips, rows = m * (s + 1) / strips - begin;                 \
            for (int column = 0; column < whole; column += 2 * LANES) {                            \
                int vectors = whole - column > LANES ? 2 : 1;                                      \
                int output = column < RT_HALF ? column : column + shift;                           \
                const ELEMENT *a = first_a + begin * g->row_step, *b = first_b + column;           \
                float *c = first_c + begin * g->ldc + output;                                      \
                switch (rows) { CASES(BLOCK) }                                                     \
            }                                                                                      \
        }                                                                                          \
    }
