"""The table of an experiment about numbers: data by epsilon by mechanism, the best marked."""

from __future__ import annotations

import math
from collections.abc import Mapping

from ldpkit.bench.numeric_summary import NumericSummary
from ldpkit.bench.summary import Mean
from ldpkit.core.tables import Table
from ldpkit.planning.ties import is_equal

__all__ = ["SCALES", "SHORT_TITLES", "TITLES", "scale", "tabulate_numeric"]

TITLES = {
    "mse": "n times the mean squared error of the mean, on the scale of [-1, 1]",
    "expected": "n times the expected squared error of the mean, on the scale of [-1, 1]",
    "coverage": "how often the 95% interval holds the mean",
    "wasserstein": "1000 times the Wasserstein distance of the density, as a share of the interval",
}
SHORT_TITLES = {
    "mse": "n times the mean squared error",
    "expected": "n times the expected squared error",
    "wasserstein": "1000 times the Wasserstein distance",
}
"""The errors, as a sentence names them."""
SCALES = {"mse": "[-1, 1]", "expected": "[-1, 1]", "coverage": "", "wasserstein": "share of the interval"}
"""What the single errors are measured on, whatever the interval; they are not multiplied by anything."""
_BY_PEOPLE = ("mse", "expected")
_CAPTION = (
    "mean ±standard error of the repeats; * best of its row, "
    "~ tied with it: not significantly different at the 5% level"
)
_COVERAGE_CAPTION = "mean ±standard error of the repeats; 0.95 is what was promised, and more is cautious"


def scale(metric: str, people: int) -> float:
    """Return by what the means under a metric are multiplied before they are shown."""
    if metric in _BY_PEOPLE:
        return float(people)
    return 1000.0 if metric == "wasserstein" else 1.0


def _text(mean: Mean, factor: float) -> str:
    """Return a mean with three digits, and its error in the same decimals."""
    value, error = mean.value * factor, mean.stderr * factor
    decimals = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 2
    if math.isnan(error) or error < 0.5 * 10**-decimals:
        return f"{value:.{decimals}f}"
    return f"{value:.{decimals}f} ±{error:.{decimals}f}"


def _cells(summary: NumericSummary, people: Mapping[str, int]) -> list[list[str]]:
    lines = []
    for data, epsilon in summary.lines():
        factor = scale(summary.metric, people[data])
        best, tied = summary.best(data, epsilon), summary.tied(data, epsilon)
        line, means = [data, f"{epsilon:g}"], summary.at(data, epsilon)
        for name in summary.mechanisms():
            equal = name in means and is_equal(means[name].value, means[best].value)
            mark = "*" if equal else "~" if name in tied else ""
            mean = _text(means[name], factor) if name in means else ""
            line.append(mean if summary.metric == "coverage" else mean + mark)
        lines.append(line)
    return lines


def tabulate_numeric(summary: NumericSummary, people: Mapping[str, int]) -> Table:
    """Return the table of one metric.

    Parameters
    ----------
    summary : NumericSummary
        The means.
    people : mapping
        How many people each data set has.
    """
    mechanisms = summary.mechanisms()
    return Table(
        title=TITLES[summary.metric],
        header=("data", "epsilon", *mechanisms),
        rows=tuple(map(tuple, _cells(summary, people))),
        right=(False, False, *(True for _ in mechanisms)),
        caption=_CAPTION if summary.metric != "coverage" else _COVERAGE_CAPTION,
    )
