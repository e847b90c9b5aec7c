// Inner loops of the engine. Activations are channels-last: [N, H, W, C], C innermost.
//
// Nothing here allocates, but for creating the thread pool. Functions with a range compute
// [begin, end) only, so that threads can share the work.
#pragma once

#include <stddef.h>
#include <stdint.h>

// MARK: Threads (pool.c)

typedef struct rt_pool rt_pool;

/// What a thread does at a time: one of the shares that a task is cut into.
typedef struct {
    int thread, threads;
    int share, shares;
    /// Whether the thread has just done the share before.
    int continues;
} rt_part;

typedef void (*rt_task)(void *context, const rt_part *part);

/// A pool of `threads` threads, including the caller's: fewer if not all can be
/// created, NULL without memory.
rt_pool *rt_pool_create(int threads);
void rt_pool_destroy(rt_pool *pool);
/// The processors that this process may use.
int rt_processor_count(void);
int rt_pool_threads(const rt_pool *pool);
/// Runs a task's shares, `pieces` for each thread, and waits for all. Each thread does its own, in
/// order; one that has done them takes those that another one would do last. With one piece, share
/// i is thread i's.
void rt_pool_run(rt_pool *pool, int pieces, rt_task task, void *context);

// MARK: Memory (heap.c)

/// Returns freed memory to the system, which else counts as resident.
void rt_trim_heap(void);

// MARK: Elementwise loops (elementwise.c)

/// A loop over n elements: d[i] = f(a[i], b[i], c[i]). Functions of fewer operands ignore the rest;
/// `p` and `q` are the function's attributes, such as a slope or limits. d may be an operand.
typedef void (*rt_map)(float p, float q, float *d, const float *a, const float *b, const float *c,
                       ptrdiff_t n);

#define RT_MAP(NAME)                                                                          \
    void NAME(float p, float q, float *d, const float *a, const float *b, const float *c,     \
              ptrdiff_t n)

RT_MAP(rt_map_copy);
RT_MAP(rt_map_add);
RT_MAP(rt_map_sub);
RT_MAP(rt_map_mul);
RT_MAP(rt_map_div);
RT_MAP(rt_map_max);
RT_MAP(rt_map_min);
RT_MAP(rt_map_gt);
RT_MAP(rt_map_ge);
RT_MAP(rt_map_eq);
/// a where b is positive, else 0.
RT_MAP(rt_map_where_positive);
/// a where b is above p and below q, else 0.
RT_MAP(rt_map_where_inside);
/// a where b is positive, else a·p.
RT_MAP(rt_map_leaky_gradient);
/// The multiple of b that is nearest to a, from p to q times b; NaN stays NaN.
RT_MAP(rt_map_to_steps);
/// a·b + c.
RT_MAP(rt_map_muladd);
/// max(a·b + c, 0).
RT_MAP(rt_map_muladd_relu);
RT_MAP(rt_map_neg);
RT_MAP(rt_map_exp);
RT_MAP(rt_map_log);
RT_MAP(rt_map_sqrt);
RT_MAP(rt_map_abs);
RT_MAP(rt_map_relu);
/// a where a is positive, else a·p.
RT_MAP(rt_map_leaky);
/// a limited to p…q.
RT_MAP(rt_map_clip);
RT_MAP(rt_map_hardswish);
RT_MAP(rt_map_sigmoid);
RT_MAP(rt_map_tanh);
RT_MAP(rt_map_erf);
/// a/2·(1 + erf(a/√2)).
RT_MAP(rt_map_gelu);
/// a rounded to half precision.
RT_MAP(rt_map_half);
RT_MAP(rt_map_floor);
RT_MAP(rt_map_round);

/// The first half of each pixel's channels times the second: y [*, channels], pixels [begin, end).
void rt_gate(float *y, const float *x, ptrdiff_t channels, ptrdiff_t begin, ptrdiff_t end);
void rt_fill(float *d, float value, ptrdiff_t n);
/// Prefetches n elements.
void rt_prefetch(const float *x, ptrdiff_t n);

// MARK: Views (strided.c)

enum { RT_MAX_RANK = 8 };

/// A view of elements: iteration extents, outermost first, and the step of each in elements.
typedef struct {
    int rank;
    ptrdiff_t extent[RT_MAX_RANK];
    ptrdiff_t step[RT_MAX_RANK];
} rt_view;

/// d[0..n) = the elements of the view from its `begin`-th on, in iteration order.
void rt_gather(float *d, const float *s, const rt_view *view, ptrdiff_t begin, ptrdiff_t n);
/// Writes s[begin..begin+n) to the same elements of the view, in iteration order.
void rt_scatter(float *d, const float *s, const rt_view *view, ptrdiff_t begin, ptrdiff_t n);

/// What is applied to each element of a result as it is stored: (y·scale + bias)·factor with one
/// scale and bias per channel, limited to low…high. `scale` and `bias` may be NULL; NaN stays NaN.
typedef struct {
    const float *scale, *bias;
    float factor, low, high;
} rt_tail;

// MARK: Convolution (convolution.c, depthwise.c)

typedef struct {
    int batch, height, width, channels;           // the convolution's input
    int out_height, out_width, out_channels;      // its output
    int kernel_height, kernel_width;
    int stride_height, stride_width;
    int dilation_height, dilation_width;
    int pad_top, pad_left;
    int groups;
} rt_conv;

/// Rows [begin, end) of the matrix of patches, for input channels [channel, channel + count):
/// row (n, oh, ow), columns (kh, kw, channel), `ld` floats from row to row.
void rt_im2col(float *cols, ptrdiff_t ld, const float *x, const rt_conv *c, int channel, int count,
               ptrdiff_t begin, ptrdiff_t end);
/// Adds up patches into input rows [begin, end) of one image: the transpose of rt_im2col.
/// `cols` holds the image's patches, row (oh, ow), columns (kh, kw, channel), `channels` in all.
void rt_col2im(float *x, const float *cols, const rt_conv *c, ptrdiff_t begin, ptrdiff_t end);
/// [O, KH, KW, I] to [I, KH, KW, O] with the kernel rotated by 180°, for rows [begin, end) of I.
void rt_flip_weights(float *d, const float *w, int outputs, int kernel_height, int kernel_width,
                     int inputs, int begin, int end);

// MARK: 16-bit values (half.c)

/// The formats of operands of products. Values of 16 bits are kept as their bits.
typedef enum { RT_FLOAT32, RT_FLOAT16, RT_BFLOAT16 } rt_format;
typedef uint16_t rt_half;

/// The format of a product's operands, and what the sums of 16-bit ones are multiplied with.
typedef struct {
    rt_format format;
    float unscale;
} rt_halves;

/// How fast this CPU multiplies matrices of a 16-bit format, compared with those of float32.
typedef enum { RT_HALF_IMPOSSIBLE, RT_HALF_SLOWER, RT_HALF_FASTER } rt_half_speed;
rt_half_speed rt_half_products(rt_format format);

/// d[i] = s[i]·scale, rounded; only on CPUs that multiply such values.
void rt_to_halves(rt_half *d, const float *s, ptrdiff_t n, float scale, rt_format format);
/// Rounds rows of RT_PANEL floats, an even number of them, times `scale`, into pairs of rows:
/// d[rows / 2][RT_PANEL][2].
void rt_pair_rows(rt_half *d, const float *s, ptrdiff_t rows, float scale, rt_format format);
/// The reverse, of finite values.
void rt_unpair_rows(float *d, const rt_half *s, ptrdiff_t rows, float scale, rt_format format);

/// c = a·b, or c += a·b with `adds`, as rt_gemm_panel computes it, of 16-bit values. k is even, and
/// b has pairs of rows of a panel. Only on CPUs that multiply such values.
void rt_gemm_halves(ptrdiff_t m, ptrdiff_t k, const rt_half *a, ptrdiff_t row_step,
                    const rt_half *b, float *c, ptrdiff_t ldc, int columns, int adds,
                    rt_halves halves, const rt_tail *tail);

// MARK: Products with laid-out weights (gemm.c, panels.c)

/// The columns of a panel, a matrix [k, RT_PANEL], and of half of it.
enum { RT_PANEL = 32, RT_HALF = 16 };

/// Limits the vectors of products on the calling thread to 16, 8 or 4 floats, so that tests can run
/// the code for smaller CPUs.
void rt_limit_vectors(int floats);
/// The floats of the widest vectors of products on this CPU: 16, 8 or 4.
int rt_vector_floats(void);

/// c = a·b, or c += a·b with `adds`, for m rows, depth k, and `columns` columns: RT_HALF to
/// RT_PANEL, or one of the two with `adds`. More than RT_HALF are in b as rt_pack_panel lays them
/// out.
/// Element (i, p) of a is a[i·row_step + p·k_step]; b and c have `b_step` and `ldc` floats from row
/// to row. `tail` may be NULL; the first column is its first channel.
void rt_gemm_panel(ptrdiff_t m, ptrdiff_t k, const float *a, ptrdiff_t row_step, ptrdiff_t k_step,
                   const float *b, ptrdiff_t b_step, float *c, ptrdiff_t ldc, int columns,
                   int adds, const rt_tail *tail);

/// c = op(a)·op(b), or c += op(a)·op(b) with `adds`, for m rows, n columns and depth k, all
/// row-major (sgemm.c). With `is_padded`, rows of c have room for whole halves of panels, and what
/// is written behind n means nothing. Uses 40 KiB of the stack.
void rt_sgemm(int transposes_a, int transposes_b, ptrdiff_t m, ptrdiff_t n, ptrdiff_t k,
              const float *a, ptrdiff_t lda, const float *b, ptrdiff_t ldb, int adds,
              int is_padded, float *c, ptrdiff_t ldc);

/// The order of weights in memory.
typedef enum {
    RT_OUTPUTS_FIRST,        // a convolution's: [outputs, taps, inputs]
    RT_INPUTS_FIRST,         // a transposed convolution's: [inputs, taps, outputs]
    RT_INPUTS_FIRST_ROTATED, // the same, with the kernel rotated by 180°
} rt_weight_order;

/// Lays out weights for output channels [channel, channel + RT_PANEL) as [taps][inputs][RT_PANEL].
/// Where there are fewer, but more than RT_HALF, the second half of a panel has the last RT_HALF;
/// past fewer than those it has zeros.
void rt_pack_panel(float *d, const float *w, int taps, int inputs, int outputs, int channel,
                   rt_weight_order order);

/// The most kernel elements that rt_panel_convolution takes.
enum { RT_MOST_TAPS = 256 };

/// Output rows (n, oh) in [begin, end) of a convolution without groups, or a transposed one, for
/// the `columns` (RT_HALF to RT_PANEL) output channels whose panel of weights is b. x is the input
/// in either case; y is the first of the outputs, with `ld` floats from pixel to pixel. x and b are
/// of the format `halves`; of 16-bit values, b has pairs of rows, and the input channels are even.
void rt_panel_convolution(float *y, ptrdiff_t ld, const void *x, const void *b, const rt_conv *c,
                          int transposed, int columns, ptrdiff_t begin, ptrdiff_t end,
                          rt_halves halves, const rt_tail *tail);
/// Adds the gradient of output rows (n, oh) in [begin, end) to dw, [outputs, KH, KW, inputs], for
/// the `columns` (RT_HALF or RT_PANEL) input channels from `channel` on.
void rt_panel_weight_gradient(float *dw, const float *x, const float *dy, const rt_conv *c,
                              int channel, int columns, ptrdiff_t begin, ptrdiff_t end);

/// The most output channels that rt_few_outputs takes.
enum { RT_FEW = 4 };

/// Output rows (n, oh) in [begin, end) of a convolution without groups to at most RT_FEW channels;
/// weights are [outputs, KH, KW, inputs].
void rt_few_outputs(float *y, const float *x, const float *w, const rt_conv *c, ptrdiff_t begin,
                    ptrdiff_t end);

// MARK: Winograd convolution (winograd.c)

/// A convolution divided into tiles of `tile` × `tile` outputs, each computed from a square of
/// inputs that has as many *positions*: 2 from 4 or 4 from 6 for a 3×3 kernel of stride 1, 3 from 4
/// for stride 2. A dilation of d makes d² interleaved images, which are tiled one by one. A *group*
/// is the tiles of tile·d whole output rows.
///
/// At stride 2, a kernel of 4×4 is one of 2×2 over the four *phases* of the image: every second
/// pixel down and across, from one of four on. The channels of the phases follow one another.
/// `in_step` is 2 for a convolution, whose input has phases, `out_step` for a transposed one, whose
/// output has them.
typedef struct {
    int height, width, channels;        // the input, in memory
    int out_height, out_width, out_channels;
    int pad_top, pad_left, dilation;    // added to the input
    int out_top, out_left;              // left out of the output
    int kernel;                         // the kernel's side
    int in_step, out_step;
    int tile;
    int groups_per_image, tiles_across; // derived by rt_winograd_derive, as all that follows
    int tiles_per_group;
    int depth;                          // channels of all phases
    int stride;                         // floats from tile to tile of the transformed inputs
} rt_winograd;

void rt_winograd_derive(rt_winograd *g);

/// Transforms the inputs of tiles [begin, end) of the groups from `group` on. v is
/// [positions][tiles][stride], `depth` of each used, with `ld` floats from position to position,
/// and starts at tile `begin`. Its elements are of the format `format`; 16-bit ones are multiplied
/// by `scale`.
void rt_winograd_input(void *v, ptrdiff_t ld, const float *x, const rt_winograd *g,
                       ptrdiff_t group, ptrdiff_t begin, ptrdiff_t end, rt_format format,
                       float scale);
/// Transforms one panel of products, [positions][tiles][RT_PANEL], of tiles [begin, end) counted
/// as above, into output channels [channel, channel + count), counted over all phases.
void rt_winograd_output(float *y, const float *m, ptrdiff_t ld, const rt_winograd *g,
                        ptrdiff_t group, ptrdiff_t begin, ptrdiff_t end, int channel, int count,
                        const rt_tail *tail);
/// Transforms a panel of weights, laid out by rt_pack_panel, of inputs [begin, end) into u:
/// [positions][end - begin][RT_PANEL] with `ld` floats from position to position. `channel` is the
/// panel's first output channel; inputs and outputs are counted over all phases.
void rt_winograd_weights(float *u, ptrdiff_t ld, const float *packed, const rt_winograd *g,
                         int channel, int begin, int end);
/// The same for pairs of rows of 16-bit values, times `scale`; `begin` and `end` are even. Only on
/// CPUs that multiply such values.
void rt_winograd_paired_weights(rt_half *u, ptrdiff_t ld, const rt_half *packed,
                                const rt_winograd *g, int channel, int begin, int end,
                                float scale, rt_format format);
/// Transforms gradients of outputs: one panel [channel, channel + RT_PANEL) of dy for tiles
/// [begin, end), into d, [positions][tiles][RT_PANEL] with `ld` floats from position to position.
void rt_winograd_gradient(float *d, ptrdiff_t ld, const float *dy, const rt_winograd *g,
                          ptrdiff_t group, ptrdiff_t begin, ptrdiff_t end, int channel);
/// Weight gradients of one panel from their products p, [positions][depth][RT_PANEL] with `ld`
/// floats from position to position, into dw: [outputs, kernel, kernel, inputs]. `scratch` holds
/// kernel²·channels·RT_PANEL floats.
void rt_winograd_weight_gradient(float *dw, float *scratch, const float *p, ptrdiff_t ld,
                                 const rt_winograd *g, int channel);

/// Channels that a depthwise convolution sums at once.
enum { RT_SLICE = 16 };

/// Depthwise: a kernel for each channel, weights [C, KH, KW]. Lays out the slices [begin, end) of
/// `width` channels, w_s[slice][KH·KW][width]; the last slice has the last `width` channels, or
/// zeros behind them if there are fewer. With `rotates` the kernel is rotated by 180°.
void rt_depthwise_weights(float *w_s, const float *w, int channels, int taps, int width,
                          int rotates, ptrdiff_t begin, ptrdiff_t end);
/// Output rows (n, oh) in [begin, end) of the slices [first, last) of RT_SLICE output channels.
/// `w_s` has all slices. There are as many outputs as inputs or, if at least RT_SLICE, twice as
/// many: two of each input.
void rt_depthwise(float *y, const float *x, const float *w_s, const rt_conv *c, ptrdiff_t begin,
                  ptrdiff_t end, ptrdiff_t first, ptrdiff_t last, const rt_tail *tail);
/// The gradient for input rows (n, h) in [begin, end). `w_t` is one slice of all channels.
void rt_depthwise_input(float *dx, const float *dy, const float *w_t, const rt_conv *c,
                        ptrdiff_t begin, ptrdiff_t end);
/// Adds the gradient of output rows (n, oh) in [begin, end) to dw_t, [KH·KW, C].
void rt_depthwise_weight(float *dw_t, const float *x, const float *dy, const rt_conv *c,
                         ptrdiff_t begin, ptrdiff_t end);

// MARK: Reductions (reduction.c)

/// Adds rows [begin, end) of x, [rows, columns], to sums[columns].
void rt_column_sums(double *sums, const float *x, ptrdiff_t columns, ptrdiff_t begin,
                    ptrdiff_t end);
/// Adds Σ(x − shift) and Σ(x − shift)² of rows [begin, end) to sums[2·columns].
void rt_column_moments(double *sums, const float *x, const float *shift, ptrdiff_t columns,
                       ptrdiff_t begin, ptrdiff_t end);
/// Adds Σdy and Σdy·(x − mean) of rows [begin, end) to sums[2·columns].
void rt_column_products(double *sums, const float *x, const float *dy, const float *mean,
                        ptrdiff_t columns, ptrdiff_t begin, ptrdiff_t end);
double rt_sum(const float *x, ptrdiff_t n);
float rt_max(const float *x, ptrdiff_t n);
/// The largest |x|, without NaN.
float rt_max_abs(const float *x, ptrdiff_t n);
/// Softmax (or its logarithm) over the middle axis of x [*, count, inner], blocks [begin, end) of
/// the outer axis.
void rt_softmax(float *y, const float *x, int logarithm, ptrdiff_t count, ptrdiff_t inner,
                ptrdiff_t begin, ptrdiff_t end);
/// Softmax of x·factor + addend, which may be NULL, in the place of x: rows of `count` elements
/// that begin `stride` elements apart.
void rt_softmax_rows(float *x, ptrdiff_t stride, ptrdiff_t count, ptrdiff_t rows, float factor,
                     const float *addend);

/// x in [outer, slices, inner]: slices [begin, end) rounded to multiples of max|x| / largest_code.
void rt_fake_quantize(float *y, const float *x, ptrdiff_t outer, ptrdiff_t slices,
                      ptrdiff_t inner, ptrdiff_t begin, ptrdiff_t end, float largest_code);

// MARK: Normalization (normalization.c)

/// Rows [begin, end) of x [*, count]: (x − mean) / √(variance + epsilon), with a tail or NULL.
void rt_normalize_rows(float *y, const float *x, ptrdiff_t count, float epsilon, ptrdiff_t begin,
                       ptrdiff_t end, const rt_tail *tail);

// MARK: Pooling and resampling (pooling.c, resample.c); windows as in rt_conv

void rt_max_pool(float *y, const float *x, const rt_conv *c, ptrdiff_t begin, ptrdiff_t end);
/// For channels [begin, end).
void rt_max_pool_input(float *dx, const float *x, const float *dy, const rt_conv *c, int begin,
                       int end);
void rt_average_pool(float *y, const float *x, const rt_conv *c, int count_padding, int pad_bottom,
                     int pad_right, ptrdiff_t begin, ptrdiff_t end);
void rt_average_pool_input(float *dx, const float *dy, const rt_conv *c, int count_padding,
                           int pad_bottom, int pad_right, int begin, int end);

/// Where interpolation reads along one axis: output o between lower[o] and upper[o], the latter
/// with weight[o]; and the outputs [first[i], last[i]) that read input i. Outputs with the same
/// lower input have the same upper one.
typedef struct {
    const int *lower, *upper;
    const float *weight;
    const int *first, *last;
} rt_samples;

/// Output rows (n, oh) in [begin, end); `line` holds width·channels floats.
void rt_bilinear(float *y, float *line, const float *x, int height, int width, int channels,
                 int out_height, int out_width, const rt_samples *rows, const rt_samples *columns,
                 ptrdiff_t begin, ptrdiff_t end);
/// The transpose: input rows (n, h) in [begin, end); `line` holds out_width·channels floats.
void rt_bilinear_input(float *dx, float *line, const float *dy, int height, int width, int channels,
                       int out_height, int out_width, const rt_samples *rows,
                       const rt_samples *columns, ptrdiff_t begin, ptrdiff_t end);
