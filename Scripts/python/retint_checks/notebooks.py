"""Runs the notebooks in Scripts/notebooks, and compares the documentation's articles with them.

    Scripts/check notebooks [--write] [--wheels FOLDER] [--only NAME...] [--sample N] [--seed N]

Each notebook runs from the beginning in a virtual environment of its own, in an empty folder with
eight photos in `photos`: the originals of README's sheet. No cell may fail, and some of what is
printed must be right: the conversion that passes, the layer of the planted fault, the package that
the table recommends. Needs Scripts/setup --python, whose packages the environment takes.

The module is that of the sources, over the shared library of the release build (swift build -c
release --product RetintC); --wheels takes the two wheels that Scripts/release --wheel made.

The articles have the prose, the code and the printed text of the notebooks. --write writes them;
without it, prose and code must be those of the notebooks. Printed figures differ by machine and
are not compared. A cell whose metadata describe a figure has one in the article.
"""

import base64
import dataclasses
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import nbclient
import nbformat
from PIL import Image

import retint_options
import retint_tool
from retint_photos.sheet import GAP, HEIGHT, PATH, ROWS, TITLE, WIDTH
from retint_tool import ROOT

NOTEBOOKS = ROOT / "Scripts/notebooks"
CATALOG = ROOT / "Sources/Retint/Retint/Retint.docc"
MODULE = ROOT / "Sources/Retint/Python"
LIBRARY = ROOT / ".build/release/libRetintC.so"
CHECKPOINTS = ROOT / "Checkpoints"
KERNEL = "notebooks"
# For one cell; all cells of a notebook together take under half a minute on two processors.
SECONDS = 300
FIGURE_BYTES, QUALITIES = 60_000, (80, 70, 60, 50)
# Tracebacks are colored.
COLORED = re.compile(r"\x1b\[[\d;]*m")
PRINTED = re.compile(r"\n```text\n.*?^```\n", re.DOTALL | re.MULTILINE)


def check_training(printed):
    first, last = map(float, re.findall(r"\d\.\d+", printed["train"]))
    yield "the loss falls", last < first
    yield "the package passes", printed["verify"].startswith("pico-unet.mlpackage passed")
    yield "all are measured", len(printed["evaluate"].splitlines()) == 4


def check_verification(printed):
    yield "the conversion passes", printed["verify"].startswith("net.mlpackage passed against Net")
    yield "float16 passes", printed["half"].startswith("half.mlpackage passed against Net")
    yield "the fault is found", printed["fault"].startswith("wrong.mlpackage failed against Net")
    yield "its layer is named", "compared with block2.norm: " in printed["fault"]
    yield "its operation is named", printed["divergence"] == (
        "conv in the package is block2.norm in the module\n")
    kept, whole = map(int, re.match(r"(\d+) of (\d+) operations", printed["reduce"]).groups())
    yield "few operations are left", kept <= 3 < whole
    yield "the test fails", printed["test"].startswith("the test fails: wrong.mlpackage failed")


def check_quantization(printed):
    rows = re.findall(r"^(.+?) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)$", printed["table"],
                      re.MULTILINE)
    sizes = {name: float(size) for name, size, *_ in rows}
    errors = {name: float(error) for name, _, _, error, _ in rows}
    yield "all are measured", len(rows) == 8
    yield "float16 is half as large", 0.45 < sizes["float16"] / sizes["float32"] < 0.55
    yield "calibration helps", all(
        errors[f"{name} calibrated"] < errors[name] for name in ("int8", "palette4"))
    # As good as the smallest: up to 2 % larger, and up to what rounding to two digits hides.
    best, bound = printed["recommend"].partition(":")[0], 0.5
    allowed = [name for name in sizes if errors[name] <= bound]
    largest = 1.02 * min(sizes[name] for name in allowed) + 0.01
    yield "a smallest package within the bound is chosen", (
        best in allowed and sizes[best] <= largest
        and errors[best] <= min(errors[name] for name in allowed if sizes[name] <= largest))
    figures = re.search(r"wanted: ([\d.]+) dB, mixed: ([\d.]+)", printed["precision"])
    wanted, found = map(float, figures.groups())
    yield "the mixed package is within its bound", found >= wanted


@dataclasses.dataclass(frozen=True)
class Task:
    """A notebook, its article, and what its printed text has to say."""

    name: str
    article: str
    facts: object

    @property
    def source(self):
        return NOTEBOOKS / f"{self.name}.ipynb"

    @property
    def page(self):
        return CATALOG / f"Tasks/{self.article}.md"


TASKS = (
    Task("retrain", "RetrainInANotebook", check_training),
    Task("verify", "VerifyInANotebook", check_verification),
    Task("quantize", "QuantizeInANotebook", check_quantization),
)


def main():
    options = parse()
    if not options.wheels and not LIBRARY.exists():
        sys.exit("notebooks: there is no library; run swift build -c release --product RetintC")
    faults = []
    with tempfile.TemporaryDirectory(prefix="retint-notebooks-") as scratch:
        scratch = pathlib.Path(scratch)
        environment = Environment(scratch, options.wheels)
        chosen = [task for task in TASKS if task.name in options.only]
        for task in retint_options.Sample(options, "notebooks").of(chosen):
            faults += [f"{task.name}: {fault}" for fault in check(
                task, environment, scratch / task.name, options.write)]
    for fault in faults:
        print(f"notebooks: {fault}", file=sys.stderr)
    return 1 if faults else 0


def parse():
    names = [task.name for task in TASKS]
    parser = retint_options.parser(__doc__)
    parser.add_argument("--write", action="store_true", help="write the articles")
    parser.add_argument("--wheels", type=pathlib.Path, metavar="FOLDER", help="use these wheels")
    parser.add_argument("--only", nargs="+", metavar="NAME", default=names, choices=names)
    retint_options.add_sample(parser)
    return parser.parse_args()


class Environment:
    """A fresh virtual environment, as a kernel of Jupyter."""

    def __init__(self, scratch, wheels):
        self.scratch = scratch
        self.variables = self.own_variables()
        self.python = scratch / "venv/bin/python"
        # Without wheels there is nothing to install, and making pip takes most of the time.
        subprocess.run([retint_tool.PYTHON, "-m", "venv", *([] if wheels else ["--without-pip"]),
                        scratch / "venv"], check=True)
        if wheels:
            self.install(wheels)
        else:
            self.variables |= {
                "PYTHONPATH": str(MODULE), "RETINT_LIBRARY": str(LIBRARY),
                "RETINT_CHECKPOINTS": str(CHECKPOINTS)}
        # After pip, which would take what is there for installed.
        packages = pathlib.Path(retint_tool.site_packages(self.python))
        (packages / "base.pth").write_text(f"{retint_tool.site_packages(retint_tool.PYTHON)}\n")
        self.write_kernel()

    def own_variables(self):
        """Those of this process, without paths to the sources and without the user's settings."""
        kept = {name: value for name, value in os.environ.items()
                if name != "PYTHONPATH" and not name.startswith("RETINT_")}
        return kept | {"IPYTHONDIR": str(self.scratch / "ipython"), "PYTHONNOUSERSITE": "1"}

    def install(self, wheels):
        found = sorted(wheels.resolve().glob("*.whl"))
        if not found:
            sys.exit(f"notebooks: there are no wheels in {wheels}")
        subprocess.run(
            [self.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
             "--no-index", *found], check=True)

    def write_kernel(self):
        """Jupyter finds kernels by JUPYTER_PATH; python3 would be that of this process."""
        folder = self.scratch / "jupyter/kernels" / KERNEL
        folder.mkdir(parents=True)
        kernel = {
            "argv": [str(self.python), "-m", "ipykernel_launcher", "--log-level=ERROR", "-f",
                     "{connection_file}"],
            "display_name": KERNEL, "language": "python"}
        (folder / "kernel.json").write_text(json.dumps(kernel))
        os.environ["JUPYTER_PATH"] = str(self.scratch / "jupyter")
        os.environ["JUPYTER_RUNTIME_DIR"] = str(self.scratch / "runtime")

    def run(self, notebook, folder):
        """Fills in the outputs of a notebook's cells."""
        nbclient.NotebookClient(
            notebook, timeout=SECONDS, kernel_name=KERNEL,
            resources={"metadata": {"path": str(folder)}}).execute(env=self.variables)


def check(task, environment, folder, writes):
    """Runs a notebook and compares, or writes, its article; returns what is wrong."""
    notebook = nbformat.read(task.source, as_version=4)
    nbformat.validate(notebook)
    faults = ["it has outputs; clear them" for cell in code_cells(notebook) if cell.outputs][:1]
    faults += [] if writes else differences(task, notebook)
    write_photos(folder / "photos")
    start = time.monotonic()
    try:
        environment.run(notebook, folder)
    except nbclient.exceptions.CellExecutionError as error:
        return [*faults, COLORED.sub("", str(error))]
    print(f"notebooks: {task.name}: {time.monotonic() - start:.0f} s", flush=True)
    printed = {cell.id: text(cell) for cell in code_cells(notebook)}
    faults += [
        f"expected, but not true: {fact}" for fact, holds in task.facts(printed) if not holds]
    faults += [f"{name} prints a path of this machine" for name, lines in printed.items()
               if str(ROOT) in lines or str(folder) in lines]
    if writes and not faults:
        write_figures(task, notebook)
        task.page.write_text(article(task, notebook))
    return faults


def write_photos(folder):
    """Cuts the originals out of README's sheet, whose last column they are.

    They are free photos, which no checkpoint was trained on.
    """
    folder.mkdir(parents=True)
    with Image.open(PATH) as sheet:
        for row in range(ROWS):
            left, top = sheet.width - WIDTH, TITLE + row * (HEIGHT + GAP)
            photo = sheet.crop((left, top, left + WIDTH, top + HEIGHT))
            photo.save(folder / f"{row + 1}.png")


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def text(cell):
    """What a cell printed, without warnings and progress."""
    return "".join(output.text for output in cell.outputs
                   if output.output_type == "stream" and output.name == "stdout")


def differences(task, notebook):
    """What an article has to be written again for."""
    written = task.page.read_text() if task.page.exists() else ""
    if PRINTED.sub("", written) == article(task, notebook):
        return []
    return [f"{task.page.relative_to(ROOT)} differs; run Scripts/check notebooks --write"]


def article(task, notebook):
    """A notebook as an article: a title, an abstract, an overview, and sections."""
    first, *cells = notebook.cells
    title, abstract, overview = first.source.split("\n\n", 2)
    place = f"This is the notebook `{task.source.relative_to(ROOT)}`. <doc:UseFromPython> lists " \
        "the functions."
    parts = [title, abstract, "## Overview", place, overview]
    for cell in cells:
        parts += [re.sub("^##", "###", cell.source)] if cell.cell_type == "markdown" \
            else code_parts(task, cell)
    return "\n\n".join(parts) + "\n"


def code_parts(task, cell):
    """The code of a cell, what it printed, and its figure."""
    yield f"```python\n{cell.source}\n```"
    if text(cell):
        yield f"```text\n{text(cell).rstrip()}\n```"
    if description := figure_description(cell):
        yield f"![{description}]({figure_file(task, cell).name})"


def figure_description(cell):
    return cell.metadata.get("retint", {}).get("figure")


def figure_file(task, cell):
    return CATALOG / f"Resources/notebook_{task.name}_{cell.id}.jpg"


def write_figures(task, notebook):
    for cell in code_cells(notebook):
        if figure_description(cell):
            [picture] = [output.data["image/png"] for output in cell.outputs
                         if "image/png" in output.get("data", {})]
            write_figure(figure_file(task, cell), base64.b64decode(picture))


def write_figure(path, png):
    """Writes a picture in the best quality that is small enough."""
    with Image.open(io.BytesIO(png)) as picture:
        for quality in QUALITIES:
            picture.convert("RGB").save(path, quality=quality, optimize=True)
            if path.stat().st_size <= FIGURE_BYTES:
                return
    sys.exit(f"notebooks: {path.name} has more than {FIGURE_BYTES} bytes")
