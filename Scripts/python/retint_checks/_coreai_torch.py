"""Has coreai-torch write a PyTorch network as BASE.aimodel, with BASE-reference.h5.

    python -m retint_checks._coreai_torch NETWORK SIZE BASE

`Scripts/check aimodel` runs it with the Python of Scripts/setup --coreai.
"""

import inspect
import sys
from pathlib import Path

import h5py
import numpy as np


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
    network, size, base = sys.argv[1:]
    convert(network, int(size), base)


if __name__ == "__main__":
    main()
