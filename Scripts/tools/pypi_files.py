#!/usr/bin/env python3
"""Extracts files from an archive on PyPI without building or installing it.

    Scripts/tools/pypi_files.py PACKAGE ARCHIVE DIRECTORY < PATHS

ARCHIVE is the file name of a source distribution (.tar.gz, .tgz, .tar.bz2, .zip) or of a wheel.
PATHS are the names of its members, one per line; they are written under DIRECTORY with these names,
and missing ones are skipped. (`pip download` would run a source distribution's setup.) The index is
the one that pip uses. The exit status is 1, with a message, when the archive is not available.
"""

import argparse
import html.parser
import http.client
import io
import os
import pathlib
import subprocess
import sys
import tarfile
import urllib.parse
import urllib.request
import zipfile


class Links(html.parser.HTMLParser):
    """The links on a package's index page (PEP 503)."""

    def __init__(self):
        super().__init__()
        self.addresses = []

    def handle_starttag(self, tag, attributes):
        if tag == "a":
            self.addresses.append(dict(attributes).get("href") or "")


def index():
    """The URL of the index that pip uses: the configured one or its default."""
    if "PIP_INDEX_URL" in os.environ:
        return os.environ["PIP_INDEX_URL"]
    get = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    configured = subprocess.run(get, capture_output=True, text=True).stdout.strip()
    if configured:
        return configured
    from pip._internal.models.index import PyPI

    return PyPI.simple_url


def download(package, archive):
    page = f"{index().rstrip('/')}/{package}/"
    links = Links()
    with urllib.request.urlopen(page, timeout=60) as reply:
        links.feed(reply.read().decode())
    for address in links.addresses:
        address = urllib.parse.urljoin(page, address)
        if urllib.parse.unquote(urllib.parse.urlparse(address).path).endswith("/" + archive):
            with urllib.request.urlopen(address, timeout=300) as reply:
                return reply.read()
    raise OSError(f"{package} has no {archive}")


def members(data, archive, wanted):
    """The names and contents of the wanted files."""
    if archive.endswith((".whl", ".zip")):
        with zipfile.ZipFile(io.BytesIO(data)) as files:
            for name in wanted & set(files.namelist()):
                yield name, files.read(name)
    else:
        with tarfile.open(fileobj=io.BytesIO(data)) as files:
            for member in files:
                if member.isfile() and member.name in wanted:
                    yield member.name, files.extractfile(member).read()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("package", "archive", "directory"):
        parser.add_argument(name)
    options = parser.parse_args()
    wanted = set(sys.stdin.read().splitlines())
    root = pathlib.Path(options.directory).resolve()
    try:
        data = download(options.package, options.archive)
        for name, contents in members(data, options.archive, wanted):
            target = (root / name).resolve()
            if root not in target.parents:
                raise OSError(
                    f"{options.archive}: {name} would be written outside {options.directory}")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(contents)
    except (OSError, http.client.HTTPException, tarfile.TarError, zipfile.BadZipFile) as error:
        sys.exit(f"{options.package}: {error}")


if __name__ == "__main__":
    main()
