"""Writes the safetensors files that the tests read, with the safetensors package:
python record_safetensors.py

Plain tensors hold (index - 3) / 4 in row-major order, so the tests know the values without a file.
"""

import pathlib

import torch
from safetensors.torch import save_file

HERE = pathlib.Path(__file__).parent


def ramp(*shape, dtype=torch.float32):
    count = 1
    for extent in shape:
        count *= extent
    return ((torch.arange(count) - 3) / 4).reshape(shape).to(dtype)


def save(name, tensors, metadata={"format": "pt"}):
    save_file(tensors, HERE / f"{name}.safetensors", metadata=metadata)


def bits(values, width, dtype):
    return torch.tensor(values, dtype=width).view(dtype)


def types():
    tensors = {
        "none": torch.zeros(0, 3),
        "scalar": torch.tensor(0.25),
        "F16.special": bits(
            [0, -0x8000, 1, -0x7C01, 0x3C00, 0x7BFF, 0x7C00, -0x400, 0x7E00],
            torch.int16, torch.float16,
        ),
        "BF16.special": bits(
            [0, -0x8000, 1, 0x3F80, 0x7F7F, 0x7F80, -0x80, 0x7FC0], torch.int16, torch.bfloat16
        ),
        "I64.extreme": torch.tensor([-(2**63), 2**63 - 1]),
    }
    floats = {"F16": torch.float16, "BF16": torch.bfloat16, "F32": torch.float32,
              "F64": torch.float64}
    for name, dtype in floats.items():
        tensors[name] = ramp(2, 3, dtype=dtype)
    signed = {"I8": torch.int8, "I16": torch.int16, "I32": torch.int32, "I64": torch.int64}
    for name, dtype in signed.items():
        tensors[name] = (torch.arange(6) - 3).to(dtype)
    unsigned = {"U8": torch.uint8, "U16": torch.uint16, "U32": torch.uint32, "U64": torch.uint64}
    for name, dtype in unsigned.items():
        tensors[name] = torch.tensor([3, 2, 1, 0, 1, 2]).to(dtype)
    return tensors


if __name__ == "__main__":
    save("flat", {
        "model1.2.weight": ramp(4, 2, 3, 3),
        "model1.0.bias": ramp(4),
        "model1.4.num_batches_tracked": torch.tensor(1234),
    })
    save("types", types())
    save("others", {
        "flags": torch.tensor([True, False]),
        "eighths": ramp(4).to(torch.float8_e4m3fn),
        "complex": torch.zeros(2, dtype=torch.complex64),
        "weight": ramp(6),
    })
    save("names", {
        name: ramp(2)
        for name in ('quote"back\\slash/', "tab\tline\nfeed\rback\bform\f", "bell\a\x1f", "é 😀")
    })
    save("empty", {})
    save("plain", {"weight": ramp(3)}, metadata=None)
