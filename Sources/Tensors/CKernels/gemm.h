// Products of matrices, block by block in registers.
#pragma once

#include "CKernels.h"

// What all blocks of a product share. The depth is `taps` runs of `k`, which begin at a[a_taps[t]]
// and b[b_taps[t]]: the kernel elements of a convolution, or one.
typedef struct {
    ptrdiff_t k, row_step, k_step, b_step, ldc;
    int taps, adds;
    const ptrdiff_t *a_taps, *b_taps;
    const rt_tail *tail;
    rt_halves halves;
} rt_product;

/// m rows of a product with `columns` columns, RT_HALF to RT_PANEL of a panel of b. The elements of
/// a and b are of the format that g->halves names.
void rt_multiply(ptrdiff_t m, int columns, const rt_product *g, const void *a, const void *b,
                 float *c);

/// The same for 16-bit values; k is even, and b has pairs of rows.
void rt_multiply_halves(ptrdiff_t m, int columns, const rt_product *g, const void *a,
                        const void *b, float *c);
