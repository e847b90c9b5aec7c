"""Records the pooled features of EfficientNet-Lite0 and Lite2 in PyTorch, into features.json.

Weights and inputs are not stored: retint_reference.seeded and SeededWeights.swift draw the same.
"""

import json
import pathlib

import torch
from torch import nn

from retint_reference.lite_unet import EfficientNetLite
from retint_reference.seeded import load_seeded, uniform


class Pooled(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.encoder = EfficientNetLite(width, depth, inputs=3)

    def forward(self, photos):
        return self.encoder((photos - 127.5) / 127.5)[-1].mean((2, 3))


def features(width, depth):
    network = Pooled(width, depth).eval()
    load_seeded(network, 1)
    with torch.no_grad():
        pooled = network(uniform(2, "photos", (2, 3, 64, 64), 0, 255))
    return [[float(f"{value:.7g}") for value in row] for row in pooled.tolist()]


path = pathlib.Path(__file__).with_name("features.json")
path.write_text(json.dumps({"lite0": features(1, 1), "lite2": features(1.1, 1.2)}) + "\n")
