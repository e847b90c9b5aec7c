"""The random values of Sources/Tensors/Tensors/RandomStream.swift, and test networks' weights."""

import math

import numpy as np
import torch

MASK = (1 << 64) - 1
GAMMA = 0x9E3779B97F4A7C15


def mix(z):
    """SplitMix64's finalizer, for a Python integer."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def mix_array(z):
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def uniform(seed, name, shape, low=0.0, high=1.0):
    """float32 values in low..<high that depend only on the seed and the name."""
    state = 0xCBF29CE484222325
    for byte in name.encode():
        state = ((state ^ byte) * 0x100000001B3) & MASK
    state ^= mix((seed + GAMMA) & MASK)
    count = math.prod(shape)
    with np.errstate(over="ignore"):
        states = np.uint64(state) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(GAMMA)
        units = (mix_array(states) >> np.uint64(40)).astype(np.float64) * 2.0**-24
    values = low + (high - low) * units
    return torch.from_numpy(values.astype(np.float32).reshape(shape))


# Ranges of the last layers that give neither gray nor saturated colors.
OUTPUTS = {
    "model_out.weight": 8.0, "model_out.0.weight": 0.02, "head.0.weight": 0.005,
    "classes.weight": 0.3,
}
# Normalizations of branches that are summed.
BRANCHES = (".norm.weight", ".identity.weight")


def bounds(name, shape):
    """Ranges that keep activations near one at any depth."""
    if name in OUTPUTS:
        return -OUTPUTS[name], OUTPUTS[name]
    if len(shape) == 4:
        bound = (6 / math.prod(shape[1:])) ** 0.5
        return -bound, bound
    if name.endswith("running_var"):
        return 1.0, 2.0
    if name.endswith(BRANCHES):
        return 0.2, 0.6
    if name.endswith(".weight"):
        return 0.5, 1.5
    return -0.2, 0.2


def load_seeded(network, seed):
    """Fills a network's parameters and buffers."""
    state = network.state_dict()
    for name, tensor in state.items():
        if name.endswith("num_batches_tracked"):
            continue
        shape = tuple(tensor.shape)
        state[name] = uniform(seed, name, shape, *bounds(name, shape))
    network.load_state_dict(state)
