"""Records PyTorch's losses and optimizer steps on small seeded tensors, into rules.json."""

import json
import pathlib

import torch
from torch.nn import functional as F

from retint_reference.seeded import uniform

SEED, STEPS, RATE = 3, 6, 0.05


def losses():
    x = uniform(SEED, "prediction", (2, 5, 3, 4), -3, 3)
    y = uniform(SEED, "target", (2, 5, 3, 4), -3, 3)
    classes = torch.softmax(y, 1)
    values = {
        "l1": F.l1_loss(x, y),
        "mse": F.mse_loss(x, y),
        "huber": F.huber_loss(x, y, delta=0.7),
        "smooth_l1": F.smooth_l1_loss(x, y, beta=0.7),
        "cross_entropy": F.cross_entropy(x, classes),
    }
    return {name: value.item() for name, value in values.items()}


def trained(make, clip=None):
    weight = torch.nn.Parameter(uniform(SEED, "weight", (4, 3), -1, 1))
    bias = torch.nn.Parameter(uniform(SEED, "bias", (4,), -1, 1))
    x = uniform(SEED, "x", (8, 3), -1, 1)
    y = uniform(SEED, "y", (8, 4), -1, 1)
    optimizer = make([weight, bias])
    averages = [p.detach().clone() for p in (weight, bias)]
    for _ in range(STEPS):
        loss = F.mse_loss(F.linear(x, weight, bias), y)
        optimizer.zero_grad()
        loss.backward()
        if clip:
            torch.nn.utils.clip_grad_norm_([weight, bias], clip)
        optimizer.step()
        for average, value in zip(averages, (weight, bias)):
            average.lerp_(value.detach(), 0.1)
    return {
        "weight": weight.flatten().tolist(), "bias": bias.tolist(),
        "average": averages[0].flatten().tolist(),
    }


def main():
    sgd, adam, adamw = torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW
    optimizers = {
        "sgd": trained(lambda p: sgd(p, RATE)),
        "sgd nesterov": trained(
            lambda p: sgd(p, RATE, momentum=0.9, nesterov=True, weight_decay=0.1)
        ),
        "sgd clipped": trained(lambda p: sgd(p, RATE, momentum=0.9), clip=0.2),
        "adam": trained(lambda p: adam(p, RATE)),
        "adam decay": trained(
            lambda p: adam(p, RATE, betas=(0.8, 0.99), eps=1e-3, weight_decay=0.1)
        ),
        "adamw": trained(lambda p: adamw(p, RATE, weight_decay=0.2)),
    }
    path = pathlib.Path(__file__).with_name("rules.json")
    path.write_text(json.dumps({"losses": losses(), "optimizers": optimizers}, indent=1))


if __name__ == "__main__":
    main()
