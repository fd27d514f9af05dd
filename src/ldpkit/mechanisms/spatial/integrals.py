"""Mean distances, by integration: in closed form over rectangles, by Gauss's rule elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.typing import Floats

__all__ = ["along_rays", "check_power", "mean_over_boxes", "over_rectangle", "panels"]

_BOX_ORDER = 8
_AT_A_TIME = 32  # locations


def check_power(power: float) -> int:
    """Return the power of a distance that can be integrated, 1 or 2."""
    if isinstance(power, bool) or power not in (1, 2):
        raise InvalidParameterError(f"power must be 1 (distances) or 2 (squared distances), got {power!r}")
    return int(power)


def over_rectangle(low: Floats, high: Floats, at: Floats, power: int = 1) -> Floats:
    """Return the integral of |y - at|**power over upright rectangles; arrays of points broadcast.

    Examples
    --------
    >>> over_rectangle(np.zeros(2), np.ones(2), np.full(2, 0.5)).round(6)  # the unit square, from its centre
    np.float64(0.382598)
    """
    (x0, y0), (x1, y1) = (np.moveaxis(end - at, -1, 0) for end in (low, high))
    corner = _absolute if power == 1 else _squared
    return np.asarray(corner(x1, y1) - corner(x0, y1) - corner(x1, y0) + corner(x0, y0))


def _absolute(a: Any, b: Any) -> Any:
    """Return the integral of the distance from 0 over the rectangle from 0 to (a, b), signed."""
    with np.errstate(divide="ignore", invalid="ignore"):
        along = np.where(a == 0, 0.0, a**3 * np.arcsinh(b / np.abs(a)))
        across = np.where(b == 0, 0.0, b**3 * np.arcsinh(a / np.abs(b)))
    return (2 * a * b * np.hypot(a, b) + along + across) / 6


def _squared(a: Any, b: Any) -> Any:
    return a * b * (a**2 + b**2) / 3


@lru_cache(maxsize=16)
def _gauss(order: int) -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(order)
    return (nodes + 1) / 2, weights / 2


def panels(cuts: Floats, order: int) -> tuple[Floats, Floats]:
    """Return nodes and weights of Gauss's rule between neighbouring cuts, along the last axis.

    Examples
    --------
    >>> nodes, weights = panels(np.array([0.0, 1.0, 3.0]), 2)
    >>> nodes.shape, round(float(weights @ nodes**3), 6)
    ((4,), 20.25)
    """
    nodes, weights = _gauss(order)
    start, length = cuts[..., :-1, None], np.diff(cuts, axis=-1)[..., None]
    shape = (*cuts.shape[:-1], -1)
    return (start + length * nodes).reshape(shape), (length * weights).reshape(shape)


def mean_over_boxes(
    boxes: tuple[Floats, Floats, Floats],
    own: Floats,
    targets: Floats,
    to_map: Callable[[Floats], Floats],
    distance: Callable[[Floats, Floats], Floats],
    power: int,
) -> Floats:
    """Return for each location the mean power of the distance to its report, drawn from boxes of cells.

    For maps that have no closed form, such as the projection into a polygon.

    Parameters
    ----------
    boxes : tuple of arrays, shapes (n, k, 2), (n, k, 2), (n, k)
        Lower and upper ends of k boxes for each location, in cells, and the chance of a cell.
    own : array, shape (n, 2)
        Where each location lies among the cells, about which the distance has its kink.
    targets : array, shape (n, 2)
        The locations on the map.
    to_map : callable
        From places among cells, shape (m, 2), to points of the map.
    distance : callable
        From points and locations to how far they are apart.
    power : int
        1 or 2.
    """
    means = np.empty(len(targets))
    for start in range(0, len(targets), _AT_A_TIME):
        some = slice(start, start + _AT_A_TIME)
        low, high, heights = (each[some] for each in boxes)
        rules = []
        for axis in (0, 1):
            ends = low[..., axis], high[..., axis]
            middle = np.clip(own[some, axis, None], *ends)
            cuts = [ends[0], (ends[0] + middle) / 2, middle, (middle + ends[1]) / 2, ends[1]]
            rules.append(panels(np.stack(cuts, axis=-1), _BOX_ORDER))
        (x, by_x), (y, by_y) = rules
        grid = np.stack(np.broadcast_arrays(x[..., :, None], y[..., None, :]), axis=-1)
        points = to_map(grid.reshape(-1, 2)).reshape(grid.shape)
        far = distance(points, targets[some, None, None, None, :]) ** power
        means[some] = np.einsum("nk,nkx,nky,nkxy->n", heights, by_x, by_y, far, optimize=True)
    return means


def along_rays(rays: Floats, target: Floats, start: Floats, stop: Floats, power: int) -> Floats:
    """Return the integral of |s ray - target|**power over s from start to stop.

    Examples
    --------
    >>> along_rays(np.array([1.0, 0.0]), np.array([0.5, 0.0]), np.array(0.0), np.array(1.0), 1)
    array(0.25)
    """
    square = (rays**2).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        foot = np.where(square > 0, (rays * target).sum(axis=-1) / square, 0.0)
        away = np.maximum((target**2).sum(axis=-1) / square - foot**2, 0.0)  # squared, in rays

        def upto(end: Floats) -> Floats:
            u = end - foot
            if power == 2:
                return np.asarray(u**3 / 3 + away * u)
            height = np.sqrt(away)
            bent = np.where(away > 0, away * np.arcsinh(u / np.where(away > 0, height, 1.0)), 0.0)
            return np.asarray((u * np.sqrt(u**2 + away) + bent) / 2)

        whole = (upto(stop) - upto(start)) * square ** (power / 2)
    still = (stop - start) * (target**2).sum(axis=-1) ** (power / 2)  # a ray of length 0 stays where it is
    return np.asarray(np.where(square > 0, whole, still))
