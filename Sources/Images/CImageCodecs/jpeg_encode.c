#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

#include "CImageCodecs.h"

struct encoder {
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    jmp_buf jump;
    char *message;
    unsigned char *bytes;
    unsigned long count;
    bool has_destination;
};

static void on_error(j_common_ptr info) {
    struct encoder *encoder = info->client_data;
    char text[JMSG_LENGTH_MAX];
    info->err->format_message(info, text);
    snprintf(encoder->message, CODEC_MESSAGE_SIZE, "%s", text);
    longjmp(encoder->jump, 1);
}

static void on_message(j_common_ptr info, int level) {
    (void)info;
    (void)level;
}

static void open_encoder(struct encoder *encoder) {
    encoder->jpeg.err = jpeg_std_error(&encoder->errors);
    encoder->errors.error_exit = on_error;
    encoder->errors.emit_message = on_message;
    encoder->jpeg.client_data = encoder;
    jpeg_create_compress(&encoder->jpeg);
    jpeg_mem_dest(&encoder->jpeg, &encoder->bytes, &encoder->count);
    encoder->has_destination = true;
}

// Frees all after a failure. The destination manager replaces the buffer as it grows, and tells
// where it is when it terminates.
static void discard(struct encoder *encoder) {
    if (encoder->has_destination) encoder->jpeg.dest->term_destination(&encoder->jpeg);
    free(encoder->bytes);
    jpeg_destroy_compress(&encoder->jpeg);
}

static void set_up(struct jpeg_compress_struct *jpeg, uint32_t width, uint32_t height,
                   int quality) {
    jpeg->image_width = width;
    jpeg->image_height = height;
    jpeg->input_components = 3;
    jpeg->in_color_space = JCS_RGB;
    jpeg_set_defaults(jpeg);
    jpeg_set_quality(jpeg, quality, TRUE);
    jpeg->optimize_coding = TRUE;
    // Color is what these images are about: from quality 90 on it keeps its full resolution.
    if (quality >= 90) jpeg->comp_info[0].h_samp_factor = jpeg->comp_info[0].v_samp_factor = 1;
}

static void set_density(struct jpeg_compress_struct *jpeg, const CodecMetadata *metadata) {
    if (!metadata->x_density || !metadata->y_density) return;
    jpeg->density_unit = metadata->density_unit;
    jpeg->X_density = (UINT16)metadata->x_density;
    jpeg->Y_density = (UINT16)metadata->y_density;
}

// After the JFIF segment, which comes first: EXIF, then the profile.
static void write_tags(struct jpeg_compress_struct *jpeg, const CodecMetadata *metadata) {
    static const char prefix[] = "Exif\0";
    if (metadata->exif_count) {
        const size_t count = metadata->exif_count;
        jpeg_write_m_header(jpeg, JPEG_APP0 + 1, (unsigned)(sizeof prefix + count));
        for (size_t i = 0; i < sizeof prefix; i++) jpeg_write_m_byte(jpeg, prefix[i]);
        for (size_t i = 0; i < count; i++) jpeg_write_m_byte(jpeg, metadata->exif[i]);
    }
    uint8_t profile[4096];
    size_t size = sizeof profile;
    codec_srgb_profile(profile, &size);
    if (size) jpeg_write_icc_profile(jpeg, profile, (unsigned)size);
}

static void encode(
    struct encoder *encoder, const uint8_t *pixels, const CodecMetadata *metadata) {
    struct jpeg_compress_struct *jpeg = &encoder->jpeg;
    const size_t pitch = 3 * (size_t)jpeg->image_width;
    if (metadata) set_density(jpeg, metadata);
    jpeg_start_compress(jpeg, TRUE);
    if (metadata) write_tags(jpeg, metadata);
    while (jpeg->next_scanline < jpeg->image_height) {
        JSAMPROW row = (JSAMPROW)(pixels + pitch * jpeg->next_scanline);
        jpeg_write_scanlines(jpeg, &row, 1);
    }
    jpeg_finish_compress(jpeg);
}

bool codec_jpeg_encode(
    const uint8_t *pixels, uint32_t width, uint32_t height, int quality,
    const CodecMetadata *metadata, uint8_t **bytes, size_t *count, char *message) {
    struct encoder encoder = {.message = message};
    *bytes = NULL;
    *count = 0;
    if (setjmp(encoder.jump)) {
        discard(&encoder);
        return false;
    }
    open_encoder(&encoder);
    set_up(&encoder.jpeg, width, height, quality);
    encode(&encoder, pixels, metadata);
    jpeg_destroy_compress(&encoder.jpeg);
    *bytes = encoder.bytes;
    *count = encoder.count;
    return true;
}

void codec_free(uint8_t *bytes) {
    free(bytes);
}
