#include <string.h>

#include "CMotion.h"
#include "clones.h"

// Dense motion by inverse search: patches of the newer picture are looked up in the older one by
// Gauss-Newton steps whose matrix is computed once a patch, from coarse to fine, and averaged where
// they overlap (Kroeger et al. 2016, "Fast Optical Flow using Dense Inverse Search"). The means of
// the patches are left out, so that exposure may change.

// Vectors are passed between inlined functions alone.
#pragma clang diagnostic ignored "-Wpsabi"

typedef float v8 __attribute__((vector_size(32)));
typedef float v4 __attribute__((vector_size(16)));

RT_INLINE v8 load8(const float *p) {
    v8 v;
    memcpy(&v, p, sizeof v);
    return v;
}

RT_INLINE void store8(float *p, v8 v) { memcpy(p, &v, sizeof v); }

RT_INLINE float sum8(v8 v) {
    return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

RT_INLINE float clamp(float x, float low, float high) {
    x = x > low ? x : low;
    return x < high ? x : high;
}

void mo_pad(const float *plane, int width, int height, float *padded) {
    ptrdiff_t pitch = width + 2 * MO_BORDER;
    for (int row = -MO_BORDER; row < height + MO_BORDER; row++) {
        int inner = row < 0 ? 0 : row < height ? row : height - 1;
        const float *source = plane + (ptrdiff_t)inner * width;
        float *target = padded + (row + MO_BORDER) * pitch;
        for (int i = 0; i < MO_BORDER; i++) {
            target[i] = source[0];
            target[MO_BORDER + width + i] = source[width - 1];
        }
        memcpy(target + MO_BORDER, source, (size_t)width * sizeof *source);
    }
}

RT_CLONES void mo_halve(const float *plane, int width, int height, float *half) {
    for (int row = 0; row < height / 2; row++) {
        const float *upper = plane + (ptrdiff_t)2 * row * width, *lower = upper + width;
        float *target = half + (ptrdiff_t)row * (width / 2);
        for (int i = 0; i < width / 2; i++) {
            target[i] = 0.25f * (upper[2 * i] + upper[2 * i + 1] + lower[2 * i] + lower[2 * i + 1]);
        }
    }
}

RT_CLONES void mo_double(const float *motion, int half_width, int half_height, float *doubled,
                         int width, int height) {
    for (int row = 0; row < height; row++) {
        float y = clamp(0.5f * (float)row - 0.25f, 0, (float)(half_height - 1));
        int top = (int)y, bottom = top + 1 < half_height ? top + 1 : top;
        float lower = y - (float)top;
        const float *first = motion + (ptrdiff_t)top * half_width;
        const float *second = motion + (ptrdiff_t)bottom * half_width;
        for (int column = 0; column < width; column++) {
            float x = clamp(0.5f * (float)column - 0.25f, 0, (float)(half_width - 1));
            int left = (int)x, right = left + 1 < half_width ? left + 1 : left;
            float part = x - (float)left;
            float upper_value = first[left] + part * (first[right] - first[left]);
            float lower_value = second[left] + part * (second[right] - second[left]);
            doubled[(ptrdiff_t)row * width + column] =
                2 * (upper_value + lower * (lower_value - upper_value));
        }
    }
}

// MARK: Patches

typedef struct {
    // The samples, and their gradients less the mean gradient.
    v8 samples[MO_PATCH], gx[MO_PATCH], gy[MO_PATCH];
    // The inverse of the matrix of a Gauss-Newton step.
    float xx, xy, yy;
    float mean, variance;
    int x, y;
} patch;

typedef struct {
    float x, y;
} vector;

#define AREA ((float)(MO_PATCH * MO_PATCH))

// What noise adds to the squared gradients of a patch: it keeps patches without texture in place.
#define GRADIENT_NOISE (AREA * 0.02f)

RT_INLINE void prepare(patch *p, const mo_plane *now, int x, int y) {
    v8 sum = {0}, squares = {0}, sx = {0}, sy = {0};
    const float *row = now->samples + y * now->pitch + x;
    for (int i = 0; i < MO_PATCH; i++, row += now->pitch) {
        p->samples[i] = load8(row);
        p->gx[i] = 0.5f * (load8(row + 1) - load8(row - 1));
        p->gy[i] = 0.5f * (load8(row + now->pitch) - load8(row - now->pitch));
        sum += p->samples[i], squares += p->samples[i] * p->samples[i];
        sx += p->gx[i], sy += p->gy[i];
    }
    float mean = sum8(sum) / AREA, mx = sum8(sx) / AREA, my = sum8(sy) / AREA;
    v8 xx = {0}, xy = {0}, yy = {0};
    for (int i = 0; i < MO_PATCH; i++) {
        p->gx[i] -= mx, p->gy[i] -= my;
        xx += p->gx[i] * p->gx[i], xy += p->gx[i] * p->gy[i], yy += p->gy[i] * p->gy[i];
    }
    float a = sum8(xx) + GRADIENT_NOISE, b = sum8(xy), c = sum8(yy) + GRADIENT_NOISE;
    float scale = 1.0f / (a * c - b * b);
    p->xx = c * scale, p->xy = -b * scale, p->yy = a * scale;
    float variance = sum8(squares) / AREA - mean * mean;
    p->mean = mean, p->variance = variance > 0 ? variance : 0;
    p->x = x, p->y = y;
}

// The older picture at a patch's place moved by m, less the patch.
RT_INLINE void difference(const patch *p, const mo_plane *before, vector m, v8 d[MO_PATCH]) {
    float x = clamp((float)p->x + m.x, 1 - MO_BORDER,
                    (float)(before->width + MO_BORDER - MO_PATCH - 2));
    float y = clamp((float)p->y + m.y, 1 - MO_BORDER,
                    (float)(before->height + MO_BORDER - MO_PATCH - 2));
    float left = __builtin_floorf(x), top = __builtin_floorf(y);
    float fx = x - left, fy = y - top;
    const float *row = before->samples + (ptrdiff_t)top * before->pitch + (ptrdiff_t)left;
    v8 upper = load8(row) + fx * (load8(row + 1) - load8(row));
    for (int i = 0; i < MO_PATCH; i++) {
        row += before->pitch;
        v8 lower = load8(row) + fx * (load8(row + 1) - load8(row));
        d[i] = upper + fy * (lower - upper) - p->samples[i];
        upper = lower;
    }
}

// The variance of a difference, and its mean.
RT_INLINE float variance_of(const v8 d[MO_PATCH], float *mean) {
    v8 sum = {0}, squares = {0};
    for (int i = 0; i < MO_PATCH; i++) sum += d[i], squares += d[i] * d[i];
    *mean = sum8(sum) / AREA;
    float variance = sum8(squares) / AREA - *mean * *mean;
    return variance > 0 ? variance : 0;
}

RT_INLINE float residual_at(const patch *p, const mo_plane *before, vector m) {
    v8 d[MO_PATCH];
    float mean;
    difference(p, before, m, d);
    return variance_of(d, &mean);
}

// Gauss-Newton steps from m. A patch that runs away, or fits worse than where it started, stays.
RT_INLINE vector search(const patch *p, const mo_plane *before, vector m, float start,
                        int iterations) {
    vector best = m, current = m;
    float least = start;
    for (int i = 0; i < iterations; i++) {
        v8 d[MO_PATCH], bx = {0}, by = {0};
        difference(p, before, current, d);
        float mean, residual = variance_of(d, &mean);
        if (residual < least) least = residual, best = current;
        for (int r = 0; r < MO_PATCH; r++) bx += p->gx[r] * d[r], by += p->gy[r] * d[r];
        float x = sum8(bx), y = sum8(by);
        vector step = {p->xx * x + p->xy * y, p->xy * x + p->yy * y};
        step.x = clamp(step.x, -2, 2), step.y = clamp(step.y, -2, 2);
        current.x -= step.x, current.y -= step.y;
        float way = (current.x - m.x) * (current.x - m.x) + (current.y - m.y) * (current.y - m.y);
        if (way > MO_PATCH * MO_PATCH) break;
        if (step.x * step.x + step.y * step.y < 0.0004f) break;
    }
    return residual_at(p, before, current) < least ? current : best;
}

// Differences of one unit of L are noise; a patch may also miss a part of its own contrast.
#define NOISE 1.0f
#define CONTRAST_SHARE 0.15f
// The difference, in L, at which a sample counts for a quarter.
#define TOLERANCE 5.0f
// The same for the difference of means, less what the exposure explains: flat patches fit anywhere.
#define MEAN_TOLERANCE 10.0f

RT_INLINE float quarter_at(float difference, float tolerance) {
    float part = difference / tolerance, falling = 1.0f / (1.0f + part * part);
    return falling * falling;
}

// L + 16 is proportional to the cube root of light, so that another exposure multiplies it.
#define LINEAR_OFFSET 16.0f

// The factor of `before` against `now`; larger ones are another scene's.
RT_INLINE float exposure_of(const mo_plane *now, const mo_plane *before) {
    double sums[2] = {0, 0};
    for (int row = 0; row < now->height; row++) {
        for (int i = 0; i < now->width; i++) {
            sums[0] += before->samples[row * before->pitch + i];
            sums[1] += now->samples[row * now->pitch + i];
        }
    }
    double offset = LINEAR_OFFSET * (double)now->width * now->height;
    return clamp((float)((sums[0] + offset) / (sums[1] + offset)), 0.8f, 1.25f);
}

// Adds a patch's motion to the samples that it covers, most to those that it explains.
RT_INLINE float spread(const patch *p, const mo_plane *before, vector m, float exposure,
                       float *sums, ptrdiff_t area, int width) {
    v8 d[MO_PATCH];
    float mean;
    difference(p, before, m, d);
    float residual = variance_of(d, &mean);
    float part = residual / (NOISE + CONTRAST_SHARE * p->variance);
    float unexplained = mean - (exposure - 1) * (p->mean + LINEAR_OFFSET);
    float alike = quarter_at(unexplained, MEAN_TOLERANCE) / (1.0f + part * part);
    for (int i = 0; i < MO_PATCH; i++) {
        float *target = sums + (ptrdiff_t)(p->y + i) * width + p->x;
        v8 off = d[i] - mean, square = off * off;
        v8 weight = 1.0f / (0.5f + square);
        v8 trust = 1.0f / (1.0f + square * (1.0f / (TOLERANCE * TOLERANCE)));
        store8(target, load8(target) + weight);
        store8(target + area, load8(target + area) + weight * m.x);
        store8(target + 2 * area, load8(target + 2 * area) + weight * m.y);
        store8(target + 3 * area, load8(target + 3 * area) + weight * trust * trust * alike);
    }
    return residual;
}

// The places of patches: every MO_STRIDE samples, and one at the end.
RT_INLINE int place(int index, int side) {
    int at = index * MO_STRIDE;
    return at < side - MO_PATCH ? at : side - MO_PATCH;
}

RT_INLINE int places(int side) { return (side - MO_PATCH + MO_STRIDE - 1) / MO_STRIDE + 1; }

RT_CLONES mo_match mo_refine(const mo_plane *now, const mo_plane *before, float *dx, float *dy,
                             float *reliability, float *sums, int iterations) {
    int width = now->width, height = now->height, columns = places(width);
    ptrdiff_t area = (ptrdiff_t)width * height;
    memset(sums, 0, (size_t)area * 4 * sizeof *sums);
    mo_match match = {0, 0};
    float exposure = exposure_of(now, before);
    vector *above = (vector *)(sums + 4 * area);
    for (int i = 0; i < places(height); i++) {
        vector left = {0, 0};
        for (int j = 0; j < columns; j++) {
            patch p;
            prepare(&p, now, place(j, width), place(i, height));
            ptrdiff_t center = (ptrdiff_t)(p.y + MO_PATCH / 2) * width + p.x + MO_PATCH / 2;
            vector start = {dx[center], dy[center]};
            float least = residual_at(&p, before, start);
            // Neighbors often move alike: their motion is tried as well.
            vector others[2] = {j > 0 ? left : start, i > 0 ? above[j] : start};
            for (int k = 0; k < 2; k++) {
                float residual = residual_at(&p, before, others[k]);
                if (residual < least) least = residual, start = others[k];
            }
            vector found = search(&p, before, start, least, iterations);
            match.residual += spread(&p, before, found, exposure, sums, area, width);
            match.variance += p.variance;
            left = above[j] = found;
        }
    }
    for (ptrdiff_t i = 0; i < area; i++) {
        float scale = 1.0f / sums[i];
        dx[i] = sums[area + i] * scale, dy[i] = sums[2 * area + i] * scale;
        reliability[i] = sums[3 * area + i] * scale;
    }
    return match;
}

// MARK: Colors

RT_INLINE v4 color_at(const mo_color *colors, ptrdiff_t index) {
    v4 v;
    memcpy(&v, colors + index, sizeof v);
    return v;
}

// A place between four pixels.
typedef struct {
    ptrdiff_t index, right, below;
    float x, y;
    int inside;
} corner;

RT_INLINE corner corner_at(float x, float y, int width, int height) {
    corner c;
    // What comes from outside was not seen; NaN does not pass either.
    c.inside = x >= 0 && y >= 0 && x <= (float)(width - 1) && y <= (float)(height - 1);
    x = c.inside ? x : 0, y = c.inside ? y : 0;
    int left = (int)x, top = (int)y;
    left = left < width - 1 ? left : width > 1 ? width - 2 : 0;
    top = top < height - 1 ? top : height > 1 ? height - 2 : 0;
    c.right = width > 1, c.below = height > 1 ? width : 0;
    c.x = x - (float)left, c.y = y - (float)top;
    c.index = (ptrdiff_t)top * width + left;
    return c;
}

RT_INLINE v4 color_between(const mo_color *colors, corner c) {
    v4 upper = color_at(colors, c.index), lower = color_at(colors, c.index + c.below);
    upper += c.x * (color_at(colors, c.index + c.right) - upper);
    lower += c.x * (color_at(colors, c.index + c.below + c.right) - lower);
    return upper + c.y * (lower - upper);
}

RT_INLINE float value_between(const float *plane, corner c) {
    const float *p = plane + c.index;
    float upper = p[0] + c.x * (p[c.right] - p[0]);
    float lower = p[c.below] + c.x * (p[c.below + c.right] - p[c.below]);
    return upper + c.y * (lower - upper);
}

RT_CLONES void mo_blend(const mo_color *before, const float *dx, const float *dy,
                        const float *reliability, const float *a, const float *b,
                        const float *confidence, float limit, mo_color *colors, int width,
                        int height) {
    for (int row = 0; row < height; row++) {
        for (int column = 0; column < width; column++) {
            ptrdiff_t i = (ptrdiff_t)row * width + column;
            corner c = corner_at((float)column + dx[i], (float)row + dy[i], width, height);
            v4 old = color_between(before, c);
            float alike = c.inside ? reliability[i] : 0;
            float weight = old[2] < limit + old[3] ? old[2] : limit + old[3];
            weight *= alike;
            float own = confidence ? confidence[i] : 1, total = weight + own;
            float share = total > 0 ? own / total : 1;
            v4 new = {a[i], b[i], 0, 0};
            v4 mixed = old + share * (new - old);
            mixed[2] = total, mixed[3] = old[3] * alike;
            memcpy(colors + i, &mixed, sizeof mixed);
        }
    }
}

RT_CLONES void mo_anchor(mo_color *colors, const float *a, const float *b, const float *dx,
                         const float *dy, const float *reliability, float strength, int width,
                         int height) {
    for (int row = 0; row < height; row++) {
        for (int column = 0; column < width; column++) {
            ptrdiff_t i = (ptrdiff_t)row * width + column;
            corner c = corner_at((float)column + dx[i], (float)row + dy[i], width, height);
            float weight = c.inside ? strength * reliability[i] : 0;
            mo_color *color = colors + i;
            float total = color->weight + weight, share = total > 0 ? weight / total : 0;
            color->a += share * (value_between(a, c) - color->a);
            color->b += share * (value_between(b, c) - color->b);
            color->weight = total;
            color->hold = weight > color->hold ? weight : color->hold;
        }
    }
}
