"""Measures retint against ONNX Runtime and OpenVINO on published networks.

    Scripts/benchmark networks [--only NAME...] [--threads N] [--rounds N] [--folder FOLDER]

The networks are those of `MEASURED` in retint_comparisons/_networks.py, with seeded random
weights, exported by PyTorch to ONNX for 256 × 256 pixels; all frameworks run the same file, in
float32, each in its own process, and rounds alternate between them. Ratios are the faster peer's
time divided by retint's: above 1, retint is faster.
"""

import os
import pathlib
import subprocess
import tempfile

import retint_options
import retint_tables
import retint_tool
from retint_comparisons.networks import VENV, names

from . import frameworks
from ._cases import Case

PEERS = ["onnxruntime", "openvino"]
COLUMNS = ("network", "retint", *PEERS, "ratio", "GFLOP", "GFLOP/s", "of products", "peak memory")


def onnx_file(name, folder):
    """The network's ONNX file, which is made unless it exists."""
    path = folder / name / "onnx-torchscript.onnx"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            [VENV / "bin/python", "-m", "retint_comparisons._convert", name, "1", path], check=True)
    return path


def row(name, entry):
    """A row: the times, and what share of the speed of large matrix products retint reaches."""
    figures = entry["contenders"]
    own = figures["retint"]
    work = 2e-9 * own["multiply_adds"]
    times = [f"{figures[peer]['median_seconds'] * 1e3:.2f} ms" if peer in figures else "–"
             for peer in ("retint", *PEERS)]
    speed = work / own["median_seconds"]
    return [name, *times, f"{entry['float32_ratio']:.2f}", f"{work:.2f}", f"{speed:.0f}",
            f"{speed / own['sgemm_gflops']:.0%}", f"{own['peak_bytes'] / 2**20:.0f} MiB"]


def main():
    parser = retint_options.parser(__doc__)
    parser.add_argument("--only", nargs="+", metavar="NAME", default=[])
    parser.add_argument("--retint", default=retint_tool.RETINT, help="the executable")
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count()))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.5,
                        help="of each round of each framework")
    parser.add_argument("--folder", type=pathlib.Path, help="keeps the ONNX files")
    options = parser.parse_args()
    options.peers = PEERS
    retint_tool.make_environment(
        VENV, retint_tool.ROOT / "Scripts/python/requirements-networks.txt")
    print(f"{retint_tool.cpu()}, {options.threads} threads, float32\n")
    print(retint_tables.header(COLUMNS))
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        known = names("MEASURED")
        unknown = set(options.only) - set(known)
        if unknown:
            parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(known)}")
        for name in known:
            if not options.only or name in options.only:
                file = onnx_file(name, folder)
                case = Case(str(file), "inference", 1, 256)
                entry = frameworks.summary(case, frameworks.measure(options, case))
                print(retint_tables.row(row(name, entry)), flush=True)
