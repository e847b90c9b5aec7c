"""Makes the packages for installing without Swift: a tarball and, with --wheel, Python wheels.

    Scripts/release [--wheel] [--output DIRECTORY] [--objects BUILD]

The tarball is retint-VERSION-linux-ARCHITECTURE.tar.gz: the program with Swift's runtime and the
libraries that it needs, the checkpoints, completions for bash, zsh and fish, the manual, and all
licenses. It runs with this system's version of glibc or a later one. The wheels have the same
files: one the program, whose name states the glibc that it needs, the other the checkpoints.

Files go to DIRECTORY (.build/releases by default). --objects takes the objects of the build folder
BUILD, with whatever flags they were compiled, instead of building: checks do that. The same commit
gives the same bytes with the same compiler and Debian packages. All files have the time of the
commit, or $SOURCE_DATE_EPOCH. A wheel needs Scripts/setup --python.
"""

import pathlib
import subprocess
import sys

import retint_options
from retint_release import ARCHITECTURE, ROOT, tarball, tree as trees, version, wheel


def main():
    options = parse()
    build = options.objects or built()
    name = f"retint-{version()}-linux-{ARCHITECTURE}"
    tree = options.output.resolve() / "tree" / name
    trees.make(tree, build.resolve())
    archive = options.output / f"{name}.tar.gz"
    tarball.write(tree, archive)
    print(archive)
    if options.wheel:
        for path in wheel.write(tree, options.output):
            print(path)


def parse():
    parser = retint_options.parser(__doc__)
    parser.add_argument("--wheel", action="store_true")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / ".build/releases")
    parser.add_argument("--objects", type=pathlib.Path)
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    return options


def built():
    """Builds retint and returns the build folder.

    It is a folder of its own: no flag of another build, and no name of the repository's folder, may
    change the bytes.
    """
    build = ROOT / ".build/releases/build"
    subprocess.run(
        ["swift", "build", "-c", "release", "--product", "RetintC", "--scratch-path", build,
         "-Xcc", f"-ffile-prefix-map={ROOT}=."],
        cwd=ROOT, check=True, stdout=sys.stderr)
    return build


if __name__ == "__main__":
    main()
