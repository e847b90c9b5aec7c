#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>
#include <zlib.h>

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

// The blocks, as the parts of one zlib stream (RFC 1950).
static void write_image(png_structp png, const CodecBlock *blocks, size_t count, int level) {
    const unsigned hint = level < 2 ? 0 : level < 6 ? 1 : level == 6 ? 2 : 3;
    uint8_t head[2] = {0x78, (uint8_t)(hint << 6)};
    head[1] += (uint8_t)(31 - (head[0] * 256 + head[1]) % 31);
    uint32_t checksum = 1;
    for (size_t i = 0; i < count; i++) {
        if (!blocks[i].bytes) png_error(png, "out of memory");
        const bool first = i == 0, last = i + 1 == count;
        checksum = (uint32_t)adler32_combine(
            checksum, blocks[i].checksum, (z_off_t)blocks[i].unpacked);
        const uint8_t foot[4] = {
            (uint8_t)(checksum >> 24), (uint8_t)(checksum >> 16), (uint8_t)(checksum >> 8),
            (uint8_t)checksum};
        const size_t size = blocks[i].count + (first ? sizeof head : 0) + (last ? sizeof foot : 0);
        png_write_chunk_start(png, (png_const_bytep) "IDAT", (png_uint_32)size);
        if (first) png_write_chunk_data(png, head, sizeof head);
        png_write_chunk_data(png, blocks[i].bytes, blocks[i].count);
        if (last) png_write_chunk_data(png, foot, sizeof foot);
        png_write_chunk_end(png);
    }
}

static void encode(struct encoder *encoder, const CodecBlock *blocks, size_t count,
                   uint32_t width, uint32_t height, int level, const CodecMetadata *metadata) {
    png_structp png = encoder->png;
    png_set_IHDR(
        png, encoder->info, width, height, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
        PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (metadata) set_tags(encoder, metadata);
    png_write_info(png, encoder->info);
    write_image(png, blocks, count, level);
    // Not png_write_end, which knows nothing of these IDAT chunks.
    png_write_chunk(png, (png_const_bytep) "IEND", NULL, 0);
}

bool codec_png_encode(
    const CodecBlock *blocks, size_t blocks_count, uint32_t width, uint32_t height, int level,
    const CodecMetadata *metadata, uint8_t **bytes, size_t *count, char *message) {
    struct encoder encoder = {.message = message};
    const bool failed = setjmp(encoder.jump) != 0;
    if (!failed) {
        open_encoder(&encoder);
        encode(&encoder, blocks, blocks_count, width, height, level, metadata);
    }
    png_destroy_write_struct(&encoder.png, &encoder.info);
    *bytes = encoder.bytes;
    *count = encoder.count;
    return !failed;
}
