"""Confidence intervals of frequencies: those that a test does not refute, from the exact law of a count.

A share of people is refuted where the count that was seen, or one farther away, would be
too unlikely: with probability at most half the error on each side. What is left covers
the true share in at least `level` of all collections, at every n, epsilon and share: no
count is too small for it, and none needs to be normal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Protocol

import numpy as np

from ldpkit.core.errors import InvalidInputError
from ldpkit.core.typing import Counts, Floats
from ldpkit.estimation.pair_law import PairCountLaw
from ldpkit.estimation.tails import CountLaw, Flags
from ldpkit.mechanisms.base import Mechanism
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
from ldpkit.mechanisms.categorical.report_law import ReportLaw
from ldpkit.mechanisms.kinds import is_paired
from ldpkit.mechanisms.tally import Tally

__all__ = [
    "CountRegion",
    "Region",
    "count_law",
    "exact_coverage",
    "frequency_oracle",
    "share_intervals",
    "weighted_counts",
    "worth",
]

_FINEST = 1024  # weight of a count in a sum of several
_COARSEST = 16  # where the law of the sum must be exact, which takes the longer the finer it is
_MANY = 256  # different counts; of more, neighbours share the wider of their intervals
_NEIGHBOURS = 0.02, 0.1  # deviations; the second where laws are exact, which takes longer
_MOST = 1 << 14  # groups of neighbours
_WHOLE = 1e-6  # of a person: what rounding may do to a whole number
_CLOSE = 0.002  # deviations, within which an end is found; it is rounded outwards


class Region(Protocol):
    """Which frequencies some reports do not refute."""

    def ends(self, error: float, *, population: bool) -> tuple[Floats, Floats]:
        """Return for each value an interval that misses the truth with probability `error` at most."""


@dataclass(frozen=True, eq=False)
class CountRegion:
    """What counts alone say, of each value by itself.

    Parameters
    ----------
    tallies : sequence of Tally
        Counts of frequency oracles on one domain. Of several, it is a weighted sum of
        the counts that is tested, and the answer is always about the population: it is
        all that people who answered different mechanisms have in common.

    Examples
    --------
    >>> import ldpkit
    >>> tally = ldpkit.Tally(ldpkit.GRR(3, epsilon=2), 100, [70, 20, 10])
    >>> low, high = CountRegion([tally]).ends(0.05, population=False)
    >>> low.round(2).tolist(), high.round(2).tolist()
    ([0.76, 0.04, 0.0], [1.0, 0.23, 0.08])
    """

    tallies: Sequence[Tally]

    def ends(self, error: float, *, population: bool) -> tuple[Floats, Floats]:
        """Return for each value an interval that misses the truth with probability `error` at most."""
        if len(self.tallies) == 1 and self.tallies[0].mechanism.can("joint"):
            return _paired_ends(self.tallies[0], error, population)
        law, counts = count_law(self.tallies, population=population)
        return share_intervals(law, counts, error)


def _paired_ends(tally: Tally, error: float, population: bool) -> tuple[Floats, Floats]:
    """Return the ends for people who reported in pairs, whichever way they were paired."""
    oracle = tally.mechanism
    assert is_paired(oracle)
    ways = ["drawn"] if _is_one_draw(tally) else ["drawn", "none", "alike"]
    ends = [PairCountLaw(oracle, tally.n, population, way).intervals(tally.counts, error) for way in ways]
    lows, highs = zip(*ends, strict=True)
    return np.min(lows, axis=0), np.max(highs, axis=0)


def _is_one_draw(tally: Tally) -> bool:
    """Whether nothing recorded says that partners are elsewhere: several batches, or a part of one."""
    spans = tally.provenance.spans
    return not spans or (len(spans) == 1 and spans[0].start == 0 and tally.provenance.known == tally.n)


def count_law(tallies: Sequence[Tally], *, population: bool) -> tuple[CountLaw, Counts]:
    """Return the law of a value's count with the counts, weighted where there are several mechanisms."""
    oracles = [frequency_oracle(tally.mechanism) for tally in tallies]
    for oracle in oracles:
        if oracle.can("joint"):
            raise InvalidInputError(
                f"reports of {oracle!r} are not independent of each other, so their counts are estimated "
                "on their own and not together with others"
            )
    laws, people = [oracle.report_law for oracle in oracles], [tally.n for tally in tallies]
    if len(tallies) == 1:
        return CountLaw(laws, people, population), tallies[0].counts
    return weighted_counts(laws, people, [tally.counts for tally in tallies], worth(oracles))


def worth(oracles: Sequence[FrequencyOracle]) -> Floats:
    """Return what a count of each oracle is worth in a sum of several, best for evenly spread people."""
    share = 1 / oracles[0].size
    laws = [oracle.report_law for oracle in oracles]
    return np.array(
        [
            1 / (oracle.variance(share, 1, population=True) * (law.means[0] - law.means[1]))
            for oracle, law in zip(oracles, laws, strict=True)
        ]
    )


def weighted_counts(
    laws: Sequence[ReportLaw], people: Sequence[int], counts: Sequence[Counts], weights: Floats
) -> tuple[CountLaw, Counts]:
    """Return the law in one population and the values of a weighted sum of counts.

    Weights are rounded to whole numbers, which keeps the sum on a lattice and costs a
    little efficiency, not coverage: the law is that of the sum with rounded weights.
    """
    for largest in (_FINEST, _COARSEST):
        whole = np.rint(largest * weights / np.abs(weights).max()).astype(np.int64)
        chosen = np.flatnonzero(whole).tolist()
        law = CountLaw(
            [laws[each].scaled(int(whole[each])) for each in chosen], [people[each] for each in chosen], True
        )
        if law.is_nearly_normal(np.array([0.0, 1.0])).all():
            break
    return law, np.sum([whole[each] * counts[each] for each in chosen], axis=0)


def frequency_oracle(mechanism: Mechanism) -> FrequencyOracle:
    """Return a mechanism that is a frequency oracle, or refuse it."""
    if mechanism.kind != FrequencyOracle.kind:
        raise InvalidInputError(f"frequencies need a frequency oracle, got {mechanism!r}")
    oracle: Any = mechanism
    found: FrequencyOracle = oracle
    return found


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
    ([0.0, 15.0], [4.0, 36.0])
    """
    flipped = law.mirrored()
    low = _least_shares(law, counts, error / 2)
    high = 1 - _least_shares(flipped, -counts, error / 2)
    return low, np.maximum(high, low)


def exact_coverage(law: CountLaw, share: float, error: float) -> tuple[float, float]:
    """Return how often intervals hold a true share and their mean width, summed over all counts.

    Parameters
    ----------
    law : CountLaw
        The law of the count.
    share : float
        The true share: of people a whole number of them.
    error : float
        How often an interval may miss.

    Examples
    --------
    >>> import ldpkit
    >>> law = CountLaw([ldpkit.OUE(16, epsilon=10).report_law], [50], population=False)
    >>> coverage, width = exact_coverage(law, 1 / 50, 0.05)         # one person of fifty
    >>> round(coverage, 3), round(width, 3)
    (0.999, 0.12)
    """
    from bisect import bisect_left

    counts, chances = law.chances(share)
    nearly = 1e-12  # what rounding does to a share

    some = np.unique(np.linspace(0, len(counts) - 1, _MANY).round().astype(np.int64))
    low, high = share_intervals(law, counts[some], error)
    if len(some) == len(counts):
        held = (low <= share + nearly) & (high >= share - nearly)
        return float(chances[held].sum()), float(chances @ (high - low))

    def least(side: CountLaw, count: int) -> float:
        return float(_least_shares(side, np.array([count]), error / 2)[0])

    def passes(reached: Flags, side: Callable[[int], bool]) -> int:
        """Return the first count for which something holds that stays true, known for some of them."""
        after = int(np.searchsorted(reached, True))
        start, stop = some[after - 1] + 1 if after else 0, some[after] if after < len(some) else len(counts)
        return bisect_left(counts, True, lo=int(start), hi=int(stop), key=side)

    # More at a time would share the wider of neighbours. Both ends grow with the count: find where they pass.
    flipped = law.mirrored()
    first = passes(high >= share - nearly, lambda count: 1 - least(flipped, -count) >= share - nearly)
    last = passes(low > share + nearly, lambda count: least(law, count) > share + nearly)
    widths = np.interp(counts, counts[some], high - low)
    return float(chances[first:last].sum()), float(chances @ widths)


def _least_shares(law: CountLaw, counts: Counts, tail: float) -> Floats:
    """Return the least shares under which such a count or a larger one is likelier than `tail`."""
    distinct, places = np.unique(counts, return_inverse=True)
    if len(distinct) > _MANY:
        firsts, shared = _neighbours(law, distinct)
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


def _neighbours(law: CountLaw, counts: Counts) -> tuple[Counts, Counts]:
    """Return where groups of neighbouring counts begin, and the group of each.

    The least share grows with the count, so that of the first in a group errs to the safe side.
    """
    shares = np.append(law.estimates(counts), [0.0, 1.0])
    near = _NEIGHBOURS[0] if law.is_nearly_normal(shares).all() else _NEIGHBOURS[1]
    width = law.step * max(1, int(near * law.moments(shares)[1].min() ** 0.5))
    while len(firsts := np.unique(counts // width, return_index=True)[1]) > _MOST:
        width *= 2  # no collection of people has so many counts so far apart
    return firsts, np.cumsum(np.isin(np.arange(len(counts)), firsts)) - 1


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
    return np.asarray(np.minimum(low + 1, high) / steps)


def _search_smooth(law: CountLaw, counts: Counts, tail: float, guess: Floats, deviation: Floats) -> Floats:
    """Search with approximate tails: regula falsi on their normal scores, which are nearly straight."""
    from scipy.special import ndtri

    def height(shares: Floats, some: Counts) -> Floats:
        return np.asarray(np.clip(ndtri(law.approximate_upper_tails(shares, counts[some])), -9, 9) - aim)

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
