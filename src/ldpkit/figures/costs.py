"""Pictures of what something costs: the ways to ask a survey, and a day on a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ldpkit.core.text import number_text
from ldpkit.figures.canvas import make_panels
from ldpkit.figures.theme import BAD, MAIN, MUTED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ldpkit.planning.cluster import ClusterPlan
    from ldpkit.planning.survey.plans import SurveyPlan

__all__ = ["cluster_figure", "draw_cluster", "draw_survey"]


def draw_survey(axes: Any, found: SurveyPlan) -> None:
    """Draw the worst error of each way as a part of the wanted one, the best on top."""
    rows = found.rows()
    places = np.arange(len(rows))[::-1]
    ratios = [row["of_wanted"] for row in rows]
    colours = [MAIN if row["of_best"] == 1 else MUTED for row in rows]
    bars = axes.barh(places, ratios, height=0.62, color=colours)
    axes.bar_label(bars, [f"{each:.3g}" for each in ratios], padding=4, fontsize=8.5)
    axes.axvline(1, color=BAD, linestyle=(0, (4, 2)), linewidth=1.2)
    axes.annotate(
        "as exact as wanted",
        (1, 1),
        (3, 3),
        xycoords=axes.get_xaxis_transform(),
        textcoords="offset points",
        color=BAD,
        fontsize=8.5,
    )
    axes.set_yticks(places, [row["way"] for row in rows])
    axes.tick_params(axis="y", length=0)
    axes.margins(x=0.12)
    axes.set_xlabel("error of the worst question over the wanted one (less is better)")


def draw_cluster(axes: Any, found: ClusterPlan, unit: str = "core-hours") -> None:
    """Draw the costs of one unit as bars with their amounts."""
    rows = [row for row in found.rows() if row["unit"] == unit]
    places = np.arange(len(rows))[::-1]
    bars = axes.barh(places, [row["amount"] for row in rows], height=0.55, color=MAIN)
    axes.bar_label(bars, [number_text(row["amount"], 3) for row in rows], padding=4, fontsize=8.5)
    axes.set_yticks(places, [row["cost"] for row in rows])
    axes.tick_params(axis="y", length=0)
    axes.margins(x=0.18)
    axes.locator_params(axis="x", nbins=4)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.set_xlabel(unit)


def cluster_figure(found: ClusterPlan, *, across: int | None = None) -> Figure:
    """Return a panel for each unit: costs of different units have no common axis."""
    units = list(dict.fromkeys(row["unit"] for row in found.rows() if row["unit"] != "reports"))
    width = 4.4 if across == 1 else 7.5
    figure, panels = make_panels(len(units), width, 1.25, across=1)
    for axes, unit in zip(panels, units, strict=True):
        draw_cluster(axes, found, unit)
    return figure
