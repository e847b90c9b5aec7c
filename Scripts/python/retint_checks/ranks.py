"""Trains on several ranks of this machine, kills ranks, and compares the results.

    Scripts/check ranks [--kills N] [--steps N] [--seed N]

Two ranks with half of a batch each, and synchronized batch normalization, must have the losses of
one rank with all of it to within 1e-5, and its weights to within 1e-4. The same job twice must
leave the same bytes. A job of four ranks is killed and resumed with two, and with eight: its losses
must be those of one that was not disturbed, to within 1e-4. Other samples would not have them: from
step to step, losses differ by over 1e-2 (the median).
Then a random rank is killed at a random instant, again and again: the job must end within 10 s, and
name the rank; in the end its run must have the bytes of one that was not disturbed.

Ranks have one thread each. By default 100 steps and 20 kills. The exit status is 1 if anything
differs; the folder is then kept. Scripts/setup --mpi --python installs what it needs.
"""

import json
import os
import pathlib
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import h5py
import numpy

import retint_options
import retint_runs
import retint_tool

# Rounding differs by 1e-7 in the first step. At higher rates it grows until even one rank on one
# and on two threads drifts apart.
CONFIGURATION = """\
architecture: mobile-unet
width: 0.5
output: run
batch: 16
batch_norm: synchronized
threads: 1
log_every: 1
data: {train: PHOTOS, crop: 64}
loss: {kind: huber}
optimizer: {kind: sgd, learning_rate: 0.00005}
"""
LARGEST_LOSS_DIFFERENCE = 1e-5
LARGEST_WEIGHT_DIFFERENCE = 1e-4
# Of a job that goes on with other numbers of ranks; a hundredth of what other samples make.
LARGEST_DIFFERENCE_GOING_ON = 1e-4
LEAST_DIFFERENCE_OF_SAMPLES = 1e-2
# Seconds from the death of a rank to the end of its job.
LONGEST_END = 10
ENVIRONMENT = os.environ | {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none"}


def main():
    options = parse()
    random.seed(options.seed)
    root = pathlib.Path(tempfile.mkdtemp(prefix="retint-ranks-"))
    start = time.monotonic()
    print(f"ranks: seed {options.seed}", flush=True)
    try:
        retint_runs.write_photos(root / "photos", count=37, width=96, height=80)
        equal(root, options.steps)
        same_bytes(root, options.steps)
        other_numbers(root, options.steps)
        kills(root, options.kills)
    except BaseException:
        print(f"ranks: kept {root}", file=sys.stderr)
        raise
    shutil.rmtree(root)
    print(f"ranks: all as it must be, {time.monotonic() - start:.0f} s")


def parse():
    parser = retint_options.parser(__doc__)
    parser.add_argument("--kills", type=int, default=20, help="of ranks")
    parser.add_argument("--steps", type=int, default=100, help="of the jobs that are not killed")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of the instants")
    options = parser.parse_args()
    if options.steps < 20:
        parser.error("--steps: must be at least 20")
    return options


# MARK: Jobs


def prepare(root, name):
    """A new folder to train in."""
    folder = root / name
    folder.mkdir()
    text = CONFIGURATION.replace("PHOTOS", str(root / "photos"))
    (folder / "run.yaml").write_text(text)
    return folder


def launch(folder, ranks, *settings):
    """Starts a job, or resumes the one that is there."""
    command = [
        retint_tool.RETINT, "train", "--config", str(folder / "run.yaml"), "--auto-resume",
        "--set", *settings, "seed=1"]
    if ranks > 1:
        command = ["mpirun", "-n", str(ranks), *command]
    return subprocess.Popen(
        command, cwd=folder, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True)


def train(folder, ranks, *settings):
    """Runs a job to its end."""
    process = launch(folder, ranks, *settings)
    _, messages = process.communicate(timeout=600)
    expect(process.returncode == 0, f"{ranks} ranks fail:\n{messages}")


def losses(folder):
    """The loss of each step."""
    lines = (folder / "run/metrics.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    return {record["step"]: record["loss"] for record in records if record["kind"] == "train"}


def loss_difference(found, wanted):
    """The largest relative difference; the steps must be the same."""
    expect(found.keys() == wanted.keys(), f"steps {sorted(found)} instead of {sorted(wanted)}")
    return max(abs(found[step] - wanted[step]) / abs(wanted[step]) for step in wanted)


def sample_difference(found):
    """The median of the relative differences of one step's loss from the next one's."""
    values = [found[step] for step in sorted(found)]
    return statistics.median(abs(a - b) / a for a, b in zip(values, values[1:]))


def weight_difference(found, wanted):
    """The largest difference of two networks; their running statistics depend more on rounding."""
    with h5py.File(found) as one, h5py.File(wanted) as other:
        names = []
        other.visititems(lambda name, item: names.append(name) if is_weight(name, item) else None)
        expect(names, f"{wanted}: has no weights")
        return max(float(numpy.abs(one[name][()] - other[name][()]).max()) for name in names)


def is_weight(name, item):
    is_state = name.startswith("optimizer/") or "running" in name
    return isinstance(item, h5py.Dataset) and item.dtype.kind == "f" and not is_state


def expect(condition, message):
    if not condition:
        sys.exit(f"ranks: {message}")


# MARK: Checks


def equal(root, steps):
    one, two = prepare(root, "one"), prepare(root, "two")
    train(one, 1, f"steps={steps}")
    train(two, 2, f"steps={steps}")
    loss = loss_difference(losses(two), losses(one))
    weight = weight_difference(two / "run/last.h5", one / "run/last.h5")
    expect(len(losses(one)) == steps, f"{len(losses(one))} losses of {steps} steps")
    expect(loss <= LARGEST_LOSS_DIFFERENCE, f"losses differ by {loss:.2g}")
    expect(weight <= LARGEST_WEIGHT_DIFFERENCE, f"weights differ by {weight:.2g}")
    print(f"ranks: 2 × 8 and 1 × 16 over {steps} steps: losses within {loss:.1e}, weights within "
          f"{weight:.1e}", flush=True)


def same_bytes(root, steps):
    again = prepare(root, "again")
    train(again, 2, f"steps={steps}")
    names = retint_runs.differences(
        retint_runs.contents(again / "run"), retint_runs.contents(root / "two/run"))
    expect(not names, f"the same job again differs in {', '.join(names[:8])}")
    print("ranks: the same job twice leaves the same bytes", flush=True)


def other_numbers(root, steps):
    """A killed job of four ranks is resumed with two, and with eight."""
    whole, killed = prepare(root, "four"), prepare(root, "killed")
    train(whole, 4, f"steps={steps}")
    other = sample_difference(losses(whole))
    expect(other >= LEAST_DIFFERENCE_OF_SAMPLES, f"losses of other samples differ by {other:.2g}")
    settings = [f"steps={steps}", "save_every=5"]
    process = launch(killed, 4, *settings)
    wait_for(killed, process, steps // 4)
    expect(kill_rank(killed, process) is not None, "a job ended before a rank was killed")
    reached = len(losses(killed))
    expect(reached < steps, "the job was killed too late")
    for ranks in (2, 8):
        folder = root / f"goes-on-{ranks}"
        shutil.copytree(killed, folder)
        train(folder, ranks, *settings)
        loss = loss_difference(losses(folder), losses(whole))
        expect(loss <= LARGEST_DIFFERENCE_GOING_ON,
               f"as {ranks} ranks, losses differ by {loss:.2g}")
        print(f"ranks: 4 ranks, killed after {reached} steps, go on as {ranks}: losses within "
              f"{loss:.1e}", flush=True)


def kills(root, count):
    settings = ["steps=300", "save_every=10", "batch=8", "data.crop=32", "width=0.25"]
    whole, killed = prepare(root, "undisturbed"), prepare(root, "disturbed")
    start = time.monotonic()
    train(whole, 2, *settings)
    duration = time.monotonic() - start
    ends = []
    while len(ends) < count:
        process = launch(killed, 2, *settings)
        time.sleep(random.uniform(0.2, 1) * duration)
        seconds = kill_rank(killed, process)
        if seconds is None:
            shutil.rmtree(killed)
            prepare(root, "disturbed")
        else:
            ends.append(seconds)
    train(killed, 2, *settings)
    names = retint_runs.differences(
        retint_runs.contents(killed / "run"), retint_runs.contents(whole / "run"))
    expect(not names, f"after kills, the run differs in {', '.join(names[:8])}")
    print(f"ranks: {count} kills, each job ended within {max(ends):.1f} s; the run has the bytes "
          "of one that was not disturbed", flush=True)


# MARK: Killing


def wait_for(folder, process, steps):
    """Waits until a job has taken some steps and saved its state."""
    deadline = time.monotonic() + 300
    metrics = folder / "run/metrics.jsonl"
    while not (metrics.exists() and (folder / "run/last.h5").exists()
               and len(losses(folder)) >= steps):
        expect(process.poll() is None and time.monotonic() < deadline, "a job takes no steps")
        time.sleep(0.01)


def kill_rank(folder, process):
    """Kills a random rank; returns the seconds until its job has ended.

    Returns None if the job had ended by itself, because it had taken all its steps.
    """
    found = ranks_of(folder)
    while not found:
        if process.poll() == 0:
            return None
        expect(process.poll() is None, f"a job fails by itself:\n{process.communicate()[1]}")
        time.sleep(0.01)
        found = ranks_of(folder)
    rank = random.choice(sorted(found))
    start = time.monotonic()
    try:
        os.kill(found[rank], signal.SIGKILL)
    except ProcessLookupError:
        pass
    _, messages = process.communicate(timeout=60)
    if process.returncode == 0:
        return None
    seconds = time.monotonic() - start
    expect(process.returncode != 0 and f"rank {rank}" in messages,
           f"the death of rank {rank} is not said:\n{messages}")
    expect(seconds <= LONGEST_END, f"the job of a dead rank ends after {seconds:.1f} s")
    return seconds


def ranks_of(folder):
    """The processes of a job, by rank: those that mpirun has started itself."""
    result = {}
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            arguments = (path / "cmdline").read_bytes().split(b"\0")
            variables = (path / "environ").read_bytes().split(b"\0")
            parent = (path / "stat").read_text().rsplit(") ", 1)[1].split()[1]
            launcher = pathlib.Path("/proc", parent, "comm").read_text().strip()
        except OSError:
            continue
        rank = [value for value in variables if value.startswith(b"OMPI_COMM_WORLD_RANK=")]
        if launcher == "mpirun" and rank and os.fsencode(folder / "run.yaml") in arguments:
            result[int(rank[0].split(b"=")[1])] = int(path.name)
    return result
