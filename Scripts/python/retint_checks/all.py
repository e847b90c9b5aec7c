"""Runs all checks of continuous integration, in under 20 minutes on two processors.

    Scripts/check all [--seed N] [--every] [--only NAME...]

The first stage is `Scripts/check tests`: a failure there ends the run. Then come the others, two
at a time. Heavy ones take a random sample of their cases; the seed is printed at the beginning and
at the end, and --seed repeats it. Those with the most time take turns: a run has a third of them,
by the seed; --every runs all. --only runs only these checks, without the first stage. The time of
each check is printed at the end. The exit status is 1 when one fails.
"""

import argparse
import concurrent.futures
import dataclasses
import pathlib
import sys
import tempfile
import threading

import retint_build
import retint_options

from . import _steps, tests

HERE = (sys.executable, "-m", "retint_checks")
# Checks that run at the same time.
SLOTS = 2
# One in how many cases of long tables, and of the suites of commands, the tests take.
TESTS_SAMPLE = 16
TURNS = 3


@dataclasses.dataclass(frozen=True)
class Check:
    """A check: its options, one in how many of its cases it takes, whose turn it is, and what has
    to end before."""

    name: str
    _: dataclasses.KW_ONLY
    options: tuple = ()
    sample: int | None = None
    # A run has those whose turn is the seed modulo TURNS, and those without one.
    turn: int | None = None
    is_seeded: bool = False
    after: tuple = ()


# Checks that read the release build; the packages of the last two change its folder.
READERS = ("release", "python", "notebooks", "docs", "commands", "face", "unused", "fuzz",
           "onnx-export", "nvrtc")
# Stands for a folder of networks: pytorch leaves them, exports takes them.
MODELS = "MODELS"
# Those that take longest come first, so that both processors end at about the same time.
CHECKS = (
    Check("pytorch", options=("--keep", MODELS), sample=16, turn=0),
    Check("release", turn=1),
    Check("exports", options=(MODELS,), sample=8, turn=0, after=("pytorch",)),
    Check("reading", sample=16, turn=2),
    Check("python"),
    Check("notebooks", sample=3, turn=0, after=("python",)),
    Check("torture", options=("--kills", "4", "--full-disks", "1"), turn=1, is_seeded=True),
    Check("ranks", options=("--kills", "2", "--steps", "40"), is_seeded=True),
    Check("onnx-export", sample=8, turn=1),
    Check("hostile", options=("--jobs", "1"), sample=48),
    Check("docs"),
    Check("commands", sample=8),
    Check("face"),
    Check("concepts", options=("--strict",)),
    Check("onnx", sample=8, turn=2),
    Check("aimodel", sample=28, turn=2),
    Check("example", after=READERS),
    Check("library", after=(*READERS, "example")),
    Check("judge", turn=1),
    Check("unused", turn=0),
    Check("oracle", turn=2, is_seeded=True),
    Check("bounds", sample=320),
    Check("portable", turn=2),
    Check("fuzz", options=("--compile",)),
    Check("photos"),
    Check("nvrtc", sample=16, turn=1),
)


def main():
    parser = retint_options.parser(__doc__)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--every", action="store_true", help="run all checks")
    parser.add_argument("--only", nargs="+", metavar="NAME", default=[],
                        choices=[check.name for check in CHECKS])
    options = parser.parse_args()
    seed = retint_options.new_seed() if options.seed is None else options.seed
    print(f"Samples by this seed: --seed {seed}\n", flush=True)
    steps = _steps.Steps()
    with tempfile.TemporaryDirectory(prefix="retint-checks-") as folder:
        run = Run(steps, seed, pathlib.Path(folder))
        if options.only:
            run.checks([check for check in CHECKS if check.name in options.only])
        else:
            chosen = [check for check in CHECKS
                      if options.every or check.turn in (None, seed % TURNS)]
            if all(check.name != "unused" for check in chosen):
                retint_build.leave_out_index()
            if run.first_stage(chosen):
                run.checks(chosen)
    print(f"{steps.table()}\n\nRun by Scripts/check all --seed {seed}")
    return 0 if steps.succeeded else 1


class Run:
    def __init__(self, steps, seed, folder):
        self.steps, self.seed, self.folder = steps, seed, folder

    def first_stage(self, checks):
        """Sets up, builds and tests; meanwhile, what the checks need is installed."""
        if not self.steps.run("packages", "Scripts/setup", "--mpi", "--release", "--aarch64"):
            return False
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            installation = pool.submit(self.install, checks)
            sample = argparse.Namespace(sample=TESTS_SAMPLE, seed=self.seed)
            if not tests.run(self.steps, retint_options.Sample(sample, "tests")):
                self.steps.stop()
                return False
            return installation.result()

    def install(self, checks):
        """Python's packages, and what the checks need of NVRTC, coremltools and a bare Debian."""
        named = {check.name: check for check in checks}
        setup = "Scripts/setup --python --coreai" + (" --cuda" if "nvrtc" in named else "")
        commands = [setup] + [
            f"{' '.join(self.command(named[name]))} --prepare"
            for name in ("reading", "release") if name in named]
        return self.steps.run(
            "installation", "bash", "-c", " && ".join(commands), log=self.folder / "installation")

    def command(self, check):
        options = [option.replace(MODELS, str(self.folder / "models")) for option in check.options]
        if check.sample:
            options += ["--sample", str(check.sample)]
        if check.sample or check.is_seeded:
            options += ["--seed", str(self.seed)]
        return [*HERE, check.name, *options]

    def checks(self, checks):
        """Runs checks side by side, each after those that it waits for."""
        ended = {check.name: threading.Event() for check in checks}
        waiting, lock = list(checks), threading.Condition()

        def ready():
            return next((check for check in waiting if all(
                ended[name].is_set() for name in check.after if name in ended)), None)

        def work():
            while True:
                with lock:
                    lock.wait_for(lambda: not waiting or ready())
                    if not waiting:
                        return
                    check = ready()
                    waiting.remove(check)
                self.steps.run(check.name, *self.command(check), log=self.folder / check.name)
                with lock:
                    ended[check.name].set()
                    lock.notify_all()

        with concurrent.futures.ThreadPoolExecutor(SLOTS) as pool:
            for worker in [pool.submit(work) for _ in range(SLOTS)]:
                worker.result()
