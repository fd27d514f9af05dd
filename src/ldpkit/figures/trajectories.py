"""Pictures of reported trajectories, of how far they are off, and of which mechanism to take."""

from __future__ import annotations

from typing import Any

import numpy as np

from ldpkit.core.domains.plane import PlaneDomain
from ldpkit.core.typing import Floats
from ldpkit.figures.plane import draw_points
from ldpkit.planning.locations import LocationRecommendation
from ldpkit.protocols.trajectories import PrivateTrajectories
from ldpkit.simulation.metrics.trajectories import errors_of_points
from ldpkit.simulation.trajectories import TrajectoryEvaluation

__all__ = ["draw_evaluation", "draw_location_recommendation", "draw_private", "evaluation_figure"]

_LINES = 3  # trajectories that are drawn as lines


def _outline(axes: Any, domain: PlaneDomain) -> None:
    """Draw the region, and give longitudes the width that they have there."""
    corners: Floats = domain.locations(domain.region.corners)
    if len(corners):
        closed = np.concatenate([corners, corners[:1]])
        axes.plot(*closed.T, color="0.5", linewidth=1)
    is_degrees = domain.projection is not None
    middle = domain.locations(np.array([domain.region.centre]))[0, 1]
    axes.set_aspect(1 / max(np.cos(np.radians(middle)), 0.01) if is_degrees else 1.0)
    axes.set_xlabel("longitude" if is_degrees else "x")
    axes.set_ylabel("latitude" if is_degrees else "y")


def draw_private(axes: Any, found: PrivateTrajectories) -> None:
    """Draw the reported points, and some trajectories as lines."""
    mechanism = next(iter(found.mechanisms.values()))
    _outline(axes, mechanism.domain)
    draw_points(axes, found.trajectories.points, "reports", "C0")
    for position, line in zip(range(_LINES), found.trajectories, strict=False):
        axes.plot(
            *line.T, color=f"C{position + 1}", linewidth=0.8, label=str(found.trajectories.ids[position])
        )
    axes.legend(fontsize=8, loc="upper right")
    axes.set_title(found.title, fontsize=10)


def draw_evaluation(axes: Any, found: TrajectoryEvaluation) -> None:
    """Draw for each mechanism how many reports are how near."""
    known = found.domain.take(found.truth.points)
    for position, each in enumerate(found.private):
        errors = np.sort(errors_of_points(known, found.answers(position)))
        name = next(iter(each.mechanisms.values())).name
        axes.plot(errors, np.arange(1, len(errors) + 1) / len(errors), label=f"{name}: {errors.mean():.4g}")
    axes.axvline(found.radius, color="0.7", linewidth=1)
    axes.set_xlabel("distance between report and location")
    axes.set_ylabel("share of reports that are no further")
    axes.legend(fontsize=8, title="mean distance", title_fontsize=8)
    axes.set_title(found.title, fontsize=10)


def evaluation_figure(found: TrajectoryEvaluation) -> Any:
    """Return a figure of the true points, the reported ones of each mechanism, and their distances."""
    from ldpkit.figures.canvas import new_figure

    shown = found.private[:6]
    across = min(4, len(shown) + 2)
    down = -(-(len(shown) + 2) // across)
    figure = new_figure(4.2 * across, 4.0 * down)
    panels = list(np.atleast_1d(figure.subplots(down, across, squeeze=False)).ravel())
    every = [("locations", found.truth.points)]
    every += [(next(iter(each.mechanisms.values())).name, each.trajectories.points) for each in shown]
    for axes, (name, points) in zip(panels, every, strict=False):
        _outline(axes, found.domain)
        draw_points(axes, points, name, "C0")
        axes.set_title(name, fontsize=10)
    draw_evaluation(panels[len(every)], found)
    panels[len(every)].set_title("distances", fontsize=10)
    for axes in panels[len(every) + 1 :]:
        axes.set_axis_off()
    return figure


def draw_location_recommendation(axes: Any, found: LocationRecommendation) -> None:
    """Draw the error of each mechanism, best on top; the constant answer is grey."""
    rows = found.rows()[::-1]
    colours = ["0.6" if row["of_constant"] == 1 else "C0" for row in rows]
    axes.barh([row["mechanism"] for row in rows], [row["error"] for row in rows], color=colours)
    for place, row in enumerate(rows):
        axes.text(row["error"], place, f" {row['error']:.4g}", va="center", fontsize=8)
    axes.margins(x=0.12)
    axes.set_xlabel("mean distance" if found.grid is None else "total variation from the true map")
    axes.set_title(found.title, fontsize=10)
