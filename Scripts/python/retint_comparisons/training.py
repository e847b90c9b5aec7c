"""Trains one network with retint and with PyTorch, and compares both trainings.

    Scripts/compare training CONFIGURATION.yaml [OPTION...] [--set KEY=VALUE...]

Both read the same configuration, start from the same weights (drawn by PyTorch, imported by `retint
import`) and train on the same crops of the same photos (_photo_batches.py). They run in alternation
for a few seconds each while the other is stopped, so that a machine that slows down affects both.
Each clock counts only its own process: PyTorch's from when everything is loaded and compiled,
retint's from when the process starts.

Prints a table. The exit status is 1 when --max-difference or --max-validation-difference is
exceeded.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import yaml

import retint_options
import retint_tables
import retint_tool

from ._turns import Contender, Turns

TRAIN_PYTORCH = (sys.executable, "-m", "retint_comparisons._train_pytorch")


# Configuration


def merge(base, changes):
    """Applies changes to a configuration; both may hold nested sections."""
    for key, value in changes.items():
        if key not in base:
            raise SystemExit(f"there is no key {key}; see retint train --defaults")
        base[key] = merge(base[key], value) if isinstance(base[key], dict) else value
    return base


def typed(value):
    if isinstance(value, dict):
        return {key: typed(part) for key, part in value.items()}
    return number(value) if isinstance(value, str) else value


def number(text):
    """YAML 1.1, and so PyYAML, reads 1e-3 as a string."""
    try:
        return float(text)
    except ValueError:
        return text


def read_configuration(options):
    defaults = retint_tool.run("train", "--defaults", tool=options.retint)
    configuration = merge(yaml.safe_load(defaults), yaml.safe_load(open(options.configuration)))
    for setting in options.set:
        key, _, text = setting.partition("=")
        change = yaml.safe_load(text)
        for part in reversed(key.split(".")):
            change = {part: change}
        merge(configuration, change)
    own = {"threads": options.threads, "log_every": 1, "output": f"{options.directory}/run"}
    return typed(merge(configuration, {**own, "init": f"{options.directory}/start.h5"}))


def write_start(options, configuration):
    """Has PyTorch draw the initial weights; writes a state dict and a checkpoint."""
    path = f"{options.directory}/weights.h5"
    subprocess.run(
        [*TRAIN_PYTORCH, "start", options.json_configuration, path],
        check=True)
    command = ["import", path, "--architecture", configuration["architecture"]]
    for key in ("width", "depth", "decoder_width", "temperature", "saturation"):
        if configuration[key] is not None:
            command += [f"--{key.replace('_', '-')}", str(configuration[key])]
    retint_tool.run(*command, "-o", configuration["init"], tool=options.retint)


# Contenders


class PyTorch(Contender):
    """PyTorch's training; its clock starts when everything is ready."""

    def __init__(self, options):
        environment = dict(os.environ, OMP_NUM_THREADS=str(options.threads))
        super().__init__(
            [*TRAIN_PYTORCH, "train", options.json_configuration,
             f"{options.directory}/weights.h5", options.form],
            f"{options.directory}/pytorch.log", stdout=subprocess.PIPE, text=True, env=environment)

    def read(self):
        for line in self.process.stdout:
            self.add(line)

    def wait_until_ready(self):
        while self.ready is None and self.is_running:
            time.sleep(0.02)
        self.restart_clock()


class Retint(Contender):
    def __init__(self, options, configuration):
        path = pathlib.Path(f"{options.directory}/configuration.yaml")
        path.write_text(yaml.safe_dump(configuration))
        self.metrics = pathlib.Path(configuration["output"]) / "metrics.jsonl"
        environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_CORETYPE"}
        super().__init__(
            [options.retint, "train", "--config", path], f"{options.directory}/retint.log",
            stdout=subprocess.DEVNULL, env=environment)

    def read(self):
        """Follows the run's metrics file."""
        while not self.metrics.exists() and self.is_running:
            time.sleep(0.01)
        if not self.metrics.exists():
            return
        with open(self.metrics, encoding="utf8") as file:
            rest = ""
            while True:
                ended = not self.is_running
                *lines, rest = (rest + file.read()).split("\n")
                for line in lines:
                    self.add(line)
                if ended:
                    return
                time.sleep(0.01)


def train(options, configuration):
    running = []
    try:
        running.append(PyTorch(options))
        running[0].wait_until_ready()
        running[0].stop()
        running.append(Retint(options, configuration))
        Turns(running, options.turn, options.quiet).run()
        for contender in running:
            contender.finish()
    finally:
        for contender in running:
            if contender.is_running:
                contender.signal(signal.SIGKILL)
    return running


# Results


def difference(curves):
    """The largest relative difference of two loss curves, and its step."""
    pairs = zip(*curves, strict=True)
    return max((abs(a[1] / b[1] - 1), a[0]) for a, b in pairs)


def summary(options, configuration, pytorch, retint):
    one, other = retint.report(), pytorch.report()
    result = {
        "configuration": configuration, "cpu": retint_tool.cpu(), "threads": options.threads,
        "pytorch": {**pytorch.ready, **other}, "retint": one,
        "time_ratio": other["seconds"] / one["seconds"],
    }
    share, step = difference((one["train"], other["train"]))
    result["largest_loss_difference"] = {"relative": share, "step": step}
    if one["validation"]:
        result["validation_loss_ratio"] = one["validation"][-1][1] / other["validation"][-1][1]
    return result


def print_table(result):
    configuration = result["configuration"]
    form = result["pytorch"]["form"]
    print(f"{configuration['architecture']}, {configuration['steps']} steps of "
           f"{configuration['batch']} crops of {configuration['data']['crop']}², "
           f"{result['threads']} threads, {result['cpu']}")
    rows = [("seconds", *(result[name]["seconds"] for name in ("pytorch", "retint")), ".1f")]
    for kind in ("train", "validation"):
        curves = [result[name][kind] for name in ("pytorch", "retint")]
        if curves[0]:
            rows.append((f"last {kind} loss", *(curve[-1][1] for curve in curves), ".5f"))
    print(retint_tables.markdown(
        ("", f"PyTorch {result['pytorch']['torch']}, {form}", "retint", "retint ÷ PyTorch"),
        ((name, f"{theirs:{digits}}", f"{own:{digits}}", f"{own / theirs:.4f}")
         for name, theirs, own, digits in rows)))
    worst = result["largest_loss_difference"]
    print(f"largest difference of the loss at one step: {100 * worst['relative']:.3f} % "
           f"at step {worst['step']}; PyTorch's time is {result['time_ratio']:.2f} of retint's")


def within_bounds(options, result):
    bounds = [
        ("the loss at a step", result["largest_loss_difference"]["relative"],
         options.max_difference),
        ("the last validation loss", abs(result.get("validation_loss_ratio", 1) - 1),
         options.max_validation_difference),
    ]
    exceeded = [(what, value, bound) for what, value, bound in bounds
              if bound is not None and not value <= bound]
    for what, value, bound in exceeded:
        print(f"{what} differs by {value:.4g}, more than {bound}", file=sys.stderr)
    return not exceeded


def draw(result, path):
    """Draws both validation curves (or training curves) against time and steps."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "retint", "font.size": 9})
    from matplotlib import pyplot

    kind = "validation" if len(result["retint"]["validation"]) > 2 else "train"
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.4), sharey=True, layout="constrained")
    for axis, column, label in zip(axes, (2, 0), ("seconds", "steps")):
        for name, style in (("PyTorch", "--"), ("retint", "-")):
            points = result[name.lower()][kind]
            marker = "o" if len(points) < 50 else None
            axis.plot([point[column] for point in points], [point[1] for point in points],
                      style, marker=marker, markersize=3, linewidth=1.4, label=name)
        axis.set_xlabel(label)
        axis.grid(alpha=0.3)
    axes[0].set_ylabel(f"{'validation' if kind == 'validation' else 'training'} loss")
    axes[1].legend()
    figure.savefig(path, metadata={"Date": None} if str(path).endswith("svg") else None)


def parse():
    parser = retint_options.parser(__doc__)
    parser.add_argument("configuration", help="a file for retint train --config")
    parser.add_argument("--set", nargs="+", default=[], metavar="KEY=VALUE")
    parser.add_argument("--retint", default=retint_tool.RETINT)
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count()))
    parser.add_argument("--form", default="fastest", choices=["eager", "compiled", "fastest"],
                        help="how PyTorch runs; fastest measures a few steps of both")
    parser.add_argument("--turn", type=float, default=5,
                        help="seconds that each runs before the other continues")
    parser.add_argument("--quiet", type=float, metavar="SHARE",
                        help="pause while other processes that are not niced use more than this "
                             "share of a processor")
    parser.add_argument("--max-difference", type=float,
                        help="bound on the relative difference of the loss at any step")
    parser.add_argument("--max-validation-difference", type=float,
                        help="bound on the relative difference of the last validation loss")
    parser.add_argument("--json", metavar="FILE", help="write all results to this file")
    parser.add_argument("--plot", metavar="FILE", help="draw both curves: .svg or .png")
    return parser.parse_args()


def main():
    options = parse()
    with tempfile.TemporaryDirectory() as options.directory:
        configuration = read_configuration(options)
        options.json_configuration = f"{options.directory}/configuration.json"
        pathlib.Path(options.json_configuration).write_text(json.dumps(configuration))
        write_start(options, configuration)
        pytorch, retint = train(options, configuration)
        result = summary(options, configuration, pytorch, retint)
    print_table(result)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(result) + "\n")
    if options.plot:
        draw(result, options.plot)
    sys.exit(0 if within_bounds(options, result) else 1)
