"""PNG, JPEG and WebP files with absurd sizes, chunks and metadata; masks and quads."""

import io
import struct
import zlib

import numpy
from PIL import Image

from .case import (
    ACCEPTED, Case, DATA, FAILED, FINE, REFUSED, Rule, USAGE, label, named_once)

COLORIZE = ("colorize", "base/model.h5", "--size", "32", "-o", "out")
# A damaged picture may be refused, or read as far as it goes.
READ = Rule((FINE, FAILED, DATA))
SIZES = [0, 1, 16_384, 16_385, 65_535, 65_536, 2**31 - 1, 2**31, 2**32 - 1]
SIGNATURE = b"\x89PNG\r\n\x1a\n"


# MARK: PNG


def chunk(kind, content, length=None, checksum=None):
    stated = len(content) if length is None else length
    if checksum is None:
        checksum = zlib.crc32(kind + content)
    return struct.pack(">I", stated) + kind + content + struct.pack(">I", checksum)


def header(width=8, height=8, depth=8, color=2, interlaced=0, compression=0, filtering=0):
    return chunk(b"IHDR", struct.pack(
        ">IIBBBBB", width, height, depth, color, compression, filtering, interlaced))


def rows(width=8, height=8, channels=3, content=None):
    data = b"".join(b"\0" + bytes([100 + y, 80, 60] * width)[:width * channels]
                    for y in range(height))
    return chunk(b"IDAT", zlib.compress(data if content is None else content))


END = chunk(b"IEND", b"")


def png(*between, head=None, data=None, end=END):
    return SIGNATURE + (head or header()) + b"".join(between) + (
        rows() if data is None else data) + end


def _exif(entries, order="<", offset=8, extra=b""):
    """TIFF data of one directory; entries are (tag, type, count, value)."""
    mark = b"II" if order == "<" else b"MM"
    body = struct.pack(order + "H", len(entries))
    body += b"".join(struct.pack(order + "HHII", *entry) for entry in entries)
    return mark + struct.pack(order + "HI", 42, offset) + body + struct.pack(order + "I", 8) + extra


def _exifs():
    """Directories: the orientation is what a reader looks for."""
    for orientation in (0, 1, 6, 9, 255, 65_535):
        yield f"orientation={orientation}", _exif([(0x112, 3, 1, orientation)])
    for kind in (0, 1, 4, 5, 13, 255, 65_535):
        yield f"type={kind}", _exif([(0x112, kind, 1, 6)])
    for count in (0, 2, 65_536, 2**31, 2**32 - 1):
        yield f"count={count}", _exif([(0x112, 3, count, 8)])
        yield f"maker-note={count}", _exif([(0x927C, 7, count, 8), (0x112, 3, 1, 6)])
    for offset in (0, 1, 7, 9, 1000, 2**31, 2**32 - 1):
        yield f"offset={offset}", _exif([(0x112, 3, 1, 6)], offset=offset)
        yield f"sub-directory={offset}", _exif([(0x8769, 4, 1, offset), (0x112, 3, 1, 6)])
    yield "cycle", _exif([(0x8769, 4, 1, 8), (0x8825, 4, 1, 8), (0x014A, 4, 1, 8)])
    yield "5000-entries", _exif([(0x112, 3, 1, 6)] * 5000)
    yield "big-endian", _exif([(0x112, 3, 1, 6 << 16)], ">")
    yield "empty", b""
    yield "huge", _exif([(0x112, 3, 1, 6)], extra=bytes(60_000))


def _profiles():
    """ICC profiles."""
    def profile(size=None, tags=(), signature=b"acsp", space=b"RGB ", count=None):
        body = struct.pack(">I", len(tags) if count is None else count)
        body += b"".join(struct.pack(">4sII", *tag) for tag in tags)
        head = bytearray(128)
        head[4:8], head[8:12], head[12:16] = b"lcms", b"\x04\x30\0\0", b"mntr"
        head[16:20], head[20:24], head[36:40] = space, b"XYZ ", signature
        head[0:4] = struct.pack(">I", 128 + len(body) if size is None else size)
        return bytes(head) + body

    for size in (0, 1, 127, 128, 2**31, 2**32 - 1):
        yield f"size={size}", profile(size)
    for count in (1, 100, 2**16, 2**31, 2**32 - 1):
        yield f"tags={count}", profile(count=count)
    for number in (0, 1, 132, 2**31, 2**32 - 1):
        yield f"tag-offset={number}", profile(tags=[(b"rXYZ", number, 20), (b"rTRC", number, 14)])
        yield f"tag-size={number}", profile(tags=[(b"rXYZ", 156, number), (b"A2B0", 156, number)])
    for space in (b"CMYK", b"GRAY", b"Lab ", b"\x1b[31", b"\0\0\0\0"):
        yield f"space={label(repr(space))}", profile(space=space)
    yield "no-signature", profile(signature=b"\0\0\0\0")
    yield "empty", b""
    yield "curve", profile(tags=[(b"rTRC", 144, 12)]) + struct.pack(">4sII", b"curv", 0, 2**32 - 1)


def _pngs():
    for size in SIZES:
        yield f"png/width={size}", png(head=header(width=size))
        yield f"png/height={size}", png(head=header(height=size))
        yield f"png/both={size}", png(head=header(width=size, height=size))
        yield f"png/length={size}", png(chunk(b"tEXt", b"a\0b", length=size))
        yield f"png/data-length={size}", png(data=chunk(b"IDAT", b"", length=size))
    for depth in (0, 1, 2, 3, 4, 16, 17, 255):
        for color in (0, 2, 3, 4, 6, 7):
            if (depth + color) % 3 == 0 or depth in (1, 16):
                yield f"png/depth={depth}-color={color}", png(head=header(depth=depth, color=color))
    for name in ("compression", "filtering", "interlaced"):
        for value in (1, 2, 255):
            yield f"png/{name}={value}", png(head=header(**{name: value}))
    indexed = header(depth=8, color=3)
    yield "png/no-palette", png(head=indexed, data=rows(channels=1))
    for count in (0, 1, 255, 256, 257, 10_000):
        yield f"png/palette={count}", png(
            chunk(b"PLTE", bytes(3 * count)), head=indexed, data=rows(channels=1))
        yield f"png/transparency={count}", png(
            chunk(b"PLTE", bytes(3)), chunk(b"tRNS", bytes(count)), head=indexed,
            data=rows(channels=1))
    yield "png/palette-of-4-bytes", png(chunk(b"PLTE", bytes(4)), head=indexed)
    yield "png/two-palettes", png(chunk(b"PLTE", bytes(3)) * 2, head=indexed)
    yield "png/two-headers", png(header())
    yield "png/no-data", png(data=b"")
    yield "png/empty-data", png(data=chunk(b"IDAT", b"") * 1000)
    yield "png/bomb", lambda: png(head=header(8000, 7999), data=rows(content=bytes(24_001 * 7999)))
    yield "png/too-much-data", lambda: png(data=rows(content=bytes(100_000_000)))
    yield "png/deflated-noise", png(data=chunk(b"IDAT", b"\x78\x9c" + b"\xff" * 100))
    yield "png/no-end", png(end=b"")
    yield "png/bad-checksum", png(data=chunk(b"IDAT", b"", checksum=1))
    yield "png/critical-chunk", png(chunk(b"XXXX", b""))
    yield "png/chunk-name", png(chunk(b"x\x1b[\n", b""))
    yield "png/100000-chunks", png(chunk(b"tEXt", b"a\0b") * 100_000)
    yield "png/text-bomb", lambda: png(*[chunk(b"zTXt",
        b"a\0\0" + zlib.compress(bytes(50_000_000)))] * 4)
    yield "png/trailing", png() + bytes(1_000_000)
    yield "png/animation", png(
        chunk(b"acTL", struct.pack(">II", 2**31, 0)),
        chunk(b"fcTL", struct.pack(">IIIIIHHBB", 0, 2**31, 2**31, 2**31, 2**31, 0, 0, 9, 9)))
    yield "png/animation-only", png(
        chunk(b"acTL", struct.pack(">II", 0, 0)), data=chunk(b"fdAT", bytes(4)))
    for value in (0, 1, 2**31 - 1, 2**31, 2**32 - 1):
        yield f"png/gamma={value}", png(chunk(b"gAMA", struct.pack(">I", value)))
        yield f"png/chromaticities={value}", png(chunk(b"cHRM", struct.pack(">8I", *[value] * 8)))
        yield f"png/resolution={value}", png(chunk(b"pHYs", struct.pack(">IIB", value, value, 1)))
    for name, content in _exifs():
        yield f"png/exif-{name}", png(chunk(b"eXIf", content))
    for name, content in _profiles():
        yield f"png/profile-{name}", png(
            chunk(b"iCCP", b"x\0\0" + zlib.compress(content)))
    yield "png/profile-bomb", lambda: png(chunk(b"iCCP",
        b"x\0\0" + zlib.compress(bytes(200_000_000))))
    yield "png/profile-name", png(chunk(b"iCCP", b"\x1b" * 100 + b"\0\0"))


# MARK: JPEG


def segment(marker, content, length=None):
    size = len(content) + 2 if length is None else length
    return struct.pack(">BBH", 0xFF, marker, size) + content


def _jpeg(mode="RGB", **options):
    stream = io.BytesIO()
    pixels = numpy.arange(16 * 16 * 3, dtype="u1").reshape(16, 16, 3)
    Image.fromarray(pixels).convert(mode).save(stream, "JPEG", **options)
    return stream.getvalue()


def _jpegs():
    plain = _jpeg()
    frame = plain.index(b"\xff\xc0")
    for number in (0, 1, 16_384, 16_385, 65_500, 65_535):
        for name, place in (("height", 5), ("width", 7)):
            content = bytearray(plain)
            content[frame + place:frame + place + 2] = struct.pack(">H", number)
            yield f"jpeg/{name}={number}", bytes(content)
    for name, place in (("precision", 4), ("components", 9), ("sampling", 11), ("table", 12)):
        for number in (0, 1, 2, 4, 5, 12, 0x44, 0x14, 255):
            content = bytearray(plain)
            content[frame + place] = number
            yield f"jpeg/{name}={number}", bytes(content)
    for marker in (0xC1, 0xC3, 0xC5, 0xC7, 0xC9, 0xCB, 0xD8, 0xD9, 0xDA, 0xDC, 0xFE, 0x00, 0x01):
        content = bytearray(plain)
        content[frame + 1] = marker
        yield f"jpeg/frame-marker={marker:x}", bytes(content)
    for length in (0, 1, 2, 16, 65_535):
        yield f"jpeg/segment={length}", plain[:2] + segment(0xE5, b"x", length) + plain[2:]
    for interval in (0, 1, 65_535):
        yield f"jpeg/restart={interval}", plain[:2] + segment(
            0xDD, struct.pack(">H", interval)) + plain[2:]
    for share in (2, 3, 20, 100, 300, len(plain) - 20, len(plain) - 2):
        yield f"jpeg/cut={share}", plain[:share]
    progressive = _jpeg(progressive=True)
    scan = progressive.rindex(b"\xff\xda")
    for count in (99, 1000, 50_000):
        yield f"jpeg/scans={count}", progressive[:-2] + progressive[scan:-2] * count + b"\xff\xd9"
    yield "jpeg/cmyk", _jpeg("CMYK")
    yield "jpeg/gray", _jpeg("L")
    yield "jpeg/two-frames", plain[:frame] + plain[frame:frame + 19] + plain[frame:]
    yield "jpeg/no-tables", plain[:2] + plain[frame:]
    yield "jpeg/comments", plain[:2] + segment(0xFE, bytes(65_533)) * 300 + plain[2:]
    yield "jpeg/padding", plain[:2] + b"\xff" * 3_000_000 + plain[2:]
    for name, content in _exifs():
        yield f"jpeg/exif-{name}", plain[:2] + segment(0xE1, b"Exif\0\0" + content) + plain[2:]
    yield "jpeg/two-exifs", plain[:2] + segment(
        0xE1, b"Exif\0\0" + _exif([(0x112, 3, 1, 6)])) * 200 + plain[2:]
    for part, parts in ((0, 0), (1, 0), (0, 1), (2, 1), (255, 255), (1, 255)):
        for name, content in list(_profiles())[::9]:
            yield f"jpeg/profile-{part}-of-{parts}-{name}", plain[:2] + segment(
                0xE2, b"ICC_PROFILE\0" + bytes([part, parts]) + content) + plain[2:]
    yield "jpeg/255-profile-parts", plain[:2] + b"".join(
        segment(0xE2, b"ICC_PROFILE\0" + bytes([part, 255]) + bytes(65_000))
        for part in range(1, 256)) + plain[2:]


# MARK: WebP


def riff(kind, content, length=None):
    size = len(content) if length is None else length
    return kind + struct.pack("<I", size) + content + bytes(len(content) % 2)


def webp(*chunks, length=None):
    body = b"WEBP" + b"".join(chunks)
    return b"RIFF" + struct.pack("<I", len(body) if length is None else length) + body


def _webps():
    stream = io.BytesIO()
    Image.new("RGB", (16, 16), (90, 60, 30)).save(stream, "WebP")
    plain = stream.getvalue()
    picture = plain[12:]
    for number in SIZES:
        yield f"webp/length={number}", webp(picture, length=number)
        yield f"webp/chunk-length={number}", webp(picture[:4] + struct.pack("<I", number)
                                                 + picture[8:])

    def extended(flags, width=16, height=16):
        return riff(b"VP8X", struct.pack("<I", flags) + (width - 1).to_bytes(3, "little")
                    + (height - 1).to_bytes(3, "little"))

    for flags in (0, 2, 8, 16, 32, 63, 255):
        yield f"webp/flags={flags}", webp(extended(flags), picture)
    for size in (1, 17, 2**14, 2**24):
        yield f"webp/canvas={size}", webp(extended(0, size, size), picture)
    for size in (0, 1, 2**13, 2**14 - 1):
        content = bytearray(plain)
        content[26:30] = struct.pack("<HH", size, size)
        yield f"webp/frame={size}", bytes(content)
    lossless = (2**14 - 1) | (2**14 - 1) << 14
    yield "webp/lossless-huge", webp(riff(b"VP8L", b"\x2f" + struct.pack("<I", lossless)
                                          + bytes(100)))
    yield "webp/animation", webp(
        extended(2), riff(b"ANIM", bytes(6)), riff(b"ANMF", b"\xff" * 16 + picture))
    yield "webp/animation-empty", webp(extended(2), riff(b"ANIM", bytes(6)))
    yield "webp/no-picture", webp()
    yield "webp/many-chunks", webp(extended(0), *[riff(b"XXXX", b"")] * 100_000, picture)
    for name, content in list(_exifs())[::3]:
        yield f"webp/exif-{name}", webp(extended(8), picture, riff(b"EXIF", content))
    for name, content in list(_profiles())[::3]:
        yield f"webp/profile-{name}", webp(extended(32), riff(b"ICCP", content), picture)


# MARK: Masks and quads


def _image(mode, size, color=255):
    stream = io.BytesIO()
    Image.new(mode, size, color).save(stream, "PNG")
    return stream.getvalue()


def _masks():
    """(name, rule, further options, mask)."""
    for size in ((1, 1), (47, 40), (480, 400), (4096, 4096)):
        yield f"size={size[0]}x{size[1]}", Rule((FINE, DATA)), [], _image("L", size)
    for name in ("RGB", "RGBA", "P", "1", "I;16", "LA"):
        yield f"mode={label(name)}", Rule((FINE, DATA)), [], _image(
            name, (48, 40), 1 if name in "1P" else 0)
    deep = png(head=header(48, 40, 16, 0), data=rows(48, 40, 2))
    indexed = png(chunk(b"PLTE", bytes(3)), head=header(48, 40, 8, 3), data=rows(48, 40, 1))
    for numbers in ("0", "1", "-1", "65535", "65536", "9223372036854775808", "", ",", "1,,2", "x",
                    "1," * 50_000 + "1", "１", "1;2", " 1"):
        rule = Rule((FINE, DATA, USAGE))
        yield f"instances={label(numbers)}", rule, ["--instances", numbers], deep
        yield f"indices={label(numbers)}", rule, ["--instances", numbers], indexed
    for content in (b"", b"x" * 100, SIGNATURE, png(head=header(2**31 - 1, 1))):
        yield f"bytes={label(repr(content))}", REFUSED, [], content


QUADS = [
    "0,0 48,0 48,40 0,40", "0,0 0,0 0,0 0,0", "0,0 1,0 2,0 3,0", "0,0 48,40 48,0 0,40",
    "-1e308,0 48,0 48,40 0,40", "nan,0 48,0 48,40 0,40", "inf,0 48,0 48,40 0,40",
    "1e400,0 1,0 1,1 0,1",
    "-1,-1 49,-1 49,41 -1,41",
    "-1000000,-1000000 1000000,-1000000 1000000,1000000 -1000000,1000000",
    "0,0 1e-300,0 1e-300,1e-300 0,1e-300", "0,40 48,40 48,0 0,0", "0,0 48,0 24,1 0,40",
    "9223372036854775807,0 48,0 48,40 0,40", "20,20 20.001,20 20.001,20.001 20,20.001",
    "47.9,39.9 48,39.9 48,40 47.9,40", "100,100 200,100 200,200 100,200", "0,0 48,0 48,40", "0,0",
    "0 0 48 0 48 40 0 40", ",", "0,0,0 1,1 2,2 3,3", "x,y x,y x,y x,y", "",
    "1e9,0 1e9,1e9 0,1e9 1,1", "0,0 1e15,0 1e15,1 0,1",
]


def cases(base):
    """All of these pictures, masks and quads."""
    made = []
    for name, content in (*_pngs(), *_jpegs(), *_webps()):
        suffix = {"png": "png", "jpeg": "jpg", "webp": "webp"}[name.split("/")[0]]

        def write(folder, content=content, suffix=suffix):
            # Large ones are made when they are needed.
            data = content() if callable(content) else content
            (folder / f"photo.{suffix}").write_bytes(data)

        command = (*COLORIZE, f"photo.{suffix}")
        if len(made) % 4 == 3:
            command = ("evaluate", "base/model.h5", "--data", ".", "--size", "32", "--json")
        elif len(made) % 16 == 5:
            command = ("dataset", "pack", ".", "-o", "pack.h5")
        made.append(Case(f"picture/{name}", READ, command, write, keeps=("out",)))
    for name, rule, options, content in _masks():
        made.append(Case(
            f"mask/{name}", rule, (*COLORIZE, "base/photo.png", "--mask", "mask.png", *options),
            lambda folder, content=content: (folder / "mask.png").write_bytes(content),
            keeps=("out",)))
    for quad in QUADS:
        rule = ACCEPTED if quad in QUADS[:1] else Rule((FINE, USAGE, DATA))
        made.append(Case(
            f"quad/{label(quad)}", rule, (*COLORIZE, "base/photo.png", "--quad", quad.strip()),
            keeps=("out",)))
        made.append(Case(
            f"quad-words/{label(quad)}", rule,
            (*COLORIZE, "base/photo.png", "--quad", *quad.split(" ")), keeps=("out",)))
    return named_once(made)
