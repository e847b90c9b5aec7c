"""Hostile inputs for every format and option of retint, and the rules for retint's response."""

from . import (
    configurations,
    videos,
    hdf5_files,
    damaged_files,
    intermediates_files,
    names,
    numpy_archives,
    onnx_files,
    options,
    package_files,
    package_operations,
    pictures,
    pytorch_files,
    resources,
    runs,
    safetensors_files,
)

AREAS = [
    package_operations,
    package_files,
    hdf5_files,
    safetensors_files,
    pytorch_files,
    intermediates_files,
    numpy_archives,
    onnx_files,
    configurations,
    pictures,
    videos,
    options,
    runs,
    resources,
    names,
    damaged_files,
]


def all_cases(base):
    """The cases of all areas, in a fixed order."""
    cases = [case for area in AREAS for case in area.cases(base)]
    names = [case.name for case in cases]
    repeated = {name for name in names if names.count(name) > 1}
    assert not repeated, f"names of several cases: {sorted(repeated)}"
    return cases
