#include <stdio.h>

#include <webp/decode.h>

#include "CImageCodecs.h"

static const char *explain(VP8StatusCode status) {
    switch (status) {
    case VP8_STATUS_OK: return "";
    case VP8_STATUS_OUT_OF_MEMORY: return "out of memory";
    case VP8_STATUS_UNSUPPORTED_FEATURE: return "a feature of WebP that is not supported";
    case VP8_STATUS_SUSPENDED:
    case VP8_STATUS_NOT_ENOUGH_DATA: return "the file ends before the image does";
    default: return "the WebP data is damaged";
    }
}

static bool report(VP8StatusCode status, char *message) {
    snprintf(message, CODEC_MESSAGE_SIZE, "%s", explain(status));
    return status == VP8_STATUS_OK;
}

bool codec_webp_read_header(
    const uint8_t *bytes, size_t count, CodecHeader *header, char *message) {
    WebPBitstreamFeatures features;
    const VP8StatusCode status = WebPGetFeatures(bytes, count, &features);
    if (status == VP8_STATUS_OK)
        *header = (CodecHeader){
            (uint32_t)features.width, (uint32_t)features.height, features.has_animation != 0};
    return report(status, message);
}

// Without an alpha channel in the output, libwebp drops the one in the file unblended.
bool codec_webp_decode(
    const uint8_t *bytes, size_t count, uint32_t channels, uint32_t width, uint32_t height,
    uint8_t *pixels, char *message) {
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config)) return report(VP8_STATUS_OUT_OF_MEMORY, message);
    VP8StatusCode status = WebPGetFeatures(bytes, count, &config.input);
    if (status != VP8_STATUS_OK) return report(status, message);
    // libwebp only asks that an outside buffer be large enough.
    if (config.input.width != (int)width || config.input.height != (int)height)
        return report(VP8_STATUS_BITSTREAM_ERROR, message);
    config.output.colorspace = channels == 4 ? MODE_RGBA : MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = pixels;
    config.output.u.RGBA.stride = (int)(channels * width);
    config.output.u.RGBA.size = channels * (size_t)width * height;
    status = WebPDecode(bytes, count, &config);
    WebPFreeDecBuffer(&config.output);
    return report(status, message);
}
