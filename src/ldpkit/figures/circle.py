"""Pictures of what was estimated on a circle: a direction on it, a density with the turn laid out."""

from __future__ import annotations

from typing import Any

import numpy as np

from ldpkit.core.numbertext import interval_text
from ldpkit.core.typing import Floats
from ldpkit.estimation.circular_density import CircularDensity
from ldpkit.estimation.direction import DirectionEstimate
from ldpkit.figures.bins import BAND, draw_bins
from ldpkit.figures.canvas import with_unit
from ldpkit.figures.theme import MAIN, MUTED

__all__ = ["draw_circular_density", "draw_direction"]

_PARTS = (8, 6, 7, 12, 10, 5)  # of a turn, between marks: the first that makes whole numbers


def draw_direction(axes: Any, found: DirectionEstimate, *, unit: str = "") -> None:
    """Draw the circle, the interval as an arc of it, and an arrow as long as the resultant."""
    domain = found.domain

    def point(value: Any, radius: float = 1.0) -> tuple[Any, Any]:
        return radius * np.cos(domain.radians(value)), radius * np.sin(domain.radians(value))

    turn = np.linspace(domain.low, domain.high, 361)
    axes.plot(*point(turn), color=MUTED, linewidth=1)
    start, end = found.interval()
    arc = np.linspace(start, end, 361)
    axes.plot(*point(arc), color=MAIN, linewidth=7, alpha=0.8, solid_capstyle="butt")
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
        f"reach the circle if all directions were equal, and covers {found.resultant:.0%} of the way",
        wrap=True,
    )


def draw_circular_density(
    axes: Any, found: CircularDensity, *, truth: Floats | None = None, unit: str = ""
) -> None:
    """Draw the turn laid out; `truth` are the values, where a simulation has them.

    The axis begins where few people are, if they would be cut at the beginning of the turn.
    """
    domain = found.domain
    edges = draw_bins(axes, found, colour=MAIN, truth=truth, unit=unit, first=_first_bin(found.masses))
    axes.set_xlim(edges[0], edges[-1])
    parts = next((each for each in _PARTS if (domain.period / each).is_integer()), _PARTS[0])
    step = domain.period / parts
    ticks = domain.low + step * np.arange(2 * parts + 1)
    ticks = ticks[(ticks >= edges[0] - 1e-9 * domain.period) & (ticks <= edges[-1] + 1e-9 * domain.period)]
    names = domain.low + np.round((ticks - domain.low) / step) % parts * step
    axes.set_xticks(ticks, [f"{name:.5g}" for name in names])
    axes.set_xlabel(with_unit("value", unit) + "; the two ends are the same point")
    if truth is not None:
        axes.legend()
    axes.set_title(f"n = {found.n:,}; {BAND}", loc="left", wrap=True)


def _first_bin(masses: Floats) -> int:
    """Return the bin that a picture begins with: the first, or, if many are around it, where fewest are.

    Examples
    --------
    >>> _first_bin(np.array([0.1, 0.4, 0.4, 0.1])), _first_bin(np.array([0.5, 0.0, 0.0, 0.5]))
    (0, 2)
    """
    near = max(len(masses) // 4, 1)  # bins of a quarter of the turn
    around = [float(np.roll(masses, near - cut)[: 2 * near].sum()) for cut in range(len(masses))]
    return 0 if around[0] <= 2 * near / len(masses) else int(np.argmin(around))
