// Elementary functions without branches, so that loops over them are vectorized.
// Polynomials: S. Moshier's Cephes library, single precision; errors below 2 ulp.
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "clones.h"

RT_INLINE float rt_from_bits(int32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

RT_INLINE int32_t rt_to_bits(float value) {
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

// Returns e^t / 2^n.
RT_INLINE float rt_exp_parts(float t, float *n) {
    *n = __builtin_rintf(t * 1.44269504088896341f);
    float r = t - *n * 0.693359375f;
    r = r + *n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    return p * r * r + r + 1.0f;
}

RT_INLINE float rt_expf(float x) {
    // Beyond these limits the result is 0 or infinite; between them both powers of two are normal.
    // NaN becomes a limit too: C does not define which integer it is.
    float t = x < 89.0f ? x : 89.0f, n;
    t = t > -104.0f ? t : -104.0f;
    float p = rt_exp_parts(t, &n);
    int32_t i = (int32_t)n;
    int32_t half = i / 2;
    float y = p * rt_from_bits((half + 127) << 23) * rt_from_bits((i - half + 127) << 23);
    return x != x ? x : y;
}

// For x ≤ 0 only, at half the cost; 0 where the result would be subnormal.
RT_INLINE float rt_expf_to_one(float x) {
    // There n is −127, and the power's bits are those of 0.
    float t = x < -88.0f ? -88.0f : x, n;
    float p = rt_exp_parts(t, &n);
    // The lowest bits of the sum are n + 127: unlike a conversion to integers, defined for NaN.
    uint32_t bits = (uint32_t)rt_to_bits(n + (12582912.0f + 127.0f));
    return p * rt_from_bits((int32_t)(bits << 23));
}

RT_INLINE float rt_logf(float x) {
    // Subnormal numbers are scaled into the normal range first.
    int subnormal = x < 1.17549435e-38f;
    float scaled = subnormal ? x * 8388608.0f : x;
    int32_t bits = rt_to_bits(scaled);
    int32_t e = ((bits >> 23) & 0xff) - 126 - (subnormal ? 23 : 0);
    float m = rt_from_bits((bits & 0x007fffff) | 0x3f000000);
    int low = m < 0.707106781186547524f;
    float n = (float)(low ? e - 1 : e);
    m = low ? m + m - 1.0f : m - 1.0f;
    float z = m * m;
    float p = 7.0376836292e-2f;
    p = p * m - 1.1514610310e-1f;
    p = p * m + 1.1676998740e-1f;
    p = p * m - 1.2420140846e-1f;
    p = p * m + 1.4249322787e-1f;
    p = p * m - 1.6668057665e-1f;
    p = p * m + 2.0000714765e-1f;
    p = p * m - 2.4999993993e-1f;
    p = p * m + 3.3333331174e-1f;
    float y = m * z * p - 2.12194440e-4f * n - 0.5f * z;
    y = m + y + 0.693359375f * n;
    y = x == 0.0f ? -INFINITY : y;
    y = x < 0.0f ? NAN : y;
    return (x == INFINITY || x != x) ? x : y;
}

RT_INLINE float rt_sigmoidf(float x) { return 1.0f / (1.0f + rt_expf(-x)); }

RT_INLINE float rt_tanhf(float x) {
    float z = x * x;
    float p = -5.70498872745e-3f;
    p = p * z + 2.06390887954e-2f;
    p = p * z - 5.37397155531e-2f;
    p = p * z + 1.33314422036e-1f;
    p = p * z - 3.33332819422e-1f;
    float small = p * z * x + x;
    float a = __builtin_fabsf(x);
    float large = 1.0f - 2.0f / (rt_expf(2.0f * a) + 1.0f);
    large = x < 0.0f ? -large : large;
    return a < 0.625f ? small : large;
}

/// Relative error below 5e-7: x·P(x²)/Q(x²), fitted to the least largest relative error of
/// [0, 3.92], beyond which the function is ±1 in float32.
RT_INLINE float rt_erff(float x) {
    float c = x < -3.92f ? -3.92f : (x > 3.92f ? 3.92f : x);
    float z = c * c;
    float p = 2.050096520e-6f;
    p = p * z + 2.848820837e-4f;
    p = p * z + 3.765580630e-3f;
    p = p * z + 5.274861370e-2f;
    p = p * z + 1.904055965e-1f;
    p = p * z + 1.128379146f;
    float q = 3.809177671e-5f;
    q = q * z + 1.162526987e-3f;
    q = q * z + 1.496914447e-2f;
    q = q * z + 1.141087570e-1f;
    q = q * z + 5.020753075e-1f;
    q = q * z + 1.0f;
    float y = c * p / q;
    return y < -1.0f ? -1.0f : (y > 1.0f ? 1.0f : y);
}

/// x·Φ(x) = x/2·(1 + erf(x/√2)), off by at most 4e-7 of the larger of 1 and |x|: Φ(x) − 1/2 as
/// x·P(x²)/Q(x²), fitted to the least largest error of [−5.3, 5.3]. Towards the ends the fit is
/// drawn beyond ±1/2, so that Φ is 0 or 1 there and beyond, however the sums are rounded.
RT_INLINE float rt_geluf(float x) {
    float c = x < -5.3f ? -5.3f : (x > 5.3f ? 5.3f : x);
    float z = c * c;
    float p = 6.344993817e-6f;
    p = p * z + 3.474882827e-4f;
    p = p * z + 5.739277040e-3f;
    p = p * z + 5.262174595e-2f;
    p = p * z + 3.989418075e-1f;
    float q = 5.342357456e-7f;
    q = q * z + 1.245456040e-4f;
    q = q * z + 2.898465712e-3f;
    q = q * z + 3.916030476e-2f;
    q = q * z + 2.985623534e-1f;
    q = q * z + 1.0f;
    float y = 0.5f + c * p / q;
    return x * (y < 0.0f ? 0.0f : (y > 1.0f ? 1.0f : y));
}

/// The nearest half-precision value, ties to even; infinity above 65504.
RT_INLINE float rt_halff(float x) {
    int32_t bits = rt_to_bits(x);
    int32_t magnitude = bits & 0x7fffffff;
    // Normal halves keep 10 of 23 fraction bits: add half of the rest, and the bit that breaks ties
    // to even. Only NaN gets beyond 31 bits.
    uint32_t sum = (uint32_t)magnitude + 0x0fff + ((magnitude >> 13) & 1);
    int32_t rounded = (int32_t)(sum & ~0x1fffu);
    float normal = rt_from_bits(rounded);
    normal = rounded >= 0x47800000 ? INFINITY : normal;
    // Below 2^-14 the spacing is fixed at 2^-24: adding 0.5 lets the CPU round there.
    float subnormal = (rt_from_bits(magnitude) + 0.5f) - 0.5f;
    float y = magnitude < 0x38800000 ? subnormal : normal;
    y = rt_from_bits(rt_to_bits(y) | (bits & (int32_t)0x80000000));
    return x != x ? x : y;
}
