# Sourced by the shell scripts: enters the repository's root and finds retint and Python.
#
#   retint       $RETINT, or the release build's executable
#   python       $PYTHON, or .venv/bin/python (Scripts/setup --python creates it)
#   build_flags  of the build that tests and checks share; the index is for checks/unused
#   shared_build of another package that uses that build's folder, and so its modules
#
# Python started from here finds the modules of Scripts/python.
script=$(realpath "$0")
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1

retint=${RETINT:-.build/release/retint}
python=${PYTHON:-.venv/bin/python}
build_flags=(-c release -Xswiftc -enable-testing --enable-index-store)
# Without the last option, Swift may take the plan of the package that was built there before, and
# finds none of this package's targets in it.
shared_build=(--scratch-path .build "${build_flags[@]}" --disable-build-manifest-caching)
export PYTHONPATH="$PWD/Scripts/python${PYTHONPATH:+:$PYTHONPATH}"

# Builds retint in release mode unless $RETINT names an executable.
build_retint() {
    [ -n "${RETINT:-}" ] || swift build -c release --product retint >&2
}

# Sets module_flags to what a compiler needs to import the modules of the release build.
find_modules() {
    local map flag products
    products=$(readlink -f .build/release)
    module_flags=(-I "$products/Modules" -I Sources/Formats/CHDF5 -I Sources/Tensors/COpenBLAS)
    for map in "$products"/*.build/module.modulemap \
        .build/checkouts/*/Sources/*/include/module.modulemap; do
        module_flags+=(-Xcc "-fmodule-map-file=$map")
    done
    for flag in $(pkg-config --cflags hdf5 openblas); do module_flags+=(-Xcc "$flag"); done
}

# Prints the comment at the top of the running script and exits with status 64.
usage() {
    sed -n '2,/^[^#]/{/^[^#]/d; s/^# \{0,1\}//; p}' "$script" >&2
    exit 64
}
