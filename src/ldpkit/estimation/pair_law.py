"""Intervals from reports that were made in pairs: the law of a count whose reports are not independent.

Partners are drawn uniformly, so the count is a sum over pairs of two holders, of one and
of none. Their numbers hang on one random number, the pairs of two holders, whose law is
summed; where it takes very many values, two moments of it are all that shows.

A larger share does not always make large counts likelier: partners who are correlated
scatter more the more alike they are, or less. So the shares that a count does not refute
need not be neighbours, and an interval reaches from the least of them to the largest.
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

__all__ = [
    "COUNTABLE",
    "MOST",
    "PairCountLaw",
    "first_that",
    "holding_pairs",
    "normal_tails",
    "pairs_characteristic",
]

Complex: TypeAlias = NDArray[np.complex128]

_SUMMED = 512  # numbers of pairs of holders, up to which the law is summed over them
_SMALLEST = 1e-100  # of a factor whose logarithm is taken
_WINDOW, _MARGIN = 12, 20  # deviations, and steps, to each side of the mean
_ROUNDING = 1e-12
_NEGLIGIBLE = -40.0  # logarithm of a characteristic function
_LARGEST = 2  # what the reports of a pair change a count by, at most
_FINEST = 30  # halvings of a share in a population
MOST = 1 << 14  # counts in a window; where more are likely, the normal law is as good
COUNTABLE = 1 << 33  # people; of more, floating point cannot tell how likely a single count is
_LOOKS = 64  # shares that are asked before an end is bisected; of few people, every one
_NEIGHBOURS = 4  # people: whether a share is refuted may depend on whether it is an odd number of them
_KEPT = 1 << 22  # probabilities that are remembered


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
    partners : {"drawn", "none", "alike"}
        Whether partners were drawn uniformly from these people; or the two extremes of
        how else they may be paired: nobody's partner is among them, or everybody's is and
        holds the same value.

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
    partners: str = "drawn"

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
    def _known(self) -> dict[float, tuple[int, Floats, Floats]]:
        """For shares that were asked, the first count, and how likely each is at most or at least."""
        return {}

    def moments(self, share: float) -> tuple[float, float]:
        """Return the mean and the variance of the count."""
        (own, stray), both = self._types
        mean = self.n * (share * own + (1 - share) * stray)
        if self.partners != "drawn":
            reports = self.n * (share * own * (1 - own) + (1 - share) * stray * (1 - stray))
            alike = share * (both[0] - own**2) + (1 - share) * (both[2] - stray**2)
            scatter = share * (1 - share) * (own - stray) ** 2 * self.n if self.population else 0.0
            if self.partners == "alike":
                return mean, reports + self.n * alike + 2 * scatter
            return mean, reports + scatter
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
        if self.partners != "drawn":
            return self._not_drawn(share, singles, (kinds[0], kinds[2]))
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

    def _not_drawn(
        self, share: float, singles: tuple[Complex, Complex], alike: tuple[Complex, Complex]
    ) -> Complex:
        """Return the same where partners are nowhere, or all alike; an odd one answers alone."""
        units, kinds = (self.n, singles) if self.partners == "none" else (self.n // 2, alike)
        rest = self.n % 2 if self.partners == "alike" else 0
        if self.population:
            mixed, left = (share * own + (1 - share) * other for own, other in (kinds, singles))
            return np.asarray(mixed**units * (left if rest else 1.0))
        holders = round(share * self.n)
        first = holders if self.partners == "none" else holders // 2
        odd = 1.0 if not rest else singles[0] if holders % 2 else singles[1]
        if self.partners == "alike" and not rest and holders % 2:  # one pair cannot be alike
            return np.asarray(kinds[0] ** first * kinds[1] ** (units - first - 1) * singles[0] * singles[1])
        return np.asarray(kinds[0] ** first * kinds[1] ** (units - first) * odd)

    def tails(self, share: float, count: int) -> tuple[float, float]:
        """Return the probabilities of at most and of at least such a count, or a little more."""
        mean, variance = self.moments(share)
        if 2 * _WINDOW * math.sqrt(max(variance, 0.0)) > MOST:
            return normal_tails(count, mean, variance, _LARGEST)
        if self.n > COUNTABLE:
            return 1.0, 1.0
        start, below, above = self._known.get(share) or self._summed(share)
        place = count - start
        return (
            float(below[min(place, len(below) - 1)]) + _ROUNDING if place >= 0 else _ROUNDING,
            float(above[max(place, 0)]) + _ROUNDING if place < len(above) else _ROUNDING,
        )

    def _summed(self, share: float) -> tuple[int, Floats, Floats]:
        counts, law = self.chances(share)
        found = int(counts[0]), np.cumsum(law), np.cumsum(law[::-1])[::-1]
        if len(self._known) * len(law) < _KEPT:  # asked for again by the interval of another count
            self._known[share] = found
        return found

    def intervals(self, counts: Counts, error: float) -> tuple[Floats, Floats]:
        """Return for each count the shares, from the least to the largest, that it does not refute."""
        ends = {int(count): self._ends(int(count), error / 2) for count in np.unique(counts)}
        low, high = np.array([ends[int(count)] for count in counts]).T
        return low, high

    def _ends(self, count: int, tail: float) -> tuple[float, float]:
        steps = self._steps
        turned = sorted({steps - look for look in self._looks(count)})
        least = _least_that(
            lambda k: self.tails(k / steps, count)[1] > tail, self._looks(count), self._alternates
        )
        most = _least_that(
            lambda k: self.tails((steps - k) / steps, count)[0] > tail, turned, self._alternates
        )
        low = (steps if least is None else least) / steps
        return low, max(low, 1 - (steps if most is None else most) / steps)

    @property
    def _steps(self) -> int:
        """In how many steps a share goes from 0 to 1."""
        return self.n if not self.population else 1 << _FINEST

    @property
    def _alternates(self) -> bool:
        return not self.population

    def _looks(self, count: int) -> list[int]:
        """Return the shares to ask first, in steps: some on the way, and where the way turns.

        The count's distance from its mean, in deviations, has at most one extreme, as the
        mean is linear in the share and the variance quadratic.
        """
        steps = self._steps
        looks = {steps * look // _LOOKS for look in range(_LOOKS + 1)}
        (start, v0), (_, half), (stop, v1) = (self.moments(share) for share in (0.0, 0.5, 1.0))
        curve, slope = 2 * (v0 + v1 - 2 * half), 4 * half - 3 * v0 - v1
        rise, gap = stop - start, count - start
        steepness = rise * slope / 2 + gap * curve
        if steepness:
            turn = -(rise * v0 + gap * slope / 2) / steepness
            if 0 < turn < 1:
                looks.add(round(turn * steps))
        return sorted(looks)


def normal_tails(seen: float, mean: float, variance: float, largest: float) -> tuple[float, float]:
    """Return the probabilities of at most and of at least so much, under the normal law or a little more.

    Parameters
    ----------
    seen, mean, variance : float
        A sum of many numbers, and its moments.
    largest : float
        How far two values of one of the numbers lie apart at most. It bounds how skewed
        the sum is, so how far its quantiles are from those of the normal law.

    Examples
    --------
    >>> [round(tail, 4) for tail in normal_tails(1_400_000, 1e6, 4e10, 2)]
    [0.9773, 0.0228]
    """
    spread = math.sqrt(variance)
    tails = []
    for sign in (1, -1):
        away = (sign * (mean - seen) - largest / 2) / spread
        slack = largest / spread * (away**2 + 1) / 6  # Cornish and Fisher
        tails.append(0.5 * math.erfc((away - min(slack, abs(away) / 2)) / math.sqrt(2)))
    return tails[0], tails[1]


def _least_that(holds: Callable[[int], bool], looks: list[int], alternates: bool) -> int | None:
    """Return the least number for which something holds, which among some it does first; None if nowhere."""
    found = next((place for place, look in enumerate(looks) if holds(look)), None)
    if found is None:
        return None
    start = looks[found - 1] + 1 if found else 0
    least = start + first_that(lambda step: holds(start + step), looks[found] - start)
    while alternates:
        before = [k for k in range(max(0, least - _NEIGHBOURS), least) if holds(k)]
        if not before:
            break
        least = before[0]
    return least


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
    """Return the characteristic function of the count of so many pairs with so many holders among them.

    It is summed over how many pairs are of two holders, as far as that is likely. Where
    that is too many numbers, theirs is a normal law.
    """
    two, one, none = (np.log(np.where(np.abs(kind) < _SMALLEST, _SMALLEST, kind)) for kind in kinds)
    mean, spread = holding_pairs(pairs, holders)
    reach = _WINDOW * math.sqrt(spread) + _MARGIN
    least = max(0, holders - pairs, math.floor(mean - reach))
    most = min(holders // 2, math.ceil(mean + reach))
    if most - least < _SUMMED:
        together = np.arange(least, most + 1)
        sizes = np.stack([together, holders - 2 * together, pairs - holders + together])
        # How likely each is, from the ratio of neighbours, and the rest outside the window left out.
        _, mixed, rest = sizes[:, :-1]
        ratios = np.log(mixed * (mixed - 1.0)) - np.log(4.0 * sizes[0, 1:] * (rest + 1))
        chances = np.append(0.0, np.cumsum(ratios))
        chances -= chances.max() + math.log(np.exp(chances - chances.max()).sum())
        ends = [
            sum(size * each.real for size, each in zip(sizes[:, end], (two, one, none), strict=True))
            for end in (0, -1)
        ]
        near = np.flatnonzero(np.maximum(*ends) > _NEGLIGIBLE)
        logs = [
            np.multiply.outer(size.astype(float), each[near])
            for size, each in zip(sizes, (two, one, none), strict=True)
        ]
        total = np.zeros(len(two), complex)
        total[near] = np.exp(chances[:, None] + logs[0] + logs[1] + logs[2]).sum(axis=0)
        return total
    # The logarithm of the ratio, not the sum of the logarithms, which may be a whole turn off.
    turn = np.log(np.exp(two + none - 2 * one))
    main = holders * one + (pairs - holders) * none + mean * turn
    near = main.real > _NEGLIGIBLE  # elsewhere the expansion would not hold, and nothing is left to correct
    return np.where(near, np.exp(main + np.where(near, spread * turn**2 / 2, 0)), 0)


def holding_pairs(pairs: int, holders: int) -> tuple[float, float]:
    """Return the mean and the variance of the number of pairs of two holders."""
    n = 2 * pairs
    if n < 4:
        return (float(holders == 2), 0.0)
    mean = holders * (holders - 1) / (2 * (n - 1))
    falling = holders * (holders - 1) * (holders - 2) * (holders - 3)
    second = pairs * (pairs - 1) * falling / (n * (n - 1) * (n - 2) * (n - 3))
    return mean, max(second + mean - mean**2, 0.0)
