"""Checks the list of photos, and the rules by which it is made and used.

    Scripts/check photos

It needs no photos. The rules are those in Datasets/README.md. Whether packages state what the list
says is checked by `Scripts/datasets --check-licenses`, and what is held out by
Scripts/tools/hold_out.py.
"""

import contextlib
import csv
import importlib.machinery
import importlib.util
import io
import pathlib
import struct
import sys
import tempfile
import unittest
import unittest.mock
import zlib

import numpy
from PIL import Image

from retint_comparisons import decoding
from retint_photos import card, debian, kin, open_photos, statements
from retint_tool import ROOT

COPYRIGHT = """Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/

Files: *
Copyright: 2020 A Programmer
License: GPL-3+

Files: data/photos/*
Copyright: 2021 A Photographer
License: CC-BY-SA 4.0
Comment: from https://example.org/photos.

Files: data/photos/cat.jpg
 tests/*
Copyright: none
License: CC0

License: GPL-3+
 The license.
"""

README = """Copyright: B
Source: https://commons.wikimedia.org/wiki/File:Cow.jpg
License: Public Domain
Files:
cow.webp
usa/bison.webp
"""


class Package:
    """What statements need of a debian.Package."""

    def __init__(self, texts, files=(), name="p"):
        self.texts, self.files, self.name = texts, list(files), name

    def copyright(self):
        return self.texts.get("copyright")

    def text(self, path):
        return self.texts.get(path)

    def bytes(self, path):
        return b"\xff\xd8 License: CC0 \xff\xd9"

    def path_within(self, path):
        return path


def row(stated, path="usr/share/p/photos/dog.jpg"):
    return {"path": path, "stated": stated}


class Statements(unittest.TestCase):
    package = Package({
        "copyright": COPYRIGHT, "usr/share/p/animals/README": README,
        "usr/share/p/AUTHORS": "Cliff\n  by C, `CC0`\nSheep by D, GPLv3"}, ["usr/bin/p"])

    def test_patterns_name_installed_files(self):
        for pattern, path, expected in [
                ("photos/*", "usr/share/p/photos/a.jpg", 2), ("photos", "usr/photos/a.jpg", 2),
                ("photos/*", "usr/share/p/photos/x/a.jpg", 2),
                ("data/photos/*", "p/photos/a.jpg", 1),
                ("src/a.jpg", "usr/doc/a.jpg", 1), ("src/*", "usr/doc/a.jpg", 0),
                ("photos/*.png", "photos/a.jpg", 0), ("hotos/*", "photos/a.jpg", 0)]:
            self.assertEqual(statements.covers(pattern, path), expected, (pattern, path))

    def test_the_last_paragraph_counts(self):
        for path, license in [
                ("usr/p/data/photos/cat.jpg", "CC0-1.0"), ("p/photos/cat.jpg", "CC0-1.0"),
                ("p/photos/dog.jpg", "CC-BY-SA-4.0"), ("p/icon.png", "GPL-3+")]:
            self.assertEqual(statements.last_paragraph(COPYRIGHT, path)[0].license, license, path)

    def test_statements_give_license_and_source(self):
        for stated, path, expected in [
                ("copyright: Files: data/photos/*", "p/photos/dog.jpg",
                 ("CC-BY-SA-4.0", "https://example.org/photos")),
                ("README: Files: cow.webp", "usr/share/p/animals/cow.webp",
                 ("public-domain", "https://commons.wikimedia.org/wiki/File:Cow.jpg")),
                ("README: Files: usa/bison.webp", "usr/share/p/animals/usa/bison.webp",
                 ("public-domain", "https://commons.wikimedia.org/wiki/File:Cow.jpg")),
                ("usr/share/p/AUTHORS: Cliff … CC0", "p/cliff.jpg", ("CC0-1.0", "-")),
                ("usr/share/p/AUTHORS: Cliff + copyright: Files: *", "p/cliff.jpg",
                 ("GPL-3+", "-")),
                ("metadata: License: CC0", "p/a.jpg", ("CC0-1.0", "-"))]:
            self.assertEqual(statements.stated(row(stated, path), self.package), expected, stated)

    def test_what_is_not_stated_is_refused(self):
        for stated, path in [
                ("copyright: Files: data/photos/*", "p/photos/cat.jpg"),
                ("copyright: Files: *", "p/icon.png"), ("README: Files: pig.webp", "p/pig.webp"),
                ("usr/share/p/AUTHORS: CC0 … Cliff", "p/cliff.jpg"), ("metadata: GPL", "p/a.jpg")]:
            with self.assertRaises(statements.Unstated, msg=stated):
                statements.stated(row(stated, path), self.package)

    def test_a_paragraph_about_programs_is_not_about_pictures(self):
        pictures = ["usr/share/doc/p/copyright"] + [f"s/{i}.png" for i in range(9)]
        for pattern, files, expected in [
                ("*", pictures, True), ("*", pictures + ["usr/bin/p"], False),
                ("s/*", pictures + ["s/a.py"], True),
                ("s/*", pictures + ["s/a.py", "s/b.c"], False),
                ("s/0.png", pictures + ["s/a.py", "s/b.c"], True)]:
            found = statements.applies(pattern, Package({}, files))
            self.assertEqual(found, expected, (pattern, files))

    def test_licenses_are_spelled_in_many_ways(self):
        for words, expected in [
                ("licensed CC-BY-SA 4.0, after CC-BY 2.0", "CC-BY-SA-4.0"), ("GNU-FDL", "GFDL"),
                ("https://creativecommons.org/licenses/by/2.0/", "CC-BY-2.0"), ("LGPLv3", "LGPL-3"),
                ("in the Public Domain", "public-domain"), ("by A, GPL", "GPL"), ("free", None)]:
            self.assertEqual(statements.spelled(words), expected)


class Resources(unittest.TestCase):
    def test_files_of_a_resource_file(self):
        names = b"".join(
            struct.pack(">HI", len(n), 0) + n.encode("utf-16-be") for n in ("f", "a.md"))
        packed = struct.pack(">I", 5) + zlib.compress(b"hello")
        contents = struct.pack(">I", len(packed)) + packed
        tree = struct.pack(">IHIIQ", 0, 2, 1, 1, 0) + struct.pack(">IHIIQ", 0, 2, 1, 2, 0)
        tree += struct.pack(">IHHHIQ", 8, 1, 0, 0, 0, 0)
        data = b"qres" + struct.pack(">IIII", 2, 20, 20 + len(tree), 20 + len(tree) + len(contents))
        data += tree + contents + names
        files = dict(debian.resource_files(data))
        self.assertEqual(files, {"f/a.md": (20 + len(tree) + 4, b"hello")})
        self.assertEqual(dict(debian.resource_files(b"no resources")), {})


def noise(seed):
    """A picture that is like no other."""
    values = numpy.random.default_rng(seed).integers(0, 256, (16, 16), numpy.uint8)
    return Image.fromarray(values).resize((64, 64), Image.Resampling.BICUBIC)


class Kinship(unittest.TestCase):
    def groups(self, names, images=None, splits=None, before=None):
        rows = [{"package": "p", "name": name, "split": (splits or {}).get(name, "train"),
                 "before": (before or {}).get(name, "-")} for name in names]
        generated = {name: noise(i) for i, name in enumerate(names)}
        generated |= images or {}
        found = kin.groups(rows, lambda row: generated[row["name"]].copy())
        return sorted(sorted(row["name"] for row in group) for group in found)

    def test_words_of_a_subject(self):
        names = ["p-eiffel-1.jpg", "p-usa-eiffel.jpg", "p-pyramid.jpg", "p-pyramids.jpg",
                 "p-cat.jpg", "p-cat2.jpg"]
        expected = [["p-cat.jpg"], ["p-cat2.jpg"], names[:2], names[2:4]]
        self.assertEqual(self.groups(names), expected)

    def test_a_word_in_several_splits_is_a_kind(self):
        names = ["p-forest1.jpg", "p-forest2.jpg", "p-forest3.jpg"]
        self.assertEqual(self.groups(names, splits={names[2]: "test"}), [[n] for n in names])
        self.assertEqual(self.groups(names, before={names[2]: "test"}), [[n] for n in names])
        self.assertEqual(self.groups(names, splits={names[2]: "calibration"}), [names])
        candidates = {names[1]: "held-out", names[2]: "reserve"}
        self.assertEqual(self.groups(names[1:], splits=candidates), [names[1:]])

    def test_equal_and_mirrored_photos(self):
        image = noise(9)
        mirrored = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        names = ["p-a.jpg", "p-b.jpg", "p-c.jpg"]
        images = {names[0]: image, names[1]: mirrored.resize((80, 50))}
        self.assertEqual(self.groups(names, images), [names[:2], names[2:]])

    def test_nearly_equal_photos(self):
        names = ["p-a.jpg", "p-b.jpg"]
        for share, expected in [(0.15, [names]), (0.6, [names[:1], names[1:]])]:
            images = {names[0]: noise(9), names[1]: Image.blend(noise(9), noise(8), share)}
            self.assertEqual(self.groups(names, images), expected, share)


class List(unittest.TestCase):
    rows = card.rows()

    def test_all_but_photos_to_measure_on_have_a_license(self):
        for entry in self.rows:
            unstated = "-" in (entry["license"], entry["stated"])
            self.assertFalse(unstated and entry["split"] not in card.MEASURED_ON, entry["name"])

    def test_a_photo_is_in_one_split(self):
        for column in ("sha256", "name"):
            values = [entry[column] for entry in self.rows]
            self.assertEqual(len(set(values)), len(values), column)

    def test_recipes_read_no_held_out_photos(self):
        for path in sorted((ROOT / "Scripts").rglob("*")):
            if path.suffix == ".yaml" or path.name in ("train_checkpoint", "demo"):
                self.assertNotIn("held-out", path.read_text(), path)


def script(path):
    """A script as a module."""
    loader = importlib.machinery.SourceFileLoader(path.replace("/", "_"), str(ROOT / path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


class HeldOut(unittest.TestCase):
    def test_what_is_held_out(self):
        rule = script("Scripts/tools/hold_out.py")
        rule.is_colorful = lambda row: row["name"] != "gray"
        row = {"split": "reserve", "before": "-", "name": "p", "size": "200x300"}
        self.assertTrue(rule.is_held_out([row | {"split": "held-out"}] + [row] * 5))
        for others in ([row] * 6, [row | {"split": "train"}], [row | {"name": "gray"}],
                       [row | {"size": "300x199"}]):
            self.assertFalse(rule.is_held_out([row] + others), others)


class Decoding(unittest.TestCase):
    def test_the_most_accurate_that_leaves_gray_gray_and_the_most_accurate_that_is_lively(self):
        def report(error, colorfulness, a=0, b=0, better=0.5):
            return {"delta_e2000": error, "colorfulness": colorfulness,
                    "better_than_gray": better, "near_gray": {"a": a, "b": b}}

        # Neutrality and saturation; vivid colors have the neutrality of accurate ones.
        found = {(1, 1): report(10, 20, -2, 2), (1, 2): report(12, 30, 3, 3),
                 (1, 3): report(13, 40), (2, 1): report(10.1, 15), (2, 2): report(11, 30)}
        yellow, green = {(0, 1): report(9, 20, b=2.1)}, {(0, 2): report(9, 30, a=-2.1)}
        self.assertEqual(decoding.styles({**found, **yellow, **green}, 2, 30),
                         {(1, 1): "accurate", (1, 2): "vivid"})
        self.assertEqual(decoding.styles(found, 2, 20), {(1, 1): "accurate, vivid"})
        self.assertEqual(decoding.styles(yellow, 2, 20), {})
        self.assertEqual(decoding.styles(found, 2, 41), {(1, 1): "accurate"})
        for error, chosen in ((10.009, (3, 1)), (10.011, (1, 1))):
            equal = {(3, 1): report(error, 20, better=0.6)}
            self.assertEqual(decoding.styles({**found, **equal}, 2, 41), {chosen: "accurate"})
        livelier = {(1, 4): report(12.009, 31, better=0.6)}
        self.assertEqual(decoding.styles({**found, **livelier}, 2, 30),
                         {(1, 1): "accurate", (1, 4): "vivid"})


class Judge(unittest.TestCase):
    def setUp(self):
        self.judge = script("Scripts/recipes/judge_checkpoint")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "Checkpoints").mkdir()
        (self.root / "Checkpoints/n.h5").touch()
        (self.root / "Checkpoints/n.md").write_text("# n\n")
        (self.root / "held-out").mkdir()
        self.photos = card.digest(card.split("held-out"))
        self.addCleanup(setattr, card, "ROOT", card.ROOT)
        card.ROOT = self.judge.ROOT = self.judge.PHOTOS = self.root
        self.judge.LEDGER = self.root / "Checkpoints/held-out.tsv"

    def refusal(self):
        with self.assertRaises(SystemExit) as caught:
            self.judge.check("n", self.photos)
        return str(caught.exception)

    def test_it_judges_once(self):
        self.assertIn("trained without these photos", self.refusal())
        card.write_section("n", "photos", card.photos_section())
        self.assertIn("not there", self.refusal())
        for entry in card.split("held-out"):
            (self.root / "held-out" / entry["name"]).touch()
        self.judge.check("n", self.photos)
        card.write_section("n", "held-out", f"result on {self.photos}")
        self.assertIn("judged once", self.refusal())
        card.write_section("n", "held-out", "gone")
        self.judge.LEDGER.write_text(f"photos\tcheckpoint\tdate\n{self.photos}\tn\t2026-01-31\n")
        self.assertIn("2026-01-31", self.refusal())

    def test_photos_are_counted_by_license(self):
        text = card.photos_section()
        total = next(line for line in text.splitlines() if line.startswith("| all |"))
        self.assertTrue(total.startswith("| all | 4339 |"), total)
        rows = [
            line.split("|")[2].strip() for line in text.splitlines()
            if line.startswith("| ") and not line.startswith(("| ---", "| license", "| all"))]
        self.assertEqual(sum(int(count or 0) for count in rows), 4339)

    def test_sections_are_replaced(self):
        for text in ("one", "two"):
            card.write_section("n", "photos", text)
        self.assertEqual(card.card("n").read_text(), "# n\n\n<!-- photos -->\ntwo\n<!-- end -->\n")


class OpenPhotos(unittest.TestCase):
    """Datasets/open-photos is made from a repository of this machine, or from a folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.repository = self.root / "someone/photos"
        self.repository.mkdir(parents=True)
        self.run_git("init", "--quiet")
        self.run_git("config", "uploadpack.allowFilter", "true")
        self.run_git("config", "uploadpack.allowAnySHA1InWant", "true")
        noise = numpy.random.default_rng(0).integers(0, 255, (40, 60, 3), "uint8")
        image = Image.fromarray(noise).resize((900, 600))
        exif = Image.Exif()
        exif[0x0112] = 6  # Turned by a quarter.
        image.save(self.repository / "a [1].jpg", exif=exif)
        image.crop((0, 0, 90, 60)).save(self.repository / "b.png")
        (self.repository / "other.bin").write_bytes(bytes(1000))
        self.run_git("add", ".")
        self.run_git("-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "photos")
        commit = self.run_git("rev-parse", "HEAD").decode().strip()
        self.rows = [self.row("train", "a.jpg", "a [1].jpg", commit),
                     self.row("test", "b.jpg", "b.png", commit)]
        for name, value in (("OUTPUT", self.root / "out"), ("rows", lambda: self.rows),
                            ("LEAST_SHARE", 0.8), ("ROOT", self.root)):
            self.addCleanup(setattr, open_photos, name, getattr(open_photos, name))
            setattr(open_photos, name, value)

    def run_git(self, *arguments):
        return open_photos.git(self.repository, *arguments)

    def row(self, split, name, path, commit):
        data = (self.repository / path).read_bytes()
        return {"split": split, "source": "s", "name": name, "repository": "someone/photos",
                "commit": commit, "path": path, "sha256": open_photos.digest(data),
                "file_sha256": open_photos.digest(open_photos.made(data))}

    def collect(self, *arguments):
        messages = io.StringIO()
        with unittest.mock.patch.object(sys, "argv", ["datasets", *arguments]), \
                contextlib.redirect_stderr(messages):
            try:
                open_photos.main()
            except SystemExit as exit:
                return f"{messages.getvalue()}{exit}"
        return messages.getvalue()

    def files(self):
        folder = self.root / "out"
        return {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}

    def test_it_clones_only_what_is_listed(self):
        message = self.collect("--host", f"file://{self.root}")
        self.assertEqual(message, "datasets: 2 of 2 photos are in out\n")
        self.assertEqual(self.files(), {"SOURCES.tsv", "all-train.txt", "all-validation.txt",
                                        "train/s/a.jpg", "test/s/b.jpg"})
        with Image.open(self.root / "out/train/s/a.jpg") as image:
            self.assertEqual((image.size, dict(image.getexif())), ((299, 448), {}))
        with Image.open(self.root / "out/test/s/b.jpg") as image:
            self.assertEqual(image.size, (90, 60))
        self.assertEqual((self.root / "out/all-train.txt").read_text(), "train/s/a.jpg\n")
        self.assertEqual(self.collect("--host", "file:///nowhere"), "")

    def test_photos_change_their_split_and_others_are_removed(self):
        self.collect("--host", f"file://{self.root}")
        self.rows[0]["split"] = "test"
        self.collect("--host", f"file://{self.root}")
        self.assertNotIn("train/s/a.jpg", self.files())
        self.assertIn("test/s/a.jpg", self.files())

    def finish(self):
        """Makes the files of the list in a subfolder; returns the folder."""
        finished = self.root / "finished"
        for row in self.rows:
            file = finished / row["split"] / row["name"]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(open_photos.made((self.repository / row["path"]).read_bytes()))
        return finished

    def test_finished_files_are_copied(self):
        self.assertEqual(
            self.collect("--from", str(self.finish()), "--host", "file:///nowhere"), "")
        self.assertLessEqual({"train/s/a.jpg", "test/s/b.jpg"}, self.files())

    def test_finished_files_are_checked(self):
        finished = self.finish()
        (finished / "test/b.jpg").write_bytes(b"damaged")
        message = self.collect("--from", str(finished), "--host", f"file://{self.root}")
        self.assertEqual(message, "datasets: 2 of 2 photos are in out\n")
        self.assertNotEqual((self.root / "out/test/s/b.jpg").read_bytes(), b"damaged")

    def test_what_is_gone_or_changed_is_skipped(self):
        self.rows[1]["sha256"] = "0" * 64
        message = self.collect("--host", f"file://{self.root}")
        self.assertIn("b.jpg skipped: b.png differs", message)
        self.assertIn("too few photos", message)
        message = self.collect("--host", "file:///nowhere")
        self.assertRegex(message, "photos skipped: fatal: .*nowhere")

    def test_the_list_keeps_sources_apart(self):
        with open_photos.LIST.open(encoding="utf-8") as file:
            listed = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
        splits = {}
        for row in listed:
            splits.setdefault(row["source"], set()).add(row["split"])
            self.assertRegex(row["name"], r"^[a-z0-9.-]+\.jpg$")
            self.assertRegex(row["source"], r"^[a-z0-9-]+$")
            self.assertRegex(row["commit"], r"^[0-9a-f]{40}$")
        self.assertTrue(all(len(names) == 1 for names in splits.values()))
        self.assertEqual(len({row["name"] for row in listed}), 4435)


def main():
    unittest.main(module=__name__, argv=sys.argv)
