"""Regions bounded by conics, for one or two privatized columns, section by section.

The region is where some quadratic functions are all positive. For a fixed first column the
section along the second one is a union of intervals, whose probability is exact. Over the
first column it is integrated with Gauss's rule between all places where the section is not
smooth; the difference of two rules is taken as the error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ldpkit.assurance.classifier.outputs import Outputs
from ldpkit.core.typing import Floats

__all__ = ["Conic", "section_probability"]

_FEW = 64  # pieces of a law, up to which each of its edges is a place to split at
_SPLITS = 64  # where there are more, so many parts of the first column
_RULES = (12, 20)


@dataclass(frozen=True)
class Conic:
    """The function xx x^2 + xy x y + yy y^2 + x_ x + y_ y + constant, of one or two numbers."""

    xx: float
    xy: float
    yy: float
    x_: float
    y_: float
    constant: float

    def at(self, x: Floats, y: Floats) -> Floats:
        """Return the value at numbers."""
        return (self.xx * x + self.xy * y + self.x_) * x + (self.yy * y + self.y_) * y + self.constant

    def along_y(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the coefficients of y^2, y and 1 at fixed x."""
        return (
            np.full_like(x, self.yy),
            self.xy * x + self.y_,
            (self.xx * x + self.x_) * x + self.constant,
        )


def section_probability(conics: Sequence[Conic], laws: Sequence[Outputs], row: int) -> tuple[float, float]:
    """Return the probability that all functions are positive for one record, and its error.

    Examples
    --------
    >>> even = Outputs(np.array([[0.0, 1.0]]), np.ones((1, 1)), np.zeros(0), np.zeros((1, 0)))
    >>> circle = Conic(-1, 0, -1, 0, 0, 1)                          # x^2 + y^2 < 1
    >>> value, error = section_probability([circle], [even, even], 0)
    >>> round(value, 9) == round(np.pi / 4, 9), error < 1e-6
    (True, True)
    """
    if len(laws) == 1:
        # A single column is the section at x = 0.
        swapped = [Conic(0.0, 0.0, each.xx, 0.0, each.x_, each.constant) for each in conics]
        return float(_sections(swapped, laws[0], row, np.zeros(1))[0]), 1e-12 + laws[0].slack
    first, second = laws
    value, error = 0.0, first.slack + second.slack + 1e-12
    if len(first.points):
        value += float(first.chances[row] @ _sections(conics, second, row, first.points))
    if not first.discrete:
        ends = first.edges[row]
        places = _places(conics, second, row, float(ends[0]), float(ends[-1]), ends)
        middle = (places[1:] + places[:-1]) / 2
        piece = np.clip(np.searchsorted(ends, middle, "right") - 1, 0, first.masses.shape[1] - 1)
        density = first.densities[row, piece]
        results = [float(density @ _integrals(conics, second, row, places, nodes)) for nodes in _RULES]
        value += results[1]
        error += abs(results[1] - results[0])
    return min(max(value, 0.0), 1.0), error


def _integrals(conics: Sequence[Conic], second: Outputs, row: int, places: Floats, nodes: int) -> Floats:
    """Return the integral of the section's probability between each two places.

    The nodes are bunched towards both ends, where a section may begin like a square root.
    """
    at, weights = np.polynomial.legendre.leggauss(nodes)
    bunched, slopes = (3 * at - at**3) / 2, 1.5 * (1 - at**2)
    half = np.diff(places) / 2
    x = (places[1:] + places[:-1])[:, None] / 2 + half[:, None] * bunched
    found = _sections(conics, second, row, x.ravel()).reshape(x.shape)
    return np.asarray(half * (found @ (weights * slopes)))


def _places(
    conics: Sequence[Conic], second: Outputs, row: int, low: float, high: float, edges: Floats
) -> Floats:
    """Return where the probability of a section may not be smooth, and the ends."""
    found = [low, high, *(edges.tolist() if len(edges) <= _FEW else np.linspace(low, high, _SPLITS + 1))]
    levels = second.points.tolist() if len(second.points) <= _FEW else []
    if second.masses.shape[1] <= _FEW:
        levels += second.edges[row].tolist()
    for each in conics:
        # Where the boundary stands upright, and where it crosses an edge of the second column's law.
        upright = (
            each.xy**2 - 4 * each.yy * each.xx,
            2 * each.xy * each.y_ - 4 * each.yy * each.x_,
            each.y_**2 - 4 * each.yy * each.constant,
        )
        found += _roots(*upright)
        for y in levels:
            found += _roots(each.xx, each.xy * y + each.x_, (each.yy * y + each.y_) * y + each.constant)
    for index, one in enumerate(conics):
        for other in conics[:index]:
            if one.yy == other.yy and one.xy == other.xy and one.y_ != other.y_:  # they cross upright or once
                found += _crossing(one, other)
    places = np.unique(np.clip(found, low, high))
    return places if len(places) > 1 else np.array([low, high])


def _crossing(one: Conic, other: Conic) -> list[float]:
    """Return the x at which two straight boundaries cross."""
    if one.xx or one.yy or one.xy or other.xx:
        return []
    turn = one.x_ * other.y_ - other.x_ * one.y_
    return [(one.y_ * other.constant - other.y_ * one.constant) / turn] if turn else []


def _roots(a: float, b: float, c: float) -> list[float]:
    if a == 0:
        return [-c / b] if b else []
    below = b * b - 4 * a * c
    if below < 0:
        return []
    q = -(b + np.copysign(np.sqrt(below), b)) / 2
    return [float(root) for root in ((q / a), (c / q if q else q / a)) if np.isfinite(root)]


def _sections(conics: Sequence[Conic], law: Outputs, row: int, x: Floats) -> Floats:
    """Return the probability of the section at each x."""
    total = np.zeros(len(x))
    if len(law.points):
        inside = np.ones((len(x), len(law.points)), bool)
        for each in conics:
            inside &= each.at(x[:, None], law.points[None, :]) > 0
        total += inside @ law.chances[row]
    if law.discrete:
        return total
    edges = law.edges[row]
    bounds = np.sort(np.concatenate([_all_roots(each, x) for each in conics], axis=1), axis=1)
    bounds = np.clip(bounds, edges[0], edges[-1])
    ends = np.broadcast_to(edges[[0, -1]], (len(x), 2))
    bounds = np.concatenate([ends[:, :1], bounds, ends[:, 1:]], axis=1)
    middle = (bounds[:, 1:] + bounds[:, :-1]) / 2
    inside = np.ones(middle.shape, bool)
    for each in conics:
        inside &= each.at(x[:, None], middle) > 0
    sums = np.concatenate([[0.0], np.cumsum(law.masses[row])])
    masses = np.diff(np.interp(bounds, edges, sums), axis=1)
    return np.asarray(total + (masses * inside).sum(axis=1))


def _all_roots(conic: Conic, x: Floats) -> Floats:
    """Return the roots along y at each x; where there is none, infinity."""
    a, b, c = conic.along_y(x)
    with np.errstate(divide="ignore", invalid="ignore"):
        if conic.yy == 0:
            roots = (-c / b)[:, None]
        else:
            root = np.sqrt(b * b - 4 * a * c)
            q = -(b + np.copysign(root, b)) / 2
            roots = np.stack([q / a, c / q], axis=1)
    return np.where(np.isfinite(roots), roots, np.inf)
