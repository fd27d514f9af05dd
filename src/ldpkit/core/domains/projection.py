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
from ldpkit.core.errors import InvalidParameterError, MissingDependencyError
from ldpkit.core.frozen import Frozen
from ldpkit.core.parameters import check_whole

if TYPE_CHECKING:
    from ldpkit.core.typing import Floats

__all__ = ["Projection"]

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
