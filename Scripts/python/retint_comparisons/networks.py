"""Converts a list of networks with coremltools and PyTorch's ONNX exporters, and judges the files.

    Scripts/compare networks FOLDER [--only NAME...] [--kinds KIND...] [--seed N]

The networks are those of torchvision, timm and segmentation-models-pytorch, and published forms of
restoration, generators, colorizers, audio, text and video, with seeded random weights. Each is
converted to all kinds of files; retint runs each file on seeded inputs, and compares it with
PyTorch. retint's own packages of the ONNX files (`retint export`) are judged in the same way, and
what it makes of coremltools' float32 packages: weights in 8 and 4 bits, ONNX and .aimodel files. A
float32 file passes with an error of at most 1e-4 of the output's range, a float16 one with a PSNR
of at least 55 dB, or of what PyTorch's own float16 has, less 1 dB; where that overflows, it
overflows as well. Quantized weights pass with the PSNR that coremltools reaches with the same type,
less 1 dB. The largest ratio is that of an error to what float32 or half precision loses in the
network itself, of which `retint verify` allows 16 and 8 times.

FOLDER keeps files and results: a run that is repeated only makes and judges what is missing, and
--again judges all again. Prints a table, the results of each kind, and what fails. The exit status
is 1 when fewer than 95 % of the files of a kind pass.
"""

import contextlib
import dataclasses
import json
import math
import pathlib
import shutil
import subprocess

import retint_options
import retint_tables
import retint_tool
from retint_conversion import judging

VENV = retint_tool.ROOT / ".venv-networks"
LEAST_SHARE = 0.95
# Seconds that making or judging one file may take.
TIME_LIMIT = 600


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of file, and what counts as equal to PyTorch."""

    name: str
    extension: str
    # The largest error as a share of the output's range, or the smallest PSNR in dB.
    largest: float | None = None
    psnr: float | None = None
    # The precision of a package that retint makes of the network's ONNX file.
    exported: str | None = None
    # The type of weights in what retint makes of coremltools' package.
    quantized: str | None = None
    # Whether retint writes coremltools' package in another format.
    translated: bool = False

    @property
    def file(self):
        return f"{self.name}.{self.extension}"

    @property
    def is_made_here(self):
        """Whether retint makes it, not the network's converter."""
        return bool(self.exported or self.quantized or self.translated)

    @property
    def rival(self):
        """The file in which coremltools quantized the weights."""
        return f"coreml-18-{self.quantized}.mlpackage"


KINDS = (
    Kind("coreml-15-float32", "mlpackage", largest=1e-4),
    Kind("coreml-15-float16", "mlpackage", psnr=55),
    Kind("coreml-18-float32", "mlpackage", largest=1e-4),
    Kind("coreml-18-float16", "mlpackage", psnr=55),
    Kind("onnx-torchscript", "onnx", largest=1e-4),
    Kind("onnx-dynamo", "onnx", largest=1e-4),
    Kind("retint-float32", "mlpackage", largest=1e-4, exported="float32"),
    Kind("retint-float16", "mlpackage", psnr=55, exported="float16"),
    Kind("retint-int8", "mlpackage", psnr=55, quantized="int8"),
    Kind("retint-int4", "mlpackage", psnr=55, quantized="int4"),
    Kind("retint-onnx", "onnx", largest=1e-4, translated=True),
    Kind("retint-aimodel", "aimodel", largest=1e-4, translated=True),
)
# Of which retint and coremltools quantize the weights, and which retint translates.
PACKAGE = "coreml-18-float32.mlpackage"
NOTHING_TO_COMPRESS = "no weight can be compressed"


def main():
    parser = retint_options.parser(__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", nargs="+", metavar="NAME", default=[])
    parser.add_argument("--kinds", nargs="+", choices=[kind.name for kind in KINDS],
                        default=[kind.name for kind in KINDS])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--make-only", action="store_true")
    parser.add_argument("--judge-only", action="store_true")
    parser.add_argument("--again", action="store_true")
    options = parser.parse_args()
    retint_tool.make_environment(
        VENV, retint_tool.ROOT / "Scripts/python/requirements-networks.txt")
    networks = [name for name in names() if not options.only or name in options.only]
    kinds = [kind for kind in KINDS if kind.name in options.kinds]
    results = {}
    for network in networks:
        folder = options.folder / network
        folder.mkdir(parents=True, exist_ok=True)
        if not options.judge_only:
            make(network, kinds, folder, options.seed)
        for kind in [] if options.make_only else kinds:
            results[network, kind.name] = result = judged(kind, folder, options.again)
            print(f"{network:34} {kind.name:18} {result['text']}", flush=True)
    return 0 if options.make_only else summary(networks, kinds, results)


def names(table="NETWORKS"):
    """The names of the networks of a table of _networks.py."""
    done = subprocess.run(
        [VENV / "bin/python", "-c", "from retint_comparisons import _networks\n"
         f"for network in _networks.{table}: print(network.name)"],
        check=True, capture_output=True, text=True)
    return done.stdout.split()


# Making files


def make(network, kinds, folder, seed):
    """Makes the files that are missing, in a process of its own, which may be ended."""
    def missing():
        names = ["reference.h5", "half.json"]
        names += [kind.file for kind in kinds if not kind.is_made_here]
        names += [kind.rival for kind in kinds if kind.quantized]
        return [folder / name for name in names if not (folder / name).exists()
                and not (folder / name).with_suffix(".error").exists()]

    while files := missing():
        command = [VENV / "bin/python", "-m", "retint_comparisons._convert", network, seed, *files]
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run([str(word) for word in command], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, timeout=TIME_LIMIT)
        # Whatever ended the process, ended it at the first file that is missing now.
        for path in missing()[:1]:
            path.with_suffix(".error").write_text("its converter crashed or took too long")


# Judging them


def judged(kind, folder, again):
    """What became of a file: passed, failed, refused, or not made by its converter."""
    path = folder / kind.file
    kept = folder / f"{kind.name}.json"
    if kind.is_made_here and (again or not path.exists()):
        if failure := export(kind, folder):
            return failure
    if not path.exists():
        reason = path.with_suffix(".error")
        text = reason.read_text() if reason.exists() else "it was not made"
        return {"state": "unmade", "text": f"not made: {text[:150]}"}
    if kept.exists() and not again:
        return json.loads(kept.read_text())
    result = judge(kind, path, folder / "reference.h5", other_psnr(kind, folder))
    kept.write_text(json.dumps(result))
    return result


def other_psnr(kind, folder):
    """The PSNR of coremltools' package with such weights, or of PyTorch's own float16."""
    if kind.quantized:
        return judging.verdict(folder / kind.rival, folder / "reference.h5", TIME_LIMIT).psnr
    half = folder / "half.json"
    return json.loads(half.read_text()) if half.exists() else math.inf


def export(kind, folder):
    """Has retint make a package; what became of it if there is none."""
    if kind.quantized:
        sources = [folder / PACKAGE]
        options = ["quantize", "--weights", kind.quantized]
    elif kind.translated:
        sources = [folder / PACKAGE]
        options = ["export"]
    else:
        sources = [folder / other.file for other in KINDS
                   if other.extension == "onnx" and not other.is_made_here]
        options = ["export", "--precision", kind.exported]
    source = next((path for path in sources if path.exists()), None)
    if source is None or (kind.quantized and not (folder / kind.rival).exists()):
        return {"state": "unmade", "text": "not made: a converter made no file for it"}
    # Where it is refused now, no older package is judged.
    remove(folder / kind.file)
    (folder / f"{kind.name}.json").unlink(missing_ok=True)
    command = [retint_tool.RETINT, *options, source, "-o", folder / kind.file]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT)
    if not done.returncode:
        return None
    state = "unmade" if NOTHING_TO_COMPRESS in done.stderr else "refused"
    return {"state": state, "text": f"{state}: {done.stderr.strip()[:300]}"}


def remove(path):
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def judge(kind, path, reference, other):
    found = judging.verdict(path, reference, TIME_LIMIT)
    if found.refusal:
        return {"state": "refused", "text": f"refused: {found.refusal}"}
    if kind.psnr and math.isnan(other) and found.psnr == -math.inf:
        return {"state": "passed", "text": "overflows, as PyTorch's float16 does"}
    passed = (found.share <= kind.largest if kind.largest
              else found.psnr >= min(kind.psnr, other - 1))
    text = found.text
    if kind.psnr and found.psnr < kind.psnr:
        rival = "coremltools" if kind.quantized else "PyTorch's float16"
        text += f" ({rival} {other:.1f} dB)"
    return {"state": "passed" if passed else "failed", "text": text if passed else f"WRONG {text}",
            "share": found.share, "psnr": found.psnr, "ratio": found.ratio}


def summary(networks, kinds, results):
    rows = [("kind", "made", "passed", "wrong", "refused", "share", "largest ratio")]
    succeeded = True
    for kind in kinds:
        states = [results[network, kind.name]["state"] for network in networks]
        made = len(states) - states.count("unmade")
        share = states.count("passed") / made if made else 1
        succeeded = succeeded and share >= LEAST_SHARE
        ratios = [results[network, kind.name].get("ratio") or 0 for network in networks]
        rows.append((kind.name, str(made), str(states.count("passed")),
                     str(states.count("failed")), str(states.count("refused")), f"{share:.1%}",
                     f"{max(ratios):.2f}"))
    print("\n" + "\n".join(retint_tables.aligned(rows)))
    return 0 if succeeded else 1
