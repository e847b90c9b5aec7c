"""What retint computes from a file, compared with what PyTorch computed."""

import dataclasses
import json
import math
import subprocess

import retint_tool


@dataclasses.dataclass(frozen=True)
class Verdict:
    """How far a file's outputs are from the expected ones, or why retint cannot say."""

    # The largest error as a share of the output's range, and the smallest PSNR in dB; infinite
    # where values are not finite.
    share: float = math.inf
    psnr: float = -math.inf
    # The error as a multiple of what float32 or half precision loses in the model itself; None
    # where that is not known.
    ratio: float | None = None
    # Why there are no numbers; None if there are.
    refusal: str | None = None

    @property
    def text(self):
        if self.refusal:
            return self.refusal
        ratio = f", {self.ratio:.2f} times the arithmetic's" if self.ratio is not None else ""
        return f"error {self.share:.1e} of the range, PSNR {self.psnr:.1f} dB{ratio}"


def verdict(path, reference, time_limit, values=None):
    """Has retint run a file on a reference's inputs, and write all values to a folder."""
    command = [retint_tool.RETINT, "verify", path, "--reference", reference, "--json",
               *(["--intermediates", values] if values else [])]
    try:
        done = subprocess.run(
            [str(word) for word in command], capture_output=True, text=True, timeout=time_limit)
    except subprocess.TimeoutExpired:
        return Verdict(refusal="it took too long")
    if done.returncode not in (0, 2):
        lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        return Verdict(refusal=" ".join(lines)[:300])
    share, psnr, ratios = 0, math.inf, []
    for output in json.loads(done.stdout)["outputs"].values():
        # Values that are not numbers have no error, and equal ones no PSNR.
        error = output["max_abs_error"]
        share = max(share, math.inf if error is None else error / (output["peak"] or 1))
        psnr = min(psnr, -math.inf if error is None else output["psnr_db"] or math.inf)
        ratios += [output[key] for key in ("half_ratio", "rounding_ratio") if output.get(key)]
    return Verdict(share, psnr, max(ratios, default=None))


def written_output(folder):
    """The last output in a folder that `verdict` has had written."""
    import numpy
    paths = (folder / "data").glob("*.npy")
    return numpy.load(max(paths, key=lambda path: int(path.stem.rsplit("_", 1)[1])))
