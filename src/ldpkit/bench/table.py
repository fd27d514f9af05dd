"""The paper's table: protocol by method, with standard errors, the best of each row marked."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ldpkit.bench.grid import NO_METHOD
from ldpkit.bench.summary import Mean, Summary
from ldpkit.simulation.metrics import metric_for

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["AVERAGE", "WITHOUT", "Scale", "render"]

WITHOUT, AVERAGE = "w/o PP", "avg with PP"


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

    def text(self, mean: Mean, separator: str = " ") -> str:
        """Return a mean with its standard error.

        Examples
        --------
        >>> Scale(-3, 2).text(Mean(0.0012734, 0.0000213))
        '1.27 ±0.02'
        """
        value, error = (f"{number / 10**self.power:.{self.decimals}f}" for number in mean)
        return value if math.isnan(mean.stderr) else f"{value}{separator}±{error}"


def render(summary: Summary, width: int = 160) -> Table:
    """Return the table of one epsilon and metric for a terminal of some width."""
    from rich import box
    from rich.table import Table

    columns = list(_columns(summary))
    narrow = 12 + 15 * len(columns) > width
    scale = Scale.of(summary)
    metric = metric_for(summary.metric)
    better = "larger is better" if metric.larger_is_better else "smaller is better"
    table = Table(
        title=f"{metric.title} at epsilon = {summary.epsilon:g}{scale.unit} ({better})",
        caption=f"mean ±standard error of {summary.repeats} repeats; * best of its row",
        title_justify="left",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0) if narrow else (0, 1),
    )
    table.add_column("protocol", no_wrap=not narrow)
    for heading, _ in columns:
        table.add_column(heading.replace("_", "_\n") if narrow else heading, justify="right", no_wrap=True)
    for protocol in summary.protocols:
        table.add_row(protocol, *_cells(summary, protocol, scale, "\n" if narrow else " "))
    if len(summary.methods) > 1:
        runs = len(summary.protocols) * summary.repeats
        wins = ("" if method is None else f"{summary.wins(method) / runs:.0%}" for _, method in columns)
        table.add_section()
        table.add_row("won", *wins, style="dim")
    return table


def _columns(summary: Summary) -> Iterator[tuple[str, str | None]]:
    """Yield headings and methods; None stands for the average."""
    if NO_METHOD in summary.methods:
        yield WITHOUT, NO_METHOD
    if len(summary.post_processing) > 1:
        yield AVERAGE, None
    for method in summary.post_processing:
        yield method, method


def _cells(summary: Summary, protocol: str, scale: Scale, separator: str) -> Iterator[str]:
    best = summary.best_method(protocol) if len(summary.methods) > 1 else None
    for _, method in _columns(summary):
        mean = summary.average(protocol) if method is None else summary.mean(protocol, method)
        text = scale.text(mean, separator)
        mark = "*" if method == best and method is not None else ""
        first, _, error = text.partition(separator)
        yield f"[bold]{first}{mark}[/bold]{separator}{error}" if mark else text
