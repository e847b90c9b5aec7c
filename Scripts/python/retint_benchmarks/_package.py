"""Converts a network of _peers.py with coremltools: NETWORK BATCH SIZE PATH."""

import logging
import sys
import warnings

import torch

from ._peers import lightness, network

warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)
import coremltools as ct  # noqa: E402


def main(name, batch, size, path):
    x = lightness(int(batch), int(size))
    with torch.no_grad():
        traced = torch.jit.trace(network(name).eval(), x)
    ct.convert(
        traced, convert_to="mlprogram", minimum_deployment_target=ct.target.iOS15,
        compute_precision=ct.precision.FLOAT32, skip_model_load=True,
        inputs=[ct.TensorType(name="lightness", shape=x.shape)],
        outputs=[ct.TensorType(name="ab")],
    ).save(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
