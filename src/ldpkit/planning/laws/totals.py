"""The exact law of the estimated total, for every frequency oracle.

The estimated total is a linear function of what the reports add up to (`reports`). Where
amounts are multiples of a common step, that sum is an integer and its distribution
function is a finite Fourier sum. Of the many terms only those near zero frequency count,
so it takes a millisecond whatever the number of people; what is left out is bounded and
below 1e-14. Elsewhere the saddle point approximation of Lugannani and Rice serves.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any, Literal, Protocol

import numpy as np

from ldpkit.core.errors import InvalidParameterError
from ldpkit.mechanisms.base import Mechanism
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
from ldpkit.mechanisms.kinds import FREQUENCY, NUMERIC, is_frequency, is_numeric, single_epsilon_class
from ldpkit.mechanisms.numeric.mechanism import NumericMechanism
from ldpkit.planning.capacity.question import CapacityQuestion, as_exact
from ldpkit.planning.laws.report_sums import Bits, NoiseSum, ReportSum
from ldpkit.planning.laws.saddle import saddle_point
from ldpkit.planning.laws.set_sums import Sets

__all__ = [
    "EstimatedTotal",
    "NormalTotal",
    "TotalLaw",
    "cantelli",
    "chebyshev",
    "law_at",
    "mean_estimation_law",
    "mechanism_at",
    "total_law",
]

_NEGLIGIBLE = 46.0  # e**-46 is 1e-20: a hundred thousand terms of it do not count
_LONGEST_PERIOD = 1 << 24
_MOST_LOOKS = 1 << 27  # angles times values: a second or two to find the terms that count
_CHUNK = 1 << 14  # terms that are added up at a time

How = Literal["lattice", "saddle point", "normal"]


class EstimatedTotal(Protocol):
    """What planning asks of the estimated total."""

    @property
    def mean(self) -> float:
        """The mean of the estimated total."""

    @property
    def variance(self) -> float:
        """Its variance."""

    def at_most(self, capacity: float) -> float:
        """Return the probability that it is at most the capacity."""


@dataclass(frozen=True)
class TotalLaw:
    """The law of the estimated total: (sum of the reports - offset) / gain.

    Parameters
    ----------
    reports : ReportSum
        What the reports add up to.
    gain, offset : Fraction
        The line from the estimated total to the expected sum of the reports, exactly.
    is_lattice : bool
        Whether the sum is an integer.
    """

    reports: ReportSum
    gain: Fraction
    offset: Fraction
    is_lattice: bool

    @property
    def mean(self) -> float:
        """The exact mean: the true total, since the estimate is unbiased."""
        return (self.reports.mean - float(self.offset)) / float(self.gain)

    @property
    def variance(self) -> float:
        """The exact variance."""
        return self.reports.variance / float(self.gain) ** 2

    @property
    def stderr(self) -> float:
        """The standard error."""
        return math.sqrt(self.variance)

    @property
    def how(self) -> How:
        """How probabilities are computed."""
        return "lattice" if self._window() is not None else "saddle point"

    def at_most(self, capacity: float) -> float:
        """Return the probability that the estimated total is at most the capacity."""
        limit = as_exact(capacity) * self.gain + self.offset
        low, high = self.reports.support
        if limit < low or limit >= high:
            return float(limit >= high)
        window = self._window()
        if window is None:
            return saddle_point(self.reports, float(limit))
        return _fourier_sum(self.reports, math.floor(limit), *window)

    def by_saddle_point(self, capacity: float) -> float:
        """Return the saddle point approximation of `at_most`, with half a step of continuity correction."""
        limit = as_exact(capacity) * self.gain + self.offset
        return saddle_point(self.reports, math.floor(limit) + 0.5 if self.is_lattice else float(limit))

    def _window(self) -> tuple[int, int] | None:
        """Return the first integer and the length of a window that holds the law; None if it is too long."""
        if not self.is_lattice or self.reports.looks > _MOST_LOOKS:
            return None
        low, high = self.reports.support
        # Bernstein: beyond this distance from the mean lies less than e**-46 of the law.
        slack = self.reports.reach * _NEGLIGIBLE / 3
        far = slack + math.sqrt(slack**2 + 2 * self.reports.variance * _NEGLIGIBLE)
        start = max(low, math.floor(self.reports.mean - far))
        length = min(high, math.ceil(self.reports.mean + far)) - start + 1
        return None if length > _LONGEST_PERIOD else (int(start), int(length))


@dataclass(frozen=True)
class NormalTotal:
    """An estimated total that is as good as normal, such as a sum of many numeric reports."""

    mean: float
    variance: float

    def at_most(self, capacity: float) -> float:
        """Return the probability that the estimated total is at most the capacity."""
        return NormalDist(self.mean, math.sqrt(self.variance)).cdf(capacity)


def total_law(oracle: FrequencyOracle, question: CapacityQuestion) -> TotalLaw:
    """Return the law of the total that is estimated from the reports of an oracle.

    Parameters
    ----------
    oracle : FrequencyOracle
        One that says what a report adds to all counts (`joint_law`). Hashing counts as
        ideal: the hash values of different values are independent.
    question : CapacityQuestion
        The people and the amounts.

    Examples
    --------
    >>> import ldpkit
    >>> question = CapacityQuestion([0, 1], [400, 600], 500, "fn", at_most=0.05)
    >>> law = total_law(ldpkit.GRR(2, epsilon=0.8), question)
    >>> round(law.mean, 6), round(law.at_most(500), 8), law.how
    (600.0, 0.00523595, 'lattice')
    """
    points, step, whole = question.points
    law = oracle.joint_law
    if law.noise is not None:
        reports: ReportSum = NoiseSum(question.counts, points, *law.noise)
    elif law.size is None:
        reports = Bits(question.counts, points, float(law.own), float(law.other))
    else:
        reports = Sets(question.counts, points, float(law.own), law.size)
    is_lattice = law.noise is None and question.lattice is not None
    return TotalLaw(reports, (law.own - law.other) / step, question.n * law.other * whole, is_lattice)


def law_at(protocol: str, question: CapacityQuestion) -> Callable[[float], EstimatedTotal]:
    """Return the law of the estimated total as a function of epsilon."""
    make = mechanism_at(protocol, question)

    def law(epsilon: float) -> EstimatedTotal:
        made = make(epsilon)
        if is_frequency(made):
            return total_law(made, question)
        assert is_numeric(made)
        return mean_estimation_law(made, question)

    return law


def mechanism_at(protocol: str, question: CapacityQuestion) -> Callable[[float], Mechanism]:
    """Return the mechanism as a function of epsilon.

    A frequency oracle estimates how many people hold each value, a numeric mechanism
    their mean; the latter gets the interval from the least to the greatest amount.
    """
    kind = single_epsilon_class(protocol)
    domains: dict[str, Any] = {
        FREQUENCY: len(question.amounts),
        NUMERIC: (float(question.amounts.min()), float(question.amounts.max())),
    }
    if kind.kind not in domains:
        raise InvalidParameterError(
            f"{protocol} estimates neither frequencies nor a mean, so no total: see 'ldpkit mechanisms'"
        )
    return lambda epsilon: kind.make(domains[kind.kind], epsilon=epsilon)


def mean_estimation_law(mechanism: NumericMechanism, question: CapacityQuestion) -> NormalTotal:
    """Return the law of the total that is estimated as n times the mean of numeric reports.

    Parameters
    ----------
    mechanism : NumericMechanism
        Where its mean is a line in x, the collector inverts it. Its domain holds all amounts.
    question : CapacityQuestion
        The people and the amounts.

    Examples
    --------
    >>> import ldpkit
    >>> question = CapacityQuestion(range(41), [100] * 41, 80_000, "fn", at_most=0.05)
    >>> law = mean_estimation_law(ldpkit.get("laplace", (0, 40), epsilon=1), question)
    >>> round(law.mean), round(law.variance / 4100)                 # 2 (40 / epsilon)**2
    (82000, 3200)
    """
    held = question.counts > 0
    amounts, counts = question.amounts[held], question.counts[held]
    line = mechanism.line
    slope = 1.0 if line is None else float(line[1])
    bias = counts @ np.asarray(mechanism.bias(amounts), float) if line is None else 0.0
    # Added noise is the same for all amounts, and its variance takes a while.
    at = amounts[:1] if mechanism.can("additive") else amounts
    variance = counts @ np.broadcast_to(mechanism.variance(at), len(amounts)) / slope**2
    return NormalTotal(question.total + float(bias), float(variance))


def _fourier_sum(reports: ReportSum, last: int, start: int, period: int) -> float:
    """Return the probability that an integer sum lies between `start` and `last`.

    The sum modulo `period` has the probabilities that the transform at 2 pi j / period
    gives back; the window is one period, so nothing of it overlaps.
    """
    terms = last - start + 1
    if not 0 < terms < period:
        return float(terms > 0)
    audible = reports.audible(period, -_NEGLIGIBLE)
    total = float(terms)
    for first in range(0, len(audible), _CHUNK):
        j = audible[first : first + _CHUNK]
        angles = j * (2 * np.pi / period)
        logs = reports.cumulants(np.asarray(1j * angles, np.complex128))
        turned = logs.imag - angles * (start + (terms - 1) / 2)
        # sin(angle terms / 2), with the multiple of 2 pi taken off in integers.
        kernel = np.sin(np.pi / period * (j * terms % (2 * period))) / np.sin(angles / 2)
        twice = np.where(2 * j == period, 1.0, 2.0)
        total += float(twice @ (np.exp(logs.real) * np.cos(turned) * kernel))
    return min(max(total / period, 0.0), 1.0)


def chebyshev(law: EstimatedTotal, question: CapacityQuestion) -> float:
    """Return the two-sided bound V / (total - capacity)^2 of the probability of a mistake, at most 1.

    It is valid for every law, and loose. The thesis applies it also where the mistake cannot happen;
    here the question refuses that.

    Examples
    --------
    >>> import ldpkit
    >>> question = CapacityQuestion([0, 1], [400, 600], 500, "fn", at_most=0.05)
    >>> law = total_law(ldpkit.GRR(2, epsilon=0.8), question)
    >>> round(chebyshev(law, question), 6), round(cantelli(law, question), 6)
    (0.148177, 0.129054)
    """
    gap = question.total - question.capacity
    return min(1.0, law.variance / gap**2) if gap else 1.0


def cantelli(law: EstimatedTotal, question: CapacityQuestion) -> float:
    """Return the one-sided bound V / (V + (total - capacity)^2): a mistake lies on one side only."""
    gap = question.total - question.capacity
    return law.variance / (law.variance + gap**2)
