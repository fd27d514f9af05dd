"""The estimate from joint reports of groups, and its intervals.

Intervals come from a test of every share, with a sum of the reports as its statistic:
what each report counts for, rounded to steps, so that the law of the sum is exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.errors import InvalidInputError
from ldpkit.core.exact import WORD
from ldpkit.core.typing import Counts, Floats
from ldpkit.estimation.consistency import Noise
from ldpkit.estimation.estimate import Estimate
from ldpkit.estimation.from_reports import ESTIMATORS, check_reported
from ldpkit.estimation.pair_law import (
    COUNTABLE,
    MOST,
    Complex,
    first_that,
    holding_pairs,
    normal_tails,
    pairs_characteristic,
)
from ldpkit.mechanisms.joint.group_count import GroupCount
from ldpkit.mechanisms.kinds import is_group
from ldpkit.mechanisms.tally import Tally

__all__ = ["GroupRegion", "group_estimate"]

_STEPS = 8  # of the statistic in one person, at most
_RANGE = 32  # steps between two reports, at most: where few are so far apart, sums soon are normal
_WINDOW, _MARGIN = 12, 40  # deviations, and steps, to each side of the mean
_ROUNDING = 1e-12
_FINEST = 30  # halvings of a share in a population


@dataclass(frozen=True, eq=False)
class GroupRegion:
    """Which shares the joint reports of groups do not refute.

    For groups of more than two, people count as drawn from a population also where only
    the share among themselves is asked for: the interval is then a little too wide.
    """

    mechanism: GroupCount
    counts: Counts

    @cached_property
    def _worth(self) -> Counts:
        """What each report adds to the statistic: any rounding is a statistic with a law of its own."""
        readings = self.mechanism.readings
        scale = min(_STEPS, max(_RANGE, self.mechanism.size) / float(np.ptp(readings)))
        steps = np.rint(scale * readings).astype(np.int64)
        steps -= steps.min()
        return np.asarray(steps // np.gcd.reduce(steps))  # the two ends of a pair are as far from its middle

    @cached_property
    def _chances(self) -> Floats:
        """The probability of each report, a row for each sum."""
        return np.asarray(np.array(self.mechanism.weights, float) / WORD)

    def statistic(self, counts: Counts) -> Counts:
        """Return what is tested, of counts or of rows of them: the ends of the interval grow with it."""
        return np.asarray(counts @ self._worth)

    def ends(self, error: float, *, population: bool) -> tuple[Floats, Floats]:
        """Return for each value an interval that misses the truth with probability `error` at most."""
        groups = int(self.counts.sum())
        seen = int(self.statistic(self.counts))
        steps = 1 << _FINEST if population else groups * self.mechanism.size
        least = first_that(lambda k: self._tails(k / steps, seen, population)[1] > error / 2, steps)
        past = first_that(lambda k: self._tails(k / steps, seen, population)[0] <= error / 2, steps + 1)
        low = min(least, steps) / steps
        high = max(low, (past - 1) / steps)
        return np.array([1 - high, low]), np.array([1 - low, high])

    def _tails(self, share: float, seen: int, population: bool) -> tuple[float, float]:
        """Return the probabilities that the statistic is at most and at least so much."""
        from scipy.stats import binom

        size, groups = self.mechanism.size, int(self.counts.sum())
        chances = binom.pmf(np.arange(size + 1), size, share) @ self._chances
        independent = population or size > 2
        if independent:
            mean = groups * float(chances @ self._worth)
            variance = groups * float(chances @ (self._worth - mean / groups) ** 2)
        else:
            mean, variance = self._moments(groups, round(share * 2 * groups))
        likely = 2 * _WINDOW * math.sqrt(variance)
        if likely > MOST:
            return normal_tails(seen, mean, variance, float(np.ptp(self._worth)))
        if groups > COUNTABLE:
            return 1.0, 1.0
        window = 1 << math.ceil(math.log2(likely + 2 * _MARGIN * _STEPS))
        start = math.floor(mean) - window // 2
        waves = np.exp(2j * np.pi * np.arange(window) / window)
        order = np.arange(window // 2 + 1)
        reports = waves[np.multiply.outer(self._worth, order) % window]
        if independent:
            law: Complex = (chances @ reports) ** groups
        else:
            none, one, two = self._chances @ reports
            law = pairs_characteristic([two, one, none], groups, round(share * 2 * groups))
        shift = waves[-(start % window) * order % window]
        probabilities = np.clip(np.fft.irfft(np.conj(law * shift), window), 0, 1)
        places = start + np.arange(window)
        below, above = probabilities[places <= seen].sum(), probabilities[places >= seen].sum()
        return float(below) + _ROUNDING, float(above) + _ROUNDING

    def _moments(self, pairs: int, holders: int) -> tuple[float, float]:
        """Return the mean and the variance of the statistic of pairs with so many holders among them."""
        means = self._chances @ self._worth
        spreads = self._chances @ self._worth**2 - means**2
        two, scatter = holding_pairs(pairs, holders)
        types = np.array([pairs - holders + two, holders - 2 * two, two])
        bend = means[0] - 2 * means[1] + means[2]
        return float(types @ means), float(types @ spreads + scatter * bend**2)


@ESTIMATORS.register("groups")
def group_estimate(tally: Tally, *, population: bool = False) -> Estimate:
    """Return the unbiased shares of both values from joint reports of groups.

    Parameters
    ----------
    tally : Tally
        The reports of a `GroupCount`.
    population : bool
        False: the error is about the people who reported. True: about the population
        they were drawn from.
    """
    mechanism = tally.mechanism
    if not is_group(mechanism):
        raise InvalidInputError(f'the estimator "groups" is for joint reports of groups, got {mechanism!r}')
    check_reported(tally)
    people = tally.n * mechanism.size
    share = float(mechanism.unbiased(tally.counts, tally.n))
    spread = mechanism.variance(min(max(share, 0.0), 1.0), people, population=population) ** 0.5
    values = np.array([1 - share, share])
    return Estimate(
        values=values,
        stderr=np.full(2, spread),
        n=people,
        domain=mechanism.domain,
        made_by={**mechanism.read_by("groups"), "promise": mechanism.promise()},
        raw=values,
        unbiased=values,
        mechanisms=(mechanism,),
        noise=Noise(people, mechanism.variance(0.0, people) ** 0.5),
        region=GroupRegion(mechanism, tally.counts),
        population=population,
    )
