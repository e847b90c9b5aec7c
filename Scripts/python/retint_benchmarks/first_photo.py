"""Measures the time from the start of a process to its first colorized photo of one megapixel.

The photo is a PNG or a JPEG, the result a PNG. The cases alternate, so that a machine that slows
down affects all alike; each time is the median over the rounds. All files are in the page cache.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

import retint_options
import retint_tables
import retint_tool

LITE = retint_tool.ROOT / "Checkpoints/lite-class-unet-small.h5"
SIZE = (1152, 896)


def picture():
    """A picture that is about as hard to compress as a photo: noise over soft shapes."""
    from PIL import Image, ImageFilter

    shapes = [
        Image.effect_noise((24, 18), 120).resize(SIZE, Image.Resampling.BICUBIC) for _ in range(3)
    ]
    noise = Image.effect_noise(SIZE, 40).filter(ImageFilter.GaussianBlur(1.5)).convert("RGB")
    return Image.blend(Image.merge("RGB", shapes), noise, 0.3)


def eccv16(folder, tool):
    """A checkpoint of random weights, as PyTorch makes them."""
    weights, model = f"{folder}/weights.h5", f"{folder}/eccv16.h5"
    subprocess.run(
        [sys.executable, "-m", "export_pytorch", "--module", "retint_reference.networks:eccv16",
         "--weights", weights, "--seed", "0"], check=True, capture_output=True)
    retint_tool.run("import", weights, "--architecture", "eccv16", "-o", model, tool=tool)
    return model


def measure(options):
    """The seconds of each case, and its peak memory in bytes."""
    cases = {}
    with tempfile.TemporaryDirectory() as folder:
        image = picture()
        image.save(f"{folder}/photo.png")
        image.save(f"{folder}/photo.jpg", quality=90)
        models = {"eccv16": eccv16(folder, options.retint), "lite-class-unet-small": LITE}
        for attempt in range(options.rounds + 1):
            for name, model in models.items():
                for kind in ("png", "jpg"):
                    command = [
                        options.retint, "colorize", model, f"{folder}/photo.{kind}", "-o",
                        f"{folder}/out", "--format", "png", "--threads", str(options.threads)]
                    start = time.perf_counter()
                    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
                    _, status, usage = os.wait4(process.pid, 0)
                    seconds = time.perf_counter() - start
                    if status:
                        raise SystemExit(f"{name}: retint ended with status {status}")
                    if attempt:
                        # The first one fills the page cache.
                        cases.setdefault((name, kind), []).append(
                            (seconds, usage.ru_maxrss * 1024))
    return cases


def main():
    parser = retint_options.parser(__doc__)
    parser.add_argument("--retint", default=retint_tool.RETINT, help="the executable")
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count()))
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    print(f"{retint_tool.cpu()}, {options.threads} threads\n")
    columns = ("network", "photo", "first colored megapixel", "peak memory")
    print(retint_tables.header(columns, left=2))
    for (name, kind), runs in measure(options).items():
        seconds = statistics.median(seconds for seconds, _ in runs)
        peak = max(peak for _, peak in runs)
        print(retint_tables.row(
            [name, kind.upper(), f"{seconds:.3f} s", f"{peak / 2**20:.0f} MiB"]))
