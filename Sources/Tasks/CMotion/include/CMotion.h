#pragma once

#include <stddef.h>

// Motion between two pictures, and colors that are carried along it.

/// Samples that a padded plane has beyond each edge.
#define MO_BORDER 16
/// The side of the patches that are searched.
#define MO_PATCH 8
/// The distance of patches.
#define MO_STRIDE 4

/// A padded plane, row by row.
typedef struct {
    /// The first sample within the border.
    const float *samples;
    /// Samples from row to row.
    ptrdiff_t pitch;
    int width, height;
} mo_plane;

/// Copies a plane to the middle of a padded one, whose border repeats the samples at the edges.
/// `padded` has (width + 2·MO_BORDER)·(height + 2·MO_BORDER) samples.
void mo_pad(const float *plane, int width, int height, float *padded);

/// The mean of each 2 × 2 samples; a last odd row or column is left out.
void mo_halve(const float *plane, int width, int height, float *half);

/// How well patches were found.
typedef struct {
    /// The sum of the patches' variances, and that of what the motion leaves of them.
    double variance, residual;
} mo_match;

/// Refines the motion from `now` back to `before`, planes of one size with sides of at least
/// MO_PATCH.
///
/// `dx` and `dy` are the initial motion of each sample and become the refined one: the sample at
/// (x, y) was at (x + dx, y + dy). `reliability`, 0…1, says how alike the two places look.
/// `sums` has room for five planes.
mo_match mo_refine(
    const mo_plane *now, const mo_plane *before, float *dx, float *dy, float *reliability,
    float *sums, int iterations);

/// The motion at twice the resolution: `width` and `height` are those of the result.
void mo_double(
    const float *motion, int half_width, int half_height, float *doubled, int width, int height);

/// A color with the weight of what it is the mean of, and how far an anchor holds it.
typedef struct {
    float a, b, weight, hold;
} mo_color;

/// Carries colors along a motion and averages them with new ones, weighted.
///
/// The carried weight is at most `limit` and what an anchor adds to it, and is multiplied by the
/// reliability. `confidence` is the weight of the new colors, 1 everywhere if NULL. All planes have
/// one size.
void mo_blend(
    const mo_color *before, const float *dx, const float *dy, const float *reliability,
    const float *a, const float *b, const float *confidence, float limit, mo_color *colors,
    int width, int height);

/// Draws colors towards those of an anchor, by `strength` times the reliability of the motion that
/// leads to it; they hold the colors of the frames that follow as well.
void mo_anchor(
    mo_color *colors, const float *a, const float *b, const float *dx, const float *dy,
    const float *reliability, float strength, int width, int height);
