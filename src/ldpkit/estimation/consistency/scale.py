"""Multiply the positive estimates, so that they sum to one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ldpkit.estimation.consistency import consistency

if TYPE_CHECKING:
    from ldpkit.core.typing import Floats
    from ldpkit.estimation.consistency import Noise

__all__ = ["norm_mul", "positive_shares"]


@consistency("norm_mul")
def norm_mul(estimates: Floats, noise: Noise) -> Floats:
    """Set negative estimates to zero and scale the rest to sum to one (Norm-Mul).

    Where nothing is positive there is nothing to scale, and the result is uniform.

    Examples
    --------
    >>> from ldpkit.estimation.consistency import Noise
    >>> norm_mul(np.array([[1.5, 0.5, -0.1], [-1.0, 0.0, -2.0]]), Noise(100, 0.1)).round(3).tolist()
    [[0.75, 0.25, 0.0], [0.333, 0.333, 0.333]]
    """
    return positive_shares(estimates)


def positive_shares(estimates: Floats) -> Floats:
    """Return the share of each estimate in the sum of the positive ones of its row.

    Negative estimates have no share; in a row with nothing positive all have the same.
    """
    positive = np.maximum(estimates, 0.0)
    total = positive.sum(1, keepdims=True)
    shares = np.full_like(positive, 1 / estimates.shape[1])
    np.divide(positive, total, out=shares, where=total > 0)
    return shares
