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
from ldpkit.mechanisms.categorical.hashing import LocalHashing
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle

__all__ = ["LARGEST", "Supports", "confusion", "supports_of"]

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

    def own_share(self, before: int, group: int) -> float:
        """Return E[1 / (1 + supported among group - 1 others)], given own but none of `before` others."""
        if self.other is not None:
            return _one_over_group(self.other, group)
        picks = (self.size or 0) - 1
        left = self.values - 1 - before
        i = np.arange(group)
        missed = float(np.prod(np.maximum(left - picks - i, 0) / (left + 1 - i)))
        return (left + 1) / (group * (picks + 1)) * (1 - missed)


def supports_of(oracle: FrequencyOracle) -> Supports:
    """Return the law of the supported values.

    Hashing counts as ideal: every value falls into every bucket with probability 1/g,
    independently of the others. The hash of ldpkit is uniform and independent in pairs
    exactly, and nearly so beyond.
    """
    if not oracle.pure:
        raise InvalidInputError(f"reports of {oracle!r} do not support values: attack them by simulation")
    if isinstance(oracle, LocalHashing):
        return Supports(oracle.size, oracle.p, other=1 / oracle.buckets)
    if oracle.support_size is None:
        return Supports(oracle.size, oracle.p, other=oracle.q)
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
    table = _Guesses(supports_of(oracle), np.asarray(prior, float), float(oracle.support_ratio))
    result = table.spread[np.ix_(table.group_of, table.group_of)]
    np.fill_diagonal(result, table.own[table.group_of])
    return np.asarray(result)


@dataclass(frozen=True, eq=False)
class _Guesses:
    """Probabilities of guesses by groups of values with equal priors, the likeliest group first."""

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
        none, sizes, starts = self.supports.none_of(held=True), self._groups[2], self._starts
        count, reached = len(sizes), self._reached
        earlier = none[starts] - none[np.minimum(starts + sizes, self.supports.values - 1)]
        hits = np.tril(np.broadcast_to(earlier, (count, count)), -1)
        hits[:, reached:] = 0
        own = np.zeros(count)
        for group in range(reached):
            hits[group, group] = none[starts[group]]
            own[group] = none[starts[group]] * self.supports.own_share(int(starts[group]), int(sizes[group]))
        hits[reached:, 0] += none[starts[reached]] if reached < count else 0.0
        return hits, own

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
        lifted = int(sizes[:reached].sum())
        return hits, none[lifted - (np.arange(count) < reached)]

    @cached_property
    def own(self) -> Floats:
        """The probability that the guess is right, by group."""
        sizes, p = self._groups[2], self.supports.own
        result = p * self._given_held[1]
        result[0] += (1 - p) * self._given_missed[1][0] / sizes[0]
        return np.asarray(result)

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


def _one_over_group(chance: float, group: int) -> float:
    """Return E[1 / (1 + B)] for B binomial with group - 1 trials."""
    return (1 - (1 - chance) ** group) / (group * chance)
