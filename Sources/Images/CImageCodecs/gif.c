#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gif_lib.h>

#include "CImageCodecs.h"
#include "libraries.h"

static struct {
    __typeof__(&DGifOpen) Open;
    __typeof__(&DGifCloseFile) CloseFile;
    __typeof__(&DGifGetRecordType) GetRecordType;
    __typeof__(&DGifGetImageDesc) GetImageDesc;
    __typeof__(&DGifGetLine) GetLine;
    __typeof__(&DGifGetCode) GetCode;
    __typeof__(&DGifGetCodeNext) GetCodeNext;
    __typeof__(&DGifGetExtension) GetExtension;
    __typeof__(&DGifGetExtensionNext) GetExtensionNext;
} gif;

bool codec_gif_is_available(void) {
#define FUNCTION(name) LIBRARY_FUNCTION(gif, DGif, name)
    static const LibraryFunction functions[] = {
        FUNCTION(Open),
        FUNCTION(CloseFile),
        FUNCTION(GetRecordType),
        FUNCTION(GetImageDesc),
        FUNCTION(GetLine),
        FUNCTION(GetCode),
        FUNCTION(GetCodeNext),
        FUNCTION(GetExtension),
        FUNCTION(GetExtensionNext),
        {NULL, NULL},
    };
#undef FUNCTION
    static Library library = LIBRARY("libgif.so.7", functions);
    return load_library(&library);
}

typedef struct {
    const uint8_t *bytes;
    size_t count;
    size_t offset;
} Source;

static int read_bytes(GifFileType *file, GifByteType *output, int size) {
    Source *source = file->UserData;
    const size_t rest = source->count - source->offset;
    const size_t count = (size_t)size < rest ? (size_t)size : rest;
    memcpy(output, source->bytes + source->offset, count);
    source->offset += count;
    return (int)count;
}

static bool fail(char *message, const char *text) {
    snprintf(message, CODEC_MESSAGE_SIZE, "%s", text);
    return false;
}

static bool skip_extension(GifFileType *file) {
    int code = 0;
    GifByteType *block = NULL;
    if (gif.GetExtension(file, &code, &block) == GIF_ERROR) return false;
    while (block)
        if (gif.GetExtensionNext(file, &block) == GIF_ERROR) return false;
    return true;
}

static bool skip_image(GifFileType *file) {
    int size = 0;
    GifByteType *block = NULL;
    if (gif.GetCode(file, &size, &block) == GIF_ERROR) return false;
    while (block)
        if (gif.GetCodeNext(file, &block) == GIF_ERROR) return false;
    return true;
}

/// Reads up to the next image.
///
/// Returns 1 if there is one, 0 at the end of the file, -1 if it is damaged.
static int find_image(GifFileType *file) {
    GifRecordType kind = UNDEFINED_RECORD_TYPE;
    while (gif.GetRecordType(file, &kind) != GIF_ERROR) switch (kind) {
        case IMAGE_DESC_RECORD_TYPE: return gif.GetImageDesc(file) == GIF_ERROR ? -1 : 1;
        case EXTENSION_RECORD_TYPE:
            if (!skip_extension(file)) return -1;
            break;
        case TERMINATE_RECORD_TYPE: return 0;
        default: return -1;
        }
    return -1;
}

static bool read_header(GifFileType *file, CodecHeader *header, char *message) {
    *header = (CodecHeader){.width = (uint32_t)file->SWidth, .height = (uint32_t)file->SHeight};
    if (file->SWidth < 1 || file->SHeight < 1) return fail(message, "it has no size");
    if (find_image(file) != 1) return fail(message, "it has no image");
    if (!skip_image(file)) return fail(message, "the file ends before the image does");
    // Some files lack the mark at their end.
    header->animated = find_image(file) == 1;
    return true;
}

bool codec_gif_read_header(
    const uint8_t *bytes, size_t count, CodecHeader *header, char *message) {
    Source source = {bytes, count, 0};
    GifFileType *file = gif.Open(&source, read_bytes, NULL);
    if (!file) return fail(message, "the GIF cannot be opened");
    const bool is_whole = read_header(file, header, message);
    gif.CloseFile(file, NULL);
    return is_whole;
}

static void paint(
    const ColorMapObject *colors, const GifByteType *indices, int count, uint8_t *pixels) {
    for (int x = 0; x < count; ++x) {
        const GifColorType color =
            indices[x] < colors->ColorCount ? colors->Colors[indices[x]] : (GifColorType){0};
        pixels[3 * x] = color.Red;
        pixels[3 * x + 1] = color.Green;
        pixels[3 * x + 2] = color.Blue;
    }
}

// Interlaced rows come in four passes.
static bool read_rows(
    GifFileType *file, const ColorMapObject *colors, GifByteType *row, uint8_t *pixels) {
    static const int starts[] = {0, 4, 2, 1}, steps[] = {8, 8, 4, 2};
    const GifImageDesc image = file->Image;
    for (int pass = 0; pass < (image.Interlace ? 4 : 1); ++pass) {
        const int step = image.Interlace ? steps[pass] : 1;
        for (int y = image.Interlace ? starts[pass] : 0; y < image.Height; y += step) {
            if (gif.GetLine(file, row, image.Width) == GIF_ERROR) return false;
            const size_t start =
                (size_t)(image.Top + y) * (size_t)file->SWidth + (size_t)image.Left;
            paint(colors, row, image.Width, pixels + 3 * start);
        }
    }
    return true;
}

static bool decode(
    GifFileType *file, uint32_t width, uint32_t height, uint8_t *pixels, char *message) {
    if ((uint32_t)file->SWidth != width || (uint32_t)file->SHeight != height)
        return fail(message, "its size is another one");
    if (find_image(file) != 1) return fail(message, "it has no image");
    const GifImageDesc image = file->Image;
    const ColorMapObject *colors = image.ColorMap ? image.ColorMap : file->SColorMap;
    if (!colors) return fail(message, "it has no colors");
    if (image.Left < 0 || image.Top < 0 || image.Width < 1 || image.Height < 1
        || image.Width > file->SWidth - image.Left || image.Height > file->SHeight - image.Top)
        return fail(message, "the image is not within the canvas");
    // What the image does not cover.
    const GifByteType ground = (GifByteType)file->SBackGroundColor;
    for (size_t index = 0; file->SColorMap && index < (size_t)width * height; ++index)
        paint(file->SColorMap, &ground, 1, pixels + 3 * index);
    GifByteType *row = malloc((size_t)image.Width);
    if (!row) return fail(message, "out of memory");
    const bool is_whole = read_rows(file, colors, row, pixels);
    free(row);
    return is_whole || fail(message, "the GIF data are damaged or incomplete");
}

bool codec_gif_decode(
    const uint8_t *bytes, size_t count, uint32_t width, uint32_t height, uint8_t *pixels,
    char *message) {
    Source source = {bytes, count, 0};
    GifFileType *file = gif.Open(&source, read_bytes, NULL);
    if (!file) return fail(message, "the GIF cannot be opened");
    const bool is_whole = decode(file, width, height, pixels, message);
    gif.CloseFile(file, NULL);
    return is_whole;
}
