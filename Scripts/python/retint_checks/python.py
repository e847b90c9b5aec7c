"""Checks Python's module: against the command, with torch, and with what a caller may do wrong.

    Scripts/check python [--fuzz SECONDS] [--loads N]

The module is that of the sources, over the shared library of the release build
(swift build -c release --product RetintC). Needs Scripts/setup --python. The fuzzer calls every
function of the C interface with absurd values from several threads, for 5 seconds by default; a
model is loaded and released 500 times by default, which may not take memory.
"""

import contextlib
import copy
import ctypes
import doctest
import gc
import io
import json
import os
import pathlib
import pickle
import re
import resource
import signal
import subprocess
import sys
import threading
import time
import unittest

import numpy
import torch
from PIL import Image

import retint_options
from retint_checks import _python_fuzz
from retint_checks._python_case import LIBRARY, MODULE, SMALL, Case
from retint_checks._python_fuzz import Fuzz  # noqa: F401
from retint_checks._python_gate import Gate, Plugin  # noqa: F401
from retint_checks._python_modules import Modules  # noqa: F401
from retint_checks._python_parity import Parity  # noqa: F401
from retint_checks._python_settings import Settings  # noqa: F401
from retint_tool import ROOT

# The path to the module is that of _python_case.
import retint
from retint import _arrays, _commands, _library, _models

LOADS = 500
LEAST_LEAK = 5 << 20


class Shifted(torch.nn.Module):
    """A network and a function."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, x):
        return self.network(x) + 1


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

    def test_a_hundredth_of_a_filter_is_found(self):
        for seed in range(3):
            module, path, x = self.network(seed=seed)
            self.assertTrue(retint.verify(path, module, x).passed)
            with torch.no_grad():
                module.body[2].weight[0] *= 1.01
            report = retint.verify(path, module, x)
            self.assertIn("float32 itself loses", str(report.failures))

    def test_small_faults_are_where_errors_rise(self):
        """Layers have a wider tolerance than outputs, which float32's own loss bounds."""
        module, path, x = self.network()
        faulty = copy.deepcopy(module)
        with torch.no_grad():
            faulty.body[2].weight *= 1 + 2e-5
        report = retint.verify(path, faulty, x)
        self.assertFalse(report.passed)
        self.assertIsNone(report.first_divergence)
        self.assertRegex(str(report), "rises most at body.2: the SNR falls from 1[0-9]{2}[.0-9]+")
        with torch.no_grad():
            faulty.body[2].weight *= 2
        report = retint.verify(path, faulty, x)
        self.assertNotIn("rises most", str(report))
        # After the last layer.
        report = retint.verify(path, Shifted(module), x)
        self.assertIn("what differs is computed after them", str(report))

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
        half = retint.export(path, self.folder / "half.mlpackage", interface="original",
                             precision="float16", element_type="float16", target="iOS16")
        file = str(retint.export(half, self.folder / "half.onnx"))
        session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
        self.assertIn("float16", session.get_inputs()[0].type)
        self.assertTrue(retint.verify(half, session).passed)
        self.assertTrue(retint.verify(half, session, x).passed)
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
        with self.assertRaises(retint.UsageError) as caught:
            retint.verify(path, module.state_dict(), x)
        self.assertIn("instead of its weights", str(caught.exception))
        with self.assertRaisesRegex(TypeError, "an object of it"):
            retint.verify(path, type(module), x)
        with self.assertRaisesRegex(retint.InputError, "^reference: inputs/x: .* NaN"):
            retint.verify(path, module, torch.full_like(x, float("nan")))
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
        pixels = numpy.random.default_rng(0).integers(0, 256, (32, 32, 3), "uint8")
        picture = Image.fromarray(pixels)
        # As torchvision's to_tensor.
        planes = torch.from_numpy(pixels).permute(2, 0, 1)[None].float().div(255)
        expected = self.model.run(planes)["y"]
        self.assertTrue(numpy.array_equal(self.model.run(picture)["y"], expected))
        gray = picture.convert("L")
        found = self.model.run(gray)["y"]
        self.assertTrue(numpy.array_equal(found, self.model.run(gray.convert("RGB"))["y"]))
        with self.assertWarnsRegex(UserWarning, "transparency of the image for x"):
            self.assertTrue(numpy.array_equal(
                self.model.run(picture.convert("RGBA"))["y"], expected))
        with retint.load(SMALL) as colorizer, self.assertRaisesRegex(
                retint.UsageError, "takes lightness, not a photo"):
            colorizer.run(gray)

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
        package = self.folder / "accurate.mlpackage"
        retint.export(SMALL, package, size=64)
        with self.assertRaisesRegex(retint.RetintError, "no vivid colors"):
            retint.load(package, style="vivid")
        for wrong in (5, None, [], b"x", {"a": 1}):
            with self.assertRaises(TypeError):
                retint.load(wrong)

    def test_values_for_pixels_are_refused(self):
        path = self.folder / "image.mlpackage"
        retint.export(SMALL, path, input="image", size=64)
        x = numpy.random.default_rng(0).random((1, 1, 64, 64)).astype("float32")
        with self.assertRaises(retint.UsageError) as caught:
            retint.verify(path, lambda x: x, x)
        self.assertIn("pixels of 0 to 255", str(caught.exception))

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
    global LOADS
    parser = retint_options.parser(__doc__)
    parser.add_argument("--fuzz", type=float, default=_python_fuzz.seconds)
    parser.add_argument("--loads", type=int, default=LOADS)
    options, names = parser.parse_known_args()
    _python_fuzz.seconds, LOADS = options.fuzz, options.loads
    if not LIBRARY.exists() and os.environ["RETINT_LIBRARY"] == str(LIBRARY):
        sys.exit("python: there is no library; run swift build -c release --product RetintC")
    # A shell's background processes ignore it, and so would Pythons that are started here.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    unittest.main(module=__name__, argv=[sys.argv[0], *names])
