"""Runs processes in alternation, so that a machine that slows down affects all of them alike."""

import json
import os
import pathlib
import signal
import subprocess
import threading
import time


class Contender:
    """A training process and its reports, each with the seconds that the process has run.

    Subclasses implement read(), which passes each reported line to add().
    """

    def __init__(self, command, log, **options):
        self.log, self.records, self.ready = log, [], None
        self.seconds, self.since = 0.0, time.monotonic()
        # Its own process group, so that its child processes stop with it.
        self.process = subprocess.Popen(
            [str(word) for word in command], stderr=open(log, "w"), start_new_session=True,
            **options)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def clock(self):
        return self.seconds + (time.monotonic() - self.since if self.since is not None else 0)

    def stop(self):
        self.signal(signal.SIGSTOP)
        self.seconds, self.since = self.clock(), None

    def resume(self):
        self.since = time.monotonic()
        self.signal(signal.SIGCONT)

    def restart_clock(self):
        self.seconds, self.since = 0.0, time.monotonic()

    def signal(self, number):
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            pass

    @property
    def is_running(self):
        return self.process.poll() is None

    def add(self, line):
        record = json.loads(line)
        if "ready" in record:
            self.ready = record["ready"]
            return
        loss = record.get("loss") or record["validation"]["loss"]
        self.records.append((record["kind"], record["step"], loss, self.clock()))

    def finish(self):
        self.reader.join()
        if self.process.wait() != 0:
            raise SystemExit(f"{open(self.log).read()}\n{self.process.args[0]} failed")

    def curve(self, kind):
        return [list(record[1:]) for record in self.records if record[0] == kind]

    def report(self):
        curves = {kind: self.curve(kind) for kind in ("train", "validation")}
        return {"seconds": self.records[-1][3], **curves}


def processor_seconds(group=None):
    """Processor seconds of all processes that are not niced, or of a group's live processes."""
    ticks = os.sysconf("SC_CLK_TCK")
    if group is None:
        fields = open("/proc/stat").readline().split()[1:]
        user, _, system, _, _, irq, softirq = map(int, fields[:7])
        return (user + system + irq + softirq) / ticks
    total = 0
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # The process has exited.
            continue
        if int(fields[2]) == group:
            total += int(fields[11]) + int(fields[12])
    return total / ticks


class Turns:
    """Runs one contender after the other for some seconds each, until all have exited.

    With `quiet`, it pauses while other processes use more than that share of a processor.
    """

    PACE = 0.25

    def __init__(self, contenders, seconds, quiet):
        self.contenders, self.seconds, self.quiet = contenders, seconds, quiet

    def run(self):
        for contender in self.contenders:
            contender.stop()
        while running := [one for one in self.contenders if one.is_running]:
            for contender in running:
                self.wait_for_quiet()
                contender.resume()
                self.turn(contender)
                contender.stop()

    def turn(self, contender):
        start = time.monotonic()
        while contender.is_running and time.monotonic() - start < self.seconds:
            if self.quiet and self.others(contender) > self.quiet:
                return
            if not self.quiet:
                self.pace(contender)

    def wait_for_quiet(self):
        while self.quiet and self.others() > self.quiet:
            pass

    def others(self, contender=None):
        """The number of processors that other processes use, over a short interval."""
        group = contender.process.pid if contender else -1
        start = processor_seconds() - processor_seconds(group), time.monotonic()
        self.pace(contender)
        used = processor_seconds() - processor_seconds(group) - start[0]
        return used / (time.monotonic() - start[1])

    def pace(self, contender):
        try:
            contender.process.wait(self.PACE) if contender else time.sleep(self.PACE)
        except subprocess.TimeoutExpired:
            pass
