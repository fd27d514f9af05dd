"""Bounds on the scores of a rectified network over many cells at once, by linear relaxation.

A unit whose sign is open lies between two linear functions of the inputs: above its chord at
most, and zero or itself at least. These are passed on from layer to layer, so a bound is a
linear function, which is least or greatest at a corner of the cell.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ldpkit.assurance.classifier.networks import Network
from ldpkit.core.typing import Floats

__all__ = ["Extremes", "box_extremes", "corner_extremes", "layer_bounds", "least_scores"]

Extremes: TypeAlias = Callable[[Floats, Floats], tuple[Floats, Floats]]
"""From slopes (cells x units x columns) and levels (cells x units) the least and the greatest values."""


def corner_extremes(corners: Floats) -> Extremes:
    """Return the extremes over cells given by their corners (cells x corners x columns)."""

    def extremes(slopes: Floats, levels: Floats) -> tuple[Floats, Floats]:
        values = np.einsum("cvd,cud->cvu", corners, slopes, optimize=True)
        return values.min(axis=1) + levels, values.max(axis=1) + levels

    return extremes


def box_extremes(low: Floats, high: Floats) -> Extremes:
    """Return the extremes over boxes (cells x columns)."""
    middle, half = (low + high)[:, None, :] / 2, (high - low)[:, None, :] / 2

    def extremes(slopes: Floats, levels: Floats) -> tuple[Floats, Floats]:
        centre = (slopes * middle).sum(axis=2) + levels
        spread = (np.abs(slopes) * half).sum(axis=2)
        return centre - spread, centre + spread

    return extremes


def least_scores(
    network: Network, layer: int, slopes: Floats, levels: Floats, extremes: Extremes, label: int
) -> tuple[Floats, Floats]:
    """Return lower and upper bounds on the scores that are positive where a label is kept.

    Parameters
    ----------
    network : Network
        The model.
    layer : int
        The layer whose sums, before the maximum, are linear in each cell.
    slopes, levels : arrays
        These linear functions of the sensitive columns.
    extremes : callable
        The least and greatest value of linear functions over the cells.
    label : int
        The index of the label.

    Examples
    --------
    >>> network = Network((np.array([[1.0, -1.0]]), np.array([[1.0], [1.0]])), (np.zeros(2), np.zeros(1) - 1),
    ...     np.array([0, 1]))
    >>> box = box_extremes(np.array([[-1.0]]), np.array([[1.0]]))
    >>> low, high = least_scores(network, 0, np.array([[[1.0], [-1.0]]]), np.zeros((1, 2)), box, 1)
    >>> low.tolist(), high.tolist()                                 # of |x| - 1 in [-1, 1]
    ([[-1.0]], [[0.0]])
    """
    lower, upper = (slopes, levels), (slopes, levels)
    for place in range(layer, len(network.weights) - 1):
        lower, upper, _ = _rectified(lower, upper, extremes)
        final = place == len(network.weights) - 2
        weight, bias = (
            network.differences(label) if final else (network.weights[place + 1], network.biases[place + 1])
        )
        lower, upper = _through(weight, bias, lower, upper), _through(weight, bias, upper, lower)
    return extremes(*lower)[0], extremes(*upper)[1]


def layer_bounds(
    network: Network, slopes: Floats, levels: Floats, extremes: Extremes
) -> list[tuple[Floats, Floats]]:
    """Return the least and the greatest sum of each hidden unit over one cell, a pair for each layer."""
    lower, upper = (slopes, levels), (slopes, levels)
    found = []
    for place in range(len(network.weights) - 1):
        lower, upper, (least, most) = _rectified(lower, upper, extremes)
        found.append((least[0], most[0]))
        weight, bias = network.weights[place + 1], network.biases[place + 1]
        lower, upper = _through(weight, bias, lower, upper), _through(weight, bias, upper, lower)
    return found


Linear: TypeAlias = tuple[Floats, Floats]
"""Linear functions of the sensitive columns: slopes and levels."""


def _rectified(
    lower: Linear, upper: Linear, extremes: Extremes
) -> tuple[Linear, Linear, tuple[Floats, Floats]]:
    """Return linear bounds on units after their maximum with zero, and the bounds of their sums before."""
    least, _ = extremes(*lower)
    _, most = extremes(*upper)
    least = np.minimum(least, most)
    open_ = (least < 0) & (most > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        chord = np.where(open_, most / (most - least), np.where(most > 0, 1.0, 0.0))
    floor = np.where(open_, most > -least, most > 0).astype(np.float64)
    below = lower[0] * floor[:, :, None], lower[1] * floor
    above = upper[0] * chord[:, :, None], (upper[1] - np.where(open_, least, 0.0)) * chord
    return below, above, (least, most)


def _through(weight: Floats, bias: Floats, own: Linear, other: Linear) -> Linear:
    """Return a bound after a layer: positive weights keep its side, negative ones take the other."""
    up, down = np.maximum(weight, 0.0), np.minimum(weight, 0.0)
    slopes = np.einsum("cud,uk->ckd", own[0], up, optimize=True)
    slopes = slopes + np.einsum("cud,uk->ckd", other[0], down, optimize=True)
    return slopes, own[1] @ up + other[1] @ down + bias
