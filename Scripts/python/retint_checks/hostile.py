"""Runs retint on hostile inputs: well-formed files and options with absurd contents.

    Scripts/check hostile [--sample N] [--seed N] [--only PATTERN] [--jobs N] [--keep DIR] [--list]

Each case runs in its own folder, for at most 10 seconds, or 20 with three photos of 64 megapixels;
one that takes longer is run once more, alone. It fails if retint is ended by a signal or a trap,
takes longer, needs more than 1 GiB of memory, exits with another code than the rule's (64 for what
was typed, 65 for what a file holds, 1 for the rest), lacks a word in its message, prints a raw
error or an unescaped control character, or leaves files behind after a failure.

Prints each failed case with a command that runs it again, and a summary. The exit status is 1 if a
case fails. All 9,334 cases take a processor 22 minutes; --sample takes one in N of each area.
--only takes those whose names contain PATTERN, or match it as a wildcard; --list prints their
names. --keep keeps the files of failed cases.
"""

import collections
import concurrent.futures
import fnmatch
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import retint_hostile
import retint_options
import retint_tables
import retint_tool
from retint_hostile import base_files, run


def main():
    options = parse()
    # Names of cases and commands may have bytes that are not UTF-8.
    sys.stdout.reconfigure(errors="backslashreplace")
    with tempfile.TemporaryDirectory(prefix="retint-hostile-") as root:
        root = pathlib.Path(root).resolve()
        start = time.monotonic()
        base = base_files.make(root / "base")
        cases = chosen(retint_hostile.all_cases(base), options)
        if options.list:
            print(*(case.name for case in cases), sep="\n")
            return 0
        shared = run.contents(base)
        wrong, slowest = check_all(cases, root, options)
        if run.contents(base) != shared:
            sys.exit("hostile: a case changed the shared files, so that the others mean nothing")
        summary(cases, wrong, slowest, time.monotonic() - start)
    return 1 if wrong or not cases else 0


def parse():
    parser = retint_options.parser(__doc__)
    retint_options.add_sample(parser)
    parser.add_argument("--only", metavar="PATTERN", default="")
    parser.add_argument("--jobs", metavar="N", type=int, default=2)
    parser.add_argument("--keep", metavar="DIR", type=pathlib.Path)
    parser.add_argument("--list", action="store_true")
    return parser.parse_args()


def chosen(cases, options):
    """The cases that the options ask for."""
    if options.only:
        return [
            case for case in cases
            if options.only in case.name or fnmatch.fnmatchcase(case.name, options.only)]
    sample = retint_options.Sample(options, "hostile")
    areas = collections.defaultdict(list)
    for case in cases:
        areas[case.name.split("/")[0]].append(case)
    return [case for area in areas.values() for case in sample.of(area)]


def check_all(cases, root, options):
    """The names of wrong cases, and the seconds that each case took."""
    retint = pathlib.Path(retint_tool.RETINT).resolve()
    wrong, seconds, late = [], [], []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as workers:
        jobs = [
            workers.submit(check, case, root / str(index), retint, options.keep)
            for index, case in enumerate(cases)]
        for index, (case, job) in enumerate(zip(cases, jobs)):
            faults, command, ending = job.result()
            if ending.timed_out:
                late.append((case, root / f"{index}-alone"))
                continue
            seconds.append((ending.seconds, case.name))
            if faults:
                wrong.append(case.name)
                report(case, faults, command)
    # Other cases may have taken the processors: what took too long beside them gets them alone.
    for case, folder in late:
        faults, command, ending = check(case, folder, retint, options.keep)
        seconds.append((ending.seconds, case.name))
        if faults:
            wrong.append(case.name)
            report(case, faults, command)
    return wrong, sorted(seconds, reverse=True)[:5]


def report(case, faults, command):
    print(f"WRONG {case.name}: {'; '.join(faults)}\n    {command}", flush=True)


def check(case, folder, retint, keep):
    """Runs a case in a fresh folder, which is removed again unless it is wrong and kept."""
    folder.mkdir()
    (folder / "base").symlink_to(folder.parent / "base")
    case.files(folder)
    before = run.contents(folder)
    ending = run.execute(case, folder, retint)
    faults = run.faults(case, ending, before, run.contents(folder))
    place = folder
    if faults and keep:
        place = keep.resolve() / case.name.replace("/", "-")
        keep_files(folder, place)
    for suffix in ("stdout", "stderr"):
        os.unlink(f"{folder}.{suffix}")
    # rm, because a case may leave folders that are deeper than Python removes.
    subprocess.run(["rm", "-rf", folder, f"{folder}.cache"], check=True)
    return faults, run.reproduction(case, place, retint), ending


def keep_files(folder, place):
    """Copies a case's files, its output, and the shared files that it leads to."""
    subprocess.run(["rm", "-rf", place], check=True)
    shared = place.parent / "base"
    if not shared.exists():
        shutil.copytree(folder / "base", shared, dirs_exist_ok=True)
    # Without what has paths that are too long to copy.
    subprocess.run(["cp", "-a", "--sparse=always", folder, place], stderr=subprocess.DEVNULL)
    (place / "base").unlink()
    (place / "base").symlink_to("../base")
    for suffix in ("stdout", "stderr"):
        shutil.copy(f"{folder}.{suffix}", f"{place}.{suffix}")


def summary(cases, wrong, slowest, seconds):
    """Prints the number of cases and of wrong ones, by area."""
    totals = collections.Counter(name.split("/")[0] for name in (case.name for case in cases))
    bad = collections.Counter(name.split("/")[0] for name in wrong)
    rows = [("area", "cases", "wrong"), *((area, n, bad[area]) for area, n in totals.items())]
    print(*retint_tables.aligned(rows), sep="\n")
    print("slowest: " + ", ".join(f"{name} {time:.1f} s" for time, name in slowest))
    print(f"{len(cases)} cases, {len(wrong)} wrong, in {seconds:.0f} s")
