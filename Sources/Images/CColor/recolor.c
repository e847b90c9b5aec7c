#include "CColorScience.h"
#include "clones.h"

// Every clone gives the same bytes, and the same as ColorScience in Swift: a multiplication and an
// addition are rounded one after the other.
#pragma clang fp contract(off)

typedef struct {
    // What each level of red, green and blue adds to the luminance.
    const float *luminance;
    const int32_t *level;
    const float *boundary;
    float cells;
} cs_srgb;

// The pixels that are worked on at once: they stay in the first-level cache.
#define BLOCK 128

RT_INLINE float halley(float y, float t) {
    float cube = y * y * y;
    return y + y * ((t - cube) / (cube + cube + t));
}

// From relative XYZ to Lab's f: see LabCurve.forward.
RT_INLINE float forward(float t) {
    float start = 0.19777225f + t * (3.0823514f + t * (-5.3562182f + t * 3.1619295f));
    float root = halley(halley(start, t), t), line = 7.787f * t + 16.0f / 116.0f;
    return t <= 0.008856f ? line : root;
}

// From Lab's f to relative XYZ: see LabCurve.inverse.
RT_INLINE float inverse(float v) {
    float line = (v - 16.0f / 116.0f) * (1.0f / 7.787f), cube = v * v * v;
    return v <= 0.2068966f ? line : cube;
}

// NaN becomes 0.
RT_INLINE float unit(float x) {
    x = x > 0.0f ? x : 0.0f;
    return x > 1.0f ? 1.0f : x;
}

// Levels of linear light in 0…1: see SRGBEncoder.
RT_INLINE void encode(const float *light, int32_t *levels, int count, const cs_srgb *srgb) {
    const int32_t *level = srgb->level;
    const float *boundary = srgb->boundary, cells = srgb->cells;
    for (int i = 0; i < count; i++) {
        int cell = (int)(light[i] * cells);
        levels[i] = level[cell] + (light[i] > boundary[cell] ? 1 : 0);
    }
}

// Lab's f of the lightness, rounded by way of L as if Lab were stored.
RT_INLINE void lightness(const uint8_t *rgb, float *f, int count, const cs_srgb *srgb) {
    const float *red = srgb->luminance, *green = red + 256, *blue = green + 256;
    for (int i = 0; i < count; i++)
        f[i] = red[rgb[3 * i]] + green[rgb[3 * i + 1]] + blue[rgb[3 * i + 2]];
    for (int i = 0; i < count; i++) {
        float l = 116.0f * forward(f[i]) - 16.0f;
        f[i] = (l + 16.0f) * (1.0f / 116.0f);
    }
}

// Gives a block of pixels with Lab's f of their lightness the colors a and b.
RT_INLINE void paint(uint8_t *pixels, const float *f, const float *a, const float *b, int n,
                  const cs_srgb *srgb) {
    float red[BLOCK], green[BLOCK], blue[BLOCK];
    for (int i = 0; i < n; i++) {
        float fz = f[i] - b[i] * (1.0f / 200.0f);
        float x = inverse(a[i] * (1.0f / 500.0f) + f[i]) * 0.95047f;
        float y = inverse(f[i]);
        float z = inverse(fz < 0.0f ? 0.0f : fz) * 1.08883f;
        red[i] = unit(x * 3.24048134f + y * -1.53715152f + z * -0.49853633f);
        green[i] = unit(x * -0.96925495f + y * 1.8759900f + z * 0.041555927f);
        blue[i] = unit(x * 0.055646639f + y * -0.204041338f + z * 1.05731107f);
    }
    int32_t levels[3][BLOCK];
    encode(red, levels[0], n, srgb);
    encode(green, levels[1], n, srgb);
    encode(blue, levels[2], n, srgb);
    for (int i = 0; i < n; i++)
        for (int channel = 0; channel < 3; channel++)
            pixels[3 * i + channel] = (uint8_t)levels[channel][i];
}

RT_CLONES void cs_recolor(uint8_t *rgb, const float *a, const float *b, ptrdiff_t count,
                             const float *luminance, const int32_t *level, const float *boundary,
                             int cells) {
    const cs_srgb srgb = {luminance, level, boundary, (float)cells};
    for (ptrdiff_t start = 0; start < count; start += BLOCK) {
        int n = count - start < BLOCK ? (int)(count - start) : BLOCK;
        float f[BLOCK];
        lightness(rgb + 3 * start, f, n, &srgb);
        paint(rgb + 3 * start, f, a + start, b + start, n, &srgb);
    }
}

RT_CLONES void cs_recolor_linear(uint8_t *rgb, const float *scale_a, const float *offset_a,
                                    const float *scale_b, const float *offset_b, ptrdiff_t count,
                                    const float *luminance, const int32_t *level,
                                    const float *boundary, int cells) {
    const cs_srgb srgb = {luminance, level, boundary, (float)cells};
    for (ptrdiff_t start = 0; start < count; start += BLOCK) {
        int n = count - start < BLOCK ? (int)(count - start) : BLOCK;
        float f[BLOCK], a[BLOCK], b[BLOCK];
        lightness(rgb + 3 * start, f, n, &srgb);
        for (int i = 0; i < n; i++) {
            float l = 116.0f * f[i] - 16.0f;
            a[i] = scale_a[start + i] * l + offset_a[start + i];
            b[i] = scale_b[start + i] * l + offset_b[start + i];
        }
        paint(rgb + 3 * start, f, a, b, n, &srgb);
    }
}
