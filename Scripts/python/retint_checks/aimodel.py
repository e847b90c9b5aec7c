"""Checks .aimodel files by retint with Apple's Core AI runtime, and has retint read Apple's.

    Scripts/check aimodel [--update] [--keep DIRECTORY] [--sample N] [ARCHITECTURE...]

Writes every architecture in float32, in float16, with a palette and, one of them, with smaller
palettes and integers. Apple's runtime and retint's engine run each file, on 64 x 64 pixels of
random lightness; both must agree with what retint computes from the checkpoint or, where weights
are compressed, from the package that was translated. Then coreai-torch converts two networks of
PyTorch, and retint reads and runs those.

Weights are random and seeded, as export_pytorch.randomize makes them: like those of trained
networks they give colors within +-110 and hardly amplify rounding. Those of lite-class-unet are
trained. --sample takes one in N of the networks, and of the conversions.

Prints a line for each; --update writes a table into the article VerificationFigures.md. --keep
leaves the models in DIRECTORY.
Scripts/setup --python and --coreai install what is needed. The exit status is 1 when a
bound is exceeded.
"""

import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import retint_options
import retint_tables
import retint_tool
from retint_reference.networks import ARCHITECTURES
from retint_tool import COREAI_PYTHON, ROOT

ARTICLE = ROOT / "Sources/Retint/Retint/Retint.docc/Reference/VerificationFigures.md"
SIZE = 64
CLOSE, HALF = ("--atol", "1e-3", "--rtol", "0"), ("--atol", "1e9", "--min-psnr", "60")
FORMS = {"float32": CLOSE, "float16": HALF, "palette6": CLOSE}
# Of one network.
MORE = {"pico-unet": ("palette4", "int8", "int4")}
TRAINED = {"lite-class-unet": ROOT / "Checkpoints/lite-class-unet.h5"}
CONVERTED = ("mobilenetv2-unet", "eccv16")


def make_checkpoint(folder, name):
    if name in TRAINED:
        return TRAINED[name]
    weights, checkpoint = folder / f"{name}-weights.h5", folder / f"{name}.h5"
    script = [sys.executable, "-m", "export_pytorch", "--module",
              f"retint_reference.networks:{name.replace('-', '_')}", "--randomize", "0",
              "--weights", weights, "--input", f"input=1x1x{SIZE}x{SIZE}:0,100"]
    subprocess.run([str(word) for word in script], check=True)
    retint_tool.run("import", weights, "--architecture", name, "-o", checkpoint)
    return checkpoint


def make_model(folder, name, form, checkpoint):
    """A model in a form, and what it is compared with."""
    model = folder / f"{name}-{form}.aimodel"
    options = ["--size", SIZE]
    if form in ("float32", "float16"):
        retint_tool.run("export", checkpoint, "-o", model, *options, "--precision", form)
        return model, checkpoint
    whole, package = folder / f"{name}.mlpackage", folder / f"{name}-{form}.mlpackage"
    if not whole.exists():
        retint_tool.run("export", checkpoint, "-o", whole, *options, "--target", "iOS18")
    retint_tool.run("quantize", whole, "-o", package, "--weights", form)
    retint_tool.run("export", package, "-o", model)
    return model, package


def judged(model, source, bounds):
    """The largest difference and the PSNR of each judge, by name, and whether all bounds hold."""
    report = retint_tool.report(
        "verify", model, "--against", source, "--size", SIZE, "--judge", "both",
        "--judge-python", COREAI_PYTHON, *bounds, status=(0, 2))
    figures = {}
    for one in report["judges"]:
        [output] = one["outputs"].values()
        figures[one["judge"]] = (output["max_abs_error"], output["psnr_db"])
    return figures, report["passed"] and set(figures) == {"retint", "apple"}


def text(figure):
    error, psnr = figure
    return f"{error:.1e}".replace("e-0", "e-") + f", {psnr:.1f} dB" if psnr else "exact"


def check_network(folder, name):
    """The figures of each form of a network, and whether all bounds hold."""
    checkpoint = make_checkpoint(folder, name)
    figures, passed = {}, True
    for form in (*FORMS, *MORE.get(name, ())):
        figures[form], holds = judged(
            *make_model(folder, name, form, checkpoint), FORMS.get(form, CLOSE))
        passed &= holds
        print(f"{name:16} {form:9} Apple's {text(figures[form]['apple']):20} "
              f"retint's {text(figures[form]['retint']):20} {'ok' if holds else 'FAILED'}",
              flush=True)
    return figures, passed


def check_converted(folder, name):
    """Whether retint runs what coreai-torch makes of a network as PyTorch does."""
    base = folder / f"{name}-torch"
    subprocess.run(
        [COREAI_PYTHON, "-W", "ignore", "-m", "retint_checks._coreai_torch", name, str(SIZE),
         str(base)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    report = retint_tool.report(
        "verify", f"{base}.aimodel", "--reference", f"{base}-reference.h5", status=(0, 2))
    [output] = report["outputs"].values()
    print(f"{name:16} by coreai-torch, PyTorch's run and retint's: "
          f"{text((output['max_abs_error'], output['psnr_db']))} "
          f"{'ok' if report['passed'] else 'FAILED'}", flush=True)
    return report["passed"]


def table(figures):
    """The table of the article."""
    judges = ("apple", "retint")
    columns = [title for form in FORMS for title in (f"{form}: Apple's", "retint's")]
    return retint_tables.markdown(["network", *columns], (
        [f"`{name}`", *(text(forms[form][judge]) for form in FORMS for judge in judges)]
        for name, forms in figures.items()))


def check(folder, names, converted):
    """All figures by network, and whether all bounds hold. One process for each processor."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        networks = {name: pool.submit(check_network, folder, name) for name in names}
        others = [pool.submit(check_converted, folder, name) for name in converted]
        results = {name: job.result() for name, job in networks.items()}
        passed = all([job.result() for job in others] + [holds for _, holds in results.values()])
    return {name: figures for name, (figures, _) in results.items()}, passed


def main():
    parser = retint_options.parser(__doc__)
    parser.add_argument("--update", action="store_true", help="write the article's table")
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIRECTORY")
    parser.add_argument("architectures", nargs="*", metavar="ARCHITECTURE")
    retint_options.add_sample(parser)
    options = parser.parse_args()
    if options.update and options.sample > 1:
        parser.error("--update writes all networks: it takes no --sample")
    if not shutil.which(COREAI_PYTHON):
        sys.exit(f"aimodel: {COREAI_PYTHON} does not exist; run Scripts/setup --coreai")
    sample = retint_options.Sample(options, "aimodel")
    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        figures, passed = check(
            folder, options.architectures or sample.of(ARCHITECTURES, 2), sample.of(CONVERTED))
    if options.update:
        retint_tables.in_article(ARTICLE, "aimodel", table(figures), True, "")
    return 0 if passed else 1
