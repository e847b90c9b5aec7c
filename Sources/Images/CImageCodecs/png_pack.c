// Packs rows of a PNG: filters each and compresses them, as libpng does, but in parts of the image
// that several threads can share.

#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "CImageCodecs.h"
#include "clones.h"

// RGB in bytes.
#define CHANNELS 3
// What deflate refers back to.
#define WINDOW 32768
enum { FILTER_NONE, FILTER_SUB, FILTER_UP, FILTER_AVERAGE, FILTER_PAETH, FILTERS };

RT_INLINE int distance(int x, int y) { return x > y ? x - y : y - x; }

RT_INLINE uint8_t paeth(int left, int up, int corner) {
    int sum = left + up - corner;
    int a = distance(sum, left), b = distance(sum, up), c = distance(sum, corner);
    int best = b <= c ? up : corner;
    return (uint8_t)(a <= b && a <= c ? left : best);
}

// The bytes of a filter, and the sum of their distances from 0.
RT_CLONES static uint32_t filter(
    int type, const uint8_t *row, const uint8_t *up, uint8_t *out, size_t count) {
    const uint8_t *left = row - CHANNELS, *corner = up - CHANNELS;
    switch (type) {
    case FILTER_NONE: memcpy(out, row, count); break;
    case FILTER_SUB:
        for (size_t i = 0; i < count; i++) out[i] = (uint8_t)(row[i] - left[i]);
        break;
    case FILTER_UP:
        for (size_t i = 0; i < count; i++) out[i] = (uint8_t)(row[i] - up[i]);
        break;
    case FILTER_AVERAGE:
        for (size_t i = 0; i < count; i++) out[i] = (uint8_t)(row[i] - (left[i] + up[i]) / 2);
        break;
    default:
        for (size_t i = 0; i < count; i++)
            out[i] = (uint8_t)(row[i] - paeth(left[i], up[i], corner[i]));
    }
    uint32_t sum = 0;
    for (size_t i = 0; i < count; i++) sum += out[i] < 128 ? out[i] : 256u - out[i];
    return sum;
}

// The rows of one part, each after CHANNELS zeros, and what is computed from them.
struct rows {
    size_t count;
    // The row, the one above it, and two filtered ones.
    uint8_t *row, *up, *best, *other;
};

static void load(struct rows *rows, const uint8_t *pixels) {
    uint8_t *above = rows->row;
    rows->row = rows->up;
    rows->up = above;
    memcpy(rows->row + CHANNELS, pixels, rows->count);
}

// Writes the filter with the least sum, and its bytes.
static void choose(struct rows *rows, uint8_t *out) {
    uint32_t least = UINT32_MAX;
    for (int type = 0; type < FILTERS; type++) {
        uint32_t sum = filter(
            type, rows->row + CHANNELS, rows->up + CHANNELS, rows->other, rows->count);
        if (sum >= least) continue;
        uint8_t *better = rows->other;
        rows->other = rows->best;
        rows->best = better;
        least = sum;
        out[0] = (uint8_t)type;
    }
    memcpy(out + 1, rows->best, rows->count);
}

static void deflate_rows(const uint8_t *rows, size_t before, size_t count, int level, bool last,
                         CodecBlock *block) {
    z_stream stream = {0};
    if (deflateInit2(&stream, level, Z_DEFLATED, -15, 8, Z_FILTERED) != Z_OK) return;
    if (before) deflateSetDictionary(&stream, rows, (uInt)before);
    // The end of a part takes a few bytes beyond those of the bound.
    const size_t capacity = deflateBound(&stream, count) + 64;
    uint8_t *bytes = malloc(capacity);
    stream.next_in = (Bytef *)rows + before;
    stream.avail_in = (uInt)count;
    stream.next_out = bytes;
    stream.avail_out = (uInt)capacity;
    const int status = bytes ? deflate(&stream, last ? Z_FINISH : Z_SYNC_FLUSH) : Z_MEM_ERROR;
    deflateEnd(&stream);
    if (status != (last ? Z_STREAM_END : Z_OK) || stream.avail_in || !stream.avail_out) {
        free(bytes);
        return;
    }
    uint8_t *smaller = realloc(bytes, stream.total_out);
    block->bytes = smaller ? smaller : bytes;
    block->count = stream.total_out;
    block->unpacked = count;
    block->checksum = (uint32_t)adler32(1, rows + before, (uInt)count);
}

void codec_png_pack(const uint8_t *pixels, uint32_t width, uint32_t first, uint32_t count,
                    bool last, int level, CodecBlock *block) {
    const size_t bytes = (size_t)CHANNELS * width, line = bytes + 1;
    const size_t known = (WINDOW + line - 1) / line;
    const uint32_t above = known < first ? (uint32_t)known : first;
    uint8_t *memory = calloc(4, bytes + CHANNELS);
    uint8_t *filtered = malloc(line * (above + (size_t)count));
    if (memory && filtered && line * count <= CODEC_PNG_PART) {
        const size_t step = bytes + CHANNELS;
        struct rows rows = {bytes, memory, memory + step, memory + 2 * step, memory + 3 * step};
        const uint32_t start = first - above;
        if (start > 0) load(&rows, pixels + bytes * (start - 1));
        for (uint32_t y = 0; y < above + count; y++) {
            load(&rows, pixels + bytes * (start + y));
            choose(&rows, filtered + line * y);
        }
        const size_t before = line * above < WINDOW ? line * above : WINDOW;
        deflate_rows(
            filtered + line * above - before, before, line * count, level, last, block);
    }
    free(memory);
    free(filtered);
}
