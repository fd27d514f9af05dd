"""Points as directions and distances from a reference, and back.

A direction is a part of a turn, a distance a part of the way to the boundary: the gauge of the
region. The reference itself has direction 0 and distance 0, like any other point.
"""

from __future__ import annotations

import math

import numpy as np

from ldpkit.core.domains.region import PlaneRegion, Point
from ldpkit.core.typing import Floats

__all__ = ["TURN", "from_reference", "seen_from"]

TURN = 2 * math.pi


def seen_from(region: PlaneRegion, reference: Point, points: Floats) -> tuple[Floats, Floats]:
    """Return the direction of points in turns, from -1/2 to 1/2, and their distance from 0 to 1.

    Examples
    --------
    >>> from ldpkit.core.domains.regions import Rectangle
    >>> turns, shares = seen_from(Rectangle((0, 0), (1, 1)), (0.5, 0.5), np.array([[0.5, 0.75], [0.5, 0.5]]))
    >>> turns.tolist(), shares.tolist()
    ([0.25, 0.0], [0.5, 0.0])
    """
    away = points - np.asarray(reference, float)
    turns = np.arctan2(away[:, 1], away[:, 0])
    turns *= 1 / TURN
    return turns, region.gauge(reference, points)


def from_reference(region: PlaneRegion, reference: Point, turns: Floats, shares: Floats) -> Floats:
    """Return the points in some directions and at some distances from a reference.

    Examples
    --------
    >>> from ldpkit.core.domains.regions import Rectangle
    >>> from_reference(Rectangle((0, 0), (1, 1)), (0.5, 0.0), np.array([0.75]), np.array([0.5])).tolist()
    [[0.5, 0.0]]
    """
    angles = TURN * turns
    ahead = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    far = region.reach(reference, ahead) * shares
    return np.asarray(np.asarray(reference, float) + far[:, None] * ahead)
