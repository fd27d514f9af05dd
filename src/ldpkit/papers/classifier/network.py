"""Examples 11, 13, 14 and 15, figures 7.2 and 7.4: a network of two neurons and the circle it stands for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from ldpkit.core.typing import Floats
from ldpkit.figures.canvas import new_figure, save_figure
from ldpkit.papers import Claim, Settings
from ldpkit.papers.classifier.claims import holds, number, ours
from ldpkit.papers.classifier.published import published_boxes, samples

__all__ = ["circle_gap", "cube_radius", "network_claims", "network_gap"]

Gap = Callable[[Floats], Floats]
"""Positive where the second class has the higher score; rows of points."""
Box = tuple[Floats, Floats]

_FIRST, _SHIFT = np.array([[-1.86, -2.09], [0.12, -0.46]]), np.array([3.71, -0.08])
_SECOND, _OFFSET = np.array([[-3.05, 0.40], [4.02, -0.22]]), np.array([0.94, -0.58])
_CENTRE = np.array([0.5, 0.5])
_KNOWN = "examples 11, 13 and 15 contradict each other: this is what the printed network does"


def network_gap(points: Floats) -> Floats:
    """Return by how much the second score of the network of example 15 is above the first."""
    hidden = np.maximum(points @ _FIRST.T + _SHIFT, 0.0)
    scores = hidden @ _SECOND.T + _OFFSET
    return np.asarray(scores[..., 1] - scores[..., 0])


def circle_gap(points: Floats) -> Floats:
    """Return the same of the quadratic discriminant of example 14."""
    u, v = points[..., 0], points[..., 1]
    first = -0.5 * (u**2 + v**2)
    second = -0.25 * ((u - 1) ** 2 + (v - 1) ** 2) - 0.5 * math.log(4)
    return np.asarray(second - first)


def cube_radius(gap: Gap, centre: Floats = _CENTRE) -> float:
    """Return the radius of the largest cube around a point in which the class stays the same.

    The first point that changes lies on the border of its cube, so that only borders are looked at.

    Examples
    --------
    >>> round(cube_radius(network_gap), 4), round(cube_radius(circle_gap), 4)
    (0.3848, 0.3402)
    """
    return _largest(lambda radius: _keeps(gap, centre - radius, centre + radius), 0.5)


def _keeps(gap: Gap, low: Floats, high: Floats) -> bool:
    """Whether the class of the centre stays the same on the border of a box."""
    along = np.linspace(0, 1, 2001)
    ends = np.zeros_like(along), np.ones_like(along)
    border = np.concatenate([np.column_stack(pair) for end in ends for pair in ((along, end), (end, along))])
    sign = math.copysign(1.0, float(gap(_CENTRE)))
    return bool((sign * gap(low + border * (high - low)) > 0).all())


def _largest(keeps: Callable[[float], bool], most: float) -> float:
    low, high = 0.0, most
    while high - low > 1e-7:
        middle = (low + high) / 2
        low, high = (middle, high) if keeps(middle) else (low, middle)
    return low


def _searched(gap: Gap, tau: float) -> float:
    """Return the radius of the published search, its shares from a fine grid."""
    steps = (np.arange(200) + 0.5) / 200
    grid = np.stack(np.meshgrid(steps, steps), axis=-1)
    sign = math.copysign(1.0, float(gap(_CENTRE)))

    def failing(low: Floats, high: Floats) -> Floats:
        return np.array([(sign * gap(low[0] + grid * (high[0] - low[0])) < 0).mean()])

    low, high = published_boxes(failing, _CENTRE[None, :], tau, steps=())
    return float((high - low)[0].max() / 2)


def network_claims(settings: Settings) -> Iterator[Claim]:
    """Yield examples 11, 13, 14 and 15."""
    yield number("example 11: samples for tau=0.02, omega=0.05", 18444, samples(0.05, 0.01), 1)
    radius, label = cube_radius(network_gap), 2 if network_gap(_CENTRE) > 0 else 1
    yield number("examples 11 and 15: the radius at (0.5, 0.5)", 0.20, radius, 0.005, _KNOWN, wrong=True)
    yield number("example 15: the class at (0.5, 0.5)", 1, label, 0.1, _KNOWN, wrong=True)
    yield holds(
        "example 13: the cube of radius 0.2 around (0.5, 0.5)",
        "[0.4, 0.6]^2",
        "[0.3, 0.7]^2",
        so=False,
        note="that is radius 0.1, which example 15 verifies; the printed network keeps its class in both",
        wrong=True,
    )
    yield number(
        "example 14: the l2 radius of the QDA at (0.5, 0.5)",
        0.4811,
        abs(2 * math.sqrt(math.log(2) + 1) - math.hypot(1.5, 1.5)),
        5e-5,
    )
    steps = (np.arange(400) + 0.5) / 400
    grid = np.stack(np.meshgrid(steps, steps), axis=-1)
    agree = float(((network_gap(grid) > 0) == (circle_gap(grid) > 0)).mean())
    yield holds(
        "example 15: the printed network replicates the QDA of example 14",
        "replicates",
        f"the same class on {agree:.3f} of the unit square",
        so=agree > 0.95,
        note=f"with its classes exchanged on {1 - agree:.3f}",
        wrong=True,
    )
    found = {name: _searched(gap, 0.02) for name, gap in (("network", network_gap), ("QDA", circle_gap))}
    yield ours(
        "example 11: the radius that the published search returns for the printed network, tau=0.02",
        found["network"],
        f"a radius that failed, above the true {radius:.4f}; for the QDA {found['QDA']:.4f} beside "
        f"{cube_radius(circle_gap):.4f}",
    )
    if settings.folder is not None:
        _draw(settings.folder / "figure-7.2.png", 1)
        _draw(settings.folder / "figure-7.4.png", 3)


def _boxes(gap: Gap) -> list[Box]:
    """Return the largest cube, a box around it, and one that is wider and lower."""
    radius = cube_radius(gap)
    wide = min(0.5 + radius + 0.1, 1.0)
    height = _largest(lambda reach: _keeps(gap, np.zeros(2), np.array([wide, 0.5 + reach])), 0.5)
    cube = _CENTRE - radius, _CENTRE + radius
    return [cube, (np.zeros(2), cube[1]), (np.zeros(2), np.array([wide, 0.5 + height]))]


def _draw(path: Path, shown: int) -> None:
    """Draw the classes of the printed network and of the circle, and boxes around the centre."""
    from matplotlib.patches import Rectangle

    figure = new_figure(10.4, 5.0)
    steps = np.linspace(0, 1, 401)
    grid = np.stack(np.meshgrid(steps, steps), axis=-1)
    shared = figure.subplots(1, 2, sharey=True)
    gaps: dict[str, Gap] = {"The printed network": network_gap, "The circle of example 14": circle_gap}
    for axes, (title, gap) in zip(shared, gaps.items(), strict=True):
        scores = gap(grid)
        axes.contourf(steps, steps, scores > 0, levels=[-0.5, 0.5, 1.5], colors=["#f4dcd0", "#d5e3f0"])
        axes.contour(steps, steps, scores, levels=[0.0], colors="k", linestyles="--")
        axes.plot(*_CENTRE, "k.")
        looks = [("largest cube", "0.3", "-"), ("around it", "C2", "--"), ("wider and lower", "C4", "-.")]
        for (low, high), (what, colour, line) in list(zip(_boxes(gap), looks, strict=True))[:shown]:
            width, height = (float(side) for side in high - low)
            corner = float(low[0]), float(low[1])
            named = f"{what}: {width:.3f} x {height:.3f}"
            axes.add_patch(
                Rectangle(corner, width, height, fill=False, edgecolor=colour, linestyle=line, label=named)
            )
        printed = Rectangle(
            (0.3, 0.3), 0.4, 0.4, fill=False, edgecolor="C3", linestyle=":", label="radius 0.2"
        )
        axes.add_patch(printed)
        axes.set_title(f"{title}: class {2 if gap(_CENTRE) > 0 else 1} at (0.5, 0.5)")
        axes.set_xlabel("first feature")
        axes.set_aspect("equal")
        axes.legend(fontsize=8, loc="lower left")
    shared[0].set_ylabel("second feature")
    save_figure(figure, path)
