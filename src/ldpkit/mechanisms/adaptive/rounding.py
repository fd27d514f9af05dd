"""Randomised rounding: a number goes to one of the two grid points next to it, without bias."""

from __future__ import annotations

import numpy as np

from ldpkit.core.domains.interval import GRID, IntervalDomain
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Indices, Values

__all__ = ["round_at_random"]


def round_at_random(
    domain: IntervalDomain, values: Values, bins: int, source: RandomSource, *, clip: bool = False
) -> Indices:
    """Return a grid point 0..bins for each value, whose mean is the value.

    Examples
    --------
    >>> import ldpkit
    >>> rounded = round_at_random(IntervalDomain(0, 1), [0.25] * 1000, 2, ldpkit.random.seeded(1))
    >>> set(rounded.tolist()), bool(abs(rounded.mean() - 0.5) < 0.1)
    ({0, 1}, True)
    """
    scaled = domain.encode(values, clip=clip).astype(np.uint64) * np.uint64(bins)
    coins = source.bytes(4 * len(scaled)).view("<u4") & np.uint32(GRID - 1)
    return (scaled // np.uint64(GRID)).astype(np.uint32) + (coins < scaled % np.uint64(GRID))
