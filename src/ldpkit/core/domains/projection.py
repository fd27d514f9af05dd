"""Longitude and latitude on a flat map, in metres: around a point, or in a zone of UTM.

The arithmetic is pyproj's. A projection only chooses where on the map a location lies; it
is public, and no chance depends on it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.domains.interval import check_end
from ldpkit.core.domains.regions import Rectangle
from ldpkit.core.errors import InvalidParameterError, MissingDependencyError
from ldpkit.core.frozen import Frozen
from ldpkit.core.parameters import check_whole

if TYPE_CHECKING:
    from ldpkit.core.typing import Floats

__all__ = ["ROUNDED", "Projection", "check_degrees", "flat_box"]

ROUNDED = 1e-8
"""What a projection may move a point by, of the size of a region: half a millimetre in a city."""

_WIDEST_BOX = 180.0  # degrees of longitude: half of the globe can be seen at once
_EDGE_POINTS = 64  # along each edge of a box of degrees, to find what it spans on the map
_FARTHEST = 80.0  # degrees of latitude, where both projections are still good


class Projection(Frozen):
    """How degrees become metres.

    `Projection.local(longitude, latitude)` has true distances from that point and is right
    for a city or a country; `Projection.utm(zone)` is the grid of printed maps.

    Examples
    --------
    >>> Projection.local(-87.7, 41.8)
    Projection.local(-87.7, 41.8)
    >>> Projection.utm(54).to_json()
    {'name': 'utm', 'zone': 54, 'south': False}
    """

    frozen = "a projection does not change: make a new one"
    _form: dict[str, Any]

    def __init__(self, form: dict[str, Any]) -> None:
        self.__dict__.update(_form=form)

    @classmethod
    def local(cls, longitude: float, latitude: float) -> Self:
        """Return the map around a point, which distances from it are true on."""
        east, north = check_end(longitude, "longitude"), check_end(latitude, "latitude")
        if not (-180 <= east <= 180 and -_FARTHEST <= north <= _FARTHEST):
            raise InvalidParameterError(
                f"a map is centred on a longitude of -180 to 180 and a latitude of -80 to 80 degrees, got "
                f"longitude {east:g} and latitude {north:g}{_swapped(east, north)}"
            )
        return cls({"name": "local", "longitude": east, "latitude": north})

    @classmethod
    def utm(cls, zone: int, *, south: bool = False) -> Self:
        """Return the map of a zone of the Universal Transverse Mercator grid, 1 to 60."""
        number = check_whole(zone, "zone")
        if number > 60:
            raise InvalidParameterError(f"UTM has the zones 1 to 60, got {zone!r}")
        return cls({"name": "utm", "zone": number, "south": bool(south)})

    @classmethod
    def around(cls, longitude: float, latitude: float, name: str = "local") -> Self:
        """Return the projection of a name, "local" or "utm", that is right for a point."""
        if name == "local":
            return cls.local(longitude, latitude)
        if name != "utm":
            raise InvalidParameterError(f"projection must be local or utm, got {name!r}")
        cls.local(longitude, latitude)  # refuses what is no point
        zone = min(math.floor((longitude + 180) / 6) + 1, 60)
        return cls.utm(zone, south=latitude < 0)

    @cached_property
    def _transformer(self) -> Any:
        try:
            from pyproj import Transformer
        except ImportError:
            raise MissingDependencyError("pyproj", "a map of longitudes and latitudes", "geo") from None
        if self._form["name"] == "local":
            east, north = self._form["longitude"], self._form["latitude"]
            target = f"+proj=aeqd +lat_0={north!r} +lon_0={east!r} +datum=WGS84 +units=m +no_defs"
        else:
            south = " +south" if self._form["south"] else ""
            target = f"+proj=utm +zone={self._form['zone']}{south} +datum=WGS84 +units=m +no_defs"
        return Transformer.from_crs("EPSG:4326", target, always_xy=True)

    def forward(self, degrees: Floats) -> Floats:
        """Return the metres of (longitude, latitude) rows; infinite where there are none."""
        return self._moved(degrees, "FORWARD")

    def inverse(self, metres: Floats) -> Floats:
        """Return the (longitude, latitude) rows of metres."""
        return self._moved(metres, "INVERSE")

    def _moved(self, rows: Floats, direction: str) -> Floats:
        # Lists: pyproj takes arrays of one number for a number, which older NumPy warns of.
        first, second = (rows[:, 0], rows[:, 1]) if len(rows) != 1 else rows.T.tolist()
        return np.stack(self._transformer.transform(first, second, direction=direction), axis=1)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return dict(self._form)

    @classmethod
    def from_json(cls, form: Any) -> Self:
        """Return the projection of a JSON form, or refuse it."""
        numbers = dict(form) if isinstance(form, dict) else {}
        name = numbers.pop("name", None)
        if name == "local" and set(numbers) == {"longitude", "latitude"}:
            return cls.local(**numbers)
        if name == "utm" and set(numbers) == {"zone", "south"}:
            return cls.utm(**numbers)
        raise InvalidParameterError(f"not the description of a projection: {str(form)[:50]!r}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Projection):
            return NotImplemented
        return self._form == other._form

    def __hash__(self) -> int:
        return hash(tuple(self._form.items()))

    def __repr__(self) -> str:
        if self._form["name"] == "local":
            return f"Projection.local({self._form['longitude']:.15g}, {self._form['latitude']:.15g})"
        return f"Projection.utm({self._form['zone']}{', south=True' if self._form['south'] else ''})"

    def __str__(self) -> str:
        if self._form["name"] == "local":
            return f"the map around ({self._form['longitude']:.6g}, {self._form['latitude']:.6g})"
        return f"the map of UTM zone {self._form['zone']}{' south' if self._form['south'] else ''}"

    def __reduce__(self) -> Any:
        return Projection, (self._form,)


def _swapped(longitude: float, latitude: float) -> str:
    """Return a hint where the two numbers only make sense the other way round."""
    is_swapped = abs(latitude) > 90 and abs(longitude) <= 90 and abs(latitude) <= 180
    return ": they are swapped, longitude comes first" if is_swapped else ""


def flat_box(west: float, south: float, east: float, north: float, name: str) -> tuple[Rectangle, Projection]:
    """Return the smallest rectangle of the map that holds a box of degrees, and the map around its middle.

    Examples
    --------
    >>> box, chart = flat_box(-87.9, 41.6, -87.5, 42.0, "local")
    >>> [round(float(side) / 1000) for side in np.diag(box.matrix)], chart
    ([33, 44], Projection.local(-87.7, 41.8))
    """
    _check_box(west, south, east, north)
    box = Rectangle((west, south), (east, north))
    chart = Projection.around((box.low[0] + box.high[0]) / 2, (box.low[1] + box.high[1]) / 2, name)
    along = np.linspace(0, 1, _EDGE_POINTS + 1)
    sides = [np.stack([along, np.full_like(along, end)], axis=1) for end in (0.0, 1.0)]
    shares = np.concatenate([*sides, *(side[:, ::-1] for side in sides)])
    metres = chart.forward(box.from_shares(shares))
    low, high = metres.min(axis=0), metres.max(axis=0)
    corners = np.array([low, high, (low[0], high[1]), (high[0], low[1])])
    with np.errstate(invalid="ignore"):
        off = np.abs(chart.forward(chart.inverse(corners)) - corners).max()
        if not off <= ROUNDED * float(np.hypot(*(high - low))):
            raise InvalidParameterError(
                f"the box from ({west:g}, {south:g}) to ({east:g}, {north:g}) is too large for a flat "
                "map, whose corners would lie off the globe: use a smaller box, or PlaneDomain.globe"
            )
    return Rectangle(low.tolist(), high.tolist()), chart


def _check_box(west: float, south: float, east: float, north: float) -> None:
    """Refuse a box of degrees that no flat map can show."""
    corners = np.array([(west, south), (east, north)], float)
    if np.isfinite(corners).all():  # else the rectangle refuses
        check_degrees(corners)
        if west > east:
            raise InvalidParameterError(
                f"west is {west:g} and east is {east:g}: a box across the antimeridian has no flat map here; "
                "take PlaneDomain.globe, or swap them if that was not meant"
            )
        if east - west > _WIDEST_BOX:
            raise InvalidParameterError(
                f"a box of {east - west:g} degrees of longitude is too wide for a flat map: use at most "
                f"{_WIDEST_BOX:g}, or PlaneDomain.globe"
            )


def check_degrees(corners: Floats) -> None:
    """Refuse corners that are not longitudes and latitudes."""
    for longitude, latitude in corners.tolist():
        if not (-180 <= longitude <= 180 and -90 <= latitude <= 90):
            is_swapped = np.abs(corners[:, 0]).max() <= 90 and np.abs(corners[:, 1]).max() <= 180
            hint = ": they are swapped, longitude comes first" if is_swapped else ""
            raise InvalidParameterError(
                f"degrees are longitudes of -180 to 180 and latitudes of -90 to 90, got ({longitude:g}, "
                f"{latitude:g}){hint}"
            )
