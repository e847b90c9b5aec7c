"""A fixture for pytest that verifies packages; pytest loads it by itself.

    @pytest.mark.retint(min_psnr=60, max_loss=3)
    def test_conversion(verify_package):
        verify_package("net.mlpackage", module, x)

The mark's arguments are options of :func:`retint.verify`; those of the call replace them. The
figures of outputs become properties of the test in a JUnit report. With
``--retint-results=FOLDER``, the figures of the last run that passed are kept there, and a PSNR that
is more than ``max_loss`` decibels below them fails the test.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import typing

import pytest

import retint
from retint import _reports

Verify = typing.Callable[..., retint.Report]

_FIGURES = ("psnr_db", "snr_db", "max_abs_error", "cosine")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("retint").addoption(
        "--retint-results", metavar="FOLDER",
        help="keep the figures of verified packages here, and compare with the last that passed")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "retint(max_loss=None, **options): options of retint.verify for the fixture "
        "verify_package, and how many decibels of PSNR may be lost since the last run that passed")


@pytest.fixture
def verify_package(request: pytest.FixtureRequest) -> Verify:
    """Verifies a package against a reference, and fails the test unless it passes: a function with
    the arguments of :func:`retint.verify`, which returns the report."""
    marked: dict[str, typing.Any] = {}
    for mark in reversed(list(request.node.iter_markers("retint"))):
        marked.update(mark.kwargs)
    folder = request.config.getoption("--retint-results")
    calls = 0

    def verify(package: typing.Any, reference: object, inputs: object = None,
               **options: typing.Any) -> retint.Report:
        nonlocal calls
        calls += 1
        options = {**marked, **options}
        max_loss = options.pop("max_loss", None)
        report = retint.verify(package, reference, inputs, **options)
        for name, figures in report.outputs.items():
            for figure in _FIGURES:
                if figure in figures:
                    # As record_property does, without its warning about xunit2.
                    request.node.user_properties.append((f"{name}.{figure}", figures[figure]))
        report.raise_if_failed()
        if folder:
            _compare(_file(pathlib.Path(folder), request.node.nodeid, calls), report, max_loss)
        return report

    return verify


def _file(folder: pathlib.Path, test: str, call: int) -> pathlib.Path:
    name = re.sub(r"[^A-Za-z0-9_.\[\]-]+", "-", test)
    return folder / f"{name}-{call}.json"


def _compare(file: pathlib.Path, report: retint.Report, max_loss: float | None) -> None:
    """Compares the report with the last that passed, and takes its place."""
    if file.exists() and max_loss is not None:
        losses = _reports.psnr_losses(
            json.loads(file.read_text()), report, max_loss, f"run that passed ({file})")
        if losses:
            pytest.fail("; ".join(losses), pytrace=False)
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f".{file.name}.part")
    kept = {name: {figure: figures.get(figure) for figure in _FIGURES}
            for name, figures in report.outputs.items()}
    part.write_text(json.dumps(kept, indent=1) + "\n")
    os.replace(part, file)

