"""YUV4MPEG2 videos with absurd headers and frames; anchors, and names of containers."""

import os

from .case import (
    Case, DATA, FAILED, FINE, Rule, USAGE, label, named_once)

VIDEO = ("video", "base/model.h5", "video.y4m", "-o", "new.y4m", "--size", "32")
STREAM = ("video", "base/model.h5", "-", "-o", "-", "--size", "32")
EVALUATE = ("evaluate", "base/model.h5", "--data", "video.y4m", "--video", "--size", "32", "--json")
# A video that is damaged gives what can be read of it, and exit code 1.
PLAYED = Rule((FINE, FAILED, DATA))
NUMBERS = ["0", "-1", "1", "3", "16384", "65536", "2147483647", "2147483648", "9223372036854775807",
           "9223372036854775808", "1e3", "nan", "", "+8", "0x10", "１"]
FIELDS = {"W": "16", "H": "16", "F": "25:1", "I": "p", "A": "1:1", "C": "420jpeg"}


def header(fields=None, **changes):
    stated = {**FIELDS, **(fields or {}), **changes}
    words = [key + text for key, text in stated.items() if text is not None]
    return " ".join(["YUV4MPEG2", *words]).encode("utf8", "surrogateescape") + b"\n"


FRAME = b"FRAME\n" + bytes([80]) * 256 + bytes([128]) * 128


def _sizes():
    for number in NUMBERS:
        yield f"width={label(number)}", header(W=number) + FRAME * 2
        yield f"height={label(number)}", header(H=number) + FRAME * 2
        yield f"both={label(number)}", header(W=number, H=number) + FRAME * 2
    for number in NUMBERS:
        for name, text in (("rate", f"{number}:1"), ("period", f"1:{number}"),
                           ("ratio", f"{number}:{number}")):
            yield f"{name}={label(number)}", header(F=text) + FRAME * 2
        yield f"aspect={label(number)}", header(A=f"{number}:{number}") + FRAME * 2


def _fields():
    for layout in ("", "420", "420p10", "422p10", "444p10", "mono", "mono10", "mono16", "444alpha",
        "411",
                   "420p16", "420p-1", "420jpeg2", "x\x1b[31m", "a" * 3000):
        yield f"layout={label(layout)}", header(C=layout) + FRAME * 4
        yield f"layout-odd={label(layout)}", header(C=layout, W="15", H="1") + FRAME * 4
    for interlacing in ("", "t", "b", "m", "?", "x\x1b[31m", "pp"):
        yield f"interlacing={label(interlacing)}", header(I=interlacing) + FRAME
    for text in ("25", "25:", ":1", "25:1:1", "25/1", "2.5:1", "", ":", "a:b", " ", "30000:1001",
                 "9223372036854775807:9223372036854775807", "2147483647:1", "1:2147483647"):
        yield f"rate-text={label(text)}", header(F=text) + FRAME
    for text in ("COLORRANGE=FULL", "COLORRANGE=", "COLORRANGE=x\x1b[31m", "x" * 4000, "=", "",
                 "YSCSS=" + "y" * 1000):
        yield f"extension={label(text)}", header(X=text) + FRAME
    for key in FIELDS:
        yield f"without={key}", header({key: None}) + FRAME
        yield f"twice={key}", header()[:-1] + f" {key}{FIELDS[key]} {key}\n".encode() + FRAME
    yield "range-twice", header()[:-1] + b" XCOLORRANGE=FULL XCOLORRANGE=LIMITED\n" + FRAME
    yield "unknown-field", header()[:-1] + b" Zx \x80\xff\n" + FRAME


def _streams():
    head = header()
    contents = {
        "empty": b"", "signature": b"YUV4MPEG2", "signature-only": b"YUV4MPEG2\n",
        "no-frames": head,
        "no-line-end": head[:-1], "signature-2": b"YUV4MPEG3 W16 H16\n",
        "spaces": b"YUV4MPEG2" + b" " * 4000,
        "long-line": b"YUV4MPEG2 " + b"X" * 10_000_000, "nul": b"YUV4MPEG2 W16\0 H16\n",
        "carriage-return": head[:-1] + b"\r\n" + FRAME, "frame-cut": head + FRAME[:-1],
        "frame-name": head + b"FRAMES\n" + FRAME, "frame-lower": head + FRAME.lower(),
        "frame-empty": head + b"\n" * 1000, "frame-parameters": head + FRAME.replace(
            b"FRAME", b"FRAME Ip X=1"), "frame-interlaced": head + FRAME.replace(b"FRAME",
                b"FRAME It"),
        "frame-long": head + b"FRAME " + b"X" * 10_000_000,
        "frame-escape": head + b"FRAM\x1b[31m\nFORGED\n",
        "frame-5000": head + b"FRAME" + b" X" * 2000 + b"\n" + FRAME[6:],
        "trailing": head + FRAME + b"x",
        "two-headers": head + FRAME + head + FRAME, "frames-300": head + FRAME * 300,
        "huge-cut": header(W="8000", H="7999") + b"FRAME\n",
        "bytes": bytes(range(256)) * 10,
    }
    return contents.items()


def _names():
    """Names of inputs and outputs: (name, rule, input, output)."""
    outputs = ["new.\x1b[31m", "new.y4m\nFORGED", "", "/", "out/", "nowhere/new.y4m", "video.y4m",
               "./video.y4m", "/dev/full", "new", "new.mp4", "new.mkv", "new.xyz",
               "a" * 300 + ".y4m",
               "-.y4m", "new.Y4M", "base/video.y4m/new.y4m", "base"]
    for name in outputs:
        yield f"output={label(name)}", "video.y4m", name
    inputs = ["nowhere.y4m", "base", "/dev/null", "/dev/zero", "base/model.h5", "base/photo.png",
        "",
              "x\x1b[31m.y4m", "x\nFORGED", "a" * 5000, "base/iOS15.mlpackage", "--",
              "file:video.y4m",
              "concat:video.y4m", "http://127.0.0.1:9/x.mp4", "pipe:0", "link.y4m", "pipe.y4m"]
    for name in inputs:
        yield f"input={label(name)}", name, "new.y4m"


def _options():
    """Anchors, masks and times."""
    anchors = ["base/photo.png", "base/photo.jpg", "base/model.h5", "/dev/zero", "/dev/null",
        "base",
               "nowhere", "x\x1b[31m\nFORGED", "video.y4m", ""]
    for path in anchors:
        yield f"anchor={label(path)}", ["--anchor", path]
        yield f"mask={label(path)}", ["--mask", path]
    yield "anchors-300", ["--anchor", "base/photo.png"] * 300
    for text in ("0", "-1", "1e400", "nan", "inf", "1e308", "1e-320", "9223372036854775808", "x",
        ""):
        yield f"start={label(text)}", [f"--start={text}"]
        yield f"duration={label(text)}", [f"--duration={text}"]
        yield f"both={label(text)}", [f"--start={text}", f"--duration={text}"]
    for text in ("crf", "=", "crf=", "=1", "a=b=c", "x\x1b[31m=1\nFORGED", "f=null",
        "-i=/etc/passwd"):
        yield f"encoder-option={label(text)}", [f"--encoder-option={text}"]
    for text in ("", "libx264", "x\x1b[31m\nFORGED", "-i", "copy"):
        yield f"encoder={label(text)}", [f"--encoder={text}"]
    for quad in ("0,0 16,0 16,16 0,16", "nan,0 16,0 16,16 0,16", "1e308,0 16,0 16,16 0,16",
        "0,0 0,0 0,0 0,0",
                 "-1e6,-1e6 1e6,-1e6 1e6,1e6 -1e6,1e6"):
        yield f"quad={label(quad)}", ["--quad", quad]
    yield "live-resume", ["--live", "--resume"]


def _write(content):
    def write(folder):
        (folder / "video.y4m").write_bytes(content)
        (folder / "link.y4m").symlink_to("nowhere")
        os.mkfifo(folder / "pipe.y4m")
        os.chmod(folder / "pipe.y4m", 0o600)

    return write


def _plain(content):
    return lambda folder: (folder / "video.y4m").write_bytes(content)


def cases(base):
    """All of these videos and options."""
    made = []
    for index, (name, content) in enumerate((*_sizes(), *_fields(), *_streams())):
        command = (VIDEO, STREAM, VIDEO, EVALUATE)[index % 4]
        stdin = "video.y4m" if command is STREAM else ""
        made.append(Case(
            f"video/{name}", PLAYED, command, _plain(content), stdin, keeps=("new.y4m",)))
    video = header() + FRAME * 3
    for name, source, output in _names():
        if source == "pipe.y4m":
            continue
        made.append(Case(
            f"video/{name}", Rule((FINE, FAILED, USAGE, DATA)),
            ("video", "base/model.h5", source, "-o", output, "--size", "32"), _write(video),
            keeps=("video.y4m",) if output.endswith("video.y4m") else ()))
    for name, options in _options():
        made.append(Case(
            f"video/{name}", Rule((FINE, USAGE, DATA)), (*VIDEO, *options), _plain(video)))
    return named_once(made)
