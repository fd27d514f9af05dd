"""Confidence intervals of frequencies: those that a test does not refute, from the exact law of a count.

A share of people is refuted where the count that was seen, or one farther away, would be
too unlikely: with probability at most half the error on each side. What is left covers
the true share in at least `level` of all collections, at every n, epsilon and share: no
count is too small for it, and none needs to be normal.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from ldpkit.core.typing import Counts, Floats
from ldpkit.estimation.tails import CountLaw

__all__ = ["share_intervals"]

_MANY = 256  # different counts; of more, neighbours share the wider of their intervals
_NEIGHBOURS = 0.02  # deviations
_WHOLE = 1e-6  # of a person: what rounding may do to a whole number
_CLOSE = 0.002  # deviations, within which an end is found; it is rounded outwards


def share_intervals(law: CountLaw, counts: Counts, error: float) -> tuple[Floats, Floats]:
    """Return the ends of intervals for the share of people who hold a value, within 0 to 1.

    Parameters
    ----------
    law : CountLaw
        The law of a count, given the share.
    counts : array of int
        The counts of some values.
    error : float
        How often an interval may miss the truth, at most.

    Returns
    -------
    tuple of arrays
        Where even a share of 0 or 1 is refuted, both ends are there.

    Examples
    --------
    >>> from ldpkit.mechanisms.categorical.report_law import ReportLaw
    >>> law = CountLaw([ReportLaw.supporting(0.5, 0.01)], [50], population=False)
    >>> low, high = share_intervals(law, np.array([0, 12]), 0.05)
    >>> (50 * low).round().tolist(), (50 * high).round().tolist()   # people
    ([0.0, 14.0], [4.0, 36.0])
    """
    flipped = law.mirrored()
    low = _least_shares(law, counts, error / 2)
    high = 1 - _least_shares(flipped, -counts, error / 2)
    return low, np.maximum(high, low)


def _least_shares(law: CountLaw, counts: Counts, tail: float) -> Floats:
    """Return the least shares under which such a count or a larger one is likelier than `tail`."""
    distinct, places = np.unique(counts, return_inverse=True)
    if len(distinct) > _MANY:
        # The least share grows with the count, so that of a smaller neighbour is less.
        counted = law.moments(np.append(law.estimates(distinct), [0.0, 1.0]))[1].min() ** 0.5
        bins = distinct // max(law.step, int(_NEIGHBOURS * counted) * law.step)
        _, firsts, shared = np.unique(bins, return_index=True, return_inverse=True)
        distinct, places = distinct[firsts], shared[places]
    middle = law.estimates(distinct)
    deviation = law.deviations(middle)
    nearly_normal = law.is_nearly_normal(middle) & law.is_nearly_normal(np.maximum(middle - 3 * deviation, 0))
    least = np.empty(len(distinct))
    for chosen, search in ((nearly_normal, _search_smooth), (~nearly_normal, _search_whole)):
        if chosen.any():
            guess = middle[chosen] + NormalDist().inv_cdf(max(tail, 1e-15)) * deviation[chosen]
            least[chosen] = search(law, distinct[chosen], tail, guess, deviation[chosen])
    if not law.population:  # people are whole, and the search rounded down
        least = np.maximum(np.ceil(least * law.shares - _WHOLE), 0) / law.shares
    return least[places]


def _search_whole(law: CountLaw, counts: Counts, tail: float, guess: Floats, deviation: Floats) -> Floats:
    """Search with exact tails over the shares that people can have: steps that double, then halving."""
    steps = law.shares
    low, high = np.full(len(counts), -1.0), np.full(len(counts), float(steps))
    close = np.maximum(1.0, np.floor(_CLOSE * deviation * steps))
    stride = np.maximum(close, np.rint(deviation * steps / 4))
    probe = np.rint(guess * steps)
    passed, failed = np.zeros(len(counts), bool), np.zeros(len(counts), bool)
    while (going := np.flatnonzero(high - low > close)).size:
        at = np.clip(probe[going], low[going] + 1, high[going] - 1)
        likely = law.upper_tails(at / steps, counts[going]) > tail
        high[going], low[going] = np.where(likely, at, high[going]), np.where(likely, low[going], at)
        passed[going] |= likely
        failed[going] |= ~likely
        ahead = at + np.where(likely, -stride[going], stride[going])
        both = passed[going] & failed[going]
        probe[going] = np.where(both, np.rint((low[going] + high[going]) / 2), ahead)
        stride[going] *= 2
    return np.minimum(low + 1, high) / steps


def _search_smooth(law: CountLaw, counts: Counts, tail: float, guess: Floats, deviation: Floats) -> Floats:
    """Search with approximate tails: regula falsi on their normal scores, which are nearly straight."""
    from scipy.special import ndtri

    def height(shares: Floats, some: Counts) -> Floats:
        return np.clip(ndtri(law.approximate_upper_tails(shares, counts[some])), -9, 9) - aim

    aim = max(float(ndtri(tail)), -8.5)
    every = np.arange(len(counts))
    low, high = np.zeros(len(counts)), np.ones(len(counts))
    below, above = height(low, every), height(high, every)
    low = np.where(above <= 0, 1.0, low)  # even everybody would be refuted
    high = np.where(below > 0, 0.0, high)  # not even nobody is
    probe = np.clip(guess, 0, 1)
    side = np.zeros(len(counts))
    while (going := np.flatnonzero(high - low > _CLOSE * deviation)).size:
        at = probe[going]
        found = height(at, going)
        up = found > 0
        # Illinois: an end that stays twice counts half, so that both ends close in.
        above[going] = np.where(up, found, np.where(side[going] < 0, above[going] / 2, above[going]))
        below[going] = np.where(up, np.where(side[going] > 0, below[going] / 2, below[going]), found)
        high[going], low[going] = np.where(up, at, high[going]), np.where(up, low[going], at)
        side[going] = np.where(up, 1, -1)
        a, b, u, v = low[going], high[going], below[going], above[going]
        secant = a - u * (b - a) / np.where(v - u > 0, v - u, 1.0)
        edge = 0.1 * np.minimum(_CLOSE * deviation[going], b - a)
        secant = secant + np.where(up, -edge, edge)  # step over the root, to close in from the other side
        probe[going] = np.where((secant > a) & (secant < b), secant, (a + b) / 2)
    return low
