#!/usr/bin/env python3
"""Write half.mlpackage, a float16 program by coremltools, and half.h5, its input and the expected
result of each operation: computed from half-precision inputs, accumulated in float32 or better, and
rounded once.

Needs torch, coremltools and h5py. Identifiers in the package differ from run to run.
"""

import pathlib
import shutil
import warnings

import h5py
import numpy as np

warnings.filterwarnings("ignore")
import coremltools as ct  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from coremltools.converters.mil import Builder as mb  # noqa: E402
from coremltools.converters.mil.mil import types  # noqa: E402

HERE = pathlib.Path(__file__).parent
random = np.random.default_rng(3)


def half(*shape, scale=1.0, mean=0.0):
    return (mean + scale * random.standard_normal(shape)).astype(np.float16)


W1, B1 = half(16, 3, 3, 3, scale=0.25), half(16, scale=0.1)
W2 = half(16, 1, 3, 3, scale=0.4)
W3, B3 = half(16, 8, 4, 4, scale=0.1), half(8, scale=0.1)
GAMMA, BETA = half(16, scale=0.2, mean=1), half(16, scale=0.2)
MEAN, VARIANCE = half(16, scale=0.3), np.abs(half(16, scale=0.2, mean=1))
INPUT = half(1, 3, 16, 16, scale=40)


@mb.program(
    input_specs=[mb.TensorSpec(shape=INPUT.shape, dtype=types.fp16)],
    opset_version=ct.target.iOS16,
)
def program(x):
    x = mb.mul(x=x, y=np.float16(0.05), name="scaled")
    x = mb.conv(x=x, weight=W1, bias=B1, pad_type="custom", pad=[1, 1, 1, 1], name="conv")
    x = mb.batch_norm(
        x=x, mean=MEAN, variance=VARIANCE, gamma=GAMMA, beta=BETA, epsilon=np.float16(1e-3),
        name="norm",
    )
    low = mb.relu(x=x, name="relu")
    x = mb.conv(
        x=low, weight=W2, strides=[2, 2], groups=16, pad_type="custom", pad=[1, 1, 1, 1],
        name="depthwise",
    )
    x = mb.gelu(x=x, mode="TANH_APPROXIMATION", name="gelu")
    x = mb.instance_norm(x=x, epsilon=np.float16(1e-3), name="instance")
    x = mb.silu(x=x, name="silu")
    x = mb.conv_transpose(
        x=x, weight=W3, bias=B3, strides=[2, 2], pad_type="custom", pad=[1, 1, 1, 1], name="up"
    )
    x = mb.concat(values=[x, low], axis=1, name="joined")
    x = mb.softmax(x=x, axis=1, name="softmax")
    x = mb.reduce_mean(x=x, axes=[2, 3], keep_dims=True, name="mean")
    return mb.sqrt(x=x, name="root")


def emulated():
    """The result of each operation by name: PyTorch in float64 on half values, rounded once."""

    def tensor(array):
        return torch.from_numpy(array.astype(np.float64))

    values = {}

    def keep(name, value):
        values[name] = value.half()
        return values[name].double()

    x = keep("scaled", tensor(INPUT) * float(np.float16(0.05)))
    x = keep("conv", F.conv2d(x, tensor(W1), tensor(B1), padding=1))
    x = keep(
        "norm",
        F.batch_norm(
            x, tensor(MEAN), tensor(VARIANCE), tensor(GAMMA), tensor(BETA),
            eps=float(np.float16(1e-3)),
        ),
    )
    low = keep("relu", x.relu())
    x = keep("depthwise", F.conv2d(low, tensor(W2), stride=2, padding=1, groups=16))
    x = keep("gelu", F.gelu(x, approximate="tanh"))
    x = keep("instance", F.instance_norm(x, eps=float(np.float16(1e-3))))
    x = keep("silu", F.silu(x))
    x = keep("up", F.conv_transpose2d(x, tensor(W3), tensor(B3), stride=2, padding=1))
    x = keep("joined", torch.cat([x, low], 1))
    x = keep("softmax", x.softmax(1))
    x = keep("mean", x.mean((2, 3), keepdim=True))
    keep("root", x.sqrt())
    return values


def main():
    package = ct.convert(
        program, convert_to="mlprogram", minimum_deployment_target=ct.target.iOS16,
        compute_precision=ct.precision.FLOAT16, pass_pipeline=ct.PassPipeline.EMPTY,
        skip_model_load=True,
    )
    path = HERE / "half.mlpackage"
    shutil.rmtree(path, ignore_errors=True)
    package.save(str(path))
    with h5py.File(HERE / "half.h5", "w", track_order=True) as file:
        file["inputs/x"] = INPUT.astype(np.float32)
        values = emulated()
        file["outputs/root"] = values["root"].float().numpy()
        for name, value in values.items():
            file[f"activations/{name}"] = value.float().numpy()


if __name__ == "__main__":
    main()
