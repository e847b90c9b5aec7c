"""Interrupts training at random instants, and compares it with an undisturbed run.

    Scripts/check torture [--kills N] [--full-disks N] [--seed N]

A run is ended by SIGKILL, SIGTERM, SIGINT or SIGHUP, again and again until it reaches its last
step; or the disk that it writes to fills up and is emptied again. In the end, weights, optimizer,
metrics, samples, the best weights and the kept checkpoints must have the same bytes as those of a
undisturbed run, and nothing else may be in the folder. Then pairs of commands write the
same output at once: one of them is refused, and the output of the other is complete.

The disks are mounted in their own namespace (`unshare`), which needs no privileges. By default 200
interruptions and 20 full disks, in under 15 minutes. The exit status is 1 if anything differs; the
folder is then kept. Scripts/setup --python installs what it needs.
"""

import fcntl
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import retint_options
import retint_runs
import retint_tool

SIGNALS = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP]
CONFIGURATION = """\
architecture: pico-unet
output: run
batch: 4
steps: 300
validate_every: 40
save_every: 11
keep_last: 2
log_every: 10
threads: 1
data: {train: PHOTOS, validation: PHOTOS, crop: 32, lightness: 0.1, contrast: 0.1}
optimizer: {ema: 0.9, learning_rate: 0.01}
schedule: {kind: one-cycle}
"""
# The file that keeps an output for the process that writes it.
LOCK = ".{}.retint-lock"
# The bytes of a disk: several times what a run takes.
DISK = 48 << 20


def main():
    options = parse()
    if "RETINT_TORTURE" not in os.environ:
        return in_namespace()
    random.seed(options.seed)
    root = pathlib.Path(os.environ["RETINT_TORTURE"])
    start = time.monotonic()
    retint_runs.write_photos(root / "photos")
    whole, duration = undisturbed(root)
    print(f"torture: seed {options.seed}; an undisturbed run takes {duration:.2f} s")
    kills(root, whole, duration, options.kills)
    full_disks(root, whole, duration, options.full_disks)
    pairs(root, whole)
    print(f"torture: all as if nothing had happened, {time.monotonic() - start:.0f} s")
    return 0


def parse():
    parser = retint_options.parser(__doc__)
    parser.add_argument("--kills", type=int, default=200, help="interruptions")
    parser.add_argument("--full-disks", type=int, default=20, help="disks that fill up")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of the instants")
    return parser.parse_args()


def in_namespace():
    """Runs this script again where it may mount disks, and keeps the folder if it fails."""
    root = tempfile.mkdtemp(prefix="retint-torture-")
    seed = [] if "--seed" in sys.argv else ["--seed", str(int(time.time()))]
    command = ["unshare", "-rm", sys.executable, "-m", "retint_checks", "torture", *sys.argv[1:],
               *seed]
    status = subprocess.run(command, env={**os.environ, "RETINT_TORTURE": root}).returncode
    if status == 0:
        shutil.rmtree(root)
    else:
        print(f"torture: kept {root}", file=sys.stderr)
    return 1 if status else 0


# MARK: Runs


def prepare(root, name):
    """A new folder to train in."""
    folder = root / name
    folder.mkdir(exist_ok=True)
    text = CONFIGURATION.replace("PHOTOS", str(root / "photos"))
    (folder / "run.yaml").write_text(text)
    return folder


def train(folder, tool=None):
    """Starts a run, or resumes the one that is there."""
    resume = ["--resume"] if (folder / "run/last.h5").exists() else []
    return subprocess.Popen(
        [tool or retint_tool.RETINT, "train", "--config", "run.yaml", *resume],
        cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        start_new_session=True)


def undisturbed(root):
    """What a whole run gives, and the seconds that it takes."""
    folder = prepare(root, "whole")
    start = time.monotonic()
    process = train(folder)
    _, messages = process.communicate(timeout=300)
    expect(process.returncode == 0, f"an undisturbed run fails:\n{messages}")
    duration = time.monotonic() - start
    result = retint_runs.contents(folder / "run")
    again = prepare(root, "again")
    train(again).communicate(timeout=300)
    compare(retint_runs.contents(again / "run"), result, "two undisturbed runs")
    return result, duration


def compare(found, wanted, what, lost=()):
    """`lost`: files that the run said it goes on without, which may differ."""
    names = [name for name in retint_runs.differences(found, wanted) if name not in lost]
    expect(not names, f"{what}: differs from an undisturbed run: {', '.join(names[:8])}")


def expect(condition, message):
    if not condition:
        sys.exit(f"torture: {message}")


# MARK: Interruptions


def kills(root, whole, duration, count):
    done, runs, statuses = 0, 0, {}
    while done < count:
        folder = prepare(root, "run")
        status = None
        for _ in range(1000):
            number = random.choice(SIGNALS) if done < count else None
            status, messages = interrupted(folder, duration, number)
            label = f"{number.name if number else 'none'} {status}"
            statuses[label] = statuses.get(label, 0) + 1
            if status == 0:
                break
            # Before a run has begun it has nothing to save.
            allowed = {130, -number} if number else set()
            expect(status in allowed, f"{label} after {done} interruptions:\n{messages}")
            done += 1
        runs += 1
        expect(status == 0, "a run does not come to its end")
        compare(retint_runs.contents(folder / "run"), whole,
                f"run {runs}, after {done} interruptions")
        shutil.rmtree(folder)
    print(f"torture: {done} interruptions in {runs} runs: "
          + ", ".join(f"{count} × {label}" for label, count in sorted(statuses.items())))


def interrupted(folder, duration, number):
    """Trains until a random instant, or to the end if there is no signal."""
    process = train(folder)
    try:
        _, messages = process.communicate(
            timeout=random.uniform(0, duration) if number else 300)
    except subprocess.TimeoutExpired:
        process.send_signal(number)
        _, messages = process.communicate(timeout=300)
    return process.returncode, messages


# MARK: Full disks


def full_disks(root, whole, duration, count):
    done, noticed = 0, 0
    disk = prepare(root, "disk")
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "none", str(disk)]
    while done < count:
        subprocess.run(mount, check=True)
        folder = prepare(root, "disk")
        status, lost = None, set()
        while status != 0:
            status, missing = filled(folder, duration if done < count else None)
            lost |= missing
            noticed += status == 1
            done += 1
        compare(retint_runs.contents(folder / "run"), whole, f"after {done} full disks", lost)
        subprocess.run(["umount", str(disk)], check=True)
    print(f"torture: {done} full disks, {noticed} of them ended a run")


def filled(folder, duration):
    """Trains, and fills the disk at a random instant; empties it again.

    Returns the exit status, and the metrics and pictures that a run went on without.
    """
    process = train(folder)
    filler = folder / "filler"
    try:
        _, messages = process.communicate(
            timeout=300 if duration is None else random.uniform(0, duration))
    except subprocess.TimeoutExpired:
        fill(filler)
        _, messages = process.communicate(timeout=300)
    filler.unlink(missing_ok=True)
    expect(process.returncode in (0, 1), f"a full disk: {process.returncode}\n{messages}")
    if process.returncode == 1:
        expect("No space left on device" in messages and "free some space" in messages,
               f"a full disk is not named:\n{messages}")
    return process.returncode, set(re.findall(
        r"run/(\S+?): .*; training continues without it", messages))


def fill(path):
    size = 1 << 20
    with open(path, "wb", buffering=0) as file:
        while size:
            try:
                file.write(bytes(size))
            except OSError:
                size //= 2


# MARK: Two at once


def pairs(root, whole):
    folder = prepare(root, "pairs")
    both = [train(folder), train(folder)]
    messages = [process.communicate(timeout=300)[1] for process in both]
    statuses = sorted(process.returncode for process in both)
    expect(statuses[0] == 0 and statuses[1] in (1, 64), f"two runs: {statuses}\n{messages}")
    compare(retint_runs.contents(folder / "run"), whole, "the first of two runs at once")
    exports(root, folder)
    averages(root, whole)


def exports(root, folder):
    """Twenty pairs of exports of two checkpoints to one package, and one while it is locked."""
    sources = [folder / "run/last.h5", folder / "run/best.h5"]
    alone = []
    for index, source in enumerate(sources):
        retint_tool.run("export", source, "-o", root / f"alone{index}.mlpackage", "--size", 32)
        alone.append(package(root / f"alone{index}.mlpackage"))
    refused = 0
    target = root / "pair.mlpackage"
    for _ in range(20):
        both = [export(source, target) for source in sources]
        messages = [process.communicate(timeout=60)[1] for process in both]
        statuses = sorted(process.returncode for process in both)
        expect(statuses in ([0, 0], [0, 1]), f"two exports: {statuses}\n{messages}")
        if statuses[1]:
            refused += 1
            expect(any("is in use" in text for text in messages), f"two exports: {messages}")
        expect(package(target) in alone, "two exports at once give a mixed package")
    locked(sources[0], target)
    left = [path.name for path in root.iterdir() if path.name.startswith(".")]
    expect(not left, f"left over: {left}")
    print(f"torture: two runs at once, one refused; 20 pairs of exports, {refused} refused")


def export(source, target):
    return subprocess.Popen(
        [retint_tool.RETINT, "export", source, "-o", target, "--size", "32"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def locked(source, target):
    """An export onto a package that another process is writing changes nothing."""
    before = package(target)
    lock = target.with_name(LOCK.format(target.name))
    with open(lock, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        process = export(source, target)
        message = process.communicate(timeout=60)[1]
        expect(process.returncode == 1 and "is in use" in message,
               f"an export onto a package in use: {process.returncode}\n{message}")
        lock.unlink()
    expect(package(target) == before, "an export changes a package in use")


def package(path):
    return {str(file.relative_to(path)): file.read_bytes()
            for file in sorted(path.rglob("*")) if file.is_file()}


def averages(root, whole):
    """An average onto a file of a run that goes on."""
    sources = [root / "pairs/run/last.h5", root / "pairs/run/best.h5"]
    folder = prepare(root, "averages")
    process = train(folder)
    while not (folder / "run/.lock").exists() and process.poll() is None:
        time.sleep(0.01)
    refused = 0
    for name in ("last.h5", "best.h5"):
        done = subprocess.run(
            [retint_tool.RETINT, "average", *sources, "-o", folder / "run" / name],
            capture_output=True, text=True)
        refused += done.returncode == 1 and "is in use" in done.stderr
    _, messages = process.communicate(timeout=300)
    expect(process.returncode == 0, f"a run beside averages:\n{messages}")
    expect(refused == 2, "an average replaces what a run writes")
    compare(retint_runs.contents(folder / "run"), whole, "a run beside averages")
    print("torture: averages onto a run's files, refused")
