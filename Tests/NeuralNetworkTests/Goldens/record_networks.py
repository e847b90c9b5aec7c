#!/usr/bin/env python3
"""Writes small networks that coremltools converts to neural networks, and what PyTorch computes.

    python record_networks.py    # writes the .mlmodel files beside this and networks.json

A U-Net with batch normalizations and skip connections, also with float16 and with quantized
weights and for several sizes; a generator with instance normalizations and reflection padding;
networks that take an image in RGB, BGR or gray, scaled and biased by the model; a classifier.
"""

import base64
import json
import pathlib

import coremltools as ct
import numpy as np
import torch
from coremltools.models.neural_network import quantization_utils
from torch import nn
from torch.nn import functional as F

HERE = pathlib.Path(__file__).parent
torch.manual_seed(3)


class UNet(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.down = self.block(inputs, 6)
        self.deep = self.block(6, 8)
        self.up = self.block(14, 6)
        self.last = nn.Conv2d(6, outputs, 1)

    def block(self, inputs, outputs):
        return nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs),
            nn.LeakyReLU(0.2))

    def forward(self, x):
        first = self.down(x)
        deep = self.deep(F.max_pool2d(first, 2))
        wide = F.interpolate(deep, scale_factor=2, mode="bilinear", align_corners=True)
        return torch.tanh(self.last(self.up(torch.cat([first, wide], 1))))


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.ReflectionPad2d(2), nn.Conv2d(3, 6, 5), nn.InstanceNorm2d(6, affine=True),
            nn.ReLU(), nn.Conv2d(6, 8, 3, 2, 1), nn.InstanceNorm2d(8, affine=True), nn.ReLU(),
            nn.ConvTranspose2d(8, 6, 4, 2, 1), nn.InstanceNorm2d(6, affine=True), nn.PReLU(6),
            nn.ReflectionPad2d(1), nn.Conv2d(6, 12, 3), nn.PixelShuffle(2), nn.Sigmoid())

    def forward(self, x):
        return self.layers(x)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Conv2d(3, 8, 3, 2)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(F.relu(self.features(x)).mean((2, 3))).softmax(1)


def prepared(network, *shape):
    """The network with settled statistics, and an input."""
    network.train()
    with torch.no_grad():
        for _ in range(8):
            network(torch.randn(4, *shape[1:]) * 0.7 + 0.3)
    return network.eval(), torch.rand(shape)


def convert(network, x, **options):
    options.setdefault("inputs", [ct.TensorType(name="x", shape=x.shape)])
    return ct.convert(torch.jit.trace(network, x), convert_to="neuralnetwork", **options)


def output_name(model):
    return model.get_spec().description.output[0].name


def tensors(values):
    return {
        key: {"shape": list(value.shape),
              "values": base64.b64encode(np.float32(value).tobytes()).decode()}
        for key, value in values.items()}


RECORDED = {}


def record(name, model, x, expected, input="x"):
    model.save(str(HERE / f"{name}.mlmodel"))
    RECORDED[name] = {"inputs": tensors({input: np.asarray(x)}),
                      "outputs": tensors({output_name(model): expected.detach().numpy()})}


def unets():
    network, x = prepared(UNet(1, 2), 1, 1, 8, 12)
    plain = convert(network, x)
    record("unet", plain, x, network(x))
    ranges = ct.Shape((1, 1, ct.RangeDim(8, 64, default=8), ct.RangeDim(8, 64, default=12)))
    wide = torch.rand(1, 1, 16, 20)
    record("unet-range", convert(network, x, inputs=[ct.TensorType(name="x", shape=ranges)]),
           wide, network(wide))
    shapes = ct.EnumeratedShapes([[1, 1, 8, 12], [1, 1, 16, 20]], default=[1, 1, 8, 12])
    record("unet-enumerated",
           convert(network, x, inputs=[ct.TensorType(name="x", shape=shapes)]), wide,
           network(wide))


def table(bits, weights):
    """A table of quantiles, and the nearest entry of each weight."""
    weights = np.asarray(weights).reshape(-1)
    entries = np.quantile(weights, (np.arange(2 ** bits) + 0.5) / 2 ** bits)
    nearest = np.abs(weights[:, None] - entries).argmin(1).astype(np.uint8)
    return [float(entry) for entry in entries], nearest


def quantized():
    """One convolution, one transposed convolution and one dense layer in all kinds of weights."""
    torch.manual_seed(4)
    network = nn.Sequential(
        nn.Conv2d(2, 5, 3), nn.ReLU(), nn.ConvTranspose2d(5, 3, 3, 2), nn.Flatten(),
        nn.Linear(3 * 9 * 9, 4)).eval()
    x = torch.rand(1, 2, 6, 6)
    plain = convert(network, x)
    for name, bits, mode in (
        ("half", 16, None), ("linear8", 8, "linear"), ("linear4", 4, "linear"),
        ("symmetric8", 8, "linear_symmetric"), ("table6", 6, "custom_lut"),
        ("table3", 3, "custom_lut"), ("table1", 1, "custom_lut"),
    ):
        options = {} if mode is None else {"quantization_mode": mode}
        if mode == "custom_lut":
            options["lut_function"] = table
        model = quantization_utils.quantize_weights(plain, bits, **options)
        spec = model if not hasattr(model, "get_spec") else model.get_spec()
        model = ct.models.MLModel(spec)
        record("quantized-" + name, model, x, with_weights(network, spec)(x))


def with_weights(network, spec):
    """The network with the weights of a model, unpacked by coremltools."""
    copy = [module for module in network]
    layers = [layer for layer in spec.neuralNetwork.layers
              if layer.WhichOneof("layer") in ("convolution", "innerProduct", "batchedMatmul")]
    modules = [module for module in copy if hasattr(module, "weight")]
    assert len(layers) == len(modules)
    for layer, module in zip(layers, modules):
        kind = layer.WhichOneof("layer")
        params = getattr(layer, kind)
        shape = tuple(module.weight.shape)
        axis = 1 if kind == "convolution" and params.isDeconvolution else 0
        module.weight.data = torch.from_numpy(unpacked(params.weights, shape, axis))
        module.bias.data = torch.from_numpy(unpacked(params.bias, tuple(module.bias.shape), 0))
    return network


def unpacked(weights, shape, axis):
    if len(weights.floatValue):
        return np.array(weights.floatValue, np.float32).reshape(shape)
    if len(weights.float16Value):
        return np.frombuffer(weights.float16Value, np.float16).astype(np.float32).reshape(shape)
    copy = type(weights)()
    copy.CopyFrom(weights)
    quantization_utils._dequantize_wp(copy, shape, axis)
    return np.array(copy.floatValue, np.float32).reshape(shape)


def images():
    for layout, channels in (("RGB", 3), ("BGR", 3), ("GRAYSCALE", 1)):
        network, _ = prepared(UNet(channels, 2), 1, channels, 8, 12)
        pixels = torch.randint(0, 256, (1, channels, 8, 12)).float()
        bias = [-0.2, 0.1, 0.3] if channels == 3 else -0.2
        image = ct.ImageType(name="photo", shape=pixels.shape, scale=1 / 127, bias=bias,
                             color_layout=getattr(ct.colorlayout, layout))
        shift = torch.tensor(bias).reshape(1, -1, 1, 1)
        record("image-" + layout.lower(),
               convert(network, pixels, inputs=[image]), pixels,
               network(pixels / 127 + shift), "photo")


def others():
    network, x = prepared(Generator(), 1, 3, 8, 12)
    record("generator", convert(network, x), x, network(x))
    network, x = prepared(Classifier(), 1, 3, 9, 9)
    model = convert(network, x, classifier_config=ct.ClassifierConfig(["cat", "dog", "cow"]))
    model.save(str(HERE / "classifier.mlmodel"))
    name = model.get_spec().neuralNetworkClassifier.labelProbabilityLayerName
    described = model.get_spec().description.predictedProbabilitiesName
    RECORDED["classifier"] = {"inputs": tensors({"x": x}),
                              "outputs": tensors({described or name: network(x).detach()})}


if __name__ == "__main__":
    unets()
    quantized()
    images()
    others()
    (HERE / "networks.json").write_text(json.dumps(RECORDED, separators=(",", ":")) + "\n")
