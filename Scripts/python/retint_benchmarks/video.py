"""Measures how many frames retint colors per second, and its memory use.

    Scripts/benchmark video [--model CHECKPOINT] [--frames N] [--threads N] [--rounds N]

Colors a 1920 × 1080 video in 4:2:0 from YUV4MPEG2 to YUV4MPEG2, and from H.264 to H.264 with
ffmpeg on both sides: first in one command, `retint video video.mp4 -o colored.mp4`, then as a
pipeline of three. Each result is the median of the rounds; other load on the machine distorts it.
"""

import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import retint_options
import retint_tool

WIDTH, HEIGHT, RATE = 1920, 1080, 30
ENCODING = ["-c:v", "libx264", "-preset", "ultrafast"]


def ffmpeg(*arguments):
    return ["ffmpeg", "-nostdin", "-v", "error", "-y", *map(str, arguments)]


def make_videos(folder, frames):
    """The video as YUV4MPEG2, and encoded with a sound."""
    seconds = frames / RATE
    source = f"testsrc2=size={WIDTH}x{HEIGHT}:rate={RATE}:duration={seconds}"
    raw, encoded = folder / "video.y4m", folder / "video.mp4"
    subprocess.run(
        ffmpeg("-f", "lavfi", "-i", source, "-pix_fmt", "yuv420p", raw), check=True)
    subprocess.run(
        ffmpeg("-i", raw, "-f", "lavfi", "-i", f"sine=duration={seconds}", *ENCODING, encoded),
        check=True)
    return raw, encoded


def cases(options, folder):
    """The name of each case and its processes, each reading what the one before writes."""
    raw, encoded = make_videos(folder, options.frames)
    video = [retint_tool.RETINT, "video", options.model]
    threads = ["--threads", str(options.threads)]
    colored = folder / "colored"
    alone = "--no-stable-colors"
    yield "y4m to y4m", [[*video, raw, "-o", f"{colored}.y4m", *threads]]
    yield f"y4m to y4m, {alone}", [[*video, raw, "-o", f"{colored}.y4m", *threads, alone]]
    yield "H.264 to H.264, one command", [
        [*video, encoded, "-o", f"{colored}.mp4", *threads, "--encoder", "libx264",
         "--encoder-option", "preset=ultrafast"]]
    yield "ffmpeg | retint | ffmpeg", [
        ffmpeg("-i", encoded, "-f", "yuv4mpegpipe", "-"), [*video, "-", "-o", "-", *threads],
        ffmpeg("-f", "yuv4mpegpipe", "-i", "-", *ENCODING, f"{colored}.mp4")]


def seconds(processes):
    """How long processes joined by pipes take."""
    start = time.perf_counter()
    running, output = [], None
    for index, command in enumerate(processes):
        is_last = index == len(processes) - 1
        process = subprocess.Popen(
            [str(word) for word in command], stdin=output, stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL if is_last else subprocess.PIPE)
        if output:
            output.close()
        output = process.stdout
        running.append(process)
    for process in running:
        messages = process.stderr.read().decode()
        if process.wait():
            sys.exit(f"{' '.join(map(str, process.args))}\n{messages}")
    return time.perf_counter() - start


def main():
    parser = retint_options.parser(__doc__)
    parser.add_argument(
        "--model", default=retint_tool.ROOT / "Checkpoints/lite-class-unet-small.h5")
    parser.add_argument("--frames", type=int, default=300)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print(f"{retint_tool.cpu()}, {options.threads} threads, {options.frames} frames of "
          f"{WIDTH} × {HEIGHT}, {pathlib.Path(options.model).stem}")
    with tempfile.TemporaryDirectory() as folder:
        for name, processes in cases(options, pathlib.Path(folder)):
            times = [seconds(processes) for _ in range(options.rounds)]
            rate = options.frames / statistics.median(times)
            print(f"{name:30} {rate:6.1f} frames/s "
                  f"({options.frames / max(times):.1f} … {options.frames / min(times):.1f})")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"largest process: {peak:.0f} MiB")
