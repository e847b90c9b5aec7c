"""LiteUNet and LiteClassUNet, whose encoder has the names of timm's tf_efficientnet_lite0."""

import math

from torch import nn
import torch.nn.functional as F

from .blocks import UNet, UpBlock, color_head, conv, global_context, scaled, separable, small
from .students import BinDecoder, upsampled

STAGES = [  # channels, count, kernel, stride
    (16, 1, 3, 1), (24, 2, 3, 2), (40, 2, 5, 2), (80, 3, 3, 2), (112, 3, 5, 1), (192, 4, 5, 2),
    (320, 1, 3, 1),
]
TAPS = {0, 1, 2, 4, 6}


class SameConv2d(nn.Conv2d):
    """Pads like TensorFlow's SAME does for even sizes."""

    def __init__(self, inputs, outputs, kernel, stride=1, groups=1):
        super().__init__(inputs, outputs, kernel, stride, groups=groups, bias=False)
        before, after = (kernel - stride) // 2, (kernel - stride + 1) // 2
        self.pads = (before, after, before, after)
        nn.init.kaiming_normal_(self.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x):
        return super().forward(F.pad(x, self.pads))


def norm(channels):
    return nn.BatchNorm2d(channels, eps=1e-3, momentum=0.01)


class InvertedResidual(nn.Module):
    def __init__(self, inputs, outputs, kernel, stride):
        super().__init__()
        expanded = inputs * 6
        self.conv_pw, self.bn1 = SameConv2d(inputs, expanded, 1), norm(expanded)
        self.conv_dw = SameConv2d(expanded, expanded, kernel, stride, expanded)
        self.bn2 = norm(expanded)
        self.conv_pwl, self.bn3 = SameConv2d(expanded, outputs, 1), norm(outputs)
        self.keeps_shape = stride == 1 and inputs == outputs

    def forward(self, x):
        y = F.relu6(self.bn1(self.conv_pw(x)))
        y = F.relu6(self.bn2(self.conv_dw(y)))
        y = self.bn3(self.conv_pwl(y))
        return x + y if self.keeps_shape else y


class Separable(nn.Module):
    def __init__(self, inputs, outputs, kernel, stride):
        super().__init__()
        self.conv_dw = SameConv2d(inputs, inputs, kernel, stride, inputs)
        self.bn1 = norm(inputs)
        self.conv_pw, self.bn2 = SameConv2d(inputs, outputs, 1), norm(outputs)

    def forward(self, x):
        return self.bn2(self.conv_pw(F.relu6(self.bn1(self.conv_dw(x)))))


def rounded(channels):
    """Rounded to a multiple of 8, and down by at most a tenth."""
    nearest = max(8, int(channels + 4) // 8 * 8)
    return nearest + 8 if nearest < 0.9 * channels else nearest


class EfficientNetLite(nn.Module):
    def __init__(self, width=1.0, depth=1.0, inputs=1):
        super().__init__()
        self.conv_stem, self.bn1 = SameConv2d(inputs, 32, 3, 2), norm(32)
        stages, before = [], 32
        for index, (channels, count, kernel, stride) in enumerate(STAGES):
            channels = rounded(channels * width)
            count = 1 if index in (0, len(STAGES) - 1) else math.ceil(count * depth)
            kind = InvertedResidual if index else Separable
            first = kind(before, channels, kernel, stride)
            rest = [kind(channels, channels, kernel, 1) for _ in range(count - 1)]
            stages.append(nn.Sequential(first, *rest))
            before = channels
        self.blocks = nn.Sequential(*stages)
        self.channels = [rounded(c * width) for i, (c, *_) in enumerate(STAGES) if i in TAPS]

    def forward(self, x):
        x = F.relu6(self.bn1(self.conv_stem(x)))
        features = []
        for index, stage in enumerate(self.blocks):
            x = stage(x)
            if index in TAPS:
                features.append(x)
        return features


class LiteUNet(UNet):
    def __init__(self, width=1.0, depth=1.0, decoder_width=1.0):
        super().__init__()
        self.encoder = EfficientNetLite(width, depth)
        f, w = self.encoder.channels, [scaled(c, width * decoder_width) for c in (16, 32, 64, 112)]
        self.context = global_context(f[4])
        self.lateral2, self.lateral4, self.lateral8, self.lateral16 = (
            conv(f[level], w[level], 1, activates=False) for level in range(4)
        )
        self.up16 = UpBlock(f[4], w[3], separable(w[3], w[3]))
        self.up8 = UpBlock(w[3], w[2], conv(w[2], w[2], 3))
        self.up4 = UpBlock(w[2], w[1], conv(w[1], w[1], 3))
        self.up2 = UpBlock(w[1], w[0], conv(w[0], w[0], 3))
        self.head = color_head(w[0], doublings=1)

    def forward(self, lightness):
        *features, deepest = self.encoder((lightness - 50) * 0.01)
        laterals = [self.lateral2, self.lateral4, self.lateral8, self.lateral16]
        skips = [lateral(feature) for lateral, feature in zip(laterals, features)]
        return self.head(self.decoded(skips, deepest)) * 110


class LiteClassUNet(UNet):
    ups = ("up16", "up8", "up4")

    def __init__(self, width=1.0, depth=1.0, temperature=0.38, decoder_width=1.0, saturation=1.0,
                 certainty=0.0, neutrality=0.0):
        super().__init__()
        self.encoder = EfficientNetLite(width, depth)
        f, w = self.encoder.channels[1:], [scaled(c, width * decoder_width) for c in (64, 80, 112)]
        self.context = global_context(f[3])
        self.lateral4, self.lateral8, self.lateral16 = (
            conv(f[level], w[level], 1, activates=False) for level in range(3)
        )
        self.up16 = UpBlock(f[3], w[2], separable(w[2], w[2]))
        self.up8 = UpBlock(w[2], w[1], conv(w[1], w[1], 3))
        self.up4 = UpBlock(w[1], w[0], conv(w[0], w[0], 3))
        self.classes = small(nn.Conv2d(w[0], 313, 1))
        self.decoder = BinDecoder(temperature, saturation, certainty, neutrality)

    def logits(self, lightness):
        _, *features, deepest = self.encoder((lightness - 50) * 0.01)
        laterals = [self.lateral4, self.lateral8, self.lateral16]
        skips = [lateral(feature) for lateral, feature in zip(laterals, features)]
        return self.classes(self.decoded(skips, deepest))

    def forward(self, lightness):
        return upsampled(self.decoder(self.logits(lightness)))
