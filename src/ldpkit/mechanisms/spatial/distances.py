"""Distances on the map between all pairs of two lists of points."""

from __future__ import annotations

import numpy as np

from ldpkit.core.typing import Floats

__all__ = ["between"]


def between(points: Floats, others: Floats) -> Floats:
    """Return the distance of each point to each of the others, a row a point.

    Examples
    --------
    >>> between(np.array([[0.0, 0]]), np.array([[3.0, 4], [0, 1]])).tolist()
    [[5.0, 1.0]]
    """
    return np.asarray(np.hypot(*(points[:, None, :] - others).transpose(2, 0, 1)))
