"""PicoUNet, RepUNet and ClassUNet.

All map lightness [N, 1, H, W], 0...100, to ab [N, 2, H, W], -110...110."""

import torch
from torch import nn
import torch.nn.functional as F

from . import ab_bins
from .blocks import (
    UNet, UpBlock, color_head, conv, global_context, repeated, scaled, separable, small,
)


def separables(inputs, outputs, count):
    blocks = [separable(inputs, outputs, stride=2)]
    return nn.Sequential(*blocks, *(separable(outputs, outputs) for _ in range(count - 1)))


class PicoUNet(UNet):
    ups = ("up16", "up8", "up4")

    def __init__(self, width=1.0, depth=1.0):
        super().__init__()
        w = [scaled(c, width) for c in (16, 32, 48, 64, 96)]
        self.stem = conv(1, w[0], 3, stride=2)
        self.stage4 = separables(w[0], w[1], 1)
        self.stage8 = separables(w[1], w[2], repeated(2, depth))
        self.stage16 = separables(w[2], w[3], repeated(3, depth))
        self.stage32 = separables(w[3], w[4], repeated(3, depth))
        self.context = global_context(w[4])
        self.up16 = UpBlock(w[4], w[3], separable(w[3], w[3]))
        self.up8 = UpBlock(w[3], w[2], separable(w[2], w[2]))
        self.up4 = UpBlock(w[2], w[1], separable(w[1], w[1]))
        self.head = color_head(w[1], doublings=2)

    def forward(self, lightness):
        *skips, deepest = self.encoded(lightness)
        return self.head(self.decoded(skips[1:], deepest)) * 110


class Branch(nn.Module):
    def __init__(self, inputs, outputs, kernel, stride):
        super().__init__()
        self.conv, self.norm = conv(inputs, outputs, kernel, stride, activates=False)

    def forward(self, x):
        return self.norm(self.conv(x))


class RepConv2d(nn.Module):
    """RepVGG's training-time block: the sum of a 3x3, a 1x1 and, if shapes match, the input."""

    def __init__(self, inputs, outputs, stride=1):
        super().__init__()
        self.square = Branch(inputs, outputs, 3, stride)
        self.point = Branch(inputs, outputs, 1, stride)
        keeps_shape = inputs == outputs and stride == 1
        self.identity = nn.BatchNorm2d(outputs) if keeps_shape else None

    def forward(self, x):
        y = self.square(x) + self.point(x)
        return F.relu(y if self.identity is None else y + self.identity(x))


class RepUNet(UNet):
    def __init__(self, width=1.0, depth=1.0):
        super().__init__()
        w = [scaled(c, width) for c in (32, 48, 96, 160, 256)]

        def stage(level, count):
            first = RepConv2d(w[level - 1], w[level], stride=2)
            rest = [RepConv2d(w[level], w[level]) for _ in range(repeated(count, depth) - 1)]
            return nn.Sequential(first, *rest)

        def up(level):
            return UpBlock(w[level + 1], w[level], RepConv2d(w[level], w[level]))

        self.stem = nn.Sequential(RepConv2d(1, w[0], stride=2))
        self.stage4, self.stage8 = stage(1, 2), stage(2, 3)
        self.stage16, self.stage32 = stage(3, 4), stage(4, 2)
        self.context = global_context(w[4])
        self.up16, self.up8, self.up4, self.up2 = up(3), up(2), up(1), up(0)
        self.head = color_head(w[0], doublings=1)

    def forward(self, lightness):
        *skips, deepest = self.encoded(lightness)
        return self.head(self.decoded(skips, deepest)) * 110


class ResidualBlock(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.first = conv(channels, channels, 3)
        self.second = conv(channels, channels, 3, activates=False)

    def forward(self, x):
        return F.relu(self.second(self.first(x)) + x)


def residual_stage(inputs, outputs, count):
    blocks = [ResidualBlock(outputs) for _ in range(count)]
    return nn.Sequential(conv(inputs, outputs, 3, stride=2), *blocks)


class BinDecoder(nn.Module):
    """The annealed mean of the 313 ab bins, in -1...1, times the agreement of the bins to the power
    of the certainty, times the saturation. Before the temperature divides it, the logit of each bin
    is lowered by the neutrality times the bin's chroma / 50."""

    def __init__(self, temperature, saturation, certainty=0.0, neutrality=0.0):
        super().__init__()
        self.temperature, self.saturation, self.certainty = temperature, saturation, certainty
        self.neutrality = neutrality
        colors = torch.from_numpy(ab_bins.in_gamut().T / 110).float()
        self.register_buffer("colors", colors[:, :, None, None], persistent=False)

    def forward(self, logits):
        penalties = self.neutrality * self.chromas() * (110 / 50)
        shares = F.softmax((logits - penalties) / self.temperature, dim=1)
        mean = F.conv2d(shares, self.colors)
        return mean * self.agreement(shares, mean) * self.saturation

    def chromas(self):
        """Of the bins, in 0...1."""
        return torch.linalg.vector_norm(self.colors, dim=0, keepdim=True)

    def agreement(self, shares, mean):
        if self.certainty == 0:
            return 1
        chroma = F.conv2d(shares, self.chromas())
        agreement = mean.square().sum(1, keepdim=True) / (chroma.square() + 1e-4)
        return power(agreement, self.certainty / 2)


def power(base, exponent):
    return (base + 1e-4 * (exponent % 1 != 0)).pow(exponent)


def upsampled(ab):
    """ab in -1...1 as -110...110 at four times the height and width."""
    for _ in range(2):
        ab = F.interpolate(ab, scale_factor=2, mode="bilinear")
    return ab * 110


class ClassUNet(UNet):
    ups = ("up16", "up8", "up4")

    def __init__(self, width=1.0, depth=1.0, temperature=0.38, saturation=1.0, certainty=0.0,
                 neutrality=0.0):
        super().__init__()
        w = [scaled(c, width) for c in (32, 64, 128, 192, 256)]
        self.stem = conv(1, w[0], 3, stride=2)
        self.stage4 = residual_stage(w[0], w[1], repeated(2, depth))
        self.stage8 = residual_stage(w[1], w[2], repeated(3, depth))
        self.stage16 = residual_stage(w[2], w[3], repeated(2, depth))
        self.stage32 = residual_stage(w[3], w[4], repeated(1, depth))
        self.context = global_context(w[4])
        self.up16 = UpBlock(w[4], w[3], conv(w[3], w[3], 3))
        self.up8 = UpBlock(w[3], w[2], conv(w[2], w[2], 3))
        self.up4 = UpBlock(w[2], w[1], conv(w[1], w[1], 3))
        self.classes = small(nn.Conv2d(w[1], 313, 1))
        self.decoder = BinDecoder(temperature, saturation, certainty, neutrality)

    def logits(self, lightness):
        *skips, deepest = self.encoded(lightness)
        return self.classes(self.decoded(skips[1:], deepest))

    def forward(self, lightness):
        return upsampled(self.decoder(self.logits(lightness)))
