#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

#include <jerror.h>

#include "CImageCodecs.h"

struct decoder {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf jump;
    char *message;
    int maximum_scans;
    bool may_end_early;
    bool ended_early;
};

static void fail(struct decoder *decoder, const char *text) {
    snprintf(decoder->message, CODEC_MESSAGE_SIZE, "%s", text);
    longjmp(decoder->jump, 1);
}

static void on_error(j_common_ptr info) {
    char text[JMSG_LENGTH_MAX];
    info->err->format_message(info, text);
    fail(info->client_data, text);
}

static const char *const truncated = "the file ends before the image does";

// The end of the file is made to look like an EOI marker. A sequential scan that asks for more
// then hits that marker; one that only lacks its own EOI is whole. Scans that are missing
// altogether would go unnoticed, so an image of several scans must not end early.
static void on_end(struct decoder *decoder) {
    decoder->ended_early = true;
    if (!decoder->may_end_early) fail(decoder, truncated);
}

// libjpeg calls damage a warning and invents the rest of the image.
static void on_message(j_common_ptr info, int level) {
    if (level >= 0) return;
    struct decoder *decoder = info->client_data;
    switch (info->err->msg_code) {
    case JWRN_JPEG_EOF:
        on_end(decoder);
        break;
    case JWRN_HIT_MARKER:
        if (decoder->ended_early) fail(decoder, truncated);
        on_error(info);
        break;
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_MUST_RESYNC:
        on_error(info);
        break;
    default:
        break;
    }
}

static void on_output(j_common_ptr info) {
    (void)info;
}

// A small file can hold thousands of scans, each of which passes over the whole image.
static void on_progress(j_common_ptr info) {
    struct decoder *decoder = info->client_data;
    if (decoder->jpeg.input_scan_number <= decoder->maximum_scans) return;
    char text[CODEC_MESSAGE_SIZE];
    snprintf(text, sizeof text, "more than %d scans", decoder->maximum_scans);
    fail(decoder, text);
}

static void open_decoder(struct decoder *decoder, const uint8_t *bytes, size_t count) {
    decoder->jpeg.err = jpeg_std_error(&decoder->errors);
    decoder->errors.error_exit = on_error;
    decoder->errors.emit_message = on_message;
    decoder->errors.output_message = on_output;
    decoder->jpeg.client_data = decoder;
    jpeg_create_decompress(&decoder->jpeg);
    decoder->progress.progress_monitor = on_progress;
    decoder->jpeg.progress = &decoder->progress;
    jpeg_mem_src(&decoder->jpeg, bytes, count);
    jpeg_read_header(&decoder->jpeg, TRUE);
}

bool codec_jpeg_read_header(
    const uint8_t *bytes, size_t count, CodecHeader *header, char *message) {
    struct decoder decoder = {.message = message, .maximum_scans = 1};
    if (setjmp(decoder.jump)) {
        jpeg_destroy_decompress(&decoder.jpeg);
        return false;
    }
    open_decoder(&decoder, bytes, count);
    *header = (CodecHeader){decoder.jpeg.image_width, decoder.jpeg.image_height, false};
    jpeg_destroy_decompress(&decoder.jpeg);
    return true;
}

static uint8_t multiply_255(uint8_t a, uint8_t b) {
    unsigned product = a * b + 128u;
    return (uint8_t)((product + (product >> 8)) >> 8);
}

// Four-channel JPEGs hold inverted ink, as Adobe writes them: 255 is no ink.
static void convert_inverted_cmyk(const uint8_t *row, uint8_t *output, uint32_t width) {
    for (uint32_t x = 0; x < width; x++) {
        uint8_t light = row[4 * x + 3];
        for (int c = 0; c < 3; c++)
            output[3 * x + c] = light - multiply_255((uint8_t)(255 - row[4 * x + c]), light);
    }
}

static void read_rows(struct decoder *decoder, uint8_t *pixels) {
    struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    const size_t pitch = 3 * (size_t)jpeg->output_width;
    const bool inks = jpeg->out_color_space == JCS_CMYK;
    JSAMPARRAY ink_row = NULL;
    if (inks)
        ink_row = jpeg->mem->alloc_sarray(
            (j_common_ptr)jpeg, JPOOL_IMAGE, 4 * jpeg->output_width, 1);
    while (jpeg->output_scanline < jpeg->output_height) {
        uint8_t *row = pixels + pitch * jpeg->output_scanline;
        if (jpeg_read_scanlines(jpeg, inks ? ink_row : &row, 1) != 1) fail(decoder, truncated);
        if (inks) convert_inverted_cmyk(ink_row[0], row, jpeg->output_width);
    }
}

static void decode(struct decoder *decoder, uint32_t scale, uint32_t width, uint32_t height,
                   uint8_t *pixels) {
    struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    decoder->may_end_early = !jpeg_has_multiple_scans(jpeg);
    const bool inks = jpeg->jpeg_color_space == JCS_CMYK || jpeg->jpeg_color_space == JCS_YCCK;
    jpeg->out_color_space = inks ? JCS_CMYK : JCS_RGB;
    jpeg->scale_num = 1;
    jpeg->scale_denom = scale;
    jpeg->dct_method = JDCT_ISLOW;
    jpeg->do_fancy_upsampling = TRUE;
    jpeg_start_decompress(jpeg);
    if (jpeg->output_width != width || jpeg->output_height != height)
        fail(decoder, "the size is not the one that the header gave");
    read_rows(decoder, pixels);
}

bool codec_jpeg_decode(
    const uint8_t *bytes, size_t count, uint32_t scale, int maximum_scans, uint32_t width,
    uint32_t height, uint8_t *pixels, char *message) {
    struct decoder decoder = {.message = message, .maximum_scans = maximum_scans};
    if (setjmp(decoder.jump)) {
        jpeg_destroy_decompress(&decoder.jpeg);
        return false;
    }
    open_decoder(&decoder, bytes, count);
    decode(&decoder, scale, width, height, pixels);
    jpeg_destroy_decompress(&decoder.jpeg);
    return true;
}
