"""Writes the PyTorch files that the tests read, with torch.save: python record_pytorch.py

Beside NAME.pth, NAME-expected.safetensors holds the same tensors, contiguous, where the tests
compare them bit for bit.
"""

import io
import pathlib
import zipfile
from collections import OrderedDict

import numpy
import torch
from safetensors.torch import save_file

HERE = pathlib.Path(__file__).parent
FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
INTEGERS = [torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.uint16,
            torch.uint32, torch.uint64]


def path(name):
    return HERE / f"{name}.pth"


def expect(name, tensors):
    save_file({key: tensor.detach().clone(memory_format=torch.contiguous_format)
               for key, tensor in tensors.items()}, HERE / f"{name}-expected.safetensors")


def save_both(name, tensors):
    """In today's format and in that of PyTorch before 1.6."""
    torch.save(tensors, path(name))
    torch.save(tensors, path(f"{name}-legacy"), _use_new_zipfile_serialization=False)


def ramp(*shape):
    count = int(numpy.prod(shape))
    return ((torch.arange(count) - 3) / 4).reshape(shape)


def any_bits(dtype, *shape):
    size = torch.empty(0, dtype=dtype).element_size()
    count = int(numpy.prod(shape))
    return torch.randint(0, 256, (count * size,), dtype=torch.uint8).view(dtype).reshape(shape)


def types():
    tensors = {str(kind)[6:]: torch.randn(3, 5).to(kind) for kind in FLOATS}
    tensors |= {str(kind)[6:]: any_bits(kind, 7) for kind in INTEGERS}
    tensors["uint64"] = tensors["uint64"].view(torch.int64).abs().view(torch.uint64)
    tensors["bits"] = any_bits(torch.float32, 4, 4)
    tensors["scalar"] = torch.tensor(0.25)
    tensors["none"] = torch.zeros(0, 3)
    tensors["half.special"] = torch.tensor(
        [0, -0x8000, 1, -0x7C01, 0x3C00, 0x7BFF, 0x7C00, -0x400], dtype=torch.int16
    ).view(torch.float16)
    return OrderedDict(tensors)


def strided():
    base = torch.randn(4, 6, 5)
    return OrderedDict({
        "transposed": torch.randn(3, 7).t(),
        "permuted": base.permute(2, 0, 1),
        "base": base,
        "sliced": base[1:3, ::2, 1:],
        "row": base[2, 3],
        "expanded": torch.randn(3, 1).expand(2, 3, 4),
        "constant": torch.tensor(2.5).expand(3, 3),
        "windows": torch.arange(10.0).as_strided((4, 3), (2, 1), 1),
        "half": torch.randn(5, 4).half().t(),
        "brain": torch.randn(5, 4).bfloat16().t(),
        "double": torch.randn(5, 4).double().t(),
        "bytes": torch.arange(12, dtype=torch.uint8).reshape(3, 4).t(),
        "channels last": torch.randn(2, 3, 4, 4).to(memory_format=torch.channels_last),
    })


def network():
    model = torch.nn.Sequential(torch.nn.Conv2d(2, 3, 3), torch.nn.BatchNorm2d(3))
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.randn(2, 2, 8, 8)).square().mean().backward()
    optimizer.step()
    return model, optimizer


def nested():
    model, optimizer = network()
    state = model.state_dict()
    expect("nested", state)
    torch.save({
        "epoch": 3, "lr": 0.1, "done": False, "best": numpy.float64(0.5), "name": "é",
        "device": torch.device("cpu"), "dtype": torch.float16, "size": torch.Size([2, 3]),
        "large": 2**80, "negative": -5, "list": [1, None, (2, 3)],
        "state_dict": torch.nn.DataParallel(model).state_dict(),
        "optimizer": optimizer.state_dict(),
    }, path("nested"))
    torch.save({"model": {"weights": {
        f"_orig_mod.module.{key}": torch.nn.Parameter(value, requires_grad=False)
        for key, value in state.items()}}}, path("nested-twice"))
    torch.save({"params": {"w": ramp(3)}, "params_ema": {"w": ramp(3) + 1, "v": ramp(2)}},
               path("several"))
    torch.save({"mine": {"w": ramp(3)}, "lr": 1}, path("other-key"))
    weights = {"w": ramp(3), "v": ramp(2)}
    torch.save({"params": weights, "params_ema": weights}, path("same-twice"))
    torch.save({"epoch": 1, "state_dict": {
        "model.w": ramp(3), "model_ema.w": ramp(3) + 1, "model_ema.v": ramp(2)}},
        path("prefixes"))
    for protocol in (3, 4, 5):
        torch.save(state, path(f"protocol-{protocol}"), pickle_protocol=protocol)
        torch.save(state, path(f"protocol-{protocol}-legacy"), pickle_protocol=protocol,
                   _use_new_zipfile_serialization=False)
    torch.serialization.set_crc32_options(False)
    torch.save(state, path("no-checksums"))
    torch.serialization.set_crc32_options(True)


def big_endian():
    """What torch.save writes on such a machine: its byte order, and swapped elements."""
    tensors = {"weight": torch.randn(3, 4), "half": torch.randn(4).half(), "count": torch.tensor(7)}
    expect("big-endian", tensors)
    file = io.BytesIO()
    torch.save(tensors, file)
    widths = {"archive/data/0": 4, "archive/data/1": 2, "archive/data/2": 8}
    with zipfile.ZipFile(file) as source, zipfile.ZipFile(path("big-endian"), "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name in widths:
                content = numpy.frombuffer(content, f"u{widths[name]}").byteswap().tobytes()
            target.writestr(name, b"big" if name.endswith("byteorder") else content)


def refused():
    model, _ = network()
    torch.save(model, path("module"))
    torch.jit.trace(model.eval(), torch.zeros(1, 2, 8, 8)).save(path("script"))
    torch.save({
        "flags": torch.tensor([True, False]), "eighths": ramp(4).to(torch.float8_e4m3fn),
        "complex": torch.zeros(2, dtype=torch.complex64), "weight": ramp(6),
    }, path("others"))
    torch.save({"w": torch.zeros(2, 2).to_sparse()}, path("sparse"))
    torch.save({"w": torch.zeros(2, dtype=torch.complex64).conj()}, path("conjugated"))
    with zipfile.ZipFile(path("others")) as source, zipfile.ZipFile(
            path("deflated"), "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            target.writestr(name, source.read(name))


if __name__ == "__main__":
    torch.manual_seed(0)
    save_both("flat", {
        "model1.2.weight": ramp(4, 2, 3, 3), "model1.0.bias": ramp(4),
        "model1.4.num_batches_tracked": torch.tensor(1234),
    })
    for name, tensors in {"types": types(), "strided": strided()}.items():
        save_both(name, tensors)
        expect(name, tensors)
    nested()
    big_endian()
    refused()
