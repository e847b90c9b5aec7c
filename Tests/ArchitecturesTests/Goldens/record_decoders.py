"""Records the colors of distributions over bins in PyTorch, into decoders.json.

    .venv/bin/python Tests/ArchitecturesTests/Goldens/record_decoders.py

Logits are not stored: retint_reference.seeded and SeededWeights.swift draw the same ones.
"""

import json
import pathlib

import torch

from retint_reference.seeded import uniform
from retint_reference.students import BinDecoder

logits = uniform(2, "logits", (2, 313, 2, 3), -6, 6).double()
record = []
for saturation, certainty, neutrality in (
        (1.5, 0.0, 0.0), (1.5, 1.0, 0.0), (1.0, 2.0, 0.0), (1.2, 3.0, 0.0), (1.0, 4.0, 0.0),
        (1.5, 0.0, 1.0), (1.0, 0.0, 4.0), (1.2, 0.0, 0.5), (2.0, 3.0, 2.5)):
    colors = BinDecoder(0.6, saturation, certainty, neutrality).double()(logits)
    record.append({
        "saturation": saturation, "certainty": certainty, "neutrality": neutrality,
        "colors": [float(f"{value:.7g}") for value in colors.flatten().tolist()]})
path = pathlib.Path(__file__).with_name("decoders.json")
path.write_text(json.dumps(record) + "\n")
