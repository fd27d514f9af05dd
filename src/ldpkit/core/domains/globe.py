"""The globe: all longitudes and latitudes, with distances along great circles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ldpkit.core.domains.regions import Rectangle

if TYPE_CHECKING:
    from ldpkit.core.typing import Floats

__all__ = ["EARTH_RADIUS", "Globe"]

EARTH_RADIUS = 6371.0088
"""The mean radius of the Earth in kilometres."""


class Globe(Rectangle):
    """Longitudes of -180 to 180 and latitudes of -90 to 90 degrees; distances are kilometres.

    The two ends of the longitudes are one and the same meridian.

    Examples
    --------
    >>> earth = Globe()
    >>> tokyo, chicago = np.array([[139.69, 35.69], [-87.63, 41.88]])
    >>> round(float(earth.distance(tokyo, chicago)))
    10138
    """

    shape = "globe"
    wraps = True

    def __init__(self) -> None:
        super().__init__((-180, -90), (180, 90))

    def distance(self, one: Floats, other: Floats) -> Floats:
        east, north = np.moveaxis(np.radians(one), -1, 0)
        east_too, north_too = np.moveaxis(np.radians(other), -1, 0)
        chord = (
            np.sin((north - north_too) / 2) ** 2
            + np.cos(north) * np.cos(north_too) * np.sin((east - east_too) / 2) ** 2
        )
        return np.asarray(2 * EARTH_RADIUS * np.arcsin(np.sqrt(np.clip(chord, 0.0, 1.0))))

    def nodes(self, order: int) -> tuple[Floats, Floats]:
        heights, weights = np.polynomial.legendre.leggauss(order)  # of equal area: the sines of latitudes
        east = 360 * (np.arange(2 * order) + 0.5) / (2 * order) - 180
        points = np.stack(np.meshgrid(np.degrees(np.arcsin(heights)), east, indexing="ij")[::-1], axis=-1)
        return points.reshape(-1, 2), np.repeat(weights / 2, 2 * order) / (2 * order)

    def to_json(self) -> dict[str, Any]:
        return {}

    def __str__(self) -> str:
        return "the globe"
