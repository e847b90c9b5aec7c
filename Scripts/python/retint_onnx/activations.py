"""A network whose activations are quantized to 8 bits, as coremltools makes it from PyTorch."""

import contextlib
import io
import warnings

import torch

import export_pytorch
from retint_reference.students import PicoUNet

SIZE = 64
STEPS = 4


def write(path):
    """Writes a package. Its scales are powers of two, and its biases multiples of 1/4096.

    With such, all sums are exact, in any order. With others, a value that rounds another way at one
    place changes those that follow, and two right runs differ as much as the quantization does.
    """
    # coremltools tells its progress.
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        _write(path)


def _write(path):
    import coremltools

    torch.manual_seed(0)
    lightness = 100 * torch.rand(1, 1, SIZE, SIZE)
    network = PicoUNet(width=0.25).eval()
    export_pytorch.randomize(network, {"lightness": lightness}, 0)
    network = _quantized(network, lightness)
    _make_exact(network)
    coremltools.convert(
        torch.jit.trace(network, lightness),
        inputs=[coremltools.TensorType("lightness", shape=lightness.shape)],
        outputs=[coremltools.TensorType("ab")], skip_model_load=True,
        minimum_deployment_target=coremltools.target.iOS17,
        compute_precision=coremltools.precision.FLOAT32,
    ).save(str(path))


def _quantized(network, lightness):
    """Observes a few inputs, then fixes scales of weights and activations."""
    from coremltools.optimize.torch.quantization import (
        LinearQuantizer, LinearQuantizerConfig, ModuleLinearQuantizerConfig)

    everywhere = ModuleLinearQuantizerConfig(milestones=[0, STEPS - 2, STEPS - 1, STEPS - 1])
    quantizer = LinearQuantizer(network, LinearQuantizerConfig(global_config=everywhere))
    observed = quantizer.prepare(example_inputs=(lightness,)).train()
    with torch.no_grad():
        for _ in range(STEPS):
            quantizer.step()
            observed(100 * torch.rand_like(lightness))
    return quantizer.finalize(model=observed.eval()).eval()


def _make_exact(network):
    with torch.no_grad():
        for name, values in [*network.named_buffers(), *network.named_parameters()]:
            if "scale" in name:
                values.copy_(torch.exp2(torch.log2(values).round()))
            elif name.endswith("bias"):
                values.copy_((values * 4096).round() / 4096)
