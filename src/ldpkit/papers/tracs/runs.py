"""One run of a figure: the reports of all trajectories by one method, and how far they are off."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ldpkit.core.domains.plane import PlaneDomain
from ldpkit.core.domains.trajectories import Trajectories
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Floats
from ldpkit.mechanisms.numeric.ogpm import OGPM
from ldpkit.mechanisms.spatial.chain import chain
from ldpkit.mechanisms.spatial.tracs_c import TracsC
from ldpkit.mechanisms.spatial.tracs_d import THESIS_SHARE, TracsD
from ldpkit.papers.tracs.published import published_chain, published_krr, published_steps, window

__all__ = ["SQUARE", "chained", "mean_and_error", "published_strawman", "repeated", "thesis_c", "thesis_d"]

SQUARE = PlaneDomain.rectangle((0, 0), (1, 1))


def thesis_c(epsilon: float, domain: PlaneDomain = SQUARE) -> TracsC:
    """Return TraCS-C as published: half of the budget for each coordinate."""
    return TracsC(domain, epsilon, share=0.5)


def thesis_d(epsilon: float, domain: PlaneDomain = SQUARE, **parts: Any) -> TracsD:
    """Return TraCS-D as published: pi / (pi + 1) of the budget for the direction."""
    return TracsD(domain, epsilon, share=THESIS_SHARE, **parts)


def chained(mechanism: TracsD, walks: Trajectories, source: RandomSource, *, corner: bool = False) -> Floats:
    """Return the reported points of Algorithm 1; the first reference is random, or the corner as coded."""
    low, high = mechanism.domain.region.box
    starts = low + source.generator().random((len(walks), 2)) * (high - low)
    if corner:
        starts = np.tile(low, (len(walks), 1))
    return chain(mechanism, walks.points, walks.offsets, starts=starts, rng=source)[1]


def published_strawman(
    walks: Trajectories,
    epsilon: float,
    source: RandomSource,
    high: tuple[float, float] = (1.0, 1.0),
    after: Floats | None = None,
) -> Floats:
    """Return the reported points of the strawman as coded: 6-RR with another epsilon than stated.

    `after` are reports of TraCS-D, which the code takes for the strawman's references as well in
    synthetic data.
    """
    first = epsilon * THESIS_SHARE
    line = OGPM((0.0, 1.0), epsilon - first)
    share = line.window.width / line.cells
    starts = np.zeros((len(walks), 2))
    distance = window(share, epsilon - first, around=False)
    if after is not None:
        return published_steps(walks, after, published_krr(6, first), distance, source, high)
    return published_chain(walks, starts, published_krr(6, first), distance, source, high)


def repeated(walks: Trajectories, times: int) -> Trajectories:
    """Return trajectories several times over, so that all runs go along together."""
    lengths = np.tile(walks.lengths, times)
    return Trajectories(np.tile(walks.points, (times, 1)), np.concatenate([[0], np.cumsum(lengths)]))


def mean_and_error(values: Floats) -> tuple[float, float]:
    """Return the mean of independent values and its standard error.

    Examples
    --------
    >>> mean_and_error(np.array([1.0, 3.0]))
    (2.0, 1.0)
    """
    return float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values)))
