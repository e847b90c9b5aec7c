"""A file of cases: models with inputs, and the outputs that ONNX Runtime computes."""

import base64
import json
import pathlib

import numpy as np
import onnxruntime

FOLDER = pathlib.Path(__file__).parent


def tensor(array):
    """An array as Tests/ONNXReadingTests/RecordedCase.swift reads it: nine digits are exact."""
    flat = np.asarray(array, np.float64).reshape(-1)
    return {
        "shape": list(np.shape(array)),
        "values": [float(f"{value:.9g}") if np.isfinite(value) else str(value) for value in flat],
    }


def case(name, model, feeds, tolerance=1e-5):
    """A case; the feeds are all inputs of the model, by name."""
    content = model.SerializeToString()
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    results = session.run(names, feeds)
    return {
        "name": name, "model": base64.b64encode(content).decode(), "tolerance": tolerance,
        "inputs": {key: tensor(value) for key, value in feeds.items()},
        "outputs": {key: tensor(value) for key, value in zip(names, results)},
    }


def write(name, cases):
    names = [one["name"] for one in cases]
    assert len(set(names)) == len(names), "two cases have one name"
    text = ",\n".join(json.dumps(one, separators=(",", ":")) for one in cases)
    (FOLDER / name).write_text(f"[\n{text}\n]\n")
