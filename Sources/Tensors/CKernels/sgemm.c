// Products of any row-major matrices, panel by panel.
#include <string.h>

#include "gemm.h"

// The depth and the rows that are multiplied at a time: a panel of B stays in the first-level
// cache, a block of A in the second.
enum { DEPTH = 256, ROWS = 768, EDGE_ROWS = 48, BLOCK = 16 };

typedef struct {
    ptrdiff_t m, n, k;
    const float *a, *b;
    ptrdiff_t a_row, a_column, b_row, b_column;
    float *c;
    ptrdiff_t ldc;
    int adds, is_padded;
} product;

// Rows of B: `count` columns of each, zeros behind them.
static void copy_rows(float *panel, const float *b, ptrdiff_t ld, ptrdiff_t depth, int count) {
    if (count < RT_PANEL) memset(panel, 0, sizeof *panel * depth * RT_PANEL);
    for (ptrdiff_t i = 0; i < depth; i++, panel += RT_PANEL, b += ld)
        memcpy(panel, b, sizeof *b * count);
}

// Columns of B that are rows in memory, in blocks that stay in the first-level cache.
static void copy_columns(float *panel, const float *b, ptrdiff_t ld, ptrdiff_t depth, int count) {
    if (count < RT_PANEL) memset(panel, 0, sizeof *panel * depth * RT_PANEL);
    for (ptrdiff_t first = 0; first < depth; first += BLOCK) {
        ptrdiff_t block = depth - first < BLOCK ? depth - first : BLOCK;
        for (int column = 0; column < count; column++)
            for (ptrdiff_t i = 0; i < block; i++)
                panel[(first + i) * RT_PANEL + column] = b[column * ld + first + i];
    }
}

// Columns that do not fill half a panel or a whole one: through a buffer, since the products write
// whole halves.
static void multiply_edge(const product *p, const float *a, const float *panel, float *c,
                          ptrdiff_t rows, ptrdiff_t depth, int count, int adds) {
    float tile[EDGE_ROWS * RT_PANEL];
    int columns = count <= RT_HALF ? RT_HALF : RT_PANEL;
    for (ptrdiff_t first = 0; first < rows; first += EDGE_ROWS) {
        ptrdiff_t some = rows - first < EDGE_ROWS ? rows - first : EDGE_ROWS;
        rt_gemm_panel(some, depth, a + first * p->a_row, p->a_row, p->a_column, panel, RT_PANEL,
                      tile, RT_PANEL, columns, 0, NULL);
        for (ptrdiff_t row = 0; row < some; row++) {
            float *target = c + (first + row) * p->ldc;
            const float *source = tile + row * RT_PANEL;
            for (int i = 0; i < count; i++)
                target[i] = adds ? target[i] + source[i] : source[i];
        }
    }
}

// Rows [begin, end) and a part of the depth.
static void multiply_block(const product *p, ptrdiff_t begin, ptrdiff_t end, ptrdiff_t first,
                           ptrdiff_t depth) {
    float panel[DEPTH * RT_PANEL];
    int adds = p->adds || first > 0;
    const float *a = p->a + begin * p->a_row + first * p->a_column;
    for (ptrdiff_t column = 0; column < p->n; column += RT_PANEL) {
        int count = p->n - column < RT_PANEL ? (int)(p->n - column) : RT_PANEL;
        const float *b = p->b + first * p->b_row + column * p->b_column;
        float *c = p->c + begin * p->ldc + column;
        if (p->b_column == 1) copy_rows(panel, b, p->b_row, depth, count);
        else copy_columns(panel, b, p->b_column, depth, count);
        if (p->is_padded) count = (count + RT_HALF - 1) / RT_HALF * RT_HALF;
        if (count % RT_HALF != 0)
            multiply_edge(p, a, panel, c, end - begin, depth, count, adds);
        else
            rt_gemm_panel(end - begin, depth, a, p->a_row, p->a_column, panel, RT_PANEL, c, p->ldc,
                          count, adds, NULL);
    }
}

void rt_sgemm(int transposes_a, int transposes_b, ptrdiff_t m, ptrdiff_t n, ptrdiff_t k,
              const float *a, ptrdiff_t lda, const float *b, ptrdiff_t ldb, int adds,
              int is_padded, float *c, ptrdiff_t ldc) {
    product p = {m, n, k, a, b, 0, 0, 0, 0, c, ldc, adds, is_padded};
    p.a_row = transposes_a ? 1 : lda, p.a_column = transposes_a ? lda : 1;
    p.b_row = transposes_b ? 1 : ldb, p.b_column = transposes_b ? ldb : 1;
    for (ptrdiff_t row = 0; row < m; row += ROWS) {
        ptrdiff_t end = m - row < ROWS ? m : row + ROWS;
        ptrdiff_t first = 0;
        do {
            ptrdiff_t depth = k - first < DEPTH ? k - first : DEPTH;
            multiply_block(&p, row, end, first, depth);
            first += depth;
        } while (first < k);
    }
}
