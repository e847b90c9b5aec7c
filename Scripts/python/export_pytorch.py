#!/usr/bin/env python3
"""Writes the weights of a PyTorch module, and its output, as HDF5 files that retint reads.

A *weights* file holds the state dict: one dataset per tensor in the root group, named by the
dotted key (`model1.0.weight`), in the order of the state dict. `retint import` reads it.

A *reference* file holds one run of the module in eval mode: `inputs/<name>`, `outputs/<name>`
(float32, NCHW) and, on request, `activations/<module path>` from forward hooks, with a
`modules/<class>/<module path>` for each. `retint verify` compares with it. The outputs of a module
are named `output`, `output_1`, ..., or by the keys of the dict that it returns.

Import `weights` and `reference` to use them in Python, or use the command line; the wheel of retint
has it as `python3 -m retint.export_pytorch`:

    export_pytorch.py --module colorizers:eccv16 --randomize 0 \\
        --weights eccv16.h5 --reference eccv16-reference.h5 \\
        --input input=1x1x256x256:0,100 --activations all

The factory behind --module is called with `pretrained=False` if it takes that argument, so nothing
is downloaded. Trained weights come from --state-dict. Without them, --randomize SEED draws weights
with which a comparison is meaningful: He initialization, and batch normalizations with statistics
measured on random input and then perturbed.

Needs torch, numpy and h5py.
"""

import argparse
import importlib
import importlib.util
import inspect
import math
import os
import sys
import types

import h5py
import numpy as np
import torch
from torch import nn


# Files


def weights(module, path):
    """Write the state dict of a module (or a state dict) to an HDF5 file.

    Floats keep their width (bfloat16 becomes float32), integers become int64.
    """
    state = module.state_dict() if isinstance(module, nn.Module) else module
    with _Replacing(path) as file:
        for name, tensor in state.items():
            file.create_dataset(name, data=_array(tensor))


def reference(module, inputs, path, activations=None):
    """Run a module in eval mode and write its inputs, outputs and activations to an HDF5 file.

    inputs: name to tensor, in the order of the arguments of `forward`. A name that is a parameter
        of `forward` is passed by keyword, others by position.
    activations: a list of module paths (`model1.0`), "all", or None. A module that runs several
        times is recorded the first time.
    Returns the outputs by name.
    """
    # ReLU(inplace=True) overwrites its input: activations are copied at once, and the inputs before
    # the run.
    recorded = {}
    originals = {name: tensor.clone() for name, tensor in inputs.items()}
    hooks = [
        part.register_forward_hook(_recorder(recorded, name))
        for name, part in _chosen(module, activations)
    ]
    was_training = module.training
    module.eval()
    try:
        with torch.no_grad():
            outputs = _named(_call(module, inputs))
    finally:
        module.train(was_training)
        for hook in hooks:
            hook.remove()
    with _Replacing(path) as file:
        groups = {"inputs": originals, "outputs": outputs, "activations": recorded}
        parts = dict(module.named_modules())
        for group, tensors in groups.items():
            for name, tensor in tensors.items():
                file.create_dataset(f"{group}/{name}", data=_array(tensor.float()))
        for name in recorded:
            file[f"modules/{type(parts[name]).__name__}/{name}"] = np.float32(0)
        file.attrs["torch"] = np.bytes_(str(torch.__version__))
    return outputs


class _Replacing:
    """An HDF5 file that replaces an existing one only when it is complete."""

    def __init__(self, path):
        self.path, self.temporary = os.fspath(path), f"{os.fspath(path)}.{os.getpid()}.tmp"

    def __enter__(self):
        self.file = h5py.File(self.temporary, "w", track_order=True)
        return self.file

    def __exit__(self, kind, *_):
        self.file.close()
        if kind is None:
            os.replace(self.temporary, self.path)
        else:
            os.unlink(self.temporary)


def _array(tensor):
    tensor = tensor.detach().cpu()
    if tensor.dtype == torch.bfloat16:
        tensor = tensor.float()
    if not tensor.is_floating_point():
        tensor = tensor.long()
    return tensor.contiguous().numpy()


# Running


def _call(module, inputs):
    known = inspect.signature(module.forward).parameters
    if all(name in known for name in inputs):
        return module(**inputs)
    return module(*inputs.values())


def _named(outputs):
    if isinstance(outputs, torch.Tensor):
        outputs = [outputs]
    if isinstance(outputs, dict):
        return dict(outputs)
    return {f"output_{i}" if i else "output": output for i, output in enumerate(outputs)}


def _chosen(module, activations):
    parts = {name: part for name, part in module.named_modules() if name}
    names = list(parts) if activations == "all" else activations or []
    unknown = [name for name in names if name not in parts]
    if unknown:
        raise ValueError(f"the module has no submodule named {', '.join(unknown)}")
    return [(name, parts[name]) for name in names]


def _recorder(recorded, name):
    def hook(_module, _inputs, output):
        # Attention and recurrent layers return their values first, then weights or states.
        if isinstance(output, (list, tuple)) and output:
            output = output[0]
        if isinstance(output, torch.Tensor) and name not in recorded:
            recorded[name] = output.detach().clone()

    return hook


# Random weights


def randomize(module, inputs, seed=0):
    """Give a module seeded random weights with which a comparison is meaningful.

    Like those of a trained network, these weights hardly amplify rounding. They are initialized by
    data (Kraehenbuehl et al. 2016, "Data-dependent initializations of convolutional neural
    networks"): one run on `inputs` sets, layer by layer,

    - convolutions and linear layers to He-normal weights, scaled to a standard deviation of 1, with
      biases that give each channel a mean around 1;
    - batch normalizations to weights and biases around 1, and to the statistics of that run,
      perturbed by up to a tenth, so that none is the identity.

    With means around 0, ReLUs zero half of their inputs, and every normalized layer amplifies
    rounding by a fifth (Yang et al. 2019, "A mean field theory of batch normalization"); where a
    channel is nearly always 0, its normalization amplifies it by a hundred. A layer that gives two
    channels gives colors: a standard deviation of 0.15 around 0, the ab of a colorful photo, so
    that a tanh neither saturates nor is dominated by rounding.
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for part in module.modules():
            _randomize_layer(part, generator)
        _calibrate(module, inputs, generator)
        for part in module.modules():
            if isinstance(part, nn.modules.batchnorm._BatchNorm):
                _perturb_statistics(part, generator)


_LINEAR = (nn.modules.conv._ConvNd, nn.Linear)


def _randomize_layer(part, generator):
    if isinstance(part, _LINEAR):
        part.weight.normal_(0, math.sqrt(2 / _fan_in(part)), generator=generator)
        if part.bias is not None:
            part.bias.normal_(0, 0.05, generator=generator)
    elif isinstance(part, nn.modules.batchnorm._BatchNorm) and part.affine:
        part.weight.uniform_(0.75, 1.25, generator=generator)
        part.bias.normal_(1, 0.1, generator=generator)


def _fan_in(part):
    """The number of products that are summed into one output element."""
    fan = part.weight[0].numel()
    if isinstance(part, nn.modules.conv._ConvTransposeNd):
        # Weights are stored input first, and a stride spreads the kernel over several outputs.
        fan = part.weight.shape[0] // part.groups * part.weight[0, 0].numel()
        fan //= math.prod(part.stride)
    return max(fan, 1)


def _calibrate(module, inputs, generator):
    """Scale layers, and set running statistics, to what one run gives.

    Momentum None computes a cumulative average.
    """
    norms = [p for p in module.modules() if isinstance(p, nn.modules.batchnorm._BatchNorm)]
    momenta = [part.momentum for part in norms]
    was_training = module.training
    module.eval()
    for part in norms:
        if part.track_running_stats:
            part.reset_running_stats()
            part.momentum = None
        part.train()
    hooks = [part.register_forward_hook(_scaler(generator)) for part in module.modules()
             if isinstance(part, _LINEAR)]
    _call(module, {name: tensor.clone() for name, tensor in inputs.items()})
    for hook in hooks:
        hook.remove()
    module.train(was_training)
    for part, momentum in zip(norms, momenta):
        part.momentum = momentum


def _scaler(generator):
    """A hook that scales a layer when it runs the first time, and gives its new output."""
    seen = []

    def scale(part, _, output):
        if seen:
            return output
        seen.append(part)
        channels = output if isinstance(part, nn.Linear) else output.movedim(1, -1)
        count = channels.shape[-1]
        if channels.numel() < 2 * count:
            return output  # What is pooled to one value has no deviation.
        mean = channels.mean(tuple(range(channels.dim() - 1)))
        factor = (0.15 if count == 2 else 1) / (channels - mean).std()
        part.weight.mul_(factor)
        if part.bias is None:
            return output * factor
        target = torch.empty(count).normal_(0 if count == 2 else 1, 0.1, generator=generator)
        if count == 2:
            target.mul_(0.15)
        part.bias.sub_(mean).mul_(factor).add_(target)
        channels = (channels - mean) * factor + target
        return channels if isinstance(part, nn.Linear) else channels.movedim(-1, 1)

    return scale


def _perturb_statistics(part, generator):
    if part.running_mean is None:
        return
    deviation = part.running_var.sqrt()
    noise = torch.empty_like(part.running_mean).uniform_(-0.1, 0.1, generator=generator)
    part.running_mean.add_(noise * deviation)
    part.running_var.mul_(torch.empty_like(deviation).uniform_(0.9, 1.1, generator=generator))
    part.running_var.clamp_(min=1e-4)
    part.num_batches_tracked.fill_(1000)


# Command line


def load_module(name):
    """Create the module that `package.module:factory` names."""
    package, _, factory = name.partition(":")
    if not factory:
        raise ValueError(f"--module {name}: give package.module:factory")
    if importlib.util.find_spec("IPython") is None:
        # Some packages import IPython's debugging prompt and never call it.
        sys.modules["IPython"] = types.ModuleType("IPython")
        sys.modules["IPython"].embed = lambda *_, **__: None
    sys.path.insert(0, os.getcwd())
    make = getattr(importlib.import_module(package), factory)
    if isinstance(make, nn.Module):
        return make
    takes_pretrained = "pretrained" in inspect.signature(make).parameters
    return make(pretrained=False) if takes_pretrained else make()


def parse_input(text):
    """`name=1x1x256x256` or `name=1x1x256x256:0,100` as (name, shape, (low, high))."""
    try:
        name, _, rest = text.partition("=")
        extents, _, span = rest.partition(":")
        shape = [int(extent) for extent in extents.split("x")]
        low, high = (float(bound) for bound in span.split(",")) if span else (0.0, 1.0)
    except ValueError:
        shape, name = [], ""
    if not name or not shape or min(shape) < 1:
        raise argparse.ArgumentTypeError(
            f"{text}: give NAME=1x1x256x256 or NAME=1x1x256x256:LOW,HIGH")
    return name, shape, (low, high)


def random_inputs(specs, seed):
    """Uniform random tensors for the inputs that `parse_input` describes."""
    generator = torch.Generator().manual_seed(seed)
    return {
        name: torch.empty(shape).uniform_(low, high, generator=generator)
        for name, shape, (low, high) in specs
    }


def _parser():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--module", required=True, metavar="PACKAGE.MODULE:FACTORY")
    parser.add_argument("--state-dict", metavar="FILE", help="trained weights (.pt, .pth)")
    parser.add_argument("--randomize", type=int, metavar="SEED", help="seeded random weights")
    parser.add_argument("--seed", type=int, default=0, help="seed of initial weights and inputs")
    parser.add_argument("--weights", metavar="W.h5", help="write the state dict here")
    parser.add_argument("--reference", metavar="R.h5", help="write inputs and outputs here")
    parser.add_argument(
        "--input", action="append", default=[], type=parse_input, metavar="NAME=SHAPE[:LOW,HIGH]",
        help="a random input, uniform between LOW and HIGH (0 and 1), such as "
        "input=1x1x256x256:0,100; once per argument of forward, in that order",
    )
    parser.add_argument(
        "--activations", metavar="all|PATH,PATH", help="also write the outputs of these submodules"
    )
    return parser


def main(arguments=None):
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.state_dict and options.randomize is not None:
        parser.error("--state-dict and --randomize exclude each other")
    if not options.weights and not options.reference:
        parser.error("nothing to write: give --weights, --reference or both")
    if not options.input and (options.reference or options.randomize is not None):
        parser.error("--reference and --randomize run the module: give --input")
    torch.manual_seed(options.seed)
    module = load_module(options.module)
    if options.state_dict:
        state = torch.load(options.state_dict, map_location="cpu", weights_only=True)
        module.load_state_dict(state.get("state_dict", state))
    if options.randomize is not None:
        randomize(module, random_inputs(options.input, options.randomize), options.randomize)
    if options.weights:
        weights(module, options.weights)
    if options.reference:
        chosen = options.activations
        if chosen and chosen != "all":
            chosen = chosen.split(",")
        reference(module, random_inputs(options.input, options.seed), options.reference, chosen)


if __name__ == "__main__":
    main()
