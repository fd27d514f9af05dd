"""Regions bounded by conics, for one or two privatized columns, section by section.

The region is where some quadratic functions are all positive. Where one column is at a point
with a chance of its own, the section along the other is a union of intervals, whose
probability is exact. Where both are spread, the section's probability is a sum of the second
law's distribution function at the boundary curves. Between all places where a curve begins,
ends, meets another or crosses an edge of that law, each curve is convex or concave and the
distribution function is linear along it. So the trapezoid and the midpoint rule enclose the
integral: the bounds are proven, and a few more nodes bring them together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldpkit.assurance.classifier.outputs import Outputs
from ldpkit.core.typing import Floats

__all__ = ["Conic", "section_probability"]

_NODES = 768  # about so many parts the first column has
_FEWEST = 4  # parts between two places
_GUARD = 1e-8  # of the range, on each side of a place that is only known so well
_ROUNDING = 1e-12


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

    def along_y(self, x: Any) -> tuple[Any, Any, Any]:
        """Return the coefficients of y^2, y and 1 at fixed x."""
        return self.yy + 0.0 * x, self.xy * x + self.y_, (self.xx * x + self.x_) * x + self.constant

    @property
    def swapped(self) -> Conic:
        """The same function with x and y exchanged."""
        return Conic(self.yy, self.xy, self.xx, self.y_, self.x_, self.constant)


def section_probability(
    conics: Sequence[Conic], laws: Sequence[Outputs], row: int, off: float = 0.0
) -> tuple[float, float, float]:
    """Return the probability that all functions are positive for one record, and its bounds.

    Parameters
    ----------
    conics : sequence of Conic
        The functions of the sensitive columns.
    laws : sequence of Outputs
        The law of each, one or two.
    row : int
        Which record of the laws.
    off : float
        How far a model's own value of a function may be off by rounding.

    Examples
    --------
    >>> even = Outputs(np.array([[0.0, 1.0]]), np.ones((1, 1)), np.zeros(0), np.zeros((1, 0)))
    >>> circle = Conic(-1, 0, -1, 0, 0, 1)                          # x^2 + y^2 < 1
    >>> value, low, high = section_probability([circle], [even, even], 0)
    >>> low <= np.pi / 4 <= high, high - low < 1e-5, abs(value - np.pi / 4) < 1e-6
    (True, True, True)
    """
    if len(laws) == 1:
        # A single column is the section at x = 0.
        along = [Conic(0.0, 0.0, each.xx, 0.0, each.x_, each.constant) for each in conics]
        low, high = _line(along, laws[0], row, 0.0, off)
        return _bounded(low, high)
    first, second = laws
    low = high = 0.0
    for chance, point in zip(first.chances[row].tolist(), first.points.tolist(), strict=True):
        part = _line(conics, second, row, point, off)
        low, high = low + chance * part[0], high + chance * part[1]
    if not first.discrete:
        upright = [each.swapped for each in conics]
        for chance, point in zip(second.chances[row].tolist(), second.points.tolist(), strict=True):
            part = _line(upright, first, row, point, off, atoms=False)
            low, high = low + chance * part[0], high + chance * part[1]
        if not second.discrete:
            part = _plane(conics, first, second, row)
            low, high = low + part[0], high + part[1]
    return _bounded(low, high)


def _bounded(low: float, high: float) -> tuple[float, float, float]:
    low, high = max(low - _ROUNDING, 0.0), min(high + _ROUNDING, 1.0)
    return (low + high) / 2, low, high


def _line(
    conics: Sequence[Conic], law: Outputs, row: int, x: float, off: float, *, atoms: bool = True
) -> tuple[float, float]:
    """Return bounds on the probability of the section at one x."""
    low = high = 0.0
    if atoms and len(law.points):
        values = np.array([each.at(np.asarray(x), law.points) for each in conics])
        low += float(law.chances[row] @ (values > off).all(axis=0))
        high += float(law.chances[row] @ (values > -off).all(axis=0))
    if law.discrete:
        return low, high
    close = 1e-12 * max(law.reach, 1.0)
    ends = law.edges[row, [0, -1]]
    for sure in (True, False):
        shifted = [(a, b, c - off if sure else c + off) for a, b, c in (each.along_y(x) for each in conics)]
        roots = [root for each in shifted for root in _roots(*each) if ends[0] < root < ends[1]]
        bounds = np.array([ends[0], *sorted(roots), ends[1]])
        middle = (bounds[1:] + bounds[:-1]) / 2
        bounds[[0, -1]] += -1.0, 1.0
        inside = np.ones(len(middle), bool)
        for a, b, c in shifted:
            inside &= (a * middle + b) * middle + c > 0
        owner = np.full(len(middle), row)
        if sure:
            upper = law.spread_reached(owner, bounds[1:] - close, inclusive=False)
            lower = law.spread_reached(owner, bounds[:-1] + close, inclusive=True)
            low += float(np.maximum(upper - lower, 0.0) @ inside) - law.slack * 2 * int(inside.sum())
        else:
            upper = law.spread_reached(owner, bounds[1:] + close, inclusive=True)
            lower = law.spread_reached(owner, bounds[:-1] - close, inclusive=False)
            high += float(np.maximum(upper - lower, 0.0) @ inside) + law.slack * 2 * int(inside.sum())
    return max(low, 0.0), high


def _plane(conics: Sequence[Conic], first: Outputs, second: Outputs, row: int) -> tuple[float, float]:
    """Return bounds on the probability that both columns are spread and lie in the region."""
    edges, sums = second.edges[row], np.concatenate([[0.0], np.cumsum(second.masses[row])])
    own = first.edges[row]
    places, rough = _places(conics, edges, own)
    parts = max(_FEWEST, _NODES // len(places))
    # Nodes are bunched towards places, where a curve may begin like a square root.
    share = (1 - np.cos(np.pi * np.arange(parts + 1) / parts)) / 2
    nodes = (places[:-1, None] + np.diff(places)[:, None] * share).ravel()
    nodes = np.unique(np.append(nodes, places[-1]))
    middle, width = (nodes[1:] + nodes[:-1]) / 2, np.diff(nodes)
    piece = np.clip(np.searchsorted(own, middle, "right") - 1, 0, first.masses.shape[1] - 1)
    density = first.densities[row, piece]
    curves = _Curves(conics, edges[0], edges[-1])
    at_middle = curves.at(middle)
    signs, full = curves.signs(middle, at_middle)

    def below(y: Floats) -> Floats:
        return np.asarray(np.interp(y, edges, sums))

    # Nodes from the inside of each part: a curve that ends there is followed up to its end.
    inner = np.minimum(1e-13 * (np.abs(nodes[1:]) + np.abs(nodes[:-1])), width / 4)
    ends = (below(curves.at(nodes[:-1] + inner)) + below(curves.at(nodes[1:] - inner))) / 2
    middles = below(at_middle)
    least = np.where(signs > 0, np.minimum(ends, middles), np.maximum(ends, middles))
    most = np.where(signs > 0, np.maximum(ends, middles), np.minimum(ends, middles))
    total, weight = float(sums[-1]), density * width
    low = float(weight @ ((signs * least).sum(axis=1) + total * full))
    high = float(weight @ ((signs * most).sum(axis=1) + total * full))
    guard = _GUARD * float(own[-1] - own[0]) * float(first.densities[row].max(initial=0.0)) * 2 * rough
    error = 2 * len(conics) * (first.off + second.off) + guard
    return max(low - error, 0.0), high + error


class _Curves:
    """The boundary curves y(x) of conics, two of each, always in the same order."""

    def __init__(self, conics: Sequence[Conic], low: float, high: float) -> None:
        self._conics, self._low, self._high = conics, low, high

    def at(self, x: Floats) -> Floats:
        """Return where the curves stand, a row for each x; above the range where there is none."""
        return np.concatenate([_branches(each, x) for each in self._conics], axis=1)

    def signs(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Return with which sign each curve bounds the region, and whether the top of the range is in it.

        The section's probability is the sum of signs times the distribution function at the
        curves, and all of it where the region goes up to the top.
        """
        clipped = np.clip(y, self._low, self._high)
        order = np.argsort(clipped, axis=1, kind="stable")
        ascending = np.take_along_axis(clipped, order, 1)
        outer = np.full((len(x), 1), self._low), np.full((len(x), 1), self._high)
        bounds = np.concatenate([outer[0], ascending, outer[1]], axis=1)
        gaps = (bounds[:, 1:] + bounds[:, :-1]) / 2
        inside = np.ones(gaps.shape, bool)
        for each in self._conics:
            inside &= each.at(x[:, None], gaps) > 0
        inside &= np.diff(bounds, axis=1) > 0
        change = inside[:, :-1].astype(np.float64) - inside[:, 1:]
        signs = np.empty_like(change)
        np.put_along_axis(signs, order, change, 1)
        return signs, inside[:, -1].astype(np.float64)


def _branches(conic: Conic, x: Floats) -> Floats:
    """Return the lower-sign and upper-sign root along y at each x; where there is none, infinity."""
    a, b, c = conic.along_y(x)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if conic.yy == 0:
            return np.asarray(np.nan_to_num((-c / b)[:, None], nan=np.inf, posinf=np.inf, neginf=np.inf))
        root = np.sqrt(b * b - 4 * a * c)
        q = -(b + np.copysign(root, b)) / 2
        one, other = q / a, np.where(q != 0, c / q, q / a)
    turned = np.signbit(b)
    both = np.stack([np.where(turned, other, one), np.where(turned, one, other)], axis=1)
    return np.where(np.isfinite(both), both, np.inf)


def _places(conics: Sequence[Conic], levels: Floats, own: Floats) -> tuple[Floats, int]:
    """Return where sections may change their kind, the ends too, and how many of them are rough."""
    low, high = float(own[0]), float(own[-1])
    found = [own]
    rough: list[Any] = []
    for each in conics:
        if each.yy == 0 and each.xy != 0:
            rough.append([-each.y_ / each.xy])
        elif each.yy != 0:
            rough.append(
                _roots(
                    each.xy**2 - 4 * each.yy * each.xx,
                    2 * each.xy * each.y_ - 4 * each.yy * each.x_,
                    each.y_**2 - 4 * each.yy * each.constant,
                )
            )
        # Where the curve crosses an edge of the second column's law.
        level = (each.yy * levels + each.y_) * levels + each.constant
        found.append(_all_roots(each.xx, each.xy * levels + each.x_, level))
    for index, one in enumerate(conics):
        rough += [_crossings(one, other) for other in conics[:index]]
    some = np.concatenate([np.asarray(part, np.float64).ravel() for part in rough]) if rough else np.zeros(0)
    some = some[np.isfinite(some)]
    some = some[(some > low) & (some < high)]
    places = np.concatenate([*found, some])
    places = places[np.isfinite(places)]
    return np.unique(np.clip(places, low, high)), len(some)


def _crossings(one: Conic, other: Conic) -> Any:
    """Return the x at which two boundaries may meet: real roots of the resultant, of degree four."""
    size = [max(abs(value) for value in vars(each).values()) or 1.0 for each in (one, other)]
    (a, b, c), (d, e, f) = (
        [np.poly1d(np.atleast_1d(part) / scale) for part in parts]
        for parts, scale in (
            (([each.yy], [each.xy, each.y_], [each.xx, each.x_, each.constant]), scale)
            for each, scale in zip((one, other), size, strict=True)
        )
    )
    resultant = (a * f - d * c) ** 2 - (a * e - d * b) * (b * f - e * c)
    if one.yy == 0 and other.yy == 0:
        resultant = b * f - e * c
    coefficients = np.atleast_1d(resultant.coeffs)
    if not np.isfinite(coefficients).all() or not coefficients.any():
        return np.zeros(0)
    found = np.roots(coefficients)
    # A double root shows as a pair with a small imaginary part.
    return np.real(found[np.abs(np.imag(found)) <= 1e-4 * (1 + np.abs(found))])


def _roots(a: float, b: float, c: float) -> list[float]:
    return [float(root) for root in _all_roots(a, np.array([b]), np.array([c])) if np.isfinite(root)]


def _all_roots(a: float, b: Floats, c: Floats) -> Floats:
    """Return the real roots of quadratic functions with one leading coefficient; others are not finite."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if a == 0:
            return np.asarray(-c / b)
        q = -(b + np.copysign(np.sqrt(b * b - 4 * a * c), b)) / 2
        return np.concatenate([q / a, np.where(q != 0, c / q, q / a)])
