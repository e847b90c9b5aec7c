#include "CColorScience.h"
#include "clones.h"

// Enough for one vector of AVX-512, and few enough for the first-level cache.
#define BLOCK 64

RT_INLINE float unit(float x) {
    x = x > 0.0f ? x : 0.0f;
    return x < 1.0f ? x : 1.0f;
}

// The curve of sRGB for linear values in 0…1, within 4e-5: 1/28 of a level of 10 bits.
RT_INLINE float encode(float x) {
    float s = __builtin_elementwise_sqrt(x), t = __builtin_elementwise_sqrt(s);
    float y = -0.06461220f + 1.12266501f * s + 0.19614156f * t + 0.08132175f * x -
              0.33548177f * s * t;
    return x > 0.0031308f ? y : 12.92f * x;
}

// From Lab's f to X, Y or Z relative to white.
RT_INLINE float cube(float v) {
    float linear = (v - 16.0f / 116.0f) * (1.0f / 7.787f);
    return v > 0.2068966f ? v * v * v : linear;
}

// The derivative of `cube`.
RT_INLINE float cube_slope(float v) { return v > 0.2068966f ? 3.0f * v * v : 1.0f / 7.787f; }

// The derivative of `encode` at x, whose value is y; 0 where colors are clamped.
RT_INLINE float encode_slope(float x, float y) {
    float curve = (y + 0.055f) / (2.4f * x);
    float slope = x > 0.0031308f ? curve : 12.92f;
    return x > 0.0f && x < 1.0f ? slope : 0.0f;
}

typedef struct {
    float red, green, blue;
    // Y', and its change with the lightness.
    float luma, slope;
} color;

// The color of a lightness, as Lab's f, with a/500 and b/200.
RT_INLINE color color_of(float f, float fa, float fb, const cs_color_space *space) {
    const float *w = space->luma, *m = space->rgb;
    float fx = f + fa, fz = f - fb > 0.0f ? f - fb : 0.0f;
    float x = cube(fx), y = cube(f), z = cube(fz);
    z = z > 0.0f ? z : 0.0f;
    float dx = cube_slope(fx), dy = cube_slope(f), dz = cube_slope(fz);
    float red = m[0] * x + m[1] * y + m[2] * z, green = m[3] * x + m[4] * y + m[5] * z,
          blue = m[6] * x + m[7] * y + m[8] * z;
    color c;
    c.red = encode(unit(red)), c.green = encode(unit(green)), c.blue = encode(unit(blue));
    c.luma = w[0] * c.red + w[1] * c.green + w[2] * c.blue;
    c.slope = w[0] * encode_slope(red, c.red) * (m[0] * dx + m[1] * dy + m[2] * dz) +
              w[1] * encode_slope(green, c.green) * (m[3] * dx + m[4] * dy + m[5] * dz) +
              w[2] * encode_slope(blue, c.blue) * (m[6] * dx + m[7] * dy + m[8] * dz);
    return c;
}

// One step of Newton's method. At the gamut's edges the slope is unreliable, so it is kept near
// that of gray, and the step small.
RT_INLINE float improved(float f, color c, float luma, float gray_slope) {
    float low = 0.4f * gray_slope, high = 3.0f * gray_slope;
    float slope = c.slope > low ? c.slope : low;
    slope = slope < high ? slope : high;
    float step = (luma - c.luma) / slope;
    step = step > -0.05f ? step : -0.05f;
    return f + (step < 0.05f ? step : 0.05f);
}

// Half a level of 10 bits: Cb and Cr, which change less with the lightness than Y', are within a
// tenth of one.
#define TOLERANCE 0.0005f
// With so many, 999 of 1000 grays, tinted by up to 0.35 a channel, are within 2 levels of 10 bits.
// Colors outside the gamut would never be.
#define STEPS 4

// The part of a difference from gray that stays within 0…1.
RT_INLINE float room(float luma, float difference) {
    float space = difference > 0.0f ? 1.0f - luma : luma;
    float size = difference > 0.0f ? difference : -difference;
    return size > space ? space / size : 1.0f;
}

RT_CLONES void cs_chroma(const cs_gray *gray, const uint16_t *sums, const float *a,
                            const float *b, float *cb, float *cr, ptrdiff_t count,
                            const cs_color_space *space) {
    float red_scale = 0.5f / (1.0f - space->luma[0]), blue_scale = 0.5f / (1.0f - space->luma[2]);
    for (ptrdiff_t start = 0; start < count; start += BLOCK) {
        int n = count - start < BLOCK ? (int)(count - start) : BLOCK;
        float luma[BLOCK], lightness[BLOCK], slope[BLOCK];
        for (int i = 0; i < n; i++) {
            cs_gray g = gray[sums[start + i]];
            luma[i] = g.luma, lightness[i] = g.lightness, slope[i] = g.slope;
        }
        float *red = cr + start, *blue = cb + start, green[BLOCK];
        // A colored sample has another Y' than a gray one of its lightness.
        for (int step = 0;; step++) {
            int missed = 0;
            for (int i = 0; i < n; i++) {
                float fa = a[start + i] * (1.0f / 500.0f), fb = b[start + i] * (1.0f / 200.0f);
                color c = color_of(lightness[i], fa, fb, space);
                float error = luma[i] - c.luma;
                missed |= error > TOLERANCE || error < -TOLERANCE;
                red[i] = c.red - c.luma, green[i] = c.green - c.luma, blue[i] = c.blue - c.luma;
                lightness[i] = improved(lightness[i], c, luma[i], slope[i]);
            }
            if (!missed || step == STEPS) break;
        }
        for (int i = 0; i < n; i++) {
            float y = luma[i];
            float part = room(y, red[i]), other = room(y, green[i]), third = room(y, blue[i]);
            part = other < part ? other : part;
            part = third < part ? third : part;
            blue[i] *= blue_scale * part;
            red[i] *= red_scale * part;
        }
    }
}

#define LEVELS(NAME, TYPE)                                                                       \
    RT_CLONES void NAME(const float *values, TYPE *levels, ptrdiff_t count, float scale,         \
                           float offset, float low, float high) {                                \
        for (ptrdiff_t i = 0; i < count; i++) {                                                  \
            float level = __builtin_rintf(values[i] * scale + offset);                           \
            level = level > low ? level : low;                                                   \
            levels[i] = (TYPE)(level < high ? level : high);                                     \
        }                                                                                        \
    }

LEVELS(cs_levels_8, uint8_t)
LEVELS(cs_levels_16, uint16_t)

#define SUMS(NAME, TYPE, LIMIT)                                                                  \
    RT_INLINE void NAME(const TYPE *row, int columns, int adds, uint16_t *sums, ptrdiff_t width, \
                     uint16_t highest) {                                                         \
        ptrdiff_t pairs = columns == 2 ? width / 2 : width;                                      \
        for (ptrdiff_t i = 0; i < pairs; i++) {                                                  \
            uint16_t sum = columns == 2 ? LIMIT(row[2 * i]) + LIMIT(row[2 * i + 1])              \
                                        : LIMIT(row[i]);                                         \
            sums[i] = adds ? sums[i] + sum : sum;                                                \
        }                                                                                        \
        if (columns == 2 && width % 2) {                                                         \
            uint16_t sum = 2 * LIMIT(row[width - 1]);                                            \
            sums[pairs] = adds ? sums[pairs] + sum : sum;                                        \
        }                                                                                        \
    }

#define ANY(x) (x)
#define CLAMPED(x) ((x) < highest ? (x) : highest)
SUMS(sum_row_8, uint8_t, ANY)
SUMS(sum_row_16, uint16_t, CLAMPED)

RT_CLONES void cs_sums_8(const uint8_t *row, const uint8_t *next, int columns, int rows,
                            uint16_t *sums, ptrdiff_t width) {
    if (columns == 2) {
        sum_row_8(row, 2, 0, sums, width, 0);
        if (rows == 2) sum_row_8(next, 2, 1, sums, width, 0);
    } else {
        sum_row_8(row, 1, 0, sums, width, 0);
        if (rows == 2) sum_row_8(next, 1, 1, sums, width, 0);
    }
}

RT_CLONES void cs_sums_16(const uint16_t *row, const uint16_t *next, int columns, int rows,
                             uint16_t *sums, ptrdiff_t width, uint16_t highest) {
    if (columns == 2) {
        sum_row_16(row, 2, 0, sums, width, highest);
        if (rows == 2) sum_row_16(next, 2, 1, sums, width, highest);
    } else {
        sum_row_16(row, 1, 0, sums, width, highest);
        if (rows == 2) sum_row_16(next, 1, 1, sums, width, highest);
    }
}

RT_CLONES void cs_accumulate_8(const uint8_t *row, float weight, float *sums, ptrdiff_t count) {
    for (ptrdiff_t i = 0; i < count; i++) sums[i] += weight * (float)row[i];
}

RT_CLONES void cs_accumulate_16(const uint16_t *row, float weight, float *sums, ptrdiff_t count,
                                   uint16_t highest) {
    for (ptrdiff_t i = 0; i < count; i++) sums[i] += weight * (float)CLAMPED(row[i]);
}
