"""The best answer that needs no report: the point with the least mean distance to where people are."""

from __future__ import annotations

import numpy as np

from ldpkit.core.domains.globe import EARTH_RADIUS, Globe
from ldpkit.core.typing import Floats

__all__ = ["best_constant", "best_constant_on_globe"]

_STARTS, _START_NODES = 100, 8  # of the points and of an even grid, where the best on the globe is looked for


def best_constant(points: Floats, weights: Floats) -> tuple[Floats, float]:
    """Return the point with the least mean distance to some points, and that distance.

    Examples
    --------
    >>> where, far = best_constant(np.array([[0.0, 0], [0, 1], [0, 2]]), np.ones(3) / 3)
    >>> where.round(3).tolist(), round(far, 3)
    ([0.0, 1.0], 0.667)
    """
    shares = weights / weights.sum()
    where = shares @ points
    for _ in range(200):
        pull = shares / np.maximum(np.hypot(*(points - where).T), 1e-12 * (1 + np.abs(points).max()))
        moved = pull @ points / pull.sum()
        if np.hypot(*(moved - where)) < 1e-10 * (1 + np.abs(where).max()):
            break
        where = moved
    return where, float(shares @ np.hypot(*(points - where).T))


def best_constant_on_globe(points: Floats, weights: Floats) -> tuple[Floats, float]:
    """Return the point of the globe with the least mean distance to some points, and that distance.

    The mean distance may have several local minima: the search begins at the best of many points.

    Examples
    --------
    >>> where, far = best_constant_on_globe(np.array([[170.0, 0], [-180, 0], [-170, 0]]), np.ones(3) / 3)
    >>> abs(where).round(3).tolist(), round(far)
    ([180.0, 0.0], 741)
    """
    shares = weights / weights.sum()
    units = _units(points)

    def angles(where: Floats) -> Floats:
        chords: Floats = np.linalg.norm(units - where, axis=1)
        return 2 * np.arcsin(np.minimum(chords / 2, 1.0))

    starts = [*units[:: -(-len(units) // _STARTS)], *_units(Globe().nodes(_START_NODES)[0])]
    where = min(starts, key=lambda each: float(shares @ angles(each)))
    least = float(shares @ angles(where))
    for _ in range(200):  # Weiszfeld's steps, along great circles
        away = angles(where)
        towards = units - np.outer(units @ where, where)
        # A point on the spot pulls nowhere.
        pull = np.where(away > 1e-9, shares, 0.0) / np.maximum(away, 1e-9)
        step = (pull * away / np.maximum(np.sin(away), 1e-9)) @ towards / max(float(pull.sum()), 1e-300)
        length = float(np.linalg.norm(step))
        if length < 1e-10:
            break
        moved = np.cos(length) * where + np.sin(length) / length * step
        error = float(shares @ angles(moved))
        if error >= least:
            break
        where, least = moved / np.linalg.norm(moved), error
    x, y, z = where
    place: Floats = np.degrees([np.arctan2(y, x), np.arctan2(z, np.hypot(x, y))])
    return place, EARTH_RADIUS * least


def _units(points: Floats) -> Floats:
    """Return longitudes and latitudes as unit vectors."""
    east, north = np.radians(points).T
    return np.stack([np.cos(north) * np.cos(east), np.cos(north) * np.sin(east), np.sin(north)], axis=1)
