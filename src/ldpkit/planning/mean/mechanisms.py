"""Budgets for means of numbers: how exact a mean is, and the epsilon that makes it exact enough.

The standard error of a mean of n reports follows from the mechanism's variance: the worst
one, whatever the values are, or that of a stand-in for the people. The mean of many
reports is normal. So no simulation is needed: an epsilon is found as a root.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from ldpkit.core.domains.interval import IntervalDomain
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.numbertext import number_text
from ldpkit.core.parameters import (
    LARGEST_EPSILON,
    SMALLEST_EPSILON,
    check_epsilon,
    check_fraction,
    check_people,
)
from ldpkit.mechanisms.kinds import numeric_class
from ldpkit.planning.mean.variance import Spread, mean_error, report_variance, unbiased_mechanisms
from ldpkit.planning.searches.roots import find_root
from ldpkit.planning.ties import is_equal

__all__ = ["MeanOption", "mean_options", "mean_warnings", "smallest_epsilon", "tied_options"]

TOLERANCE = 1e-6
"""How exactly, relatively, an epsilon is found."""

_LOOKS = np.geomspace(1 / 1.25, 1, 24, endpoint=False)


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
    people = check_people(n)
    check_fraction(probability, "probability")
    options = []
    for name in unbiased_mechanisms():
        budget = check_epsilon(epsilon) if epsilon is not None else None
        if budget is None and within is not None:
            budget = smallest_epsilon(name, domain, people, within, probability)
        if budget is None:
            continue
        mechanism = numeric_class(name).make(domain, epsilon=budget)
        stderr = math.sqrt(report_variance(mechanism) / people)
        error = mean_error(mechanism, people, probability)
        options.append(MeanOption(name, budget, stderr, error, mechanism.report_bytes))
    if not options:
        raise InvalidInputError(
            f"no mechanism gives a mean within {within:g} from {people} people at any epsilon up to "
            f"{LARGEST_EPSILON:g}: ask more people or accept a larger error"
        )
    return sorted(options, key=lambda each: (each.epsilon, each.stderr))


def mean_warnings(domain: IntervalDomain, within: float | None) -> list[str]:
    """Return a warning if a mean may be as far off as one that asks nobody.

    Examples
    --------
    >>> print(*mean_warnings(IntervalDomain(0, 100), 60))
    the bound is so loose that no collection is needed: the middle of the interval, 50, is never further \
off than 50
    >>> mean_warnings(IntervalDomain(0, 100), 0.5)
    []
    """
    half = domain.width / 2
    if within is None or within < half:
        return []
    answer = f"the middle of the interval, {number_text(domain.low + half)},"
    bound = f"is never further off than {number_text(half)}"
    return [f"the bound is so loose that no collection is needed: {answer} {bound}"]


def tied_options(options: Sequence[MeanOption], *, by_epsilon: bool) -> list[MeanOption]:
    """Return the options that cannot be told from the first: equal, or as near as epsilon is looked for.

    Examples
    --------
    >>> ranked = mean_options(IntervalDomain(0, 1), 1000, epsilon=0.5)
    >>> [option.mechanism for option in tied_options(ranked, by_epsilon=False)]
    ['duchi', 'hm']
    """
    if not by_epsilon:
        return [each for each in options if is_equal(each.stderr, options[0].stderr)]
    return [each for each in options if each.epsilon <= options[0].epsilon * (1 + 2 * TOLERANCE)]


def smallest_epsilon(
    name: str,
    domain: IntervalDomain,
    n: int,
    within: float,
    probability: float = 0.95,
    *,
    spread: Spread | None = None,
    least: float = SMALLEST_EPSILON,
    most: float = LARGEST_EPSILON,
    watch: Callable[[float, float], None] = lambda epsilon, error: None,
) -> float | None:
    """Return the smallest epsilon whose mean is exact enough, or None.

    Parameters
    ----------
    name, domain, n
        The mechanism, where the values lie, and how many people there are.
    within, probability : float
        How far off the mean may be, and with which probability it must not be further off.
    spread : Spread, optional
        How the values are spread; by default the answer is for any values.
    least, most : float
        Between these epsilon is looked for.
    watch : callable
        Is told every epsilon that is tried, with how far off the mean is there.
    """
    if not within > 0 or not math.isfinite(within):
        raise InvalidParameterError(f"the error that is allowed must be positive and finite, got {within:g}")

    @cache
    def excess(log_epsilon: float) -> float:
        epsilon = min(max(math.exp(log_epsilon), least), most)
        error = mean_error(numeric_class(name).make(domain, epsilon=epsilon), n, probability, spread)
        watch(epsilon, error)
        return math.log(error / within)

    start, end = math.log(least), math.log(most)
    low, high = _bracket(excess, start, end)
    if low is None:
        return least
    if high is None:
        return None
    root = _root(excess, low, high)
    if spread is not None and not numeric_class(name).can("additive"):
        # With given values the error may jump up where a mechanism changes its kind, as HM's does.
        looks = [root + math.log(look) for look in _LOOKS if root + math.log(look) > start]
        enough = next((index for index, look in enumerate(looks) if excess(look) <= 0), None)
        if enough is not None:
            root = _root(excess, looks[enough - 1] if enough else start, looks[enough])
    return min(math.exp(root), most)


def _bracket(excess: Callable[[float], float], start: float, end: float) -> tuple[float | None, float | None]:
    """Return two places between which a falling function crosses zero, None where it never does so."""
    point = min(max(0.0, start), end)
    here = excess(point)
    sign, limit = (1, end) if here > 0 else (-1, start)
    step = abs(here) + 0.1  # the error is about one over epsilon: this is just past the root
    while point != limit:
        last, point = point, min(max(point + sign * step, start), end)
        if (excess(point) > 0) != (here > 0):
            return (last, point) if sign > 0 else (point, last)
        step *= 2
    return (end, None) if sign > 0 else (None, start)


def _root(excess: Callable[[float], float], low: float, high: float) -> float:
    """Return where a falling function is not above zero for the first time, from its good side."""
    root = find_root(excess, low, high, TOLERANCE / 2)
    return root if excess(root) <= 0 else min(root + TOLERANCE / 2, high)
