"""The blocks that the networks share: the counterparts of Sources/Networks/Architectures/Blocks."""

from torch import nn


def scaled(channels, width):
    """`channels` times the width, as a multiple of 16."""
    return max(16, int(channels * width / 16 + 0.5) * 16)


def repeated(count, depth):
    """`count` times the depth, at least 1."""
    return max(1, int(count * depth + 0.5))


def conv(inputs, outputs, kernel, stride=1, groups=1, activates=True):
    convolution = nn.Conv2d(
        inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False
    )
    nn.init.kaiming_normal_(convolution.weight, mode="fan_out", nonlinearity="relu")
    layers = [convolution, nn.BatchNorm2d(outputs)]
    return nn.Sequential(*layers, *([nn.ReLU()] if activates else []))


def separable(inputs, outputs, stride=1):
    return nn.Sequential(
        conv(inputs, inputs, 3, stride, groups=inputs), conv(inputs, outputs, 1)
    )


class UpBlock(nn.Module):
    def __init__(self, inputs, outputs, fuse):
        super().__init__()
        self.narrow = conv(inputs, outputs, 1, activates=False)
        self.upsample = nn.Upsample(scale_factor=2, mode="bilinear")
        self.fuse = fuse

    def forward(self, x, skip):
        return self.fuse(self.upsample(self.narrow(x)) + skip)


class UNet(nn.Module):
    """The path that all U-Nets share. A network defines `context`, the blocks of `ups` and, unless
    it has an encoder of its own, `stem` and the blocks of `stages`."""

    stages = ("stage4", "stage8", "stage16", "stage32")
    ups = ("up16", "up8", "up4", "up2")

    def encoded(self, lightness):
        """The output of the stem and of each stage."""
        outputs = [self.stem((lightness - 50) * 0.01)]
        for name in self.stages:
            outputs.append(getattr(self, name)(outputs[-1]))
        return outputs

    def decoded(self, skips, deepest):
        """The deepest output with its context, upsampled to the size of each skip in turn."""
        x = deepest + self.context(deepest)
        for name, skip in zip(self.ups, reversed(skips)):
            x = getattr(self, name)(x, skip)
        return x


def global_context(channels):
    return nn.Sequential(
        nn.AdaptiveAvgPool2d(1), nn.Conv2d(channels, channels, 1), nn.ReLU(),
        nn.Conv2d(channels, channels, 1),
    )


def color_head(inputs, doublings):
    """a and b in -1...1, upsampled by two `doublings` times."""
    color = small(nn.Conv2d(inputs, 2, 3, padding=1))
    up = [nn.Upsample(scale_factor=2, mode="bilinear") for _ in range(doublings)]
    return nn.Sequential(color, nn.Tanh(), *up)


def small(convolution):
    """Small weights, so that an untrained network's output is nearly gray."""
    nn.init.normal_(convolution.weight, 0, 0.01)
    nn.init.zeros_(convolution.bias)
    return convolution
