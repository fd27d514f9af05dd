"""Pictures of what was estimated on a circle, with the turn laid out from its beginning to its end."""

from __future__ import annotations

from typing import Any

import numpy as np

from ldpkit.estimation.circular_density import CircularDensity
from ldpkit.estimation.direction import DirectionEstimate

__all__ = ["draw_circular_density", "draw_direction"]


def draw_direction(axes: Any, found: DirectionEstimate) -> None:
    """Draw the mean direction with its arc; an arc past the end of the turn goes on at its beginning."""
    domain, arc = found.domain, found.interval()
    start, end = arc
    for turn in (0.0, domain.period):  # what lies past the end is cut off, and seen a turn earlier
        axes.plot([start - turn, end - turn], [0, 0], color="C0", linewidth=4, alpha=0.4)
    axes.plot([found.direction], [0], "o", color="C0")
    axes.set_xlim(domain.low, domain.high)
    axes.set_yticks([])
    axes.set_xlabel("value; both ends are one point")
    told = f"direction {found.direction:.5g}, resultant {found.resultant:.3g}, n = {found.n:,}"
    axes.set_title(f"{told}; {100 * found.level:g}% interval", fontsize=10)


def draw_circular_density(axes: Any, found: CircularDensity) -> None:
    """Draw a density with the scatter of the reports."""
    axes.stairs(found.heights, found.edges, color="C0", linewidth=1.6)
    error = 2 * found.stderr / np.diff(found.edges)
    if np.isfinite(error).all():
        base = np.maximum(found.heights - error, 0)
        axes.stairs(found.heights + error, found.edges, baseline=base, color="C0", alpha=0.2, fill=True)
    axes.set_xlim(found.domain.low, found.domain.high)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("value; both ends are one point")
    axes.set_ylabel("density")
    axes.set_title(f"n = {found.n:,}; band: scatter alone, ±2 standard errors", fontsize=10)
