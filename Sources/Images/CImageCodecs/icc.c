#include <lcms2.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "CImageCodecs.h"

bool codec_inflate(const uint8_t *bytes, size_t count, uint8_t *output, size_t *size) {
    uLongf length = *size;
    const int status = uncompress(output, &length, bytes, count);
    *size = length;
    return status == Z_OK;
}

// sRGB by another name is left as it is: a transformation would only round.
static bool is_srgb(cmsHPROFILE profile) {
    char text[256] = "";
    cmsGetProfileInfoASCII(profile, cmsInfoDescription, "en", "US", text, sizeof text - 1);
    return strstr(text, "sRGB") != NULL;
}

// The first of three channels.
#define GRAY_OF_RGB (COLORSPACE_SH(PT_GRAY) | CHANNELS_SH(1) | EXTRA_SH(2) | BYTES_SH(1))

static bool are_gray(const uint8_t *pixels, uint32_t count) {
    for (uint32_t index = 0; index < count; ++index, pixels += 3)
        if (pixels[0] != pixels[1] || pixels[0] != pixels[2]) return false;
    return true;
}

static void transform(
    cmsHPROFILE profile, cmsUInt32Number format, uint8_t *pixels, uint32_t count) {
    cmsHPROFILE standard = cmsCreate_sRGBProfile();
    if (!standard) return;
    const cmsUInt32Number intent = INTENT_RELATIVE_COLORIMETRIC;
    cmsHTRANSFORM to_srgb = cmsCreateTransform(
        profile, format, standard, TYPE_RGB_8, intent, cmsFLAGS_BLACKPOINTCOMPENSATION);
    if (to_srgb) {
        cmsDoTransform(to_srgb, pixels, pixels, count);
        cmsDeleteTransform(to_srgb);
    }
    cmsCloseProfile(standard);
}

void codec_srgb_profile(uint8_t *bytes, size_t *size) {
    // Where the header has the time at which the profile was made: year, month, day, hour, ….
    enum { TIME_START = 24, TIME_SIZE = 12 };
    static const uint8_t time[TIME_SIZE] = {0x07, 0xd0, 0, 1, 0, 1};
    const size_t room = *size;
    *size = 0;
    cmsHPROFILE profile = cmsCreate_sRGBProfile();
    if (!profile) return;
    cmsUInt32Number count = 0;
    if (cmsSaveProfileToMem(profile, NULL, &count) && count <= room
        && count > TIME_START + TIME_SIZE && cmsSaveProfileToMem(profile, bytes, &count)) {
        memcpy(bytes + TIME_START, time, TIME_SIZE);
        *size = count;
    }
    cmsCloseProfile(profile);
}

void codec_to_srgb(const uint8_t *profile, size_t size, uint8_t *pixels, uint32_t count) {
    cmsHPROFILE opened = cmsOpenProfileFromMem(profile, (cmsUInt32Number)size);
    if (!opened) return;
    const cmsColorSpaceSignature space = cmsGetColorSpace(opened);
    if (space == cmsSigRgbData && !is_srgb(opened))
        transform(opened, TYPE_RGB_8, pixels, count);
    else if (space == cmsSigGrayData && are_gray(pixels, count))
        transform(opened, GRAY_OF_RGB, pixels, count);
    cmsCloseProfile(opened);
}
