"""Measures retint against other frameworks on this machine and prints a table.

Each framework runs in its own process. Rounds alternate between them, so that a machine that slows
down affects all alike; each time is the median over all runs of all rounds. Ratios are the other
framework's time divided by retint's: above 1, retint is faster.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import retint_build
import retint_options
import retint_tables
import retint_tool

from ._cases import CASES, PACKAGED, PEERS, SCALING, THREADED, takes_part

# The table of an earlier run, to which each run is compared.
LAST = pathlib.Path(__file__).resolve().with_name("last.json")
RATIOS = {
    "float32_ratio": "float32", "bfloat16_ratio": "bfloat16", "half_ratio": "16 bits",
    "memory_share": "memory",
}
# retint in the fastest format of 16 bits that the CPU has.
HALF = "retint-16-bit"
# What a run has to do at least, and how fast this machine does such things.
ROOFLINE = ("multiply_adds", "weight_bytes", "sgemm_gflops", "copy_gigabytes_per_second")
# A framework's threads spin for a while after a run; let them go to sleep.
PAUSE = 0.4


class Retint:
    def __init__(self, name, options, case):
        self.name = name
        self.tool = options.retint
        shape = ["--mode", case.mode, "--batch", case.batch, "--size", case.size]
        self.folder = tempfile.TemporaryDirectory()
        model = case.network
        if model.endswith(".onnx"):
            # Its shape is fixed.
            shape = []
        elif model == PACKAGED:
            shape, model = [], f"{self.folder.name}/network.mlpackage"
            subprocess.run(
                [sys.executable, "-m", "retint_benchmarks._package", case.network, str(case.batch),
                 str(case.size), model], check=True, capture_output=True)
        self.command = ["benchmark", model, *shape, "--threads", options.threads]
        if name == HALF:
            self.command += ["--compute", "auto"]

    def measure(self, _seconds):
        report = retint_tool.report(*self.command, tool=self.tool)
        return {
            "seconds": [report["median_seconds"]],
            "peak_bytes": report["peak_bytes"],
            "arithmetic": report["arithmetic"],
            **{name: report[name] for name in ROOFLINE},
        }

    def close(self):
        self.folder.cleanup()


class Peer:
    def __init__(self, name, options, case):
        self.name = name
        arguments = [name, case.network, case.mode, case.batch, case.size, options.threads]
        environment = dict(os.environ, OMP_NUM_THREADS=str(options.threads))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "retint_benchmarks._peers", *map(str, arguments)], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
        )
        if self.process.stdout.readline().strip() != "ready":
            message = self.process.communicate()[1].strip().splitlines()
            raise RuntimeError(message[-1] if message else "it exited without a message")

    def measure(self, seconds):
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.kill()
        self.process.communicate()


def contenders(options, case):
    names = [name for name in options.peers if takes_part(name, case)]
    result = [Retint("retint", options, case)]
    if any(PEERS[name] != "float32" for name in names) and case.mode == "inference":
        result.append(Retint(HALF, options, case))
    for name in names:
        try:
            result.append(Peer(name, options, case))
        except RuntimeError as error:
            print(f"{case.name}: {name} does not run: {error}", file=sys.stderr)
    return result


def measure(options, case):
    """The median seconds of each framework's runs, its peak memory, and what it says of itself."""
    running = contenders(options, case)
    times = {contender.name: [] for contender in running}
    said = {}
    try:
        for _ in range(options.rounds):
            for contender in running:
                time.sleep(PAUSE)
                report = contender.measure(options.seconds)
                times[contender.name] += report.pop("seconds")
                said[contender.name] = report
    finally:
        for contender in running:
            contender.close()
    # Without instructions for 16 bits, it is the same measurement twice.
    if said.get(HALF, {}).get("arithmetic") == "float32":
        del times[HALF]
    return {
        name: {"median_seconds": statistics.median(seconds), **said[name]}
        for name, seconds in times.items()
    }


def fastest(figures, precisions, own="retint"):
    """The fastest framework in some precisions, and its time divided by retint's."""
    found = [
        (figures[name]["median_seconds"] / figures[own]["median_seconds"], name)
        for name in figures if PEERS.get(name) in precisions
    ]
    return min(found) if found else None


def summary(case, figures):
    entry = {"case": case.name, **vars(case), "contenders": figures}
    for precision in ("float32", "bfloat16"):
        best = fastest(figures, [precision])
        if best:
            entry[f"{precision}_ratio"], entry[f"{precision}_peer"] = best
    best = fastest(figures, PEERS.values(), HALF) if HALF in figures else None
    if best:
        entry["half_ratio"], entry["half_peer"] = best
    if "torch" in figures:
        entry["memory_share"] = figures["retint"]["peak_bytes"] / figures["torch"]["peak_bytes"]
    return entry


def line(entry):
    def ratio(precision):
        if f"{precision}_ratio" not in entry:
            return "–"
        return f"{entry[f'{precision}_ratio']:.2f} ({entry[f'{precision}_peer']})"

    own, half = (entry["contenders"].get(name) for name in ("retint", HALF))
    share = entry.get("memory_share")
    half_time = "–" if half is None else f"{half['median_seconds'] * 1e3:.1f} ms"
    return retint_tables.row([
        entry["case"], f"{own['median_seconds'] * 1e3:.1f} ms", ratio("float32"),
        ratio("bfloat16"), half_time, ratio("half"), f"{own['peak_bytes'] / 2**20:.0f} MiB",
        "–" if share is None else f"{share:.2f}"])


def roofline(entry):
    """A row: what bounds a case on this machine, in float32.

    The time in which this machine does the multiply-adds of the direct algorithms at the speed of
    large matrix products, and that in which it copies as many bytes as the weights have. Only
    Winograd's algorithm can be faster than the first.
    """
    own = entry["contenders"]["retint"]
    products = 2e-9 * own["multiply_adds"] / own["sgemm_gflops"]
    copies = 1e-9 * own["weight_bytes"] / own["copy_gigabytes_per_second"]
    row = [
        entry["case"], f"{2e-9 * own['multiply_adds']:.2f}", f"{own['weight_bytes'] / 1e6:.1f}",
        f"{products * 1e3:.2f} ms", f"{copies * 1e3:.2f} ms",
        f"{own['median_seconds'] * 1e3:.2f} ms", f"{products / own['median_seconds']:.2f}",
    ]
    peer = entry["contenders"].get(entry.get("float32_peer"))
    row.append(f"{peer['median_seconds'] / products:.2f}" if peer else "–")
    return row


def print_rooflines(entries):
    columns = ("case", "GFLOP", "MB of weights", "products", "copies", "retint",
               "products ÷ retint", "fastest float32 peer ÷ products")
    print("\n" + retint_tables.markdown(columns, (
        roofline(entry) for entry in entries if entry["mode"] == "inference")))


def kept(report):
    """What LAST says of a run: where it ran, and the ratios."""
    cases = {
        entry["case"]: {
            "milliseconds": round(entry["contenders"]["retint"]["median_seconds"] * 1e3, 3),
            **{name: round(entry[name], 3) for name in RATIOS if name in entry},
        }
        for entry in report["cases"]
    }
    return {"cpu": report["cpu"], "threads": report["threads"], "cases": cases}


def moved(now, before, bound=0.1):
    """A line for each ratio that differs by more than `bound` from that of an earlier run."""
    for case, entry in now["cases"].items():
        old = before["cases"].get(case, {})
        for name, meaning in RATIOS.items():
            if name in entry and name in old and abs(entry[name] / old[name] - 1) > bound:
                yield f"{case}: {meaning} {old[name]:.2f} → {entry[name]:.2f}"


def same_machine(one, other):
    return all(one[name] == other[name] for name in ("cpu", "threads"))


def compare_to_last(now):
    """Prints which ratios moved since the last table of this kind of processor."""
    tables = json.loads(LAST.read_text()) if LAST.exists() else []
    before = next((table for table in tables if same_machine(table, now)), None)
    if before is None:
        print(f"\nNo table of {now['cpu']} with {now['threads']} threads is kept to compare with")
        return
    lines = list(moved(now, before))
    print("\nRatios more than 10 % from those kept:" + ("" if lines else " none"))
    for text in lines:
        print(f"- {text}")


def keep(now):
    """Replaces the measured cases in LAST: a table for each kind of processor."""
    tables = json.loads(LAST.read_text()) if LAST.exists() else []
    for table in tables:
        if same_machine(table, now):
            table["cases"] |= now["cases"]
            break
    else:
        tables.append(now)
    LAST.write_text(json.dumps(tables, indent=1) + "\n")


def scaling(options):
    """Microseconds per pixel, by the side of the image."""
    result = {}
    for size in SCALING:
        report = retint_tool.report(
            "benchmark", "mobile-unet", "--size", size, "--threads", options.threads,
            tool=options.retint)
        result[size] = report["median_seconds"] / size**2 * 1e6
    return result


def thread_counts(most):
    """1, 2, 4, … up to the processors."""
    return [1 << power for power in range(most.bit_length()) if 1 << power <= most]


def threading(options):
    """How many times as fast networks are on some threads as on one, in interleaved rounds."""
    result = {}
    for network in THREADED:
        seconds = {threads: [] for threads in thread_counts(os.cpu_count())}
        for _ in range(options.rounds):
            for threads, times in seconds.items():
                report = retint_tool.report(
                    "benchmark", network, "--size", 256, "--threads", threads, tool=options.retint)
                times.append(report["median_seconds"])
        alone = statistics.median(seconds[1])
        result[network] = {
            threads: alone / statistics.median(times) for threads, times in seconds.items()}
    return result


def first_photo(options):
    """Seconds from starting the process to the first colorized photo of one megapixel."""
    from PIL import Image

    with tempfile.TemporaryDirectory() as folder:
        photo, weights, model = (f"{folder}/{name}" for name in ("in.png", "w.h5", "eccv16.h5"))
        Image.effect_noise((1152, 896), 60).convert("RGB").save(photo)
        subprocess.run(
            [sys.executable, "-m", "export_pytorch", "--module", "retint_reference.networks:eccv16",
             "--weights", weights, "--seed", "0"], check=True, capture_output=True)
        retint_tool.run(
            "import", weights, "--architecture", "eccv16", "-o", model, tool=options.retint)
        seconds = []
        for attempt in range(options.rounds):
            start = time.perf_counter()
            retint_tool.run("colorize", model, photo, "-o", f"{folder}/{attempt}",
                            tool=options.retint)
            seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def parse():
    parser = retint_options.parser(__doc__)
    parser.add_argument("--retint", default=retint_tool.RETINT, help="the executable")
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count()))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.5,
                        help="of each round of each framework")
    parser.add_argument("--only", default="", help="only cases whose name contains this")
    parser.add_argument("--peers", type=lambda text: text.split(","), default=list(PEERS))
    parser.add_argument("--json", metavar="FILE", help="write all results to this file")
    parser.add_argument("--keep", action="store_true",
                        help=f"keep the table in {LAST.name}, to which later runs are compared")
    return parser.parse_args()


def main():
    options = parse()
    if options.retint == retint_tool.RETINT and "RETINT" not in os.environ:
        retint_build.build("-c", "release", "--product", "retint")
    print(f"{retint_tool.cpu()}, {options.threads} threads; ratios are time ÷ retint's time\n")
    print(retint_tables.header(("case", "retint", "float32", "bfloat16", "retint, 16 bits", "any",
                                "peak memory", "of PyTorch's")))
    entries = []
    for case in CASES:
        if options.only in case.name:
            entries.append(summary(case, measure(options, case)))
            print(line(entries[-1]), flush=True)
    print_rooflines(entries)
    report = {"cpu": retint_tool.cpu(), "threads": options.threads, "cases": entries}
    if not options.only:
        report["scaling_microseconds_per_pixel"] = scaling(options)
        report["first_photo_seconds"] = first_photo(options)
        figures = ", ".join(
            f"{size}²: {value:.3f}" for size, value in
            report["scaling_microseconds_per_pixel"].items())
        print(f"\nmobile-unet, µs per pixel: {figures}")
        report["speedup_by_threads"] = threading(options)
        for network, speedups in report["speedup_by_threads"].items():
            figures = ", ".join(f"{n}: {value:.2f}" for n, value in speedups.items() if n > 1)
            print(f"{network}, times as fast as on one thread, by threads: {figures}")
        print("from start to first colorized megapixel, eccv16: "
              f"{report['first_photo_seconds']:.2f} s")
    table = kept(report)
    compare_to_last(table)
    if options.keep:
        keep(table)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(report, indent=2))
