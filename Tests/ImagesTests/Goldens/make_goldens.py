"""Makes the pictures that the ImageIO tests read, and what Pillow says they hold.

    python make_goldens.py [KIND…]    (needs Pillow 13, pillow-heif and numpy; writes next to it)

A kind is one of the functions `make_KIND`; without any, all are made.

`<name>.<extension>` is a file to decode, `<name>.expected.png` its RGB pixels as Pillow has
them, upright. `expected.rgb` holds the pixels of `rgb8.png` without any format around them: it
shows that PNG itself is read right, so that the others may be PNG.
"""

import io
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
import pillow_heif
from PIL import Image, ImageCms, ImageOps

HERE = Path(__file__).parent
WIDTH, HEIGHT = 31, 22
FILTERS = {
    "box": Image.Resampling.BOX,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "lanczos": Image.Resampling.LANCZOS,
}
SIZES = [(13, 9), (31, 7), (5, 22), (40, 33), (1, 1), (64, 5), (28, 14), (29, 18), (90, 1)]


def picture(width: int, height: int) -> np.ndarray:
    """Slopes in each channel, a bright and a dark square, a little noise."""
    y, x = np.mgrid[0:height, 0:width] / [[[height]], [[width]]]
    rgb = np.stack([x, y, 1 - (x + y) / 2], axis=-1) * 255
    rgb[height // 5 : height // 2, width // 4 : width // 2] = [250, 240, 10]
    rgb[height // 2 :, width // 2 : 3 * width // 4] = [20, 0, 90]
    rgb += np.random.default_rng(7).normal(0, 8, rgb.shape)
    return rgb.clip(0, 255).round().astype(np.uint8)


def save_expected(name: str, image: Image.Image) -> None:
    image.save(HERE / f"{name}.expected.png", optimize=True)


def save(name: str, image: Image.Image, **options) -> None:
    """Writes a picture and what Pillow reads back."""
    path = HERE / name
    image.save(path, **options)
    expect(path)


def expect(path: Path) -> None:
    read = ImageOps.exif_transpose(Image.open(path))
    save_expected(path.stem, read.convert("RGB"))


# PNG kinds that Pillow does not write


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(width: int, height: int, depth: int, kind: int, interlaced: bool, rows: bytes) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, int(interlaced))
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows, 9))
        + chunk(b"IEND", b"")
    )


def unfiltered(pixels: np.ndarray) -> bytes:
    return b"".join(b"\0" + row.tobytes() for row in pixels)


def adam7(pixels: np.ndarray) -> bytes:
    passes = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2),
              (1, 0, 2, 1)]
    return b"".join(unfiltered(pixels[y::dy, x::dx]) for y, x, dy, dx in passes)


def sixteen_bits(rgb: np.ndarray) -> np.ndarray:
    low = np.random.default_rng(8).integers(0, 256, rgb.shape)
    return (rgb.astype(np.uint16) * 256 + low).astype(">u2")


def make_png(rgb: np.ndarray) -> None:
    image = Image.fromarray(rgb)
    gray = image.convert("L")
    alpha = Image.fromarray(rgb[..., 0])
    (HERE / "expected.rgb").write_bytes(rgb.tobytes())
    image.save(HERE / "rgb8.png")
    save("gray8.png", gray)
    save("gray1.png", gray.convert("1"))
    save("rgba8.png", Image.merge("RGBA", [*image.split(), alpha]))
    save("grayalpha8.png", Image.merge("LA", [gray, alpha]))
    palette = image.quantize(15)
    save("palette4.png", palette, bits=4)
    save("palette-transparent.png", image.quantize(60), transparency=3)
    (HERE / "interlaced.png").write_bytes(png(WIDTH, HEIGHT, 8, 2, True, adam7(rgb)))
    expect(HERE / "interlaced.png")
    wide = sixteen_bits(rgb)
    (HERE / "rgb16.png").write_bytes(png(WIDTH, HEIGHT, 16, 2, False, unfiltered(wide)))
    expect(HERE / "rgb16.png")
    # Pillow clips 16-bit gray to 255, which whitens it: like other samples, it keeps its high byte.
    (HERE / "gray16.png").write_bytes(png(WIDTH, HEIGHT, 16, 0, False, unfiltered(wide[..., 1])))
    high = (wide[..., 1] >> 8).astype(np.uint8)
    save_expected("gray16", Image.fromarray(high).convert("RGB"))


def make_bad(rgb: np.ndarray) -> None:
    row = b"\0" * (1 + 3 * 20000)
    (HERE / "too-wide.bad.png").write_bytes(png(20000, 20, 8, 2, False, row))
    (HERE / "too-many.bad.png").write_bytes(png(16000, 16000, 8, 2, False, row))
    frames = [Image.fromarray(rgb), Image.fromarray(255 - rgb)]
    frames[0].save(HERE / "animated.bad.webp", save_all=True, append_images=frames[1:])
    data = (HERE / "progressive.jpg").read_bytes()
    # The first scan, over and over: some kilobytes of this can take a minute.
    start = data.index(b"\xff\xda")
    end = data.index(b"\xff\xc4", start)
    (HERE / "scans.bad.jpg").write_bytes(data[:start] + data[start:end] * 120 + data[end:])


def make_jpeg(rgb: np.ndarray) -> None:
    image = Image.fromarray(rgb)
    for name, subsampling in [("444", 0), ("422", 1), ("420", 2)]:
        save(f"jpeg{name}.jpg", image, quality=85, subsampling=subsampling)
    save("jpeg-gray.jpg", image.convert("L"), quality=85)
    save("jpeg-rgb.jpg", image, quality=85, keep_rgb=True)
    save("jpeg-restart.jpg", image, quality=85, restart_marker_rows=1)
    save("progressive.jpg", image, quality=85, progressive=True)
    ink = Image.fromarray(np.dstack([255 - rgb, rgb[..., 1] // 3]), "CMYK")
    save("cmyk.jpg", ink, quality=85)
    # The last byte of Adobe's marker says which color transform was used: 0 none, 2 YCCK.
    data = bytearray((HERE / "cmyk.jpg").read_bytes())
    data[data.index(b"Adobe") + 11] = 2
    (HERE / "ycck.jpg").write_bytes(data)
    expect(HERE / "ycck.jpg")


def make_levels(rgb: np.ndarray) -> None:
    """`levels-<name>.png` and, as little-endian uint16, what it stores: `levels-<name>.u16`."""
    height, width = rgb.shape[:2]
    y, x = np.mgrid[0:height, 0:width]
    exif = Image.Exif()
    exif[0x0112] = 6

    def expect_levels(name: str, levels: np.ndarray) -> None:
        (HERE / f"levels-{name}.u16").write_bytes(levels.astype("<u2").tobytes())

    # Every level from 0 to 65535 in steps, the ends too.
    wide = np.linspace(0, 65535, width * height).round().astype(np.uint16).reshape(height, width)
    (HERE / "levels-gray16.png").write_bytes(
        png(width, height, 16, 0, False, unfiltered(wide.astype(">u2"))))
    expect_levels("gray16", wide)
    (HERE / "levels-interlaced16.png").write_bytes(
        png(width, height, 16, 0, True, adam7(wide.astype(">u2"))))
    expect_levels("interlaced16", wide)
    narrow = ((3 * x + 5 * y) % 256).astype(np.uint8)
    (HERE / "levels-interlaced8.png").write_bytes(png(width, height, 8, 0, True, adam7(narrow)))
    expect_levels("interlaced8", narrow)
    alpha = np.dstack([narrow, 255 - narrow])
    (HERE / "levels-grayalpha8.png").write_bytes(
        png(width, height, 8, 4, False, unfiltered(alpha)))
    expect_levels("grayalpha8", narrow)
    nibbles = ((x + y) % 16).astype(np.uint8)
    padded = np.pad(nibbles, ((0, 0), (0, width % 2)))
    packed = padded[:, 0::2] << 4 | padded[:, 1::2]
    (HERE / "levels-gray4.png").write_bytes(png(width, height, 4, 0, False, unfiltered(packed)))
    expect_levels("gray4", nibbles)
    palette = Image.fromarray(rgb).quantize(15)
    palette.save(HERE / "levels-palette4.png", bits=4)
    expect_levels("palette4", np.asarray(Image.open(HERE / "levels-palette4.png")))
    # A profile and an orientation, of which only the latter counts.
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    Image.fromarray(narrow).save(HERE / "levels-turned8.png", exif=exif, icc_profile=profile)
    turned = ImageOps.exif_transpose(Image.open(HERE / "levels-turned8.png"))
    expect_levels("turned8", np.asarray(turned))
    # Luma of colors.
    luma = np.asarray(Image.open(HERE / "rgb8.png").convert("L"))
    expect_levels("luma", luma)


def make_composed(rgb: np.ndarray) -> None:
    """`<name>-over.expected.png`: laid over the mirrored picture."""
    ground = Image.fromarray(rgb[:, ::-1]).convert("RGBA")
    names = ["rgba8.png", "grayalpha8.png", "palette-transparent.png", "rgb16.png", "alpha.webp",
             "tiff-alpha.tif", "tiff-grayalpha.tif"]
    for name in names:
        top = Image.open(HERE / name).convert("RGBA")
        result = Image.alpha_composite(ground, top).convert("RGB")
        save_expected(f"{name.split('.')[0]}-over", result)


def make_scaled(rgb: np.ndarray) -> None:
    image = Image.fromarray(np.tile(rgb, (3, 3, 1)))
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=90)
    (HERE / "scaled.jpg").write_bytes(buffer.getvalue())
    for scale in [1, 2, 4, 8]:
        read = Image.open(io.BytesIO(buffer.getvalue()))
        read.draft("RGB", (image.width // scale, image.height // scale))
        save_expected(f"scaled-{scale}", read.convert("RGB"))


def make_webp(rgb: np.ndarray) -> None:
    image = Image.fromarray(rgb)
    save("lossy.webp", image, quality=80)
    save("lossless.webp", image, lossless=True)
    alpha = Image.fromarray(rgb[..., 0])
    save("alpha.webp", Image.merge("RGBA", [*image.split(), alpha]), lossless=True, exact=True)


def make_orientations(rgb: np.ndarray) -> None:
    image = Image.fromarray(rgb[:14, :17])
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = orientation
        save(f"orientation-{orientation}.jpg", image, exif=exif, quality=90, subsampling=0)
    exif[0x0112] = 6
    save("orientation-png.png", image, exif=exif)
    save("orientation-webp.webp", image, exif=exif, lossless=True)


def fixed(*values: float) -> bytes:
    return b"".join(struct.pack(">i", round(value * 65536)) for value in values)


def curve(gamma: float) -> bytes:
    return b"curv\0\0\0\0" + struct.pack(">IH", 1, round(gamma * 256))


def wide_profile() -> bytes:
    """A gamut wider than sRGB's, gamma 2.2."""
    tags = {
        b"rXYZ": b"XYZ \0\0\0\0" + fixed(0.6097, 0.3111, 0.0195),
        b"gXYZ": b"XYZ \0\0\0\0" + fixed(0.2053, 0.6257, 0.0609),
        b"bXYZ": b"XYZ \0\0\0\0" + fixed(0.1492, 0.0632, 0.7446),
    }
    tags |= {name: curve(2.2) for name in (b"rTRC", b"gTRC", b"bTRC")}
    return profile(b"RGB ", b"wide gamut", tags)


def profile(space: bytes, text: bytes, tags: dict[bytes, bytes]) -> bytes:
    """A minimal ICC profile."""
    text += b"\0"
    tags = {
        b"desc": b"desc\0\0\0\0" + struct.pack(">I", len(text)) + text + b"\0" * 78,
        b"cprt": b"text\0\0\0\0none\0",
        b"wtpt": b"XYZ \0\0\0\0" + fixed(0.9642, 1.0, 0.8249),
    } | tags
    table, data = struct.pack(">I", len(tags)), b""
    start = 128 + 4 + 12 * len(tags)
    for name, content in tags.items():
        table += name + struct.pack(">II", start + len(data), len(content))
        data += content + b"\0" * (-len(content) % 4)
    size = start + len(data)
    header = struct.pack(">I4sI4s4s4s12s4s", size, b"", 0x02100000, b"mntr", space, b"XYZ ",
                         b"\0" * 12, b"acsp")
    header += b"\0" * 28 + fixed(0.9642, 1.0, 0.8249)
    return header + b"\0" * (128 - len(header)) + table + data


def expect_in_srgb(name: str, mode: str, profile: bytes) -> None:
    """What a file with the profile shows."""
    read = Image.open(HERE / name).convert(mode)
    save_expected(
        Path(name).stem,
        ImageCms.profileToProfile(
            read, io.BytesIO(profile), ImageCms.createProfile("sRGB"),
            ImageCms.Intent.RELATIVE_COLORIMETRIC, outputMode="RGB",
            flags=ImageCms.Flags.BLACKPOINTCOMPENSATION))


def make_profiles(rgb: np.ndarray) -> None:
    image, wide = Image.fromarray(rgb), wide_profile()
    for name, options in [("profile-png.png", {}), ("profile-webp.webp", {"lossless": True}),
                          ("profile-jpeg.jpg", {"quality": 95, "subsampling": 0}),
                          ("profile-tiff.tif", {})]:
        image.save(HERE / name, icc_profile=wide, **options)
        expect_in_srgb(name, "RGB", wide)
    bright = profile(b"GRAY", b"gamma 1.8", {b"kTRC": curve(1.8)})
    for name in ("profile-gray.png", "profile-grayjpeg.jpg"):
        image.convert("L").save(HERE / name, icc_profile=bright)
        expect_in_srgb(name, "L", bright)
    # A profile for gray says nothing about colors.
    save("profile-wrong.png", image, icc_profile=bright)
    srgb = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    save("profile-srgb.png", image, icc_profile=srgb)
    save("profile-damaged.png", image, icc_profile=wide[:150])


def make_resized(rgb: np.ndarray) -> None:
    image = Image.fromarray(rgb)
    plane = rgb[..., 0].astype(np.float32) - 110
    (HERE / "plane.f32").write_bytes(plane.astype("<f4").tobytes())
    for name, kind in FILTERS.items():
        planes = [np.asarray(Image.fromarray(plane).resize(size, kind)) for size in SIZES]
        data = b"".join(p.astype("<f4").tobytes() for p in planes)
        (HERE / f"resized-{name}.f32").write_bytes(data)
        pictures = [image.resize(size, kind) for size in SIZES]
        (HERE / f"resized-{name}.rgb").write_bytes(b"".join(p.tobytes() for p in pictures))


def make_tiff(rgb: np.ndarray) -> None:
    image = Image.fromarray(rgb)
    gray = image.convert("L")
    save("tiff-lzw.tif", image, compression="tiff_lzw")
    save("tiff-deflate.tif", image, compression="tiff_adobe_deflate", big_endian=True)
    save("tiff-gray.tif", gray, compression="packbits")
    save("tiff-palette.tif", image.quantize(60), compression="tiff_lzw")
    save("tiff-fax.tif", gray.convert("1"), compression="group4")
    save("tiff-jpeg.tif", image, compression="jpeg", quality=90)
    save("tiff-turned.tif", image, tiffinfo={274: 6})
    # From transparent to opaque: colors are not multiplied by their alpha.
    alpha = Image.fromarray(rgb[..., 0] * (rgb[..., 0] > 60))
    save("tiff-alpha.tif", Image.merge("RGBA", [*image.split(), alpha]))
    save("tiff-grayalpha.tif", Image.merge("LA", [gray, alpha]))
    # Colors that are visible enough to survive a multiplication by their alpha.
    alpha = np.maximum(rgb[..., :1], 128)
    multiplied = (rgb.astype(int) * alpha + 127) // 255
    multiplied = Image.fromarray(np.dstack([multiplied.astype(np.uint8), alpha]))
    for name, kind in [("tiff-multiplied.tif", 1), ("tiff-unspecified.tif", 0)]:
        multiplied.save(HERE / name)
        tag = struct.pack("<HHIH", 338, 3, 1, 2)
        data = (HERE / name).read_bytes()
        assert data.count(tag) == 1
        (HERE / name).write_bytes(data.replace(tag, struct.pack("<HHIH", 338, 3, 1, kind)))
        expect(HERE / name)
    # As of other samples, the high byte.
    wide = sixteen_bits(rgb)[..., 1]
    Image.fromarray(wide.astype("<u2")).save(HERE / "tiff-gray16.tif")
    save_expected("tiff-gray16", Image.fromarray((wide >> 8).astype(np.uint8)).convert("RGB"))
    image.save(HERE / "tiff-pages.tif", save_all=True, append_images=[gray],
               compression="tiff_lzw")
    save_expected("tiff-pages", image)


def make_gif(rgb: np.ndarray) -> None:
    image = Image.fromarray(rgb).quantize(60)
    save("gif-plain.gif", image, interlace=0)
    save("gif-interlaced.gif", image, interlace=1)
    frames = [image, Image.fromarray(255 - rgb).quantize(60)]
    frames[0].save(HERE / "animated.bad.gif", save_all=True, append_images=frames[1:])


def bitmap(pixels: bytes, bits: int, header: int, height: int, masks: bytes = b"") -> bytes:
    """A bitmap as Pillow does not write it."""
    if header == 12:
        fields = struct.pack("<IHHHH", 12, WIDTH, height, 1, bits)
    else:
        kind = 3 if masks else 0
        fields = struct.pack("<IiiHHIIiiII", 40, WIDTH, height, 1, bits, kind, 0, 0, 0, 0, 0)
    start = 14 + len(fields) + len(masks)
    return (b"BM" + struct.pack("<IHHI", start + len(pixels), 0, 0, start) + fields + masks
            + pixels)


def rows(pixels: np.ndarray) -> bytes:
    """Rows as they are, each filled up to a multiple of four bytes."""
    return b"".join(row.tobytes() + b"\0" * (-len(row.tobytes()) % 4) for row in pixels)


def make_bmp(rgb: np.ndarray) -> None:
    image = Image.fromarray(rgb)
    save("bmp-24.bmp", image)
    save("bmp-8.bmp", image.quantize(60))
    save("bmp-1.bmp", image.convert("1"))
    save("bmp-32.bmp", image.convert("RGBA"))
    red, green, blue = (rgb[..., channel].astype(np.uint16) >> 3 for channel in range(3))
    bgr = rgb[..., ::-1]
    for name, data in [
        ("bmp-16", bitmap(rows((red << 10 | green << 5 | blue)[::-1]), 16, 40, HEIGHT)),
        ("bmp-565", bitmap(rows((red << 11 | green << 6 | blue)[::-1]), 16, 40, HEIGHT,
                           struct.pack("<III", 0xf800, 0x07e0, 0x001f))),
        ("bmp-old", bitmap(rows(bgr[::-1]), 24, 12, HEIGHT)),
        ("bmp-from-top", bitmap(rows(bgr), 24, 40, -HEIGHT)),
    ]:
        (HERE / f"{name}.bmp").write_bytes(data)
        expect(HERE / f"{name}.bmp")


def make_heif(rgb: np.ndarray) -> None:
    pillow_heif.register_heif_opener()
    # An even size, smooth: coding loses little of it.
    image = Image.fromarray(rgb).resize((64, 48), Image.Resampling.BICUBIC)
    exif = Image.Exif()
    exif[0x0112], exif[0x010f] = 6, "retint"
    save("heif-plain.heic", image, quality=95, chroma=444)
    save("heif-turned.heic", image, quality=95, chroma=444, exif=exif)
    save("heif-av1.avif", image, quality=95, subsampling="4:4:4")
    image.save(HERE / "profile-heif.heic", quality=95, chroma=444, icc_profile=wide_profile())
    expect_in_srgb("profile-heif.heic", "RGB", wide_profile())


if __name__ == "__main__":
    source = picture(WIDTH, HEIGHT)
    kinds = sys.argv[1:] or ["png", "jpeg", "scaled", "webp", "orientations", "profiles", "resized",
                             "composed", "bad", "levels", "tiff", "gif", "bmp", "heif"]
    for kind in kinds:
        globals()[f"make_{kind}"](source)
