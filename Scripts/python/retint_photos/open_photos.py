"""Makes Datasets/open-photos from the repositories that Datasets/open-photos.tsv lists.

Each repository is cloned sparsely, at the listed commit and without other files than the listed
ones. Each photo's SHA-256 is checked before it is decoded, turned upright, converted to sRGB,
scaled down to at most 448 pixels and written as JPEG without metadata. `--from FOLDER` copies files
that are already made, checked by the SHA-256 of the result; only what is missing there is cloned.
"""

import argparse
import collections
import csv
import hashlib
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from PIL import Image, ImageCms, ImageOps

from retint_tool import ROOT

LIST = ROOT / "Datasets/open-photos.tsv"
OUTPUT = ROOT / "Datasets/open-photos"
LONG_SIDE = 448
QUALITY = 85
# Fewer photos than these are too few to train on: a broken network is an error, a lost repository
# is not.
LEAST_SHARE = 0.8


def rows():
    with LIST.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def place(row):
    return OUTPUT / row["split"] / row["source"] / row["name"]


def digest(data):
    return hashlib.sha256(data).hexdigest()


def notice(text):
    print(f"datasets: {text}", file=sys.stderr)


def write(path, data):
    """Writes a file that appears once it is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.write_bytes(data)
    os.replace(part, path)


def copied(row, files):
    """A file that is already made; None if no file of that name has the listed contents."""
    for file in files.get(row["name"], ()):
        data = file.read_bytes()
        if digest(data) == row["file_sha256"]:
            return data
    return None


def srgb(image):
    """An image without its color profile, converted to sRGB if it has another."""
    profile = image.info.get("icc_profile")
    if profile:
        try:
            source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            target = ImageCms.createProfile("sRGB")
            mode = "RGB" if image.mode == "RGB" else image.mode
            image = ImageCms.profileToProfile(image, source, target, outputMode="RGB") \
                if mode in ("RGB", "CMYK", "L") else image
        except (ImageCms.PyCMSError, OSError):
            pass  # A damaged profile is not a reason to lose the photo.
    return image.convert("RGB")


def made(data):
    """The JPEG that is trained on, from the bytes of the original."""
    with Image.open(io.BytesIO(data)) as original:
        image = srgb(ImageOps.exif_transpose(original))
    image.thumbnail((LONG_SIDE, LONG_SIDE), Image.Resampling.LANCZOS)
    output = io.BytesIO()
    image.save(output, "JPEG", quality=QUALITY)
    return output.getvalue()


def git(folder, *arguments, **options):
    if "input" not in options:
        options["stdin"] = subprocess.DEVNULL
    # A repository that is gone asks for a name and a password otherwise.
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "true"}
    return subprocess.run(["git", "-C", str(folder), *arguments], check=True,
                          capture_output=True, env=environment, **options).stdout


def clone(folder, address, commit, paths):
    """Fetches one commit without blobs, then the blobs of the listed paths alone."""
    git(folder, "init", "--quiet")
    git(folder, "remote", "add", "origin", address)
    git(folder, "config", "remote.origin.promisor", "true")
    git(folder, "config", "remote.origin.partialclonefilter", "blob:none")
    git(folder, "fetch", "--quiet", "--depth", "1", "--filter=blob:none", "origin", commit)
    git(folder, "sparse-checkout", "set", "--no-cone", "--stdin",
        input="".join(f"/{escaped(path)}\n" for path in paths).encode())
    git(folder, "checkout", "--quiet", commit)


def escaped(path):
    """A path as a pattern of a sparse checkout that matches nothing else."""
    return "".join(f"\\{sign}" if sign in "\\*?[]! #" else sign for sign in path)


def fetched(address, commit, photos):
    """Yields photos of one repository with their new files."""
    with tempfile.TemporaryDirectory() as folder:
        clone(folder, address, commit, [row["path"] for row in photos])
        for row in photos:
            file = pathlib.Path(folder, row["path"])
            if file.is_symlink() or not file.is_file():
                notice(f"{row['name']} skipped: {address} has no {row['path']}")
                continue
            data = file.read_bytes()
            if digest(data) != row["sha256"]:
                notice(f"{row['name']} skipped: {row['path']} differs in {address}")
                continue
            yield row, made(data)


def present(row):
    # A file made here may differ in bytes from the listed one: encoders differ between versions.
    return place(row).is_file()


def copy_from(folder, missing):
    """Copies what a folder or its subfolders have; returns the rest."""
    files = collections.defaultdict(list)
    for file in sorted(folder.rglob("*.jpg")):
        files[file.name].append(file)
    rest = []
    for row in missing:
        data = copied(row, files)
        if data is None:
            rest.append(row)
        else:
            write(place(row), data)
    return rest


def fetch_all(missing, host):
    groups = collections.defaultdict(list)
    for row in missing:
        groups[row["repository"], row["commit"]].append(row)
    for (repository, commit), photos in sorted(groups.items()):
        try:
            for row, data in fetched(f"{host}/{repository}", commit, photos):
                write(place(row), data)
        except (subprocess.CalledProcessError, OSError) as error:
            notice(f"{repository} skipped: {reason(error)}")


def reason(error):
    """Why a clone failed: Git's first error, which advice may follow."""
    text = getattr(error, "stderr", None) or str(error).encode()
    lines = text.decode(errors="replace").strip().splitlines() or ["Git failed"]
    return next((line for line in lines if line.startswith("fatal: ")), lines[-1])


def remove_unlisted(listed):
    """Removes photos that are in another split now: none may be in training and in test."""
    wanted = {place(row) for row in listed}
    for file in OUTPUT.glob("*/*/*.jpg"):
        if file not in wanted:
            file.unlink()


def write_lists(listed):
    """Says in SOURCES.tsv whose photos are here, and lists both sets in all-SPLIT.txt."""
    here = [row for row in listed if present(row)]
    lines = ["\t".join(row.values()) for row in here]
    write(OUTPUT / "SOURCES.tsv", "\n".join(["\t".join(listed[0]), *lines, ""]).encode())
    for split in ("train", "validation"):
        own = [f"{split}/{row['source']}/{row['name']}" for row in here if row["split"] == split]
        others = sorted((ROOT / "Datasets/debian-photos" / split).glob("*.*"))
        photos = own + [f"../debian-photos/{split}/{file.name}" for file in others]
        write(OUTPUT / f"all-{split}.txt", "\n".join([*photos, ""]).encode())
    return len(here)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--from", dest="folder", type=pathlib.Path,
                        help="a folder of files that are already made")
    parser.add_argument("--host", default="https://github.com", help="where repositories are")
    options = parser.parse_args()
    listed = rows()
    OUTPUT.mkdir(parents=True, exist_ok=True)
    remove_unlisted(listed)
    missing = [row for row in listed if not present(row)]
    if options.folder:
        missing = copy_from(options.folder, missing)
    if missing:
        if not shutil.which("git"):
            sys.exit("datasets: git is missing; install it to fetch photos")
        fetch_all(missing, options.host)
    count = write_lists(listed)
    if missing:
        notice(f"{count} of {len(listed)} photos are in {OUTPUT.relative_to(ROOT)}")
    if count < LEAST_SHARE * len(listed):
        sys.exit("datasets: too few photos; see the messages above")


if __name__ == "__main__":
    main()
