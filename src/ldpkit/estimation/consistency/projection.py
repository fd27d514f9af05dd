"""The nearest distribution: the Euclidean projection onto the simplex."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ldpkit.estimation.consistency import consistency

if TYPE_CHECKING:
    from ldpkit.core.typing import Floats
    from ldpkit.estimation.consistency import Noise

__all__ = ["norm_sub"]


@consistency("norm_sub")
def norm_sub(estimates: Floats, noise: Noise) -> Floats:
    """Return the distribution nearest to the estimates (Norm-Sub).

    It is max(f + delta, 0) with the one delta for which it sums to one, found exactly by
    sorting, for every input: a sum below one, nothing positive, one huge value. For a
    noise of equal variance on every value it is the most likely distribution. Runtime:
    O(k log k).

    Citation: Wang et al., "Locally differentially private frequency estimation with
    consistency", NDSS 2020; the projection is that of Held, Wolfe and Crowder, 1974.

    Examples
    --------
    >>> from ldpkit.estimation.consistency import Noise
    >>> batch = np.array([[0.7, 0.6, 0.01], [0.5, 0.3, -0.01], [-1.0, -1.0, -5.0]])
    >>> norm_sub(batch, Noise(100, 0.1)).round(6).tolist()
    [[0.55, 0.45, 0.0], [0.57, 0.37, 0.06], [0.5, 0.5, 0.0]]
    """
    with np.errstate(over="ignore"):  # what lies further than any float below the top is cut all the same
        below_top = estimates - estimates.max(1, keepdims=True)
    # A value 1 or more below the largest is always 0 in the projection. Cutting there keeps
    # every sum small, so that huge estimates lose no digits.
    depth = np.maximum(below_top, -1.0)
    falling = -np.sort(-depth, axis=1)
    ranks = np.arange(1, estimates.shape[1] + 1)
    shifts = (1 - np.cumsum(falling, axis=1)) / ranks
    active = (falling + shifts > 0).sum(1, keepdims=True)
    projected: Floats = np.maximum(depth + np.take_along_axis(shifts, active - 1, axis=1), 0.0)
    return projected
