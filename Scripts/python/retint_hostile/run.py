"""Runs a case within limits, and lists what went wrong."""

import dataclasses
import json
import os
import pathlib
import re
import resource
import shlex
import signal
import subprocess
import threading
import time

MEMORY = 1 << 30
# More than any list of faults needs.
MESSAGES = 256 << 10
# What is read of standard output and of standard error.
READ = 32 << 20

# What only a trap or an error that nobody has worded prints.
DUMPS = re.compile(
    r"Fatal error|Swift runtime failure|NSCocoaErrorDomain|NSPOSIXErrorDomain|Error Domain="
    r"|HDF5-DIAG|\bOptional\(|DecodingError|BinaryDecoding|CodingKey|SwiftProtobuf\.|AddressSanit"
    r"|\.swift:\d+|libc\+\+abi|terminate called|bad_alloc")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# In messages, also what reorders the rest of a line.
REORDERING = re.compile(r"[\u2028\u2029\u202a-\u202e\u2066-\u2069]")
# A name that contains a line break is printed with it escaped, or else a file can forge a message.
FORGED = "FORGED"


@dataclasses.dataclass
class Ending:
    """How a run ended."""

    status: int
    seconds: float
    processor_seconds: float
    memory: int
    timed_out: bool
    output: str
    messages: str


def contents(folder):
    """The paths below a folder, with the size and time of files; links are not followed."""
    found, waiting = {}, [""]
    while waiting:
        place = waiting.pop()
        try:
            entries = list(os.scandir(os.path.join(folder, place)))
        except OSError:  # deeper than a path can be long
            continue
        for entry in entries:
            key = os.path.join(place, entry.name)
            if entry.is_dir(follow_symlinks=False):
                found[key] = None
                waiting.append(key)
            else:
                status = entry.stat(follow_symlinks=False)
                found[key] = (status.st_size, status.st_mtime_ns)
    return found


def execute(case, folder, retint):
    """Runs retint in the folder of a case."""
    out, err = (pathlib.Path(f"{folder}.{name}") for name in ("stdout", "stderr"))
    # A trap is recognized without the seconds that its backtrace takes.
    environment = {
        **os.environ, "XDG_CACHE_HOME": f"{folder}.cache", "SWIFT_BACKTRACE": "enable=no",
        **dict(case.environment)}
    with open(out, "wb") as output, open(err, "wb") as messages, \
            open(folder / case.stdin if case.stdin else os.devnull, "rb") as source:
        # A new process begins with the peak of the one that starts it, which made large files.
        pathlib.Path("/proc/self/clear_refs").write_text("5")
        start = time.monotonic()
        process = subprocess.Popen(
            [retint, *case.command], cwd=folder / case.place, stdin=source, stdout=output,
            stderr=messages, start_new_session=True, env=environment)
        resource.prlimit(process.pid, resource.RLIMIT_AS, (case.address_space, case.address_space))
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (case.file_size, case.file_size))
        resource.prlimit(process.pid, resource.RLIMIT_CORE, (0, 0))
        late = threading.Event()
        timer = threading.Timer(case.seconds, _end, (process.pid, late))
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
    return Ending(
        process.returncode, time.monotonic() - start, usage.ru_utime + usage.ru_stime,
        usage.ru_maxrss << 10, late.is_set(), _text(out), _text(err))


def _end(process, late):
    late.set()
    try:
        os.killpg(process, signal.SIGKILL)
    except ProcessLookupError:
        pass


def _text(path):
    with open(path, "rb") as file:
        return file.read(READ).decode("utf8", "surrogateescape")


def faults(case, ending, before, after):
    """What is wrong with the ending; empty if nothing is."""
    return [*_status_faults(case, ending), *_text_faults(case, ending),
            *_file_faults(case, ending, before, after)]


def _status_faults(case, ending):
    if ending.timed_out:
        yield f"more than {case.seconds} s ({ending.processor_seconds:.0f} s of processor time)"
    elif ending.status < 0:
        yield f"ended by {signal.Signals(-ending.status).name}"
    elif ending.status >= 128 and ending.status != 130:
        yield f"ended with {ending.status}"
    elif ending.status not in case.rule.codes:
        codes = ", ".join(map(str, case.rule.codes))
        yield f"exit code {ending.status} instead of {codes}: {_last_line(ending)}"
    if ending.memory > MEMORY:
        yield f"{ending.memory / (1 << 20):.0f} MiB of memory"


def _last_line(ending):
    lines = [line for line in ending.messages.splitlines() if "error" in line.lower()]
    return ascii(lines[0][:160]) if lines else "no message"


def _text_faults(case, ending):
    # A video on standard output is not text.
    writes_video = case.command[-1:] == ("-",) or "-o - " in " ".join(case.command)
    text = ending.messages if writes_video else ending.output + ending.messages
    if case.rule.word and case.rule.word not in ending.messages:
        yield f"standard error lacks {case.rule.word!r}"
    if found := DUMPS.search(text):
        start = max(0, found.start() - 40)
        yield f"a raw error: {ascii(text[start:found.end() + 60])}"
    if found := CONTROL.search(text) or REORDERING.search(ending.messages):
        context = found.string[max(0, found.start() - 30):][:60]
        yield f"an unescaped control character: {ascii(context)}"
    if any(line.startswith(FORGED) for line in text.splitlines()):
        yield "an unescaped line break of a name"
    if len(ending.messages) > MESSAGES:
        yield f"{len(ending.messages)} characters of messages"
    if ending.status in (1, 64, 65) and not ending.messages.strip():
        yield "a failure without a message"
    yield from _json_faults(case, ending)


def _json_faults(case, ending):
    if "--json" not in case.command or ending.status != 0 or not ending.output.strip():
        return
    if len(ending.output) >= READ:
        return
    try:
        json.loads(ending.output, parse_constant=_no_constant)
    except ValueError as error:
        yield f"--json printed no JSON: {error}"


def _no_constant(text):
    raise ValueError(f"{text} is not JSON")


def _file_faults(case, ending, before, after):
    changed = sorted(
        path for path in after
        if after[path] is not None and before.get(path) != after[path]
        or path not in before)
    kept = [path for path in changed if path.split("/")[0] not in case.keeps]
    if ending.status != 0 and ending.status != 2 and kept:
        yield f"left behind: {', '.join(map(ascii, kept[:4]))}"
    hidden = [path for path in changed if path not in kept or ending.status == 0]
    named = {os.path.normpath(word).split("/")[0] for word in case.command}
    partial = [
        path for path in hidden
        if re.search(r"\.(tmp|partial)|(^|/)\.", path) and path.split("/")[0] not in named]
    if partial and not ending.timed_out:
        yield f"temporary files: {', '.join(map(ascii, partial[:4]))}"
    missing = [path for path in set(before) - set(after) if path.split("/")[0] not in case.keeps]
    if missing:
        yield f"removed: {', '.join(map(ascii, sorted(missing)[:4]))}"


def reproduction(case, folder, retint):
    """A shell command that runs the case again."""
    place = shlex.quote(str(folder / case.place))
    text = f"cd {place} && {shlex.join([str(retint), *case.command])}"
    settings = "".join(f"{name}={shlex.quote(value)} " for name, value in case.environment)
    text = text.replace(" && ", f" && {settings}", 1)
    if case.stdin:
        text += f" <{shlex.quote(case.stdin)}"
    return text if len(text) < 2000 else text[:2000] + "…"
