"""Records what the networks compute in PyTorch, into networks.json.

    Scripts/setup --python
    .venv/bin/python Tests/ArchitecturesTests/Goldens/record_networks.py [NAME...]

With names, the other networks' records stay. Weights and inputs are not stored:
retint_reference.seeded and SeededWeights.swift draw the same ones.
"""

import json
import pathlib
import sys

import torch

from retint_reference.networks import ARCHITECTURES, factory
from retint_reference.seeded import load_seeded, uniform

NETWORKS = {name: factory(name) for name in ARCHITECTURES}
WEIGHT_SEED, INPUT_SEED, SIZE, SAMPLES = 1, 2, 64, 8
PATH = pathlib.Path(__file__).with_name("networks.json")
STEPS = 10


def rounded(values):
    return [float(f"{v:.7g}") for v in values]


def sampled(tensor, count):
    """`count` elements at even distances from the first, and the largest magnitude."""
    flat = tensor.detach().flatten().double()
    step = max(1, flat.numel() // count)
    return {
        "shape": list(tensor.shape),
        "step": step,
        "samples": rounded(flat[::step][:count].tolist()),
        "mean": rounded([flat.mean().item()])[0],
        "max": rounded([flat.abs().max().item()])[0],
    }


def forward(make):
    network = make().eval()
    load_seeded(network, WEIGHT_SEED)
    layers = {}
    for name, module in network.named_modules():
        # The published networks work in place, so a layer's output is copied at once.
        if not list(module.children()):
            module.register_forward_hook(
                lambda _, __, output, name=name: layers.update(
                    {name: sampled(output.clone(), SAMPLES)}
                )
            )
    lightness = uniform(INPUT_SEED, "lightness", (1, 1, SIZE, SIZE), 0, 100)
    with torch.no_grad():
        ab = network(lightness)
    return {"layers": layers, "ab": sampled(ab, 1024)}


def losses(make, optimizer, dtype):
    network = make().train()
    load_seeded(network, WEIGHT_SEED)
    network.to(dtype)
    update = optimizer(network.parameters())
    lightness = uniform(INPUT_SEED, "lightness", (2, 1, SIZE, SIZE), 0, 100).to(dtype)
    target = uniform(INPUT_SEED, "target", (2, 2, SIZE, SIZE), -1, 1).to(dtype)
    result = []
    for _ in range(STEPS):
        loss = torch.nn.functional.mse_loss(network(lightness) / 110, target)
        update.zero_grad()
        loss.backward()
        update.step()
        result.append(loss.item())
    running = {k: sampled(v, SAMPLES) for k, v in network.state_dict().items() if "running" in k}
    return result, running


OPTIMIZERS = {
    "sgd": (torch.optim.SGD, {"momentum": 0.9}),
    "adam": (torch.optim.Adam, {}),
}
RATES = {
    ("eccv16", "sgd"): 5e-5,
    ("eccv16", "adam"): 1e-6,
    ("lite-unet", "adam"): 1e-4,
    ("lite-class-unet", "adam"): 2e-6,
    ("mobile-unet", "sgd"): 5e-3,
    ("mobile-unet", "adam"): 1e-4,
    ("pico-unet", "adam"): 1e-4,
    ("rep-unet", "sgd"): 5e-3,
    ("rep-unet", "adam"): 1e-4,
    ("class-unet", "sgd"): 5e-3,
    ("class-unet", "adam"): 1e-4,
}


def training(name, optimizer, rate):
    kind, options = OPTIMIZERS[optimizer]
    step = lambda parameters: kind(parameters, lr=rate, **options)
    single, running = losses(NETWORKS[name], step, torch.float32)
    double, _ = losses(NETWORKS[name], step, torch.float64)
    drift = max(abs(a / b - 1) for a, b in zip(single, double))
    print(f"{name} {optimizer}: {single[0]:.5f} -> {single[-1]:.5f}, float32 drifts {drift:.1e}")
    assert drift < 3e-4, "too chaotic to compare with: take a smaller rate"
    first = dict(list(running.items())[:4])
    return {
        "network": name, "optimizer": optimizer, "rate": rate, "losses": rounded(single),
        "running": first,
    }


def network(name):
    module = NETWORKS[name]()
    state = module.state_dict()
    golden = {
        "names": list(state),
        "shapes": [list(t.shape) for t in state.values()],
        "parameters": sum(p.numel() for p in module.parameters()),
        **forward(NETWORKS[name]),
    }
    print(name, golden["parameters"], "max |ab|", golden["ab"]["max"])
    return golden


def main():
    torch.manual_seed(0)
    torch.set_num_threads(2)
    wanted = sys.argv[1:] or list(NETWORKS)
    golden = json.loads(PATH.read_text()) if sys.argv[1:] else {"networks": {}, "training": []}
    golden["networks"].update({name: network(name) for name in wanted})
    kept = {(t["network"], t["optimizer"]): t for t in golden["training"]}
    golden["training"] = [
        training(*key, rate) if key[0] in wanted else kept[key] for key, rate in RATES.items()
    ]
    PATH.write_text(json.dumps(golden, separators=(",", ":")))
    print(PATH.name, PATH.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
