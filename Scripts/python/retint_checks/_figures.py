"""Figures in the documents, compared with what they count or with the table they are from.

Four kinds of faults:

- a figure whose source is in the repository is another one there: numbers of photos from the lists
  in Datasets, versions from the files that require them, parameters and sizes of networks from the
  tool (`CLAIMS`, `check_networks`);
- a number of photos, packages, checkpoints or parameters that nothing in the repository has
  (`KNOWN`), so that a figure that went out of date is found wherever it stands;
- two places state different figures for one thing that has no source here (`SAME`);
- a table that repeats rows of another has other values (`COPIES`), such as the figures of a model
  card in an article.
"""

import ast
import collections
import csv
import dataclasses
import decimal
import functools
import json
import pathlib
import re
import shlex
import subprocess
import tempfile

from retint_tool import ROOT

from . import _seed_weights

CATALOG = "Sources/Retint/Retint/Retint.docc"
FIGURES = f"{CATALOG}/Reference/CheckpointFigures.md"
SPEED = f"{CATALOG}/Reference/SpeedFigures.md"
NETWORKS = f"{CATALOG}/Reference/Networks.md"
COMMANDS = f"{CATALOG}/Commands/CommandLine.md"
CHOICE = f"{CATALOG}/Tasks/WhatToChoose.md"
NOTEBOOK = f"{CATALOG}/Tasks/QuantizeInANotebook.md"
# Documents besides the pages whose commands and paths are checked.
MORE = ("CHANGELOG.md", "Scripts/README.md")
WORDS = {word: number for number, word in enumerate(
    "zero one two three four five six seven eight nine ten eleven twelve".split())} | {"both": 2}
NUMBER = rf"(\d[\d,]*(?:\.\d+)?|{'|'.join(WORDS)})"
MAIN = ("train", "validation", "calibration", "test")


def number(text):
    """The value of digits, with commas between thousands, or of a word."""
    word = text.lower()
    return WORDS[word] if word in WORDS else float(text.replace(",", ""))


def pattern(text):
    """Text in which # stands for a number, and a space for any white space and comment marks."""
    flexible = re.sub(r" ", r"(?:\\s+(?:#\\s+)?)", text).replace("#N", NUMBER)
    return re.compile(rf"(?<![\w.,…]){flexible}", re.IGNORECASE)


@functools.cache
def rows(name):
    """The rows of a list of photos."""
    with open(ROOT / f"Datasets/{name}.tsv", encoding="utf8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


@functools.cache
def counts():
    """What the lists of photos, and files in the repository, count; by name."""
    debian, public = rows("debian-photos"), rows("open-photos")
    left_out = collections.Counter()
    for row in rows("left-out"):
        left_out[row["origin"], row["former split"]] += int(row["photos"])
    split = collections.Counter(row["split"] for row in debian)
    open_split = collections.Counter(row["split"] for row in public)

    def packages(*splits):
        return len({row["package"] for row in debian if row["split"] in splits})

    def sources(name):
        return len({row["source"] for row in public if row["split"] == name})

    licensed = [row for row in debian if row["split"] in ("train", "validation", "calibration")]
    photos = [row for row in debian if row["split"] != "cutout"]
    sizes = [tuple(map(int, row["size"].split("x"))) for row in photos]
    return {
        **{name.replace("-", "_"): count for name, count in split.items()},
        **{f"open_{name}": count for name, count in open_split.items()},
        **{f"open_{name}_sources": sources(name) for name in open_split},
        "debian": sum(split[name] for name in MAIN),
        "debian_packages": packages(*MAIN),
        "cutout_packages": packages(*MAIN, "cutout"),
        "all_packages": packages(*MAIN, "held-out", "reserve"),
        "set_aside": split["held-out"] + split["reserve"],
        "chosen_on": split["calibration"] + split["test"],
        "open": len(public),
        "repositories": len({row["repository"] for row in public}),
        "training": split["train"] + open_split["train"],
        "choosing": split["validation"] + open_split["validation"],
        "licensed": len(licensed),
        "with_page": sum(row["source"] != "-" for row in licensed),
        "moved": sum(row["before"] == "test" for row in debian),
        # Before those with a license moved to `train`.
        "former_test": split["test"] + sum(row["before"] == "test" for row in debian),
        "left_out_train": left_out["Debian", "train"],
        "left_out_validation": left_out["Debian", "validation"],
        "left_out_pypi": sum(n for (origin, _), n in left_out.items() if origin == "PyPI"),
        "endless_sky": sum(
            row["stated"] == "copyright: Files: images/land/*" for row in licensed),
        "narrowest": min(width for width, _ in sizes),
        "widest": max(width for width, _ in sizes),
        "shortest": min(map(min, sizes)),
        "checkpoints": len(list((ROOT / "Checkpoints").glob("*.h5"))),
        "recipes": len(list((ROOT / "Scripts/recipes").glob("*.yaml"))),
        "notebooks": len(list((ROOT / "Scripts/notebooks").glob("*.ipynb"))),
        "swift": found("Package.swift", r"swift-tools-version: ([\d.]+)"),
        "python": found("Scripts/python/retint_release/wheel.py", r"Requires-Python: >=([\d.]+)"),
        "coreai": found("Scripts/python/requirements-coreai.txt", r"coreai-core==(\S+)"),
        "converted": converted_networks(),
        "layers": len(set(found_all(f"{CATALOG}/Tasks/ReadOlderModels.md", "Neural networks"))),
    }


def converted_networks():
    """How many networks `Scripts/compare networks` has: the entries of its list, and of the names
    in it that become entries."""
    tree = ast.parse((ROOT / "Scripts/python/retint_comparisons/_networks.py").read_text())
    [entries] = [node.value.elts for node in tree.body if isinstance(node, ast.Assign)
                 and node.targets[0].id == "NETWORKS"]
    return sum(len(entry.value.generators[0].iter.elts) if isinstance(entry, ast.Starred) else 1
               for entry in entries)


def found(name, expression):
    return re.search(expression, (ROOT / name).read_text())[1]


def found_all(name, heading):
    """The words between backquotes in the second column of a section's table."""
    section = (ROOT / name).read_text().split(f"### {heading}\n")[1].split("\n### ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [word for line in lines for word in re.findall(r"`([\w.]+)`", line.split("|")[2])]


# Sentences with figures, and the names of these in `counts`. A pattern may be anywhere.
CLAIMS = (
    ("#N photographs(?: \\(\\d+ MB\\))? from #N Debian packages", "debian", "debian_packages"),
    ("downloads the #N packages that contain them", "debian_packages"),
    ("\\(#N with cut-outs, #N with held-out photos\\)", "cutout_packages", "all_packages"),
    ("#N (?:color )?photographs from(?: #N)? public repositories", "open", "repositories"),
    ("clones #N repositories", "repositories"),
    ("#N photos of sources that no", "open_test"),
    ("#N photos of sources that they", "open_test"),
    ("#N photos of `Datasets/open-photos/test`", "open_test"),
    ("#N test photos, whose own", "test"),
    ("the #N test photos of `Datasets/debian-photos`", "test"),
    ("debian-photos/train/\\S+ #N", "train"),
    ("debian-photos/validation/\\S+ #N", "validation"),
    ("debian-photos/test/\\S+ #N", "test"),
    ("debian-photos/calibration/\\S+ #N", "calibration"),
    ("debian-photos/cutouts/\\S+ #N", "cutout"),
    ("debian-photos/held-out/\\S+ #N", "held_out"),
    ("debian-photos/reserve/\\S+ #N", "reserve"),
    ("open-photos/train/\\S+ #N of #N sources", "open_train", "open_train_sources"),
    ("open-photos/validation/\\S+ #N of #N sources", "open_validation",
     "open_validation_sources"),
    ("open-photos/test/\\S+ #N of #N sources", "open_test", "open_test_sources"),
    ("and #N cut-outs", "cutout"),
    ("and #N held out for a final test", "set_aside"),
    ("#N (?:photos )?for training, and #N cut-outs pasted", None, "cutout"),
    ("#N from public repositories and #N from Debian packages", "open_train", "train"),
    ("#N validation photos, #N of which are from #N sources", "choosing", "open_validation",
     "open_validation_sources"),
    ("#N for validation, #N of them from #N sources", "choosing", "open_validation",
     "open_validation_sources"),
    ("the other #N select the weights", "validation"),
    ("#N of which come from sources that no training reads", "open_validation"),
    ("`test` keeps the #N photos", "test"),
    ("The #N test photos with a license", "moved"),
    ("Of the #N photos under these rules, #N have the URL", "licensed", "with_page"),
    ("#N photos of Endless Sky", "endless_sky"),
    ("#N from `train`, #N from `validation`, and all #N of a second list", "left_out_train",
     "left_out_validation", "left_out_pypi"),
    ("These two and the #N are in", "left_out_train"),
    ("which of the #N are held out", "set_aside"),
    ("They are #N to #N pixels wide", "narrowest", "widest"),
    ("at least #N pixels on the short side. `retint", "shortest"),
    ("the #N calibration photos(?! that are)", "calibration"),
    ("#N photos of `calibration` and `test`", "chosen_on"),
    ("#N photos that were the test photos", "former_test"),
    ("#N (?:shipped |trained )+(?:checkpoints|colorizers|networks)", "checkpoints"),
    ("#N notebooks", "notebooks"),
    ("with #N types of layers", "layers"),
    ("(?:converts|results for) #N (?:published )?networks", "converted"),
)
# Versions, which are compared as text.
VERSIONS = (
    (r"Swift (?:is )?(\d+\.\d+) or (?:later|newer)", "swift"),
    (r"needs Python (\d+\.\d+) or", "python"),
    (r"coreai-core`?(?:==| )(\d[\w.]*\w)", "coreai"),
)


@dataclasses.dataclass(frozen=True)
class Known:
    """Figures of a kind: each is one of `values`, or an exception, by page, with a reason."""

    pattern: str
    values: object
    least: float
    exceptions: dict


def photo_counts():
    names = ("train", "validation", "test", "calibration", "cutout", "held_out", "reserve",
             "debian", "set_aside", "chosen_on", "open", "open_train", "open_validation",
             "open_test", "training", "choosing", "licensed", "with_page", "moved", "former_test",
             "left_out_train", "left_out_validation", "left_out_pypi", "endless_sky")
    return {counts()[name] for name in names} | {
        int(count) for _, count in license_forms().items()}


def license_forms():
    """How many photos have each form of a statement of their license, as Datasets/README.md has."""
    forms = collections.Counter()
    for row in rows("debian-photos"):
        if row["split"] in ("train", "validation", "calibration", "cutout"):
            words = row["stated"]
            forms["copyright: Files: *" if words == "copyright: Files: *" else next(
                (form for form in ("copyright: Files:", "README: Files:", "metadata:")
                 if words.startswith(form)), "PATH:")] += 1
    return forms


KNOWN = (
    Known("#N (?:[a-z-]+ )?(?:photos|photographs)\\b", photo_counts, 40, {
        ("Datasets/README.md", 361): "candidates for `calibration`, before two lists changed",
        (SPEED, 160): "made for a measurement of speed",
        **{(f"{CATALOG}/Reference/QuantizationFigures.md", count): "taken from a split by --limit"
           for count in (60, 100, 200, 400)},
        (f"{CATALOG}/Tasks/QuantizeAPackage.md", 200): "taken from a split by --limit",
    }),
    Known("#N Debian packages", lambda: {counts()["debian_packages"]}, 10, {}),
)
# Figures without a source in the repository: all places have to state the same.
SAME = {
    "the size of the photographs": "\\d+ photographs,?(?: from \\d+ Debian packages,)?"
                                   " \\(?(?:about )?#N MB",
    "the cases in the table of operations":
        "(?:table of operations, |All )#N cases (?:of the|between)",
    "ECCV16's time": "ECCV16's #N ms",
    "the memory of activations for 512 × 512": "#N MiB for 512 × 512",
    "the smallest memory of activations": "(?:less than|at least) #N MiB or \\d+ times its weights",
    "the bins of ab": "#N ab bins",
}


class Table:
    """A Markdown table: its header, its rows by the text of their first cell, and its place."""

    def __init__(self, lines, position):
        cells = [self.cells(line) for line, _ in lines]
        self.header = cells[0]
        self.rows = [(position_, row) for (_, position_), row in zip(lines[2:], cells[2:])]
        self.position = position

    @staticmethod
    def cells(line):
        return [cell.strip() for cell in line.strip().strip("|").split("|")]

    def row(self, name):
        return next((row for _, row in self.rows if plain(row[0]) == name), None)


def value(cell):
    return plain(cell).removesuffix(" G")


def plain(cell):
    return cell.replace("`", "").replace("*", "").strip()


def tables(text, heading=None):
    """The tables of a text, or of the section under a heading."""
    start = 0
    if heading:
        found_heading = re.search(rf"^#+ {re.escape(heading)}$", text, re.MULTILINE)
        if not found_heading:
            return
        start = found_heading.end()
        following = re.search(r"^#+ ", text[start:], re.MULTILINE)
        text = text[:start + following.start()] if following else text
    position, lines = start, []
    for line in text[start:].splitlines(keepends=True) + ["\n"]:
        if line.startswith("|"):
            lines.append((line, position))
        elif lines:
            if len(lines) > 2:
                yield Table(lines, lines[0][1])
            lines = []
        position += len(line)


@dataclasses.dataclass(frozen=True)
class Copy:
    """A table that repeats another: by columns of the same names, and rows of the same names."""

    page: str
    heading: str | None
    origin: str
    origin_heading: str
    # Names of rows or columns that differ between the two.
    renamed: dict = dataclasses.field(default_factory=dict)
    # How many of the origin's first tables count; all if there is no number.
    origin_first: int | None = None


COPIES = (
    Copy(FIGURES, "Photos of other sources", "Checkpoints/lite-class-unet.md", "Test photos"),
    Copy(FIGURES, "Photos of other sources", "Checkpoints/lite-class-unet-small.md", "Test photos"),
    Copy("README.md", "Checkpoints", FIGURES, "Overview", {
        "multiply-adds": "GMAC", "int8 package": "int8", "time": "of ECCV16's 175 ms"}),
    Copy(CHOICE, "Which architecture, and how wide", SPEED, "Inference",
         {"256 × 256": "float32"}, origin_first=1),
    Copy(CHOICE, "Which architecture, and how wide", NETWORKS, "Overview",
         {"multiply-adds": "multiply-adds at 256×256"}),
    Copy(CHOICE, "Which colorizer", FIGURES, "Overview", {
        "int8 package": "int8", "time": "of ECCV16's 175 ms"}),
)


class Figures:
    """Compares the figures of pages; `fault` is told a page, its text, a position and a message."""

    def __init__(self, retint, pages, fault):
        self.retint, self.fault = retint, fault
        self.texts = {str(page.relative_to(ROOT)): page.read_text() for page in pages}
        self.texts |= {name: (ROOT / name).read_text() for name in MORE}
        self.met = set()

    def report(self, name, position, message):
        self.fault(ROOT / name, self.texts[name], position, message)

    def check(self):
        for name in self.texts:
            self.check_claims(name)
            self.check_versions(name)
            self.check_known(name)
        for words, *_ in CLAIMS:
            if words not in self.met:
                self.report("README.md", 0, f"no document has “{words}”; remove it from CLAIMS")
        self.check_forms()
        self.check_licenses()
        self.check_same()
        self.check_copies()
        self.check_held_out()
        self.check_measures()
        self.check_speed()
        self.check_choice()
        if self.retint:
            self.check_lists()
            self.check_networks()

    def check_claims(self, name):
        for words, *facts in CLAIMS:
            for match in pattern(words).finditer(self.texts[name]):
                self.met.add(words)
                for index, fact in enumerate(facts, 1):
                    if fact is None or match[index] is None:
                        continue
                    if number(match[index]) != counts()[fact]:
                        self.report(name, match.start(index), f"{match[index]} in “"
                                    f"{one_line(match[0])}”; the repository has {counts()[fact]}")

    def check_versions(self, name):
        for words, fact in VERSIONS:
            for match in re.finditer(words, self.texts[name]):
                if match[1] != counts()[fact]:
                    self.report(name, match.start(1), f"“{match[0]}”; it is {counts()[fact]}")

    def check_known(self, name):
        for kind in KNOWN:
            for match in pattern(kind.pattern).finditer(self.texts[name]):
                value = number(match[1])
                if value < kind.least or value in kind.values() or (name, value) in kind.exceptions:
                    continue
                self.report(name, match.start(1), f"“{one_line(match[0])}”: nothing in the "
                            "repository has this number; if it is right, add it to KNOWN")

    def check_forms(self):
        """The table of forms in which a license is stated."""
        name, forms = "Datasets/README.md", license_forms()
        for table in tables(self.texts[name], "Licenses"):
            for position, row in table.rows:
                stated = row[0].strip("`")
                form = stated if stated in forms else stated.rpartition(" ")[0]
                if form in forms and number(row[1]) != forms[form]:
                    self.report(name, position, f"{row[1]} for {form}; the list has {forms[form]}")

    def check_licenses(self):
        """The tables of licenses in the model cards, whose columns have sums in the last row."""
        for name in self.texts:
            if not name.startswith("Checkpoints/"):
                continue
            for table in tables(self.texts[name], "Photos"):
                if table.header[:1] != ["license"]:
                    continue
                for column in range(1, len(table.header)):
                    values = [int(row[column] or 0) for _, row in table.rows]
                    kind, total = table.header[column], values[-1]
                    if total != sum(values[:-1]):
                        self.report(name, table.position, f"the {kind} photos of all licenses are "
                                    f"{sum(values[:-1])}, not {total}")
                    known = {"training": ("train", "training"), "cut-outs": ("cutout",),
                             "validation": ("validation", "choosing")}.get(kind, ())
                    if known and total not in [counts()[fact] for fact in known]:
                        self.report(name, table.position, f"{total} {kind} photos; the lists have "
                                    + " or ".join(str(counts()[fact]) for fact in known))

    def check_same(self):
        for what, words in SAME.items():
            places = [(name, match) for name, text in self.texts.items()
                      for match in pattern(words).finditer(text)]
            values = collections.Counter(number(match[1]) for _, match in places)
            if len(values) > 1:
                usual = values.most_common(1)[0][0]
                for name, match in places:
                    if number(match[1]) != usual:
                        self.report(name, match.start(1),
                                    f"{what}: {match[1]}, but elsewhere {usual:g}")

    def check_copies(self):
        for copy in COPIES:
            origins = list(tables(
                self.texts[copy.origin], copy.origin_heading))[:copy.origin_first]
            if not origins:
                self.report(copy.origin, 0, f"there is no table under {copy.origin_heading}")
            shared = sum(self.check_copy(copy, table, origin) for origin in origins
                         for table in tables(self.texts[copy.page], copy.heading))
            if origins and not shared:
                self.report(copy.page, 0, f"no figures of {copy.origin} under {copy.heading}")

    def check_copy(self, copy, table, origin):
        """Compares the cells that both tables have; returns their number."""
        shared, columns = 0, {plain(title): index for index, title in enumerate(origin.header)}
        for position, row in table.rows:
            name = copy.renamed.get(plain(row[0]), plain(row[0]))
            other = origin.row(name)
            for title, cell in zip(table.header[1:], row[1:]):
                title = copy.renamed.get(plain(title), plain(title))
                if other is None or title not in columns or not cell:
                    continue
                expected = other[columns[title]]
                shared += 1
                if expected and value(cell) != value(expected):
                    self.report(copy.page, position, f"{name}, {title}: {plain(cell)}, but "
                                f"{copy.origin} has {plain(expected)}")
        return shared

    def check_held_out(self):
        """The means of tests of checkpoints that `judge_checkpoint` wrote to a list."""
        with open(ROOT / "Checkpoints/held-out.tsv", encoding="utf8", newline="") as file:
            tests = list(csv.DictReader(file, delimiter="\t"))
        found_tables = list(tables(self.texts[FIGURES], "Held-out photos"))
        expected = collections.defaultdict(list)
        for test in tests:
            expected[test["checkpoint"]].append(
                (f"{float(test['delta_e2000']):.2f}", test["ab_auc_rebalanced"]))
        for table in found_tables:
            for column, title in enumerate(table.header):
                if plain(title) not in expected:
                    continue
                values = tuple((table.row(name) or [""] * 9)[column].split(" ")[0]
                               for name in ("ΔE2000", "ab AuC rebalanced"))
                if values not in expected[plain(title)]:
                    self.report(FIGURES, table.position, f"{plain(title)}: {' and '.join(values)} "
                                "are not a test in Checkpoints/held-out.tsv")

    def check_measures(self):
        """README's colors of the checkpoints are those of the article, in its other direction."""
        [table] = tables(self.texts["README.md"], "Checkpoints")
        [origin] = tables(self.texts[FIGURES], "Color quality")
        for position, row in table.rows:
            column = {"gray photo": "gray"}.get(plain(row[0]), plain(row[0]))
            if column not in map(plain, origin.header):
                continue
            index = [plain(title) for title in origin.header].index(column)
            for title in ("ΔE2000", "colorfulness"):
                cell, expected = row[table.header.index(title)], origin.row(title)[index]
                shown = expected if title == "ΔE2000" else rounded(expected.split(" ")[0], 1)
                if cell != shown:
                    self.report("README.md", position,
                                f"{column}, {title}: {cell}, but {FIGURES} has {shown}")

    def check_speed(self):
        """README's figures of speed, next to the tables of the article."""
        text, inference, training, gpu = (
            self.texts["README.md"], *(list(tables(self.texts[SPEED], heading))
                                       for heading in ("Inference", "Training", "On a GPU")))
        xeon = inference[1]
        one = {row[0]: row for _, row in reversed(xeon.rows) if row[1] == "1 × 256²"}
        train = {plain(row[0]): row for _, row in training[0].rows}
        device = {plain(row[0]) + " " + row[2]: row for _, row in gpu[0].rows}
        eccv, mobile = one["eccv16"], one["mobile-unet"]
        trained, step = train["eccv16, 4 × 128²"], device["eccv16, training bfloat16"]
        shares = [float(row[7]) for _, row in xeon.rows] + [float(row[4]) for row in
                                                             train.values()]
        claims = (
            (r"256 × 256 in (\d+) ms, ([\d.]+) times", eccv[2], eccv[3]),
            (r"`mobile-unet` in ([\d.]+) ms \(([\d.]+) times", mobile[2], mobile[3]),
            (r"training step of ECCV16 is\s+([\d.]+) times", trained[2]),
            (r"takes ([\d.]+) ms, in PyTorch ([\d.]+) ms", step[4], step[3]),
        )
        for words, *expected in claims:
            match = re.search(words, text)
            for index, cell in enumerate(expected, 1):
                source = re.match(r"[\d.]+", cell)[0]
                if match and rounded(source, decimals(match[index])) != match[index]:
                    self.report("README.md", match.start(index), f"{match[index]} in “"
                                f"{one_line(match[0])}”, but {SPEED} has {source}")
        match = re.search(r"All take ([\d.]+) to ([\d.]+) of PyTorch's memory", text)
        if match and float(match[2]) > max(shares):
            self.report("README.md", match.start(2), f"no case takes {match[2]} of the memory")

    def check_choice(self):
        """The colors and precisions to choose from, of an article and of a notebook's output."""
        text = self.texts[CHOICE]
        [colors], [precisions] = (
            list(tables(text, heading)) for heading in ("Which colorizer", "Which precision"))
        origin = next(tables(self.texts[FIGURES], "Photos of other sources"))
        names = {"lite-class-unet": "large", "lite-class-unet-small": "small"}
        for position, row in colors.rows:
            name, _, style = plain(row[0]).partition(", ")
            column = origin.header.index(
                ", ".join(filter(None, [names.get(name, name), style])))
            for title in ("ΔE2000", "better than gray", "colorfulness"):
                cell = row[colors.header.index(title)]
                source = origin.row(title)[column].split(" ")[0]
                shown = source if "%" not in cell else f"{float(source) * 100:.0f} %"
                if cell and cell != shown:
                    self.report(CHOICE, position, f"{plain(row[0])}, {title}: {cell}, but "
                                f"{FIGURES} has {shown}")
        for position, row in precisions.rows:
            words = [plain(row[0]).replace(",", ""), *(cell.split(" ")[0] for cell in row[1:])]
            if not re.search(r"^{} +{} +{} +{} ".format(*map(re.escape, words)),
                             self.texts[NOTEBOOK], re.MULTILINE):
                self.report(CHOICE, position, f"{NOTEBOOK} does not print {' '.join(words)}")

    def check_lists(self):
        """The lists of architectures and of commands are those of the tool."""
        [table] = list(tables(self.texts[NETWORKS], "Overview"))
        self.check_list(NETWORKS, "architectures", {plain(row[0]) for _, row in table.rows},
                        set(self.architectures()))
        topics = set(re.findall(r"<doc:retint-([\w-]+)>",
                                self.texts[COMMANDS].partition("## Topics")[2]))
        listed = re.findall(
            r"^  ([a-z]+)(?:, [a-z]+)* {2,}\S",
            self.run("--help").partition("SUBCOMMANDS:")[2], re.MULTILINE)
        self.check_list(COMMANDS, "commands", topics, set(listed) - {"help"})

    def check_list(self, name, what, stated, actual):
        if stated != actual:
            self.report(name, 0, f"the list of {what} lacks {', '.join(sorted(actual - stated))}; "
                        f"it has, but there is no {', '.join(sorted(stated - actual))}")

    def check_networks(self):
        """Parameters, multiply-adds, sizes and numbers of operations, which the tool computes."""
        known = self.network_facts()
        for name, text in self.texts.items():
            for table in tables(text):
                self.check_network_table(name, table, known)
            self.check_parameters(name, known)

    def check_network_table(self, name, table, known):
        columns = {"parameters": "parameters", "multiply-adds": "gmac", "GMAC": "gmac",
                   "multiply-adds at 256×256": "gmac", "int8": "int8", "int8 package": "int8",
                   "float16": "float16", "operations": "operations"}
        if "parameters" not in table.header:
            return
        for position, row in table.rows:
            facts = known.get(plain(row[0]).lower())
            for title, cell in zip(table.header, row):
                fact = columns.get(title)
                if not facts or fact not in facts or not re.match(r"\d", cell):
                    continue
                if plain(cell).removesuffix(" G").removesuffix(" MB") != facts[fact]:
                    self.report(name, position, f"{plain(row[0])}, {title}: {cell}, but the tool "
                                f"computes {facts[fact]}")

    def check_parameters(self, name, known):
        values = {int(facts["parameters"].replace(",", "")) for facts in known.values()}
        adds = {facts["gmac"] for facts in known.values()}
        for match in re.finditer(r"(\d[\d,]{4,}) parameters", self.texts[name]):
            value = int(match[1].replace(",", ""))
            # The module of a notebook, which is not a network of retint.
            if value not in values | {24994} and f"{match[1]}" not in (known["siggraph17"].get(
                    "bare", ""),):
                self.report(name, match.start(1), f"no network has {match[1]} parameters")
        for match in re.finditer(r"(\d+\.\d+) (?:G multiply-adds|GMAC)", self.texts[name]):
            if match[1] not in adds:
                self.report(name, match.start(1), f"no network has {match[0]}")

    def network_facts(self):
        """By name: of the architectures with random weights, and of the shipped checkpoints."""
        facts = {}
        with tempfile.TemporaryDirectory() as scratch:
            scratch = pathlib.Path(scratch)
            for name in self.architectures():
                # As it runs, and as the documents describe it.
                folded = ["--folded"] if name == "rep-unet" else []
                facts[name] = self.cost(name, scratch, *folded)
            facts["siggraph17"]["bare"] = self.cost(
                "siggraph17", scratch, "--no-class-head")["parameters"]
            for path in sorted((ROOT / "Checkpoints").glob("*.h5")):
                facts[path.stem] = self.inspected(path) | self.packages(path, scratch)
        return facts

    def architectures(self):
        text = self.run("benchmark", "--help")
        listed = re.search(r"architecture: ([^.]+)\.", text)[1]
        return re.findall(r"[\w-]+", listed)

    def run(self, *arguments):
        done = subprocess.run([self.retint, *map(str, arguments)], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"retint {shlex.join(map(str, arguments))}: {done.stderr}")
        return done.stdout

    def cost(self, architecture, scratch, *options):
        weights, made = scratch / "weights.safetensors", scratch / "made.h5"
        _seed_weights.write(weights, architecture)
        self.run("import", weights, "--architecture", architecture, "--non-strict", *options, "-o",
                 made)
        return self.inspected(made)

    def inspected(self, path):
        report = json.loads(self.run("inspect", path, "--json"))
        return {"parameters": f"{report['parameters']:,}",
                "gmac": f"{report['multiply_adds_256x256'] / 1e9:.2f}"}

    def packages(self, path, scratch):
        """Bytes of the packages with float16 and int8 weights, as `retint compare` counts them."""
        half, small = scratch / "half.mlpackage", scratch / "small.mlpackage"
        self.run("export", path, "-o", half, "--precision", "float16")
        self.run("quantize", half, "-o", small, "--weights", "int8")
        report = json.loads(self.run("inspect", half, "--json"))
        return {"float16": megabytes(half), "int8": megabytes(small),
                "operations": str(sum(report["operations"].values()))}


def megabytes(package):
    size = sum(file.stat().st_size for file in package.rglob("*") if file.is_file())
    return f"{size / 1e6:.2f}"


def decimals(text):
    return len(text.partition(".")[2])


def rounded(text, places):
    """Digits with so many decimals, and halves rounded up, as people do."""
    return str(decimal.Decimal(text).quantize(
        decimal.Decimal(1).scaleb(-places), decimal.ROUND_HALF_UP))


def one_line(text):
    return re.sub(r"\s+", " ", text)
