"""Checks and measures retint on a GPU, which may be in a machine without Swift and network.

    Scripts/check gpu [--mock] [--photos FOLDER]
    Scripts/check gpu --bundle FOLDER [--photos FOLDER]

The first checks on this machine; with --mock, on libraries that compute on the processors, with
small sizes. The second makes a folder to copy to a machine with a GPU, where `FOLDER/check` does
the same: see there for what it needs. Both build what they run, and take some of the photos in a
folder: those of Scripts/datasets unless --photos names another.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

import retint_build
import retint_options
from retint_tool import ROOT

# Libraries of the C library, which every machine has.
SYSTEM = ("ld-linux", "libc.so", "libdl.so", "libm.so", "libpthread.so", "libresolv.so",
          "librt.so")
# How many go into the bundle.
PHOTOS = 12


def main():
    parser = retint_options.parser(__doc__)
    parser.add_argument("--bundle", metavar="FOLDER", type=pathlib.Path)
    parser.add_argument("--mock", action="store_true")
    parser.add_argument("--photos", type=pathlib.Path, metavar="FOLDER",
                        default=ROOT / "Datasets/debian-photos/train")
    options = parser.parse_args()
    retint_build.build(*retint_build.FLAGS, "--product", "RetintGPUProbe")
    if options.bundle:
        make_bundle(options.bundle, options.photos)
        return 0
    with tempfile.TemporaryDirectory(prefix="retint-gpu-") as folder:
        bundle = pathlib.Path(folder) / "bundle"
        make_bundle(bundle, options.photos)
        command = [sys.executable, bundle / "check", "--output", "gpu-results"]
        if not options.mock:
            return subprocess.run(command).returncode
        mock = pathlib.Path(folder) / "mock"
        subprocess.run([ROOT / "Tests/CUDAMock/build", mock], check=True)
        return subprocess.run(
            [*command, "--small"], env={"PATH": "/usr/bin:/bin:/opt/swift/usr/bin",
                                        "RETINT_CUDA_LIBRARIES": str(mock)}).returncode


def make_bundle(folder, photos):
    """The program, its libraries, photos, and the networks in PyTorch."""
    (folder / "bin").mkdir(parents=True)
    (folder / "lib").mkdir()
    program = retint_build.products() / "RetintGPUProbe"
    subprocess.run(["strip", "-o", folder / "bin/retint-gpu", program], check=True)
    for library in libraries(program):
        shutil.copy(library, folder / "lib", follow_symlinks=True)
    for script in ("check", "measure_pytorch.py"):
        shutil.copy(ROOT / "Scripts/gpu" / script, folder)
    shutil.copytree(ROOT / "Scripts/python/retint_reference", folder / "retint_reference",
                    ignore=shutil.ignore_patterns("__pycache__"))
    # The published networks come from a package.
    for package in ROOT.glob(".venv/lib/python3*/site-packages/colorizers"):
        shutil.copytree(package, folder / "colorizers",
                        ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "photos").mkdir()
    found = sorted(photos.rglob("*.jpg"))[:PHOTOS]
    if not found:
        sys.exit(f"gpu: there are no photos in {photos}; run Scripts/datasets, or set --photos")
    for photo in found:
        shutil.copy(photo, folder / "photos")


def libraries(program):
    """The shared libraries that a program loads."""
    listing = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    paths = [line.split(" => ")[1].split()[0] for line in listing.splitlines() if " => /" in line]
    return [path for path in paths if not pathlib.Path(path).name.startswith(SYSTEM)]
