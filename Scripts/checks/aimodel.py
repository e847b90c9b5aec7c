#!/usr/bin/env python3
"""Runs .aimodel files with Apple's Core AI runtime, and has coreai-torch write some.

    aimodel.py run MODEL.aimodel INPUT.h5 OUTPUT.h5     a reference file from Apple's runtime
    aimodel.py convert NETWORK SIZE BASE                BASE.aimodel and BASE-reference.h5

INPUT.h5 is a reference file, whose inputs are taken.

Scripts/checks/aimodel runs it. `run` needs coreai-core and h5py, `convert` also coreai-torch and
torch, with Scripts/python on PYTHONPATH.
"""

import asyncio
import inspect
import sys
from pathlib import Path

import h5py
import numpy as np


async def outputs_of(model, feeds):
    """The outputs of a model by name; a single input may have any name."""
    from coreai.authoring import AIModelAsset
    from coreai.runtime import NDArray

    async with AIModelAsset.load(Path(model)).executable() as loaded:
        function = loaded.load_function(loaded.function_names[0])
        names = list(function.desc.input_names)
        if len(names) == 1:
            feeds = {names[0]: next(iter(feeds.values()))}
        outputs = await function({name: NDArray(feeds[name]) for name in names})
        return feeds, {name: np.array(value.numpy()) for name, value in outputs.items()}


def run(model, source, target):
    with h5py.File(source) as file:
        feeds = {name: values[()] for name, values in file["inputs"].items()}
    feeds, outputs = asyncio.run(outputs_of(model, feeds))
    write_reference(target, feeds, outputs)


def write_reference(path, inputs, outputs):
    with h5py.File(path, "w") as file:
        for group, values in (("inputs", inputs), ("outputs", outputs)):
            for name, array in values.items():
                file[f"{group}/{name}"] = np.asarray(array, np.float32)


def convert(network, size, base):
    """Converts a seeded network of PyTorch; its reference is PyTorch's own output."""
    import torch
    from coreai_torch import TorchConverter, get_decomp_table
    from export_pytorch import randomize
    from retint_reference.networks import factory

    make = factory(network)
    takes_weights = "pretrained" in inspect.signature(make).parameters
    torch.manual_seed(0)
    module = make(**({"pretrained": False} if takes_weights else {})).eval()
    lightness = torch.rand(1, 1, size, size) * 100
    randomize(module, {"x": lightness}, 0)
    with torch.no_grad():
        output = module(lightness)
    exported = torch.export.export(module, (lightness,))
    program = TorchConverter().add_exported_program(
        exported.run_decompositions(get_decomp_table())).to_coreai()
    program.save_asset(Path(base + ".aimodel"))
    name = next(iter(inspect.signature(module.forward).parameters))
    write_reference(base + "-reference.h5", {name: lightness.numpy()}, {"ab": output.numpy()})


def main():
    match sys.argv[1:]:
        case ["run", model, source, target]:
            run(model, source, target)
        case ["convert", network, size, base]:
            convert(network, int(size), base)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
