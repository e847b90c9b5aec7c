"""ONNX files that retint wrote, checked by onnx and run by ONNX Runtime."""

import numpy as np
import onnx
import onnxruntime

onnxruntime.set_default_logger_severity(3)


def check(path):
    """Raises an exception unless the file is valid and its shapes follow from each other."""
    onnx.checker.check_model(str(path), full_check=True)


def run(path, values, optimizes=True):
    """The outputs by name, for the values of the only input."""
    options = onnxruntime.SessionOptions()
    if not optimizes:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(
        str(path), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {session.get_inputs()[0].name: values})))


def shape(path, size):
    """The shape of the only input, with `size` where it varies."""
    dims = onnx.load(str(path), load_external_data=False).graph.input[0].type.tensor_type.shape.dim
    return [dim.dim_value or size for dim in dims]


def lightness(shape):
    """Lightness in 0…100, always the same."""
    return np.random.default_rng(5).uniform(0, 100, shape).astype(np.float32)
