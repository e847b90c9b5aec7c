"""Has coreai-opt compress a PyTorch network by the configurations of a folder.

    python -m retint_checks._coreai_opt NETWORK.pt FOLDER WEIGHTS.npz

NETWORK.pt holds a module and its input. Each configuration is applied to the module as it is; the
parameters that one changed are written, by module. Runs with the Python of Scripts/setup --coreai.
"""

import copy
import os
import pathlib
import sys

import numpy
import torch
from coreai_opt.palettization import KMeansPalettizer, KMeansPalettizerConfig
from coreai_opt.pruning import MagnitudePruner, MagnitudePrunerConfig
from coreai_opt.quantization import Quantizer, QuantizerConfig

CLASSES = [(KMeansPalettizer, KMeansPalettizerConfig), (MagnitudePruner, MagnitudePrunerConfig),
           (Quantizer, QuantizerConfig)]


def main():
    network, folder, result = sys.argv[1:]
    # Its k-means is compiled at the first use, by the ninja beside this Python.
    os.environ["PATH"] = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
    module, example = torch.load(network, weights_only=False)
    changed = {}
    for compressor, configuration in CLASSES:
        path = pathlib.Path(folder, f"{compressor.__name__}.yaml")
        if not path.exists():
            continue
        config = configuration.from_yaml(str(path))
        if compressor is Quantizer:
            config.execution_mode = "eager"
        prepared = compressor(copy.deepcopy(module), config).prepare((example,))
        with torch.no_grad():
            prepared(example)
        for name, layer in module.named_children():
            if hasattr(layer, "weight"):
                weight = prepared.get_submodule(name).weight.detach()
                if not torch.equal(weight, layer.weight):
                    assert name not in changed, name
                    changed[name] = weight.numpy()
    numpy.savez(result, **changed)


main()
