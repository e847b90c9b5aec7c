"""The converters, their versions, and the kinds of files that each writes."""

import dataclasses

import retint_tool

SCRIPTS = retint_tool.ROOT / "Scripts/python"


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of file: the function of `retint_conversion.exporters` that writes it, its options."""

    name: str
    exporter: str
    options: tuple
    extension: str
    is_half: bool = False


def packages(exporter, prefix, *pairs):
    return tuple(
        Kind(f"{prefix}{target}-{precision}", exporter, (target, precision.upper()), "mlpackage",
             precision == "float16") for target, precision in pairs)


TRACED = packages(
    "core_ml", "", ("iOS15", "float32"), ("iOS17", "float32"), ("iOS18", "float16"),
    ("iOS16", "float32"), ("iOS15", "float16"), ("iOS18", "float32"))
EXPORTED = packages("core_ml_from_export", "export-", ("iOS17", "float32"), ("iOS18", "float16"))
# Sizes of inputs from 1 to 4 times those of the example.
DYNAMIC = packages("core_ml_of_any_size", "dynamic-", ("iOS15", "float32"))
TORCHSCRIPT = tuple(
    Kind(f"torchscript-{opset}", "onnx", (False, opset), "onnx") for opset in (17, 13, 20))
DYNAMO = tuple(Kind(f"dynamo-{opset}", "onnx", (True, opset), "onnx") for opset in (18, 20))


@dataclasses.dataclass(frozen=True)
class Producer:
    """A version of a converter, and the environment that has it."""

    name: str
    version: str
    environment: str
    kinds: tuple
    requirements: str | None = None

    @property
    def id(self):
        return f"{self.name}-{self.version}"

    @property
    def python(self):
        return retint_tool.ROOT / self.environment / "bin/python"

    def prepare(self):
        if self.requirements:
            retint_tool.make_environment(
                retint_tool.ROOT / self.environment, SCRIPTS / self.requirements)


PRODUCERS = (
    Producer("coremltools", "9.0", ".venv-networks", TRACED + EXPORTED + DYNAMIC,
             "requirements-networks.txt"),
    Producer("coremltools", "8.3.0", ".venv-coremltools8", TRACED + EXPORTED + DYNAMIC,
             "requirements-coremltools8.txt"),
    Producer("coremltools", "7.2", ".venv-coremltools7", TRACED[:3],
             "requirements-coremltools7.txt"),
    Producer("torch.onnx", "2.13.0", ".venv-networks", TORCHSCRIPT + DYNAMO,
             "requirements-networks.txt"),
    Producer("coreai-torch", "0.4.3", ".venv-coreai",
             (Kind("aimodel", "ai_model", (), "aimodel"),)),
)


def named(name):
    [producer] = [producer for producer in PRODUCERS if producer.id == name]
    return producer


def order(version):
    """A key that sorts versions."""
    return [int(number) for number in version.split(".")]
