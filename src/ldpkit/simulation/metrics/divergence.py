"""Divergence of distributions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ldpkit.simulation.metrics import metric
from ldpkit.simulation.metrics.masses import masses

if TYPE_CHECKING:
    from ldpkit.core.typing import Floats

__all__ = ["kl"]

SMOOTHING = 1e-6
"""The share of the uniform distribution that both sides are mixed with."""


@metric(
    "kl",
    "kl_divergence",
    title="Kullback-Leibler divergence",
    unit="nats",
    citation="Kullback and Leibler, 1951; truth first",
)
def kl(truth: Floats, estimates: Floats) -> Floats:
    """Return KL(truth || estimate) = sum of t ln(t / e) in nats, smoothed so that it is finite.

    Both sides are first made distributions: negative estimates count as zero, what is
    left is scaled to sum to one, a row with nothing positive is uniform. Then both are
    mixed with the uniform distribution: t' = (1 - 1e-6) t + 1e-6 / k, and e' likewise.
    So a value that the estimate misses costs t ln(t k / 1e-6) and not infinity, the
    result is zero exactly where the distributions are equal, and it never exceeds the
    unsmoothed divergence.

    Examples
    --------
    >>> kl([0.5, 0.5], [[0.25, 0.75], [0.5, 0.5], [1.0, -0.2]]).round(3).tolist()
    [0.144, 0.0, 6.561]
    """
    true, estimated = (_smooth(side) for side in masses(truth, estimates))
    result: Floats = (true * np.log(true / estimated)).sum(1)
    return np.maximum(result, 0.0)  # rounding may leave -1e-17


def _smooth(side: Floats) -> Floats:
    smooth: Floats = (1 - SMOOTHING) * side + SMOOTHING / side.shape[-1]
    return smooth
