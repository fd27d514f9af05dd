"""Add the same to every estimate, so that they sum to one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ldpkit.estimation.consistency import consistency

if TYPE_CHECKING:
    from ldpkit.core.typing import Floats
    from ldpkit.estimation.consistency import Noise

__all__ = ["norm"]


@consistency("norm")
def norm(estimates: Floats, noise: Noise) -> Floats:
    """Shift all estimates by one constant so that they sum to one (Norm).

    Negative estimates stay negative, unless the shift lifts them. It is the nearest
    point, in the Euclidean sense, among all vectors that sum to one.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpkit.estimation.consistency import Noise
    >>> norm(np.array([[0.75, 0.5, 0.0, -0.25]]), Noise(100, 0.1)).tolist()
    [[0.75, 0.5, 0.0, -0.25]]
    >>> norm(np.zeros((1, 4)), Noise(100, 0.1)).tolist()
    [[0.25, 0.25, 0.25, 0.25]]
    """
    excess = estimates.sum(1, keepdims=True) - 1
    shifted: Floats = estimates - excess / estimates.shape[1]
    return shifted
