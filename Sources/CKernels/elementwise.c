#include "CKernels.h"
#include "clones.h"
#include "vectormath.h"

#define LOOP(expression)                  \
    for (ptrdiff_t i = 0; i < n; i++) {   \
        float x = a[i];                   \
        d[i] = (expression);              \
    }                                     \
    break

#define LOOP3(expression)                         \
    for (ptrdiff_t i = 0; i < n; i++) {           \
        float x = a[i], y = b[i], z = c[i];       \
        float sum = x * y + z;                    \
        d[i] = (expression);                      \
    }                                             \
    break

#define LOOP2(expression)                 \
    for (ptrdiff_t i = 0; i < n; i++) {   \
        float x = a[i], y = b[i];         \
        d[i] = (expression);              \
    }                                     \
    break

RT_CLONES
void rt_elementwise(rt_opcode code, float p, float q, float *d, const float *a, const float *b,
                    const float *c, ptrdiff_t n) {
    switch (code) {
    case RT_COPY: LOOP(x);
    case RT_ADD: LOOP2(x + y);
    case RT_SUB: LOOP2(x - y);
    case RT_MUL: LOOP2(x * y);
    case RT_DIV: LOOP2(x / y);
    case RT_POW: LOOP2(powf(x, y));
    // NaN in either operand stays NaN, as in PyTorch.
    case RT_MAX: LOOP2((x > y || x != x) ? x : y);
    case RT_MIN: LOOP2((x < y || x != x) ? x : y);
    case RT_GT: LOOP2(x > y ? 1.0f : 0.0f);
    case RT_GE: LOOP2(x >= y ? 1.0f : 0.0f);
    case RT_EQ: LOOP2(x == y ? 1.0f : 0.0f);
    case RT_WHERE_POSITIVE: LOOP2(y > 0.0f ? x : 0.0f);
    case RT_MULADD: LOOP3(sum);
    case RT_MULADD_RELU: LOOP3(sum < 0.0f ? 0.0f : sum);
    case RT_NEG: LOOP(-x);
    case RT_EXP: LOOP(rt_expf(x));
    case RT_LOG: LOOP(rt_logf(x));
    // Unlike sqrtf, sets no errno, which would take it out of vectors.
    case RT_SQRT: LOOP(__builtin_elementwise_sqrt(x));
    case RT_ABS: LOOP(__builtin_fabsf(x));
    case RT_RELU: LOOP(x < 0.0f ? 0.0f : x);
    case RT_LEAKY: LOOP(x > 0.0f ? x : x * p);
    case RT_CLIP: LOOP(x < p ? p : (x > q ? q : x));
    case RT_HARDSWISH: {
        for (ptrdiff_t i = 0; i < n; i++) {
            float x = a[i], t = x + 3.0f;
            t = t < 0.0f ? 0.0f : (t > 6.0f ? 6.0f : t);
            d[i] = x * t * (1.0f / 6.0f);
        }
        break;
    }
    case RT_SIGMOID: LOOP(rt_sigmoidf(x));
    case RT_TANH: LOOP(rt_tanhf(x));
    case RT_HALF: LOOP(rt_halff(x));
    case RT_FLOOR: LOOP(__builtin_elementwise_floor(x));
    case RT_ROUND: LOOP(__builtin_elementwise_roundeven(x));
    case RT_SIN: LOOP(__builtin_sinf(x));
    case RT_COS: LOOP(__builtin_cosf(x));
    case RT_ATAN: LOOP(__builtin_atanf(x));
    }
}

RT_CLONES
void rt_fill(float *d, float value, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++) d[i] = value;
}

void rt_prefetch(const float *x, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i += 16) __builtin_prefetch(x + i, 0, 2);
}
