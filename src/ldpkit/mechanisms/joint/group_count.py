"""One report for a whole group: the truncated geometric of its sum.

This is what pairs can do without giving anything away. The report tells of the sum only,
and one person changes the sum by one: so epsilon holds towards everybody, the other
members too, as long as nobody sees the noise. It needs what correlated coins need as
well: a way to compute a sum together, of which no member sees more than the result.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.domains.categorical import CategoricalDomain, as_domain
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.exact import WORD, exp_bounds, log_up
from ldpkit.core.numbertext import epsilon_text
from ldpkit.core.parameters import EPSILON, Parameter, check_counts, check_epsilon, check_whole
from ldpkit.core.random import RandomSource, resolve
from ldpkit.core.typing import Counts, DomainLike, Floats, Reports, Values
from ldpkit.mechanisms.base import Mechanism, register
from ldpkit.mechanisms.channel import Channel
from ldpkit.mechanisms.joint.counts import MOST_PEOPLE, check_shares
from ldpkit.mechanisms.joint.pairing import random_order
from ldpkit.mechanisms.tally import Tally

__all__ = ["GroupCount"]

_LARGEST = 64


@register
class GroupCount(Mechanism):
    """The sum of a group of people with two values, reported once for all of them.

    The report is 0 to `size`: the sum plus geometric noise, cut off at both ends. The ends
    are read as -1/(e^eps - 1) and size + 1/(e^eps - 1), the mean of what was cut off, so
    that the count is unbiased.

    Utility: for pairs at worst e^eps / (1 + e^eps) of the variance of randomised response
    at the same epsilon, and no unbiased report of a pair has a smaller worst case.
    Runtime: O(1) a group; memory O(size).
    Citation: Ghosh, Roughgarden, Sundararajan (STOC 2009) for the truncated geometric.

    Parameters
    ----------
    size : int
        How many people make a group, 2 to 64.
    epsilon : float
        The epsilon towards everybody, including the other members.
    domain : optional
        The two values; the second is what is counted.

    Examples
    --------
    >>> import ldpkit
    >>> pairs = ldpkit.GroupCount(2, epsilon=1)
    >>> reports = pairs.privatize([0, 1] * 1000)
    >>> len(reports), pairs.exact_epsilon() <= 1
    (1000, True)
    >>> rr = ldpkit.GRR(2, epsilon=1)
    >>> round(pairs.variance(659 / 20_000, 20_000) / rr.variance(659 / 20_000, 20_000), 6)
    0.59431
    """

    name = "group_count"
    title = "Joint count of a group by the truncated geometric"
    citation = (
        "Ghosh, Roughgarden, Sundararajan: Universally utility-maximizing privacy mechanisms. STOC 2009"
    )
    kind = "group"
    declared: ClassVar[tuple[Parameter, ...]] = (
        Parameter("size", int, "how many people make a group", least=2, most=_LARGEST),
        replace(EPSILON, help="the privacy budget towards everybody, including the other members"),
    )
    capabilities: ClassVar[frozenset[str]] = frozenset({"linear", "unbiased", "tallied"})
    not_for_devices = "a group of people makes one report together"
    domain_type = CategoricalDomain
    default_estimator = "groups"
    domain: CategoricalDomain
    size: int

    def __init__(self, size: int, epsilon: float, *, domain: DomainLike = 2) -> None:
        values = as_domain(domain)
        if len(values) != 2:
            raise InvalidParameterError(f"a group counts one of two values, got {len(values)}")
        self._freeze(
            size=self.declared[0].check(check_whole(size, "size", least=2)),
            epsilon=check_epsilon(epsilon),
            domain=values,
        )

    @classmethod
    def make(cls, domain: Any, /, **arguments: Any) -> Self:
        return super().make(arguments.pop("size", 2), **arguments, domain=domain)

    def sibling(self, size: int) -> Self:
        return type(self)(self.size, self.epsilon)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.size}, epsilon={self.epsilon!r})".replace(".0)", ")")

    @cached_property
    def weights(self) -> list[list[int]]:
        """The integers over 2**64 of every report, a row for each sum.

        Each falls off from the sum by e^eps, rounded up from step to step, so no ratio
        exceeds e^eps; the sum itself has what the others leave.
        """
        low, _ = exp_bounds(self.epsilon)
        rows = [[0] * (self.size + 1) for _ in range(self.size + 1)]
        for report in range(self.size + 1):
            is_end = report in (0, self.size)
            peak = math.ceil(WORD * (low if is_end else low - 1) / (low + 1))
            for step in (-1, 1):
                weight, total = peak, report + step
                while 0 <= total <= self.size:
                    weight = math.ceil(weight / low)
                    rows[total][report] = weight
                    total += step
        for total, row in enumerate(rows):
            row[total] = WORD - sum(row)
        return rows

    @cached_property
    def readings(self) -> Floats:
        """What each report counts for: whole numbers but for the ends, solved from the integers."""
        found = _solve(self.weights, [WORD * total for total in range(self.size + 1)])
        return np.array([float(each) for each in found])

    def exact_epsilon(self) -> float:
        worst = Fraction(1)
        for first, second in zip(self.weights, self.weights[1:], strict=False):
            for x, y in zip(first, second, strict=True):
                worst = max(worst, Fraction(max(x, y), min(x, y)))
        return log_up(worst)

    def promise(self) -> str:
        return (
            f"exact epsilon {epsilon_text(self.exact_epsilon())} towards everybody, including the other "
            "members of a group, if nobody sees the noise"
        )

    def channel(self, rng: RandomSource | None = None) -> Channel:
        """Return every report of a group in which all others hold the first value, by one member's value."""
        rows = [[Fraction(weight, WORD) for weight in self.weights[total]] for total in (0, 1)]
        return Channel(np.arange(self.size + 1, dtype=self.report_dtype), rows)

    @property
    def report_dtype(self) -> np.dtype[Any]:
        return np.dtype("<u1")

    @property
    def tally_size(self) -> int:
        return self.size + 1

    def _is_valid(self, reports: Reports) -> np.ndarray[Any, np.dtype[np.bool_]]:
        return np.asarray(reports <= self.size)

    def check_counts(self, n: int, counts: Counts) -> None:
        super().check_counts(n, counts)
        if int(counts.sum()) != n:
            raise InvalidInputError(f"{n} reports are {n} counts in all, got {int(counts.sum())}")

    def privatize(self, values: Values, *, rng: RandomSource | None = None) -> Reports:
        """Return one report for each group of people, who are grouped at random.

        Parameters
        ----------
        values : array, sequence or column
            Labels or indices, of a whole number of groups.
        rng : RandomSource, optional
            Secure randomness by default.
        """
        indices, source = self.domain.encode(values), resolve(rng)
        if len(indices) % self.size:
            raise InvalidInputError(
                f"{len(indices)} people are not a whole number of groups of {self.size}: "
                f"leave {len(indices) % self.size} out, or ask them on their own"
            )
        order = random_order(len(indices), source)
        totals = indices[order].reshape(-1, self.size).sum(axis=1)
        return self.respond(totals, source)

    def respond(self, totals: Counts, source: RandomSource) -> Reports:
        """Return the report of each group from its sum; what the members compute together."""
        words = source.words(len(totals))
        reports = np.empty(len(totals), self.report_dtype)
        for total, row in enumerate(self.weights):
            here = np.flatnonzero(totals == total)
            bounds = np.array([sum(row[: report + 1]) for report in range(self.size)], np.uint64)
            reports[here] = np.searchsorted(bounds, words[here], side="right")
        return reports

    def tally(self, reports: Reports) -> Tally:
        checked = self.check_reports(reports)
        return Tally(self, len(checked), np.bincount(checked, minlength=self.size + 1))

    def unbiased(self, counts: Counts, n: int) -> Floats:
        """Return the unbiased share of the second value from the counts of n reports."""
        return np.asarray(counts @ self.readings / (n * self.size))

    def group_variances(self) -> Floats:
        """Return the variance of what a report counts for, given the sum of the group."""
        chances = np.array(self.weights, float) / WORD
        totals = np.arange(self.size + 1)
        return np.asarray(((self.readings - totals[:, None]) ** 2 * chances).sum(axis=1))

    def variance(self, frequency: float, n: int, *, population: bool = False) -> float:
        """Return the variance of the estimated share among n people, a whole number of random groups."""
        check_shares(frequency, n)
        if n % self.size:
            raise InvalidParameterError(f"{n} people are not a whole number of groups of {self.size}")
        from scipy.stats import binom

        if population:
            chances = binom.pmf(np.arange(self.size + 1), self.size, frequency)
            spread = frequency * (1 - frequency) / n
        else:
            chances, spread = _sum_of_a_group(round(frequency * n), n, self.size), 0.0
        return float(chances @ self.group_variances() / (n * self.size) + spread)

    def simulate(self, counts: object, *, rng: RandomSource | None = None, repeats: int = 1) -> Counts:
        """Draw the report counts of whole collections, shape (repeats, size + 1), without a single user."""
        people = check_counts(counts, 2)
        if int(people.sum()) >= MOST_PEOPLE:
            raise InvalidInputError(
                f"groups are simulated of fewer than {MOST_PEOPLE:,} people, got {int(people.sum()):,}: "
                "privatize and tally instead"
            )
        groups, rest = divmod(int(people.sum()), self.size)
        if rest:
            raise InvalidInputError(f"{int(people.sum())} people are not a whole number of groups")
        generator = resolve(rng).generator()
        sums = _group_sums(people, self.size, groups, repeats, generator)
        chances = np.array(self.weights, float) / WORD
        found = np.zeros((repeats, self.size + 1), np.int64)
        for total in range(self.size + 1):
            found += generator.multinomial(sums[:, total], chances[total] / chances[total].sum())
        return found


def _sum_of_a_group(ones: int, people: int, size: int) -> Floats:
    """Return the probability of each sum of one group, drawn from people of whom so many are ones.

    Seat by seat, in O(size**2): what SciPy has for this law takes minutes for 2**53 people.
    """
    chances = np.zeros(size + 1)
    chances[0] = 1.0
    for seat in range(size):
        one = np.clip((float(ones) - np.arange(size + 1)) / max(float(people) - seat, 1.0), 0.0, 1.0)
        chances = chances * (1 - one) + np.roll(chances * one, 1)
    return chances


def _group_sums(
    people: Counts, size: int, groups: int, repeats: int, generator: np.random.Generator
) -> Counts:
    """Draw how many groups have each sum, where everybody is in a uniformly random group.

    Seat by seat: the ones on the next seat of all groups are a uniform choice of the ones
    left, and they fall uniformly on the groups, whatever these hold already.
    """
    sums = np.zeros((repeats, size + 1), np.int64)
    sums[:, 0] = groups
    ones, zeros = np.full(repeats, people[1]), np.full(repeats, people[0])
    for seat in range(size):
        here = generator.hypergeometric(ones, zeros, groups)
        ones, zeros = ones - here, zeros - (groups - here)
        grown, left, rest = np.zeros_like(sums), here, np.full(repeats, groups)
        for total in range(seat + 1):
            rest = rest - sums[:, total]
            some = generator.hypergeometric(sums[:, total], rest, left)
            left = left - some
            grown[:, total + 1] += some
            grown[:, total] += sums[:, total] - some
        sums = grown
    return sums


def _solve(table: list[list[int]], right: list[int]) -> list[Fraction]:
    """Return the solution of a small regular system of equations in whole numbers, exactly.

    Elimination without fractions (Bareiss): every division below comes out even, and no
    common divisor is ever looked for, which for 64 people takes seconds.
    """
    rows = [[*row, value] for row, value in zip(table, right, strict=True)]
    size, before = len(rows), 1
    for place in range(size):
        pivot = next(index for index in range(place, size) if rows[index][place])
        if pivot != place:
            rows[place], rows[pivot] = rows[pivot], [-each for each in rows[place]]
        here = rows[place]
        for index in range(place + 1, size):
            row, factor = rows[index], rows[index][place]
            rows[index] = [(here[place] * x - factor * y) // before for x, y in zip(row, here, strict=True)]
        before = here[place]
    found = [Fraction(0)] * size
    for place in reversed(range(size)):
        rest = sum(rows[place][column] * found[column] for column in range(place + 1, size))
        found[place] = (rows[place][-1] - rest) / Fraction(rows[place][place])
    return found
