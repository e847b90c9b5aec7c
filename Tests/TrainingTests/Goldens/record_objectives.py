#!/usr/bin/env python3
"""Records colors, losses and schedules by numpy, scipy and torch, into objectives.json.

    python record_objectives.py

Inputs are not stored: retint_reference.seeded and RandomStream draw the same ones. Run it with
the Python of Scripts/setup --python.
"""

import json
import math
import pathlib

import numpy as np
from scipy.spatial import cKDTree
import torch
import torch.nn.functional as F
from torch.optim import lr_scheduler

HERE = pathlib.Path(__file__).resolve().parent
from retint_reference import ab_bins
from retint_reference.published import SIGGRAPH17
from retint_reference.seeded import uniform

SEED, STEPS, WARMUP = 4, 20, 4
BINS = ab_bins.in_gamut()


def rounded(values):
    return [float(f"{value:.8g}") for value in np.asarray(values, dtype=np.float64).ravel()]


def draw(name, shape, low, high):
    return uniform(SEED, name, shape, low, high).double()


def soft_codes(colors, neighbors, sigma):
    """The nearest bins of each color, nearest first, and their weights."""
    distances, bins = cKDTree(BINS).query(colors, k=neighbors)
    weights = np.exp(-(distances**2) / (2 * sigma**2))
    return bins, weights / weights.sum(1, keepdims=True)


def codes():
    colors = draw("colors", (40, 2), -115, 115).numpy()
    result = []
    for neighbors, sigma in ((10, 5.0), (5, 5.0), (10, 12.0)):
        bins, weights = soft_codes(colors, neighbors, sigma)
        result.append({
            "neighbors": neighbors, "sigma": sigma, "bins": bins.ravel().tolist(),
            "weights": rounded(weights),
        })
    return result


def prior():
    bins, weights = soft_codes(draw("prior", (500, 2), -40, 60).numpy(), 10, 5.0)
    shares = np.bincount(bins.ravel(), weights.ravel(), len(BINS)) / 500
    balance = 1 / (0.5 * shares + 0.5 / len(BINS))
    return {"shares": rounded(shares), "weights": rounded(balance / (shares * balance).sum())}


def classification():
    logits = draw("logits", (2, 7, 3, 4), -4, 4).requires_grad_()
    targets = torch.softmax(draw("targets", (2, 7, 3, 4), -3, 3), 1)
    weights = draw("weights", (2, 3, 4), 0, 2)
    losses = (F.cross_entropy(logits, targets, reduction="none") * weights).mean((1, 2))
    losses.sum().backward()
    return {"losses": rounded(losses.detach()), "gradient": rounded(logits.grad)}


def pairwise():
    """The mean squared difference of cosine similarities between positions, for each example."""
    features = draw("features", (2, 3, 2, 3), -1, 2).requires_grad_()
    target = draw("wider", (2, 5, 2, 3), -1, 2)
    losses = []
    for pair in zip(features, target):
        mine, theirs = (values.flatten(1) for values in pair)
        similarities = [
            F.cosine_similarity(values[:, :, None], values[:, None, :], dim=0)
            for values in (mine, theirs)]
        losses.append(F.mse_loss(*similarities))
    sum(losses).backward()
    return {"losses": rounded(torch.stack(losses).detach()), "gradient": rounded(features.grad)}


def total_variation():
    picture = draw("picture", (2, 2, 5, 6), -1, 1)
    parts = [picture.diff(dim=axis).abs().mean((1, 2, 3)) for axis in (2, 3)]
    return rounded(sum(parts))


def regression():
    estimate, target = (draw(name, (2, 2, 5, 6), -0.7, 0.7) for name in ("estimate", "target"))
    distances = {
        "l1": F.l1_loss(estimate, target, reduction="none"),
        "mse": F.mse_loss(estimate, target, reduction="none"),
        "huber": F.huber_loss(estimate, target, reduction="none", delta=0.1),
    }
    chroma = torch.linalg.vector_norm(target, dim=1, keepdim=True)
    # Of nearly gray pixels: falls to 0 at a chroma of 60.
    gray = F.relu(1 - chroma * 110 / 60)
    return [
        {"kind": kind, "saturation": saturation, "neutral": neutral,
         "losses": rounded(
             (distance * (1 + saturation * chroma + neutral * gray)).mean((1, 2, 3)))}
        for kind, distance in distances.items()
        for saturation, neutral in ((0.0, 0.0), (1.5, 0.0), (1.5, 2.0))
    ]


def weights_of_any_size(network):
    """Weights drawn so that values neither vanish nor grow."""
    state = {}
    for name, tensor in network.state_dict().items():
        shape = tuple(tensor.shape)
        if tensor.dim() == 4:
            bound = math.sqrt(6 / math.prod(shape[1:]))
            state[name] = draw(name, shape, -bound, bound)
        elif tensor.dim() == 1:
            scales = name.endswith("running_var") or name.endswith("4.weight")
            state[name] = draw(name, shape, *((0.5, 1.5) if scales else (-0.2, 0.2)))
        else:
            state[name] = tensor
    return state


def perceptual():
    """The distance of two colorings of one lightness in SIGGRAPH17's first two stages."""
    network = SIGGRAPH17().eval()
    network.load_state_dict(weights_of_any_size(network))
    network = network.double()
    lightness = draw("lightness", (2, 1, 16, 16), 0, 100)
    estimate = draw("estimate", (2, 2, 16, 16), -0.7, 0.7).requires_grad_()
    target = draw("target", (2, 2, 16, 16), -0.7, 0.7)

    def features(colors):
        shown = torch.ones_like(lightness)
        inputs = [network.normalize_l(lightness), network.normalize_ab(colors * 110), shown]
        first = network.model1(torch.cat(inputs, 1))
        return first, network.model2(first[:, :, ::2, ::2])

    terms = [(a - b).square().mean((1, 2, 3)) for a, b in zip(features(estimate), features(target))]
    losses = sum(terms) / len(terms)
    losses.sum().backward()
    return {"losses": rounded(losses.detach()), "gradient": rounded(estimate.grad)}


def adversarial():
    """A discriminator's loss, and its verdict about an estimate."""
    width = 4
    layers = [torch.nn.Conv2d(3, width, 4, 2, 1), torch.nn.LeakyReLU(0.2),
              torch.nn.Conv2d(width, 2 * width, 4, 2, 1), torch.nn.LeakyReLU(0.2),
              torch.nn.Conv2d(2 * width, 4 * width, 4, 2, 1), torch.nn.LeakyReLU(0.2),
              torch.nn.Conv2d(4 * width, 1, 4, 1, 1)]
    network = torch.nn.Sequential(*layers).double()
    network.load_state_dict({
        name: draw(f"discriminator.{name}", tuple(value.shape), -0.3, 0.3)
        for name, value in network.state_dict().items()})
    lightness = draw("lightness", (2, 1, 32, 32), 0, 100)
    estimate = draw("estimate", (2, 2, 32, 32), -0.7, 0.7).requires_grad_()
    target = draw("target", (2, 2, 32, 32), -0.7, 0.7)

    def logits(colors):
        return network(torch.cat([lightness / 50 - 1, colors], 1))

    criterion = torch.nn.BCEWithLogitsLoss()
    real, fake = logits(target), logits(estimate.detach())
    own = criterion(real, torch.ones_like(real)) + criterion(fake, torch.zeros_like(fake))
    own.backward()
    gradients = {name: rounded(value.grad) for name, value in network.named_parameters()}
    judged = logits(estimate)
    doubt = criterion(judged, torch.ones_like(judged))
    doubt.backward()
    return {
        "loss": own.item(), "doubt": doubt.item(), "gradient": rounded(estimate.grad),
        "weight": gradients["0.weight"], "bias": gradients["6.bias"],
    }


def warm(schedule):
    """`schedule` after a linear rise over WARMUP steps."""
    def make(optimizer):
        rise = lr_scheduler.LinearLR(optimizer, 1 / WARMUP, total_iters=WARMUP - 1)
        return lr_scheduler.SequentialLR(optimizer, [rise, schedule(optimizer)], [WARMUP])
    return make


SCHEDULES = {
    ("cosine", 0): lambda o: lr_scheduler.CosineAnnealingLR(o, STEPS, eta_min=0.01),
    ("cosine", WARMUP): warm(
        lambda o: lr_scheduler.CosineAnnealingLR(o, STEPS - WARMUP, eta_min=0.01)),
    ("step", 0): lambda o: lr_scheduler.StepLR(o, 6, gamma=0.3),
    ("one-cycle", 0): lambda o: lr_scheduler.OneCycleLR(
        o, 1.0, STEPS, div_factor=25, final_div_factor=100, cycle_momentum=False),
}


def shares(make):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    scheduler = make(optimizer)
    result = []
    for _ in range(STEPS):
        result.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return rounded(result)


def main():
    golden = {
        "bins": BINS.astype(int).ravel().tolist(),
        "codes": codes(), "prior": prior(), "classification": classification(),
        "pairwise": pairwise(),
        "total_variation": total_variation(), "regression": regression(),
        "perceptual": perceptual(), "adversarial": adversarial(),
        "schedules": [
            {"kind": kind, "warmup": warmup, "shares": shares(make)}
            for (kind, warmup), make in SCHEDULES.items()
        ],
    }
    path = HERE / "objectives.json"
    path.write_text(json.dumps(golden, separators=(",", ":")) + "\n")
    print(path.name, path.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
