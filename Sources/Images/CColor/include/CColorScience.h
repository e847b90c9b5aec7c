// Colors of video frames, many samples at a time.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// What Y', Cb and Cr mean.
typedef struct {
    /// The weights of red, green and blue in Y'.
    float luma[3];
    /// Linear red, green and blue of X, Y and Z relative to white, row by row.
    float rgb[9];
} cs_color_space;

/// A gray value, as it enters the search for a color.
typedef struct {
    /// Y' in 0…1.
    float luma;
    /// (L + 16) / 116.
    float lightness;
    /// The change of Y' with `lightness`.
    float slope;
} cs_gray;

/// The Cb and Cr, −½…½, of colors that have a given a and b of CIE Lab and a given Y'. Colors
/// outside the gamut lose chroma until they are inside.
///
/// - gray: a table for each value in `sums`
/// - sums: for each sample, the sum of the luma samples that it colors
void cs_chroma(const cs_gray *gray, const uint16_t *sums, const float *a, const float *b, float *cb,
               float *cr, ptrdiff_t count, const cs_color_space *space);

/// Samples of value·scale + offset, rounded, within low…high.
void cs_levels_8(const float *values, uint8_t *levels, ptrdiff_t count, float scale, float offset,
                 float low, float high);
void cs_levels_16(const float *values, uint16_t *levels, ptrdiff_t count, float scale, float offset,
                  float low, float high);

/// Sums of the luma samples that one color sample belongs to: `columns` neighbors, 1 or 2, of
/// `rows` rows, 1 or 2. A row of odd length counts its last sample twice. Samples are clamped to
/// `highest`.
void cs_sums_8(const uint8_t *row, const uint8_t *next, int columns, int rows, uint16_t *sums,
               ptrdiff_t width);
void cs_sums_16(const uint16_t *row, const uint16_t *next, int columns, int rows, uint16_t *sums,
                ptrdiff_t width, uint16_t highest);

/// Adds weight·sample to each sum, for samples clamped to `highest`.
void cs_accumulate_8(const uint8_t *row, float weight, float *sums, ptrdiff_t count);
void cs_accumulate_16(const uint16_t *row, float weight, float *sums, ptrdiff_t count,
                      uint16_t highest);

/// Gives interleaved 8-bit sRGB other colors of CIE Lab and keeps its lightness. Colors outside the
/// gamut are clamped channel by channel.
///
/// - luminance: what each level of red adds to the luminance, then those of green and of blue
/// - level, boundary: for cell 0…`cells` of linear light, the level at the lower edge, and the
///   light above which it is one higher
void cs_recolor(uint8_t *rgb, const float *a, const float *b, ptrdiff_t count,
                const float *luminance, const int32_t *level, const float *boundary, int cells);

/// As `cs_recolor`, with colors that are linear in the lightness L: a = scale_a · L + offset_a, and
/// b likewise, for each pixel.
void cs_recolor_linear(uint8_t *rgb, const float *scale_a, const float *offset_a,
                       const float *scale_b, const float *offset_b, ptrdiff_t count,
                       const float *luminance, const int32_t *level, const float *boundary,
                       int cells);
