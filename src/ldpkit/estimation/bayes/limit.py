"""Where the iterative Bayesian update ends, without iterating: water-filling.

The update climbs sum_v h_v log(f_v + b) over distributions f, where h is the normalised
support histogram and b = q/(p - q). The maximum pours the water of total 1 over the
ground: f_v = max(0, h_v/level - b). One sort finds which values stay dry.
"""

from __future__ import annotations

import numpy as np

from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.typing import Counts, Floats

__all__ = ["limit"]


def limit(histograms: Floats | Counts, p: float, q: float) -> Floats:
    """Return the fixed point of the iterative Bayesian update, for one histogram or a batch.

    Parameters
    ----------
    histograms : array, shape (k,) or (batch, k)
        Support counts, normalised or not.
    p, q : float
        The support probabilities of the pure protocol.

    Returns
    -------
    array
        Distributions of the same shape.

    Examples
    --------
    >>> limit(np.array([30, 20, 10]), 0.5, 1 / (np.e + 1)).round(4).tolist()
    [0.8328, 0.1672, 0.0]
    """
    counts = np.asarray(histograms, float)
    if not 0 < q < p <= 1:
        raise InvalidParameterError(f"p and q must have 0 < q < p <= 1, got p={p} and q={q}")
    totals = counts.sum(axis=-1, keepdims=True)
    if not (np.isfinite(totals).all() and (counts >= 0).all() and (totals > 0).all()):
        raise InvalidInputError(
            "support counts must not be negative, and some report must support some value"
        )
    ground = q / (p - q)
    descending = -np.sort(-counts / totals, axis=-1)
    wet = np.arange(1, counts.shape[-1] + 1)
    levels = np.cumsum(descending, axis=-1) / (1 + wet * ground)
    # The level with the m largest under water is right for the last m that it still covers.
    last = (descending > ground * levels).sum(axis=-1, keepdims=True) - 1
    level = np.take_along_axis(levels, last, axis=-1)
    filled = np.maximum(counts / totals / level - ground, 0)
    return np.asarray(filled / filled.sum(axis=-1, keepdims=True))
