"""Pictures of what was estimated on a circle: a direction on it, a density with the turn laid out."""

from __future__ import annotations

from typing import Any

import numpy as np

from ldpkit.core.text import interval_text
from ldpkit.core.typing import Floats
from ldpkit.estimation.circular_density import CircularDensity
from ldpkit.estimation.direction import DirectionEstimate
from ldpkit.figures.canvas import with_unit
from ldpkit.figures.estimates import BAND, draw_truth
from ldpkit.figures.theme import MAIN, MUTED

__all__ = ["draw_circular_density", "draw_direction"]


def draw_direction(axes: Any, found: DirectionEstimate, *, unit: str = "") -> None:
    """Draw the circle, the interval as an arc of it, and an arrow as long as the resultant."""
    domain = found.domain

    def point(value: Any, radius: float = 1.0) -> tuple[Any, Any]:
        return radius * np.cos(domain.radians(value)), radius * np.sin(domain.radians(value))

    turn = np.linspace(domain.low, domain.high, 361)
    axes.plot(*point(turn), color=MUTED, linewidth=1)
    start, end = found.interval()
    arc = np.linspace(start, end, 361)
    axes.plot(*point(arc), color=MAIN, linewidth=7, alpha=0.5, solid_capstyle="butt")
    arrow = {"arrowstyle": "-|>", "color": MAIN, "linewidth": 2, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", point(found.direction, found.resultant), (0, 0), arrowprops=arrow)
    for share in (0.0, 0.25, 0.5, 0.75):
        value = domain.low + share * domain.period
        axes.plot(*point(value), "o", color=MUTED, markersize=3)
        axes.text(*point(value, 1.16), f"{value:.5g}", ha="center", va="center")
    axes.set_xlim(-1.35, 1.35)
    axes.set_ylim(-1.3, 1.3)
    axes.set_aspect("equal")
    axes.set_axis_off()
    told = interval_text(found.direction, start, end, unit=unit)
    axes.set_title(
        f"mean direction {told}, n = {found.n:,}\narc: {100 * found.level:g}% interval; the arrow would "
        f"reach the circle if all were alike, and goes {found.resultant:.0%} of the way",
        wrap=True,
    )


def draw_circular_density(
    axes: Any, found: CircularDensity, *, truth: Floats | None = None, unit: str = ""
) -> None:
    """Draw a density with the scatter of the reports; `truth` are the values, where a simulation has them."""
    if truth is not None:
        draw_truth(axes, truth, found.edges)
    axes.stairs(found.heights, found.edges, color=MAIN, linewidth=1.8, label="estimate")
    error = 2 * found.stderr / np.diff(found.edges)
    if np.isfinite(error).all():
        base = np.maximum(found.heights - error, 0)
        axes.stairs(found.heights + error, found.edges, baseline=base, color=MAIN, alpha=0.2, fill=True)
    axes.set_xlim(found.domain.low, found.domain.high)
    axes.set_ylim(bottom=0)
    axes.set_xlabel(with_unit("value; both ends are one point", unit))
    axes.set_ylabel("density" if not unit else f"density (1/{unit})")
    if truth is not None:
        axes.legend()
    axes.set_title(f"n = {found.n:,}; {BAND}", loc="left", wrap=True)
