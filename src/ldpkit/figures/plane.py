"""Pictures of the plane: cells of a map, points and reports, drawn as they lie."""

from __future__ import annotations

from typing import Any

import numpy as np

from ldpkit.core.domains.cellgrid import CellGrid
from ldpkit.core.domains.plane import PlaneDomain
from ldpkit.core.typing import Floats
from ldpkit.estimation.heatmap import HeatMap
from ldpkit.estimation.hotspots import Hotspots
from ldpkit.estimation.origin_destination import OriginDestination
from ldpkit.figures.canvas import ACROSS, label_percents, make_panels, new_figure, with_unit
from ldpkit.figures.theme import BAD, ON_DARK, ON_LIGHT

__all__ = [
    "draw_cells",
    "draw_flows",
    "draw_heatmap",
    "draw_hotspots",
    "draw_points",
    "heatmap_figure",
    "hotspots_figure",
    "panel_height",
]

_MOST_POINTS = 1_500
_PILED, _LARGEST = 3, 90.0  # points on one place, and the area of the mark where most are
_FAR = 3  # times the fullest cell


def draw_cells(
    axes: Any, grid: CellGrid, values: Floats, *, most: float | None = None, unit: str = ""
) -> Any:
    """Draw each cell of a map in a colour of its value, and return what a colour bar needs."""
    from matplotlib.collections import PolyCollection

    outlines = grid.domain.locations(grid.outlines().reshape(-1, 2)).reshape(-1, 4, 2)
    drawn = PolyCollection(list(outlines), array=np.asarray(values), cmap="viridis", edgecolors="face")
    drawn.set_clim(0, max(float(np.max(values)), 1e-12) if most is None else most)
    axes.add_collection(drawn)
    _frame(axes, grid, outlines.reshape(-1, 2), unit)
    return drawn


def _frame(axes: Any, grid: CellGrid, corners: Floats, unit: str) -> None:
    (west, south), (east, north) = corners.min(axis=0), corners.max(axis=0)
    axes.set_xlim(west, east)
    axes.set_ylim(south, north)
    is_degrees = grid.domain.projection is not None
    wide = np.cos(np.radians((south + north) / 2)) if is_degrees else 1.0
    axes.set_aspect(1 / max(wide, 0.01))
    axes.set_xlabel("longitude" if is_degrees else with_unit("x", unit))
    axes.set_ylabel("latitude" if is_degrees else with_unit("y", unit))


def draw_points(axes: Any, points: Floats, label: str, colour: str) -> None:
    """Draw points, at most some of them, evenly picked; where many are one, by area.

    They are drawn as such, not as an image: an image would keep its colours in dark mode.
    """
    points = points[:: -(-len(points) // _MOST_POINTS) or 1]
    places, counts = np.unique(points, axis=0, return_counts=True)
    if counts.size == 0 or counts.mean() < _PILED:
        axes.plot(*points.T, ".", color=colour, markersize=3, alpha=0.6, label=label)
    else:  # points on a grid would hide each other
        areas = _LARGEST * counts / counts.max()
        axes.scatter(*places.T, s=areas, color=colour, alpha=0.8, linewidths=0, label=label)


def panel_height(domain: PlaneDomain, width: float) -> float:
    """Return how high a panel of a width must be for a map of a region, in inches, its names included."""
    (west, south), (east, north) = np.array(domain.region.box)  # of a projection in metres, as it is drawn
    shape = float(np.clip((north - south) / max(east - west, 1e-12), 0.35, 1.2))
    return 0.85 + (width - 1.0) * shape


def _name_colours(axes: Any, drawn: Any, label: str = "share of reports") -> None:
    """Put the bar of the colours beside a map, as high as the map is."""
    bar = axes.figure.colorbar(drawn, cax=axes.inset_axes((1.03, 0.0, 0.035, 1.0)), label=label)
    label_percents(bar.ax.yaxis)


def draw_heatmap(axes: Any, found: HeatMap, *, truth: Floats | None = None, unit: str = "") -> None:
    """Draw the share of reports in each cell; `truth` are locations, where a simulation has them."""
    _name_colours(axes, draw_cells(axes, found.grid, found.masses, unit=unit))
    axes.set_title(f"{_made(found)}n = {found.n:,} reports", loc="left")
    if truth is not None:
        draw_points(axes, truth, "locations", ON_DARK)


def heatmap_figure(
    found: HeatMap, *, truth: Floats | None = None, across: int | None = None, unit: str = ""
) -> Any:
    """Return a figure of a map and of the ends of its intervals, or of the true map beside it."""
    shown = {"estimated": found.masses}
    if truth is not None:
        shown = {"true": found.grid.shares_of(truth), **shown}
    compared = list(shown)  # these have one scale, so that they can be compared
    for name, values in (("low", found.low), ("high", found.high)):
        if values.any():  # no mechanism with wide windows bounds a cell from below
            shown[f"{name} ends of the {100 * found.level:g}% intervals"] = values
    most = max(float(np.max(shown[name])) for name in compared)
    widest = max(float(np.max(values)) for values in shown.values())
    ends = widest if widest > _FAR * most else None  # ends so far off would leave the map one colour
    most = most if ends else widest
    columns = across or (2 if len(shown) == 4 else ACROSS)
    height = panel_height(found.grid.domain, 3.6)
    figure, panels = make_panels(len(shown), 4.2, height, across=columns)
    for place, (axes, (name, values)) in enumerate(zip(panels, shown.items(), strict=True)):
        top = most if name in compared else ends or most
        drawn = draw_cells(axes, found.grid, values, most=top, unit=unit)
        if ends or (place + 1) % columns == 0 or place + 1 == len(shown):  # one scale needs one bar in a row
            _name_colours(axes, drawn, "")
        axes.set_title(name, loc="left")
    figure.suptitle(f"Share of reports in each cell: {_made(found)}n = {found.n:,} reports", fontsize=10)
    return figure


def _made(found: HeatMap) -> str:
    """Return which mechanism made the reports, to stand before other facts."""
    return f"{found.made_by['mechanism']}, " if "mechanism" in found.made_by else ""


def draw_hotspots(axes: Any, found: Hotspots) -> None:
    """Draw the map with the chance of each hotspot on its cell."""
    draw_heatmap(axes, found.density)
    outlines = found.density.grid.domain.locations(found.density.grid.outlines().reshape(-1, 2)).reshape(
        -1, 4, 2
    )
    for cell, row in zip(found.cells.tolist(), found.rows(), strict=True):
        axes.plot(*np.concatenate([outlines[cell], outlines[cell][:1]]).T, color=BAD, linewidth=2.5, zorder=3)
        axes.annotate(
            f"{row['chance']:.0%}",
            (row["x"], row["y"]),
            ha="center",
            va="center",
            color=ON_LIGHT,
            fontsize=8.5,
            bbox={"boxstyle": "round,pad=0.2", "facecolor": ON_DARK, "edgecolor": "none", "alpha": 0.9},
        )
    axes.set_title("")
    told = f"framed: the {len(found.cells)} fullest cells, and how often each is among them when redrawn"
    axes.set_title(told, loc="left", wrap=True)


def hotspots_figure(found: Hotspots, *, across: int | None = None) -> Any:
    """Return a figure that is as high as its map."""
    width = 4.4 if across == 1 else 8.0
    figure = new_figure(width, panel_height(found.density.grid.domain, width - 0.6) + 0.3)
    draw_hotspots(figure.subplots(), found)
    return figure


def draw_flows(axes: Any, found: OriginDestination) -> None:
    """Draw the share of people for each pair of cells, origins down and destinations across."""
    _name_colours(axes, axes.imshow(found.masses, cmap="viridis", vmin=0), "share of people")
    axes.set_xlabel("cell of the destination")
    axes.set_ylabel("cell of the origin")
    axes.set_title(f"n = {found.n:,} people", loc="left")
