"""Keep what is positive, or what stands out of the noise; change nothing else."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from ldpkit.estimation.consistency import consistency

if TYPE_CHECKING:
    from ldpkit.core.typing import Floats
    from ldpkit.estimation.consistency import Noise

__all__ = ["base_cut", "base_pos", "significance_threshold"]

FALSE_ALARMS = 2
"""How many values that nobody holds may pass Base-Cut, on average over many collections."""


@consistency("base_pos")
def base_pos(estimates: Floats, noise: Noise) -> Floats:
    """Set negative estimates to zero (Base-Pos).

    The sum is left as it comes out, from zero (nothing is positive) to above one.

    Examples
    --------
    >>> from ldpkit.estimation.consistency import Noise
    >>> base_pos(np.array([[0.7, 0.4, -0.1]]), Noise(100, 0.1)).tolist()
    [[0.7, 0.4, 0.0]]
    """
    return np.maximum(estimates, 0.0)


@consistency("base_cut")
def base_cut(estimates: Floats, noise: Noise) -> Floats:
    """Set estimates below a threshold of significance to zero (Base-Cut).

    The threshold is that of `significance_threshold`. The sum is left as it comes out;
    nothing may be left at all.

    Citation: Wang et al., "Locally differentially private frequency estimation with
    consistency", NDSS 2020.

    Examples
    --------
    >>> from ldpkit.estimation.consistency import Noise
    >>> base_cut(np.array([[0.7, 0.2, 0.05, 0.04, 0.1, -0.1, 0.0, 0.01]]), Noise(100, 0.1)).tolist()
    [[0.7, 0.2, 0.0, 0.0, 0.1, 0.0, 0.0, 0.0]]
    """
    threshold = significance_threshold(estimates.shape[1], noise.stderr)
    return np.where(estimates >= threshold, np.maximum(estimates, 0.0), 0.0)


def significance_threshold(size: int, stderr: float) -> float:
    """Return the estimate that a value nobody holds exceeds with probability 2 / size.

    That is T = stderr * F^-1(1 - 2 / size) with F the standard normal distribution, so
    that about two of `size` absent values pass by chance. It never falls below zero:
    for four values and fewer it is zero, and Base-Cut is then Base-Pos.

    Examples
    --------
    >>> round(significance_threshold(128, 0.01), 6)
    0.021539
    >>> significance_threshold(2, 0.01)
    0.0
    """
    if size <= 2 * FALSE_ALARMS:
        return 0.0
    return stderr * NormalDist().inv_cdf(1 - FALSE_ALARMS / size)
