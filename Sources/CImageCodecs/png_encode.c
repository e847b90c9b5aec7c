#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#include "CImageCodecs.h"

struct encoder {
    png_structp png;
    png_infop info;
    uint8_t *bytes;
    size_t count;
    size_t capacity;
    jmp_buf jump;
    char *message;
};

static void on_error(png_structp png, png_const_charp text) {
    struct encoder *encoder = png_get_error_ptr(png);
    snprintf(encoder->message, CODEC_MESSAGE_SIZE, "%s", text);
    longjmp(encoder->jump, 1);
}

static void on_warning(png_structp png, png_const_charp text) {
    (void)png;
    (void)text;
}

static void reserve(struct encoder *encoder, size_t capacity) {
    if (capacity <= encoder->capacity) return;
    if (capacity < 2 * encoder->capacity) capacity = 2 * encoder->capacity;
    uint8_t *bytes = realloc(encoder->bytes, capacity);
    if (!bytes) png_error(encoder->png, "out of memory");
    encoder->bytes = bytes;
    encoder->capacity = capacity;
}

static void write_bytes(png_structp png, png_bytep input, size_t count) {
    struct encoder *encoder = png_get_io_ptr(png);
    reserve(encoder, encoder->count + count);
    memcpy(encoder->bytes + encoder->count, input, count);
    encoder->count += count;
}

static void flush_bytes(png_structp png) {
    (void)png;
}

static void open_encoder(struct encoder *encoder) {
    encoder->png =
        png_create_write_struct(PNG_LIBPNG_VER_STRING, encoder, on_error, on_warning);
    if (encoder->png) encoder->info = png_create_info_struct(encoder->png);
    if (!encoder->info) {
        snprintf(encoder->message, CODEC_MESSAGE_SIZE, "out of memory");
        longjmp(encoder->jump, 1);
    }
    png_set_write_fn(encoder->png, encoder, write_bytes, flush_bytes);
    png_set_user_limits(encoder->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
}

static void set_tags(struct encoder *encoder, const CodecMetadata *metadata) {
    png_structp png = encoder->png;
    // gAMA and cHRM say the same to readers that do not know sRGB.
    png_set_sRGB_gAMA_and_cHRM(png, encoder->info, PNG_sRGB_INTENT_RELATIVE);
    if (metadata->x_density && metadata->y_density)
        png_set_pHYs(
            png, encoder->info, metadata->x_density, metadata->y_density, metadata->density_unit);
    if (metadata->exif_count)
        png_set_eXIf_1(
            png, encoder->info, (png_uint_32)metadata->exif_count, (png_bytep)metadata->exif);
}

static void encode(struct encoder *encoder, const uint8_t *pixels, uint32_t width,
                   uint32_t height, int level, const CodecMetadata *metadata) {
    png_structp png = encoder->png;
    png_set_compression_level(png, level);
    png_set_IHDR(
        png, encoder->info, width, height, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
        PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (metadata) set_tags(encoder, metadata);
    png_write_info(png, encoder->info);
    for (uint32_t y = 0; y < height; y++) png_write_row(png, pixels + 3 * (size_t)width * y);
    // Without the info: libpng 1.6 would write eXIf a second time.
    png_write_end(png, NULL);
}

bool codec_png_encode(
    const uint8_t *pixels, uint32_t width, uint32_t height, int level,
    const CodecMetadata *metadata, uint8_t **bytes, size_t *count, char *message) {
    struct encoder encoder = {.message = message};
    const bool failed = setjmp(encoder.jump) != 0;
    if (!failed) {
        open_encoder(&encoder);
        encode(&encoder, pixels, width, height, level, metadata);
    }
    png_destroy_write_struct(&encoder.png, &encoder.info);
    *bytes = encoder.bytes;
    *count = encoder.count;
    return !failed;
}
