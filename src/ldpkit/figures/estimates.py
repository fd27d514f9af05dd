"""Pictures of estimates: frequencies, means, densities and quantiles, each with its errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ldpkit.core.numbertext import interval_text
from ldpkit.core.tables import cell_text
from ldpkit.core.typing import Floats
from ldpkit.estimation.density import Density, Quantile
from ldpkit.estimation.estimate import Estimate
from ldpkit.estimation.numeric import NumericEstimate
from ldpkit.figures.bins import BAND, draw_bins
from ldpkit.figures.canvas import label_numbers, label_percents, new_figure, with_unit
from ldpkit.figures.theme import BAD, BAR, FAINT, INK, MAIN, MUTED, PAPER
from ldpkit.protocols.adaptive_mean import AdaptiveEstimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "draw_density",
    "draw_frequencies",
    "draw_mean",
    "draw_quantile",
    "frequencies_figure",
    "mean_figure",
    "plain_label",
]

_MOST_BARS = 20  # more of them cannot be read
_LONGEST = 28  # letters of a label
_NARROW = 0.15  # of the domain: a shorter interval is drawn larger
_KEPT = 0.6  # of the domain: a density on less is drawn larger


def plain_label(value: Any) -> str:
    r"""Return a label as text that fits beside a bar and is no formula.

    Examples
    --------
    >>> plain_label("5 $"), len(plain_label("x" * 80))
    ('5 \\$', 28)
    """
    text = cell_text(value)
    short = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return short.replace("$", r"\$")


def draw_frequencies(axes: Any, found: Estimate, *, order: Sequence[Any] = ()) -> None:
    """Draw the most frequent values as bars with their intervals, those that may be nobody's hatched.

    Parameters
    ----------
    axes : matplotlib axes
        Where to draw.
    found : Estimate
        What to draw.
    order : sequence, optional
        The values to show, from top to bottom; by default numbers in their order, and others by frequency.
    """
    numbers = all(isinstance(label, (int, float)) for label in found.domain.labels)
    rows = found.rows(_MOST_BARS, sort="value" if numbers else "frequency")
    if order:
        every = {row["value"]: row for row in found.rows()}
        rows = [every[value] for value in order]
    places = np.arange(len(rows))[::-1]
    middle = np.array([row["frequency"] for row in rows])
    ends = np.array([[row["low"] for row in rows], [row["high"] for row in rows]])
    unsure = ends[0] <= 0
    bars = axes.barh(places, middle, height=0.66, color=[FAINT if each else BAR for each in unsure])
    for bar, each in zip(bars, unsure, strict=True):
        if each:
            bar.set_hatch("///")
            bar.set_edgecolor(MUTED)
    axes.errorbar(
        middle, places, xerr=np.abs(ends - middle), fmt="none", ecolor=INK, capsize=3, elinewidth=1.2
    )
    axes.axvline(0, color=MUTED, linewidth=0.8)
    axes.set_yticks(places, [plain_label(row["value"]) for row in rows])
    axes.set_ylim(-0.7, len(rows) - 0.3)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)  # the line at 0 is the one to look along
    axes.grid(axis="x")
    label_percents(axes.xaxis)
    axes.set_xlabel("share of people")
    shown = f", the {len(rows)} most frequent of {len(found):,}" if len(rows) < len(found) else ""
    hatched = "; hatched: the interval reaches 0" if unsure.any() else ""
    kind = "simultaneous intervals" if found.simultaneous else "intervals"
    axes.set_title(f"n = {found.n:,}{shown}; {100 * found.level:g}% {kind}{hatched}", loc="left", wrap=True)


def frequencies_figure(found: Estimate, *, across: int | None = None) -> Figure:
    """Return a figure as high as there are bars."""
    count = min(len(found), _MOST_BARS)
    figure = new_figure(4.4 if across == 1 else 8.0, 1.3 + 0.29 * count)
    draw_frequencies(figure.subplots(), found)
    return figure


def draw_mean(axes: Any, found: NumericEstimate | AdaptiveEstimate, *, unit: str = "") -> None:
    """Draw the mean with its interval, on as much of the numbers' range as lets it be seen."""
    domain = found.domain if isinstance(found, NumericEstimate) else found.second.domain
    low, high = found.interval()
    reach = [[found.mean - low], [high - found.mean]]
    axes.errorbar([found.mean], [0], xerr=reach, fmt="o", color=MAIN, capsize=6, markersize=8, elinewidth=2)
    axes.annotate(
        interval_text(found.mean, low, high, unit=unit),
        (found.mean, 0),
        (0, 14),
        textcoords="offset points",
        ha="center",
        fontsize=11,
        bbox={"boxstyle": "square,pad=0.2", "facecolor": PAPER, "edgecolor": "none"},
    )
    if high - low < _NARROW * domain.width:
        room = 2 * max(high - low, 1e-9 * domain.width)
        axes.set_xlim(max(low - room, min(domain.low, low)), min(high + room, max(domain.high, high)))
        part = f"; axis: part of the range {domain.low:g} to {domain.high:g}"
    else:
        axes.set_xlim(min(domain.low, low), max(domain.high, high))
        part = "; axis: the whole range"
    axes.set_ylim(-0.6, 1.0)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")
    label_numbers(axes.xaxis)
    axes.set_xlabel(with_unit("mean", unit))
    axes.set_title(f"n = {found.n:,}; {100 * found.level:g}% interval{part}", loc="left", wrap=True)


def mean_figure(
    found: NumericEstimate | AdaptiveEstimate, *, across: int | None = None, unit: str = ""
) -> Figure:
    """Return a low figure: there is one number to see."""
    figure = new_figure(4.4 if across == 1 else 8.0, 2.1)
    draw_mean(figure.subplots(), found, unit=unit)
    return figure


def draw_density(
    axes: Any,
    found: Density,
    *,
    truth: Floats | None = None,
    colour: str = MAIN,
    unit: str = "",
    name: str = "estimate",
) -> None:
    """Draw a density with the scatter of the reports, and its quantiles with their intervals.

    Parameters
    ----------
    axes : matplotlib axes
        Where to draw.
    found : Density
        What to draw.
    truth : array, optional
        The values, where a simulation knows them; drawn as a histogram in the same bins.
    colour : str
        Of the density.
    unit : str
        What the numbers are measured in.
    name : str
        What the density is called.
    """
    draw_bins(axes, found, colour=colour, name=name, truth=truth, unit=unit)
    low, high = _mass(found)
    axes.set_xlim(low, high)
    _draw_quantiles(axes, found)
    label_numbers(axes.xaxis)
    axes.set_xlabel(with_unit("value", unit))
    told = ""
    if found.quantiles:
        told = f"; diamonds: quantiles, {100 * found.quantiles[0].level:g}% intervals"
    axes.set_title(f"n = {found.n:,}; {BAND}{told}", loc="left", wrap=True)
    if len(axes.get_legend_handles_labels()[1]) > 1:  # one line needs no name
        axes.legend(loc="best")


def _draw_quantiles(axes: Any, found: Density) -> None:
    """Draw the quantiles with their intervals above the density, a line for each."""
    height = axes.get_ylim()[1]
    for place, each in enumerate(found.quantiles):
        at = height * (1.03 + 0.085 * place)
        reach = [[each.value - each.low], [each.high - each.value]]
        axes.errorbar([each.value], [at], xerr=reach, fmt="D", color=BAD, markersize=4.5, capsize=3)
        left, right = axes.get_xlim()
        behind = each.low - left > right - each.high  # where there is more room for its name
        axes.annotate(
            f"{100 * each.q:g}%",
            (each.low if behind else each.high, at),
            (-5 if behind else 5, 0),
            textcoords="offset points",
            ha="right" if behind else "left",
            va="center",
            color=BAD,
            fontsize=8.5,
        )
    if found.quantiles:
        axes.set_ylim(0, height * (1.06 + 0.085 * len(found.quantiles)))


def _mass(found: Density) -> tuple[float, float]:
    """Return where to look: the whole domain, or where nearly all people are if that is much less."""
    low, high = (float(end) for end in found.quantile([0.001, 0.999]))
    if high - low > _KEPT * found.domain.width:
        return found.domain.low, found.domain.high
    room = 0.15 * (high - low)
    return max(low - room, found.domain.low), min(high + room, found.domain.high)


def draw_quantile(axes: Any, found: Quantile, *, unit: str = "") -> None:
    """Draw a quantile with its interval."""
    reach = [[found.value - found.low], [found.high - found.value]]
    axes.errorbar(
        [found.value],
        [found.q],
        xerr=reach,
        fmt="o",
        color=MAIN,
        markerfacecolor=PAPER,
        capsize=6,
        elinewidth=2,
    )
    axes.set_ylim(0, 1)
    axes.margins(x=0.4)
    axes.grid(axis="x")
    axes.set_xlabel(with_unit("value", unit))
    axes.set_ylabel("share of people below")
    axes.set_title(f"n = {found.n:,}; {100 * found.level:g}% interval", loc="left")
