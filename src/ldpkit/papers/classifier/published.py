"""The published bound and its search, for reproduction alone: neither is a lower bound.

The search tests uniform points of a box. Here the share of the box that fails is computed from
the model in place of being estimated, so that what goes wrong is the method and not a draw:
a radius that failed is taken, boxes in which a share tau fails are accepted, and reports are
treated as if they were uniform in the box.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from ldpkit.assurance.classifier.columns import PrivateColumn
from ldpkit.assurance.classifier.outputs import Outputs
from ldpkit.core.typing import Floats

__all__ = ["Boxes", "Failing", "failing_share", "published_bound", "published_boxes", "samples"]

Boxes = tuple[Floats, Floats]
"""The lower and the upper ends, records x columns."""
Failing = Callable[[Floats, Floats], Floats]
"""The share of each box, given by its ends, in which the label is not kept."""

_TOLERANCE = 0.01


def samples(omega: float, tau: float) -> float:
    """Return n(omega, tau) of Theorem 15.

    Examples
    --------
    >>> round(samples(0.05, 0.01)), round(samples(0.05, 0.005))
    (18444, 73778)
    """
    return math.log(2 / omega) / (2 * tau**2)


def failing_share(region: Any, low: Floats, high: Floats) -> Floats:
    """Return the share of each record's box in which a model that was read changes the label."""
    laws = []
    for axis in range(low.shape[1]):
        edges = np.column_stack([low[:, axis], np.maximum(high[:, axis], low[:, axis] + 1e-12)])
        ones = np.ones((len(low), 1))
        laws.append(Outputs(edges, ones, np.zeros(0), ones[:, :0]))
    return np.asarray(1 - region.probability(laws)[0])


def published_boxes(
    failing: Failing,
    centres: Floats,
    tau: float,
    *,
    steps: Sequence[float] = (0.4, 0.3, 0.2, 0.1, 0.05),
    careful: bool = False,
) -> Boxes:
    """Return the boxes that the published search ends with, one for each record.

    First the radius is halved in until it is known to 0.01, and the upper end is taken, which
    failed. Then the sides of that cube are moved outwards by 0.4, 0.3, ..., in all combinations;
    the box with the greatest sum of sides that passes is kept.

    Parameters
    ----------
    failing : callable
        The share of each box that fails.
    centres : array, records x columns
        The sensitive values, in [0, 1].
    tau : float
        The share that may fail.
    steps : sequence of float
        How far sides are moved; none leaves the cube.
    careful : bool
        Whether to take the radius that passed instead.
    """
    lower, upper = np.zeros(len(centres)), np.full(len(centres), 0.5)
    while float((upper - lower).max()) > _TOLERANCE:
        middle = (lower + upper) / 2
        passed = failing(*_cube(centres, middle)) <= tau
        lower, upper = np.where(passed, middle, lower), np.where(passed, upper, middle)
    start = _cube(centres, lower if careful else upper)
    low, high = start[0].copy(), start[1].copy()
    columns = centres.shape[1]
    for step in steps:
        for sides in product((0.0, step), repeat=2 * columns):
            first = np.clip(start[0] - np.array(sides[:columns]), 0, 1)
            last = np.clip(start[1] + np.array(sides[columns:]), 0, 1)
            wider = (last - first).sum(axis=1) > (high - low).sum(axis=1)
            if not wider.any():
                continue
            better = wider & (failing(first, last) <= tau)
            low[better], high[better] = first[better], last[better]
    return low, high


def _cube(centres: Floats, radius: Floats) -> Boxes:
    return np.clip(centres - radius[:, None], 0, 1), np.clip(centres + radius[:, None], 0, 1)


def published_bound(columns: Sequence[PrivateColumn], centres: Floats, boxes: Boxes) -> Floats:
    """Return what the thesis takes for the utility of each record: the probability of its box."""
    found = np.ones(len(centres))
    for axis, column in enumerate(columns):
        found *= column.outputs(centres[:, axis]).between(boxes[0][:, axis], boxes[1][:, axis])
    return found
