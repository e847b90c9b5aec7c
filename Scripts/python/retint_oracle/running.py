"""Runs the workers, each in a process that may end at any case."""

import concurrent.futures
import contextlib
import json
import os
import subprocess
import time

# Seconds without a result after which a worker is ended.
SILENCE = 180


def run(jobs, at_once):
    """Runs jobs of (producer, kind, folder, names), which skip the cases that have results."""
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        for job in [pool.submit(complete, *job) for job in jobs]:
            job.result()


def complete(producer, kind, folder, names):
    """Has workers make the missing results."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "current").unlink(missing_ok=True)
    while missing := without_results(names, folder):
        start = time.monotonic()
        status = work(producer, kind, folder, missing)
        print(f"{producer.id} {kind.name}: {len(missing)} cases, status {status}, "
              f"{time.monotonic() - start:.0f} s", flush=True)
        current = folder / "current"
        if not current.exists():
            return
        # Whatever ended the worker, ended it at this case.
        add(folder, {"case": current.read_text(), "state": "refused",
                     "text": "the converter crashed or took too long"})
        current.unlink()


def without_results(names, folder):
    known = results(folder)
    return [name for name in names if name not in known]


def work(producer, kind, folder, names):
    process = subprocess.Popen(
        [producer.python, "-W", "ignore", "-m", "retint_oracle.worker", producer.id, kind.name,
         folder], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
        stderr=open(folder / "log", "ab"), text=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write("\n".join(names))
        process.stdin.close()
    path, size, since = folder / "results.jsonl", -1, time.monotonic()
    while process.poll() is None:
        time.sleep(0.2)
        now = path.stat().st_size if path.exists() else 0
        if now != size:
            size, since = now, time.monotonic()
        if time.monotonic() - since > SILENCE:
            process.kill()
    return process.returncode


def results(folder):
    """The results in a folder, by the names of cases."""
    path = folder / "results.jsonl"
    if not path.exists():
        return {}
    found = {}
    for line in path.read_text().splitlines():
        # A line may be half written.
        with contextlib.suppress(ValueError):
            result = json.loads(line)
            found[result["case"]] = result
    return found


def add(folder, result):
    with open(folder / "results.jsonl", "a") as file:
        file.write("\n" + json.dumps(result) + "\n")
