"""Makes a tarball and a wheel, and uses both in a bare Debian without Swift.

    Scripts/check release [--objects BUILD] [--root DIRECTORY]
    Scripts/check release --prepare [--root DIRECTORY]

The objects are those of the last release build, in .build, with whatever flags it was made. The
tarball is made twice and must have the same bytes. Then Scripts/packaging/try.sh uses tarball and
wheel in a Debian with only its base system and Python, without a network; the wheels are installed
by the instructions of Scripts/packaging/Containerfile. Manual pages must be
free of warnings, and completions must offer the right words and files in bash and, if it is
installed, in fish.

The bare Debian is made once, in DIRECTORY (.build/bare-debian by default), from where apt takes its
packages; --prepare makes it and does nothing else. Needs root, and Scripts/setup --python
--release. The exit status is 1 if anything is wrong.
"""

import contextlib
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

import retint_options
from retint_release import PACKAGING, ROOT, bare_debian, fail, image, shells, version

PHOTOS = ROOT / "Tests/ImagesTests/Goldens"
# Where a release is used in the bare Debian.
FOLDER = pathlib.Path("try")


def main():
    options = parse()
    if options.prepare:
        return bare_debian.make(options.root.resolve())
    with tempfile.TemporaryDirectory(prefix="retint-release-") as scratch:
        check(pathlib.Path(scratch), options.objects, options.root.resolve())


def check(scratch, objects, root):
    with step("tarball and wheel"):
        tarball, *wheels = made(objects, scratch / "first", "--wheel")
    with step("the same tarball again"):
        [again] = made(objects, scratch / "second")
        if tarball.read_bytes() != again.read_bytes():
            fail(f"{tarball.name} has other bytes when it is made again")
    with step("completions and manual"):
        shells.check(next((scratch / "first/tree").iterdir()))
    with step("bare Debian"):
        bare_debian.make(root)
    with step(tarball.name):
        use(root, *installed_tarball(root, tarball))
    with step(" and ".join(wheel.name for wheel in wheels)):
        use(root, *installed_wheels(root, wheels))


def made(objects, folder, *options):
    """The paths of what Scripts/release makes."""
    done = subprocess.run(
        [sys.executable, "-m", "retint_release", "--objects", objects, "--output", folder,
         *options], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.returncode)
    return [pathlib.Path(line) for line in done.stdout.split()]


def empty_folder(root):
    """The folder for a release, with photos."""
    folder = root / FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "photos").mkdir(parents=True)
    for name in ("jpeg444.jpg", "jpeg420.jpg", "interlaced.png", "lossy.webp"):
        shutil.copy(PHOTOS / name, folder / "photos")
    for name in ("try.sh", "try_module.py"):
        shutil.copy(PACKAGING / name, folder)
    return folder


def installed_tarball(root, tarball):
    """Unpacks a tarball there; returns the program and its share/retint."""
    folder = empty_folder(root)
    with tarfile.open(tarball) as archive:
        archive.extractall(folder, filter="data")
    place = "/" / FOLDER / tarball.name.removesuffix(".tar.gz")
    return place / "bin/retint", place / "share/retint"


def installed_wheels(root, wheels):
    """Installs the wheels there, by the instructions for an image; returns the command and the
    folder that has `checkpoints`."""
    folder = empty_folder(root)
    shutil.rmtree(root / "opt/retint", ignore_errors=True)
    made = image.build(root, wheels[0].parent)
    made.folder = "/" / FOLDER
    made.run(*made.entry_point, "--version")
    [package] = root.glob("opt/retint/lib/python3*/site-packages/retint")
    # Where try.sh looks for what the tarball has in one folder.
    (package / "share/retint/checkpoints").symlink_to("../../../retint_checkpoints")
    made.run(
        "python", "-c",
        "import importlib.util, os, retint;"
        "assert os.path.exists(retint.checkpoint_path('lite-class-unet'));"
        "assert importlib.util.find_spec('retint.export_pytorch')")
    made.run("python", "try_module.py")
    shutil.copy(ROOT / "Checkpoints/lite-class-unet-small.h5", folder / "checkpoint.h5")
    made.run("python", "-m", "retint.gate", "net.mlpackage", "--export", "checkpoint.h5",
             "--against", "checkpoint.h5", "--output", "gate")
    if "PSNR" not in (folder / "gate/comment.md").read_text():
        fail("the gate wrote no table")
    return "/opt/retint/bin/retint", "/" / package.relative_to(root) / "share/retint"


def use(root, program, share):
    bare_debian.run(root, "/" / FOLDER, "sh", "try.sh", program, share, version())
    shutil.rmtree(root / FOLDER)


@contextlib.contextmanager
def step(name):
    start = time.monotonic()
    print(f"release: {name}", flush=True)
    yield
    print(f"release: {name}: {time.monotonic() - start:.0f} s", flush=True)


def parse():
    parser = retint_options.parser(__doc__)
    parser.add_argument("--objects", type=pathlib.Path, default=ROOT / ".build")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT / ".build/bare-debian")
    parser.add_argument("--prepare", action="store_true")
    return parser.parse_args()
