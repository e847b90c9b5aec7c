"""Steps of a check: the output of each, its duration, and whether it succeeded."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time

import retint_tables
from retint_tool import ROOT


class Steps:
    """Runs commands, and keeps the results for a table at the end."""

    def __init__(self):
        self.start = time.monotonic()
        self.results, self.running = [], set()
        self.lock = threading.Lock()

    def run(self, name, *command, log=None):
        """Runs a command and returns whether it succeeded.

        With a log, a path, its output goes there first, and is printed as a whole at the end: for
        steps that run side by side.
        """
        start = time.monotonic()
        if log is None:
            print(f"== {name}", flush=True)
        with open(log, "wb") if log else contextlib.nullcontext() as output:
            process = subprocess.Popen(
                [str(word) for word in command], cwd=ROOT, stdout=output, start_new_session=True,
                stderr=subprocess.STDOUT if log else None)
            self.running.add(process)
            status = process.wait()
        self.running.remove(process)
        self.add(name, time.monotonic() - start, status == 0, log)
        return status == 0

    def stop(self):
        """Ends the steps that run beside this one, with the processes that they started."""
        for process in list(self.running):
            os.killpg(process.pid, signal.SIGTERM)

    def add(self, name, seconds, succeeded, log=None):
        """Keeps a result, and prints it with what is in the log."""
        with self.lock:
            self.results.append((name, seconds, succeeded))
            if log:
                print(f"== {name}", flush=True)
                sys.stdout.buffer.write(log.read_bytes())
            print(f"== {name}: {'ok' if succeeded else 'FAILED'}, {seconds:.0f} s\n", flush=True)

    @property
    def succeeded(self):
        return all(succeeded for _, _, succeeded in self.results)

    def table(self):
        """The steps, the longest first; those that ran side by side take more than the total."""
        rows = [(name, "ok" if succeeded else "FAILED", f"{seconds:.0f} s") for name, seconds,
                succeeded in sorted(self.results, key=lambda result: -result[1])]
        total = ("total", "ok" if self.succeeded else "FAILED",
                 f"{time.monotonic() - self.start:.0f} s")
        return "\n".join(retint_tables.aligned([*rows, total], left=2))
