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

static void decode(
    struct decoder *decoder, uint32_t channels, uint32_t width, uint32_t height,
    uint8_t *pixels) {
    png_structp png = decoder->png;
    const size_t pitch = channels * (size_t)width;
    ask_for_rgb(png, decoder->info, channels);
    const int passes = png_set_interlace_handling(png);
    png_read_update_info(png, decoder->info);
    if (png_get_image_width(png, decoder->info) != width
        || png_get_image_height(png, decoder->info) != height
        || png_get_rowbytes(png, decoder->info) != pitch)
        png_error(png, "the size is not the one that the header gave");
    for (int pass = 0; pass < passes; pass++)
        for (uint32_t y = 0; y < height; y++) png_read_row(png, pixels + pitch * y, NULL);
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
