"""The paper's table: protocol by method, with standard errors, the best of each row marked."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from ldpkit.bench.experiment import NO_METHOD
from ldpkit.bench.summary import FEW, Mean, Summary
from ldpkit.core.tables import Table
from ldpkit.simulation.metrics import metric_for

__all__ = ["AVERAGE", "Scale", "tabulate"]

AVERAGE = "mean of methods"
"""The column of the mean over all post-processing methods: "avg with PP" of LDP3's tables."""


@dataclass(frozen=True)
class Scale:
    """How the numbers of one table are written: over ten to a power, with some decimals."""

    power: int
    decimals: int

    @classmethod
    def of(cls, summary: Summary) -> Scale:
        """Return the scale that brings a table's largest number between 1 and 1000."""
        largest = max((abs(float(value.mean())) for value in summary.values.values()), default=1.0)
        if not math.isfinite(largest) or largest == 0:
            return cls(0, 2)
        power = 0 if 0.1 <= largest < 1000 else 3 * math.floor(math.log10(largest) / 3)
        return cls(power, 2 if largest / 10**power >= 2 else 3)

    @property
    def unit(self) -> str:
        """What stands behind the table's title."""
        return f", in units of 1e{self.power}" if self.power else ""

    def text(self, mean: Mean, mark: str = "") -> str:
        """Return a mean, its mark and its standard error.

        Examples
        --------
        >>> Scale(-3, 2).text(Mean(0.0012734, 0.0000213), "*")
        '1.27* ±0.02'
        """
        value, error = (f"{number / 10**self.power:.{self.decimals}f}" for number in mean)
        return value + mark if math.isnan(mean.stderr) else f"{value}{mark} ±{error}"


def tabulate(summary: Summary) -> Table:
    """Return the table of one epsilon and metric.

    Examples
    --------
    >>> from ldpkit.bench.experiment import Row
    >>> rows = [Row(1.0, "grr", method, "mae", run, value + run)
    ...         for method, value in (("none", 5.0), ("norm", 2.0), ("norm_sub", 2.0)) for run in (0, 1)]
    >>> for row in tabulate(Summary(rows, 1.0, "mae")).rows:
    ...     print(row)
    ('grr', '5.50 ±0.50', '2.50 ±0.50', '2.50* ±0.50', '2.50* ±0.50')
    ('won', '0%', '', '50%', '50%')
    """
    columns = list(_columns(summary))
    scale = Scale.of(summary)
    metric = metric_for(summary.metric)
    better = "larger is better" if metric.larger_is_better else "smaller is better"
    rows = [(protocol, *_cells(summary, protocol, scale)) for protocol in summary.protocols]
    if len(summary.methods) > 1:
        runs = len(summary.protocols) * summary.repeats
        wins = ("" if method is None else f"{summary.wins(method) / runs:.0%}" for _, method in columns)
        rows.append(("won", *wins))
    return Table(
        title=f"{metric.title} at epsilon = {summary.epsilon:g}{scale.unit} ({better})",
        header=("protocol", *(heading for heading, _ in columns)),
        rows=tuple(rows),
        right=(False, *(True for _ in columns)),
        caption=_caption(summary),
    )


def _caption(summary: Summary) -> str:
    """Return what the numbers and marks of a table are."""
    if summary.repeats == 1:
        return "a single collection: how much of this is chance is not known; * best of its row"
    tied = "~ tied with it: not significantly different at the 5% level"
    noise = ", which so few repeats hardly show" if summary.repeats < FEW else ""
    return f"mean ±standard error of {summary.repeats} repeats; * best of its row, {tied}{noise}"


def _columns(summary: Summary) -> Iterator[tuple[str, str | None]]:
    """Yield headings and methods; None stands for the average."""
    if NO_METHOD in summary.methods:
        yield NO_METHOD, NO_METHOD
    if len(summary.post_processing) > 1:
        yield AVERAGE, None
    for method in summary.post_processing:
        yield method, method


def _cells(summary: Summary, protocol: str, scale: Scale) -> Iterator[str]:
    for _, method in _columns(summary):
        if method is None:
            yield scale.text(summary.average(protocol))
        else:
            yield scale.text(summary.mean(protocol, method), summary.mark(protocol, method))
