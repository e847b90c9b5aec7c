"""What a verification found."""

from __future__ import annotations

import typing

from retint import _errors


class Report(typing.Mapping[str, typing.Any]):
    """The report of a verification: the mapping that `retint verify --json` prints.

    In a notebook it is shown as a table.
    """

    def __init__(self, values: dict[str, typing.Any]) -> None:
        self._values = values

    def __getitem__(self, key: str) -> typing.Any:
        return self._values[key]

    def __iter__(self) -> typing.Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    @property
    def passed(self) -> bool:
        """Whether everything that was compared is within its tolerance."""
        return bool(self._values["passed"])

    @property
    def outputs(self) -> dict[str, dict[str, typing.Any]]:
        """The figures of each output, by its name."""
        return dict(self._values.get("outputs") or {})

    @property
    def layers(self) -> list[dict[str, typing.Any]]:
        """The figures of the values in between, in the order in which they are computed."""
        return list(self._values.get("layers") or [])

    @property
    def first_divergence(self) -> dict[str, typing.Any] | None:
        """The figures of the first value in between that is outside the tolerance, of those that
        were compared: its ``name``, the reference's layer that it was ``compared_with``, and its
        errors. None if there is none."""
        found = self._values.get("first_past_tolerance")
        if not found:
            return None
        return next((layer for layer in self.layers if layer["name"] == found["layer"]), None)

    @property
    def failures(self) -> list[str]:
        """What is outside the tolerance, a sentence each; outputs begin with their names."""
        return list(self._values.get("failures") or [])

    def raise_if_failed(self) -> Report:
        """Raises :class:`VerificationFailed` unless the model passed; else returns the report."""
        if not self.passed:
            raise _errors.VerificationFailed(str(self), self)
        return self

    def __str__(self) -> str:
        verdict = "passed" if self.passed else "failed"
        lines = [f"{self._values.get('model', 'the model')} {verdict}"]
        if self._values.get("reference"):
            lines[0] += f" against {self._values['reference']}"
        lines += [f"  {failure}" for failure in self.failures]
        if self.first_divergence:
            lines.append(f"  first divergence: {_place(self.first_divergence)}")
            if self.passed:
                lines.append("  the outputs agree on these inputs, although that value is outside "
                             "its tolerance: on other inputs, they may differ")
        compared = sum("compared_with" in layer for layer in self.layers)
        if not self.passed and 0 < compared < len(self.layers):
            lines.append(f"  {compared} of {len(self.layers)} intermediate values were compared")
            if not self.first_divergence:
                lines[-1] += self._where_errors_rise()
        for name, figures in self.outputs.items():
            lines.append(f"  {name}: {_figures(figures)}")
        return "\n".join(lines)

    def _where_errors_rise(self) -> str:
        """What the compared layers say of outputs that fail, though all layers are within their
        tolerance, which is wider."""
        ratios = [(layer["compared_with"], _snr(layer)) for layer in self.layers
                  if "compared_with" in layer]
        falls = [(before - after, name, before, after) for (_, before), (name, after)
                 in zip([("", _EXACT), *ratios], ratios)]
        fall, name, before, after = max(falls)
        if fall > _CLEAR_FALL:
            return (f", all within their wider tolerance; the error rises most at {name}: the SNR "
                    f"falls from {before:.1f} to {after:.1f} dB")
        last, lowest = ratios[-1][0], min(after for _, after in ratios)
        if min(map(_snr, self.outputs.values())) < lowest - _CLEAR_FALL:
            return f"; all agree, up to {last}: what differs is computed after them"
        return ", all within their wider tolerance"

    def __repr__(self) -> str:
        return f"<retint.Report {'passed' if self.passed else 'failed'}: {len(self.layers)} layers>"

    def _repr_html_(self) -> str:
        """The table that notebooks show."""
        import html

        color = "#1a7f37" if self.passed else "#cf222e"
        rows = "".join(
            f"<tr><td>{html.escape(name)}</td><td>{figures.get('shape')}</td>"
            f"<td>{html.escape(_figures(figures))}</td></tr>"
            for name, figures in self.outputs.items())
        faults = "".join(f"<li>{html.escape(failure)}</li>" for failure in self.failures)
        layer = self.first_divergence
        note = f"<p>First divergence: {html.escape(_place(layer))}</p>" if layer else ""
        return (
            f'<p><b style="color:{color}">{"Passed" if self.passed else "Failed"}</b> '
            f"{html.escape(str(self._values.get('model', '')))}</p><table><tr><th>output</th>"
            f"<th>shape</th><th>error</th></tr>{rows}</table><ul>{faults}</ul>{note}")


#: Above this PSNR, in decibels, only rounding differs; no difference at all counts as this.
_EXACT = 120.0
#: A fall of the SNR from one layer to the next, in decibels, that rounding does not explain.
_CLEAR_FALL = 10.0


def _snr(figures: typing.Mapping[str, typing.Any]) -> float:
    value = figures.get("snr_db")
    return _EXACT if value is None else min(float(value), _EXACT)


def psnr_losses(before: typing.Mapping[str, typing.Any], report: Report, most: float,
                run: str) -> list[str]:
    """The outputs that lost more decibels of PSNR than is allowed, as sentences.

    :param before: the figures of an earlier run, by output.
    :param run: what that run is called: "release".
    """
    found = []
    for name in report.outputs:
        if name not in before:
            continue
        old, new = (_decibels(outputs[name]) for outputs in (before, report.outputs))
        if old - new > most:
            found.append(f"{name}: the PSNR fell from {old:.1f} to {new:.1f} dB since the last "
                         f"{run}, by more than {most:g} dB")
    return found


def _decibels(figures: typing.Mapping[str, typing.Any]) -> float:
    value = figures.get("psnr_db")
    return min(float(value), _EXACT) if isinstance(value, (int, float)) else _EXACT


def _place(layer: dict[str, typing.Any]) -> str:
    """`var_82, compared with blocks.1.b: relative error 0.03`."""
    error = layer.get("relative_error")
    text = f"relative error {error:.3g}" if isinstance(error, (int, float)) else "not finite"
    return f"{layer['name']}, compared with {layer.get('compared_with')}: {text}"


def _figures(figures: dict[str, typing.Any]) -> str:
    parts = []
    for key, text in [("max_abs_error", "largest error {:.3g}"), ("psnr_db", "PSNR {:.1f} dB"),
                      ("snr_db", "SNR {:.1f} dB"), ("cosine", "cosine {:.6f}")]:
        if isinstance(figures.get(key), (int, float)):
            parts.append(text.format(figures[key]))
    # JSON has no NaN and no infinity: their figures are missing.
    return ", ".join(parts) if figures.get("max_abs_error") is not None else "not finite"
