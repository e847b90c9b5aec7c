"""The files of ONNXCaseWriter: one operation each."""

import json

import numpy as np

from retint_onnx import check, run

# Float32 sums in another order.
TOLERANCE = 2e-5


def read(folder):
    return json.loads((folder / "cases.json").read_text())


def fault(folder, case):
    """What is wrong with a case's file; None if nothing is."""
    path = folder / case["file"]
    try:
        check(path)
        values = np.array(case["input"], np.float32).reshape(case["input_shape"])
        found = run(path, values)["y"]
    except Exception as error:  # Whatever onnx or ONNX Runtime raises.
        return str(error)
    if list(found.shape) != case["output_shape"]:
        return f"shape {found.shape} instead of {case['output_shape']}"
    expected = np.array(case["output"], np.float32).reshape(found.shape)
    error = np.abs(found - expected).max() / max(1, np.abs(expected).max())
    return None if error <= TOLERANCE else f"error {error:.1e}"
