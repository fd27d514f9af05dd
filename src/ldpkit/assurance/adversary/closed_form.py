"""What the adversary guesses for each true value, exactly.

A report of a pure protocol supports some values, and each of these is R times as likely
as it would be unsupported. So the best guess is the supported value with the largest
prior, unless R times that prior is less than the largest prior of all. Sorted by prior,
only the first supported value matters, and its law is known for every protocol.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.typing import Counts, Floats
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle

__all__ = ["LARGEST", "Guesses", "Supports", "confusion", "guesses_of", "supports_of"]

LARGEST = 4096
"""Larger domains would need more than 128 MB for the table of guesses."""

_ROUNDING = 1e-12


@dataclass(frozen=True)
class Supports:
    """Which values a report supports, besides the person's own.

    Parameters
    ----------
    values : int
        The size of the domain.
    own : float
        The probability that the own value is supported.
    other : float or None
        The probability of each other value, where values are independent.
    size : int or None
        The number of supported values, where that is fixed and the set uniform.
    """

    values: int
    own: float
    other: float | None = None
    size: int | None = None

    def none_of(self, *, held: bool) -> Floats:
        """Return the probability that none of m given others is supported, for m = 0 .. k - 1."""
        m = np.arange(self.values)
        if self.other is not None:
            return np.asarray((1 - self.other) ** m)
        picks = (self.size or 0) - held
        left = self.values - 1 - m[:-1]
        return np.concatenate([[1.0], np.cumprod(np.maximum(left - picks, 0) / left)])

    def own_shares(self, before: Counts, groups: Counts) -> Floats:
        """Return E[1 / (1 + supported among group - 1 others)], given own but none of `before` others."""
        if self.other is not None:
            return np.asarray((1 - (1 - self.other) ** groups) / (groups * self.other))
        picks = (self.size or 0) - 1
        left = self.values - 1 - before
        missed = np.maximum(left - picks, 0) / (left + 1)
        for place in np.flatnonzero(groups > 1):  # most values are alone with their prior
            i = np.arange(groups[place])
            missed[place] = np.prod(np.maximum(left[place] - picks - i, 0) / (left[place] + 1 - i))
        return np.asarray((left + 1) / (groups * (picks + 1)) * (1 - missed))


def supports_of(oracle: FrequencyOracle) -> Supports:
    """Return the law of the supported values.

    Hashing counts as ideal: every value falls into every bucket with probability 1/g,
    independently of the others. The hash of ldpkit is uniform and independent in pairs
    exactly, and nearly so beyond.
    """
    if not oracle.can("pure"):
        raise InvalidInputError(f"reports of {oracle!r} do not support values: attack them by simulation")
    if oracle.support_size is None:
        return Supports(oracle.size, oracle.p, other=oracle.chance_support)
    return Supports(oracle.size, oracle.p, size=oracle.support_size)


def confusion(oracle: FrequencyOracle, prior: Floats) -> Floats:
    """Return the probability of each guess (column) for each true value (row).

    Parameters
    ----------
    oracle : FrequencyOracle
        A pure protocol.
    prior : array
        What the adversary believes before the report; it sums to one.

    Examples
    --------
    >>> import ldpkit
    >>> confusion(ldpkit.GRR(3, epsilon=1.0), np.array([0.8, 0.1, 0.1])).round(3).tolist()
    [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    >>> confusion(ldpkit.GRR(3, epsilon=1.0), np.array([0.4, 0.4, 0.2])).round(3).tolist()
    [[0.576, 0.212, 0.212], [0.212, 0.576, 0.212], [0.212, 0.212, 0.576]]
    """
    if oracle.size > LARGEST:
        raise InvalidParameterError(
            f"guesses are listed for at most {LARGEST} values, got {oracle.size}: group values"
        )
    table = guesses_of(oracle, prior)
    result = table.spread[np.ix_(table.group_of, table.group_of)]
    np.fill_diagonal(result, table.own[table.group_of])
    return np.asarray(result)


def guesses_of(oracle: FrequencyOracle, prior: Floats) -> Guesses:
    """Return what is guessed from a report of a pure protocol, for a prior that sums to one."""
    return Guesses(supports_of(oracle), np.asarray(prior, float), float(oracle.support_ratio))


@dataclass(frozen=True, eq=False)
class Guesses:
    """Probabilities of guesses by groups of values with equal priors, the likeliest group first.

    The whole table has a row for each value and a column for each guess. What a guess is
    worth on average (`expected`) is known without it: left of the diagonal, and right of
    it, a column is the same in every row, so sums over columns are cumulative sums.

    Examples
    --------
    >>> import ldpkit
    >>> guesses = guesses_of(ldpkit.GRR(1_000_000, epsilon=1.0), np.full(1_000_000, 1e-6))
    >>> guesses.right[:2].round(9).tolist()              # e / (e + k - 1)
    [2.718e-06, 2.718e-06]
    """

    supports: Supports
    prior: Floats
    ratio: float

    @cached_property
    def _groups(self) -> tuple[Floats, Counts, Counts]:
        levels, group_of, sizes = np.unique(-self.prior, return_inverse=True, return_counts=True)
        return -levels, group_of, sizes

    @property
    def group_of(self) -> Counts:
        """The group of each value."""
        return self._groups[1]

    @cached_property
    def _starts(self) -> Counts:
        """How many values have larger priors than each group."""
        sizes = self._groups[2]
        return np.cumsum(sizes) - sizes

    @cached_property
    def _reached(self) -> int:
        """How many groups a supporting report lifts to the top."""
        levels = self._groups[0]
        return int((self.ratio * levels >= levels[0] * (1 - _ROUNDING)).sum())

    @cached_property
    def _given_held(self) -> tuple[Floats, Floats]:
        """If the own value is supported: P(guess in group), and P(guess is own), by own group."""
        none, sizes, starts = self._none_held, self._groups[2], self._starts
        count, reached = len(sizes), self._reached
        earlier = none[starts] - none[np.minimum(starts + sizes, self.supports.values - 1)]
        hits = np.tril(np.broadcast_to(earlier, (count, count)), -1)
        hits[:, reached:] = 0
        lifted = np.arange(reached)
        hits[lifted, lifted] = none[starts[lifted]]
        hits[reached:, 0] += none[starts[reached]] if reached < count else 0.0
        return hits, self._own_held

    @cached_property
    def _none_held(self) -> Floats:
        return self.supports.none_of(held=True)

    @cached_property
    def _own_held(self) -> Floats:
        """If the own value is supported: P(guess is own), by group."""
        sizes, starts, own = self._groups[2], self._starts, np.zeros(len(self._groups[2]))
        lifted = slice(self._reached)
        own[lifted] = self._none_held[starts[lifted]] * self.supports.own_shares(
            starts[lifted], sizes[lifted]
        )
        return own

    @cached_property
    def _nothing(self) -> Floats:
        """If the own value is not supported: P(nothing lifted), by group."""
        reached, sizes = self._reached, self._groups[2]
        lifted = int(sizes[:reached].sum())
        return np.asarray(self.supports.none_of(held=False)[lifted - (np.arange(len(sizes)) < reached)])

    @cached_property
    def _given_missed(self) -> tuple[Floats, Floats]:
        """If the own value is not supported: P(guess in group by support), and P(nothing lifted)."""
        none, sizes, starts = self.supports.none_of(held=False), self._groups[2], self._starts
        count, reached = len(sizes), self._reached
        own, guess = np.indices((count, count))
        before = starts[guess] - (own < guess)
        others = sizes[guess] - (own == guess)
        hits = none[before] - none[before + others]
        hits[:, reached:] = 0
        return hits, self._nothing

    @cached_property
    def own(self) -> Floats:
        """The probability that the guess is right, by group."""
        sizes, p = self._groups[2], self.supports.own
        result = p * self._own_held
        result[0] += (1 - p) * self._nothing[0] / sizes[0]
        return np.asarray(result)

    @property
    def right(self) -> Floats:
        """The probability that the guess is right, by value."""
        return self.own[self.group_of]

    def expected(self, worth: Floats) -> Floats:
        """Return what the guess is worth on average for each true value, given the worth of each guess."""
        sizes, starts, p, reached = self._groups[2], self._starts, self.supports.own, self._reached
        held, missed = self._none_held, self.supports.none_of(held=False)
        last, sums = self.supports.values - 1, np.bincount(self.group_of, weights=worth)
        mean = np.where(np.arange(len(sizes)) < reached, sums / sizes, 0.0)
        ends, before = np.minimum(starts + sizes, last), np.maximum(starts - 1, 0)
        likelier = (p * (held[starts] - held[ends]) + (1 - p) * (missed[starts] - missed[ends])) * mean
        rarer = (1 - p) * (missed[before] - missed[np.minimum(before + sizes, last)]) * mean
        total = np.cumsum(likelier) - likelier + np.cumsum(rarer[::-1])[::-1] - rarer
        total += (1 - p) * self._nothing * sums[0] / sizes[0]
        if reached < len(sizes):
            total[reached:] += p * held[starts[reached]] * sums[0] / sizes[0]
        # The others of the own group: all but the own value, whose worth is taken off below.
        others = p * (held[starts] - self._own_held) + (1 - p) * (missed[starts] - missed[starts + sizes - 1])
        each = np.divide(others, sizes - 1, out=np.zeros(len(sizes)), where=sizes > 1)
        each[reached:] = 0.0
        total += each * sums
        weight = p * self._own_held - each  # what nothing lifted gives the own value is in the total
        return np.asarray(total[self.group_of] + weight[self.group_of] * worth)

    @cached_property
    def spread(self) -> Floats:
        """The probability of each single other guess, by own group and guessed group."""
        sizes, p = self._groups[2], self.supports.own
        held, own = self._given_held
        missed, nothing = self._given_missed
        others = sizes - np.eye(len(sizes), dtype=np.int64)
        total = p * (held - np.diag(own)) + (1 - p) * missed
        result = np.divide(total, others, out=np.zeros_like(total), where=others > 0)
        result[:, 0] += (1 - p) * nothing / sizes[0]
        return np.asarray(result)
