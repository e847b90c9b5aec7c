"""MobileUNet: MobileNetV2's inverted residuals in a U-Net."""

from torch import nn

from .blocks import (
    UNet, UpBlock, color_head, conv, global_context, repeated, scaled, separable,
)


class InvertedResidual(nn.Module):
    def __init__(self, inputs, outputs, stride=1, expansion=4):
        super().__init__()
        expanded = inputs * expansion
        self.expand = conv(inputs, expanded, 1)
        self.depthwise = conv(expanded, expanded, 3, stride, groups=expanded)
        self.project = conv(expanded, outputs, 1, activates=False)
        self.keeps_shape = stride == 1 and inputs == outputs

    def forward(self, x):
        y = self.project(self.depthwise(self.expand(x)))
        return x + y if self.keeps_shape else y


def residuals(inputs, outputs, count):
    blocks = [InvertedResidual(inputs, outputs, stride=2)]
    blocks += [InvertedResidual(outputs, outputs) for _ in range(count - 1)]
    return nn.Sequential(*blocks)


class MobileUNet(UNet):
    """Lightness [N, 1, H, W], 0...100, to ab [N, 2, H, W], -110...110."""

    stages = ("stage2", *UNet.stages)

    def __init__(self, width=1.0, depth=1.0):
        super().__init__()
        w = [scaled(c, width) for c in (16, 32, 64, 96, 160)]
        self.stem = conv(1, w[0], 3, stride=2)
        self.stage2 = conv(w[0], w[0], 3)
        self.stage4 = nn.Sequential(
            conv(w[0], w[1], 3, stride=2), InvertedResidual(w[1], w[1])
        )
        self.stage8 = residuals(w[1], w[2], repeated(2, depth))
        self.stage16 = residuals(w[2], w[3], repeated(3, depth))
        self.stage32 = residuals(w[3], w[4], repeated(3, depth))
        self.context = global_context(w[4])
        self.up16 = UpBlock(w[4], w[3], separable(w[3], w[3]))
        self.up8 = UpBlock(w[3], w[2], separable(w[2], w[2]))
        self.up4 = UpBlock(w[2], w[1], conv(w[1], w[1], 3))
        self.up2 = UpBlock(w[1], w[0], conv(w[0], w[0], 3))
        self.head = color_head(w[0], doublings=1)

    def forward(self, lightness):
        *skips, deepest = self.encoded(lightness)
        return self.head(self.decoded(skips[1:], deepest)) * 110
