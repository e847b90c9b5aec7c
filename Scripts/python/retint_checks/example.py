"""Builds the examples, and takes a network of a custom architecture to a verified package.

    Scripts/check example

It is trained for a few steps and exported. The examples share retint's build folder, and so the
modules compiled there.
"""

import pathlib
import subprocess
import tempfile

import retint_build
import retint_options
from retint_tool import ROOT

NETWORK = "unshuffle-net"
TOUR = "library-tour"
EXAMPLES = "Scripts/Examples"


def main():
    retint_options.parser(__doc__).parse_args()
    package = ["--package-path", f"{EXAMPLES}/{NETWORK}", *retint_build.SHARED]
    retint_build.build(*package, "--product", NETWORK)
    with tempfile.TemporaryDirectory() as folder:
        use(retint_build.products() / NETWORK, pathlib.Path(folder))
    # The program that README shows of the library: it has to compile. Without a product, Swift
    # would also build the programs of the dependencies' plug-ins.
    tour = ["--package-path", f"{EXAMPLES}/{TOUR}", *retint_build.SHARED]
    retint_build.build(*tour, "--product", TOUR)
    return 0


def use(tool, folder):
    """Trains, exports and verifies the network."""
    def run(*arguments):
        subprocess.run([tool, *map(str, arguments)], cwd=ROOT, check=True)

    photos = folder / "photos.txt"
    photos.write_text("".join(
        f"{photo}\n" for photo in sorted((ROOT / "Tests/ImagesTests/Goldens").glob("jpeg4*.jpg"))))
    checkpoint, model = folder / "run/last.h5", folder / f"{NETWORK}.mlpackage"
    run("train", "--config", "Scripts/recipes/mobile-unet.yaml", "--output", folder / "run",
        "--set", f"architecture={NETWORK}", f"data.train={photos}", "data.validation=null",
        "data.validation_fraction=0", "data.crop=64", "batch=2", "steps=4")
    run("export", checkpoint, "-o", model, "--precision", "float16")
    run("verify", model, "--against", checkpoint)
