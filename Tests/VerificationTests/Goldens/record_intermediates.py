#!/usr/bin/env python3
"""Writes what Apple's exporter records of a small network: pico.h5, pico.aimodelintermediates.

    .venv-coreai/bin/python Tests/VerificationTests/Goldens/record_intermediates.py

The weights are those of PyTorch's module with seeded values. Needs Scripts/setup --coreai.
"""

import json
import pathlib
import shutil

import torch

HERE = pathlib.Path(__file__).resolve().parent
import export_pytorch  # noqa: E402
from coreai_torch import get_decomp_table  # noqa: E402
from coreai_torch.debugging.torch_utils import (  # noqa: E402
    _default_node_filter, save_intermediates)
from retint_reference.seeded import load_seeded, uniform  # noqa: E402
from retint_reference.students import PicoUNet  # noqa: E402


def kept(node, value):
    """Without an option, all weights are recorded too; one is enough here."""
    return _default_node_filter(node, value) and (
        node.op != "get_attr" or node.name == "stem_0_weight")


def main():
    network = PicoUNet(width=0.0625).eval()
    load_seeded(network, 5)
    lightness = 100 * uniform(5, "lightness", (1, 1, 32, 32))
    export_pytorch.weights(network, HERE / "pico.h5")
    shutil.rmtree(HERE / "pico.aimodelintermediates", ignore_errors=True)
    program = torch.export.export(network, (lightness,)).run_decompositions(get_decomp_table())
    metadata = save_intermediates(
        program, (lightness,), HERE, node_filter=kept, model_name="pico")
    for group, nodes in json.loads(pathlib.Path(metadata).read_text()).items():
        print(f"{group}: {len(nodes)}")


if __name__ == "__main__":
    main()
