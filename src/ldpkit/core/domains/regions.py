"""Shapes of regions: rectangles, parallelograms and discs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.domains.interval import check_end
from ldpkit.core.domains.region import RELATIVE, Convex, PlaneRegion, Point, as_pair
from ldpkit.core.errors import InvalidParameterError

if TYPE_CHECKING:
    from ldpkit.core.typing import Floats

__all__ = ["Disc", "Parallelogram", "Rectangle"]


class Rectangle(Convex):
    """An upright rectangle.

    Parameters
    ----------
    low, high : pair of float
        The lower left and the upper right corner.

    Examples
    --------
    >>> region = Rectangle((0, 0), (2, 10))
    >>> region.contains(np.array([[1, 10], [3, 1]])).tolist()
    [True, False]
    >>> region.reach((1, 5), np.array([[1.0, 0], [0, 1], [1, 1]])).tolist()
    [1.0, 5.0, 1.0]
    """

    shape = "rectangle"
    low: tuple[float, float]
    high: tuple[float, float]

    def __init__(self, low: Point, high: Point) -> None:
        first, last = as_pair(low, "low"), as_pair(high, "high")
        if not (first[0] < last[0] and first[1] < last[1]):
            raise InvalidParameterError(
                f"low must be below high along both axes, got low={first} and high={last}"
            )
        self._settle(low=first, high=last)

    @cached_property
    def corners(self) -> Floats:
        (x0, y0), (x1, y1) = self.low, self.high
        return np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])

    @property
    def area(self) -> float:
        return (self.high[0] - self.low[0]) * (self.high[1] - self.low[1])

    def contains(self, points: Floats) -> Any:
        return np.logical_and.reduce(
            [(points[:, axis] >= self.low[axis]) & (points[:, axis] <= self.high[axis]) for axis in (0, 1)]
        )

    def holds_all(self, points: Floats) -> bool:
        return all(
            low <= column.min() and column.max() <= high  # not a number is neither
            for column, low, high in zip(points.T, self.low, self.high, strict=True)
        )

    def project(self, points: Floats) -> Floats:
        return np.clip(points, self.low, self.high)

    def to_json(self) -> dict[str, Any]:
        return {"low": list(self.low), "high": list(self.high)}

    def __str__(self) -> str:
        (x0, y0), (x1, y1) = self.low, self.high
        return f"[{x0:.15g}, {x1:.15g}] x [{y0:.15g}, {y1:.15g}]"


class Parallelogram(Convex):
    """The rectangle of shares under a linear map: a corner and the two edges that leave it.

    Parameters
    ----------
    corner : pair of float
        Where both edges begin.
    first, second : pair of float
        The edges.

    Examples
    --------
    >>> region = Parallelogram((0, 0), (2, 0), (1, 1))
    >>> region.area, region.to_shares(np.array([[3.0, 1.0]])).tolist()
    (2.0, [[1.0, 1.0]])
    """

    shape = "parallelogram"
    corner: tuple[float, float]
    first: tuple[float, float]
    second: tuple[float, float]

    def __init__(self, corner: Point, first: Point, second: Point) -> None:
        start, one, two = as_pair(corner, "corner"), as_pair(first, "first"), as_pair(second, "second")
        around = math.hypot(*one) * math.hypot(*two)
        if not abs(one[0] * two[1] - one[1] * two[0]) > 1e-6 * around > 0:
            raise InvalidParameterError(f"the edges {one} and {two} lie on one line: they span no region")
        self._settle(corner=start, first=one, second=two)

    @cached_property
    def matrix(self) -> Floats:
        return np.array([self.first, self.second]).T

    @cached_property
    def origin(self) -> Floats:
        return np.array(self.corner)

    @cached_property
    def corners(self) -> Floats:
        round_it = self.from_shares(np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]]))
        return round_it if np.linalg.det(self.matrix) > 0 else round_it[::-1]

    @property
    def area(self) -> float:
        return float(abs(np.linalg.det(self.matrix)))

    def project(self, points: Floats) -> Floats:
        from ldpkit.core.domains.polygons import nearest_on_edges

        outside = ~self.contains(points)
        moved = points.copy()
        moved[outside] = nearest_on_edges(self.corners, points[outside])
        return moved

    def to_json(self) -> dict[str, Any]:
        return {"corner": list(self.corner), "first": list(self.first), "second": list(self.second)}

    def __str__(self) -> str:
        return f"the parallelogram at {self.corner} with the edges {self.first} and {self.second}"


class Disc(PlaneRegion):
    """All points within a radius of a centre.

    Parameters
    ----------
    middle : pair of float
        The centre.
    radius : float
        The radius.

    Examples
    --------
    >>> region = Disc((0, 0), 2)
    >>> region.reach((1, 0), np.array([[1.0, 0], [-1, 0]])).tolist()
    [1.0, 3.0]
    >>> region.project(np.array([[0.0, 5.0]])).tolist()
    [[0.0, 2.0]]
    """

    shape = "disc"
    fills_frame = False
    middle: tuple[float, float]
    radius: float

    def __init__(self, middle: Point, radius: float) -> None:
        length = check_end(radius, "radius")
        if not length > 0:
            raise InvalidParameterError(f"radius must be positive, got {radius!r}")
        self._settle(middle=as_pair(middle, "middle"), radius=length)

    @property
    def corners(self) -> Floats:
        return np.empty((0, 2))

    @property
    def box(self) -> tuple[Floats, Floats]:
        middle = np.array(self.middle)
        return middle - self.radius, middle + self.radius

    @property
    def area(self) -> float:
        return math.pi * self.radius**2

    @property
    def centre(self) -> tuple[float, float]:
        return self.middle

    def contains(self, points: Floats) -> Any:
        return np.hypot(*(points - self.middle).T) <= self.radius * (1 + RELATIVE)

    def project(self, points: Floats) -> Floats:
        away = points - self.middle
        far = np.maximum(np.hypot(*away.T) / self.radius, 1.0)
        return np.asarray(self.middle + away / far[:, None])

    def reach(self, reference: Point, directions: Floats) -> Floats:
        start = np.asarray(reference, float) - self.middle
        square = (directions**2).sum(axis=1)
        along = (directions * start).sum(axis=1)
        room = np.maximum(self.radius**2 - (start**2).sum(axis=-1), 0.0)
        root = np.sqrt(along**2 + square * room)
        # Of the two forms of the root, the one in which nothing cancels.
        with np.errstate(divide="ignore", invalid="ignore"):
            fits = np.where(along > 0, room / (along + root), (root - along) / square)
        return np.where(square > 0, fits, np.inf)

    def nodes(self, order: int) -> tuple[Floats, Floats]:
        points, weights = np.polynomial.legendre.leggauss(order)
        far = np.sqrt((points + 1) / 2) * self.radius
        turn = 2 * math.pi * (np.arange(2 * order) + 0.5) / (2 * order)
        away = np.stack([np.outer(far, np.cos(turn)), np.outer(far, np.sin(turn))], axis=-1)
        return self.middle + away.reshape(-1, 2), np.repeat(weights / 2, 2 * order) / (2 * order)

    def to_json(self) -> dict[str, Any]:
        return {"middle": list(self.middle), "radius": self.radius}

    def __str__(self) -> str:
        return f"the disc of radius {self.radius:.15g} around {self.middle}"
