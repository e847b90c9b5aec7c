#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <png.h>

#include "CImageCodecs.h"

struct decoder {
    png_structp png;
    png_infop info;
    const uint8_t *bytes;
    size_t count;
    size_t offset;
    jmp_buf jump;
    char *message;
};

static void on_error(png_structp png, png_const_charp text) {
    struct decoder *decoder = png_get_error_ptr(png);
    snprintf(decoder->message, CODEC_MESSAGE_SIZE, "%s", text);
    longjmp(decoder->jump, 1);
}

static void on_warning(png_structp png, png_const_charp text) {
    (void)png;
    (void)text;
}

static void read_bytes(png_structp png, png_bytep output, size_t count) {
    struct decoder *decoder = png_get_io_ptr(png);
    if (count > decoder->count - decoder->offset)
        png_error(png, "the file ends before the image does");
    memcpy(output, decoder->bytes + decoder->offset, count);
    decoder->offset += count;
}

// Profiles and text are not used, may be compressed, and need not be right.
static void skip_other_chunks(png_structp png) {
    static const png_byte names[] = "iCCP\0zTXt\0iTXt\0tEXt\0sPLT\0eXIf\0hIST\0pCAL";
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, 0);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, names, sizeof names / 5);
}

static void open_decoder(struct decoder *decoder) {
    decoder->png =
        png_create_read_struct(PNG_LIBPNG_VER_STRING, decoder, on_error, on_warning);
    if (decoder->png) decoder->info = png_create_info_struct(decoder->png);
    if (!decoder->info) {
        snprintf(decoder->message, CODEC_MESSAGE_SIZE, "out of memory");
        longjmp(decoder->jump, 1);
    }
    png_set_read_fn(decoder->png, decoder, read_bytes);
    // The caller has its own limits, and says which one was passed.
    png_set_user_limits(decoder->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    skip_other_chunks(decoder->png);
    png_read_info(decoder->png, decoder->info);
}

static void close_decoder(struct decoder *decoder) {
    png_destroy_read_struct(&decoder->png, &decoder->info, NULL);
}

bool codec_png_read_header(
    const uint8_t *bytes, size_t count, CodecHeader *header, char *message) {
    struct decoder decoder = {.bytes = bytes, .count = count, .message = message};
    if (setjmp(decoder.jump)) {
        close_decoder(&decoder);
        return false;
    }
    open_decoder(&decoder);
    header->width = png_get_image_width(decoder.png, decoder.info);
    header->height = png_get_image_height(decoder.png, decoder.info);
    header->animated = false;
    const int type = png_get_color_type(decoder.png, decoder.info);
    header->palette = type == PNG_COLOR_TYPE_PALETTE;
    const bool is_color = (type & PNG_COLOR_MASK_COLOR) && !header->palette;
    header->level_bits = is_color ? 0 : png_get_bit_depth(decoder.png, decoder.info);
    close_decoder(&decoder);
    return true;
}

// 16-bit samples keep their high byte; transparency is a fourth channel or dropped, not blended.
static void ask_for_rgb(png_structp png, png_infop info, uint32_t channels) {
    const int type = png_get_color_type(png, info);
    if (type == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
    if (type == PNG_COLOR_TYPE_GRAY) png_set_expand_gray_1_2_4_to_8(png);
    if (!(type & PNG_COLOR_MASK_COLOR)) png_set_gray_to_rgb(png);
    png_set_strip_16(png);
    if (channels == 3) {
        png_set_strip_alpha(png);
    } else {
        if (png_get_valid(png, info, PNG_INFO_tRNS)) png_set_tRNS_to_alpha(png);
        png_set_add_alpha(png, 0xff, PNG_FILLER_AFTER);
    }
}

// Reads rows of `row_bytes` bytes, `pitch` bytes apart.
static void read_rows(
    struct decoder *decoder, uint32_t width, uint32_t height, size_t row_bytes, size_t pitch,
    uint8_t *pixels) {
    png_structp png = decoder->png;
    const int passes = png_set_interlace_handling(png);
    png_read_update_info(png, decoder->info);
    if (png_get_image_width(png, decoder->info) != width
        || png_get_image_height(png, decoder->info) != height
        || png_get_rowbytes(png, decoder->info) != row_bytes)
        png_error(png, "the size is not the one that the header gave");
    for (int pass = 0; pass < passes; pass++)
        for (uint32_t y = 0; y < height; y++) png_read_row(png, pixels + pitch * y, NULL);
}

static void decode(
    struct decoder *decoder, uint32_t channels, uint32_t width, uint32_t height,
    uint8_t *pixels) {
    const size_t pitch = channels * (size_t)width;
    ask_for_rgb(decoder->png, decoder->info, channels);
    read_rows(decoder, width, height, pitch, pitch, pixels);
}

bool codec_png_decode(
    const uint8_t *bytes, size_t count, uint32_t channels, uint32_t width, uint32_t height,
    uint8_t *pixels, char *message) {
    struct decoder decoder = {.bytes = bytes, .count = count, .message = message};
    if (setjmp(decoder.jump)) {
        close_decoder(&decoder);
        return false;
    }
    open_decoder(&decoder);
    decode(&decoder, channels, width, height, pixels);
    close_decoder(&decoder);
    return true;
}

static void decode_levels(
    struct decoder *decoder, uint32_t width, uint32_t height, uint16_t *levels) {
    png_structp png = decoder->png;
    const bool is_wide = png_get_bit_depth(png, decoder->info) == 16;
    const size_t pitch = 2 * (size_t)width;
    png_set_packing(png);
    png_set_strip_alpha(png);
    const uint16_t one = 1;
    if (*(const uint8_t *)&one == 1) png_set_swap(png);
    read_rows(decoder, width, height, is_wide ? pitch : width, pitch, (uint8_t *)levels);
    if (is_wide) return;
    // Each row of bytes lies at the start of its row of levels: from its end on, none is
    // overwritten before it is read.
    for (uint32_t y = 0; y < height; y++) {
        uint16_t *row = levels + (size_t)width * y;
        for (uint32_t x = width; x-- > 0;) row[x] = ((const uint8_t *)row)[x];
    }
}

bool codec_png_decode_levels(
    const uint8_t *bytes, size_t count, uint32_t width, uint32_t height, uint16_t *levels,
    char *message) {
    struct decoder decoder = {.bytes = bytes, .count = count, .message = message};
    if (setjmp(decoder.jump)) {
        close_decoder(&decoder);
        return false;
    }
    open_decoder(&decoder);
    decode_levels(&decoder, width, height, levels);
    close_decoder(&decoder);
    return true;
}
