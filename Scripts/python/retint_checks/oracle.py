"""Checks a sample of the table of wrong numbers with the coremltools in .venv.

    Scripts/check oracle [--seed N] [--cases N] [--update]

coremltools converts seeded cases of single operations, half of which the table calls wrong, and
retint runs the packages. The exit status is 1 if a case that the table calls wrong is right, or
the reverse; also if the tables in Swift and in the article are not those that Scripts/oracle
writes, which --update does. Cases that coremltools refuses here, because of its NumPy, are not
judged.
"""

import pathlib
import random
import subprocess
import sys
import tempfile

import retint_options
import retint_tool
from retint_oracle import publishing, running, table

PRODUCER, KIND = table.CHECKED


def main():
    parser = retint_options.parser(__doc__)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--cases", type=int, default=60, metavar="N")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    seed = retint_options.new_seed() if options.seed is None else options.seed
    print(f"oracle: --seed {seed}", flush=True)
    known = table.read()
    agrees = publishing.publish(known, writes=options.update)
    if options.update:
        return 0
    wrong = {name for names in known["wrong"][f"{PRODUCER}/{KIND}"].values() for name in names}
    chosen = sample(wrong, table.right_marks(known), options.cases, random.Random(seed))
    with tempfile.TemporaryDirectory() as folder:
        results = judged(chosen, pathlib.Path(folder))
    differing = [name for name in chosen if is_judged(results[name])
                 and (results[name]["state"] == "wrong") != (name in wrong)]
    for name in differing:
        print(f"{name}: is {results[name]['state']} ({results[name]['text']}), which is not what "
              "the table says")
    count = sum(map(is_judged, results.values()))
    print(f"oracle: {count} of {len(chosen)} cases judged, {len(differing)} unlike the table")
    # Most have to be judged, or the check means nothing.
    return 0 if agrees and not differing and count * 2 > len(chosen) else 1


def is_judged(result):
    return result["state"] in ("right", "wrong")


def sample(wrong, right, count, source):
    """Names of cases that the table knows, half of them wrong."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", "from retint_oracle import cases\n"
         "for case in cases.all_cases(): print(case.name)"],
        check=True, capture_output=True, text=True)
    names = done.stdout.splitlines()
    groups = ([name for name in names if name in wrong],
              [name for name in names if table.mark(name) in right])
    return [name for group in groups
            for name in source.sample(group, min(len(group), count // 2))]


def judged(names, folder):
    """The results of cases, of a worker in this Python."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "retint_oracle.worker", PRODUCER, KIND, folder],
        input="\n".join(names), stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"oracle: the worker ended with {done.returncode}\n{done.stderr[-2000:]}")
    return running.results(folder)
