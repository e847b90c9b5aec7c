"""A gate for pull requests: verifies a package, compares it with the last release, and reports.

    python -m retint.gate net.mlpackage --against net.onnx --output gate [--baseline last-gate]

Writes into the folder of --output:

    report.json     what `retint verify --json` prints, to be the --baseline of the next run
    comment.md      a table for a comment on the pull request
    junit.xml       a test case for each bound
    results.sarif   an error for each bound that is violated

and appends comment.md to the summary of a GitHub workflow. `--export checkpoint.h5` writes the
package first. Options of `retint verify` come after `--`: `-- --min-psnr 60 --photos photos`. The
exit code is that of `retint verify`: 0 passed, 2 outside the tolerance, or more than --max-loss
decibels of PSNR below the baseline; 64 and 65 for what cannot be compared.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import sys
import typing

from retint import _commands, _errors, _library, _reports, _verification

_FIGURES = (("psnr_db", "PSNR (dB)", "{:.2f}"), ("snr_db", "SNR (dB)", "{:.2f}"),
            ("max_abs_error", "largest error", "{:.3g}"))


def main(arguments: typing.Sequence[str] | None = None) -> int:
    """Runs the gate; returns its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    own, rest = (given[:given.index("--")], given[given.index("--") + 1:]) if "--" in given \
        else (given, [])
    options = _parse(own)
    options.output.mkdir(parents=True, exist_ok=True)
    try:
        report = _verified(options, rest)
    except _errors.RetintError as error:
        print(f"retint.gate: {error}", file=sys.stderr)
        return error.status
    before = _baseline(options.baseline)
    losses = _reports.psnr_losses(
        (before or {}).get("outputs") or {}, report, options.max_loss, "release")
    text = comment(report, before, losses, options.package)
    (options.output / "comment.md").write_text(text)
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary:
        with open(summary, "a", encoding="utf-8") as file:
            file.write(text)
    print(text)
    return 0 if report.passed and not losses else _verification.TOLERANCE_EXCEEDED


def _parse(arguments: typing.Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m retint.gate", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("package")
    reference = parser.add_mutually_exclusive_group(required=True)
    reference.add_argument("--against", metavar="MODEL")
    reference.add_argument("--reference", metavar="FILE")
    parser.add_argument("--export", metavar="CHECKPOINT", help="write the package first")
    parser.add_argument("--precision", choices=("float32", "float16"), default="float16",
                        help="that of the exported package; default: float16")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("retint-gate"))
    parser.add_argument("--baseline", type=pathlib.Path,
                        help="the output of the last release: a folder, or its report.json")
    parser.add_argument("--max-loss", type=float, default=3.0,
                        help="decibels of PSNR that may be lost since then; default: 3")
    return parser.parse_args(arguments)


def _verified(options: argparse.Namespace, rest: typing.Sequence[str]) -> _reports.Report:
    if options.export:
        _commands.export(options.export, options.package, precision=options.precision)
    which = ("--against", options.against) if options.against else (
        "--reference", options.reference)
    text = _library.command(
        "verify", options.package, *which, *rest, "--json",
        "--junit", str(options.output / "junit.xml"),
        "--sarif", str(options.output / "results.sarif"),
        allowed=(0, _verification.TOLERANCE_EXCEEDED))
    (options.output / "report.json").write_text(text)
    return _reports.Report(json.loads(text))


def _baseline(path: pathlib.Path | None) -> dict[str, typing.Any] | None:
    """The report of the last release; None if there is none yet."""
    if path is None:
        return None
    file = path / "report.json" if path.is_dir() else path
    if not file.exists():
        print(f"retint.gate: {path}: there is no report yet", file=sys.stderr)
        return None
    values: dict[str, typing.Any] = json.loads(file.read_text())
    return values


def _figures(report: typing.Mapping[str, typing.Any] | None,
             name: str) -> dict[str, typing.Any]:
    return dict(((report or {}).get("outputs") or {}).get(name) or {})


def comment(report: _reports.Report, before: dict[str, typing.Any] | None, losses: list[str],
            package: str) -> str:
    """The table as Markdown."""
    passed = report.passed and not losses
    lines = [f"### {'✅' if passed else '❌'} `{package}` "
             f"{'passed' if passed else 'failed'} against `{report.get('reference', '')}`", ""]
    heads = ["output", *(title for _, title, _ in _FIGURES)]
    lines += [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    for name, figures in report.outputs.items():
        cells = [f"`{name}`"]
        for key, _, form in _FIGURES:
            cells.append(_cell(figures.get(key), _figures(before, name).get(key), form))
        lines.append(f"| {' | '.join(cells)} |")
    faults = report.failures + losses
    if faults:
        lines += ["", *(f"- {fault}" for fault in faults)]
    layer = report.first_divergence
    if layer and not report.passed:
        lines += ["", f"First divergence: `{layer['name']}`, compared with "
                      f"`{layer['compared_with']}`."]
    lines += ["", f"Computed by {report.get('runtime', 'retint')}, in {report.get('compute')}."]
    return "\n".join(lines) + "\n"


def _cell(value: object, before: object, form: str) -> str:
    if not isinstance(value, (int, float)):
        return "exact"
    text = form.format(value)
    if isinstance(before, (int, float)) and form.format(before) != text:
        text += f" (was {form.format(before)})"
    return text


if __name__ == "__main__":
    sys.exit(main())
