"""Regions of the plane: where people may be, as public shapes.

A region knows the frame it lies in (the square of shares, 0 to 1 along two edges, mapped
linearly), whether it holds a point, the nearest point that it holds, and how far it is from
a reference to its boundary. All of it is floating-point geometry: mechanisms use it to
choose the place of a value and to draw reports on a map, never for their chances.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.domains.interval import NARROWEST, WIDEST, check_end
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.frozen import Frozen

if TYPE_CHECKING:
    from ldpkit.core.typing import Floats

__all__ = ["RELATIVE", "Convex", "PlaneRegion", "Point", "as_pair"]

Point: TypeAlias = "Sequence[float] | Floats"
"""A pair of numbers."""

RELATIVE = 1e-12
"""What rounding may move a point by, as a part of the size of a region."""

_FINEST = 1 << 24  # so many steps across a region must be numbers of their own


def as_pair(point: Any, name: str) -> tuple[float, float]:
    """Return a point as two finite numbers, or refuse it.

    Examples
    --------
    >>> as_pair([1, 2], "low")
    (1.0, 2.0)
    """
    try:
        first, second = point
    except (TypeError, ValueError):
        raise InvalidParameterError(f"{name} must be a pair of numbers, got {str(point)[:50]}") from None
    return check_end(first, name), check_end(second, name)


class PlaneRegion(Frozen, abc.ABC):
    """A bounded part of the plane, frozen.

    A new one gives its frame, `contains`, `project`, `reach` and `nodes`, and its JSON form.
    """

    frozen = "a region does not change: make a new one"
    shape: ClassVar[str]
    """Its name in the JSON form."""
    fills_frame: ClassVar[bool] = True
    """Whether it is all of its frame; else reports outside are moved to its nearest point."""

    is_convex: ClassVar[bool] = True
    """Whether a straight line between two of its points stays inside."""

    wraps: ClassVar[bool] = False
    """Whether its left and right edges are one and the same, as on the globe."""

    def _settle(self, **fields: Any) -> None:
        self.__dict__.update(fields)
        with np.errstate(over="ignore"):  # then it is too wide
            low, high = self.box
            sides = high - low
        for side, start, end in zip(sides, low, high, strict=True):
            if not NARROWEST <= side <= WIDEST:
                raise InvalidParameterError(
                    f"a region {side:g} across is too {'wide' if side > 1 else 'narrow'}: rescale the "
                    f"coordinates, so that it is between {NARROWEST:g} and {WIDEST:g} across"
                )
            if side < _FINEST * math.ulp(max(abs(start), abs(end))):
                raise InvalidParameterError(
                    f"a region from {start!r} to {end!r} is too narrow for its distance from zero: "
                    "subtract a constant from the coordinates"
                )

    @property
    @abc.abstractmethod
    def corners(self) -> Floats:
        """Its corners against the clock, shape (k, 2); none of a disc."""

    @property
    def box(self) -> tuple[Floats, Floats]:
        """The lower left and the upper right corner of the smallest upright rectangle around it."""
        return self.corners.min(axis=0), self.corners.max(axis=0)

    @cached_property
    def matrix(self) -> Floats:
        """The edges of the frame, one a column."""
        low, high = self.box
        return np.diag(high - low)

    @cached_property
    def origin(self) -> Floats:
        """Where the frame begins."""
        return self.box[0]

    @cached_property
    def _inverse(self) -> Floats:
        return np.asarray(np.linalg.inv(self.matrix), float)

    @cached_property
    def size(self) -> float:
        """The longer side of its box, by which distances are judged."""
        low, high = self.box
        return float((high - low).max())

    @property
    @abc.abstractmethod
    def area(self) -> float:
        """Its area."""

    @property
    @abc.abstractmethod
    def centre(self) -> tuple[float, float]:
        """Its centre of gravity."""

    def to_shares(self, points: Floats) -> Floats:
        """Return where points lie along the edges of the frame, 0 to 1 inside."""
        moved = points - self.origin
        if self.matrix[0, 1] == 0 == self.matrix[1, 0]:
            moved /= np.diag(self.matrix)
            return moved
        return np.asarray(moved @ self._inverse.T)

    def from_shares(self, shares: Floats) -> Floats:
        """Return the points at some shares of the frame."""
        return np.asarray(self.origin + shares @ self.matrix.T)

    @abc.abstractmethod
    def contains(self, points: Floats) -> Any:
        """Return for each point whether it lies inside or on the boundary."""

    def holds_all(self, points: Floats) -> bool:
        """Whether all of some points lie inside; not a number does not."""
        return bool(np.isfinite(points).all() and self.contains(points).all())

    @abc.abstractmethod
    def project(self, points: Floats) -> Floats:
        """Return the nearest point of the region for each point; those inside stay."""

    def distance(self, one: Floats, other: Floats) -> Floats:
        """Return how far points are from others, in its units; the last axis holds the coordinates."""
        return np.asarray(np.hypot(*np.moveaxis(one - other, -1, 0)))

    @abc.abstractmethod
    def reach(self, reference: Point, directions: Floats) -> Floats:
        """Return how many times each direction fits between a reference and the boundary.

        A reference on the boundary has reach 0 in directions that leave at once. One over
        the reach is the gauge of the region: 0 at the reference, 1 on the boundary. Convex
        regions also take a reference for each direction, one a row.
        """

    def gauge(self, reference: Point, points: Floats) -> Floats:
        """Return how far points are on the way from a reference to the boundary, from 0 to 1."""
        with np.errstate(divide="ignore", invalid="ignore"):
            share = 1.0 / self.reach(reference, points - np.asarray(reference, float))
        return np.clip(np.nan_to_num(share, nan=0.0, posinf=1.0), 0.0, 1.0)

    def sees_all_from(self, reference: Point) -> bool:
        """Whether a straight line from a point leads to every other within the region."""
        return bool(self.contains(np.asarray(reference, float)[None])[0])

    @abc.abstractmethod
    def nodes(self, order: int) -> tuple[Floats, Floats]:
        """Return points of the region and weights that sum to 1, for means over all of it."""

    @abc.abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Return the numbers that describe it."""

    @classmethod
    def from_json(cls, form: dict[str, Any]) -> PlaneRegion:
        """Return the region of a JSON form, whose key "shape" names it, or refuse it."""
        kinds: dict[Any, Any] = {each.shape: each for each in _leaves(_ROOT)}
        shape = form.get("shape")
        kind = kinds.get(shape) if isinstance(shape, str) else None
        if kind is None:
            raise InvalidParameterError(
                f"a region has a shape, one of {', '.join(kinds)}, got {str(form)[:50]!r}"
            )
        numbers = {name: value for name, value in form.items() if name != "shape"}
        try:
            made: PlaneRegion = kind(**numbers)
        except TypeError:
            raise InvalidParameterError(
                f"not the description of a {kind.shape}: {str(form)[:80]!r}"
            ) from None
        return made

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PlaneRegion):
            return NotImplemented
        return self.shape == other.shape and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash((self.shape, str(self.to_json())))

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={_written(value)}" for name, value in self.to_json().items())
        return f"{type(self).__name__}({told})"

    def __reduce__(self) -> Any:
        return PlaneRegion.from_json, ({"shape": self.shape, **self.to_json()},)


_ROOT: Any = PlaneRegion


def _leaves(kind: Any) -> list[Any]:
    below = [leaf for each in kind.__subclasses__() for leaf in _leaves(each)]
    return below + ([kind] if "shape" in vars(kind) else [])


def _written(value: Any) -> str:
    if isinstance(value, list):
        return f"({', '.join(map(_written, value))})"
    return f"{value:.15g}"


class Convex(PlaneRegion):
    """A region between straight edges, without a corner that points inwards."""

    @cached_property
    def _sides(self) -> tuple[Floats, Floats]:
        """The outward normal of each edge, of length 1, and how far along it the edge lies."""
        edges = np.roll(self.corners, -1, axis=0) - self.corners
        normals = np.stack([edges[:, 1], -edges[:, 0]], axis=1) / np.hypot(*edges.T)[:, None]
        return normals, (normals * self.corners).sum(axis=1)

    @property
    def centre(self) -> tuple[float, float]:
        x, y = self.corners.mean(axis=0).tolist()
        return x, y

    def contains(self, points: Floats) -> Any:
        normals, offsets = self._sides
        slack = RELATIVE * self.size
        return np.logical_and.reduce(
            [points @ normal <= offset + slack for normal, offset in zip(normals, offsets, strict=True)]
        )

    def reach(self, reference: Point, directions: Floats) -> Floats:
        normals, offsets = self._sides
        away = RELATIVE * np.hypot(*directions.T)
        fits = np.full(len(directions), np.inf)
        for normal, offset in zip(normals, offsets, strict=True):
            speed = directions @ normal
            leaves = speed > away
            room = np.broadcast_to(offset - np.asarray(reference, float) @ normal, len(directions))
            fits[leaves] = np.minimum(fits[leaves], np.maximum(room[leaves], 0.0) / speed[leaves])
        return fits

    def gauge(self, reference: Point, points: Floats) -> Floats:
        normals, offsets = self._sides
        away = points - np.asarray(reference, float)
        share = np.zeros(len(points))
        for normal, offset in zip(normals, offsets, strict=True):
            room: Any = offset - np.asarray(reference, float) @ normal
            near = room <= RELATIVE * self.size  # no point of the region lies beyond an edge it touches
            if np.ndim(room):
                np.maximum(share, np.where(near, 0.0, away @ normal / np.where(near, 1.0, room)), out=share)
            elif not near:
                np.maximum(share, away @ (normal / room), out=share)
        return np.minimum(share, 1.0, out=share)

    def nodes(self, order: int) -> tuple[Floats, Floats]:
        points, weights = np.polynomial.legendre.leggauss(order)
        shares = np.stack(np.meshgrid((points + 1) / 2, (points + 1) / 2), axis=-1).reshape(-1, 2)
        return self.from_shares(shares), np.outer(weights, weights).ravel() / 4
