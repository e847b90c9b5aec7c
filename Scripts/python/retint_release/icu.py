"""ICU's data without most of its languages, scripts and encodings.

Foundation contains ICU, whose data are a third of a release: how dates, numbers and names are
written in 700 languages, which retint never asks for. What remains are the root of all languages
and English, and the properties of characters.
"""

import pathlib
import re
import struct

from retint_release import fail, output

LOCALE = re.compile(r"[a-z]{2,3}(_\w+)?")
KEPT_LOCALES = {"en", "en_US", "en_US_POSIX"}
# Converters from other encodings, dictionaries of languages without spaces between words, names of
# characters, transliteration and numbers in words.
LEFT_OUT = re.compile(r".*\.(cnv|dict)|unames\.icu|(translit|rbnf)/.*")


def object_file(archive, folder):
    """Makes an object file that takes the place of the data in Foundation's archive of ICU."""
    members = output("ar", "t", archive).split()
    member = next((name for name in members if name.startswith("icu_packaged_data")), None)
    if not member:
        fail(f"{archive}: has no data; this version of Swift keeps them elsewhere")
    output("ar", "x", archive, member, cwd=folder)
    packed, whole = folder / member, folder / "icu.dat"
    symbol = output("nm", "--defined-only", packed).split()[-1]
    output("objcopy", "-O", "binary", "-j", ".rodata", packed, whole)
    (folder / "less.dat").write_bytes(reduced(whole.read_bytes()))
    source = folder / "icu-less.s"
    source.write_text(
        f'.section .rodata\n.globl {symbol}\n.balign 16\n{symbol}:\n'
        f'.incbin "{folder / "less.dat"}"\n.section .note.GNU-stack,"",@progbits\n')
    result = folder / "icu-less.o"
    output("clang", "-c", source, "-o", result)
    return result


def reduced(data):
    """The package of data with the items that are kept.

    After a header, there are the number of items, for each the offsets of its name and of its
    content, and then those; offsets count from behind the header. Items are sorted by name, and
    begin at multiples of 16.
    """
    start, = struct.unpack_from("<H", data)
    count, = struct.unpack_from("<I", data, start)
    table = [struct.unpack_from("<II", data, start + 4 + 8 * i) for i in range(count)]
    ends = [content for _, content in table[1:]] + [len(data) - start]
    items = []
    for (name, content), end in zip(table, ends):
        text = data[start + name:data.index(b"\0", start + name)]
        if is_kept(text.decode().partition("/")[2]):
            items.append((text, data[start + content:start + end]))
    names = b"".join(text + b"\0" for text, _ in items)
    offset = 4 + 8 * len(items)
    rows, contents, place = [struct.pack("<I", len(items))], [], padded(offset + len(names))
    for text, content in items:
        rows.append(struct.pack("<II", offset, place))
        offset += len(text) + 1
        contents.append(content.ljust(padded(len(content)), b"\0"))
        place += len(contents[-1])
    head = b"".join(rows) + names
    return data[:start] + head.ljust(padded(len(head)), b"\0") + b"".join(contents)


def padded(size):
    return (size + 15) // 16 * 16


def is_kept(name):
    """Whether an item, such as `coll/de.res`, remains."""
    path = pathlib.PurePosixPath(name)
    if LEFT_OUT.fullmatch(name):
        return False
    return path.suffix != ".res" or not LOCALE.fullmatch(path.stem) or path.stem in KEPT_LOCALES
