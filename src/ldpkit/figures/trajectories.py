"""Pictures of reported trajectories, of how far they are off, and of which mechanism to take."""

from __future__ import annotations

from typing import Any

import numpy as np

from ldpkit.core.domains.plane import PlaneDomain
from ldpkit.core.typing import Floats
from ldpkit.figures.canvas import label_percents, make_panels, three_digits, with_unit
from ldpkit.figures.plane import draw_points, panel_height
from ldpkit.figures.theme import FAINT, INK, MAIN, MUTED, PAPER, style_of
from ldpkit.planning.locations import LocationRecommendation
from ldpkit.protocols.trajectories import PrivateTrajectories
from ldpkit.simulation.metrics.trajectories import errors_of_points
from ldpkit.simulation.trajectories import TrajectoryEvaluation

__all__ = [
    "draw_evaluation",
    "draw_location_recommendation",
    "draw_private",
    "evaluation_figure",
    "private_figure",
]

_LINES = 3  # trajectories that are drawn as lines


def _outline(axes: Any, domain: PlaneDomain, unit: str = "") -> None:
    """Draw the region, and give longitudes the width that they have there."""
    corners: Floats = domain.locations(domain.region.corners)
    if len(corners):
        closed = np.concatenate([corners, corners[:1]])
        axes.plot(*closed.T, color=MUTED, linewidth=1)
    is_degrees = domain.projection is not None
    middle = domain.locations(np.array([domain.region.centre]))[0, 1]
    axes.set_aspect(1 / max(np.cos(np.radians(middle)), 0.01) if is_degrees else 1.0)
    axes.set_xlabel("longitude" if is_degrees else with_unit("x", unit))
    axes.set_ylabel("latitude" if is_degrees else with_unit("y", unit))


def draw_private(axes: Any, found: PrivateTrajectories, position: int = 0) -> None:
    """Draw the reported points, and one trajectory as a line: several would hide each other."""
    mechanism = next(iter(found.mechanisms.values()))
    _outline(axes, mechanism.domain)
    draw_points(axes, found.trajectories.points, "reports", FAINT)
    line = list(found.trajectories)[position]
    axes.plot(*line.T, color=MAIN, linewidth=0.5, alpha=0.45)
    axes.plot(*line.T, "o", color=MAIN, markersize=2.5)
    axes.set_title(f"{found.trajectories.ids[position]}: {len(line)} reports", loc="left")


def private_figure(found: PrivateTrajectories, *, across: int | None = None) -> Any:
    """Return a panel for each of some trajectories, all reports in grey behind it."""
    height = panel_height(next(iter(found.mechanisms.values())).domain, 4.0)
    figure, panels = make_panels(min(_LINES, len(found.trajectories)), 4.0, height, across=across)
    for position, axes in enumerate(panels):
        draw_private(axes, found, position)
    figure.suptitle(f"{found.title}; grey: everybody's reports", fontsize=10)
    return figure


def draw_evaluation(axes: Any, found: TrajectoryEvaluation, *, unit: str = "") -> None:
    """Draw for each mechanism how many reports are how near."""
    known = found.domain.take(found.truth.points)
    for position, each in enumerate(found.private):
        errors = np.sort(errors_of_points(known, found.answers(position)))
        name = next(iter(each.mechanisms.values())).name
        shares = np.arange(1, len(errors) + 1) / len(errors)
        look = style_of(position)
        axes.plot(
            errors,
            shares,
            label=f"{name}: {errors.mean():.3g} ± {_scatter(errors):.2g}",
            color=look["color"],
            linestyle=look["linestyle"],
        )
    measure = unit or ("metres" if found.domain.projection is not None else "")
    axes.axvline(found.radius, color=MUTED, linewidth=1, linestyle=":")
    axes.annotate(
        f"near: {found.radius:.3g}{f' {measure}' if measure else ''}",
        (found.radius, 1),
        (0, 3),
        xycoords=axes.get_xaxis_transform(),
        textcoords="offset points",
        color=MUTED,
        fontsize=8,
    )
    label_percents(axes.yaxis)
    axes.set_xlabel(with_unit("distance between report and location", measure))
    axes.set_ylabel("reports within this distance")
    told = with_unit("mean ± 2 standard errors", measure)
    axes.legend(title=told, title_fontsize=8, fontsize=8, loc="lower right")
    axes.set_title(found.title, loc="left", wrap=True)


def _scatter(errors: Floats) -> float:
    """Return two standard errors of the mean of independent errors."""
    return 2 * float(errors.std(ddof=1)) / len(errors) ** 0.5 if len(errors) > 1 else float("nan")


def evaluation_figure(found: TrajectoryEvaluation, *, across: int | None = None, unit: str = "") -> Any:
    """Return a figure of the true points, the reported ones of each mechanism, and their distances."""
    shown = found.private[:6]
    every = [("locations", found.truth.points)]
    every += [(next(iter(each.mechanisms.values())).name, each.trajectories.points) for each in shown]
    columns = 2 if len(every) + 1 == 4 else None  # no panel alone in a row
    width = 4.2 if across == 1 else 3.4
    height = max(panel_height(found.domain, width), 2.6)
    figure, panels = make_panels(len(every) + 1, width, height, across=across or columns)
    low, high = (
        np.min([points.min(axis=0) for _, points in every], axis=0),
        np.max([points.max(axis=0) for _, points in every], axis=0),
    )
    for axes, (name, points) in zip(panels, every, strict=False):
        _outline(axes, found.domain, unit)
        draw_points(axes, points, name, INK if name == "locations" else MAIN)
        axes.set_title("true locations" if name == "locations" else name, loc="left")
        axes.set_xlim(min(axes.get_xlim()[0], low[0]), max(axes.get_xlim()[1], high[0]))
        axes.set_ylim(min(axes.get_ylim()[0], low[1]), max(axes.get_ylim()[1], high[1]))
    draw_evaluation(panels[-1], found, unit=unit)
    panels[-1].set_title("how far reports are off", loc="left", pad=15)  # above the name of the line
    return figure


def draw_location_recommendation(axes: Any, found: LocationRecommendation, *, unit: str = "") -> None:
    """Draw the error of each mechanism, best on top, those that tie alike; the constant answer is grey."""
    rows = found.rows()[::-1]
    ties = set(found.ties)
    colours = [
        PAPER if row["of_constant"] == 1 else MAIN if row["mechanism"] in ties else FAINT for row in rows
    ]
    bars = axes.barh(
        ["asking nobody" if row["of_constant"] == 1 else row["mechanism"] for row in rows],
        [row["error"] for row in rows],
        color=colours,
        edgecolor=[MUTED if row["of_constant"] == 1 else "none" for row in rows],
        height=0.62,
    )
    errors = [2 * (row["stderr"] or 0.0) for row in rows]
    if any(errors):
        places = range(len(rows))
        axes.errorbar([row["error"] for row in rows], places, xerr=errors, fmt="none", ecolor=INK, capsize=2)
    axes.bar_label(bars, [three_digits(row["error"]) for row in rows], padding=8, fontsize=8.5)
    axes.tick_params(axis="y", length=0)
    axes.margins(x=0.14)
    measure = unit or ("metres" if found.domain.projection is not None else "")
    axes.set_xlabel(
        with_unit("mean distance between report and location", measure)
        if found.grid is None
        else "total variation from the true map"
    )
    axes.set_title(found.title, loc="left", wrap=True)
