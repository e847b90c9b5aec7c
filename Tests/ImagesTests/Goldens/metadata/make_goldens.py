#!/usr/bin/env python3
"""Photos with metadata, and what Pillow reads in their upright sRGB copies.

    make_goldens.py                 writes the photos and expected.json beside this script
    make_goldens.py --check FOLDER  compares copies that retint wrote with expected.json

For the second, color the photos of this folder: `retint colorize MODEL . -o FOLDER`.
"""

import io
import json
import pathlib
import struct
import sys

from PIL import ExifTags, Image, ImageCms, TiffImagePlugin

HERE = pathlib.Path(__file__).resolve().parent
SIZE = (24, 16)
ORIENTATION, X_RESOLUTION, Y_RESOLUTION, UNIT = 0x0112, 0x011A, 0x011B, 0x0128
COLOR_SPACE, WIDTH, HEIGHT, MAKER_NOTE = 0xA001, 0xA002, 0xA003, 0x927C
EXIF, GPS, INTEROPERABILITY = 0x8769, 0x8825, 0xA005


def picture():
    image = Image.new("RGB", SIZE)
    image.putdata([(x * 10, y * 15, (x + y) * 6) for y in range(SIZE[1]) for x in range(SIZE[0])])
    return image


def exif(orientation, *, endian="<"):
    """What a camera writes: a date, exposure, position, its own data, Adobe RGB."""
    data = Image.Exif()
    data.endian = endian
    data[0x010F] = "Camera & Söhne"
    data[ORIENTATION] = orientation
    data[X_RESOLUTION], data[Y_RESOLUTION], data[UNIT] = (
        TiffImagePlugin.IFDRational(300), TiffImagePlugin.IFDRational(150), 2)
    inner = data.get_ifd(EXIF)
    inner[0x9003] = "2024:05:06 07:08:09"
    inner[0x829A] = TiffImagePlugin.IFDRational(1, 125)
    inner[COLOR_SPACE], inner[WIDTH], inner[HEIGHT] = 0xFFFF, *SIZE
    inner[MAKER_NOTE] = bytes(range(200))
    inner[INTEROPERABILITY] = {1: "R03", 2: b"0100"}
    position = data.get_ifd(GPS)
    position[1], position[2] = "N", (52.0, 31.0, 12.5)
    return data


def with_thumbnail(tiff):
    """EXIF data with a second directory, whose JPEG comes last."""
    order = "<" if tiff[:2] == b"II" else ">"
    image = io.BytesIO()
    picture().resize((8, 6)).save(image, "JPEG")
    main, = struct.unpack_from(order + "I", tiff, 4)
    link = main + 2 + 12 * struct.unpack_from(order + "H", tiff, main)[0]
    start = len(tiff) + len(tiff) % 2
    data = bytearray(tiff.ljust(start, b"\0"))
    struct.pack_into(order + "I", data, link, start)
    data += struct.pack(order + "H", 2)
    data += struct.pack(order + "HHII", 0x0201, 4, 1, start + 30)
    data += struct.pack(order + "HHII", 0x0202, 4, 1, len(image.getvalue()))
    return bytes(data + struct.pack(order + "I", 0) + image.getvalue())


def adobe_like_profile():
    """A matrix profile whose primaries are not those of sRGB."""
    for package in (pathlib.Path("/usr/share/color/icc"),):
        for path in package.rglob("*"):
            if path.name in ("AdobeRGB1998.icc", "compatibleWithAdobeRGB1998.icc"):
                return path.read_bytes()
    return Image.open(HERE.parent / "profile-jpeg.jpg").info["icc_profile"]


def write_photos():
    tiff = [exif(orientation, endian=order).tobytes()[6:]
            for orientation, order in [(6, "<"), (3, ">"), (1, "<")]]
    profile = adobe_like_profile()
    save = lambda name, **options: picture().save(HERE / name, **options)
    save("turned.jpg", exif=b"Exif\0\0" + with_thumbnail(tiff[0]), dpi=(300, 150),
         icc_profile=profile, quality=95)
    save("upside-down.jpg", exif=b"Exif\0\0" + with_thumbnail(tiff[1]), quality=95)
    save("upright.png", exif=tiff[2], dpi=(118.11, 59.055))
    save("turned-webp.webp", exif=b"Exif\0\0" + tiff[0], lossless=True)
    save("density.jpg", dpi=(72, 72))
    save("plain.png")
    save("damaged.jpg", exif=b"Exif\0\0" + tiff[0][:60])


def text(value):
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, tuple):
        return [text(part) for part in value]
    return str(value) if isinstance(value, (str, bytes)) else float(value)


def tags(image):
    """All tags of a photo, as Pillow reads them."""
    data = image.getexif()
    found = {
        f"{directory:04x}/{tag:04x}": text(value)
        for directory in (0, EXIF, GPS, INTEROPERABILITY)
        for tag, value in (data.get_ifd(directory) if directory else data).items()
        if tag not in (EXIF, GPS, INTEROPERABILITY)
    }
    return dict(sorted(found.items()))


def expected(path):
    """What an upright copy in sRGB has."""
    with Image.open(path) as image:
        if path.stem == "damaged":
            # The orientation comes before the damage, and is applied.
            return {"tags": {}, "dpi": None, "size": list(reversed(SIZE)), "note": True}
        found, dpi = tags(image), image.info.get("dpi") if "jfif" in image.info or \
            path.suffix == ".png" else None
        if image.info.get("jfif_unit") == 0:
            dpi = None
        turned = found.get("0000/0112") in (5, 6, 7, 8)
    size = list(reversed(SIZE)) if turned else list(SIZE)
    if found:
        found["0000/0112"] = 1.0
        found["8769/a001"] = 1.0
        found["8769/a002"], found["8769/a003"] = map(float, size)
        found["a005/0001"] = "R98"
        if turned:
            found["0000/011a"], found["0000/011b"] = found["0000/011b"], found["0000/011a"]
    if dpi and turned:
        dpi = dpi[::-1]
    return {"tags": found, "dpi": dpi and [round(float(value), 1) for value in dpi], "size": size,
            "note": False}


def photos():
    return sorted(path for path in HERE.iterdir() if path.suffix in (".jpg", ".png", ".webp"))


def check(folder):
    wanted = json.loads((HERE / "expected.json").read_text())
    failed = False
    for name, facts in wanted.items():
        path = folder / name
        path = path if path.suffix == ".jpg" else path.with_suffix(".png")
        with Image.open(path) as image:
            dpi = image.info.get("dpi") if image.format == "PNG" or \
                image.info.get("jfif_unit") else None
            found = {"tags": tags(image), "size": list(image.size),
                     "dpi": dpi and [round(float(value), 1) for value in dpi]}
            if image.format == "JPEG":
                profile = ImageCms.ImageCmsProfile(io.BytesIO(image.info["icc_profile"]))
                tagged = "sRGB" in ImageCms.getProfileDescription(profile)
            else:
                tagged = "srgb" in image.info
            thumbnail = image.getexif().get_ifd(ExifTags.IFD.IFD1)
            # Pillow's own opinion on the orientation and on the structure.
            image.load()
        problems = [key for key in found if found[key] != facts[key]]
        problems += [] if tagged else ["not tagged as sRGB"]
        problems += ["has a thumbnail"] if thumbnail else []
        print(path.name, "ok" if not problems else problems)
        for key in problems:
            if key in found:
                print("  expected", facts[key], "\n  found   ", found[key])
        failed |= bool(problems)
    sys.exit(failed)


def main():
    if sys.argv[1:2] == ["--check"]:
        check(pathlib.Path(sys.argv[2]))
    write_photos()
    facts = {path.name: expected(path) for path in photos()}
    (HERE / "expected.json").write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
