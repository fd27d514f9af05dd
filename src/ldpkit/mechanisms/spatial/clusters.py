"""Public places in groups: the place in the middle of each group, and the nearest place of a point."""

from __future__ import annotations

from typing import Any

import numpy as np

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.typing import Floats

__all__ = ["cells_between", "check_weights", "medoids", "nearest", "surely_nearest"]

_ROUNDS = 30
_SEED = 16  # of the first guess: the same places give the same groups


def check_weights(weights: Any, count: int) -> Floats:
    """Return the weights of so many places, equal ones for None, or refuse them.

    Examples
    --------
    >>> check_weights(None, 2).tolist()
    [1.0, 1.0]
    """
    chances = np.ones(count) if weights is None else np.asarray(weights, float)
    if chances.shape != (count,) or not (np.isfinite(chances) & (chances >= 0)).all():
        raise InvalidParameterError(f"there is one weight for each of {count} places, none of them negative")
    if not chances.sum() > 0:
        raise InvalidParameterError("places need a positive weight")
    return chances


def nearest(places: Floats) -> Any:
    """Return a function from points to the index of the nearest place, by a spatial index.

    Examples
    --------
    >>> nearest(np.array([[0.0, 0], [1, 1]]))(np.array([[0.9, 0.8], [0.1, 0.4]])).tolist()
    [1, 0]
    """
    from scipy.spatial import cKDTree

    tree = cKDTree(places)

    def find(points: Floats) -> Any:
        return tree.query(points)[1]

    return find


def medoids(places: Floats, weights: Floats, count: int) -> Any:
    """Return the indices of `count` places that others are near to, in ascending order.

    Groups are moved to their means and split anew until they stay; then each is given the place
    of its own with the least sum of distances.

    Examples
    --------
    >>> places = np.array([[0.0, 0], [0.1, 0], [0.2, 0], [5, 5], [5, 5.1]])
    >>> medoids(places, np.ones(5), 2).tolist()
    [1, 3]
    """
    if not 1 <= count <= len(places):
        raise InvalidParameterError(
            f"there can be 1 to {len(places)} groups of {len(places)} places, got {count}"
        )
    if count == len(places):
        return np.arange(count)
    centres = _spread(places, weights, count)
    group = np.zeros(len(places), np.int64)
    for _ in range(_ROUNDS):
        found = nearest(centres)(places)
        if (found == group).all():
            break
        group = found
        mass = np.bincount(group, weights, count)
        for axis in (0, 1):
            moved = np.bincount(group, weights * places[:, axis], count)
            centres[:, axis] = np.where(mass > 0, moved / np.where(mass > 0, mass, 1), centres[:, axis])
    return np.unique([_middle(places, weights, np.flatnonzero(group == each)) for each in np.unique(group)])


def _spread(places: Floats, weights: Floats, count: int) -> Floats:
    """Return places far from each other, with a chance that grows with distance and weight."""
    generator = np.random.Generator(np.random.PCG64(_SEED))
    chosen = [int(np.argmax(weights))]
    far = ((places - places[chosen[0]]) ** 2).sum(axis=1)
    for _ in range(count - 1):
        chances = np.cumsum(far * weights)
        if not chances[-1] > 0:
            break
        pick = int(np.searchsorted(chances, generator.random() * chances[-1], "right"))
        chosen.append(min(pick, len(places) - 1))
        far = np.minimum(far, ((places - places[chosen[-1]]) ** 2).sum(axis=1))
    return places[chosen].astype(float)


def _middle(places: Floats, weights: Floats, members: Any) -> int:
    """Return the member with the least weighted sum of distances to the others."""
    own, mass = places[members], weights[members]
    if len(members) > 1000:  # of the many, those nearest to the mean will do
        mean = np.average(own, axis=0, weights=mass)
        tried = np.argsort(((own - mean) ** 2).sum(axis=1))[:200]
    else:
        tried = np.arange(len(members))
    sums = [float(mass @ np.hypot(*(own - own[each]).T)) for each in tried]
    return int(members[tried[int(np.argmin(sums))]])


def surely_nearest(places: Floats, corners: Floats) -> Any:
    """Return the indices of all places that may be the nearest one of a point between some corners.

    A point lies at most the radius h of the corners from their middle. So if the place nearest to the
    middle is d away from it, the one nearest to the point is at most d + 2 h away from the middle.

    Examples
    --------
    >>> row = np.array([[0.0, 0], [1, 0], [2, 0], [3, 0]])
    >>> surely_nearest(row, np.array([[0.0, 0], [0.2, 0]])).tolist()
    [0]
    """
    middle = corners.mean(axis=0)
    radius = float(np.hypot(*(corners - middle).T).max())
    far = np.hypot(*(places - middle).T)
    return np.flatnonzero(far <= (float(far.min()) + 2 * radius) * (1 + 1e-9))


def cells_between(low: float, high: float, count: int) -> Any:
    """Return which of so many equal parts of [0, 1] the numbers from low, included, to high lie in.

    Examples
    --------
    >>> cells_between(0.25, 0.5, 4).tolist(), cells_between(0.25, 0.5, 11).tolist()
    ([1], [2, 3, 4, 5])
    """
    first, last = int(np.floor(low * count)), int(np.ceil(high * count)) - 1
    return np.arange(max(first, 0), min(max(last, first), count - 1) + 1)
