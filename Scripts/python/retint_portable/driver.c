// Calls kernels as a file says, so that builds for different processors compute the same.
//
//     driver MEMORY CALLS
//
// MEMORY is read as a whole, and written back after the calls. A line of CALLS is the 16-bit format
// whose products the call needs (0 for none), the function's name, and its arguments as numbers: a
// pointer is a place in the memory, or -1 for NULL. The exit status is 1 if there is no such
// function.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "CColorScience.h"
#include "CImageCodecs.h"
#include "CKernels.h"
#include "CMotion.h"
#include "CRanks.h"

static char *memory;
static double arguments[32];

static ptrdiff_t I(int n) { return (ptrdiff_t)arguments[n]; }
static float F(int n) { return (float)arguments[n]; }
static void *at(double place) { return place < 0 ? NULL : memory + (size_t)place; }
static void *P(int n) { return at(arguments[n]); }

// A tail is five doubles: the places of scale and bias, the factor and the limits.
static const rt_tail *TAIL(int n) {
    static rt_tail tail;
    const double *t = P(n);
    if (!t) return NULL;
    tail = (rt_tail){at(t[0]), at(t[1]), (float)t[2], (float)t[3], (float)t[4]};
    return &tail;
}

static const rt_samples *fill(rt_samples *s, const double *places) {
    *s = (rt_samples){at(places[0]), at(places[1]), at(places[2]), at(places[3]), at(places[4])};
    return s;
}

static rt_samples rows, columns;
#define ROWS(n) fill(&rows, P(n))
#define COLUMNS(n) fill(&columns, P(n))
#define HALVES(n) ((rt_halves){(rt_format)I(n), F(n + 1)})
#define PLANE(n) (&(mo_plane){P(n), I(n + 1), (int)I(n + 2), (int)I(n + 3)})
#define WINDOWS(n) ((ResampleWindows){(int)I(n), (int)I(n + 1), P(n + 2), P(n + 3)})

#define CALL(NAME, ...) \
    if (strcmp(name, #NAME) == 0) { NAME(__VA_ARGS__); return 1; }
// The first argument is where the result goes.
#define VALUE(TYPE, NAME, ...) \
    if (strcmp(name, #NAME) == 0) { *(TYPE *)P(0) = NAME(__VA_ARGS__); return 1; }
#define MAP(NAME) CALL(NAME, F(0), F(1), P(2), P(3), P(4), P(5), I(6))

static int call_map(const char *name) {
    MAP(rt_map_copy) MAP(rt_map_add) MAP(rt_map_sub) MAP(rt_map_mul) MAP(rt_map_div)
    MAP(rt_map_max) MAP(rt_map_min) MAP(rt_map_gt) MAP(rt_map_ge) MAP(rt_map_eq)
    MAP(rt_map_where_positive) MAP(rt_map_where_inside) MAP(rt_map_leaky_gradient)
    MAP(rt_map_muladd) MAP(rt_map_muladd_relu) MAP(rt_map_neg) MAP(rt_map_exp) MAP(rt_map_log)
    MAP(rt_map_sqrt) MAP(rt_map_abs) MAP(rt_map_relu) MAP(rt_map_leaky) MAP(rt_map_clip)
    MAP(rt_map_hardswish) MAP(rt_map_sigmoid) MAP(rt_map_tanh) MAP(rt_map_erf) MAP(rt_map_gelu)
    MAP(rt_map_half) MAP(rt_map_floor) MAP(rt_map_round) MAP(rt_map_to_steps)
    CALL(rt_gate, P(0), P(1), I(2), I(3), I(4))
    CALL(rt_fill, P(0), F(1), I(2))
    CALL(rt_prefetch, P(0), I(1))
    CALL(rt_gather, P(0), P(1), P(2), I(3), I(4))
    CALL(rt_scatter, P(0), P(1), P(2), I(3), I(4))
    return 0;
}

static int call_product(const char *name) {
    CALL(rt_limit_vectors, I(0))
    VALUE(int32_t, rt_vector_floats)
    CALL(rt_gemm_panel, I(0), I(1), P(2), I(3), I(4), P(5), I(6), P(7), I(8), I(9), I(10), TAIL(11))
    CALL(rt_sgemm, I(0), I(1), I(2), I(3), I(4), P(5), I(6), P(7), I(8), I(9), I(10), P(11), I(12))
    CALL(rt_pack_panel, P(0), P(1), I(2), I(3), I(4), I(5), (rt_weight_order)I(6))
    VALUE(int32_t, rt_half_products, (rt_format)I(1))
    CALL(rt_to_halves, P(0), P(1), I(2), F(3), (rt_format)I(4))
    CALL(rt_pair_rows, P(0), P(1), I(2), F(3), (rt_format)I(4))
    CALL(rt_unpair_rows, P(0), P(1), I(2), F(3), (rt_format)I(4))
    CALL(rt_gemm_halves, I(0), I(1), P(2), I(3), P(4), P(5), I(6), I(7), I(8), HALVES(9), TAIL(11))
    return 0;
}

static int call_convolution(const char *name) {
    CALL(rt_im2col, P(0), I(1), P(2), P(3), I(4), I(5), I(6), I(7))
    CALL(rt_col2im, P(0), P(1), P(2), I(3), I(4))
    CALL(rt_flip_weights, P(0), P(1), I(2), I(3), I(4), I(5), I(6), I(7))
    CALL(rt_panel_convolution, P(0), I(1), P(2), P(3), P(4), I(5), I(6), I(7), I(8), HALVES(9),
         TAIL(11))
    CALL(rt_panel_weight_gradient, P(0), P(1), P(2), P(3), I(4), I(5), I(6), I(7))
    CALL(rt_few_outputs, P(0), P(1), P(2), P(3), I(4), I(5))
    CALL(rt_depthwise_weights, P(0), P(1), I(2), I(3), I(4), I(5), I(6), I(7))
    CALL(rt_depthwise, P(0), P(1), P(2), P(3), I(4), I(5), I(6), I(7), TAIL(8))
    CALL(rt_depthwise_input, P(0), P(1), P(2), P(3), I(4), I(5))
    CALL(rt_depthwise_weight, P(0), P(1), P(2), P(3), I(4), I(5))
    return 0;
}

static int call_winograd(const char *name) {
    CALL(rt_winograd_derive, P(0))
    CALL(rt_winograd_input, P(0), I(1), P(2), P(3), I(4), I(5), I(6), (rt_format)I(7), F(8))
    CALL(rt_winograd_output, P(0), P(1), I(2), P(3), I(4), I(5), I(6), I(7), I(8), TAIL(9))
    CALL(rt_winograd_weights, P(0), I(1), P(2), P(3), I(4), I(5), I(6))
    CALL(rt_winograd_paired_weights, P(0), I(1), P(2), P(3), I(4), I(5), I(6), F(7),
         (rt_format)I(8))
    CALL(rt_winograd_gradient, P(0), I(1), P(2), P(3), I(4), I(5), I(6), I(7))
    CALL(rt_winograd_weight_gradient, P(0), P(1), P(2), I(3), P(4), I(5))
    return 0;
}

static int call_reduction(const char *name) {
    CALL(rt_column_sums, P(0), P(1), I(2), I(3), I(4))
    CALL(rt_column_moments, P(0), P(1), P(2), I(3), I(4), I(5))
    CALL(rt_column_products, P(0), P(1), P(2), P(3), I(4), I(5), I(6))
    VALUE(double, rt_sum, P(1), I(2))
    VALUE(float, rt_max, P(1), I(2))
    VALUE(float, rt_max_abs, P(1), I(2))
    CALL(rt_softmax, P(0), P(1), I(2), I(3), I(4), I(5), I(6))
    CALL(rt_softmax_rows, P(0), I(1), I(2), I(3), F(4), P(5))
    CALL(rt_fake_quantize, P(0), P(1), I(2), I(3), I(4), I(5), I(6), F(7))
    CALL(rt_normalize_rows, P(0), P(1), I(2), F(3), I(4), I(5), TAIL(6))
    CALL(rt_max_pool, P(0), P(1), P(2), I(3), I(4))
    CALL(rt_max_pool_input, P(0), P(1), P(2), P(3), I(4), I(5))
    CALL(rt_average_pool, P(0), P(1), P(2), I(3), I(4), I(5), I(6), I(7))
    CALL(rt_average_pool_input, P(0), P(1), P(2), I(3), I(4), I(5), I(6), I(7))
    CALL(rt_bilinear, P(0), P(1), P(2), I(3), I(4), I(5), I(6), I(7), ROWS(8), COLUMNS(9), I(10),
         I(11))
    CALL(rt_bilinear_input, P(0), P(1), P(2), I(3), I(4), I(5), I(6), I(7), ROWS(8), COLUMNS(9),
         I(10), I(11))
    return 0;
}

static rt_pool *pool;

// How often each share was done and, in the second half, by which thread.
static void count_share(void *context, const rt_part *part) {
    int *counts = context;
    counts[part->share]++;
    counts[part->shares + part->share] = part->thread;
}

static int call_pool(const char *name) {
    if (strcmp(name, "rt_pool_create") == 0) return pool = rt_pool_create((int)I(0)), 1;
    VALUE(int32_t, rt_pool_threads, pool)
    CALL(rt_pool_run, pool, I(0), count_share, P(1))
    CALL(rt_pool_destroy, pool)
    VALUE(int32_t, rt_processor_count)
    CALL(rt_trim_heap)
    return 0;
}

static int call_images(const char *name) {
    CALL(cs_chroma, P(0), P(1), P(2), P(3), P(4), P(5), I(6), P(7))
    CALL(cs_levels_8, P(0), P(1), I(2), F(3), F(4), F(5), F(6))
    CALL(cs_levels_16, P(0), P(1), I(2), F(3), F(4), F(5), F(6))
    CALL(cs_sums_8, P(0), P(1), I(2), I(3), P(4), I(5))
    CALL(cs_sums_16, P(0), P(1), I(2), I(3), P(4), I(5), I(6))
    CALL(cs_accumulate_8, P(0), F(1), P(2), I(3))
    CALL(cs_accumulate_16, P(0), F(1), P(2), I(3), I(4))
    CALL(cs_recolor, P(0), P(1), P(2), I(3), P(4), P(5), P(6), I(7))
    CALL(cs_recolor_linear, P(0), P(1), P(2), P(3), P(4), I(5), P(6), P(7), P(8), I(9))
    CALL(mo_pad, P(0), I(1), I(2), P(3))
    CALL(mo_halve, P(0), I(1), I(2), P(3))
    CALL(mo_double, P(0), I(1), I(2), P(3), I(4), I(5))
    VALUE(mo_match, mo_refine, PLANE(1), PLANE(5), P(9), P(10), P(11), P(12), I(13))
    CALL(mo_blend, P(0), P(1), P(2), P(3), P(4), P(5), P(6), F(7), P(8), I(9), I(10))
    CALL(mo_anchor, P(0), P(1), P(2), P(3), P(4), P(5), F(6), I(7), I(8))
    CALL(resample_row_rgb8, P(0), P(1), WINDOWS(2), P(6))
    CALL(resample_row_float, P(0), P(1), WINDOWS(2), P(6))
    CALL(resample_column_8, P(0), I(1), I(2), P(3), P(4), I(5))
    CALL(resample_column_float, P(0), I(1), I(2), P(3), P(4), I(5))
    CALL(rt_ranks_add, P(0), P(1), I(2))
    CALL(rt_ranks_round, P(0), P(1), I(2))
    CALL(rt_ranks_to_halves, P(0), P(1), I(2))
    CALL(rt_ranks_from_halves, P(0), P(1), I(2))
    return 0;
}

static int call(const char *name) {
    return call_map(name) || call_product(name) || call_convolution(name) || call_winograd(name)
        || call_reduction(name) || call_pool(name) || call_images(name);
}

static int run(char *line) {
    char *save, *name, *word;
    rt_format needed = (rt_format)atoi(strtok_r(line, " \n", &save));
    name = strtok_r(NULL, " \n", &save);
    for (int n = 0; (word = strtok_r(NULL, " \n", &save));) arguments[n++] = strtod(word, NULL);
    if (needed != RT_FLOAT32 && rt_half_products(needed) == RT_HALF_IMPOSSIBLE) return 1;
    return call(name);
}

static FILE *opened(const char *path, const char *mode) {
    FILE *file = fopen(path, mode);
    if (!file) perror(path), exit(2);
    return file;
}

int main(int count, char **words) {
    if (count != 3) return 64;
    FILE *file = opened(words[1], "r+b");
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    memory = aligned_alloc(64, (size + 63) / 64 * 64);
    if (!memory || fread(memory, 1, size, file) != size) return 2;
    char line[1024];
    FILE *calls = opened(words[2], "r");
    while (fgets(line, sizeof line, calls))
        if (!run(line)) return fprintf(stderr, "driver: there is no %s\n", line), 1;
    rewind(file);
    return fwrite(memory, 1, size, file) != size || fclose(file) ? 2 : 0;
}
