"""A location as two coordinates, each reported by a part of the budget: TraCS-C and TraCS-D."""

from __future__ import annotations

import abc
from collections.abc import Callable
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.parameters import SMALLEST_EPSILON, Parameter
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Counts, Floats, Indices, Reports
from ldpkit.mechanisms.cells.sharing import product_epsilon
from ldpkit.mechanisms.spatial.mechanism import Bends, SpatialMechanism
from ldpkit.mechanisms.spatial.parts import Coordinate

__all__ = ["SHARE", "TwoParts", "best_share"]

SHARE = Parameter(
    "share",
    float,
    "the part of epsilon that the first coordinate, or the direction, gets; by default the best for "
    "locations that are equally likely everywhere",
    default=None,
    above=0,
    most=1,
)


_LEAST_SHARE = 0.01  # so that the share is still good for an epsilon that is somewhat smaller


def best_share(epsilon: float, error: Callable[[float], float]) -> float:
    """Return the share of a budget with the least error, to three digits.

    The error is flat about its minimum, and a short number is read and sent more easily.

    Examples
    --------
    >>> best_share(4.0, lambda share: (share - 0.31234) ** 2)
    0.312
    """
    from scipy.optimize import minimize_scalar

    if epsilon < 2 * SMALLEST_EPSILON:
        raise InvalidParameterError(
            f"epsilon must be at least {2 * SMALLEST_EPSILON}, got {epsilon:g}: it is for two reports"
        )
    low = max(1.01 * SMALLEST_EPSILON / epsilon, _LEAST_SHARE)
    if low > 0.45:
        return 0.5
    found = minimize_scalar(error, bounds=(low, 1 - low), method="bounded", options={"xatol": 2e-4})
    return float(min(max(round(float(found.x), 3), low), 1 - low))


class TwoParts(SpatialMechanism):
    """A spatial mechanism that is two reports of one coordinate each; epsilon is the sum of theirs."""

    capabilities: ClassVar[frozenset[str]] = SpatialMechanism.capabilities | {"client"}
    words_per_report: ClassVar[int] = 2
    share: float

    @property
    @abc.abstractmethod
    def parts(self) -> tuple[Coordinate, Coordinate]:
        """What reports the first and the second coordinate."""

    @abc.abstractmethod
    def _coordinates(self, points: Floats) -> tuple[Floats, Floats]:
        """Return both coordinates of points of the map, from 0 to 1."""

    @abc.abstractmethod
    def _from_coordinates(self, first: Floats, second: Floats) -> Floats:
        """Return the points of the map with these coordinates."""

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(part.cells for part in self.parts)

    @property
    def place_shape(self) -> tuple[int, ...]:
        return tuple(part.places for part in self.parts)

    def exact_epsilon(self) -> float:
        return product_epsilon(*(part.ratio for part in self.parts))

    def _place(self, points: Floats) -> Indices:
        first, second = self._coordinates(points)
        return np.stack([self.parts[0].place(first), self.parts[1].place(second)], axis=1)

    def _between(self, points: Floats) -> Floats:
        """Return where points lie between the places, for means over all of them."""
        both = zip(self.parts, self._coordinates(points), strict=True)
        return np.stack([part.between(shares) for part, shares in both], axis=1)

    def _place_points(self, places: Indices) -> Floats:
        shares = (part.shares(each) for part, each in zip(self.parts, places.T, strict=True))
        return self._from_coordinates(*shares)

    def _drawn(self, cells: Floats) -> Floats:
        return self._from_coordinates(*(cells / self.shape).T)

    def row(self, place: tuple[int, ...]) -> list[Fraction]:
        first, second = (part.row(each) for part, each in zip(self.parts, place, strict=True))
        return [one * two for one in first for two in second]

    def _chance(self, place: tuple[int, ...], cell: tuple[int, ...]) -> Fraction:
        first, second = (
            part.chance(at, each) for part, at, each in zip(self.parts, place, cell, strict=True)
        )
        return first * second

    def _form(self) -> dict[str, Any]:
        first, second = (part.form() for part in self.parts)
        return {"form": "pair", "first": first, "second": second}

    def _randomise(self, places: Indices, source: RandomSource) -> Reports:
        base, shape = self._layout
        reports = np.empty((len(places), *shape), base)
        for axis, part in enumerate(self.parts):
            reports[:, axis] = part.randomise(np.ascontiguousarray(places[:, axis]), source)
        return reports

    def _boxes(self, places: Indices | Floats) -> tuple[Floats, Floats, Floats]:
        """Return boxes of cells that add up to the law of each place: their ends and the chance of a cell."""
        (x0, x1, a), (y0, y1, b) = (
            part.pieces(each) for part, each in zip(self.parts, places.T, strict=True)
        )
        count, first, second = len(places), a.shape[1], b.shape[1]

        def crossed(one: Floats, two: Floats) -> Floats:
            pairs = np.broadcast_arrays(one[:, :, None], two[:, None, :])
            return np.stack(pairs, axis=-1).reshape(count, first * second, 2)

        chances = (a[:, :, None] * b[:, None, :]).reshape(count, -1)
        low, high = crossed(x0, y0), crossed(x1, y1)
        return low, high, np.where((high > low).all(axis=2), chances, 0.0)

    def _spans(self, low: Floats, high: Floats) -> tuple[tuple[float, float], tuple[float, float]] | None:
        """Return the least and greatest coordinates of a box of the frame; None if they are not known."""
        return None

    def bends(self, low: Floats, high: Floats, edges: tuple[Counts, ...]) -> Bends:
        spans = self._spans(low, high)
        if spans is None:
            return None
        first, second = (
            part.bends(*span, each) for part, span, each in zip(self.parts, spans, edges, strict=True)
        )
        return None if first is None or second is None else (first, second)

    def factors(
        self, places: tuple[Counts, Counts], edges: tuple[Counts, ...]
    ) -> tuple[Floats, Floats, float]:
        first, second = (
            part.masses(each.astype(np.uint32), cells)
            for part, each, cells in zip(self.parts, places, edges, strict=True)
        )
        return first, second, 0.0

    @cached_property
    def _edges(self) -> tuple[Floats, Floats]:
        first, second = (edges.astype(float) for edges in self.bin_edges)
        return first, second

    def _bin_masses(self, places: Indices) -> Floats:
        one, two = (
            part.masses(each, edges)
            for part, each, edges in zip(self.parts, places.T, self._edges, strict=True)
        )
        return (one[:, :, None] * two[:, None, :]).reshape(len(places), -1)
