"""The estimate from joint reports of groups, and its intervals.

Intervals come from a test of every share, with a sum of the reports as its statistic:
what each report counts for, rounded to eighths, so that the law of the sum is exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.errors import InvalidInputError
from ldpkit.core.exact import WORD
from ldpkit.core.typing import Counts, Floats
from ldpkit.estimation.estimate import Estimate
from ldpkit.estimation.from_reports import check_reported, made_by
from ldpkit.estimation.noise import Noise
from ldpkit.estimation.pair_law import MOST, Complex, first_that, normal_tails, pairs_characteristic
from ldpkit.mechanisms.joint.group_count import GroupCount
from ldpkit.mechanisms.kinds import is_group
from ldpkit.mechanisms.tally import ESTIMATORS, Tally

__all__ = ["GroupRegion", "group_estimate"]

_STEPS = 8  # of the statistic in one person
_WINDOW, _MARGIN = 12, 40  # deviations, and steps, to each side of the mean
_ROUNDING = 1e-12
_COARSEST = 2.0  # steps of the largest reading
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
    def _scale(self) -> float:
        """How many steps of the statistic a person is: any rounding is a statistic with a law of its own."""
        likely = 2 * _WINDOW * float(np.abs(self.mechanism.readings).max()) * math.sqrt(self.counts.sum())
        return min(_STEPS, MOST / max(likely, 1.0))

    @cached_property
    def _worth(self) -> Counts:
        return np.rint(self._scale * self.mechanism.readings).astype(np.int64)

    @property
    def _is_normal(self) -> bool:
        """Whether so many groups report that a statistic in steps would be too coarse, and needs none."""
        return self._scale * float(np.abs(self.mechanism.readings).max()) < _COARSEST

    @cached_property
    def _chances(self) -> Floats:
        """The probability of each report, a row for each sum."""
        return np.asarray(np.array(self.mechanism.weights, float) / WORD)

    def ends(self, error: float, *, population: bool) -> tuple[Floats, Floats]:
        """Return for each value an interval that misses the truth with probability `error` at most."""
        groups = int(self.counts.sum())
        seen = int(self.counts @ self._worth)
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
        totals = binom.pmf(np.arange(size + 1), size, share)
        chances = totals @ self._chances
        mean = float(chances @ self._worth)
        spread = float(chances @ (self._worth - mean) ** 2)
        if self._is_normal:
            exact = chances @ self.mechanism.readings
            people, slope = groups * size, float(groups * size)
            variance = self.mechanism.variance(share, people, population=population) * slope**2
            return normal_tails(float(self.counts @ self.mechanism.readings), groups * float(exact), variance)
        window = 1 << math.ceil(math.log2(2 * (_WINDOW * math.sqrt(groups * spread) + _MARGIN * _STEPS)))
        start = math.floor(groups * mean) - window // 2
        turns = np.multiply.outer(self._worth, np.arange(window // 2 + 1)) % window
        waves = np.exp(2j * np.pi * turns / window)
        if population or size > 2:
            law: Complex = (chances @ waves) ** groups
        else:
            none, one, two = self._chances @ waves
            law = pairs_characteristic([two, one, none], groups, round(share * 2 * groups))
        shift = np.exp(-2j * np.pi * ((start * np.arange(window // 2 + 1)) % window) / window)
        probabilities = np.clip(np.fft.irfft(np.conj(law * shift), window), 0, 1)
        places = start + np.arange(window)
        below, above = probabilities[places <= seen].sum(), probabilities[places >= seen].sum()
        return float(below) + _ROUNDING, float(above) + _ROUNDING


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
        made_by={**made_by(mechanism, "groups"), "promise": mechanism.promise()},
        raw=values,
        unbiased=values,
        mechanisms=(mechanism,),
        noise=Noise(people, mechanism.variance(0.0, people) ** 0.5),
        region=GroupRegion(mechanism, tally.counts),
        population=population,
    )
