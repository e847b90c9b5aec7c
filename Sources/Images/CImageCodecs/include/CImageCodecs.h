// Reading JPEG, PNG, WebP, TIFF, GIF and HEIF, writing JPEG and PNG, and the inner loops of
// resampling.
//
// libjpeg and libpng report errors by setjmp and longjmp, which Swift cannot call: each function
// here catches them, fills `message` and returns false. Nothing prints, exits or keeps state.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The room that every `message` argument must offer.
#define CODEC_MESSAGE_SIZE 256

typedef struct {
    uint32_t width;
    uint32_t height;
    bool animated;
    /// The bits of a sample of a PNG that has one channel besides transparency, or a palette; else
    /// 0.
    uint32_t level_bits;
    /// Whether those samples are indices into a palette.
    bool palette;
} CodecHeader;

// TIFF, GIF and HEIF are read by libraries that are loaded when they are needed. The functions for
// a format may be called if its library is there: libtiff 4.5 or later, giflib 5, libheif.

bool codec_tiff_is_available(void);
bool codec_gif_is_available(void);
bool codec_heif_is_available(void);

// Headers: nothing is decoded and nothing of the image's size is allocated.

bool codec_jpeg_read_header(
    const uint8_t *bytes, size_t count, CodecHeader *header, char *message);
bool codec_png_read_header(
    const uint8_t *bytes, size_t count, CodecHeader *header, char *message);
bool codec_webp_read_header(
    const uint8_t *bytes, size_t count, CodecHeader *header, char *message);
bool codec_tiff_read_header(
    const uint8_t *bytes, size_t count, CodecHeader *header, char *message);
bool codec_gif_read_header(
    const uint8_t *bytes, size_t count, CodecHeader *header, char *message);
/// The size is that of the upright image.
bool codec_heif_read_header(
    const uint8_t *bytes, size_t count, CodecHeader *header, char *message);

// Images: `pixels` has room for `channels`, else 3, * width * height bytes and receives
// interleaved RGB, with 4 channels RGBA. A file whose size is another one is an error.

/// `scale` is 1, 2, 4 or 8: the size is ceil(full / scale). More than `maximum_scans` is an error.
bool codec_jpeg_decode(
    const uint8_t *bytes, size_t count, uint32_t scale, int maximum_scans, uint32_t width,
    uint32_t height, uint8_t *pixels, char *message);
bool codec_png_decode(
    const uint8_t *bytes, size_t count, uint32_t channels, uint32_t width, uint32_t height,
    uint8_t *pixels, char *message);
/// The samples of a PNG with `level_bits` in its header as they are stored: neither a palette nor a
/// color profile is applied, and nothing is scaled. Transparency is dropped. `levels` has room for
/// width * height.
bool codec_png_decode_levels(
    const uint8_t *bytes, size_t count, uint32_t width, uint32_t height, uint16_t *levels,
    char *message);
bool codec_webp_decode(
    const uint8_t *bytes, size_t count, uint32_t channels, uint32_t width, uint32_t height,
    uint8_t *pixels, char *message);
/// The first image of the file, not turned.
bool codec_tiff_decode(
    const uint8_t *bytes, size_t count, uint32_t channels, uint32_t width, uint32_t height,
    uint8_t *pixels, char *message);
bool codec_gif_decode(
    const uint8_t *bytes, size_t count, uint32_t width, uint32_t height, uint8_t *pixels,
    char *message);
/// The main image of the file, upright.
bool codec_heif_decode(
    const uint8_t *bytes, size_t count, uint32_t width, uint32_t height, uint8_t *pixels,
    char *message);

// Parts of a file: at most `*size` bytes are written, and `*size` is set to how many there are; 0
// if there are none, or more.

void codec_tiff_profile(const uint8_t *bytes, size_t count, uint8_t *profile, size_t *size);
void codec_heif_profile(const uint8_t *bytes, size_t count, uint8_t *profile, size_t *size);
/// The EXIF data, after four bytes with the length of what precedes them.
void codec_heif_exif(const uint8_t *bytes, size_t count, uint8_t *exif, size_t *size);

// Color profiles.

/// Inflates at most `*size` bytes, and sets `*size` to how many there are.
bool codec_inflate(const uint8_t *bytes, size_t count, uint8_t *output, size_t *size);

/// Turns `count` RGB pixels of an ICC profile into sRGB: relative colorimetric, with black point
/// compensation. A profile for gray reads the first channel; that of a file whose pixels are colors
/// is wrong. A profile that is damaged, of another color model or sRGB itself changes nothing.
void codec_to_srgb(const uint8_t *profile, size_t size, uint8_t *pixels, uint32_t count);

/// Makes the sRGB profile that JPEG files get: the same bytes each time. At most `*size` bytes are
/// written, and `*size` is set to how many there are; 0 if it could not be made.
void codec_srgb_profile(uint8_t *bytes, size_t *size);

/// What a file states besides its pixels. It is then tagged as sRGB, too.
typedef struct {
    /// A TIFF file of at most 65,527 bytes for JPEG; none if the count is 0.
    const uint8_t *exif;
    size_t exif_count;
    /// Pixels per unit; none if 0.
    uint32_t x_density, y_density;
    /// As in JFIF (0: unknown, 1: inch, 2: centimeter) and pHYs (0: unknown, 1: meter).
    uint8_t density_unit;
} CodecMetadata;

// Files: `metadata` may be NULL. `*bytes` is for codec_free, also after a failure.

bool codec_jpeg_encode(
    const uint8_t *pixels, uint32_t width, uint32_t height, int quality,
    const CodecMetadata *metadata, uint8_t **bytes, size_t *count, char *message);

/// Some rows of a PNG, packed.
typedef struct {
    /// For codec_free.
    uint8_t *bytes;
    size_t count;
    size_t unpacked;
    uint32_t checksum;
} CodecBlock;

/// The most bytes, with one more for each row, that a block may unpack to.
#define CODEC_PNG_PART (1u << 30)

/// Packs `count` rows of an image from row `first` on. Blocks may be packed at the same time; they
/// refer to the rows above them. Without memory, or if the rows are too long, the block stays as it
/// is.
void codec_png_pack(
    const uint8_t *pixels, uint32_t width, uint32_t first, uint32_t count, bool last, int level,
    CodecBlock *block);
/// Makes a file of the blocks of an image, in order.
bool codec_png_encode(
    const CodecBlock *blocks, size_t blocks_count, uint32_t width, uint32_t height, int level,
    const CodecMetadata *metadata, uint8_t **bytes, size_t *count, char *message);
void codec_free(uint8_t *bytes);

// Resampling. Output sample i is the weighted sum of counts[i] inputs from starts[i] on, with the
// weights at weights[i * stride].

/// The fraction bits of an integer weight: 32, less 8 of a sample, less 2 of overshoot.
#define RESAMPLE_PRECISION_BITS 22

typedef struct {
    int count;
    int stride;
    const int32_t *starts;
    const int32_t *counts;
} ResampleWindows;

/// One row of RGB; each weight stands three times, once for each channel. Fastest where all counts
/// are multiples of 8.
void resample_row_rgb8(
    const uint8_t *row, uint8_t *output, ResampleWindows windows, const int32_t *weights);
void resample_row_float(
    const float *row, float *output, ResampleWindows windows, const float *weights);
/// One output row: the sum of `count` rows, `pitch` samples apart, weighted.
void resample_column_8(
    const uint8_t *rows, size_t pitch, int count, const int32_t *weights, uint8_t *output,
    size_t width);
void resample_column_float(
    const float *rows, size_t pitch, int count, const float *weights, float *output, size_t width);
