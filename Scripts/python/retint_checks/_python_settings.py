"""Settings of a quantization, as coremltools reads them."""

import contextlib
import io
import warnings

import torch

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


class Settings(Case):
    def test_coremltools_does_the_same_with_them(self):
        import coremltools
        from coremltools.optimize import coreml

        layers = [torch.nn.Conv2d(3, 32, 3), torch.nn.ReLU(), torch.nn.Conv2d(32, 32, 3),
                  torch.nn.ReLU(), torch.nn.Conv2d(32, 32, 3), torch.nn.ReLU(),
                  torch.nn.Conv2d(32, 32, 1), torch.nn.Conv2d(32, 64, 3),
                  torch.nn.Conv2d(64, 3, 1)]
        package = retint.export(
            torch.nn.Sequential(*layers).eval(), self.folder / "floats.mlpackage",
            torch.rand(1, 3, 32, 32), target="iOS18")
        (self.folder / "plan.yaml").write_text(PLAN)
        small = self.folder / "small.mlpackage"
        retint.quantize(package, small, config=self.folder / "plan.yaml",
                        save_config=self.folder / "settings")
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
