"""Converts and judges cases; runs in the environment of a producer.

    python -m retint_oracle.worker PRODUCER KIND FOLDER < NAMES

Reads names of cases, one a line, and appends a line of JSON for each to FOLDER/results.jsonl:

    right     retint computes what PyTorch does
    wrong     it computes other numbers, or another shape; so does ONNX Runtime
    ours      retint does, but ONNX Runtime computes what PyTorch does
    refused   the converter raises an exception
    unread    retint cannot read or run the file
    invalid   PyTorch itself does not compute the case

FOLDER/current is the name of the case in work, for which whoever ends the process can see what
ended it. Files that are wrong or unread remain in FOLDER/files.
"""

import contextlib
import copy
import gc
import json
import logging
import math
import pathlib
import shutil
import sys
import tempfile
import traceback
import warnings

import torch

from retint_conversion import exporters, judging

from . import cases, producers

# What counts as equal: the largest error as a share of the output's range, where everything is
# float32 and where some operations are float16; the PSNR in dB.
SHARE, HALF_SHARE, PSNR = 1e-4, 2e-3, 50
# Seconds for one run of retint.
TIME_LIMIT = 60


def main():
    producer, kind, folder = sys.argv[1:]
    [kind] = [one for one in producers.named(producer).kinds if one.name == kind]
    folder = pathlib.Path(folder)
    (folder / "files").mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    logging.disable()
    torch.set_num_threads(1)
    torch.backends.mha.set_fastpath_enabled(False)
    known = {case.name: case for case in cases.all_cases()}
    collect_rarely()
    with open(folder / "results.jsonl", "a") as results, torch.no_grad():
        for name in sys.stdin.read().splitlines():
            (folder / "current").write_text(name)
            with tempfile.TemporaryDirectory() as scratch:
                result = {"case": name} | Trial(
                    known[name], kind, pathlib.Path(scratch)).result(folder / "files")
            results.write(json.dumps(result) + "\n")
            results.flush()
    (folder / "current").unlink(missing_ok=True)


def collect_rarely():
    """Makes the converters' own collections free, which take longer than a conversion does."""
    gc.freeze()
    gc.collect = lambda *generation: 0


class Trial:
    """A case, converted to a kind of file."""

    def __init__(self, case, kind, folder):
        self.case, self.kind = case, kind
        self.path = folder / f"{case.key}.{kind.extension}"
        self.reference = folder / f"{case.key}.h5"
        # What retint writes where it is not enough to know errors.
        self.values = folder / f"{case.key}.aimodelintermediates"

    def result(self, kept):
        try:
            self.module = self.case.module()
            self.examples = self.module.examples
            self.expected = computed(self.module, self.examples)
        except Exception as error:
            return {"state": "invalid", "text": first_line(error)}
        try:
            exporter = getattr(exporters, self.kind.exporter)
            with contextlib.redirect_stderr(None):
                input_names = exporter(
                    self.module, self.examples, self.path, *self.kind.options)
        except Exception as error:
            return {"state": "refused", "text": first_line(error)}
        is_finite = self.expected.isfinite().all()
        exporters.write_reference(
            self.reference, self.examples, (self.expected.nan_to_num(0, 0, 0),),
            input_names if isinstance(input_names, list) else None)
        result = self.judged(judging.verdict(
            self.path, self.reference, TIME_LIMIT, None if is_finite else self.values))
        if result["state"] in ("wrong", "unread"):
            if self.path.suffix == ".onnx":
                result = self.judged_again(result)
            self.keep(kept)
        return result

    def judged_again(self, result):
        """A result with what ONNX Runtime computes."""
        try:
            error = onnx_error(self.path, self.examples, self.expected, self.share)
        except Exception as problem:
            return result | {"second": first_line(problem)}
        if result["state"] == "wrong" and error <= self.share:
            result = result | {"state": "ours"}
        return result | {"second": "right" if error <= self.share else f"error {error:.1e}"}

    def judged(self, found):
        if found.refusal and "has shape" not in found.refusal:
            return {"state": "unread", "text": found.refusal}
        if found.refusal is None and not self.expected.isfinite().all():
            return self.judged_by_values()
        right = found.refusal is None and (
            self.is_right_in_half(found) if self.kind.is_half else self.is_right(found))
        return {"state": "right" if right else "wrong", "text": found.text}

    def judged_by_values(self):
        problem = unlike(torch.from_numpy(judging.written_output(self.values)), self.expected,
                         self.share)
        return {"state": "wrong" if problem else "right", "text": problem or "equal"}

    def is_right(self, found):
        if found.share <= self.share:
            return True
        # What float32 itself loses explains an error of its size.
        wanted = attempt(lambda: computed(copy.deepcopy(self.module).double(), self.examples))
        if wanted is None or not wanted.abs().max():
            return False
        lost = ((self.expected - wanted).abs().max() / wanted.abs().max()).item()
        return found.share <= 4 * lost

    def is_right_in_half(self, found):
        if found.psnr >= PSNR:
            return True
        half = attempt(lambda: computed(copy.deepcopy(self.module).half(), [
            value.half() if value.is_floating_point() else value for value in self.examples]))
        if half is None:
            return False
        if not half.isfinite().all():
            return found.psnr == -math.inf
        error = (half - self.expected).double().square().mean().item()
        peak = self.expected.abs().max().item()
        return found.psnr >= (10 * math.log10(peak * peak / error) if error and peak else PSNR) - 6

    @property
    def share(self):
        if self.kind.is_half:
            return 1e-2
        return HALF_SHARE if "half" in self.case.name or "float16" in self.case.name else SHARE

    def keep(self, folder):
        for path in (self.path, self.reference):
            target = folder / path.name
            if target.is_dir():
                shutil.rmtree(target)
            if path.exists():
                shutil.move(path, target)


def onnx_error(path, inputs, expected, share):
    """The largest error of ONNX Runtime as a share of the output's range."""
    import onnxruntime
    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    [found] = session.run(None, {
        given.name: value.numpy() for given, value in zip(session.get_inputs(), inputs)})
    if found.shape != tuple(expected.shape):
        return math.inf
    if not expected.isfinite().all():
        return math.inf if unlike(torch.from_numpy(found), expected, share) else 0
    error = (torch.from_numpy(found) - expected).abs().max().item()
    return error / (expected.abs().max().item() or 1) if math.isfinite(error) else math.inf


def computed(module, inputs):
    """The output in float32."""
    [output] = module(*inputs)
    if output.numel() == 0:
        raise ValueError("the output is empty")
    return output.float()


def unlike(found, expected, share):
    """What differs in an output with infinities or NaN; None if nothing does."""
    if found.shape != expected.shape:
        return f"has shape {tuple(found.shape)} instead of {tuple(expected.shape)}"
    if share > SHARE:
        found, expected = found.half().float(), expected.half().float()
    if (found.isnan() != expected.isnan()).any():
        return "NaN at other places"
    usual = expected.isfinite()
    if ((found != expected) & expected.isinf()).any() or found[usual].isinf().any():
        return "infinities at other places"
    error = (found - expected)[usual].abs().max().item() if usual.any() else 0
    peak = expected[usual].abs().max().item() if usual.any() else 1
    return None if error <= share * (peak or 1) else f"error {error / (peak or 1):.1e} of the range"


def attempt(make):
    try:
        return make()
    except Exception:
        return None


def first_line(error):
    lines = [line for line in str(error).strip().splitlines() if line.strip()] or [""]
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {lines[0].strip()[:200]} ({place.name})"


if __name__ == "__main__":
    main()
