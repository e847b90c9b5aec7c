"""Quantizes a network's weights with retint and with coremltools, and compares the packages.

    Scripts/compare quantization --photos DIR [--calibrate DIR]
        [--architecture eccv16]

Weights are seeded random values unless --weights names a state dict. retint exports its own float32
package for iOS18; coremltools converts the PyTorch module to one. `retint verify` runs both
quantized packages on the photos, against the float32 network. The weight error is Σ(ŵ − w)²/Σw²
over all quantized weights, as coremltools decompresses them.

Prints a Markdown table; --json FILE keeps the results.
"""

import json
import logging
import pathlib
import subprocess
import sys
import tempfile
import warnings

import retint_options
import retint_tables
import retint_tool
from retint_reference import networks

ARCHITECTURES = ["eccv16", "siggraph17", "mobile-unet"]

# Name, retint's options, coremltools' compression (a function of its module).
SCHEMES = [
    ("int8 per-channel", "--weights int8", lambda cto: linear(cto, "int8", "per_channel")),
    ("int8 per-tensor", "--weights int8 --granularity per-tensor",
     lambda cto: linear(cto, "int8", "per_tensor")),
    ("int4 per-block 32", "--weights int4 --granularity per-block",
     lambda cto: linear(cto, "int4", "per_block", 32)),
    ("int4 per-channel", "--weights int4", lambda cto: linear(cto, "int4", "per_channel")),
    ("palette6", "--weights palette6", lambda cto: palette(cto, 6)),
    ("palette4", "--weights palette4", lambda cto: palette(cto, 4)),
    ("palette4 per-group 16", "--weights palette4 --granularity per-group --block-size 16",
     lambda cto: palette(cto, 4, 16)),
    ("palette2", "--weights palette2", lambda cto: palette(cto, 2)),
    ("sparse 0.5", "--sparsity 0.5", lambda cto: pruned(cto, 0.5)),
]


def linear(cto, dtype, granularity, block=32):
    return cto.linear_quantize_weights, cto.OpLinearQuantizerConfig(
        mode="linear_symmetric", dtype=dtype, granularity=granularity, block_size=block)


def palette(cto, bits, group=None):
    if group is None:
        return cto.palettize_weights, cto.OpPalettizerConfig(mode="kmeans", nbits=bits)
    return cto.palettize_weights, cto.OpPalettizerConfig(
        mode="kmeans", nbits=bits, granularity="per_grouped_channel", group_size=group)


def pruned(cto, sparsity):
    return cto.prune_weights, cto.OpMagnitudePrunerConfig(target_sparsity=sparsity)


class Comparison:
    def __init__(self, options, directory):
        self.options = options
        self.directory = pathlib.Path(directory)
        self.checkpoint = self.directory / "network.h5"
        self.rows = []

    def retint(self, *arguments, status=(0,)):
        return retint_tool.run(*arguments, tool=self.options.retint, status=status)

    def prepare(self):
        """Makes the checkpoint and each tool's float32 package."""
        weights = self.directory / "weights.h5"
        subprocess.run(
            [sys.executable, "-m", "export_pytorch", "--module",
             f"retint_reference.networks:{self.options.architecture.replace('-', '_')}",
             "--weights", weights, "--input", "input=1x1x256x256:0,100",
             *(["--state-dict", self.options.weights] if self.options.weights
               else ["--randomize", "0"])], check=True)
        self.retint("import", weights, "--architecture", self.options.architecture,
                    "-o", self.checkpoint)
        mine = self.directory / "retint.mlpackage"
        self.retint("export", self.checkpoint, "-o", mine, "--target", "iOS18")
        return mine, self.convert(weights)

    def convert(self, weights):
        import coremltools as ct
        import h5py
        import torch
        network = networks.factory(self.options.architecture)()
        with h5py.File(weights) as file:
            network.load_state_dict({key: torch.tensor(file[key][()]) for key in file})
        network.eval()
        example = torch.full((1, 1, 256, 256), 50.0)
        return ct.convert(
            torch.jit.trace(network, example), minimum_deployment_target=ct.target.iOS18,
            inputs=[ct.TensorType("input", (1, 1, 256, 256))], outputs=[ct.TensorType("ab")],
            compute_precision=ct.precision.FLOAT32, compute_units=ct.ComputeUnit.CPU_ONLY,
            skip_model_load=True)

    def weight_error(self, original, package):
        import coremltools as ct
        import coremltools.optimize.coreml as cto
        import numpy as np
        compressed = ct.models.MLModel(str(package), skip_model_load=True)
        values = [
            [entry.val.astype(np.float64) for entry in
             cto.get_weights_metadata(model, weight_threshold=2048).values()]
            for model in (original, cto.decompress_weights(compressed))]
        assert [x.shape for x in values[0]] == [x.shape for x in values[1]]
        pairs = [(w, v) for w, v in zip(*values) if not np.array_equal(w, v)]
        return (sum(((v - w) ** 2).sum() for w, v in pairs)
                / sum((w ** 2).sum() for w, _ in pairs))

    def measure(self, scheme, tool, package, original):
        report = json.loads(self.retint(
            "verify", package, "--against", self.checkpoint, "--json",
            *[word for photo in self.photos() for word in ("--photo", photo)], status=(0, 2)))
        weights = package / "Data/com.apple.CoreML/weights/weight.bin"
        inspected = json.loads(self.retint("inspect", package, "--json"))
        output = next(iter(report["outputs"].values()))
        self.rows.append({
            "scheme": scheme, "tool": tool, "weight_bytes": weights.stat().st_size,
            "package_bytes": sum(f.stat().st_size for f in package.rglob("*") if f.is_file()),
            "operations": operation_count(inspected), "psnr_db": output["psnr_db"],
            "delta_e2000": report["delta_e2000_mean"],
            "weight_error": self.weight_error(original, package),
        })
        print(json.dumps(self.rows[-1]), file=sys.stderr, flush=True)

    def photos(self):
        found = sorted(
            path for path in pathlib.Path(self.options.photos).rglob("*")
            if path.suffix.lower() in (".jpg", ".jpeg", ".png", ".webp"))
        count = min(self.options.limit, len(found))
        return [found[index * len(found) // count] for index in range(count)]

    def run(self):
        import coremltools as ct
        import coremltools.optimize.coreml as cto
        mine, theirs = self.prepare()
        loaded = ct.models.MLModel(str(mine), skip_model_load=True)
        for name, options, configuration in SCHEMES:
            if self.options.only and name not in self.options.only:
                continue
            path = self.directory / "small.mlpackage"
            self.retint("quantize", mine, "-o", path, *options.split())
            self.measure(name, "retint", path, loaded)
            if self.options.calibrate:
                self.retint("quantize", mine, "-o", path, *options.split(), "--calibrate",
                            self.options.calibrate, "--limit", self.options.calibration_limit)
                self.measure(name, "retint --calibrate", path, loaded)
            compress, config = configuration(cto)
            other = self.directory / "theirs.mlpackage"
            compress(theirs, cto.OptimizationConfig(global_config=config)).save(str(other))
            self.measure(name, "coremltools", other, theirs)

    def table(self):
        return retint_tables.markdown(
            ("weights", "tool", "package", "operations", "weight error", "PSNR dB", "ΔE2000"),
            map(cells, self.rows))


def cells(row):
    """The cells of a result in the table."""
    psnr = "∞" if row["psnr_db"] is None else f"{row['psnr_db']:.2f}"
    return (row["scheme"], row["tool"], f"{row['package_bytes'] / 1e6:.2f} MB", row["operations"],
            f"{row['weight_error']:.3e}", psnr, f"{row['delta_e2000']:.3f}")


def operation_count(inspected):
    """The number of operations, without constants and their decompression."""
    counts = inspected["operations"]
    return sum(count for kind, count in counts.items()
               if kind != "const" and not kind.startswith("constexpr_"))


def main():
    parser = retint_options.parser(__doc__)
    parser.add_argument("--photos", required=True, help="directory of photos to compare on")
    parser.add_argument("--calibrate", help="directory of photos for retint quantize --calibrate")
    parser.add_argument("--architecture", default="eccv16", choices=ARCHITECTURES)
    parser.add_argument("--weights", help="a PyTorch state dict (default: seeded random weights)")
    parser.add_argument("--limit", type=int, default=4, help="number of photos to compare on")
    parser.add_argument("--calibration-limit", type=int, default=16)
    parser.add_argument("--only", action="append", help="only this scheme; may be repeated")
    parser.add_argument("--retint", default=retint_tool.RETINT)
    parser.add_argument("--json", help="write all results to this file")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as directory:
        comparison = Comparison(options, directory)
        comparison.run()
    print(comparison.table())
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(comparison.rows, indent=1) + "\n")
