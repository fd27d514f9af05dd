"""Budgets for means of numbers: how exact a mean is, and the epsilon that makes it exact enough.

The standard error of a mean of n unbiased reports is at most the mechanism's worst one
over the square root of n, whatever the values are, and the mean of many reports is
normal. So no simulation is needed: an epsilon is found by bisection.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

from ldpkit.core.checks import LARGEST_EPSILON, SMALLEST_EPSILON, check_epsilon, check_fraction, check_whole
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.interval import IntervalDomain
from ldpkit.mechanisms.base import MECHANISMS, get
from ldpkit.mechanisms.numeric.mechanism import NumericMechanism

__all__ = ["MeanOption", "mean_options", "smallest_epsilon", "unbiased_mechanisms"]

_STEPS = 24


@dataclass(frozen=True)
class MeanOption:
    """One mechanism for a mean.

    Parameters
    ----------
    mechanism : str
        Its name.
    epsilon : float
        The budget.
    stderr : float
        The largest standard error of the mean, over all values that people may hold.
    within : float
        The mean is off by at most this, with the given probability.
    report_bytes : int
        What a device sends.
    """

    mechanism: str
    epsilon: float
    stderr: float
    within: float
    report_bytes: int

    def row(self) -> dict[str, Any]:
        """Return the record for a table or a file."""
        return dict(self.__dict__)


def unbiased_mechanisms() -> list[str]:
    """Return the numeric mechanisms whose reports are unbiased and that need only an epsilon.

    Examples
    --------
    >>> {"duchi", "hm", "laplace", "pm"} <= set(unbiased_mechanisms())
    True
    """
    unit = IntervalDomain(-1.0, 1.0)
    return [
        name
        for name, kind in MECHANISMS.items()
        if issubclass(kind, NumericMechanism) and name != "aaa" and _is_unbiased(get(name, unit, epsilon=1.0))
    ]


def mean_options(
    domain: IntervalDomain,
    n: int,
    *,
    epsilon: float | None = None,
    within: float | None = None,
    probability: float = 0.95,
) -> list[MeanOption]:
    """Rank the unbiased mechanisms, by error at an epsilon or by the epsilon that an error needs.

    Parameters
    ----------
    domain : IntervalDomain
        Where the values lie.
    n : int
        The number of people.
    epsilon : float, optional
        The budget. Give this or `within`.
    within : float, optional
        How far off the mean may be, in the unit of the values.
    probability : float
        With which probability it must not be further off.

    Examples
    --------
    >>> best = mean_options(IntervalDomain(0.0, 1.0), 100_000, within=0.01)[0]
    >>> best.mechanism, round(best.epsilon, 2)
    ('hm', 0.64)
    """
    if (epsilon is None) == (within is None):
        raise InvalidInputError("give either an epsilon or how far off the mean may be, not both or none")
    people = check_whole(n, "n")
    reach = NormalDist().inv_cdf(0.5 + check_fraction(probability, "probability") / 2)
    options = []
    for name in unbiased_mechanisms():
        budget = check_epsilon(epsilon) if epsilon is not None else None
        if budget is None and within is not None:
            budget = smallest_epsilon(name, domain, people, within / reach)
        if budget is None:
            continue
        mechanism = get(name, domain, epsilon=budget)
        stderr = math.sqrt(_worst_variance(mechanism) / people)
        options.append(MeanOption(name, budget, stderr, reach * stderr, mechanism.report_bytes))
    if not options:
        raise InvalidInputError(
            f"no mechanism gives a mean within {within:g} from {people} people at any epsilon up to "
            f"{LARGEST_EPSILON:g}: ask more people or want less"
        )
    return sorted(options, key=lambda each: (each.epsilon, each.stderr))


def smallest_epsilon(name: str, domain: IntervalDomain, n: int, stderr: float) -> float | None:
    """Return the smallest epsilon whose mean has at most that standard error, or None."""
    if not stderr > 0 or not math.isfinite(stderr):
        raise InvalidParameterError(f"the error that is allowed must be positive and finite, got {stderr:g}")

    def is_enough(epsilon: float) -> bool:
        return math.sqrt(_worst_variance(get(name, domain, epsilon=epsilon)) / n) <= stderr

    if not is_enough(LARGEST_EPSILON):
        return None
    low, high = SMALLEST_EPSILON, LARGEST_EPSILON
    for _ in range(_STEPS):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _worst_variance(mechanism: NumericMechanism) -> float:
    """Return the largest variance of a report: a parabola over the values has it at an end or the middle."""
    return max(float(mechanism.variance(x)) for x in _ends_and_middle(mechanism))


def _is_unbiased(mechanism: NumericMechanism) -> bool:
    return all(abs(float(mechanism.bias(x))) < 1e-9 for x in _ends_and_middle(mechanism))


def _ends_and_middle(mechanism: NumericMechanism) -> tuple[float, float, float]:
    low, high = mechanism.domain.low, mechanism.domain.high
    return low, (low + high) / 2, high
