#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tiffio.h>

#include "CImageCodecs.h"
#include "libraries.h"

// Before libtiff 4.5, messages and limits were those of the whole process.
#if TIFFLIB_VERSION >= 20221213

static struct {
    __typeof__(&TIFFOpenOptionsAlloc) OpenOptionsAlloc;
    __typeof__(&TIFFOpenOptionsFree) OpenOptionsFree;
    __typeof__(&TIFFOpenOptionsSetMaxSingleMemAlloc) OpenOptionsSetMaxSingleMemAlloc;
    __typeof__(&TIFFOpenOptionsSetErrorHandlerExtR) OpenOptionsSetErrorHandlerExtR;
    __typeof__(&TIFFOpenOptionsSetWarningHandlerExtR) OpenOptionsSetWarningHandlerExtR;
    __typeof__(&TIFFClientOpenExt) ClientOpenExt;
    __typeof__(&TIFFClose) Close;
    __typeof__(&TIFFGetField) GetField;
    __typeof__(&TIFFGetFieldDefaulted) GetFieldDefaulted;
    __typeof__(&TIFFRGBAImageOK) RGBAImageOK;
    __typeof__(&TIFFReadRGBAImageOriented) ReadRGBAImageOriented;
    __typeof__(&TIFFSetField) SetField;
} tiff;

bool codec_tiff_is_available(void) {
#define FUNCTION(name) LIBRARY_FUNCTION(tiff, TIFF, name)
    static const LibraryFunction functions[] = {
        FUNCTION(OpenOptionsAlloc),
        FUNCTION(OpenOptionsFree),
        FUNCTION(OpenOptionsSetMaxSingleMemAlloc),
        FUNCTION(OpenOptionsSetErrorHandlerExtR),
        FUNCTION(OpenOptionsSetWarningHandlerExtR),
        FUNCTION(ClientOpenExt),
        FUNCTION(Close),
        FUNCTION(GetField),
        FUNCTION(GetFieldDefaulted),
        FUNCTION(RGBAImageOK),
        FUNCTION(ReadRGBAImageOriented),
        FUNCTION(SetField),
        {NULL, NULL},
    };
#undef FUNCTION
    static Library library = LIBRARY("libtiff.so.6", functions);
    return load_library(&library);
}

typedef struct {
    const uint8_t *bytes;
    size_t count;
    uint64_t offset;
    char *message;
} Source;

static tmsize_t read_bytes(thandle_t handle, void *output, tmsize_t size) {
    Source *source = handle;
    if (size < 0 || source->offset >= source->count) return 0;
    const size_t rest = source->count - source->offset;
    const size_t count = (size_t)size < rest ? (size_t)size : rest;
    memcpy(output, source->bytes + source->offset, count);
    source->offset += count;
    return (tmsize_t)count;
}

static tmsize_t write_bytes(thandle_t handle, void *input, tmsize_t size) {
    (void)handle, (void)input, (void)size;
    return -1;
}

static toff_t seek_to(thandle_t handle, toff_t offset, int whence) {
    Source *source = handle;
    const uint64_t start =
        whence == SEEK_SET ? 0 : whence == SEEK_CUR ? source->offset : source->count;
    return source->offset = start + offset;
}

static int close_source(thandle_t handle) {
    (void)handle;
    return 0;
}

static toff_t size_of(thandle_t handle) { return ((Source *)handle)->count; }

// Without the bytes in its own memory, libtiff reads by read_bytes.
static int map_file(thandle_t handle, void **base, toff_t *size) {
    (void)handle, (void)base, (void)size;
    return 0;
}

static void unmap_file(thandle_t handle, void *base, toff_t size) {
    (void)handle, (void)base, (void)size;
}

static int on_error(
    TIFF *file, void *data, const char *module, const char *format, va_list list) {
    (void)file, (void)module;
    // The first error is the cause of the others.
    char *message = data;
    if (!message[0]) vsnprintf(message, CODEC_MESSAGE_SIZE, format, list);
    return 1;
}

// A tag that cannot be read, such as a palette behind the end of the file, is ignored with a
// warning, and the image looks other than it is.
static int on_warning(
    TIFF *file, void *data, const char *module, const char *format, va_list list) {
    (void)file, (void)module, (void)list;
    char *message = data;
    if (!message[0] && strstr(format, "IO error"))
        snprintf(message, CODEC_MESSAGE_SIZE, "the file ends before the image does");
    return 1;
}

// The first image of a file. The source must outlive it.
static TIFF *open_file(Source *source) {
    // Of a strip, a tile or their list, which may be as large as the whole image.
    enum { LARGEST_ALLOCATION = 512 << 20 };
    source->message[0] = 0;
    TIFFOpenOptions *options = tiff.OpenOptionsAlloc();
    if (!options) return NULL;
    tiff.OpenOptionsSetMaxSingleMemAlloc(options, LARGEST_ALLOCATION);
    tiff.OpenOptionsSetErrorHandlerExtR(options, on_error, source->message);
    tiff.OpenOptionsSetWarningHandlerExtR(options, on_warning, source->message);
    TIFF *file = tiff.ClientOpenExt(
        "image", "rm", source, read_bytes, write_bytes, seek_to,
        close_source, size_of, map_file, unmap_file, options);
    tiff.OpenOptionsFree(options);
    return file;
}

static bool fail(char *message, const char *text) {
    if (!message[0]) snprintf(message, CODEC_MESSAGE_SIZE, "%s", text);
    return false;
}

static bool read_size(TIFF *file, uint32_t *width, uint32_t *height) {
    return tiff.GetField(file, TIFFTAG_IMAGEWIDTH, width)
        && tiff.GetField(file, TIFFTAG_IMAGELENGTH, height) && *width > 0 && *height > 0;
}

bool codec_tiff_read_header(
    const uint8_t *bytes, size_t count, CodecHeader *header, char *message) {
    Source source = {bytes, count, 0, message};
    TIFF *file = open_file(&source);
    if (!file) return fail(message, "the TIFF cannot be opened");
    *header = (CodecHeader){0};
    bool is_whole = !message[0] && read_size(file, &header->width, &header->height);
    char why[1024] = "";
    if (!is_whole) fail(message, "it has no size");
    else if (!tiff.RGBAImageOK(file, why)) is_whole = fail(message, why);
    tiff.Close(file);
    return is_whole;
}

// What the first sample after the colors is: alpha that colors were multiplied by, alpha that they
// were not multiplied by, or something else.
static uint16_t kind_of_alpha(TIFF *file) {
    uint16_t count = 0, *kinds = NULL;
    tiff.GetFieldDefaulted(file, TIFFTAG_EXTRASAMPLES, &count, &kinds);
    return count > 0 ? kinds[0] : EXTRASAMPLE_UNSPECIFIED;
}

// libtiff would multiply colors by their alpha, which cannot be undone where it is small.
static bool leave_unmultiplied(TIFF *file) {
    enum { MOST_KINDS = 16 };
    uint16_t count = 0, *kinds = NULL, changed[MOST_KINDS];
    tiff.GetFieldDefaulted(file, TIFFTAG_EXTRASAMPLES, &count, &kinds);
    if (count > MOST_KINDS) return false;
    memcpy(changed, kinds, count * sizeof *kinds);
    changed[0] = EXTRASAMPLE_ASSOCALPHA;
    return tiff.SetField(file, TIFFTAG_EXTRASAMPLES, count, changed);
}

static uint8_t unmultiplied(uint32_t color, uint32_t alpha) {
    if (alpha == 0 || alpha == 255) return (uint8_t)color;
    const uint32_t value = (color * 255 + alpha / 2) / alpha;
    return (uint8_t)(value < 255 ? value : 255);
}

static void pack(
    const uint32_t *raster, size_t count, uint16_t kind, uint32_t channels, uint8_t *pixels) {
    const bool is_multiplied = kind == EXTRASAMPLE_ASSOCALPHA;
    const bool has_alpha = is_multiplied || kind == EXTRASAMPLE_UNASSALPHA;
    for (size_t index = 0; index < count; ++index, pixels += channels) {
        const uint32_t pixel = raster[index], alpha = TIFFGetA(pixel);
        const uint32_t divisor = is_multiplied ? alpha : 255;
        pixels[0] = unmultiplied(TIFFGetR(pixel), divisor);
        pixels[1] = unmultiplied(TIFFGetG(pixel), divisor);
        pixels[2] = unmultiplied(TIFFGetB(pixel), divisor);
        if (channels == 4) pixels[3] = has_alpha ? (uint8_t)alpha : 255;
    }
}

static bool decode(
    TIFF *file, uint32_t channels, uint32_t width, uint32_t height, uint8_t *pixels,
    char *message) {
    uint32_t own_width = 0, own_height = 0;
    uint16_t orientation = ORIENTATION_TOPLEFT;
    if (!read_size(file, &own_width, &own_height) || own_width != width || own_height != height)
        return fail(message, "its size is another one");
    const uint16_t kind = kind_of_alpha(file);
    if (kind == EXTRASAMPLE_UNASSALPHA && !leave_unmultiplied(file))
        return fail(message, "it has too many channels");
    tiff.GetFieldDefaulted(file, TIFFTAG_ORIENTATION, &orientation);
    uint32_t *raster = malloc(sizeof *raster * width * height);
    if (!raster) return fail(message, "out of memory");
    // The orientation of the file itself: nothing is turned. Damage ends the reading.
    const bool is_whole =
        tiff.ReadRGBAImageOriented(file, width, height, raster, orientation, 1);
    if (is_whole) pack(raster, (size_t)width * height, kind, channels, pixels);
    free(raster);
    return is_whole || fail(message, "the TIFF data are damaged");
}

bool codec_tiff_decode(
    const uint8_t *bytes, size_t count, uint32_t channels, uint32_t width, uint32_t height,
    uint8_t *pixels, char *message) {
    Source source = {bytes, count, 0, message};
    TIFF *file = open_file(&source);
    if (!file) return fail(message, "the TIFF cannot be opened");
    const bool is_whole = decode(file, channels, width, height, pixels, message);
    tiff.Close(file);
    return is_whole;
}

void codec_tiff_profile(const uint8_t *bytes, size_t count, uint8_t *profile, size_t *size) {
    const size_t room = *size;
    *size = 0;
    char message[CODEC_MESSAGE_SIZE];
    Source source = {bytes, count, 0, message};
    TIFF *file = open_file(&source);
    if (!file) return;
    uint32_t length = 0;
    void *data = NULL;
    if (tiff.GetField(file, TIFFTAG_ICCPROFILE, &length, &data) && data && length <= room) {
        memcpy(profile, data, length);
        *size = length;
    }
    tiff.Close(file);
}

#else

bool codec_tiff_is_available(void) { return false; }

static bool fail(char *message) {
    snprintf(message, CODEC_MESSAGE_SIZE, "%s", "built without libtiff 4.5");
    return false;
}

bool codec_tiff_read_header(
    const uint8_t *bytes, size_t count, CodecHeader *header, char *message) {
    (void)bytes, (void)count, (void)header;
    return fail(message);
}

bool codec_tiff_decode(
    const uint8_t *bytes, size_t count, uint32_t channels, uint32_t width, uint32_t height,
    uint8_t *pixels, char *message) {
    (void)bytes, (void)count, (void)channels, (void)width, (void)height, (void)pixels;
    return fail(message);
}

void codec_tiff_profile(const uint8_t *bytes, size_t count, uint8_t *profile, size_t *size) {
    (void)bytes, (void)count, (void)profile;
    *size = 0;
}

#endif
