"""Trains a network with PyTorch as `retint train` does, from the same configuration and weights.

    python -m retint_comparisons._train_pytorch start CONFIGURATION.json WEIGHTS.h5
    python -m retint_comparisons._train_pytorch train CONFIGURATION.json WEIGHTS.h5 FORM

FORM is eager, compiled or fastest. The first draws the initial weights. The second prints JSON
lines: {"ready": ...} when everything is loaded and compiled, then {"kind": "train", "step", "loss"}
for each step, and the same with the kind "validation" for each validation. `Scripts/compare
training` starts it.

With torch.distributed's variables RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT in the environment,
it is one rank of several, each of which takes a share of every batch: DistributedDataParallel on
gloo. Rank 0 prints, and adds the seconds of each step. Scripts/compare ranks starts them.
"""

import copy
import inspect
import json
import math
import os
import sys
import time

import h5py
import torch
import torch.distributed as dist
import torch.nn.functional as F

from export_pytorch import weights
from retint_reference import ab_bins, networks

from ._photo_batches import AB_SCALE, Batches


# Networks


def make_eccv16():
    """ECCV16 whose last layer holds the bins' colors, as retint initializes it."""
    network = networks.factory("eccv16")()
    with torch.no_grad():
        colors = torch.from_numpy(ab_bins.in_gamut().T / AB_SCALE)
        network.model_out.weight.copy_(colors[:, :, None, None])
    return network


def eccv16_logits(network, lightness):
    x = network.normalize_l(lightness)
    for number in range(1, 9):
        x = getattr(network, f"model{number}")(x)
    return x


def make_student(configuration):
    """A network with those of the configuration's options that it takes."""
    factory = networks.factory(configuration["architecture"])
    names = set(inspect.signature(factory).parameters)
    names &= {"width", "depth", "decoder_width", "temperature", "saturation"}
    options = {name: configuration[name] for name in names}
    return factory(**{name: value for name, value in options.items() if value is not None})


def logits(network, lightness):
    """The logits of the 313 bins, from a network that classifies."""
    if isinstance(network, networks.factory("eccv16")):
        return eccv16_logits(network, lightness)
    return network.logits(lightness)


ARCHITECTURES = [name for name in networks.ARCHITECTURES if name != "siggraph17"]
# Keys that this script does not implement, with the value that turns them off.
NEUTRAL = {
    "accumulate": 1, "freeze": None, "quantization": "none", "overfit_one_batch": False,
    "patience": None, "time_limit": None, "data.hints": False, "data.cutouts": None,
    "loss.class_weight": 0, "loss.temporal": 0, "loss.perceptual": 0, "distillation.teacher": None,
    "optimizer.groups": None,
}


def make_network(configuration):
    name = configuration["architecture"]
    if name not in ARCHITECTURES:
        raise SystemExit(f"architecture is {name}; use one of {', '.join(ARCHITECTURES)}")
    for key, neutral in NEUTRAL.items():
        value = configuration
        for part in key.split("."):
            value = value[part]
        if value != neutral:
            raise SystemExit(f"{key} is {value}; this comparison supports only {neutral}")
    return make_eccv16() if name == "eccv16" else make_student(configuration)


# The loss


def pointwise(loss, estimate, target):
    if loss["kind"] == "huber":
        return F.huber_loss(estimate, target, reduction="none", delta=loss["delta"])
    rule = {"l1": F.l1_loss, "mse": F.mse_loss}[loss["kind"]]
    return rule(estimate, target, reduction="none")


def losses(configuration, network, batch):
    """The loss of each example, [N]."""
    loss = configuration["loss"]
    if loss["kind"] == "classification":
        estimate = logits(network, batch["lightness"])
        values = F.cross_entropy(estimate, batch["classes"], reduction="none")
        return (values * batch["class_weights"]).mean((1, 2))
    estimate, target = network(batch["lightness"]) / AB_SCALE, batch["target"]
    values = pointwise(loss, estimate, target)
    if loss["saturation"]:
        values = values * (1 + loss["saturation"] * target.norm(dim=1, keepdim=True))
    values = values.mean((1, 2, 3))
    for axis in (2, 3) if loss["total_variation"] else ():
        values = values + loss["total_variation"] * estimate.diff(dim=axis).abs().mean((1, 2, 3))
    return values


class MeanLoss(torch.nn.Module):
    """The mean loss of a batch, as a module: what DistributedDataParallel takes."""

    def __init__(self, configuration, network):
        super().__init__()
        self.configuration, self.network = configuration, network

    def forward(self, batch):
        return losses(self.configuration, self.network, batch).mean()


# The step


def make_optimizer(options, parameters):
    decay, rate = options["weight_decay"], options["learning_rate"]
    if options["kind"] == "sgd":
        return torch.optim.SGD(
            parameters, rate, momentum=options["momentum"], weight_decay=decay, fused=True)
    rule = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[options["kind"]]
    return rule(
        parameters, rate, betas=(options["beta1"], options["beta2"]), eps=options["epsilon"],
        weight_decay=decay, fused=True)


def rate_share(schedule, step, total):
    """The share of the full learning rate at a step, counted from 0."""
    warmup = schedule["warmup_steps"]
    if step < warmup:
        return (step + 1) / warmup
    done, length = step - warmup, max(total - warmup, 1)
    if schedule["kind"] == "cosine":
        progress = min(done / length, 1)
        final = schedule["final_share"]
        return final + (1 - final) * (1 + math.cos(math.pi * progress)) / 2
    if schedule["kind"] == "step":
        return schedule["factor"] ** (done // schedule["every"])
    if schedule["kind"] == "constant":
        return 1.0
    raise SystemExit(f"schedule.kind is {schedule['kind']}; this comparison does not support it")


class Training:
    def __init__(self, configuration, network, compiles):
        self.configuration, self.network, self.step = configuration, network, 0
        self.options = configuration["optimizer"]
        self.optimizer = make_optimizer(self.options, list(network.parameters()))
        self.averaged = copy.deepcopy(network) if self.options["ema"] else None
        self.loss = MeanLoss(configuration, network)
        if compiles:
            self.loss = torch.compile(self.loss)
        if dist.is_initialized():
            self.loss = torch.nn.parallel.DistributedDataParallel(self.loss)

    def restart(self, state):
        """Resets the training to before its first step, with these weights."""
        for network in (self.network, self.averaged):
            if network:
                network.load_state_dict(state)
        self.optimizer.state.clear()
        self.step = 0

    def run(self, batch):
        """One step; returns the loss."""
        self.network.train()
        share = rate_share(self.configuration["schedule"], self.step, self.configuration["steps"])
        for group in self.optimizer.param_groups:
            group["lr"] = self.options["learning_rate"] * share
        loss = self.loss(batch)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        if self.options["clip_grad_norm"]:
            torch.nn.utils.clip_grad_norm_(
                self.network.parameters(), self.options["clip_grad_norm"], foreach=True)
        self.optimizer.step()
        self.average()
        self.step += 1
        if dist.is_initialized():
            loss = loss.detach() / dist.get_world_size()
            dist.all_reduce(loss)
        return loss.item()

    @torch.no_grad()
    def average(self):
        if not self.averaged:
            return
        decay = min(self.options["ema"], (1 + self.step) / (10 + self.step))
        old, new = (
            [value for value in network.state_dict().values() if value.is_floating_point()]
            for network in (self.averaged, self.network)
        )
        torch._foreach_lerp_(old, new, 1 - decay)

    @torch.no_grad()
    def validate(self, batches):
        network = (self.averaged or self.network).eval()
        values = [losses(self.configuration, network, batch) for batch in batches]
        return torch.cat(values).mean().item()


def tensors(batch):
    """The arrays as tensors in channels-last layout."""
    result = {name: torch.as_tensor(array) for name, array in batch.items()}
    return {
        name: value.contiguous(memory_format=torch.channels_last) if value.dim() == 4 else value
        for name, value in result.items()
    }


def ready(configuration, network, batch, forms, steps=6):
    """A training in the fastest form, ready to start, and each form's seconds per step."""
    seconds, trainings = {}, {}
    for form in forms:
        training = Training(configuration, copy.deepcopy(network), form == "compiled")
        try:
            times = [timed(training, batch) for _ in range(steps)]
        except RuntimeError as error:  # For example, there is no C++ compiler.
            print(f"{form}: {error}", file=sys.stderr)
            continue
        seconds[form], trainings[form] = sorted(times)[steps // 3], training
    form = min(seconds, key=seconds.get)
    trainings[form].restart(network.state_dict())
    return trainings[form], {"form": form, "seconds_per_step": seconds}


def timed(training, batch):
    start = time.perf_counter()
    training.run(batch)
    return time.perf_counter() - start


def report(**record):
    print(json.dumps(record), flush=True)


def start(configuration, path):
    torch.manual_seed(configuration["seed"])
    weights(make_network(configuration), path)


def freeze_unused(configuration, network, batch):
    """Leaves out the parameters that have no gradient: ranks would wait for it."""
    twin = copy.deepcopy(network)
    losses(configuration, twin, batch).mean().backward()
    for name, parameter in twin.named_parameters():
        if parameter.grad is None:
            network.get_parameter(name).requires_grad_(False)


def train_ranks(configuration, path, form):
    """One rank of several."""
    dist.init_process_group("gloo")
    torch.set_num_threads(configuration["threads"])
    network = make_network(configuration)
    with h5py.File(path) as file:
        network.load_state_dict({name: torch.tensor(file[name][()]) for name in file})
    batches = Batches(configuration, dist.get_rank(), dist.get_world_size())
    freeze_unused(configuration, network, tensors(batches[0]))
    training = Training(
        configuration, network.to(memory_format=torch.channels_last), form == "compiled")
    loader = torch.utils.data.DataLoader(
        batches, batch_size=None, num_workers=1, prefetch_factor=4, collate_fn=tensors)
    start = time.perf_counter()
    for batch in loader:
        loss, now = training.run(batch), time.perf_counter()
        if dist.get_rank() == 0:
            report(kind="train", step=training.step, loss=loss, seconds=now - start)
        start = now
    if dist.get_rank() == 0:
        validation = [tensors(batch) for batch in batches.validation_batches()]
        report(kind="validation", step=training.step, loss=training.validate(validation))
    dist.barrier()
    dist.destroy_process_group()


def train(configuration, path, form):
    if "WORLD_SIZE" in os.environ:
        return train_ranks(configuration, path, form)
    torch.set_num_threads(configuration["threads"])
    network = make_network(configuration)
    with h5py.File(path) as file:
        network.load_state_dict({name: torch.tensor(file[name][()]) for name in file})
    network = network.to(memory_format=torch.channels_last)
    batches = Batches(configuration)
    validation = [tensors(batch) for batch in batches.validation_batches()]
    forms = ("eager", "compiled") if form == "fastest" else (form,)
    training, chosen = ready(configuration, network, tensors(batches[0]), forms)
    loader = torch.utils.data.DataLoader(
        batches, batch_size=None, num_workers=1, prefetch_factor=4, collate_fn=tensors)
    report(ready={"torch": torch.__version__, **chosen})
    for batch in loader:
        loss = training.run(batch)
        report(kind="train", step=training.step, loss=loss)
        due = training.step % configuration["validate_every"] == 0
        if validation and (due or training.step == configuration["steps"]):
            report(kind="validation", step=training.step, loss=training.validate(validation))


if __name__ == "__main__":
    verb, configuration, *rest = sys.argv[1:]
    {"start": start, "train": train}[verb](json.load(open(configuration, encoding="utf8")), *rest)
