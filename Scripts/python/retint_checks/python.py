"""Checks Python's module: against the command, with torch, and with what a caller may do wrong.

    Scripts/check python [--fuzz SECONDS] [--loads N]

The module is that of the sources, over the shared library of the release build
(swift build -c release --product RetintC). Needs Scripts/setup --python. The fuzzer calls every
function of the C interface with absurd values from several threads, for 5 seconds by default; a
model is loaded and released 500 times by default, which may not take memory.
"""

import contextlib
import ctypes
import doctest
import gc
import io
import json
import os
import pathlib
import pickle
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import retint_options
from retint_tool import RETINT, ROOT

MODULE = ROOT / "Sources/Retint/Python"
LIBRARY = ROOT / ".build/release/libRetintC.so"
CHECKPOINTS = ROOT / "Checkpoints"
SMALL = str(CHECKPOINTS / "lite-class-unet-small.h5")

os.environ.setdefault("RETINT_LIBRARY", str(LIBRARY))
os.environ.setdefault("RETINT_CHECKPOINTS", str(CHECKPOINTS))
sys.path.insert(0, str(MODULE))

import h5py  # noqa: E402
import numpy  # noqa: E402
import torch  # noqa: E402
import yaml  # noqa: E402
from PIL import Image  # noqa: E402

import retint  # noqa: E402
from retint import _arrays, _commands, _library, _models  # noqa: E402

FUZZ_SECONDS, LOADS = 5.0, 500
LEAST_LEAK = 5 << 20


class Net(torch.nn.Module):
    """A small network with layers to name."""

    def __init__(self):
        super().__init__()
        self.stem = torch.nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.body = torch.nn.Sequential(torch.nn.Conv2d(8, 8, 3, padding=1), torch.nn.ReLU(),
                                        torch.nn.Conv2d(8, 8, 1))
        self.head = torch.nn.Conv2d(8, 2, 1)

    def forward(self, x):
        x = self.stem(x)
        return self.head(x + self.body(x))


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="retint-python-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.photos = str(cls.folder / "photos")
        os.mkdir(cls.photos)
        for index in range(4):
            noise = numpy.random.default_rng(index).integers(0, 255, (6, 8, 3), "uint8")
            Image.fromarray(noise).resize((80, 60)).save(f"{cls.photos}/{index}.png")
        cls.package = str(retint.export(SMALL, cls.folder / "small.mlpackage", size=64))

    def lightness(self, side=64):
        return numpy.random.default_rng(0).uniform(0, 100, (1, 1, side, side)).astype("float32")

    def network(self, name="net.onnx"):
        """A module, an ONNX file of it, and an input."""
        torch.manual_seed(0)
        module, x = Net().eval(), torch.randn(1, 3, 32, 32)
        path = str(self.folder / name)
        torch.onnx.export(module, (x,), path, input_names=["x"], output_names=["y"],
                          dynamo=False)
        return module, path, x


# The ends of names of figures that may be whole numbers by chance.
MEASURED = ("bytes", "gflops", "second", "seconds", "share")


def without_measurements(value, name=""):
    """A value whose times, which are fractions, and memory are replaced by a word. Lists are sorted:
    some are by time."""
    if isinstance(value, dict):
        return {key: without_measurements(entry, key) for key, entry in value.items()}
    if isinstance(value, list):
        return sorted((without_measurements(entry) for entry in value), key=json.dumps)
    is_measured = isinstance(value, float) or name.endswith(MEASURED)
    return "measured" if is_measured else value


class Parity(Case):
    """The module returns what the command prints with --json."""

    def command(self, *arguments, code=0):
        result = subprocess.run([RETINT, *arguments, "--json"], capture_output=True, text=True)
        self.assertEqual(result.returncode, code, result.stderr)
        return json.loads(result.stdout)

    def assertSame(self, ours, command):
        self.assertEqual(*(json.dumps(dict(values), sort_keys=True) for values in (ours, command)))

    def assertSameButTimes(self, ours, command):
        """Figures that are measured differ; their names, types and number do not."""
        self.assertSame(*(without_measurements(values) for values in (ours, command)))

    def test_inspect(self):
        for path in (SMALL, self.package):
            self.assertSame(retint.inspect(path), self.command("inspect", path))

    def test_diff(self):
        large = str(CHECKPOINTS / "lite-class-unet.h5")
        for code, other in ((0, SMALL), (2, large)):
            self.assertSame(
                retint.diff(SMALL, other), self.command("diff", SMALL, other, code=code))

    def test_verify(self):
        self.assertSame(retint.verify(self.package, SMALL, size=64),
                        self.command("verify", self.package, "--against", SMALL, "--size", "64"))
        failing = retint.verify(self.package, SMALL, max_mean=0)
        self.assertSame(failing, self.command(
            "verify", self.package, "--against", SMALL, "--max-mean", "0", code=2))
        self.assertFalse(failing.passed)

    def test_replay(self):
        results = str(self.folder / "results.json")
        retint.verify(self.package, SMALL, size=64, save=results)
        again = retint.replay(results)
        self.assertTrue(again["same"])
        self.assertSame(again, self.command("replay", results))

    def test_evaluate(self):
        self.assertSame(
            retint.evaluate(SMALL, self.photos, size=64),
            self.command("evaluate", SMALL, "--data", self.photos, "--size", "64"))

    def test_compare(self):
        models = (SMALL, self.package)
        self.assertSameButTimes(
            retint.compare(*models, data=self.photos, size=64, rounds=1),
            self.command("compare", *models, "--data", self.photos, "--size", "64", "--rounds", "1"))

    def test_benchmark(self):
        for mode in ("inference", "training"):
            self.assertSameButTimes(
                retint.benchmark("pico-unet", mode=mode, size=64, runs=2, steps=True),
                self.command("benchmark", "pico-unet", "--mode", mode, "--size", "64", "--runs", "2",
                             "--steps"))

    def test_report(self):
        self.assertSameButTimes(
            retint.report(SMALL, size=64, runs=2),
            self.command("report", SMALL, "--size", "64", "--runs", "2"))

    def test_models(self):
        self.assertEqual(retint.models(), self.command("models")["models"])

    def test_dataset(self):
        for task, options in (("inspect", {}), ("pack", {"side": 32}), ("split", {"seed": 3})):
            outputs = [{}] if task == "inspect" else [
                {"output": str(self.folder / f"{task}{index}.h5")} for index in range(2)]
            ours = retint.dataset(task, self.photos, **options, **outputs[0])
            theirs = self.command("dataset", task, self.photos, *(
                f"--{name}={value}" for name, value in {**options, **outputs[-1]}.items()))
            text = json.dumps(theirs)
            if outputs[0]:
                text = text.replace(outputs[1]["output"], outputs[0]["output"])
            self.assertSame(ours, json.loads(text))

    def test_search(self):
        settings = {"architecture": "pico-unet", "batch": 2,
                    "data": {"train": self.photos, "validation": self.photos, "crop": 32}}
        path = self.folder / "search.yaml"
        path.write_text(json.dumps(settings))
        outputs = [str(self.folder / name) for name in ("ours", "theirs")]
        ours = retint.search(settings, outputs[0], [{"seed": 1}, {"seed": 2}], rounds=1, steps=2,
                             size=64)
        theirs = self.command(
            "search", "--config", str(path), "--candidate", "seed=1", "--candidate", "seed=2",
            "--output", outputs[1], "--rounds", "1", "--steps", "2", "--size", "64")
        self.assertSameButTimes(ours, json.loads(
            json.dumps(theirs).replace(outputs[1], outputs[0])))

    def test_each_command_is_compared(self):
        listed = subprocess.run([RETINT, "--experimental-dump-help"], capture_output=True, text=True)
        commands = json.loads(listed.stdout)["command"]["subcommands"]
        # Their functions return something of their own: paths, and the records of a training.
        others = {"train", "import", "export", "colorize"}
        for command in commands:
            options = json.dumps(command)
            if '"json"' in options:
                name = command["commandName"]
                self.assertTrue(hasattr(retint, name), name)
                self.assertTrue(name in others or hasattr(self, f"test_{name}"), name)

    def test_quantize(self):
        paths = [str(self.folder / name) for name in ("a.mlpackage", "b.mlpackage")]
        ours = retint.quantize(self.package, paths[0], weights="int8")
        theirs = self.command("quantize", self.package, "-o", paths[1], "--weights", "int8")
        text = json.dumps(theirs).replace(paths[1], paths[0])
        self.assertSame(ours, json.loads(text))
        self.assertEqual(len(retint.inspect(paths[0])), len(retint.inspect(paths[1])))

    def test_calibration_changes_the_codes(self):
        first, second = (self.folder / name for name in ("plain.mlpackage", "fitted.mlpackage"))
        retint.quantize(self.package, first, weights="int8")
        retint.calibrate(self.package, second, self.photos, weights="int8")
        weights = [next(path.rglob("weight.bin")).read_bytes() for path in (first, second)]
        self.assertNotEqual(*weights)

    def test_one_bad_photo_keeps_the_results(self):
        folder = self.folder / "mixed"
        folder.mkdir()
        (folder / "a.png").write_bytes(pathlib.Path(self.photos, "0.png").read_bytes())
        (folder / "b.png").write_bytes(b"no picture")
        messages = []
        with self.assertRaises(retint.RetintError) as caught:
            retint.evaluate(SMALL, folder, size=64, messages=messages.append)
        self.assertEqual(json.loads(caught.exception.output)["images"], 1)
        self.assertTrue(any("b.png" in message for message in messages), messages)

    def test_colorize_and_import(self):
        messages = []
        colored = retint.colorize(SMALL, self.photos, self.folder / "colored", size=64,
                                  messages=messages.append)
        self.assertEqual([path.name for path in colored], [f"{i}.png" for i in range(4)])
        self.assertTrue(messages)
        with retint.load(SMALL) as model:
            before = model.run(self.lightness())["ab"]
        state = {"first": torch.zeros(3)}
        with self.assertRaises(retint.UsageError):
            retint.import_weights(state, self.folder / "x.h5")
        with self.assertRaises(retint.InputError) as caught:
            retint.import_weights(state, self.folder / "x.h5", "mobile-unet")
        self.assertIn("mobile-unet", str(caught.exception))
        path = retint.import_weights(SMALL, self.folder / "again.h5", saturation=2)
        with retint.load(path) as model:
            self.assertFalse(numpy.array_equal(model.run(self.lightness())["ab"], before))

    def test_a_state_dict_becomes_a_checkpoint(self):
        with h5py.File(SMALL) as file:
            state = {name: torch.as_tensor(values[()]) for name, values in file.items()}
            options = {name.removeprefix("option."): value.decode()
                       for name, value in file.attrs.items() if name.startswith("option.")}
        path = retint.import_weights(state, self.folder / "state.h5", "lite-class-unet", **options)
        with retint.load(path) as ours, retint.load(SMALL) as theirs:
            x = self.lightness()
            self.assertTrue(numpy.array_equal(ours(x)["ab"], theirs(x)["ab"]))

    def test_training_yields_its_records(self):
        settings = {"architecture": "pico-unet", "data": {"train": self.photos, "crop": 32},
                    "batch": 2, "log_every": 1}
        records = list(retint.Trainer(settings, self.folder / "run", steps=3))
        self.assertEqual([r["step"] for r in records if r["kind"] == "train"], [1, 2, 3])
        lines = (self.folder / "run/metrics.jsonl").read_text().splitlines()
        self.assertEqual(records, [json.loads(line) for line in lines])
        trainer = retint.Trainer(settings, self.folder / "long", steps=100_000)
        for record in trainer:
            trainer.stop()
        self.assertTrue((trainer.output / "last.h5").exists())
        self.assertLess(record["step"], 50_000)
        for record in retint.Trainer(settings, trainer.output, resume=True, steps=100_000):
            break
        # The run is not in use any more, and goes on after what it has.
        last = record["step"]
        steps = [r["step"] for r in retint.Trainer(
            settings, trainer.output, resume=True, steps=last + 60) if r["kind"] == "train"]
        self.assertTrue(steps and steps == sorted(set(steps)) and steps[0] > 1, (last, steps))


class References(Case):
    def test_a_module_names_the_layer_that_diverges(self):
        module, path, x = self.network()
        report = retint.verify(path, module, x)
        self.assertTrue(report.passed, report)
        self.assertIn("stem", {layer.get("compared_with") for layer in report.layers})
        self.assertIs(report.raise_if_failed(), report)
        module.train()
        with torch.no_grad():
            module.body[2].weight.mul_(1.5)
        report = retint.verify(path, module, x)
        self.assertFalse(report.passed)
        self.assertEqual(report.first_divergence["compared_with"], "body.2")
        self.assertIn("body.2", str(report))
        self.assertIn("body.2", report._repr_html_())
        with self.assertRaises(AssertionError) as caught:
            report.raise_if_failed()
        self.assertIs(caught.exception.report, report)
        # The module is as it was.
        self.assertTrue(all(part.training and not part._forward_hooks for part in module.modules()))

    def test_functions_sessions_arrays_and_files(self):
        import onnxruntime
        module, path, x = self.network()
        with torch.no_grad():
            expected = module(x)
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        for reference in (lambda x: module(torch.as_tensor(x)), session, {"y": expected},
                          lambda x: {"y": module(torch.as_tensor(x)), "other": x}, path):
            self.assertTrue(retint.verify(path, reference, x).passed)
        self.assertTrue(retint.verify(path, module).passed)
        self.assertTrue(retint.verify(path, module, [x]).passed)
        wrong = retint.verify(path, {"y": expected + 1}, {"x": x})
        self.assertFalse(wrong.passed)
        self.assertTrue(retint.verify(
            path, lambda x: module(torch.as_tensor(x) / 2), x, reference_inputs=2 * x).passed)

    def test_recorded_references(self):
        import h5py
        module, path, x = self.network()
        recorded = str(self.folder / "recorded.h5")
        with torch.no_grad(), h5py.File(recorded, "w") as file:
            file["inputs/x"], file["outputs/y"] = x.numpy(), module(x).numpy()
        self.assertTrue(retint.verify(path, recorded).passed)
        with h5py.File(recorded, "a") as file:
            file["outputs/y"][0] += 1
        self.assertFalse(retint.verify(path, recorded).passed)

    def test_overlays_name_the_nodes_of_the_file(self):
        import onnx
        module, path, x = self.network()
        copy, data = str(self.folder / "copy.onnx"), str(self.folder / "nodes.json")
        retint.verify(path, module, x, overlay=[copy, data])
        annotated = onnx.load(copy)
        onnx.checker.check_model(annotated, full_check=True)
        original = onnx.load(path)
        self.assertEqual([node.output for node in annotated.graph.node],
                         [node.output for node in original.graph.node])
        figures = {node.name: {entry.key: entry.value for entry in node.metadata_props}
                   for node in annotated.graph.node}
        package = retint.export(
            retint.checkpoint_path("lite-class-unet-small"), str(self.folder / "small.mlpackage"),
            size=64)
        retint.verify(package, retint.checkpoint_path("lite-class-unet-small"), size=64,
                      overlay=str(self.folder / "small.onnx"))
        nodes = onnx.load(self.folder / "small.onnx").graph.node
        self.assertGreater(sum(any(entry.key == "retint.snr_db" for entry in node.metadata_props)
                               for node in nodes), 100)
        shown = json.loads(pathlib.Path(data).read_text())["results"]
        self.assertGreater(len(shown), 3)
        for name, result in shown.items():
            snr = float(figures[name]["retint.snr_db"])
            self.assertAlmostEqual(result["value"], min(snr, 200), places=3)

    def test_a_reference_may_change_its_inputs(self):
        module, path, x = self.network()
        kept = x.clone()
        in_place = torch.nn.Sequential(torch.nn.ReLU(inplace=True), module)
        expected = retint.verify(path, in_place, x)
        self.assertFalse(expected.passed)
        self.assertTrue(torch.equal(x, kept))
        self.assertTrue(retint.verify(path, in_place, x.abs(), reference_inputs=[x.abs()]).passed)

    def test_names_decide_which_input_is_which(self):
        class Difference(torch.nn.Module):
            def forward(self, first, second):
                return first - 2 * second

        a, b = torch.randn(2, 3), torch.randn(2, 3)
        path = str(self.folder / "two.onnx")
        torch.onnx.export(Difference(), (a, b), path, input_names=["/a", "/b"],
                          output_names=["/out"], dynamo=False)
        self.assertTrue(retint.verify(path, Difference(), {"/b": b, "/a": a}).passed)
        self.assertTrue(retint.verify(path, Difference(), [a, b]).passed)
        self.assertTrue(retint.verify(path, lambda *both: both[0] - 2 * both[1], [a, b]).passed)
        for wrong in ({"/a": a}, {"/a": a, "/b": b, "c": a}):
            with self.assertRaises(retint.UsageError):
                retint.verify(path, Difference(), wrong)
        with retint.load(path) as model:
            self.assertTrue(numpy.allclose(
                model.run({"/b": b, "/a": a})["/out"], (a - 2 * b).numpy()))

    def test_results_that_are_not_finite(self):
        module, path, x = self.network()
        with torch.no_grad():
            expected = module(x)
            module.head.weight.mul_(1e38)
            module.body[2].weight.mul_(1e38)
        broken = str(self.folder / "broken.onnx")
        torch.onnx.export(module, (x,), broken, input_names=["x"], output_names=["y"],
                          dynamo=False)
        report = retint.verify(broken, {"y": expected}, x)
        self.assertFalse(report.passed)
        self.assertIn("not finite", str(report))
        with self.assertRaises(retint.VerificationFailed) as caught:
            report.raise_if_failed()
        again = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual((str(again), again.report.passed), (str(caught.exception), False))

    def test_seeds_and_scripted_modules(self):
        module, path, x = self.network()
        for seed in (0, 3):
            self.assertTrue(retint.verify(path, module, seed=seed).passed)
        self.assertEqual(retint.verify(path, module)["reference"], "Net")
        self.assertTrue(retint.verify(path, torch.jit.trace(module, x), x).passed)
        self.assertTrue(retint.verify(path, torch.jit.script(module), x).passed)

    def test_what_is_no_reference(self):
        module, path, x = self.network()
        for reference in (5, None, object()):
            with self.assertRaises(TypeError):
                retint.verify(path, reference, x)
        with self.assertRaises(retint.UsageError):
            retint.verify(path, lambda x: [x, x], x)
        with self.assertRaises(retint.UsageError):
            retint.verify(path, module, [x, x])
        with self.assertRaises(retint.UsageError):
            retint.verify(path, module, x, nonsense=1)
        with self.assertRaises(ZeroDivisionError):
            retint.verify(path, lambda x: 1 / 0, x)


class Arrays(Case):
    def setUp(self):
        self.module, self.path, self.x = self.network()
        self.model = retint.load(self.path, form="file")
        self.addCleanup(self.model.close)
        self.expected = self.model.run(self.x)["y"]

    def test_layouts_and_types(self):
        x = self.x.numpy()
        halves = x.astype("float16")
        wide = numpy.zeros((1, 3, 32, 64), "float32")
        wide[..., ::2] = x
        for same in (numpy.asfortranarray(x), x.astype("float64"), wide[..., ::2],
                     x[..., ::-1].copy()[..., ::-1], self.x.to(memory_format=torch.channels_last),
                     self.x.requires_grad_(), torch.nn.Parameter(self.x)):
            self.assertTrue(numpy.array_equal(self.model.run(same)["y"], self.expected))
        self.assertTrue(numpy.array_equal(
            self.model.run(halves)["y"], self.model.run(halves.astype("float32"))["y"]))
        rough = self.x.detach().to(torch.bfloat16)
        self.assertTrue(numpy.array_equal(
            self.model.run(rough)["y"], self.model.run(rough.float())["y"]))
        for kind in ("int8", "uint8", "int16", "int32", "int64", "bool"):
            whole = (x > 0).astype(kind)
            self.assertTrue(numpy.array_equal(
                self.model.run(whole)["y"], self.model.run(whole.astype("float32"))["y"]))
        borrowed = _arrays.Borrowed({"x": numpy.float32(3.5)})
        gc.collect()
        self.assertEqual(ctypes.c_float.from_address(borrowed.tensors[0].data).value, 3.5)
        self.assertTrue(numpy.array_equal(self.model.run({"x": x})["y"], self.expected))
        self.assertTrue(numpy.array_equal(self.model.run(x=x)["y"], self.expected))
        self.assertTrue(numpy.array_equal(self.model.run(x.tolist())["y"], self.expected))

    def test_outputs_outlive_the_model(self):
        model = retint.load(self.path, form="file")
        outputs = [model.run(self.x)["y"] for _ in range(3)]
        model.close()
        del model
        gc.collect()
        for output in outputs:
            self.assertTrue(numpy.array_equal(output, self.expected))

    def raw(self):
        borrowed = _arrays.Borrowed({"x": self.x})
        call = _library.Call(_library.library().retint_model_run(
            self.model._number, borrowed.tensors, borrowed.count))
        call.values()
        tensor = _library.Tensor()
        _library.library().retint_output(call.number, 0, ctypes.byref(tensor))
        return _arrays.Array(call, tensor)

    def test_dlpack(self):
        array = self.raw()
        address = array._address
        shared = torch.from_dlpack(array)
        self.assertEqual(shared.data_ptr(), address)
        del array
        gc.collect()
        self.assertTrue(numpy.array_equal(shared.numpy(), self.expected))
        del shared
        unused = self.raw().__dlpack__()
        del unused
        gc.collect()
        self.assertEqual(_arrays._exported, {})
        array = self.raw()
        self.assertEqual(numpy.asarray(array).ctypes.data, array._address)
        self.assertEqual(array.tolist(), self.expected.tolist())
        self.assertTrue(numpy.array_equal(self.model.run(self.x)["y"], self.expected))

    def test_pictures(self):
        picture = Image.fromarray(numpy.arange(48, dtype="uint8").reshape(4, 4, 3))
        borrowed = _arrays.Borrowed({"p": picture})
        tensor = borrowed.tensors[0]
        self.assertEqual([tensor.shape[axis] for axis in range(4)], [1, 3, 4, 4])
        self.assertEqual(ctypes.string_at(tensor.data, 48), bytes(range(48)))
        picture = picture.resize((32, 32))
        planes = numpy.asarray(picture).transpose(2, 0, 1)[None].astype("float32")
        self.assertTrue(numpy.array_equal(
            self.model.run(picture)["y"], self.model.run(planes)["y"]))

    def test_what_is_no_input(self):
        for value, kind in ((None, TypeError), ("x", TypeError), (object(), TypeError),
                            (numpy.zeros((1, 3, 8, 8), "complex64"), retint.UsageError),
                            (numpy.zeros((0, 3)), retint.UsageError),
                            (numpy.zeros([1] * 9), retint.UsageError),
                            (numpy.zeros((1, 3, 8, 8), ">f4"), retint.UsageError),
                            (numpy.zeros((2, 2)), retint.RetintError)):
            with self.assertRaises(kind, msg=repr(value)):
                self.model.run(value)
        with self.assertRaises(retint.UsageError):
            self.model.run(self.x, self.x)
        with self.assertRaises(retint.RetintError):
            self.model.run(nothing=self.x)
        with self.assertRaises(retint.RetintError):
            self.model.run({})


class Models(Case):
    def test_what_a_model_says(self):
        with retint.load(self.package) as model:
            self.assertEqual((model.inputs, model.outputs), (["input"], ["ab"]))
            layers = model.layers
            self.assertGreater(len(layers), 50)
            self.assertEqual(set(layers[0]), {"name", "operation", "module", "shape"})
        for use in (lambda: model.run(self.lightness()), lambda: model.layers):
            with self.assertRaises(retint.UsageError):
                use()

    def test_errors(self):
        for path, kind, parts in (
            ("/nowhere.h5", retint.InputError, ("/nowhere.h5", "No such file")),
            (str(ROOT / "README.md"), retint.InputError, ("README.md",)),
        ):
            with self.assertRaises(kind) as caught:
                retint.load(path)
            for part in parts:
                self.assertIn(part, str(caught.exception))
            self.assertEqual(caught.exception.status, 65)
        self.assertEqual(caught.exception.file, str(ROOT / "README.md"))
        for options in ({"threads": 0}, {"threads": 10**6}, {"compute": "x"}, {"device": "tpu"},
                        {"style": "x"}, {"form": "x"}):
            with self.assertRaises(retint.RetintError, msg=str(options)):
                retint.load(SMALL, **options)
        with self.assertRaises(retint.RetintError):
            retint.load(retint.checkpoint_path("lite-class-unet-old"), style="vivid")
        for wrong in (5, None, [], b"x", {"a": 1}):
            with self.assertRaises(TypeError):
                retint.load(wrong)

    def test_names_stand_for_trained_colorizers(self):
        model = retint.load("lite-class-unet-small")
        self.assertEqual(model.path, retint.checkpoint_path("lite-class-unet-small"))
        described = retint.inspect("lite-class-unet-small")
        self.assertIn("lite-class-unet", json.dumps(described))
        with self.assertRaises(retint.InputError):
            retint.load("no-such-colorizer")

    def test_loads_take_no_memory(self):
        def load(times):
            for _ in range(times):
                model = retint.load(SMALL)
                del model
            gc.collect()
            pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
            return pages * resource.getpagesize()

        before = load(50)
        self.assertLess(load(LOADS) - before, LEAST_LEAK)


class Processes(Case):
    def test_threads_agree_with_themselves(self):
        x, left = self.lightness(), torch.randn(200, 200)
        with retint.load(self.package) as model:
            expected = model.run(x)["ab"].tobytes(), (left @ left).numpy().tobytes()
            wrong = []

            def work(number):
                own = retint.load(self.package) if number % 2 else model
                for _ in range(5):
                    found = own.run(x)["ab"].tobytes(), (left @ left).numpy().tobytes()
                    (numpy.ones((300, 300)) @ numpy.ones((300, 300))).sum()
                    if found != expected:
                        wrong.append(number)

            threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(wrong, [])

    def run_python(self, text, **options):
        return subprocess.Popen(
            [sys.executable, "-c", text], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, env={**os.environ, "PYTHONPATH": str(MODULE)}, **options)

    def test_interruption(self):
        listed = self.folder / "many.txt"
        listed.write_text(f"{self.photos}/0.png\n" * 3000)
        many, new = repr(str(listed)), repr(str(self.folder / "new.mlpackage"))
        small, package = repr(SMALL), repr(self.package)
        for call in (f"evaluate({small}, {many}, size=256)",
                     f"verify({package}, {small}, photos={many})",
                     f"verify({package}, {small}, photos={many}, arithmetics=16)",
                     f"diff({package}, {small}, photos={many})",
                     f"calibrate({package}, {new}, {many}, weights='int8')"):
            with self.subTest(call):
                self.interrupt(call)

    def interrupt(self, call):
        process = self.run_python(
            "import retint, sys\n"
            "print('begin', flush=True)\n"
            f"try: retint.{call}\n"
            "except KeyboardInterrupt: print('interrupted', flush=True)\n")
        self.assertEqual(process.stdout.readline(), "begin\n")
        time.sleep(1)
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        output, messages = process.communicate(timeout=60)
        self.assertEqual(output, "interrupted\n", messages)
        self.assertLess(time.monotonic() - start, 10)
        self.assertFalse((self.folder / "new.mlpackage").exists())

    def test_a_forked_process_is_refused(self):
        process = self.run_python(
            "import retint, os, sys, warnings\n"
            "warnings.simplefilter('ignore')\n"
            f"retint.inspect({SMALL!r})\n"
            "child = os.fork()\n"
            "if child == 0:\n"
            f"    try: retint.inspect({SMALL!r})\n"
            "    except retint.FailureError as error:\n"
            "        os._exit(7 if 'forked' in str(error) else 1)\n"
            "    os._exit(2)\n"
            "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n")
        _, messages = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 7, messages)

    def test_an_import_loads_nothing(self):
        process = self.run_python(
            "import retint, sys\n"
            "print(sorted({'numpy', 'torch', 'PIL', 'asyncio', 'tempfile'} & set(sys.modules)))\n"
            "print(retint._library.library.cache_info().currsize)\n")
        output, messages = process.communicate(timeout=60)
        self.assertEqual(output, "[]\n0\n", messages)


class Fuzz(unittest.TestCase):
    """Every function of the C interface, with values that no caller should pass."""

    NUMBERS = (0, 1, -1, 2, 3, 1 << 31, -(1 << 63), (1 << 63) - 1)
    TEXTS = (None, b"", b"[]", b"{}", b"null", b'["inspect"]', b'["--help"]', b'["verify", "x"]',
             b"[1, 2]", b"\xff\xfe", b'{"path": 5}', b'{"path": "/dev/null"}', b'["' + b"x" * 70000,
             b'{"path": "' + SMALL.encode() + b'"}', b'["inspect", "' + SMALL.encode() + b'"]',
             b'["inspect", "/dev/zero"]', b'["train", "--config", "/dev/null"]', b"[[]]" * 9)

    def test_absurd_values(self):
        functions = _library.library()
        end = time.monotonic() + FUZZ_SECONDS
        failures = []
        threads = [threading.Thread(target=self.attack, args=(functions, seed, end, failures))
                   for seed in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertIn("architecture", retint.inspect(SMALL))

    def attack(self, functions, seed, end, failures):
        generator, numbers = random.Random(seed), list(self.NUMBERS)
        try:
            while time.monotonic() < end:
                self.step(functions, generator, numbers)
        except BaseException as error:  # noqa: BLE001
            failures.append(repr(error))

    def step(self, functions, generator, numbers):
        def number():
            return generator.choice(numbers)

        kind = generator.randrange(10)
        if kind == 0:
            numbers.append(functions.retint_command(generator.choice(self.TEXTS)))
        elif kind == 1:
            numbers.append(functions.retint_model_open(generator.choice(self.TEXTS)))
        elif kind == 2:
            tensors, count, kept = self.tensors(generator)
            numbers.append(functions.retint_model_run(number(), tensors, count))
            del kept
        elif kind == 3:
            tensors, count, kept = self.tensors(generator)
            path = generator.choice((None, b"", b"/dev/null/x", b"/proc/x.h5", b"\xff"))
            numbers.append(functions.retint_write(path, tensors, count))
            del kept
        elif kind == 4:
            functions.retint_wait(number(), generator.choice((0, 1, -5, 30)))
        elif kind == 5:
            functions.retint_cancel(number())
        elif kind == 6:
            text = functions.retint_result(number())
            if text:
                json.loads(ctypes.string_at(text))
            functions.retint_free(text)
        elif kind == 7:
            text = functions.retint_messages(number())
            if text:
                json.loads(ctypes.string_at(text))
            functions.retint_free(text)
        elif kind == 8:
            tensor = _library.Tensor()
            functions.retint_output(number(), generator.choice((0, 1, -1, 1 << 30)),
                                    generator.choice((None, ctypes.byref(tensor))))
            numbers.append(functions.retint_model_layers(number()))
        else:
            functions.retint_release(number())
        # Models and outputs take memory until they are released.
        if len(numbers) > len(self.NUMBERS) + 12:
            for old in numbers[len(self.NUMBERS):]:
                functions.retint_release(old)
            del numbers[len(self.NUMBERS):]

    def tensors(self, generator):
        """Tensors whose memory is there, with shapes that may not be those of a tensor."""
        kept, count = [], generator.choice((0, 1, 2, -1, 1))
        tensors = (_library.Tensor * 2)()
        for tensor in tensors:
            data = (ctypes.c_float * 4096)()
            rank = generator.choice((0, 1, 2, 4, 8, 9, -1, 1 << 30))
            extents = [generator.choice((1, 2, 4, 1, 1, 0, -1, 1 << 62)) for _ in range(9)]
            if all(extent > 0 for extent in extents) and numpy.prod(
                    [float(e) for e in extents[:max(rank, 0)]]) > 4096:
                extents[0] = -1
            shape = (ctypes.c_int64 * 9)(*extents)
            tensor.name = generator.choice((None, b"", b"x", b"input", b"a/b", b"\xff", b"../x"))
            tensor.data = generator.choice((ctypes.addressof(data), ctypes.addressof(data), 0))
            tensor.type = generator.choice((0, 0, 4, 9, 10, -1, 1 << 30))
            tensor.rank = rank
            tensor.shape = generator.choice((shape, shape, None))
            if tensor.type in (1, 4):
                tensor.type = 0
            kept += [data, shape]
        return generator.choice((tensors, tensors, None)), count, kept


class Plugin(Case):
    """The fixture of the plugin for pytest."""

    TEST = """
import pytest, torch
import sys
sys.path.insert(0, {scripts!r})
from retint_checks.python import Net

@pytest.mark.retint(max_loss=3)
def test_conversion(verify_package):
    torch.manual_seed(0)
    module, x = Net().eval(), torch.randn(1, 3, 32, 32)
    with torch.no_grad():
        module.head.bias += {shift}
    report = verify_package({path!r}, module, x, max_relative={bound})
    assert report.passed
"""

    def run_pytest(self, path, shift, bound):
        file = self.folder / "test_conversion.py"
        file.write_text(self.TEST.format(
            scripts=str(ROOT / "Scripts/python"), path=path, shift=shift, bound=bound))
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "retint.pytest_plugin",
             f"--retint-results={self.folder / 'results'}", f"--junitxml={self.folder / 'j.xml'}",
             file], capture_output=True, text=True, cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(MODULE)})

    def test_it_compares_with_the_last_green_run(self):
        _, path, _ = self.network()
        result = self.run_pytest(path, 0, 0.1)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn('<property name="y.psnr_db"', (self.folder / "j.xml").read_text())
        result = self.run_pytest(path, 0.01, 0.1)
        self.assertIn("the PSNR fell from", result.stdout)
        result = self.run_pytest(path, 0.01, 0.001)
        self.assertIn("VerificationFailed", result.stdout)
        self.assertIn("y: max |error| / max |expected|", result.stdout)
        self.assertEqual(self.run_pytest(path, 0, 0.1).returncode, 0)


class Gate(Case):
    """The gate for pull requests, by itself and as the steps of the action."""

    def run_gate(self, *arguments, code=0):
        result = subprocess.run(
            [sys.executable, "-m", "retint.gate", *arguments], capture_output=True, text=True,
            cwd=self.folder, env={**os.environ, "PYTHONPATH": str(MODULE)})
        self.assertEqual(result.returncode, code, result.stderr)
        return result

    def test_it_reports_and_compares(self):
        self.run_gate("gate.mlpackage", "--export", SMALL, "--against", SMALL, "--output", "first",
                      "--", "--size", "256")
        first = self.folder / "first"
        names = {"report.json", "comment.md", "junit.xml", "results.sarif"}
        self.assertEqual({path.name for path in first.iterdir()}, names)
        self.assertIn("✅ `gate.mlpackage` passed", (first / "comment.md").read_text())
        report = json.loads((first / "report.json").read_text())
        report["outputs"]["ab"]["psnr_db"] += 10
        (first / "report.json").write_text(json.dumps(report))
        result = self.run_gate("gate.mlpackage", "--against", SMALL, "--baseline", "first",
                               "--output", "second", code=2)
        self.assertIn("❌ `gate.mlpackage` failed", result.stdout)
        self.assertIn("since the last release, by more than 3 dB", result.stdout)
        self.assertIn("(was ", result.stdout)
        self.run_gate("gate.mlpackage", "--against", SMALL, "--baseline", "first", "--max-loss",
                      "20", "--output", "third")
        result = self.run_gate(
            "gate.mlpackage", "--against", SMALL, "--", "--max-mean", "0", code=2)
        self.assertIn("\n- ab: ", result.stdout)
        result = self.run_gate("nothing.mlpackage", "--against", SMALL, code=65)
        self.assertIn("nothing.mlpackage", result.stderr)
        self.run_gate("gate.mlpackage", "--against", SMALL, "--", "--nonsense", code=64)

    def test_the_steps_of_the_action(self):
        action = yaml.safe_load((ROOT / "Scripts/gate/action.yml").read_text())
        step = action["runs"]["steps"][-1]
        inputs = {name: value.get("default", "") for name, value in action["inputs"].items()}
        inputs.update({"package": self.package, "against": SMALL, "output": "a gate",
                       "options": "--size 64 --seed 3"})
        pattern = r"\$\{\{ inputs\.([\w-]+) \}\}"
        environment = {name: re.sub(pattern, lambda found: inputs[found[1]], text)
                       for name, text in step["env"].items()}
        binaries = self.folder / "retint/bin"
        binaries.mkdir(parents=True)
        (binaries / "python").symlink_to(sys.executable)
        summary = self.folder / "summary.md"
        result = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", step["run"]], cwd=self.folder,
            capture_output=True, text=True, env={
                **os.environ, **environment, "PYTHONPATH": str(MODULE),
                "RUNNER_TEMP": str(self.folder), "GITHUB_STEP_SUMMARY": str(summary)})
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("passed", summary.read_text())
        self.assertTrue((self.folder / "a gate/results.sarif").exists())


class Documentation(Case):
    def test_examples(self):
        for module in (retint, _models, _commands):
            names = {name: getattr(retint, name) for name in retint.__all__}
            result = doctest.testmod(module, extraglobs=names, optionflags=doctest.ELLIPSIS)
            self.assertEqual(result.failed, 0, module.__name__)

    def test_the_article(self):
        text = (ROOT / "Sources/Retint/Retint/Retint.docc/Tasks/UseFromPython.md").read_text()
        blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        self.assertGreater(len(blocks), 3)
        before = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)
        names = {}
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            for block in blocks:
                exec(compile(block, "UseFromPython.md", "exec"), names)
        self.assertIn("net.mlpackage passed", printed.getvalue())
        self.assertTrue(printed.getvalue().endswith("True\n"), printed.getvalue())

    def test_each_name_is_described(self):
        for name in retint.__all__:
            value = getattr(retint, name)
            self.assertTrue(name == "executable" or value.__doc__, name)

    def test_types(self):
        result = subprocess.run([sys.executable, "-m", "mypy", "--strict", MODULE / "retint"],
                                capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


def main():
    global FUZZ_SECONDS, LOADS
    parser = retint_options.parser(__doc__)
    parser.add_argument("--fuzz", type=float, default=FUZZ_SECONDS)
    parser.add_argument("--loads", type=int, default=LOADS)
    options, names = parser.parse_known_args()
    FUZZ_SECONDS, LOADS = options.fuzz, options.loads
    if not LIBRARY.exists() and os.environ["RETINT_LIBRARY"] == str(LIBRARY):
        sys.exit("python: there is no library; run swift build -c release --product RetintC")
    # A shell's background processes ignore it, and so would Pythons that are started here.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    unittest.main(module=__name__, argv=[sys.argv[0], *names])
