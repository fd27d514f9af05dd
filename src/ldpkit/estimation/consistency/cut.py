"""Drop the smallest estimates until the rest sum to at most one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ldpkit.estimation.consistency import consistency

if TYPE_CHECKING:
    from ldpkit.core.typing import Floats
    from ldpkit.estimation.consistency import Noise

__all__ = ["norm_cut"]

_ROUNDING = 1e-12  # what the sum of a domain of frequencies may gain by rounding


@consistency("norm_cut")
def norm_cut(estimates: Floats, noise: Noise) -> Floats:
    """Keep the estimates above the smallest threshold that leaves a sum of at most one (Norm-Cut).

    What is kept is not changed, so the sum is usually somewhat below one: no threshold
    meets one exactly. Where the positive estimates sum to less than one, only the
    negative ones are set to zero. Equal estimates are kept or dropped together.

    Where no threshold leaves anything, because the largest estimates alone sum to more
    than one, these share the whole: one estimate above one becomes one.

    Citation: Wang et al., "Locally differentially private frequency estimation with
    consistency", NDSS 2020.

    Examples
    --------
    >>> from ldpkit.estimation.consistency import Noise
    >>> batch = np.array([[0.7, 0.6, 0.01], [0.6, 0.3, 0.2], [0.5, 0.3, -0.1], [1.3, 0.2, 0.0]])
    >>> norm_cut(batch, Noise(100, 0.1)).tolist()
    [[0.7, 0.0, 0.0], [0.6, 0.3, 0.0], [0.5, 0.3, 0.0], [1.0, 0.0, 0.0]]
    """
    positive = np.maximum(estimates, 0.0)
    falling = -np.sort(-positive, axis=1)
    fits = np.cumsum(falling, axis=1) <= 1 + _ROUNDING
    first_dropped = np.where(fits, 0.0, falling).max(1, keepdims=True)
    kept = np.where(positive > first_dropped, positive, 0.0)
    largest = positive == falling[:, :1]
    share = largest / largest.sum(1, keepdims=True)
    nothing_left = first_dropped == falling[:, :1]
    return np.where(nothing_left & (first_dropped > 0), share, kept)
