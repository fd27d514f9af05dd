"""Pictures of what something costs: the ways to ask a survey, and a day on a cluster."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from ldpkit.core.numbertext import number_text
from ldpkit.figures.canvas import new_figure, three_digits
from ldpkit.figures.theme import BAD, FAINT, MAIN
from ldpkit.planning.cluster import ClusterPlan, readable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ldpkit.planning.survey.plans import SurveyPlan

__all__ = ["cluster_figure", "draw_cluster", "draw_survey", "survey_figure"]


_CLOSE = 0.75  # of the allowed error, from which a number beside a bar may meet the line at 1
_LETTERS, _FEW_LETTERS = 50, 20  # of the name of a cost in a line, on a page and on a phone


def draw_survey(axes: Any, found: SurveyPlan) -> None:
    """Draw the worst error of each way as a part of the wanted one, the best on top."""
    rows = found.rows()
    places = np.arange(len(rows))[::-1]
    ratios = [row["of_wanted"] for row in rows]
    colours = [MAIN if row["of_best"] == 1 else FAINT for row in rows]
    axes.barh(places, ratios, height=0.62, color=colours)
    crossed = any(_CLOSE < each < 1 for each in ratios)  # by the line: then all numbers stand beyond it
    for place, each in zip(places, ratios, strict=True):
        at = max(each, 1) if crossed else each
        axes.annotate(
            three_digits(each), (at, place), (4, 0), textcoords="offset points", va="center", fontsize=8.5
        )
    axes.axvline(1, color=BAD, linestyle=(0, (4, 2)), linewidth=1.2)
    axes.set_yticks(places, [row["way"] for row in rows])
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(0, 1.15 * max(1, *ratios))
    axes.set_title("dashed: the error you allow", loc="left", color=BAD)
    axes.set_xlabel("error of the worst question, as a share of the one you allow")


def survey_figure(found: SurveyPlan, *, across: int | None = None) -> Figure:
    """Return a figure as high as there are ways to ask."""
    figure = new_figure(4.4 if across == 1 else 8.0, 1.5 + 0.45 * len(found.ways))
    draw_survey(figure.subplots(), found)
    return figure


def draw_cluster(axes: Any, found: ClusterPlan, unit: str = "core-hours", *, letters: int = _LETTERS) -> None:
    """Draw the costs of one unit as bars with their amounts, in the unit that suits these best."""
    rows = [row for row in found.rows() if row["unit"] == unit]
    shown, times = readable(max(row["amount"] for row in rows), unit)
    amounts = [times * row["amount"] for row in rows]
    places = np.arange(len(rows))[::-1]
    bars = axes.barh(places, amounts, height=0.55, color=MAIN)
    axes.bar_label(bars, [number_text(each, 3) for each in amounts], padding=4, fontsize=8.5)
    axes.set_yticks(places, [textwrap.fill(row["cost"], letters) for row in rows])
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(0, 1.3 * max(amounts))
    axes.locator_params(axis="x", nbins=3)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.set_xlabel(shown)


def cluster_figure(found: ClusterPlan, *, across: int | None = None) -> Figure:
    """Return a panel for each unit: costs of different units have no common axis."""
    units = list(dict.fromkeys(row["unit"] for row in found.rows() if row["unit"] != "reports"))
    width = 4.4 if across == 1 else 7.5
    counts = [sum(row["unit"] == unit for row in found.rows()) for unit in units]
    heights = [0.65 + (0.55 if across == 1 else 0.35) * count for count in counts]
    figure = new_figure(width, sum(heights))
    panels: Any = figure.subplots(len(units), 1, squeeze=False, gridspec_kw={"height_ratios": heights})
    for axes, unit in zip(panels[:, 0], units, strict=True):
        draw_cluster(axes, found, unit, letters=_FEW_LETTERS if across == 1 else _LETTERS)
    return figure
