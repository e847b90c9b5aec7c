"""A U-Net on the encoder of torchvision's `mobilenet_v2`, from lightness (0...100) to ab.

It is not one of retint's architectures but an example of a user's network: a coremltools package.
"""

import torch
from torch import nn
from torch.nn.functional import interpolate

# Expansion, channels, blocks and stride of the encoder's stages (table 2 of the paper).
STAGES = [
    (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
]
# The stages whose results the decoder reads, from deep to shallow, and its widths.
SKIPS = [(4, 96), (2, 48), (1, 32), (0, 16)]


def normalized(inputs, outputs, kernel, stride=1, groups=1):
    return [
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
    ]


class InvertedResidual(nn.Module):
    def __init__(self, inputs, outputs, stride, expansion):
        super().__init__()
        hidden = inputs * expansion
        expand = [*normalized(inputs, hidden, 1), nn.ReLU6()] if expansion > 1 else []
        self.body = nn.Sequential(
            *expand, *normalized(hidden, hidden, 3, stride, hidden), nn.ReLU6(),
            *normalized(hidden, outputs, 1))
        self.adds = stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.body(x) if self.adds else self.body(x)


class MobileNetV2UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(*normalized(1, 32, 3, stride=2), nn.ReLU6())
        self.stages, width, widths = nn.ModuleList(), 32, []
        for expansion, channels, blocks, stride in STAGES:
            self.stages.append(nn.Sequential(*(
                InvertedResidual(
                    channels if block else width, channels, 1 if block else stride, expansion)
                for block in range(blocks))))
            width = channels
            widths.append(width)
        self.decoder = nn.ModuleList()
        for stage, channels in SKIPS:
            self.decoder.append(InvertedResidual(width + widths[stage], channels, 1, 2))
            width = channels
        self.head = nn.Conv2d(width, 2, 1)

    def forward(self, lightness):
        x, kept = self.stem(lightness / 50 - 1), []
        for stage in self.stages:
            x = stage(x)
            kept.append(x)
        for block, (stage, _) in zip(self.decoder, SKIPS):
            larger = interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
            x = block(torch.cat([larger, kept[stage]], 1))
        ab = torch.tanh(self.head(x)) * 110
        return interpolate(ab, scale_factor=2, mode="bilinear", align_corners=False)
