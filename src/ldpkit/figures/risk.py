"""Pictures of the adversary: what more epsilon gives away."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ldpkit.assurance.adversary.compare import Risks
from ldpkit.assurance.adversary.risk_record import Risk
from ldpkit.figures.canvas import label_ends, label_logs, label_percents, make_panels, name_line
from ldpkit.figures.theme import BAD, BAR, FAINT, MUTED, PAPER, style_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_risk", "draw_risks", "risks_figure"]

Line = tuple[list[float], list[float]]
"""Epsilons, and a measure at each."""

_LEAST_BARS = 4  # as if there were so many, so that one is no block
_MOST_NAMED = 8  # lines that have room for their names at their ends
_MEASURES = {
    "success": "share of guesses that are right",
    "squared_error": "mean squared error of the guess",
    "precision": "precision",
    "recall": "recall",
    "f_score": "F-score",
}


def draw_risk(axes: Any, found: Risk) -> None:
    """Draw how often the guess is right with and without a report."""
    axes.bar(
        ["without a report", "with it" if found.reports == 1 else f"with {found.reports}"],
        [found.blind, found.success],
        color=[FAINT, BAD],
        width=0.6,
    )
    axes.bar_label(axes.containers[0], [f"{each:.1%}" for each in (found.blind, found.success)], padding=3)
    axes.set_ylabel("guesses that are right")
    axes.set_ylim(0, 1.08)
    label_percents(axes.yaxis)
    axes.set_title(f"{found.mechanism}: epsilon {found.epsilon:.4g}", loc="left", wrap=True)


def draw_risks(axes: Any, found: Risks, measure: str = "success") -> None:
    """Draw one measure over epsilon, a line for each mechanism; at a single epsilon, a bar for each."""
    first = found.risks[0]
    budgets = [each.epsilon for each in found.risks]
    blind = {"success": first.blind, "squared_error": first.blind_squared_error}.get(measure)
    suffix = "" if blind is not None else f" of 'at most {first.eta:g}'"
    named = found.by_mechanism()
    if max(budgets) - min(budgets) < 0.01 or len(found.risks) == len(named):
        _draw_bars(axes, found, measure, blind)
        axes.set_xlabel(_MEASURES[measure] + suffix)
        return
    ends = []
    lines = _lines(named, measure)
    for index, (name, (epsilons, values)) in enumerate(lines.items()):
        look = style_of(index)
        axes.plot(epsilons, values, label=name, **look)
        if not math.isnan(values[-1]):
            ends.append((epsilons[-1], values[-1], name, look["color"]))
    if blind is not None:
        axes.axhline(blind, color=MUTED, linewidth=1, linestyle=(0, (1, 1.5)))
    axes.set_xscale("log")
    asked = sorted({float(f"{each:.3g}") for each in budgets})
    if len(asked) <= _MOST_NAMED:
        axes.set_xticks(asked, [f"{each:g}" for each in asked])
        axes.minorticks_off()
    else:
        label_logs(axes.xaxis)
    axes.set_xlabel("epsilon (smaller is more private)")
    axes.set_ylabel(_MEASURES[measure] + suffix)
    axes.set_ylim(0, 1.06 * axes.get_ylim()[1])
    if measure != "squared_error":
        label_percents(axes.yaxis)
    axes.grid(axis="y")
    if len(ends) == len(lines) <= _MOST_NAMED:
        label_ends(axes, ends)
    else:
        axes.legend()
    if blind is not None:
        name_line(axes, blind, "without a report")


def _lines(named: Mapping[str, Sequence[Risk]], measure: str) -> dict[str, Line]:
    """Return the lines that differ, each by the mechanisms whose line it is: equal ones hide each other."""
    found: list[tuple[list[str], Line]] = []
    for name, risks in named.items():
        told = [getattr(each, measure) for each in risks]
        line = [each.epsilon for each in risks], [math.nan if each is None else each for each in told]
        same = (names for names, other in found if _are_equal(line, other))
        names = next(same, None)
        if names is None:
            found.append(([name], line))
        else:
            names.append(name)
    return {" = ".join(names): line for names, line in found}


def _are_equal(one: Line, other: Line) -> bool:
    """Whether two lines are one: realised epsilons differ in their last digits."""
    return len(one[0]) == len(other[0]) and np.allclose(one, other, rtol=1e-4, atol=0, equal_nan=True)


def _draw_bars(axes: Any, found: Risks, measure: str, blind: float | None) -> None:
    """Draw a bar for each mechanism: they are categories, and equal ones are equally long."""
    values = [getattr(each, measure) for each in found.risks]
    places = range(len(values))[::-1]
    one = len({round(each.epsilon, 2) for each in found.risks}) == 1
    names = [each.name if one else f"{each.name}, epsilon {each.epsilon:.3g}" for each in found.risks]
    bars = axes.barh(places, [value or 0.0 for value in values], height=0.6, color=BAR)
    write = "{:.1f}".format if measure == "squared_error" else "{:.1%}".format
    texts = ["never says yes" if value is None else write(value) for value in values]
    ground = {"boxstyle": "square,pad=0.1", "facecolor": PAPER, "edgecolor": "none"}  # before the dashed line
    reach = max([*(value or 0.0 for value in values), blind or 0.0])
    for bar, text in zip(bars, texts, strict=True):
        end = bar.get_width()
        if blind is not None and 0 <= blind - end < 0.2 * reach:  # no room before the dashed line
            end = blind
        at = end, bar.get_y() + bar.get_height() / 2
        axes.annotate(text, at, (4, 0), textcoords="offset points", va="center", fontsize=8.5, bbox=ground)
    if measure != "squared_error":
        label_percents(axes.xaxis)
    axes.set_yticks(places, names)
    axes.tick_params(axis="y", length=0)
    axes.margins(x=0.18)
    room = max(0.6, (_LEAST_BARS - len(values)) / 2)
    axes.set_ylim(-room, len(values) - 1 + room)
    if blind is not None:
        axes.axvline(blind, color=BAD, linewidth=1.4, linestyle=(0, (4, 2)))
        axes.set_xlim(right=max(axes.get_xlim()[1], 1.1 * blind))
        axes.set_title("dashed: a guess without a report", loc="left", color=BAD)


def risks_figure(found: Risks, *, across: int | None = None) -> Figure:
    """Return success, error and, where asked for, precision, recall and F-score over epsilon."""
    first = found.risks[0]
    asked = list(_MEASURES)[: 2 if first.eta is None else None]
    measures = [name for name in asked if name != "squared_error" or first.squared_error is not None]
    width = 4.4 if across == 1 else 7.0 if len(measures) == 1 else 4.4
    figure, panels = make_panels(len(measures), width, 3.6, across=across)
    for axes, measure in zip(panels, measures, strict=True):
        draw_risks(axes, found, measure)
    for axes in panels[1:]:  # the lines of all panels are the same
        if axes.get_legend() is not None and found.risks[0].eta is not None:
            axes.get_legend().remove()
    return figure
