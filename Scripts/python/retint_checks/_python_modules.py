"""Torch modules that become packages, and are compared with them."""

import json
import subprocess
import warnings

import numpy
import torch
from PIL import Image

from retint_checks._python_case import LIBRARY, SMALL, Case

# The path to the module is that of _python_case.
import retint


class Modules(Case):
    """Torch modules that become packages."""

    class Two(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.stem, self.norm = torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4)

        def forward(self, image, gain):
            result = self.norm(self.stem(image)) * gain
            return {"picture": result, "mean": result.mean((2, 3))}

    def test_a_module_becomes_a_package(self):
        module, _, x = self.network()
        for output in ("module.mlpackage", "module.onnx", "module.aimodel"):
            for inputs in (x, x.numpy().astype("float64"), [x], {"x": x}):
                path = retint.export(module, self.folder / output, inputs)
                self.assertEqual(path, self.folder / output)
                self.assertTrue(retint.verify(path, module, x).passed)
        half = retint.export(module, self.folder / "half.mlpackage", x, precision="float16")
        self.assertIn("fp16", json.dumps(retint.inspect(half)))

    def test_names_are_those_of_the_module(self):
        module = self.Two()
        inputs = {"gain": torch.rand(1, 1, 1, 1), "image": torch.rand(1, 3, 16, 16)}
        before = {name: value.clone() for name, value in module.state_dict().items()}
        path = retint.export(module, self.folder / "two.mlpackage", inputs)
        # Normalizations are exported as for inference, and the module is as it was.
        self.assertTrue(module.training and module.norm.training)
        for name, value in module.state_dict().items():
            self.assertTrue(torch.equal(value, before[name]), name)
        model = retint.load(path)
        self.assertEqual((model.inputs, model.outputs), (["image", "gain"], ["picture", "mean"]))
        self.assertTrue(retint.verify(path, module, inputs).passed)
        with torch.no_grad():
            module.stem.weight[0] *= 1.1
        # The convolution and its normalization are one.
        self.assertEqual(retint.verify(path, module, inputs).first_divergence["compared_with"],
                         "norm")

    class Folded(torch.nn.Module):
        """Normalizations that exports fold, activations of several operations, and an output with
        the name of a module."""

        def __init__(self):
            super().__init__()
            self.stem = torch.nn.Sequential(
                torch.nn.Conv2d(3, 8, 3, bias=False), torch.nn.BatchNorm2d(8),
                torch.nn.Hardswish(), torch.nn.Conv2d(8, 8, 3, bias=False),
                torch.nn.BatchNorm2d(8), torch.nn.Hardswish())
            self.picture = torch.nn.Conv2d(8, 3, 1)
            for part in (self.stem[1], self.stem[4]):
                part.running_mean.normal_(0, 0.3)
                part.running_var.uniform_(0.2, 3)

        def forward(self, image):
            return {"picture": torch.sigmoid(self.picture(self.stem(image)))}

    def test_layers_of_folded_normalizations(self):
        torch.manual_seed(1)
        module, x = self.Folded().eval(), torch.rand(1, 3, 32, 32)
        file = str(self.folder / "folded.onnx")
        torch.onnx.export(module, (x,), file, input_names=["image"], output_names=["picture"],
                          dynamo=False)
        for path in (retint.export(file, self.folder / "folded.mlpackage"),
                     retint.export(module, self.folder / "traced.mlpackage", x)):
            report = retint.verify(path, module, x, layer_min_snr=30)
            self.assertTrue(report.passed, report)
            self.assertIsNone(report.first_divergence)
        with torch.no_grad():
            module.picture.weight *= 2
        for path in ("folded.mlpackage", "traced.mlpackage"):
            report = retint.verify(self.folder / path, module, x)
            self.assertEqual(report.first_divergence["compared_with"], "picture")

    def test_normalizations_are_not_confused(self):
        """The first of two that resemble each other has no value in the package: it is
        constant."""
        torch.manual_seed(0)
        decoder = torch.nn.TransformerDecoderLayer(16, 2, 32, batch_first=True)
        query = torch.nn.Parameter(torch.randn(1, 8, 16))

        class Queries(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.decoder, self.query = decoder, query

            def forward(self, x):
                return self.decoder(self.query, x)

        module, x = Queries().eval(), torch.randn(1, 24, 16)
        path = str(self.folder / "queries.onnx")
        torch.onnx.export(module, (x,), path, dynamo=False)
        path = retint.export(path, self.folder / "queries.mlpackage")
        self.assertIsNone(retint.verify(path, module, x).first_divergence)
        with torch.no_grad():
            decoder.linear1.weight[3] *= 2
        report = retint.verify(path, module, x)
        self.assertRegex(report.first_divergence["compared_with"], "linear1|dropout$")

    def test_imported_weights_go_back(self):
        import h5py

        class Rows(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.stem = torch.nn.Conv2d(1, 8, 1)
                self.square, self.wide = torch.nn.Linear(8, 8), torch.nn.Linear(8, 12)
                self.place = torch.nn.Parameter(torch.randn(12))
                self.scale = torch.nn.Parameter(torch.randn(12, 12))
                self.head = torch.nn.Conv2d(12, 2, 1)

            def forward(self, x):
                x = self.stem(x / 100).permute(0, 2, 3, 1)
                x = self.wide(torch.relu(self.square(x))) + self.place.reshape(1, 1, 1, 12)
                x = x @ (self.scale * 0.5)
                return self.head(x.permute(0, 3, 1, 2))

        module, x = Rows().eval(), torch.rand(1, 1, 32, 32) * 100
        path, weights = str(self.folder / "rows.onnx"), str(self.folder / "weights.h5")
        torch.onnx.export(
            module, (x,), path, dynamo=False, do_constant_folding=False,
            training=torch.onnx.TrainingMode.PRESERVE)
        checkpoint = retint.import_weights(path, self.folder / "rows.h5")
        retint.export(checkpoint, weights)
        command = subprocess.run(
            [str(LIBRARY.with_name("retint")), "export", str(checkpoint), "-o", weights],
            capture_output=True, text=True, check=True)
        self.assertIn("not as in the module, which computes them from other weights: scale (Mul)",
                      command.stderr)
        with h5py.File(weights) as file:
            for name, tensor in module.state_dict().items():
                if name != "scale":
                    numpy.testing.assert_array_equal(file[name][()], tensor.numpy())

    def image_and_mask(self, **image):
        """A module of two tensors, an ONNX file of it, and a package whose first input is an
        image."""
        import coremltools

        class Masked(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = torch.nn.Conv2d(4, 3, 3, padding=1)

            def forward(self, image, mask):
                return self.conv(torch.cat([image, mask], 1))

        torch.manual_seed(0)
        module, inputs = Masked().eval(), (torch.rand(1, 3, 32, 32), torch.rand(1, 1, 32, 32))
        file, path = str(self.folder / "masked.onnx"), str(self.folder / "masked.mlpackage")
        torch.onnx.export(module, inputs, file, input_names=["image", "mask"],
                          output_names=["out"], dynamo=False)
        coremltools.convert(
            torch.jit.trace(module, inputs),
            inputs=[coremltools.ImageType("image", inputs[0].shape, scale=1 / 255, **image),
                    coremltools.TensorType("mask", inputs[1].shape)],
            outputs=[coremltools.TensorType("out")],
            compute_precision=coremltools.precision.FLOAT32,
            minimum_deployment_target=coremltools.target.iOS17).save(path)
        return module, file, path

    def test_an_image_beside_a_tensor(self):
        module, file, path = self.image_and_mask()
        with self.assertRaisesRegex(retint.InputError, "state the range"):
            retint.verify(path, file)
        self.assertTrue(retint.verify(path, file, range="0..1").passed)
        self.assertFalse(retint.verify(path, file, range="0..255").passed)
        with self.assertRaisesRegex(retint.UsageError, "say in which range"):
            retint.verify(path, module)
        self.assertTrue(retint.verify(path, module, range="0..1").passed)
        self.assertFalse(retint.verify(path, module, range="imagenet").passed)
        pixels = numpy.random.default_rng(0).integers(0, 256, (1, 3, 32, 32)).astype("float32")
        inputs = {"image": pixels, "mask": numpy.ones((1, 1, 32, 32), "float32")}
        self.assertTrue(retint.verify(path, module, inputs, range="0..1").passed)
        for wrong in ("0", "a..b"):
            with self.assertRaisesRegex(retint.UsageError, "two bounds"):
                retint.verify(path, module, range=wrong)
        # The mask is given as well as the photos.
        recorded = str(self.folder / "inputs.npz")
        numpy.savez(recorded, **inputs)
        report = retint.calibrate(path, self.folder / "calibrated.mlpackage", recorded,
                                  activations="int8")
        ranges = {value["name"]: value for value in report["activations"]}
        self.assertTrue(ranges)

    def test_the_order_of_colors_is_said(self):
        import coremltools

        module, file, path = self.image_and_mask(color_layout=coremltools.colorlayout.BGR)
        messages = []
        report = retint.verify(path, file, range="0..1", messages=messages.append)
        self.assertFalse(report.passed)
        self.assertIn("blue first (BGR)", " ".join(map(str, messages)))
        with self.assertWarnsRegex(UserWarning, "BGR"):
            self.assertTrue(retint.verify(path, module, range="0..1").passed)
        # Pillow's order is known.
        pixels = numpy.random.default_rng(0).integers(0, 256, (32, 32, 3), "uint8")
        mask = numpy.ones((1, 1, 32, 32), "float32")
        planes = pixels.transpose(2, 0, 1)[None, ::-1].astype("float32")
        inputs = {"image": Image.fromarray(pixels), "mask": mask}
        with retint.load(path) as model:
            found, = model.run(inputs).values()
            expected, = model.run({"image": planes, "mask": mask}).values()
        self.assertTrue(numpy.array_equal(found, expected))
        with torch.no_grad():
            own = module(torch.from_numpy(planes) / 255, torch.from_numpy(mask)).numpy()
        self.assertLess(numpy.abs(found - own).max(), 1e-4)
        with self.assertWarnsRegex(UserWarning, "BGR"):
            self.assertTrue(retint.verify(path, module, inputs, range="0..1").passed)

    def test_outputs_of_other_names_are_matched_in_order(self):
        class Three(torch.nn.Module):
            def forward(self, x):
                return x.mean(1), x * 2, x.amax((2, 3))

        x = torch.rand(1, 3, 8, 8)
        paths = [self.folder / f"{name}.onnx" for name in ("own", "other")]
        for path, names in zip(paths, (["a", "b", "c"], ["r", "s", "t"])):
            torch.onnx.export(Three(), (x,), path, output_names=names, dynamo=False)
        package = retint.export(paths[0], self.folder / "own.mlpackage")
        self.assertTrue(retint.verify(package, paths[1]).passed)
        torch.onnx.export(Three(), (x,), paths[1], output_names=["r", "b", "t"], dynamo=False)
        with self.assertRaisesRegex(retint.RetintError, "has outputs"):
            retint.verify(package, paths[1])

    def test_sizes_that_a_network_does_not_take(self):
        """Its package states a range, and cannot state multiples."""
        import coremltools

        class Levels(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.down = torch.nn.Conv2d(3, 4, 3, padding=1)
                self.up = torch.nn.Conv2d(8, 3, 3, padding=1)

            def forward(self, x):
                fine = self.down(x)
                coarse = torch.nn.functional.max_pool2d(fine, 4)
                wide = torch.nn.functional.interpolate(coarse, scale_factor=4.0)
                return self.up(torch.cat([fine, wide], 1))

        path, side = self.folder / "levels.mlpackage", coremltools.RangeDim(32, 512, 64)
        coremltools.convert(
            torch.jit.trace(Levels().eval(), torch.rand(1, 3, 64, 64)),
            inputs=[coremltools.TensorType("x", (1, 3, side, side))],
            minimum_deployment_target=coremltools.target.iOS16).save(str(path))
        with retint.load(path) as model:
            model.run(torch.rand(1, 3, 68, 96))
            with self.assertRaisesRegex(
                    retint.RetintError, "at 96 × 130; use a size that is a multiple of 4, such as "
                    "96 × 128"):
                model.run(torch.rand(1, 3, 130, 96))

    def test_compressed_packages_become_other_formats(self):
        """With other operations in the place of those that the format lacks."""
        import coremltools

        class Block(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.norm, self.wide = torch.nn.LayerNorm(64), torch.nn.Linear(64, 192)
                self.out = torch.nn.Linear(64, 64)

            def forward(self, x):
                q, k, v = self.wide(self.norm(x)).chunk(3, -1)
                return self.out(torch.nn.functional.scaled_dot_product_attention(q, k, v))

        torch.manual_seed(0)
        module, x = Block().eval(), torch.rand(1, 16, 64)
        for target, weights in (("iOS15", "int8"), ("iOS18", "int4"), ("iOS18", "palette4")):
            path = self.folder / f"block{target}.mlpackage"
            coremltools.convert(
                torch.jit.trace(module, x), inputs=[coremltools.TensorType("x", x.shape)],
                minimum_deployment_target=getattr(coremltools.target, target)).save(str(path))
            small = self.folder / "small.mlpackage"
            retint.quantize(path, small, weights=weights, threshold=0)
            for form in ("small.onnx", "small.aimodel"):
                messages = []
                retint.export(small, self.folder / form, messages=messages.append)
                # ONNX has layer normalizations.
                self.assertEqual(any("written with other operations" in str(message)
                                     for message in messages),
                                 (target, form) != ("iOS15", "small.onnx"))
                self.assertFalse(any("decompressed" in str(message) for message in messages))
                report = retint.verify(self.folder / form, small, min_psnr=60)
                self.assertTrue(report.passed, (target, weights, form))
                storage = {pair["first"]["storage"] for pair in retint.diff(
                    self.folder / form, small, no_run=True)["weights"]["pairs"]
                    if len(pair["first"]["shape"]) > 1}
                self.assertTrue(any("8" in kind or "4" in kind for kind in storage - {None})
                                or form == "small.onnx", (storage, form))
            whole = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
            self.assertLess((self.folder / "small.onnx").stat().st_size, 0.75 * whole)
            messages = []
            retint.quantize(path, self.folder / "direct.aimodel", weights=weights, threshold=0,
                            messages=messages.append)
            self.assertIn("written with other operations", " ".join(map(str, messages)))
            direct = retint.diff(self.folder / "direct.aimodel", self.folder / "small.aimodel")
            self.assertTrue(direct["is_equal"])

    class Colors(torch.nn.Module):
        """A colorizer of (L - 50) / 100."""

        def __init__(self):
            super().__init__()
            self.conv = torch.nn.Conv2d(1, 2, 3, padding=1)

        def forward(self, x):
            return torch.tanh(self.conv(x))

    def test_values_are_those_of_the_package(self):
        """Not lightness in 0…100, if the package takes it in another range."""
        import onnxruntime

        torch.manual_seed(0)
        module, x = self.Colors().eval(), torch.rand(1, 1, 64, 64) - 0.5
        file = str(self.folder / "colors.onnx")
        torch.onnx.export(module, (x,), file, dynamo=False)
        checkpoint = retint.import_weights(file, self.folder / "colors.h5",
                                           normalization="outside")
        # The file says nothing of its ranges; the checkpoint that was made of it does.
        self.assertTrue(retint.verify(checkpoint, file).passed)
        self.assertTrue(retint.verify(file, checkpoint).passed)
        for name in ("outside.mlpackage", "outside.onnx"):
            path = retint.export(checkpoint, self.folder / name, size=64, normalization="outside")
            self.assertTrue(retint.verify(path, module, x).passed)
            self.assertTrue(retint.verify(path, module).passed)
            self.assertFalse(retint.verify(path, lambda x: module(100 * x + 50), x).passed)
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        self.assertTrue(retint.verify(path, session, x).passed)

    def test_a_module_keeps_its_interface(self):
        module, x = self.Colors().eval(), torch.rand(1, 1, 48, 80)
        path = retint.export(module, self.folder / "own.mlpackage", x)
        inputs = retint.inspect(path)["inputs"]
        self.assertEqual((inputs[0]["name"], inputs[0]["shape"]), ("x", [1, 1, 48, 80]))
        self.assertTrue(retint.verify(path, module, x).passed)
        colorizer = retint.export(module, self.folder / "colorizer.mlpackage", x,
                                  interface="retint", normalization="inside")
        self.assertEqual(retint.load(colorizer).interface["inputs"][0]["role"], "lightness")

    def test_notes_are_warnings(self):
        module, x = self.Colors().eval(), torch.rand(1, 3, 32, 32)
        net = torch.nn.Conv2d(3, 3, 1).eval()
        output = self.folder / "noted.mlpackage"
        with self.assertWarnsRegex(UserWarning, "pixels as they are, 0…255"):
            retint.export(net, output, x, interface="original", input="image")
        messages = []
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            retint.export(net, output, x, interface="original", input="image",
                          messages=messages.append)
            retint.export(net, output, x, interface="original", input="image", range="0..1")
        self.assertIn("pixels as they are", " ".join(messages))

    def test_what_torch_exports_is_compared_with_the_module(self):
        class Pooled(torch.nn.Module):
            def __init__(self, divisor):
                super().__init__()
                self.convolution, self.divisor = torch.nn.Conv2d(3, 4, 3), divisor

            def forward(self, x):
                return torch.nn.functional.avg_pool2d(
                    self.convolution(x), 2, divisor_override=self.divisor)

        x, output = torch.rand(1, 3, 18, 18), self.folder / "pooled.mlpackage"
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            retint.export(Pooled(None), output, x)
        # Torch's exporter leaves the divisor out.
        with self.assertWarnsRegex(UserWarning, "output output has an SNR of 12.0 dB"):
            retint.export(Pooled(3), output, x)

    def test_faults_behind_the_last_module(self):
        module, path, x = self.network("behind.onnx")
        report = retint.verify(path, lambda x: module(torch.as_tensor(x)).flip(1), x)
        self.assertFalse(report.passed)

        class Behind(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.net = module

            def forward(self, x):
                return self.net(x).flip(1)

        text = str(retint.verify(path, Behind().eval(), x))
        self.assertIn("agree with channels 1, 0 of those expected", text)
        self.assertIn("all agree, up to net.head: what differs is computed after them", text)

    def test_parameters_are_trained_wherever_they_are(self):
        import h5py

        class Palette(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.stem = torch.nn.Conv2d(1, 8, 3, padding=1)
                self.place = torch.nn.Parameter(torch.randn(1, 8, 8, 8))
                self.centers = torch.nn.Parameter(torch.randn(2, 8))

            def forward(self, x):
                place = torch.nn.functional.interpolate(self.place, size=x.shape[2:])
                return torch.einsum("bkhw,ck->bchw", self.stem(x / 100) + place, self.centers)

        module, x = Palette().eval(), torch.rand(1, 1, 32, 32) * 100
        path, weights = str(self.folder / "palette.onnx"), self.folder / "palette-weights.h5"
        torch.onnx.export(
            module, (x,), path, dynamo=False, do_constant_folding=False,
            training=torch.onnx.TrainingMode.PRESERVE,
            dynamic_axes={"x": {2: "h", 3: "w"}}, input_names=["x"])
        checkpoint = retint.import_weights(path, self.folder / "palette.h5")
        retint.export(checkpoint, weights)
        with h5py.File(weights) as file:
            for name, tensor in module.state_dict().items():
                numpy.testing.assert_array_equal(file[name][()], tensor.numpy())

    def test_sizes_that_vary(self):
        module = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3, padding=1), torch.nn.ReLU()).eval()
        x = torch.rand(1, 3, 64, 64)
        path = retint.export(module, self.folder / "sizes.mlpackage", x, sizes="64,96")
        for side in (64, 96):
            self.assertTrue(retint.verify(path, module, torch.rand(1, 3, side, side)).passed)
        path = retint.export(module, self.folder / "range.mlpackage", x, min_size=32, max_size=128)
        self.assertTrue(retint.verify(path, module, torch.rand(1, 3, 32, 48)).passed)

    def test_the_order_of_colors_goes_along(self):
        import coremltools

        _, _, path = self.image_and_mask(color_layout=coremltools.colorlayout.BGR)
        file = retint.export(path, self.folder / "blue.onnx")
        self.assertTrue(retint.verify(file, path, range="0..255").passed)
        self.assertTrue(retint.verify(path, file, range="0..255").passed)

    def test_what_is_not_exported(self):
        module, two = self.network()[0], self.Two()
        output, gain = self.folder / "refused.mlpackage", torch.rand(1, 1, 1, 1)
        for model, inputs, message in (
                (module, None, "pass inputs"), (two, {"gain": gain}, "leave out image"),
                (two, {"x": gain}, "takes image, gain, not x"), (SMALL, gain, "not for a file"),
                (two, gain, "missing 1 required positional argument")):
            with self.assertRaisesRegex(retint.UsageError, message):
                retint.export(model, output, inputs)
        with self.assertRaisesRegex(retint.UsageError, "unknown extension"):
            retint.export(module, self.folder / "refused.txt", torch.rand(1, 3, 16, 16))
        with self.assertRaisesRegex(TypeError, "export\\(\\) writes a torch module"):
            retint.quantize(module, output)
        for model, message in ((module.state_dict(), "the module itself"),
                               (type(module), "the class Net")):
            with self.assertRaisesRegex(TypeError, message):
                retint.export(model, output, gain)
        self.assertFalse(output.exists())

    class Block(torch.nn.Module):
        """A block whose activation is called once as a module, and twice as a function."""

        def __init__(self):
            super().__init__()
            self.conv1 = torch.nn.Conv2d(8, 8, 3, padding=1, bias=False)
            self.bn1 = torch.nn.BatchNorm2d(8)
            self.conv2 = torch.nn.Conv2d(8, 8, 3, padding=1, bias=False)
            self.bn2 = torch.nn.BatchNorm2d(8)
            for part in (self.bn1, self.bn2):
                part.running_mean.normal_(0, 0.3)
                part.running_var.uniform_(0.5, 2)

        def forward(self, x):
            y = self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x)))))
            return torch.relu(x + y)

    def residual(self):
        torch.manual_seed(3)
        return torch.nn.Sequential(
            torch.nn.Conv2d(3, 8, 3, padding=1), self.Block(), self.Block(),
            torch.nn.Conv2d(8, 3, 1)).eval(), torch.rand(1, 3, 32, 32)

    def test_functions_between_modules_are_none_of_them(self):
        """A convolution whose normalization is folded into it has no value of its own."""
        faults = {"1.bn2.bias": "1.bn2", "2.conv1.weight": "2.bn1", "2.bn1.weight": "2.bn1",
                  "1.conv2.weight": "1.bn2"}
        for output in ("net.mlpackage", "net.aimodel", "net.onnx"):
            module, x = self.residual()
            path = retint.export(module, self.folder / output, x)
            self.assertTrue(retint.verify(path, module, x).passed)
            for fault, layer in faults.items():
                with self.subTest(output=output, fault=fault):
                    wrong, _ = self.residual()
                    with torch.no_grad():
                        wrong.state_dict()[fault].mul_(1.1).add_(0.01)
                    report = retint.verify(path, wrong, x)
                    self.assertFalse(report.passed)
                    self.assertEqual(report.first_divergence["compared_with"], layer)

    def test_attention_returns_its_values_first(self):
        class Attention(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.attention = torch.nn.MultiheadAttention(8, 2, batch_first=True)
                self.norm = torch.nn.LayerNorm(8)

            def forward(self, x):
                return self.norm(x + self.attention(x, x, x, need_weights=False)[0])

        torch.manual_seed(4)
        module, x = Attention().eval(), torch.rand(1, 12, 8)
        path = retint.export(module, self.folder / "attention.mlpackage", x)
        self.assertTrue(retint.verify(path, module, x).passed)
        with torch.no_grad():
            module.attention.out_proj.bias[0] += 0.5
        self.assertEqual(
            retint.verify(path, module, x).first_divergence["compared_with"], "attention")

    def test_half_precision_is_kept(self):
        module, x = self.residual()
        module, x = module.half(), x.half()
        path = retint.export(module, self.folder / "half.mlpackage", x)
        self.assertIn("fp16", json.dumps(retint.inspect(path)))
        self.assertTrue(retint.verify(path, module, x).passed)
        self.assertEqual(next(module.parameters()).dtype, torch.float16)
        whole = retint.export(module, self.folder / "whole.mlpackage", x, precision="float32")
        report = retint.verify(whole, module, x)
        self.assertTrue(report.passed, report)

    class Windows(torch.nn.Module):
        """Shapes that depend on the size: windows of attention, groups, reflected borders."""

        def __init__(self):
            super().__init__()
            self.stem = torch.nn.Conv2d(3, 8, 3, 2, 1, padding_mode="reflect")
            self.groups, self.norm = torch.nn.GroupNorm(2, 8), torch.nn.LayerNorm(8)
            self.linear, self.head = torch.nn.Linear(8, 8), torch.nn.Conv2d(8, 3, 1)

        def forward(self, x):
            x = self.groups(self.stem(x))
            n, c, h, w = x.shape
            y = x.permute(0, 2, 3, 1).reshape(n, h // 4, 4, w // 4, 4, c)
            y = self.norm(y.permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, c))
            y = self.linear((y @ y.transpose(1, 2)).softmax(-1) @ y)
            y = y.reshape(n, h // 4, w // 4, 4, 4, c).permute(0, 1, 3, 2, 4, 5)
            y = y.reshape(n, h, w, c).permute(0, 3, 1, 2)
            return torch.nn.functional.interpolate(self.head(x + y), scale_factor=2.0)

    def test_shapes_may_depend_on_the_size(self):
        torch.manual_seed(5)
        module = self.Windows().eval()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            path = retint.export(
                module, self.folder / "windows.mlpackage", torch.rand(1, 3, 64, 64), size=64,
                min_size=32, max_size=128)
        self.assertIn("multiples of 8", " ".join(str(note.message) for note in caught))
        model = retint.load(path)
        for height, width in ((64, 64), (32, 96), (120, 40)):
            x = torch.rand(1, 3, height, width)
            with torch.no_grad():
                expected = module(x).numpy()
            found, = model.run(x).values()
            self.assertEqual(found.shape, expected.shape)
            self.assertLess(numpy.abs(found - expected).max(), 1e-5)
        with self.assertRaises(retint.RetintError):
            model.run(torch.rand(1, 3, 36, 64))

    class Padded(torch.nn.Module):
        """Restoration networks pad to a multiple, and cut the result."""

        def forward(self, x):
            h, w = x.shape[2:]
            padded = torch.nn.functional.pad(x, (0, (4 - w % 4) % 4, 0, (4 - h % 4) % 4))
            return padded.mean((2, 3), keepdim=True) + x

    def test_padding_to_a_multiple_is_not_left_out(self):
        module, x = self.Padded().eval(), torch.rand(1, 3, 66, 62)
        path = self.folder / "padded.mlpackage"
        with self.assertWarnsRegex(UserWarning, "multiples of 4"):
            retint.export(module, path, x, min_size=32, max_size=128)
        self.assertTrue(retint.verify(path, module, torch.rand(1, 3, 68, 100)).passed)
        with self.assertRaisesRegex(retint.RetintError, "depends on the size"):
            retint.export(module, path, x, sizes="64,128,66x62")

    def test_a_pooled_value_is_spread_over_any_size(self):
        class Context(torch.nn.Module):
            """As in the pyramids of segmentation networks."""

            def __init__(self):
                super().__init__()
                self.squeeze = torch.nn.Conv2d(3, 4, 1)

            def forward(self, x):
                y = self.squeeze(x.mean((2, 3), keepdim=True))
                y = torch.nn.functional.interpolate(y, size=x.shape[2:], mode="bilinear")
                return torch.cat([x, y], 1)

        torch.manual_seed(9)
        module = Context().eval()
        path = retint.export(module, self.folder / "context.mlpackage",
                             torch.rand(1, 3, 64, 64), min_size=32, max_size=128)
        self.assertTrue(retint.verify(path, module, torch.rand(1, 3, 50, 97)).passed)

    class Repeated(torch.nn.Module):
        def forward(self, x):
            return x.repeat(1, 2, 1, 2)

    def test_six_axes_become_fewer(self):
        """Torch exports pooling to sizes that do not divide as sums of gathered elements."""
        torch.manual_seed(8)
        x = torch.rand(1, 3, 32, 32)
        for index, last in enumerate((torch.nn.AdaptiveAvgPool2d((5, 7)), self.Repeated())):
            module = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), last).eval()
            path = retint.export(module, self.folder / f"six{index}.mlpackage", x)
            self.assertTrue(retint.verify(path, module, x).passed)

    def test_traces_and_exported_programs_become_packages(self):
        module, x = self.residual()
        for index, form in enumerate((torch.jit.trace(module, x), torch.jit.script(module),
                                      torch.export.export(module, (x,)).module(),
                                      torch.export.export(module, (x,)))):
            path = retint.export(form, self.folder / f"form{index}.mlpackage", x)
            self.assertTrue(retint.verify(path, module, x).passed)

        program = torch.export.export(module, (x,))
        path = retint.export(program, self.folder / "program.mlpackage")
        self.assertTrue(retint.verify(path, program, x).passed)

    def test_the_other_exporter_is_named(self):
        class Pooled(torch.nn.Module):
            def forward(self, x):
                return torch.nn.functional.adaptive_max_pool2d(x, (5, 3))

        module, x = Pooled(), torch.rand(1, 3, 17, 13)
        path = self.folder / "pooled.mlpackage"
        with self.assertRaises(retint.UsageError) as caught:
            retint.export(module, path, x)
        text = str(caught.exception)
        self.assertIn("aten.adaptive_max_pool2d", text)
        self.assertNotIn("\n", text)
        self.assertNotIn("\x1b", text)
        self.assertIn("torch.jit.trace", caught.exception.remedy)
        self.assertFalse(path.exists())

    def test_a_file_may_keep_its_interface(self):
        """One channel goes in and two come out, as of a colorizer of lightness."""
        network = torch.nn.Conv2d(1, 2, 3, padding=1)
        path = retint.export(network, self.folder / "two.onnx", {"input": torch.rand(1, 1, 16, 16)})
        self.assertEqual(retint.load(path, form="file").inputs, ["input"])
        self.assertEqual(retint.load(path).inputs, ["lightness"])

    def test_sizes_are_numbers_or_texts(self):
        module, x = self.residual()
        for name, value in (("min_size", (32, 32)), ("sizes", [(32, 48)])):
            with self.assertRaisesRegex(TypeError, "such as 256 or"):
                retint.export(module, self.folder / "sizes.mlpackage", x, **{name: value})
