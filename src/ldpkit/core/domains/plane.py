"""Planes: locations in a public region, in plain units or as longitude and latitude.

Locations come as rows of two numbers, as two columns, or as shapely points, and leave in the
same units. Inside, everything is a point of the map: the region, the places that people may
be at, and distances. What does not belong is refused here, before any randomness is drawn,
with its position; where the two numbers were given the wrong way round, the message says so.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.domains.base import Domain
from ldpkit.core.domains.globe import Globe
from ldpkit.core.domains.interval import ClippedWarning
from ldpkit.core.domains.locations import Locations, as_points
from ldpkit.core.domains.polygons import Polygon
from ldpkit.core.domains.projection import ROUNDED, Projection, check_degrees, flat_box
from ldpkit.core.domains.region import PlaneRegion, Point
from ldpkit.core.domains.regions import Disc, Parallelogram, Rectangle
from ldpkit.core.errors import InvalidInputError, InvalidParameterError, OutOfDomainError

if TYPE_CHECKING:
    from ldpkit.core.random import RandomSource
    from ldpkit.core.typing import Floats, Indices

__all__ = ["Locations", "PlaneDomain", "PlaneLike", "as_plane", "as_points"]

_MOST_PLACES = 4096


class PlaneDomain(Domain):
    """The locations of a region.

    Parameters
    ----------
    region : PlaneRegion
        Where people may be: public, and never taken from their data.
    projection : Projection, optional
        For locations given as longitude and latitude in degrees: how they become metres. The
        region is then in metres; `degrees` and `outline_in_degrees` make it from degrees.
    places : array, shape (k, 2), optional
        Public places in the region, such as stops or shops, for mechanisms that answer with one.
        At most 4,096, in the units of the region.

    Examples
    --------
    >>> square = PlaneDomain.rectangle((0, 0), (1, 1))
    >>> square.take([(0.2, 0.7), (1, 0)]).tolist()
    [[0.2, 0.7], [1.0, 0.0]]
    >>> PlaneDomain.rectangle((139, 35), (140, 36)).take([(35.6, 139.7)])
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.OutOfDomainError: location (35.6, 139.7) at position 0 is not in \
[139, 140] x [35, 36], but (139.7, 35.6) is: the two numbers are swapped; give longitude, or x, first
    """

    __slots__ = ("places", "projection", "region")
    region: PlaneRegion
    projection: Projection | None
    places: Floats | None

    def __init__(
        self, region: PlaneRegion, projection: Projection | None = None, places: Locations | None = None
    ) -> None:
        if not isinstance(region, PlaneRegion):
            raise InvalidParameterError(
                f"a plane needs a region, such as Rectangle((0, 0), (1, 1)), got {str(region)[:50]!r}"
            )
        if projection is not None and not isinstance(projection, Projection):
            raise InvalidParameterError(f"projection must be a Projection or None, got {projection!r}")
        object.__setattr__(self, "region", region)
        object.__setattr__(self, "projection", projection)
        object.__setattr__(self, "places", None if places is None else self._own_places(places))

    def _own_places(self, places: Locations) -> Floats:
        try:
            points = np.array(as_points(places))
        except InvalidInputError as error:
            raise InvalidParameterError(f"places cannot be used: {error}") from None
        if not 2 <= len(points) <= _MOST_PLACES:
            raise InvalidParameterError(f"there must be 2 to {_MOST_PLACES} places, got {len(points)}")
        inside: Any = np.isfinite(points).all(axis=1)
        inside[inside] = self.region.contains(points[inside])
        if not inside.all():
            position = int(np.argmin(inside))
            raise InvalidParameterError(
                f"place {position}, {_written(points[position])}, is not in {self.region}"
            )
        _, first = np.unique(points, axis=0, return_index=True)
        if len(first) < len(points):
            again = min(set(range(len(points))) - set(first.tolist()))
            raise InvalidParameterError(f"place {again}, {_written(points[again])}, is there twice")
        points.setflags(write=False)
        return points

    # --- ways to make one ----------------------------------------------------------------

    @classmethod
    def rectangle(cls, low: Point, high: Point, *, places: Locations | None = None) -> Self:
        """Return the plane of an upright rectangle."""
        return cls(Rectangle(low, high), places=places)

    @classmethod
    def disc(cls, middle: Point, radius: float) -> Self:
        """Return the plane of a disc."""
        return cls(Disc(middle, radius))

    @classmethod
    def parallelogram(cls, corner: Point, first: Point, second: Point) -> Self:
        """Return the plane of a parallelogram."""
        return cls(Parallelogram(corner, first, second))

    @classmethod
    def globe(cls) -> Self:
        """Return the whole globe, in degrees, with distances in kilometres."""
        return cls(Globe())

    @classmethod
    def polygon(cls, outline: Any) -> Self:
        """Return the plane of a polygon, from its corners or a shapely polygon."""
        return cls(Polygon(outline))

    @classmethod
    def degrees(
        cls, west: float, south: float, east: float, north: float, *, projection: str = "local"
    ) -> Self:
        """Return the plane of a box of longitudes and latitudes, flat and in metres.

        The region is the smallest rectangle of the map that holds the box.

        Parameters
        ----------
        west, south, east, north : float
            The box in degrees.
        projection : {"local", "utm"}
            A map around the middle of the box, or the zone of UTM that the middle lies in.

        Examples
        --------
        >>> chicago = PlaneDomain.degrees(-87.9, 41.6, -87.5, 42.0)
        >>> [round(float(side) / 1000) for side in np.diag(chicago.region.matrix)]
        [33, 44]
        """
        box, chart = flat_box(west, south, east, north, projection)
        return cls(box, chart)

    @classmethod
    def outline_in_degrees(cls, outline: Any, *, projection: str = "local") -> Self:
        """Return the plane of a polygon whose corners are longitudes and latitudes."""
        drawn = Polygon(outline)
        check_degrees(drawn.corners)
        chart = Projection.around(*drawn.centre, projection)
        return cls(Polygon(chart.forward(drawn.corners).tolist()), chart)

    def with_places(self, places: Locations) -> Self:
        """Return the same plane with public places, given in the units of locations."""
        return type(self)(self.region, self.projection, self.take(places))

    # --- locations -----------------------------------------------------------------------

    def take(self, values: Locations, *, clip: bool = False, option: str = "clip=True") -> Floats:
        """Return locations as points of the map, or refuse them.

        Parameters
        ----------
        values : array, columns or shapely points
            Locations: x and y, or longitude and latitude where there is a projection.
        clip : bool
            True moves those outside to the nearest point of the region; a warning says how many.
        option : str
            What that is called where the user is, for the message that refuses.

        Returns
        -------
        array, shape (n, 2)
            Points of the map, which are the caller's own numbers where there is no projection.
        """
        given = as_points(values)
        if self.projection is None and self.region.holds_all(given):
            return given
        finite = np.isfinite(given)
        if not finite.all():
            self._refuse_infinite(given, finite)
        points = given if self.projection is None else self.projection.forward(given)
        on_map = np.isfinite(points).all(axis=1)
        inside: Any = on_map.copy()
        inside[on_map] = self.region.contains(points if on_map.all() else points[on_map])
        if self.projection is not None:
            self._settle_on_edges(points, on_map & ~inside, inside)
        if inside.all():
            return points
        if not clip or not on_map.all():
            self._refuse(given, inside, option)
        moved = points.copy()
        moved[~inside] = self.region.project(points[~inside])
        warnings.warn(
            f"{int((~inside).sum())} of {len(points)} locations were outside {self} and were moved to its "
            "nearest point",
            ClippedWarning,
            stacklevel=3,
        )
        return moved

    def _settle_on_edges(self, points: Floats, unsure: Any, inside: Any) -> None:
        """Take points that only the rounding of a projection has moved across an edge as lying on it."""
        if unsure.any():
            near = self.region.project(points[unsure])
            is_on_edge = np.hypot(*(near - points[unsure]).T) <= ROUNDED * self.region.size
            rows = np.flatnonzero(unsure)[is_on_edge]
            points[rows], inside[rows] = near[is_on_edge], True

    def locations(self, points: Floats) -> Floats:
        """Return points of the map in the units of locations: as they are, or longitude and latitude."""
        return points if self.projection is None else self.projection.inverse(points)

    def _refuse_infinite(self, given: Floats, finite: Any) -> None:
        position = int(np.argmin(finite.all(axis=1)))
        remedy = "drop missing values" if np.isnan(given[position]).any() else "remove it"
        raise OutOfDomainError(
            f"location {_written(given[position])} at position {position} is not finite: {remedy}", position
        )

    def _refuse(self, given: Floats, inside: Any, option: str) -> None:
        position = int(np.argmin(inside))
        told = f"location {_written(given[position])} at position {position} is not in {self}"
        turned = given[position : position + 1, ::-1]
        points = turned if self.projection is None else self.projection.forward(turned)
        if np.isfinite(points).all() and self.region.contains(points)[0]:
            raise OutOfDomainError(
                f"{told}, but {_written(turned[0])} is: the two numbers are swapped; give longitude, or x, "
                "first",
                position,
            )
        raise OutOfDomainError(
            f"{told}: remove it, enlarge the region, or give {option} to move such locations to its nearest "
            "point",
            position,
        )

    # --- what every domain has -----------------------------------------------------------

    def encode(self, values: Locations, *, steps: int = 1 << 15) -> Indices:
        """Return the nearest of steps + 1 points along both edges of the frame for each location."""
        shares = self.region.to_shares(self.take(values))
        return np.rint(np.clip(shares, 0, 1) * steps).astype(np.uint32)

    @property
    def size(self) -> None:
        """None: locations are not counted."""
        return None

    @property
    def short(self) -> str:
        """The domain in the `repr` of a mechanism."""
        among = "" if self.places is None else f" with {len(self.places)} places"
        return f"{self}{among}"

    def values(self, places: Any) -> Any:
        """Return the locations themselves."""
        return places

    def examples(self, most: int, source: RandomSource) -> list[Any]:
        """Return locations to try: the centre, the corners and some at random."""
        shares = source.generator().random((max(most // 4, 1), 2))
        inner = self.region.project(self.region.from_shares(shares))
        points = np.concatenate([[self.region.centre], self.region.corners[:4], inner])
        found: list[Any] = self.locations(points).tolist()
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form: the region, and projection and places if there are any."""
        form: dict[str, Any] = {"shape": self.region.shape, **self.region.to_json()}
        if self.projection is not None:
            form["projection"] = self.projection.to_json()
        if self.places is not None:
            form["places"] = self.places.tolist()
        return form

    @classmethod
    def from_json(cls, form: Any) -> Self:
        """Return the plane of a JSON form, or refuse it."""
        if not isinstance(form, dict):
            raise InvalidParameterError(
                'a plane is an object such as {"shape": "rectangle", "low": [0, 0], "high": [1, 1]}, '
                f"got {str(form)[:50]!r}"
            )
        rest = dict(form)
        chart, places = rest.pop("projection", None), rest.pop("places", None)
        return cls(
            PlaneRegion.from_json(rest), None if chart is None else Projection.from_json(chart), places
        )

    @cached_property
    def _key(self) -> tuple[object, ...]:
        places = None if self.places is None else self.places.tobytes()
        return self.region, self.projection, places

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PlaneDomain):
            return NotImplemented
        return self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __str__(self) -> str:
        if self.projection is None:
            return str(self.region)
        wide, high = (float(side) / 1000 for side in np.diff(self.region.box, axis=0)[0])
        return f"the {self.region.shape} {wide:.4g} km wide and {high:.4g} km high on {self.projection}"

    def __repr__(self) -> str:
        more = "" if self.projection is None else f", {self.projection!r}"
        among = "" if self.places is None else f", places=<{len(self.places)}>"
        return f"PlaneDomain({self.region!r}{more}{among})"

    def __reduce__(self) -> Any:
        return PlaneDomain.from_json, (self.to_json(),)


PlaneLike: TypeAlias = "PlaneDomain | PlaneRegion | tuple[Point, Point]"
"""A plane, a region, or the lower left and upper right corners of a rectangle."""


def as_plane(domain: PlaneLike) -> PlaneDomain:
    """Return the plane for a plane, a region or two corners.

    Examples
    --------
    >>> as_plane(((0, 0), (1, 2)))
    PlaneDomain(Rectangle(low=(0, 0), high=(1, 2)))
    """
    if isinstance(domain, PlaneDomain):
        return domain
    if isinstance(domain, PlaneRegion):
        return PlaneDomain(domain)
    try:
        low, high = domain
    except (TypeError, ValueError):
        raise InvalidParameterError(
            "a plane is given by two corners, such as ((0, 0), (1, 1)), a region or a PlaneDomain, "
            f"got {str(domain)[:50]!r}"
        ) from None
    return PlaneDomain.rectangle(low, high)


def _written(point: Any) -> str:
    x, y = (float(each) for each in point)
    return f"({x:.15g}, {y:.15g})"
