"""The exact method: the probability of a right decision is known, so epsilon is a root."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from statistics import NormalDist

from ldpkit.planning.capacity.question import CapacityQuestion
from ldpkit.planning.laws.totals import EstimatedTotal, TotalLaw, law_at
from ldpkit.planning.plan import Plan, Trial, check_range
from ldpkit.planning.searches.roots import find_root

__all__ = ["EPSILON_MAX", "EPSILON_MIN", "exact"]

EPSILON_MIN, EPSILON_MAX = 0.001, 10.0
"""The range of the thesis."""

_PRECISION = 1e-6
_RAREST = 1e-15
_NORMAL = NormalDist()


def exact(
    question: CapacityQuestion,
    protocol: str,
    *,
    epsilon_min: float = EPSILON_MIN,
    epsilon_max: float = EPSILON_MAX,
) -> Plan:
    """Return the epsilon at which the exact probability of a right decision reaches the wanted one.

    Where the number of buckets or the size of a set changes with epsilon, and where
    few people make few different totals, the probability is a curve with steps. The
    answer then satisfies the constraint and stands next to one that does not.

    Parameters
    ----------
    question : CapacityQuestion
        What is asked.
    protocol : str
        A frequency oracle, or a numeric mechanism for the total as n times the mean.
    epsilon_min, epsilon_max : float
        The range to look in.

    Examples
    --------
    >>> question = CapacityQuestion(range(41), [100] * 41, 70_000, "fn", at_most=0.05)
    >>> plan = exact(question, "grr")
    >>> round(plan.epsilon, 3), round(1 - plan.probability, 4), plan.simulations
    (1.745, 0.0499, 0)
    >>> exact(question, "grr", epsilon_max=1).feasible
    False
    """
    begin = time.perf_counter()
    low, high = check_range(epsilon_min, epsilon_max)
    law = law_at(protocol, question)
    tried: dict[float, Trial] = {}

    def right(epsilon: float) -> float:
        if epsilon not in tried:
            probability = question.right(law(epsilon).at_most(question.capacity))
            tried[epsilon] = Trial(epsilon, probability, 0, question.satisfied(probability))
        return tried[epsilon].probability

    at_most, note = right(high), _how(law, high)
    epsilon: float | None
    if not question.satisfied(at_most):
        epsilon, probability = None, at_most
    elif _may_hold(question, law(low)) and question.satisfied(probability := right(low)):
        epsilon, note = low, "the smallest epsilon allowed satisfies the constraint already"
    else:
        epsilon = _root(question, law, right, low, high)
        probability = right(epsilon)
    seconds = time.perf_counter() - begin
    return Plan(
        "exact", protocol, str(question), question.wanted, epsilon, probability,
        None, None, tuple(tried.values()), 0, seconds, note=note,
    )  # fmt: skip


def _root(
    question: CapacityQuestion,
    law: Callable[[float], EstimatedTotal],
    right: Callable[[float], float],
    low: float,
    high: float,
) -> float:
    """Return an epsilon that satisfies the constraint, next to one that does not."""

    def excess(log_epsilon: float) -> float:
        # In normal quantiles and logarithms the curve is almost straight.
        probability = min(max(right(math.exp(log_epsilon)), _RAREST), 1 - _RAREST)
        return _NORMAL.inv_cdf(probability) - _NORMAL.inv_cdf(question.wanted)

    guess, factor = _normal_guess(question, law, low, high), 1.001
    below, above = max(low, guess / factor), min(high, guess * factor)
    while below > low and question.satisfied(right(below)):
        above, factor = below, factor**4
        below = max(low, below / factor)
    while above < high and not question.satisfied(right(above)):
        below, factor = above, factor**4
        above = min(high, above * factor)
    if question.satisfied(right(below)) or not question.satisfied(right(above)):
        return above  # the curve has steps, and the loops met one
    root = math.exp(find_root(excess, math.log(below), math.log(above), _PRECISION))
    step = _PRECISION
    while not question.satisfied(right(root)):
        root, step = min(root + step, above), 2 * step
    return root


def _normal_guess(
    question: CapacityQuestion,
    law: Callable[[float], EstimatedTotal],
    low: float,
    high: float,
) -> float:
    """Return about where a normal law with the exact moments satisfies the constraint."""
    needed = _NORMAL.inv_cdf(question.wanted)

    def excess(log_epsilon: float) -> float:
        quantile = _normal_quantile(question, law(math.exp(log_epsilon)))
        return math.log(max(quantile, _RAREST) / needed)

    ends = math.log(low), math.log(high)
    if needed <= 0 or excess(ends[0]) >= 0 or excess(ends[1]) <= 0:
        return math.sqrt(low * high)
    return math.exp(find_root(excess, *ends, 1e-4))


def _may_hold(question: CapacityQuestion, law: EstimatedTotal) -> bool:
    """Return whether the normal law is near enough to the constraint to make the exact one worth a look."""
    return _NORMAL.cdf(_normal_quantile(question, law)) > question.wanted - 0.05


def _normal_quantile(question: CapacityQuestion, law: EstimatedTotal) -> float:
    """Return how far the mean estimate lies on the right side of the capacity, in standard errors."""
    gap = (law.mean - question.capacity) / math.sqrt(law.variance)
    return gap if question.exceeds else -gap


def _how(law: Callable[[float], EstimatedTotal], epsilon: float) -> str:
    made = law(epsilon)
    how = made.how if isinstance(made, TotalLaw) else "normal"
    return "" if how == "lattice" else f"probabilities by the {how} approximation"
