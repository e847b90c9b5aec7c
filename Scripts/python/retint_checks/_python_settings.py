"""Settings of a quantization, as coremltools and coreai-opt read them."""

import contextlib
import io
import os
import shutil
import subprocess
import warnings

import numpy
import torch
from retint_tool import COREAI_PYTHON, ROOT

from retint_checks._python_case import Case

# The path to the module is that of _python_case.
import retint

PLAN = """
op_name_configs:
  _0_weight: {weights: int8, mode: linear, weight_threshold: 0}
  _2_weight: {weights: int4, granularity: per_block, block_size: 16, weight_threshold: 0}
  _4_weight: {weights: palette4, granularity: per_grouped_channel, group_size: 8}
  _6_weight: {weights: palette2, mode: uniform, weight_threshold: 0}
  _7_weight: {config_type: OpMagnitudePrunerConfig, target_sparsity: 0.5}
  _8_weight: {weights: float16, weight_threshold: 0}
"""
FUNCTIONS = ("prune_weights", "palettize_weights", "linear_quantize_weights")


def compressed(model):
    """The compressed weights: operations with the names, shapes and types of their parameters."""
    program = model.get_spec().mlProgram
    block, = program.functions["main"].block_specializations.values()
    found = []
    for operation in block.operations:
        if operation.type.startswith("constexpr_"):
            types = {name: bound.arguments[0].value.type.tensorType
                     for name, bound in operation.inputs.items()}
            found.append((operation.outputs[0].name, operation.type, sorted(
                (name, type.dataType, [size.constant.size for size in type.dimensions])
                for name, type in types.items())))
    return sorted(found)


def decompressed(package):
    """The weights of a package, by name."""
    import coremltools
    from coremltools.optimize import coreml

    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        model = coreml.decompress_weights(
            coremltools.models.MLModel(str(package), skip_model_load=True))
        found = coreml.get_weights_metadata(model, weight_threshold=0)
    return {name: value.val for name, value in found.items()}


def blocks(weight, size):
    """A weight's parts of so many elements along its axes; 0 for all of them."""
    for axis, count in enumerate(size):
        count = count or weight.shape[2 * axis]
        weight = weight.reshape(*weight.shape[:2 * axis], -1, count, *weight.shape[2 * axis + 1:])
    order = [*range(0, weight.ndim, 2), *range(1, weight.ndim, 2)]
    return weight.transpose(order).reshape(-1, numpy.prod(weight.shape[1::2]))


class Settings(Case):
    def quantized(self):
        """A module, its package and the same by the plan, with the settings beside it."""
        torch.manual_seed(0)
        layers = [torch.nn.Conv2d(3, 32, 3), torch.nn.ReLU(), torch.nn.Conv2d(32, 32, 3),
                  torch.nn.ReLU(), torch.nn.Conv2d(32, 32, 3), torch.nn.ReLU(),
                  torch.nn.Conv2d(32, 32, 1), torch.nn.Conv2d(32, 64, 3),
                  torch.nn.Conv2d(64, 3, 1)]
        with torch.no_grad():
            # Channels of unlike ranges, which the scales of other axes would not suit.
            for layer in layers[:3:2]:
                layer.weight *= torch.logspace(-2, 1, 32).reshape(-1, 1, 1, 1)
        module = torch.nn.Sequential(*layers).eval()
        package = retint.export(
            module, self.folder / "floats.mlpackage", torch.rand(1, 3, 32, 32), target="iOS18")
        (self.folder / "plan.yaml").write_text(PLAN)
        small = self.folder / "small.mlpackage"
        messages = []
        retint.quantize(package, small, config=self.folder / "plan.yaml",
                        save_config=self.folder / "settings", messages=messages.append)
        return module, package, small, messages

    def test_coremltools_does_the_same_with_them(self):
        import coremltools
        from coremltools.optimize import coreml

        _, package, small, _ = self.quantized()
        again = self.folder / "again.mlpackage"
        retint.quantize(package, again, config=self.folder / "settings/retint.yaml")
        self.assertTrue(retint.diff(small, again)["is_equal"])

        model = coremltools.models.MLModel(str(package), skip_model_load=True)
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            for name in FUNCTIONS:
                config = coreml.OptimizationConfig.from_yaml(
                    str(self.folder / f"settings/{name}.yaml"))
                model = getattr(coreml, name)(model, config)
        # float16 is not a compression of coremltools.
        own = [found for found in compressed(
            coremltools.models.MLModel(str(small), skip_model_load=True))
            if not found[0].startswith("_8")]
        self.assertEqual(len(own), 5)
        self.assertEqual([found[1:] for found in own],
                         [found[1:] for found in compressed(model)])

    def test_coreai_opt_does_the_same_with_them(self):
        if not shutil.which(COREAI_PYTHON):
            self.skipTest("needs Scripts/setup --coreai")
        module, _, small, messages = self.quantized()
        # Tables of equal steps, and halves of floats, it does not have.
        note, = (line for line in messages if "coreai-opt" in str(line))
        self.assertIn("_6_weight, _8_weight", str(note))
        torch.save((module, torch.rand(1, 3, 32, 32)), self.folder / "network.pt")
        subprocess.run(
            [COREAI_PYTHON, "-W", "ignore", "-m", "retint_checks._coreai_opt",
             self.folder / "network.pt", self.folder / "settings", self.folder / "theirs.npz"],
            check=True, env=os.environ | {"PYTHONPATH": str(ROOT / "Scripts/python")},
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        theirs = numpy.load(self.folder / "theirs.npz")
        ours = decompressed(small)
        # The levels of each part of a weight, and the part.
        cases = {"0": (256, (1, 0, 0, 0)), "2": (16, (1, 16, 0, 0)), "4": (16, (8, 0, 0, 0))}
        self.assertEqual(sorted(theirs), [*cases, "7"])
        for name, (levels, size) in cases.items():
            floats = blocks(module[int(name)].weight.detach().numpy(), size)
            parts = [blocks(weight, size) for weight in (theirs[name], ours[f"_{name}_weight"])]
            steps = numpy.ptp(floats, axis=1) / (levels - 1)
            for part in parts:
                counts = [len(numpy.unique(row)) for row in part]
                self.assertLessEqual(max(counts), levels, name)
                self.assertGreater(max(counts), min(levels, part.shape[1]) / 2, name)
            difference = numpy.abs(parts[0] - parts[1]).max(axis=1)
            self.assertLess((difference / steps).max(), 1.2, name)
        numpy.testing.assert_array_equal(theirs["7"], ours["_7_weight"])
