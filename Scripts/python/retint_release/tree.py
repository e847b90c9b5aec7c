"""The files of a release, laid out as in /usr/local."""

import os
import pathlib
import shutil

from retint_release import PACKAGING, ROOT, licenses, linking, manual, output

COMPLETIONS = {
    "bash": "share/bash-completion/completions/retint",
    "zsh": "share/zsh/site-functions/_retint",
    "fish": "share/fish/vendor_completions.d/retint.fish",
}
# What is as it stands in the repository.
COPIES = {
    "share/retint/checkpoints": [
        "Checkpoints/*.h5", "Checkpoints/lite-*.md", "Checkpoints/lite-*.jpg",
        # Whose photos they learned from: most licenses ask for attribution.
        "Datasets/debian-photos.tsv", "Datasets/open-photos.tsv"],
    "share/retint/recipes": ["Scripts/recipes/*.yaml"],
    # Compiled on the machine that has the MPI.
    "share/retint/mpi": [
        "Scripts/mpi/retint_mpi.c", "Sources/Tensors/CDistributed/include/CRanks.h"],
    "share/doc/retint": ["LICENSE", "CHANGELOG.md", "SECURITY.md"],
}


def make(tree, build):
    """Fills the folder `tree`, which is made anew."""
    shutil.rmtree(tree, ignore_errors=True)
    libraries = linking.link(build, tree)
    program = tree / "bin/retint"
    for library in libraries:
        if library.soname:
            copy(library.path, tree / linking.FOLDER / library.soname)
    for folder, patterns in COPIES.items():
        for path in sorted(path for pattern in patterns for path in ROOT.glob(pattern)):
            copy(path, tree / folder / path.name)
    copy(PACKAGING / "README.md", tree / "share/doc/retint/README.md")
    licenses.write(tree / "share/doc/retint/licenses", libraries, build)
    for shell, name in COMPLETIONS.items():
        path = tree / name
        path.parent.mkdir(parents=True)
        path.write_text(output(program, "--generate-completion-script", shell))
    manual.write(program, tree / "share/man/man1")
    set_modes(tree, program)


def copy(source, destination):
    destination.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, destination)


def set_modes(tree, program):
    """The same modes whatever the umask."""
    for folder, _, names in os.walk(tree):
        os.chmod(folder, 0o755)
        for name in names:
            path = pathlib.Path(folder, name)
            path.chmod(0o755 if path == program else 0o644)


def files(tree):
    """The files by their names in the tree, sorted."""
    paths = (path for path in tree.rglob("*") if path.is_file())
    return sorted((path.relative_to(tree).as_posix(), path) for path in paths)
