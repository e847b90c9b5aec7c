"""Packs a release's tree so that the same files give the same bytes."""

import gzip
import tarfile

from retint_release import timestamp, tree as trees


def write(tree, path):
    """Writes a tarball whose only folder has the name of the tree."""
    with path.open("wb") as raw, \
            gzip.GzipFile("", "wb", 6, raw, mtime=timestamp()) as packed, \
            tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, file in trees.files(tree):
            # A new entry has no owner, and the time 0.
            entry = tarfile.TarInfo(f"{tree.name}/{name}")
            status = file.stat()
            entry.size, entry.mode = status.st_size, status.st_mode & 0o777
            entry.mtime = timestamp()
            with file.open("rb") as content:
                archive.addfile(entry, content)
