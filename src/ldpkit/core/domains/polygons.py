"""Polygons: public outlines, such as that of a city, that do not cross themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.domains.region import RELATIVE, PlaneRegion, Point, as_pair
from ldpkit.core.errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ldpkit.core.typing import Floats

__all__ = ["Polygon", "nearest_on_edges"]

_MOST_CORNERS = 2000  # every edge is compared with every other


class Polygon(PlaneRegion):
    """The inside of an outline.

    Parameters
    ----------
    outline : sequence of pairs, or a shapely polygon
        The corners in order, either way round; the last is joined to the first. At most 2,000.
        A polygon with holes, or one that crosses or touches itself, is refused.

    Examples
    --------
    >>> house = Polygon([(0, 0), (2, 0), (2, 2), (1, 3), (0, 2)])
    >>> house.area, house.contains(np.array([[1, 2.9], [2, 2.9]])).tolist()
    (5.0, [True, False])
    >>> Polygon([(0, 0), (1, 1), (1, 0), (0, 1)])
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: the outline crosses itself: the edge from (0, 0) to (1, 1) \
meets the one from (1, 0) to (0, 1); give the corners in order round the region
    """

    shape = "polygon"
    fills_frame = False
    is_convex = False  # as far as is known
    outline: tuple[tuple[float, float], ...]

    def __init__(self, outline: Sequence[Point] | Any) -> None:
        given: Any = outline
        if hasattr(given, "exterior"):  # of shapely
            if len(given.interiors):
                raise InvalidParameterError(
                    "a polygon here has no holes: leave them out, or give its outline"
                )
            given = given.exterior.coords
        try:
            corners = [as_pair(each, "a corner") for each in given]
        except TypeError:
            raise InvalidParameterError(f"an outline is a list of pairs, got {str(outline)[:50]}") from None
        if len(corners) > 1 and corners[0] == corners[-1]:
            corners.pop()
        if not 3 <= len(corners) <= _MOST_CORNERS:
            raise InvalidParameterError(
                f"a polygon has 3 to {_MOST_CORNERS} corners, got {len(corners)}: simplify the outline"
            )
        points = np.array(corners)
        _refuse_crossing(points)
        if _signed_area(points) < 0:
            corners.reverse()
        self._settle(outline=tuple(corners))

    @cached_property
    def corners(self) -> Floats:
        return np.array(self.outline)

    @property
    def area(self) -> float:
        return _signed_area(self.corners)

    @cached_property
    def centre(self) -> tuple[float, float]:
        """Its centre of gravity, or where that lies outside, the nearest point inside."""
        start = self.corners - self.corners[0]
        end = np.roll(start, -1, axis=0)
        cross = start[:, 0] * end[:, 1] - start[:, 1] * end[:, 0]
        middle = self.corners[0] + ((start + end) * cross[:, None]).sum(axis=0) / (3 * cross.sum())
        x, y = self.project(middle[None])[0].tolist()
        return x, y

    def contains(self, points: Floats) -> Any:
        x, y = points.T
        inside = np.zeros(len(points), bool)
        for (x0, y0), (x1, y1) in zip(self.corners, np.roll(self.corners, -1, axis=0), strict=True):
            if y0 != y1:
                crossed = ((y0 > y) != (y1 > y)) & (x < (x1 - x0) * (y - y0) / (y1 - y0) + x0)
                inside ^= crossed
        unsure = np.flatnonzero(~inside)
        if len(unsure):  # on the boundary counts as inside
            near = nearest_on_edges(self.corners, points[unsure])
            away = np.hypot(*(near - points[unsure]).T)
            inside[unsure] = away <= RELATIVE * self.size
        return inside

    def project(self, points: Floats) -> Floats:
        outside = ~self.contains(points)
        moved = points.copy()
        moved[outside] = nearest_on_edges(self.corners, points[outside])
        return moved

    def reach(self, reference: Point, directions: Floats) -> Floats:
        start = self.corners - np.asarray(reference, float)
        end = np.roll(start, -1, axis=0)
        fits = np.zeros(len(directions))
        for one, two in zip(start, end, strict=True):
            turn = _cross(one, two)
            if turn <= 0:
                continue
            before, after = _cross(one, directions.T), -_cross(two, directions.T)
            slack = -RELATIVE * self.size * np.hypot(*directions.T)
            between = (before >= slack) & (after >= slack) & (before + after > 0)
            fits[between] = turn / (before + after)[between]
        return np.where((directions == 0).all(axis=1), np.inf, fits)

    def sees_all_from(self, reference: Point) -> bool:
        start = self.corners - np.asarray(reference, float)
        turns = _cross(start.T, np.roll(start, -1, axis=0).T)
        return bool((turns > 0).all())

    def nodes(self, order: int) -> tuple[Floats, Floats]:
        steps = 4 * order
        shares = (np.arange(steps) + 0.5) / steps
        points = self.from_shares(np.stack(np.meshgrid(shares, shares), axis=-1).reshape(-1, 2))
        inside = points[self.contains(points)]
        if not len(inside):
            inside = np.array([self.centre])
        return inside, np.full(len(inside), 1 / len(inside))

    def to_json(self) -> dict[str, Any]:
        return {"outline": [list(corner) for corner in self.outline]}

    def __str__(self) -> str:
        return f"the polygon of {len(self.outline)} corners around {_short(self.centre)}"


def nearest_on_edges(corners: Floats, points: Floats) -> Floats:
    """Return for each point the nearest one on the outline with these corners.

    Examples
    --------
    >>> nearest_on_edges(np.array([[0.0, 0], [1, 0], [1, 1]]), np.array([[0.5, -2.0]])).tolist()
    [[0.5, 0.0]]
    """
    best, least = points.copy(), np.full(len(points), np.inf)
    for start, end in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        edge = end - start
        share = np.clip((points - start) @ edge / (edge @ edge), 0.0, 1.0)
        near = start + share[:, None] * edge
        away = ((points - near) ** 2).sum(axis=1)
        closer = away < least
        best[closer], least[closer] = near[closer], away[closer]
    return best


def _signed_area(corners: Floats) -> float:
    start = corners - corners[0]
    return float(_cross(start.T, np.roll(start, -1, axis=0).T).sum() / 2)


def _cross(one: Any, two: Any) -> Any:
    return one[0] * two[1] - one[1] * two[0]


def _refuse_crossing(corners: Floats) -> None:
    """Refuse an outline of which two edges meet anywhere but at the corner that they share."""
    count = len(corners)
    start, end = corners, np.roll(corners, -1, axis=0)
    if (start == end).all(axis=1).any():
        position = int(np.argmax((start == end).all(axis=1)))
        raise InvalidParameterError(
            f"corner {position} of the outline, {_short(start[position])}, is there twice"
        )

    def side(a: Floats, b: Floats, c: Floats) -> Any:
        return np.sign(_cross((b - a).T, (c - a).T))

    for first in range(count - 2):
        others = np.arange(first + 2, count - (first == 0))
        a, b = start[first][None], end[first][None]
        c, d = start[others], end[others]
        one, two, three, four = side(a, b, c), side(a, b, d), side(c, d, a), side(c, d, b)
        proper = (one * two <= 0) & (three * four <= 0)
        # On one line, edges meet only where their boxes do.
        apart = (np.maximum(c, d) < np.minimum(a, b)) | (np.minimum(c, d) > np.maximum(a, b))
        meets = proper & ~apart.any(axis=1)
        if meets.any():
            other = int(others[np.argmax(meets)])
            raise InvalidParameterError(
                f"the outline crosses itself: the edge from {_short(start[first])} to {_short(end[first])} "
                f"meets the one from {_short(start[other])} to {_short(end[other])}; give the corners in "
                "order round the region"
            )
    if _signed_area(corners) == 0:
        raise InvalidParameterError("the corners of the outline lie on one line: they enclose no region")


def _short(point: Any) -> str:
    x, y = (float(each) for each in point)
    return f"({x:.15g}, {y:.15g})"
