"""Reads a Debian package without installing it."""

import io
import re
import struct
import subprocess
import tarfile
import zlib

# A photo within another file: OFFSET+LENGTH.
WITHIN = re.compile(r"(.*)#(\d+)\+(\d+)$")


def file_of(path):
    """The file that a path of the list is in."""
    return match[1] if (match := WITHIN.match(path)) else path


class Package:
    """The files of a .deb, by their paths without a leading slash.

    The contents are kept only of files that `wanted` names and of what could state a license:
    the copyright file, texts, and resource files of Qt (.rcc), which have texts within.
    """

    TEXT = re.compile(
        r"/copyright$|readme|authors|credits|license|\.(txt|md|desktop|json|py|rcc)(\.gz)?$",
        re.IGNORECASE)

    def __init__(self, deb, wanted=()):
        self.files, self.contents = [], {}
        self.name = subprocess.run(["dpkg-deb", "-f", deb, "Package"], capture_output=True,
                                   text=True, check=True).stdout.strip()
        command = ["dpkg-deb", "--fsys-tarfile", deb]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            with tarfile.open(fileobj=process.stdout, mode="r|") as archive:
                for member in archive:
                    if not member.isfile():
                        continue
                    path = member.name.removeprefix("./")
                    self.files.append(path)
                    if path in wanted or self.TEXT.search(path):
                        self.contents[path] = archive.extractfile(member).read()
        self.resources = {
            path: dict(resource_files(data)) for path, data in self.contents.items()
            if path.endswith(".rcc")}

    def copyright(self):
        return self.text(f"usr/share/doc/{self.name}/copyright")

    def text(self, path):
        """A text, also one within a resource file (RCC/PATH), or compressed; None if absent."""
        data = self.contents.get(path)
        if data is None:
            for files in self.resources.values():
                if path in files:
                    data = files[path][1]
        if data is None:
            return None
        if path.endswith(".gz"):
            data = zlib.decompress(data, wbits=31)
        return data.decode("utf-8", "replace")

    def bytes(self, path):
        """The bytes of a photo as the list names it; None if absent."""
        if match := WITHIN.match(path):
            data = self.contents.get(match[1], b"")
            return data[int(match[2]):int(match[2]) + int(match[3])] or None
        return self.contents.get(path)

    def path_within(self, path):
        """The path by which a photo in a resource file is known to its program."""
        if match := WITHIN.match(path):
            for name, (offset, _) in self.resources.get(match[1], {}).items():
                if offset == int(match[2]):
                    return name
        return path


def resource_files(data):
    """The files of a Qt resource file (rcc, version 1 to 3): path, and offset and contents.

    Compressed ones (zlib) are given as they are before compression. Others than zlib's are given
    as stored.
    """
    stream = io.BytesIO(data)
    if stream.read(4) != b"qres":
        return
    version, tree, contents, names = struct.unpack(">IIII", stream.read(16))
    node = 14 if version == 1 else 22

    def name(offset):
        length, = struct.unpack_from(">H", data, names + offset)
        start = names + offset + 6
        return data[start:start + 2 * length].decode("utf-16-be")

    pending = [(0, "")]
    while pending:
        index, folder = pending.pop()
        at = tree + index * node
        text, flags = struct.unpack_from(">IH", data, at)
        path = f"{folder}/{name(text)}".lstrip("/") if index else ""
        if flags & 2:
            count, first = struct.unpack_from(">II", data, at + 6)
            pending += [(child, path) for child in range(first, first + count)]
            continue
        place, = struct.unpack_from(">I", data, at + 10)
        length, = struct.unpack_from(">I", data, contents + place)
        start = contents + place + 4
        stored = data[start:start + length]
        yield path, (start, zlib.decompress(stored[4:]) if flags & 1 else stored)
