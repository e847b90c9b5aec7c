"""The module returns what the command prints with --json."""

import doctest
import json
import os
import pathlib
import subprocess

import h5py
import numpy
import torch

from retint_checks._python_case import CHECKPOINTS, SMALL, Case
from retint_tool import RETINT

# The path to the module is that of _python_case.
import retint

# The ends of names of figures that may be whole numbers by chance.
MEASURED = ("bytes", "gflops", "in_time", "second", "seconds", "share")


def without_measurements(value, name=""):
    """A value whose times, which are fractions, and memory are replaced by a word. Lists are
    sorted: some are by time. Starts with cold caches are left out: not each can be measured."""
    if isinstance(value, dict):
        return {key: without_measurements(entry, key) for key, entry in value.items()
                if not key.startswith("cold")}
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
            self.command(
                "compare", *models, "--data", self.photos, "--size", "64", "--rounds", "1"))

    def test_benchmark(self):
        for mode in ("inference", "training"):
            self.assertSameButTimes(
                retint.benchmark("pico-unet", mode=mode, size=64, runs=2, steps=True),
                self.command("benchmark", "pico-unet", "--mode", mode, "--size", "64", "--runs",
                             "2", "--steps"))

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

    def small_training(self):
        return {"architecture": "pico-unet", "batch": 2, "log_every": 1, "validate_every": 1,
                "data": {"train": self.photos, "validation": self.photos, "crop": 32}}

    def test_each_mapping_is_a_candidate(self):
        candidates = [{"seed": 1}, {"optimizer.learning_rate": 0.001},
                      {"seed": 2, "optimizer": {"learning_rate": numpy.float32(2 ** -9)}}]
        report = retint.search(self.small_training(), self.folder / "mappings", candidates,
                               rounds=1, steps=1, size=32)
        self.assertEqual({row["candidate"] for row in report["candidates"]}, {
            "seed=1", "optimizer.learning_rate=0.001",
            "seed=2 optimizer.learning_rate=0.001953125"})
        with self.assertRaisesRegex(retint.UsageError, r"candidates\[1\] is empty"):
            retint.search(self.small_training(), self.folder / "empty", [{"seed": 1}, {}])

    def test_each_command_is_compared(self):
        listed = subprocess.run([RETINT, "--experimental-dump-help"], capture_output=True)
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

    def test_one_photo_and_one_that_is_missing(self):
        photo = sorted(pathlib.Path(self.photos).iterdir())[0]
        colored = self.folder / "one.png"
        self.assertEqual(retint.colorize(SMALL, [photo], colored, size=64), [colored])
        with self.assertRaises(retint.RetintError) as caught:
            retint.colorize(SMALL, [photo, self.folder / "missing.png"], self.folder / "two",
                            size=64)
        self.assertIn("1 of 2 photos could not be colorized; the first: ", str(caught.exception))
        self.assertIn("missing.png", str(caught.exception))
        self.assertIn(photo.stem, caught.exception.output)

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

    def test_the_example_of_the_trainer(self):
        examples = doctest.DocTestParser().get_examples(retint.Trainer.__doc__)
        source = "".join(example.source for example in examples)
        self.assertIn("steps=1000", source)
        folder = self.folder / "example"
        folder.mkdir()
        (folder / "config.yaml").write_text(json.dumps(self.small_training()))
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder)
        # Its records are of both kinds.
        exec(source.replace("steps=1000", "steps=2"), {"Trainer": retint.Trainer})
        self.assertTrue((folder / "runs/first/last.h5").exists())

    def test_a_stop_before_the_first_step(self):
        trainer = retint.Trainer(self.small_training(), self.folder / "stopped", steps=2)
        trainer.stop()
        self.assertEqual(list(trainer), [])
        self.assertFalse(trainer.output.exists())
        # It was for that iteration alone.
        self.assertEqual([r["step"] for r in trainer if r["kind"] == "train"], [1, 2])

    def test_configurations_take_scalars_of_arrays(self):
        settings = {**self.small_training(), "steps": numpy.int64(2), "seed": torch.tensor(3),
                    "width": numpy.float32(0.5)}
        last = retint.train(settings, self.folder / "scalars", tensorboard=numpy.bool_(False))
        self.assertEqual(last["step"], 2)
        with self.assertRaisesRegex(TypeError, "^data.crop cannot be ndarray"):
            retint.train({"data": {"crop": numpy.zeros(2)}}, self.folder / "array")

    def test_errors_of_a_mapping_name_no_file(self):
        with self.assertRaises(retint.RetintError) as caught:
            retint.train({**self.small_training(), "widht": 1}, self.folder / "misspelled")
        error = caught.exception
        self.assertTrue(str(error).startswith("configuration: there is no key widht"), error)
        self.assertNotIn("/", error.file + error.place)

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
        # The run is no longer in use, and goes on after what it has. How far it came before it
        # noticed that nobody listens depends on the machine.
        lines = (trainer.output / "metrics.jsonl").read_text().splitlines()
        last = max(json.loads(line)["step"] for line in lines)
        steps = [r["step"] for r in retint.Trainer(
            settings, trainer.output, resume=True, steps=last + 3) if r["kind"] == "train"]
        self.assertEqual(steps, [last + 1, last + 2, last + 3])
