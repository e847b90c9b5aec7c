"""Checks a release's completions and manual pages in shells and man."""

import pathlib
import shutil
import subprocess
import tempfile

from retint_release import fail, tree as trees

FILES = ("model.h5", "train.yaml", "photo.jpg", "notes.md", "package.mlpackage/Manifest.json")
# What is typed, what must be offered, and what must not be.
CASES = [
    ("retint exp", {"export"}, {"train"}),
    ("retint import weights.pth --architecture ", {"eccv16", "lite-class-unet"}, {"model.h5"}),
    ("retint export model.h5 --precision ", {"float16", "float32"}, {"model.h5"}),
    ("retint colorize ", {"model.h5", "package.mlpackage"}, {"notes.md", "train.yaml"}),
    ("retint colorize model.h5 ", {"photo.jpg", "package.mlpackage"}, {"notes.md", "train.yaml"}),
    ("retint train --config ", {"train.yaml", "package.mlpackage"}, {"notes.md", "model.h5"}),
    ("retint search --output ", {"package.mlpackage"}, {"notes.md", "model.h5"}),
    ("retint dataset pa", {"pack"}, {"split"}),
]
# Calls the function that the script registers, as the shell does when Tab is pressed.
BASH = """\
. "$1"
read -ra COMP_WORDS <<<"$2"
[[ $2 != *' ' ]] || COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$2 COMP_POINT=${#2}
function_name=$(complete -p retint | sed 's/.* -F \\([^ ]*\\) .*/\\1/')
compopt() { :; }
"$function_name" retint "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""
FISH = "source $argv[1]; complete --do-complete $argv[2]"


def check(tree):
    scripts = {shell: tree / name for shell, name in trees.COMPLETIONS.items()}
    check_offers("bash", scripts["bash"], ["bash", "--norc", "-c", BASH, "bash"])
    if shutil.which("fish"):
        check_offers("fish", scripts["fish"], ["fish", "--no-config", "-c", FISH])
    if shutil.which("zsh"):
        quiet(["zsh", "-n", scripts["zsh"]])
    for page in sorted((tree / "share/man/man1").iterdir()):
        if shutil.which("mandoc"):
            quiet(["mandoc", "-T", "lint", "-W", "warning", page])
        if shutil.which("groff"):
            quiet(["groff", "-man", "-Tutf8", "-ww", "-z", page])


def check_offers(shell, script, command):
    with tempfile.TemporaryDirectory() as folder:
        for name in FILES:
            path = pathlib.Path(folder, name)
            path.parent.mkdir(exist_ok=True)
            path.touch()
        for typed, wanted, unwanted in CASES:
            done = subprocess.run(
                [*command, str(script), typed], cwd=folder, capture_output=True, text=True)
            # fish adds a description; folders may end in a slash.
            offered = {line.split("\t")[0].rstrip("/ ") for line in done.stdout.splitlines()}
            if done.stderr or not wanted <= offered or unwanted & offered:
                fail(f"{shell} offers {sorted(offered)} after \"{typed}\"; {done.stderr}")


def quiet(command):
    """Runs a program that prints what is wrong."""
    done = subprocess.run(
        list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode or done.stdout.strip():
        fail(f"{' '.join(map(str, command))}\n{done.stdout}")
