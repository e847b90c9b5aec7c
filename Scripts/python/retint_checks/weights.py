"""Loads weights that retint exported into PyTorch, and compares them bitwise with the original.

    Scripts/check weights --module package.models:eccv16 --original eccv16.h5 \\
        back.safetensors back.h5 ...

All tensors must be present (load_state_dict with strict=True), except those whose names begin with
--without. num_batches_tracked may differ. The exit status is 1 if a file differs.
`Scripts/check pytorch` calls it.
"""

import h5py
import torch
from safetensors.torch import load_file

import retint_options
from export_pytorch import load_module


def read(path):
    """The state dict in an HDF5 or a safetensors file."""
    if path.endswith(".safetensors"):
        return load_file(path)
    with h5py.File(path) as file:
        return {name: torch.from_numpy(file[name][()].copy()) if file[name].shape
                else torch.tensor(file[name][()]) for name in file}


def differences(path, module, original, without):
    """Descriptions of the file's missing, unexpected and differing tensors."""
    found = read(path)
    missing, unexpected = module.load_state_dict(found, strict=without is None)
    if without is not None:
        missing = [name for name in missing if not name.startswith(without)]
    yield from (f"{name} is missing" for name in missing)
    yield from (f"{name} is unexpected" for name in unexpected)
    for name, tensor in module.state_dict().items():
        if name.endswith("num_batches_tracked") or name not in found:
            continue
        width = tensor.element_size()
        integers = {4: torch.int32, 8: torch.int64}[width]
        if tensor.dtype != original[name].dtype or not torch.equal(
                tensor.view(integers), original[name].view(integers)):
            yield f"{name} differs"


def faults(path, module, original, without=None):
    """What is wrong with a file; empty if PyTorch loads it with the bits of the original."""
    try:
        return list(differences(path, load_module(module), original, without))
    except RuntimeError as error:
        return [str(error)]


def main():
    parser = retint_options.parser(__doc__)
    parser.add_argument("--module", required=True, help="package.module:factory")
    parser.add_argument("--original", required=True, help="the original weights")
    parser.add_argument("--without", help="prefix of the names that may be missing")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    original = read(options.original)
    status = 0
    for path in options.files:
        found = faults(path, options.module, original, options.without)
        status |= bool(found)
        print(f"{path}: {'; '.join(found) or 'PyTorch loads it, bit-equal'}")
    return status
