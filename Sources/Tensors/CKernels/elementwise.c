#include "CKernels.h"
#include "clones.h"
#include "vectormath.h"

// Each function is one loop, compiled for several CPU generations. An operand is d or does not
// overlap it: without that promise, the compiler's check for overlaps would send all loops in place
// to a version without vectors.
#define EACH_ELEMENT \
    _Pragma("clang loop vectorize(assume_safety)") for (ptrdiff_t i = 0; i < n; i++)

#define MAP1(NAME, EXPRESSION)              \
    RT_CLONES RT_MAP(NAME) {                \
        (void)p, (void)q, (void)b, (void)c; \
        EACH_ELEMENT {                      \
            float x = a[i];                 \
            d[i] = (EXPRESSION);            \
        }                                   \
    }

#define MAP2(NAME, EXPRESSION)              \
    RT_CLONES RT_MAP(NAME) {                \
        (void)p, (void)q, (void)c;          \
        EACH_ELEMENT {                      \
            float x = a[i], y = b[i];       \
            d[i] = (EXPRESSION);            \
        }                                   \
    }

#define MAP_MULADD(NAME, EXPRESSION)            \
    RT_CLONES RT_MAP(NAME) {                    \
        (void)p, (void)q;                       \
        EACH_ELEMENT {                          \
            float x = a[i], y = b[i], z = c[i]; \
            float sum = x * y + z;              \
            d[i] = (EXPRESSION);                \
        }                                       \
    }

RT_CLONES RT_MAP(rt_map_to_steps) {
    (void)c;
    EACH_ELEMENT {
        float steps = __builtin_elementwise_roundeven(a[i] / b[i]);
        d[i] = (steps < p ? p : (steps > q ? q : steps)) * b[i];
    }
}

MAP1(rt_map_copy, x)
MAP2(rt_map_add, x + y)
MAP2(rt_map_sub, x - y)
MAP2(rt_map_mul, x * y)
MAP2(rt_map_div, x / y)
// NaN in either operand stays NaN, as in PyTorch.
MAP2(rt_map_max, (x > y || x != x) ? x : y)
MAP2(rt_map_min, (x < y || x != x) ? x : y)
MAP2(rt_map_gt, x > y ? 1.0f : 0.0f)
MAP2(rt_map_ge, x >= y ? 1.0f : 0.0f)
MAP2(rt_map_eq, x == y ? 1.0f : 0.0f)
MAP2(rt_map_where_positive, y > 0.0f ? x : 0.0f)
MAP2(rt_map_where_inside, y > p && y < q ? x : 0.0f)
MAP2(rt_map_leaky_gradient, y > 0.0f ? x : x * p)
MAP_MULADD(rt_map_muladd, sum)
MAP_MULADD(rt_map_muladd_relu, sum < 0.0f ? 0.0f : sum)
MAP1(rt_map_neg, -x)
MAP1(rt_map_exp, rt_expf(x))
MAP1(rt_map_log, rt_logf(x))
MAP1(rt_map_erf, rt_erff(x))
MAP1(rt_map_gelu, rt_geluf(x))
// Unlike sqrtf, sets no errno, which would keep the loop from being vectorized.
MAP1(rt_map_sqrt, __builtin_elementwise_sqrt(x))
MAP1(rt_map_abs, __builtin_fabsf(x))
MAP1(rt_map_relu, x < 0.0f ? 0.0f : x)
MAP1(rt_map_leaky, x > 0.0f ? x : x * p)
MAP1(rt_map_clip, x < p ? p : (x > q ? q : x))
MAP1(rt_map_sigmoid, rt_sigmoidf(x))
MAP1(rt_map_tanh, rt_tanhf(x))
MAP1(rt_map_half, rt_halff(x))
MAP1(rt_map_floor, __builtin_elementwise_floor(x))
MAP1(rt_map_round, __builtin_elementwise_roundeven(x))

RT_INLINE float hardswish(float x) {
    float t = x + 3.0f;
    t = t < 0.0f ? 0.0f : (t > 6.0f ? 6.0f : t);
    return x * t * (1.0f / 6.0f);
}

MAP1(rt_map_hardswish, hardswish(x))

RT_CLONES
void rt_gate(float *restrict y, const float *restrict x, ptrdiff_t channels, ptrdiff_t begin,
             ptrdiff_t end) {
    for (ptrdiff_t pixel = begin; pixel < end; pixel++) {
        const float *a = x + pixel * 2 * channels, *b = a + channels;
        for (ptrdiff_t i = 0; i < channels; i++) y[pixel * channels + i] = a[i] * b[i];
    }
}

RT_CLONES
void rt_fill(float *d, float value, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++) d[i] = value;
}

void rt_prefetch(const float *x, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i += 16) __builtin_prefetch(x + i, 0, 2);
}
