#include <stdio.h>
#include <string.h>

#include <libheif/heif.h>

#include "CImageCodecs.h"
#include "libraries.h"

static struct {
    __typeof__(&heif_context_alloc) context_alloc;
    __typeof__(&heif_context_free) context_free;
    __typeof__(&heif_context_set_maximum_image_size_limit) context_set_maximum_image_size_limit;
    __typeof__(&heif_context_read_from_memory_without_copy)
        context_read_from_memory_without_copy;
    __typeof__(&heif_context_get_primary_image_handle) context_get_primary_image_handle;
    __typeof__(&heif_image_handle_release) image_handle_release;
    __typeof__(&heif_image_handle_get_width) image_handle_get_width;
    __typeof__(&heif_image_handle_get_height) image_handle_get_height;
    __typeof__(&heif_image_handle_get_raw_color_profile_size)
        image_handle_get_raw_color_profile_size;
    __typeof__(&heif_image_handle_get_raw_color_profile) image_handle_get_raw_color_profile;
    __typeof__(&heif_image_handle_get_list_of_metadata_block_IDs)
        image_handle_get_list_of_metadata_block_IDs;
    __typeof__(&heif_image_handle_get_metadata_size) image_handle_get_metadata_size;
    __typeof__(&heif_image_handle_get_metadata) image_handle_get_metadata;
    __typeof__(&heif_decode_image) decode_image;
    __typeof__(&heif_image_get_width) image_get_width;
    __typeof__(&heif_image_get_height) image_get_height;
    __typeof__(&heif_image_get_plane_readonly) image_get_plane_readonly;
    __typeof__(&heif_image_release) image_release;
} heif;

bool codec_heif_is_available(void) {
#define FUNCTION(name) LIBRARY_FUNCTION(heif, heif_, name)
    static const LibraryFunction functions[] = {
        FUNCTION(context_alloc),
        FUNCTION(context_free),
        FUNCTION(context_set_maximum_image_size_limit),
        FUNCTION(context_read_from_memory_without_copy),
        FUNCTION(context_get_primary_image_handle),
        FUNCTION(image_handle_release),
        FUNCTION(image_handle_get_width),
        FUNCTION(image_handle_get_height),
        FUNCTION(image_handle_get_raw_color_profile_size),
        FUNCTION(image_handle_get_raw_color_profile),
        FUNCTION(image_handle_get_list_of_metadata_block_IDs),
        FUNCTION(image_handle_get_metadata_size),
        FUNCTION(image_handle_get_metadata),
        FUNCTION(decode_image),
        FUNCTION(image_get_width),
        FUNCTION(image_get_height),
        FUNCTION(image_get_plane_readonly),
        FUNCTION(image_release),
        {NULL, NULL},
    };
#undef FUNCTION
    static Library library = LIBRARY("libheif.so.1", functions);
    return load_library(&library);
}

static bool fail(char *message, const char *text) {
    snprintf(message, CODEC_MESSAGE_SIZE, "%s", text);
    return false;
}

static bool succeeded(struct heif_error error, char *message) {
    return error.code == heif_error_Ok || fail(message, error.message);
}

/// The main image of a file.
typedef struct {
    struct heif_context *context;
    struct heif_image_handle *image;
} File;

static void close_file(File file) {
    if (file.image) heif.image_handle_release(file.image);
    if (file.context) heif.context_free(file.context);
}

static bool open_file(const uint8_t *bytes, size_t count, File *file, char *message) {
    // Of tiles, too, which no caller sees.
    enum { LARGEST_SIDE = 16384 };
    *file = (File){heif.context_alloc(), NULL};
    if (!file->context) return fail(message, "out of memory");
    heif.context_set_maximum_image_size_limit(file->context, LARGEST_SIDE);
    const bool is_open =
        succeeded(
            heif.context_read_from_memory_without_copy(file->context, bytes, count, NULL), message)
        && succeeded(heif.context_get_primary_image_handle(file->context, &file->image), message);
    if (!is_open) close_file(*file);
    return is_open;
}

bool codec_heif_read_header(
    const uint8_t *bytes, size_t count, CodecHeader *header, char *message) {
    File file;
    if (!open_file(bytes, count, &file, message)) return false;
    const int width = heif.image_handle_get_width(file.image);
    const int height = heif.image_handle_get_height(file.image);
    *header = (CodecHeader){.width = (uint32_t)width, .height = (uint32_t)height};
    close_file(file);
    return (width > 0 && height > 0) || fail(message, "it has no size");
}

static bool copy(
    const struct heif_image *image, uint32_t width, uint32_t height, uint8_t *pixels,
    char *message) {
    const enum heif_channel channel = heif_channel_interleaved;
    if (heif.image_get_width(image, channel) != (int)width
        || heif.image_get_height(image, channel) != (int)height)
        return fail(message, "its size is another one");
    int stride = 0;
    const uint8_t *rows = heif.image_get_plane_readonly(image, channel, &stride);
    if (!rows || stride < 0 || (size_t)stride < 3 * (size_t)width)
        return fail(message, "it has no pixels");
    for (size_t y = 0; y < height; ++y)
        memcpy(pixels + 3 * width * y, rows + (size_t)stride * y, 3 * (size_t)width);
    return true;
}

bool codec_heif_decode(
    const uint8_t *bytes, size_t count, uint32_t width, uint32_t height, uint8_t *pixels,
    char *message) {
    File file;
    if (!open_file(bytes, count, &file, message)) return false;
    struct heif_image *image = NULL;
    const struct heif_error error = heif.decode_image(
        file.image, &image, heif_colorspace_RGB, heif_chroma_interleaved_RGB, NULL);
    const bool is_whole =
        succeeded(error, message) && copy(image, width, height, pixels, message);
    if (image) heif.image_release(image);
    close_file(file);
    return is_whole;
}

void codec_heif_profile(const uint8_t *bytes, size_t count, uint8_t *profile, size_t *size) {
    const size_t room = *size;
    *size = 0;
    char message[CODEC_MESSAGE_SIZE];
    File file;
    if (!open_file(bytes, count, &file, message)) return;
    const size_t length = heif.image_handle_get_raw_color_profile_size(file.image);
    if (length > 0 && length <= room
        && succeeded(heif.image_handle_get_raw_color_profile(file.image, profile), message))
        *size = length;
    close_file(file);
}

void codec_heif_exif(const uint8_t *bytes, size_t count, uint8_t *exif, size_t *size) {
    const size_t room = *size;
    *size = 0;
    char message[CODEC_MESSAGE_SIZE];
    File file;
    if (!open_file(bytes, count, &file, message)) return;
    heif_item_id identifier = 0;
    if (heif.image_handle_get_list_of_metadata_block_IDs(file.image, "Exif", &identifier, 1) == 1) {
        const size_t length = heif.image_handle_get_metadata_size(file.image, identifier);
        if (length <= room
            && succeeded(heif.image_handle_get_metadata(file.image, identifier, exif), message))
            *size = length;
    }
    close_file(file);
}
