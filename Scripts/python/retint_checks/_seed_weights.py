"""Weights of which a checkpoint of any architecture can be made: `import --non-strict` initializes
the tensors that are missing, but refuses a file that has none of the network's."""

import json
import struct

from retint_tool import ROOT


def write(path, architecture):
    """Writes a safetensors file with the tensors of an architecture whose shapes do not depend on
    its width: counters of batches, and the bias of the two color channels."""
    with open(ROOT / "Tests/ArchitecturesTests/Goldens/networks.json", encoding="utf8") as file:
        network = json.load(file)["networks"][architecture]
    header, size = {}, 0
    for name, shape in zip(network["names"], network["shapes"]):
        if shape == [] or shape == [2]:
            end = size + 4 * (2 if shape else 1)
            header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [size, end]}
            size = end
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(size))
