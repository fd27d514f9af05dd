"""Frequency oracles from a probability matrix: the matrix is the mechanism, the rest follows.

The matrix has a row for each value and a column for each report. It is turned into
integers over 2**64, mixed with so little of its own average that the realised epsilon,
computed from these integers, is not above the stated one. A report is drawn from its row
with one random word. The collector adds up whole-number scores of reports, which a small
linear system turns into unbiased frequencies.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.exact import WORD, exp_bounds, log_up
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Counts, Floats, Indices, Reports, Words
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle, index_dtype
from ldpkit.mechanisms.categorical.report_law import ReportLaw
from ldpkit.mechanisms.channel import Channel
from ldpkit.mechanisms.forms import word_rows

__all__ = ["MatrixMechanism"]

_MOST_ENTRIES = 1 << 18  # of a matrix in Python integers: a second to make
_SCORE_BITS = 24  # so fine that rounding a score moves an estimate by less than it is printed with
_FINEST, _COARSEST = 56, 24  # a share of 2**-24 of the average is the most that rounding may cost
_ILL_CONDITIONED = 1e9
_ROUNDING = Fraction(1, 10**9)


class MatrixMechanism(FrequencyOracle):
    """A frequency oracle that is given by the probability of each report for each value.

    A new one is a subclass with `matrix`. Everything else is here: the exact epsilon, the
    sampler, the channel, the estimator, its variance and intervals, the simulation and the
    wire form. The matrix must have at least as many independent columns as rows.

    Examples
    --------
    >>> class Thirds(MatrixMechanism):
    ...     name = "thirds"
    ...     def matrix(self):
    ...         return [[2, 1], [1, 2]]
    >>> thirds = Thirds(["no", "yes"], epsilon=1)
    >>> round(thirds.exact_epsilon(), 6)                      # the logarithm of 2
    0.693147
    >>> Thirds(["no", "yes"], epsilon=0.5).exact_epsilon()
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: the matrix of Thirds(2, epsilon=0.5) has epsilon 0.6931..., \
more than the 0.5 it should keep: make its columns more even
    """

    largest_domain: ClassVar[int | None] = 512
    tight: ClassVar[bool] = False
    capabilities: ClassVar[frozenset[str]] = FrequencyOracle.capabilities - {"pure"} | {"client"}

    @abc.abstractmethod
    def matrix(self) -> Sequence[Sequence[float | Fraction]] | Floats:
        """Return a row of weights for each value: whole numbers, fractions or floats.

        Each row is divided by its sum. It may use `size`, `epsilon` and other parameters.
        """

    @cached_property
    def weights(self) -> list[list[int]]:
        """The integers of the sampler: the probabilities of reports over 2**64, a row for each value."""
        rows = [_rounded(row) for row in self._ideal()]
        limit, _ = exp_bounds(self.epsilon)
        if _worst(rows) <= limit:
            return rows
        average = [sum(column) // len(rows) for column in zip(*rows, strict=True)]
        for bits in range(_FINEST, _COARSEST - 1, -4):
            mixed = [_mixed(row, average, bits) for row in rows]
            if _worst(mixed) <= limit:
                return mixed
        raise InvalidParameterError(
            f"the matrix of {self!r} has epsilon {log_up(_worst(rows)):.6g}, more than the {self.epsilon:g} "
            f"it should keep: {self._why_above(limit)}"
        )

    def _why_above(self, limit: Fraction) -> str:
        """Return what to change in a matrix whose epsilon is above the stated one."""
        given = self._ideal()
        sums = [sum(row) for row in given]
        # Floats that should keep epsilon exactly may be off by a few of their last digits.
        if _worst(given) > limit * (1 + _ROUNDING) or max(sums) <= min(sums) * (1 + _ROUNDING):
            return "make its columns more even"
        return (
            f"each row is divided by its sum, and the sums differ ({float(min(sums)):.6g} to "
            f"{float(max(sums)):.6g}), which alone raises epsilon: give all rows the same sum"
        )

    def _ideal(self) -> list[list[Fraction]]:
        """Return the matrix in fractions, or refuse it."""
        given = self.matrix()
        rows = [list(row) for row in given]
        lengths = {len(row) for row in rows}
        if len(rows) != self.size or len(lengths) != 1:
            count = len(rows)
            only = f": if it is for {count} values only, say smallest_domain = largest_domain = {count}"
            raise InvalidParameterError(
                f"the matrix of {self!r} must have {self.size} rows of one length, got {count} rows of "
                f"{', '.join(map(str, sorted(lengths)))} numbers{only if 1 < count != self.size else ''}"
            )
        if self.size * len(rows[0]) > _MOST_ENTRIES:
            raise InvalidParameterError(
                f"the matrix of {self!r} has {self.size} x {len(rows[0])} entries, and the limit is "
                f"{_MOST_ENTRIES}: take fewer reports, or say with largest_domain how many values it can have"
            )
        try:
            exact = [[Fraction(weight) for weight in row] for row in rows]
        except (TypeError, ValueError, OverflowError):
            raise InvalidParameterError(f"the matrix of {self!r} must have finite numbers only") from None
        if any(weight <= 0 for row in exact for weight in row):
            raise InvalidParameterError(
                f"the matrix of {self!r} must have positive numbers only: a report that one value never "
                "makes gives others away, and one that none makes is left out"
            )
        return exact

    @cached_property
    def outputs(self) -> int:
        """The number of different reports."""
        return len(self.weights[0])

    @cached_property
    def probabilities(self) -> Floats:
        """The probability of each report (column) for each value (row)."""
        return np.array([[weight / WORD for weight in row] for row in self.weights])

    def details(self) -> dict[str, float]:
        return {"outputs": self.outputs}

    def exact_epsilon(self) -> float:
        return log_up(_worst(self.weights))

    def _form(self) -> dict[str, Any]:
        return {"form": "rows", "shape": [self.size], "rows": word_rows(self.weights, self)}

    def channel(self, rng: RandomSource | None = None) -> Channel:
        rows = [[Fraction(weight, WORD) for weight in row] for row in self.weights]
        return Channel(np.arange(self.outputs, dtype=self.report_dtype), rows)

    # --- the device --------------------------------------------------------------------

    @property
    def report_dtype(self) -> np.dtype[Any]:
        return index_dtype(self.outputs)

    @property
    def random_bytes_per_report(self) -> int:
        return 8

    def _is_valid(self, reports: Reports) -> np.ndarray[Any, np.dtype[np.bool_]]:
        return np.asarray(reports < self.outputs)

    @cached_property
    def _bounds(self) -> Words:
        """Where the words of a report end that are not those of the last one; a row for each value."""
        sums = np.cumsum(np.array(self.weights, object), axis=1)
        return np.asarray(sums[:, :-1], np.uint64)

    def _randomise(self, indices: Indices, source: RandomSource) -> Reports:
        words, reports = source.words(len(indices)), np.empty(len(indices), self.report_dtype)
        order = np.argsort(indices, kind="stable")
        firsts = np.searchsorted(indices[order], np.arange(self.size + 1))
        for value in np.unique(indices).tolist():
            people = order[firsts[value] : firsts[value + 1]]
            reports[people] = np.searchsorted(self._bounds[value], words[people], side="right")
        return reports

    # --- the collector -----------------------------------------------------------------

    @cached_property
    def _exact_scores(self) -> Floats:
        """What a report must score for each value, so that the mean score is 1 for its own and 0 for others.

        Of all such scores those with the least variance if people are evenly spread.
        """
        chances = self.probabilities
        scaled = chances / chances.mean(axis=0)
        system = scaled @ chances.T
        if np.linalg.cond(system) > _ILL_CONDITIONED:
            raise InvalidParameterError(
                f"the matrix of {self!r} cannot be inverted: some values make the same reports as a mixture "
                "of others, so their frequencies cannot be told apart"
            )
        return np.asarray(np.linalg.solve(system, scaled).T)

    @cached_property
    def scores(self) -> Counts:
        """The whole numbers that a report (row) adds to the count of each value (column)."""
        scale = 2.0**_SCORE_BITS / np.abs(self._exact_scores).max()
        return np.asarray(np.rint(scale * self._exact_scores), np.int64)

    @cached_property
    def _to_frequencies(self) -> Floats:
        """What turns mean scores into unbiased frequencies: the inverse of the mean scores of each value."""
        return np.asarray(np.linalg.inv(self.probabilities @ self.scores))

    @cached_property
    def _spreads(self) -> Floats:
        """The variance of what one report of a value (row) says about the frequency of each (column)."""
        says = self.scores @ self._to_frequencies
        return np.asarray(self.probabilities @ says**2 - np.eye(self.size))

    def _supports(self, reports: Reports) -> Counts:
        return np.asarray(np.bincount(reports, minlength=self.outputs) @ self.scores)

    def count_range(self, n: int) -> tuple[int, int]:
        return n * int(self.scores.min()), n * int(self.scores.max())

    def unbiased(self, supports: Counts, n: int) -> Floats:
        return np.asarray(supports / n @ self._to_frequencies)

    def _report_variance(self, f: Floats) -> Floats:
        """Return the variance for frequencies of all values, or the most that one frequency allows."""
        own = np.diag(self._spreads)
        others = self._spreads - np.diag(own)
        if f.ndim and f.shape[-1] == self.size:
            # What is left beside a value is shared by the others as they are among themselves.
            rest = f.sum(axis=-1, keepdims=True) - f
            shares = np.divide(1 - f, rest, out=np.zeros_like(f), where=rest > 0)
            return np.asarray(f * own + shares * (f @ others))
        return np.asarray(f * own.max() + (1 - f) * others.max())

    @cached_property
    def report_law(self) -> ReportLaw:
        # One law for all values: that of the value, and of the other person, with the largest variance.
        others = self._spreads - np.diag(np.diag(self._spreads))
        holder = int(np.diag(self._spreads).argmax())
        person, value = divmod(int(others.argmax()), self.size)
        outcomes = np.unique(self.scores[:, [holder, value]])
        own, other = np.zeros(len(outcomes)), np.zeros(len(outcomes))
        place = np.searchsorted(outcomes, self.scores)
        np.add.at(own, place[:, holder], self.probabilities[holder])
        np.add.at(other, place[:, value], self.probabilities[person])
        return ReportLaw(outcomes, own, other)

    def log_ratios(self, reports: Reports) -> Floats:
        return np.asarray(np.log(self.probabilities).T[self.check_reports(reports)])

    def _sample_supports(self, counts: Counts, repeats: int, generator: np.random.Generator) -> Counts:
        drawn = np.zeros((repeats, self.outputs), np.int64)
        for people, chances in zip(counts.tolist(), self.probabilities, strict=True):
            drawn += generator.multinomial(people, chances / chances.sum(), repeats)
        return np.asarray(drawn @ self.scores)


def _rounded(row: Sequence[Fraction]) -> list[int]:
    """Return whole numbers over 2**64 in proportion to some weights, at least 1 each."""
    unit = math.lcm(*(weight.denominator for weight in row))
    scaled = [weight.numerator * (unit // weight.denominator) for weight in row]
    total = sum(scaled)
    whole = [max(1, weight * WORD // total) for weight in scaled]
    whole[whole.index(max(whole))] += WORD - sum(whole)
    return whole


def _mixed(row: Sequence[int], average: Sequence[int], bits: int) -> list[int]:
    """Return a row with 2**-bits of the average in it."""
    whole = [weight + ((mean - weight) >> bits) for weight, mean in zip(row, average, strict=True)]
    whole[whole.index(max(whole))] += WORD - sum(whole)
    return whole


def _worst(rows: Sequence[Sequence[int | Fraction]]) -> Fraction:
    """Return the largest ratio of two entries of a column."""
    high: int | Fraction = 1
    low: int | Fraction = 1
    for column in zip(*rows, strict=True):
        if max(column) * low > high * min(column):
            high, low = max(column), min(column)
    return Fraction(high) / low
