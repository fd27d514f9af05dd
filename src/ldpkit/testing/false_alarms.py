"""Statistical tests with a stated false-alarm rate.

Seeds are fixed, so a check never flickers; the rate says how surprising a failure is.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np

__all__ = ["FALSE_ALARM", "SAID", "fits", "two_sample_z", "z_limit", "z_scores"]

FALSE_ALARM = 1e-9
SAID = f"false-alarm rate {FALSE_ALARM:g}"


def fits(observed: Any, probabilities: Any) -> float:
    """Return the p-value of a chi-square test of counts against exact probabilities.

    Cells that are expected fewer than ten times are pooled, so that the law of the
    statistic is good far out in the tail.

    Examples
    --------
    >>> round(fits([48, 52], [0.5, 0.5]), 2), fits([48, 52, 1], [0.5, 0.5, 0.0])
    (0.69, 0.0)
    """
    from scipy.special import chdtrc

    observed, probabilities = np.asarray(observed, float), np.asarray(probabilities, float)
    expected = observed.sum() * probabilities
    if observed[probabilities == 0].any():
        return 0.0
    rare = expected < 10
    if rare.any():
        observed = np.append(observed[~rare], observed[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    observed, expected = observed[expected > 0], expected[expected > 0]
    statistic = ((observed - expected) ** 2 / expected).sum()
    return float(chdtrc(len(observed) - 1, statistic)) if len(observed) > 1 else 1.0


def z_limit(tests: int) -> float:
    """Return what none of so many z-scores exceeds either way, but for a false alarm."""
    return -NormalDist().inv_cdf(FALSE_ALARM / (2 * tests))


def z_scores(draws: Any, exact: Any, scale: float = 0.0) -> Any:
    """Return z-scores of means of draws; where draws do not vary, 0 if exactly right, else infinite.

    `scale` is the size of what was added up for an exact number that may be small: its rounding error.
    """
    error = draws.std(axis=0) / np.sqrt(len(draws))
    gap = draws.mean(axis=0) - exact
    near = np.abs(gap) < 1e-9 * (1 + max(np.abs(exact).max(), scale))
    return np.where(near, 0.0, gap / np.maximum(error, 1e-12))


def two_sample_z(first: Any, second: Any) -> Any:
    """Return z-scores of the differences between the means of two samples."""
    error = np.sqrt(first.var(axis=0) / len(first) + second.var(axis=0) / len(second))
    return (first.mean(axis=0) - second.mean(axis=0)) / np.maximum(error, 1e-12)
