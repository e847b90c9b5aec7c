"""Trains one network on several ranks with retint and with PyTorch, and compares both.

    Scripts/compare ranks CONFIGURATION.yaml [OPTION...] [--set KEY=VALUE...]

Three trainings alternate, one whole training each: retint with one rank of as many threads as
there are ranks, retint with ranks of one thread, and PyTorch's DistributedDataParallel (gloo) with
ranks of one thread. All begin with the same weights and take the same crops of the same photos;
batch normalization is per rank. A time is the median over all rounds of all steps but the first
five.

Prints a table: seconds per step and the loss after the last one.
"""

import copy
import json
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import tempfile

import yaml

import retint_options
import retint_tables
import retint_tool

from .training import TRAIN_PYTORCH, read_configuration, write_start

# Steps at the start that are not counted: caches, buffers and the first batches.
WARM = 5
ALONE, RANKS, PEER = "retint, 1 rank", "retint, {} ranks", "PyTorch, {} ranks"


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def retint(options, configuration, ranks):
    """Runs a training; returns the seconds of its steps, and the last validation loss."""
    own = copy.deepcopy(configuration)
    own["threads"] = options.ranks // ranks
    shutil.rmtree(own["output"], ignore_errors=True)
    path = pathlib.Path(options.directory) / "configuration.yaml"
    path.write_text(yaml.safe_dump(own))
    command = [options.retint, "train", "--config", str(path)]
    if ranks > 1:
        command = ["mpirun", "-n", str(ranks), *options.mpirun.split(), *command]
    environment = os.environ | {
        "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    run(command, environment)
    lines = (pathlib.Path(own["output"]) / "metrics.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    seconds = [own["batch"] / record["images_per_second"]
               for record in records if record["kind"] == "train"]
    last = [record["validation"]["loss"] for record in records if record["kind"] == "validation"]
    return seconds, last[-1]


def run(command, environment):
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")


def pytorch(options, configuration):
    own = configuration | {"threads": 1}
    path = pathlib.Path(options.directory) / "ranks.json"
    path.write_text(json.dumps(own))
    environment = os.environ | {
        "WORLD_SIZE": str(options.ranks), "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(free_port()), "OMP_NUM_THREADS": "1"}
    command = [*TRAIN_PYTORCH, "train", path, f"{options.directory}/weights.h5",
               options.form]
    processes = [
        subprocess.Popen(
            [str(word) for word in command], text=True, env=environment | {"RANK": str(rank)},
            stdout=subprocess.PIPE if rank == 0 else subprocess.DEVNULL)
        for rank in range(options.ranks)
    ]
    output = processes[0].communicate()[0]
    if any([process.wait() != 0 for process in processes]):
        raise SystemExit("PyTorch's training failed")
    records = [json.loads(line) for line in output.splitlines()]
    seconds = [record["seconds"] for record in records if record["kind"] == "train"]
    return seconds, records[-1]["loss"]


def measure(options, configuration):
    """The seconds of all steps, and the last validation losses, of each contender."""
    contenders = {
        ALONE: lambda: retint(options, configuration, 1),
        RANKS.format(options.ranks): lambda: retint(options, configuration, options.ranks),
        PEER.format(options.ranks): lambda: pytorch(options, configuration),
    }
    seconds = {name: [] for name in contenders}
    losses = {}
    for _ in range(options.rounds):
        for name, contender in contenders.items():
            steps, losses[name] = contender()
            seconds[name] += steps[WARM:]
    return seconds, losses


def table(options, configuration, seconds, losses):
    alone = statistics.median(seconds[ALONE])
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    print(f"{configuration['architecture']}, {configuration['steps']} steps of "
           f"{configuration['batch']} crops of {configuration['data']['crop']}², "
           f"{retint_tool.cpu()}, {options.rounds} rounds")
    return retint_tables.markdown(
        ("", "seconds per step", "÷ that of 1 rank", "validation loss"),
        ((name, f"{median:.4f}", f"{median / alone:.3f}", f"{losses[name]:.5f}")
         for name, median in medians.items()), left=1)


def parse():
    parser = retint_options.parser(__doc__)
    parser.add_argument("configuration", help="a file for retint train --config")
    parser.add_argument("--set", nargs="+", default=[], metavar="KEY=VALUE")
    parser.add_argument("--retint", default=retint_tool.RETINT)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--form", default="eager", choices=["eager", "compiled"],
                        help="how PyTorch runs")
    parser.add_argument("--mpirun", default="--bind-to none", help="options of mpirun")
    parser.add_argument("--json", metavar="FILE", help="write all results to this file")
    options = parser.parse_args()
    options.threads = options.ranks
    return options


def main():
    options = parse()
    with tempfile.TemporaryDirectory() as options.directory:
        configuration = read_configuration(options)
        configuration["validate_every"] = configuration["steps"]
        options.json_configuration = f"{options.directory}/configuration.json"
        pathlib.Path(options.json_configuration).write_text(json.dumps(configuration))
        write_start(options, configuration)
        seconds, losses = measure(options, configuration)
    print(table(options, configuration, seconds, losses))
    if options.json:
        result = {"seconds": seconds, "validation_losses": losses, "cpu": retint_tool.cpu()}
        pathlib.Path(options.json).write_text(json.dumps(result) + "\n")
