"""Networks that coremltools converts: a U-Net of many kinds of layers, and the published ones."""

import torch
from torch import nn

import export_pytorch

SIZE = 64


class InvertedResidual(nn.Module):
    """MobileNetV2's block: expand, depthwise, project; a residual sum if shapes match."""

    def __init__(self, inputs, outputs, stride=1, expansion=4):
        super().__init__()
        expanded = inputs * expansion
        self.body = nn.Sequential(
            nn.Conv2d(inputs, expanded, 1, bias=False), nn.BatchNorm2d(expanded), nn.ReLU6(),
            nn.Conv2d(expanded, expanded, 3, stride, 1, groups=expanded, bias=False),
            nn.BatchNorm2d(expanded), nn.ReLU6(),
            nn.Conv2d(expanded, outputs, 1, bias=False), nn.BatchNorm2d(outputs),
        )
        self.adds = stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.body(x) if self.adds else self.body(x)


class Gate(nn.Module):
    """Squeeze and excitation with hard activations."""

    def __init__(self, channels):
        super().__init__()
        self.body = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(channels, channels // 4, 1), nn.Hardswish(),
            nn.Conv2d(channels // 4, channels, 1), nn.Hardsigmoid(),
        )

    def forward(self, x):
        return x * self.body(x)


class UNet(nn.Module):
    """A U-Net of MobileNetV2's blocks, from lightness (0...100) to ab.

    Each decoder step upsamples differently: bilinear, nearest, pixel shuffle, transposed
    convolution; a network of fewer steps uses the last ones.
    """

    def __init__(self, steps=4):
        super().__init__()
        self.first = 4 - steps
        widths = [16, 24, 32, 48, 64][: steps + 1]
        self.stem = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU6()
        )
        self.down = nn.ModuleList(
            nn.Sequential(InvertedResidual(a, b, 2), InvertedResidual(b, b))
            for a, b in zip(widths, widths[1:])
        )
        self.gate = Gate(widths[-1])
        self.shuffle = nn.Conv2d(32, 32 * 4, 1)
        self.transposed = nn.ConvTranspose2d(24, 24, 4, 2, 1)
        self.up = nn.ModuleList(
            InvertedResidual(a + b, b) for a, b in zip(widths[:0:-1], widths[-2::-1])
        )
        self.head = nn.Sequential(nn.Conv2d(16, 2, 1), nn.Tanh())

    def larger(self, x, step):
        if step == 0:
            return nn.functional.interpolate(x, scale_factor=2, mode="bilinear")
        if step == 1:
            return nn.functional.interpolate(x, scale_factor=2, mode="nearest")
        if step == 2:
            return nn.functional.pixel_shuffle(self.shuffle(x), 2)
        return self.transposed(x)

    def forward(self, lightness):
        x = self.stem(lightness / 100 - 0.5)
        skips = []
        for block in self.down:
            skips.append(x)
            x = block(x)
        x = self.gate(x)
        for step, (block, skip) in enumerate(zip(self.up, reversed(skips))):
            x = block(torch.cat([self.larger(x, self.first + step), skip], dim=1))
        return self.head(x) * 110


def network(name):
    """A network with seeded weights, and its input."""
    torch.manual_seed(0)
    made = {"unet": UNet, "small": lambda: UNet(steps=1)}
    module = made[name]() if name in made else export_pytorch.load_module(f"colorizers:{name}")
    module.eval()
    inputs = export_pytorch.random_inputs([("lightness", (1, 1, SIZE, SIZE), (0, 100))], 0)
    export_pytorch.randomize(module, inputs, 0)
    return module.eval(), inputs
