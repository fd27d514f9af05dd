"""Intervals from reports that were made in pairs: the law of a count whose reports are not independent.

Partners are drawn uniformly, so the count is a sum over pairs of two holders, of one and
of none. Their numbers hang on one random number, the pairs of two holders. Its law is
summed for few people; for more, two moments of it are all that shows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ldpkit.core.cached import cached_property
from ldpkit.core.typing import Counts, Floats
from ldpkit.mechanisms.joint.oracle import PairedOracle

__all__ = ["MOST", "PairCountLaw", "first_that", "normal_tails", "pairs_characteristic"]

Complex: TypeAlias = NDArray[np.complex128]

_FEW = 300  # people, up to whom the number of pairs of holders is summed over
_WINDOW, _MARGIN = 12, 20  # deviations, and steps, to each side of the mean
_ROUNDING = 1e-12
_NEGLIGIBLE = -40.0  # logarithm of a characteristic function
_FINEST = 30  # halvings of a share in a population
MOST = 1 << 14  # counts in a window; where more are likely, the normal law is as good


@dataclass(frozen=True, eq=False)
class PairCountLaw:
    """The law of how many of n reports, made in random pairs, support a value.

    Parameters
    ----------
    oracle : PairedOracle
        What made the reports.
    n : int
        How many people reported.
    population : bool
        Whether a share is that of these people, or that in the population they were drawn from.

    Examples
    --------
    >>> import ldpkit
    >>> law = PairCountLaw(ldpkit.JRR(2, epsilon_alone=1, epsilon=2), 2, population=False)
    >>> law.chances(1.0)[1].round(4).tolist()           # both hold the value
    [0.0321, 0.4738, 0.4942]
    """

    oracle: PairedOracle
    n: int
    population: bool

    @cached_property
    def _types(self) -> tuple[tuple[float, float], tuple[float, float, float]]:
        """The chances of one support, for a holder and another, and of two by the type of the pair."""
        table = self.oracle.table
        own, stray = (1.0, 0.0), tuple(float(each) for each in self.oracle.stray_support)
        joint = np.array([[table.neither, table.one], [table.one, table.both]], float)
        p, u = float(table.truthful), float(table.untruthful)
        single = tuple(p * each[0] + u * each[1] for each in (own, stray))
        pairs = ((own, own), (own, stray), (stray, stray))
        both = tuple(float(np.array(x) @ joint @ np.array(y)) for x, y in pairs)
        return (single[0], single[1]), (both[0], both[1], both[2])

    @cached_property
    def _known(self) -> dict[float, tuple[Counts, Floats]]:
        """The laws that were computed; shares among few people come up again and again."""
        return {}

    def moments(self, share: float) -> tuple[float, float]:
        """Return the mean and the variance of the count."""
        (own, stray), _ = self._types
        mean = self.n * (share * own + (1 - share) * stray)
        spread = self.oracle.variance(share, self.n, population=self.population)
        return mean, spread * (self.n * (own - stray)) ** 2

    def chances(self, share: float) -> tuple[Counts, Floats]:
        """Return counts, all that are not negligible, and their probabilities."""
        mean, variance = self.moments(share)
        size = 1 << math.ceil(math.log2(2 * (_WINDOW * math.sqrt(max(variance, 0.0)) + _MARGIN)))
        start = math.floor(mean) - size // 2
        angles = 2 * np.pi * np.arange(size // 2 + 1) / size
        logs = self._characteristic(share, np.expm1(1j * angles))
        law = np.fft.irfft(np.conj(logs * np.exp(-1j * ((start % size) * angles))), size)
        counts = start + np.arange(size)
        possible = (counts >= 0) & (counts <= self.n)
        return counts[possible], np.clip(law[possible], 0, 1)

    def _characteristic(self, share: float, d: Complex) -> Complex:
        """Return E z**count at z = 1 + d."""
        (own, stray), both = self._types
        singles = 1 + own * d, 1 + stray * d
        means = 2 * own, own + stray, 2 * stray
        kinds = [1 + mean * d + each * d**2 for mean, each in zip(means, both, strict=True)]
        pairs, alone = divmod(self.n, 2)
        if self.population:
            weights = share**2, 2 * share * (1 - share), (1 - share) ** 2
            mixed = sum(weight * kind for weight, kind in zip(weights, kinds, strict=True))
            rest = share * singles[0] + (1 - share) * singles[1] if alone else 1.0
            return np.asarray(mixed**pairs * rest)
        holders = round(share * self.n)
        if not alone:
            return pairs_characteristic(kinds, pairs, holders)
        left = np.zeros(len(d), complex)
        for chance, single, among in (
            (holders / self.n, singles[0], holders - 1),
            (1 - holders / self.n, singles[1], holders),
        ):
            if chance > 0:
                left += chance * single * pairs_characteristic(kinds, pairs, among)
        return left

    def tails(self, share: float, count: int) -> tuple[float, float]:
        """Return the probabilities of at most and of at least such a count."""
        mean, variance = self.moments(share)
        if 2 * _WINDOW * math.sqrt(max(variance, 0.0)) > MOST:
            return normal_tails(count, mean, variance)
        if share not in self._known:  # asked for again by the interval of another count
            self._known[share] = self.chances(share)
        counts, law = self._known[share]
        return float(law[counts <= count].sum()) + _ROUNDING, float(law[counts >= count].sum()) + _ROUNDING

    def intervals(self, counts: Counts, error: float) -> tuple[Floats, Floats]:
        """Return for each count the shares, from the least to the largest, that it does not refute."""
        ends = {int(count): self._ends(int(count), error / 2) for count in np.unique(counts)}
        low, high = np.array([ends[int(count)] for count in counts]).T
        return low, high

    def _ends(self, count: int, tail: float) -> tuple[float, float]:
        steps = self.n if not self.population else 1 << _FINEST
        least = first_that(lambda k: self.tails(k / steps, count)[1] > tail, steps)
        past = first_that(lambda k: self.tails(k / steps, count)[0] <= tail, steps + 1)
        low = min(least, steps) / steps
        return low, max(low, (past - 1) / steps)


def normal_tails(count: float, mean: float, variance: float) -> tuple[float, float]:
    """Return the probabilities of at most and of at least a count under the normal law.

    Examples
    --------
    >>> normal_tails(100, 100.0, 4e10)
    (0.500101, 0.500101)
    """
    spread = math.sqrt(2 * variance)
    below, above = (0.5 * math.erfc((sign * (mean - count) - 0.5) / spread) for sign in (1, -1))
    return round(below + 1e-4, 6), round(above + 1e-4, 6)  # the law is not quite normal


def first_that(holds: Callable[[int], bool], stop: int) -> int:
    """Return the first whole number below `stop` from which on something holds, or `stop`."""
    low, high = 0, stop
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


def pairs_characteristic(kinds: list[Complex], pairs: int, holders: int) -> Complex:
    """Return the characteristic function of the count of so many pairs with so many holders among them."""
    two, one, none = (np.log(np.where(kind == 0, 1e-300, kind)) for kind in kinds)
    n, turn = 2 * pairs, two + none - 2 * one
    if n == 0:
        return np.ones_like(two)
    if n > _FEW:
        mean = holders * (holders - 1) / (2 * (n - 1))
        falling = holders * (holders - 1) * (holders - 2) * (holders - 3)
        second = pairs * (pairs - 1) * falling / (n * (n - 1) * (n - 2) * (n - 3))
        spread = second + mean - mean**2
        main = holders * one + (pairs - holders) * none + mean * turn
        near = (
            main.real > _NEGLIGIBLE
        )  # elsewhere the expansion would not hold, and nothing is left to correct
        return np.where(near, np.exp(main + np.where(near, spread * turn**2 / 2, 0)), 0)
    least, most = max(0, holders - pairs), holders // 2
    total = np.zeros(len(two), complex)
    for g in range(least, most + 1):
        mixed = holders - 2 * g
        chance = math.comb(pairs, g) * math.comb(pairs - g, mixed) * 2**mixed / math.comb(n, holders)
        total += chance * kinds[0] ** g * kinds[1] ** mixed * kinds[2] ** (pairs - g - mixed)
    return total
