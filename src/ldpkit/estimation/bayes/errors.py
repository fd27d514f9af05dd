"""Standard errors of likelihood estimates: how far they scatter, where nothing cuts them off.

A maximum on the boundary, with some frequencies at zero, is not normally distributed: its
errors are cut off at zero. So no interval is made from these errors; intervals come from
the exact law of the counts (`ldpkit.estimation.intervals`).

All errors come in two kinds, as for matrix inversion: about the people who reported, or
about the population that they were drawn from. The likelihood knows the second. The
first is less by f(1-f)/n, because an efficient estimate and its error about the actual
frequencies are uncorrelated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.parameters import check_whole
from ldpkit.core.random import RandomSource, seeded
from ldpkit.core.typing import Bytes, Counts, Floats
from ldpkit.estimation.bayes.elsewhere import AnyEvidence
from ldpkit.estimation.evidence import Evidence, Part
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle

__all__ = [
    "ErrorOptions",
    "ErrorRules",
    "Errors",
    "by_delta",
    "by_information",
    "by_inversion",
    "information",
    "part_information",
]

_MOST_WORK = 1 << 32  # multiplications; beyond, the information of a sample stands for all
_SAMPLE_PER_VALUE = 16  # reports that a sample has for each value, whatever the work
_ROWS_PER_VALUE = 4  # with fewer reports for each value an information matrix is not to be trusted
_LARGEST_MATRIX = 2048


@dataclass(frozen=True)
class ErrorRules:
    """How to find standard errors, and of what.

    Parameters
    ----------
    errors : {"information", "bootstrap"}
        In closed form, or from the spread of `repeats` estimates.
    repeats : int
        How many estimates the bootstrap makes.
    rng : RandomSource, optional
        Randomness of the bootstrap; secure by default.
    population : bool
        False: the error is about the people who reported. True: about the population
        they were drawn from.
    """

    errors: str = "information"
    repeats: int = 200
    rng: RandomSource | None = None
    population: bool = False

    def __post_init__(self) -> None:
        if self.errors not in ("information", "bootstrap"):
            raise InvalidParameterError(f'errors must be "information" or "bootstrap", got {self.errors!r}')
        check_whole(self.repeats, "repeats", least=2)


class ErrorOptions(TypedDict, total=False):
    """The parameters of `ErrorRules`, as keywords that estimators hand through."""

    errors: str
    repeats: int
    rng: RandomSource | None
    population: bool


@dataclass(frozen=True)
class Errors:
    """Standard errors, with the name of the method."""

    stderr: Floats
    method: str


def by_information(evidence: AnyEvidence, frequencies: Floats, *, population: bool) -> Errors:
    """Return errors from the observed information matrix at the maximum.

    The matrix is taken over all values, those at zero too. Where there are too few
    reports for it or too many values, the errors of matrix inversion are returned, which
    are not less: the maximum is asymptotically at least as good as any unbiased estimate.
    """
    size, n = len(evidence.domain), evidence.n
    covariance = None
    if size <= _LARGEST_MATRIX and n >= _ROWS_PER_VALUE * size:
        matrix = (
            information(evidence, frequencies)
            if isinstance(evidence, Evidence)
            else evidence.information(frequencies)
        )
        covariance = _covariance(matrix)
    if covariance is None:
        return by_inversion(evidence, frequencies, population=population)
    variance = np.diag(covariance)
    if not population:
        variance = variance - frequencies * (1 - frequencies) / n
    return Errors(np.sqrt(np.maximum(variance, 0)), "information")


def information(evidence: Evidence, frequencies: Floats) -> Floats:
    """Return the observed information: minus the second derivatives of the log-likelihood."""
    matrix = np.zeros((len(frequencies), len(frequencies)))
    for part in evidence.parts:
        matrix += part_information(part, frequencies, evidence.n)
    return matrix


def part_information(part: Part, frequencies: Floats, n: int) -> Floats:
    """Return what one part adds to the information of n reports in all."""
    size = len(frequencies)
    most = max(_MOST_WORK // size**2, _SAMPLE_PER_VALUE * size)
    return _information_of(part, frequencies, most * part.n // n + 1)


def _information_of(part: Part, frequencies: Floats, most: int) -> Floats:
    """Return the sum over reports of (1 + excess u)(1 + excess v) / d^2 for every two values.

    u and v say whether the report supports them, and d is its likelihood.
    """
    excess, scale = part.excess, 1.0
    if part.supports is None:
        weight = np.asarray(part.counts) / (1 + excess * frequencies) ** 2
        total, pairs = float(weight.sum()), np.diag(weight)
    else:
        from ldpkit.estimation.bayes.kernels import byte_sums, pair_sums

        supports = part.supports
        if part.counts is None and len(supports) > most:
            # Seeded, because the errors of one collection must not change from call to call.
            supports = supports[np.sort(seeded(0).generator().choice(len(supports), most, replace=False))]
            scale = part.n / most
        sums = byte_sums(excess * frequencies)
        shares = (1 if part.counts is None else part.counts) / (1 + _by_row(sums, supports)) ** 2
        total, pairs = float(shares.sum()), pair_sums(supports, shares, len(frequencies))
    alone = np.diag(pairs)
    matrix: Floats = total + excess * np.add.outer(alone, alone) + excess**2 * pairs
    return scale * matrix


def _by_row(sums: Floats, supports: Bytes) -> Floats:
    """Return the sum of the terms of each row's bytes."""
    total = np.zeros(len(supports))
    for column, terms in zip(supports.T, sums, strict=True):
        total += terms[column]
    return total


def _covariance(matrix: Floats) -> Floats | None:
    """Return the covariance of frequencies that sum to one, or None where nothing determines it."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    try:
        inverse = cho_solve(cho_factor(matrix), np.eye(len(matrix)))
    except LinAlgError:
        return None
    along = inverse.sum(axis=0)
    return np.asarray(inverse - np.outer(along, along) / along.sum())


def by_inversion(evidence: AnyEvidence, frequencies: Floats, *, population: bool) -> Errors:
    """Return the errors of unbiased estimates, one for each mechanism, averaged.

    The weights are those that are best for rare values.
    """
    tallies = [(oracle, tally) for oracle, tally in evidence.tallies() if tally.n]
    weights = np.array([1 / oracle.variance(0.0, tally.n) for oracle, tally in tallies])
    weights /= weights.sum()
    variance = np.zeros(len(frequencies))
    for (oracle, tally), weight in zip(tallies, weights, strict=True):
        variance += weight**2 * oracle.variance(frequencies, tally.n, population=population)
    return Errors(np.sqrt(variance), "inversion")


def by_delta(oracle: FrequencyOracle, counts: Counts, n: int, *, population: bool) -> Errors:
    """Return the errors of the limit of the iterative Bayesian update.

    Inside the simplex it is matrix inversion of the histogram scaled to its expected
    sum, so its error is that of S_v - h_v |S|, where S_v says whether a report supports
    v, |S| how many values it supports, and h is the histogram.
    """
    p, q, others = oracle.p, oracle.q, oracle.size - 1
    h = counts / counts.sum()
    f = np.clip((h * (p + others * q) - q) / (p - q), 0, 1)
    if oracle.support_size is not None:
        return Errors(np.sqrt(oracle.variance(f, n, population=population)), "information")
    own, other = p * (1 - p), q * (1 - q)
    holder = (1 - h) ** 2 * own + h**2 * others * other
    another = (1 - h) ** 2 * other + h**2 * (own + (others - 1) * other)
    variance = f * holder + (1 - f) * another + (f * (1 - f) * (p - q) ** 2 if population else 0)
    return Errors(np.sqrt(variance / n) / (p - q), "information")
