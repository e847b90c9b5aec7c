// Rows shifted and scaled so that their mean is 0 and their variance 1.
#include <math.h>

#include "CKernels.h"
#include "clones.h"

// Sums run in float over short blocks, in LANES parts, and in double across them.
enum { LANES = 16, NEAR = 1024 };
typedef float lanes __attribute__((ext_vector_type(16), aligned(4)));

RT_INLINE float total(const lanes *s) {
    float parts[LANES];
    *(lanes *)parts = *s;
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++) parts[i] += parts[half + i];
    return parts[0];
}

// Σ (x − shift), or Σ (x − shift)², of at most NEAR elements.
RT_INLINE float near_sum(const float *x, ptrdiff_t n, float shift, int squares) {
    lanes a = (lanes)0, b = (lanes)0;
    ptrdiff_t i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        lanes s = *(const lanes *)(x + i) - shift, t = *(const lanes *)(x + i + LANES) - shift;
        a += squares ? s * s : s;
        b += squares ? t * t : t;
    }
    for (; i + LANES <= n; i += LANES) {
        lanes s = *(const lanes *)(x + i) - shift;
        a += squares ? s * s : s;
    }
    a += b;
    float sum = total(&a);
    for (; i < n; i++) sum += squares ? (x[i] - shift) * (x[i] - shift) : x[i] - shift;
    return sum;
}

RT_INLINE double sum(const float *x, ptrdiff_t n, float shift, int squares) {
    if (n <= NEAR) return near_sum(x, n, shift, squares);
    double result = 0;
    for (ptrdiff_t i = 0; i < n; i += NEAR)
        result += near_sum(x + i, n - i < NEAR ? n - i : NEAR, shift, squares);
    return result;
}

// y = (x − mean)·factor, with the tail if there is one.
RT_INLINE void store(float *y, const float *x, ptrdiff_t n, float mean, float factor,
                     const rt_tail *tail) {
    if (!tail) {
        for (ptrdiff_t i = 0; i < n; i++) y[i] = (x[i] - mean) * factor;
        return;
    }
    const float *scale = tail->scale, *bias = tail->bias;
    float more = tail->factor, low = tail->low, high = tail->high;
    for (ptrdiff_t i = 0; i < n; i++) {
        float v = (x[i] - mean) * factor;
        v = v * (scale ? scale[i] * more : more) + (bias ? bias[i] * more : 0.0f);
        v = v < low ? low : v;
        y[i] = v > high ? high : v;
    }
}

RT_CLONES
void rt_normalize_rows(float *y, const float *x, ptrdiff_t count, float epsilon, ptrdiff_t begin,
                       ptrdiff_t end, const rt_tail *tail) {
    for (ptrdiff_t row = begin; row < end; row++) {
        const float *from = x + row * count;
        float mean = (float)(sum(from, count, 0, 0) / (double)count);
        double variance = sum(from, count, mean, 1) / (double)count;
        store(y + row * count, from, count, mean, (float)(1 / sqrt(variance + epsilon)), tail);
    }
}
