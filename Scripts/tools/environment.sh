# Sourced by the shell scripts: enters the repository's root and finds retint and Python.
#
#   retint       $RETINT, or the release build's executable
#   python       $PYTHON, or .venv/bin/python (Scripts/setup --python creates it)
#
# Python started from here finds the modules of Scripts/python.
script=$(realpath "$0")
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1

retint=${RETINT:-.build/release/retint}
python=${PYTHON:-.venv/bin/python}
export PYTHONPATH="$PWD/Scripts/python${PYTHONPATH:+:$PYTHONPATH}"

# Builds retint in release mode unless $RETINT names an executable.
build_retint() {
    [ -n "${RETINT:-}" ] || swift build -c release --product retint >&2
}

# Prints the comment at the top of the running script and exits with status 64.
usage() {
    sed -n '2,/^[^#]/{/^[^#]/d; s/^# \{0,1\}//; p}' "$script" >&2
    exit 64
}
