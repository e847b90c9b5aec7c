"""MobileUNet as a PyTorch module, with the state-dict names of Sources/Colorizers/MobileUNet.swift."""

import torch
from torch import nn
import torch.nn.functional as F


def conv(inputs, outputs, kernel, stride=1, groups=1, activates=True):
    convolution = nn.Conv2d(
        inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False
    )
    nn.init.kaiming_normal_(convolution.weight, mode="fan_out", nonlinearity="relu")
    layers = [convolution, nn.BatchNorm2d(outputs)]
    return nn.Sequential(*layers, *([nn.ReLU()] if activates else []))


class InvertedResidual(nn.Module):
    def __init__(self, inputs, outputs, stride=1, expansion=4):
        super().__init__()
        wide = inputs * expansion
        self.expand = conv(inputs, wide, 1)
        self.depthwise = conv(wide, wide, 3, stride, groups=wide)
        self.project = conv(wide, outputs, 1, activates=False)
        self.keeps_shape = stride == 1 and inputs == outputs

    def forward(self, x):
        y = self.project(self.depthwise(self.expand(x)))
        return x + y if self.keeps_shape else y


def residuals(inputs, outputs, count):
    blocks = [InvertedResidual(inputs, outputs, stride=2)]
    blocks += [InvertedResidual(outputs, outputs) for _ in range(count - 1)]
    return nn.Sequential(*blocks)


class UpBlock(nn.Module):
    def __init__(self, inputs, outputs, separable):
        super().__init__()
        self.narrow = conv(inputs, outputs, 1, activates=False)
        self.upsample = nn.Upsample(scale_factor=2, mode="bilinear")
        if separable:
            self.fuse = nn.Sequential(
                conv(outputs, outputs, 3, groups=outputs), conv(outputs, outputs, 1)
            )
        else:
            self.fuse = conv(outputs, outputs, 3)

    def forward(self, x, skip):
        return self.fuse(self.upsample(self.narrow(x)) + skip)


class MobileUNet(nn.Module):
    """Lightness [N, 1, H, W], 0...100, to ab [N, 2, H, W], -110...110."""

    def __init__(self, width=1.0):
        super().__init__()
        w = [max(16, round(c * width / 16) * 16) for c in (16, 32, 64, 96, 160)]
        self.stem = conv(1, w[0], 3, stride=2)
        self.stage2 = conv(w[0], w[0], 3)
        self.stage4 = nn.Sequential(
            conv(w[0], w[1], 3, stride=2), InvertedResidual(w[1], w[1])
        )
        self.stage8 = residuals(w[1], w[2], 2)
        self.stage16 = residuals(w[2], w[3], 3)
        self.stage32 = residuals(w[3], w[4], 3)
        self.context = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(w[4], w[4], 1), nn.ReLU(),
            nn.Conv2d(w[4], w[4], 1),
        )
        self.up16 = UpBlock(w[4], w[3], separable=True)
        self.up8 = UpBlock(w[3], w[2], separable=True)
        self.up4 = UpBlock(w[2], w[1], separable=False)
        self.up2 = UpBlock(w[1], w[0], separable=False)
        self.head = nn.Sequential(
            nn.Conv2d(w[0], 2, 3, padding=1), nn.Tanh(),
            nn.Upsample(scale_factor=2, mode="bilinear"),
        )
        nn.init.normal_(self.head[0].weight, 0, 0.01)
        nn.init.zeros_(self.head[0].bias)

    def forward(self, lightness):
        half = self.stage2(self.stem((lightness - 50) * 0.01))
        quarter = self.stage4(half)
        eighth = self.stage8(quarter)
        sixteenth = self.stage16(eighth)
        deepest = self.stage32(sixteenth)
        x = self.up16(deepest + self.context(deepest), sixteenth)
        x = self.up8(x, eighth)
        x = self.up4(x, quarter)
        x = self.up2(x, half)
        return self.head(x) * 110
