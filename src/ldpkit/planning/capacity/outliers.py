"""Outliers: count large amounts as a smaller one, and see what that costs.

Rare large amounts enlarge the domain, and noise on them weighs most. Merging all amounts
above a quantile into that quantile makes the estimate quieter and the total too small.
The planner knows by how much and can add it back, as far as the next collection is like
the data that was planned with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.parameters import check_fraction
from ldpkit.planning.capacity.exact import exact
from ldpkit.planning.capacity.question import CapacityQuestion
from ldpkit.planning.laws.totals import law_at
from ldpkit.planning.plan import Plan

__all__ = ["Capped", "OutlierCost", "cap_at_quantile", "outlier_cost"]


@dataclass(frozen=True)
class Capped:
    """A question whose large amounts are counted as `limit`.

    Parameters
    ----------
    question : CapacityQuestion
        The question that is left; its capacity is lowered by `lost` if that is added back.
    limit : float
        The largest amount that is left.
    people : int
        How many people use more than that.
    lost : float
        By how much the total is too small.
    """

    question: CapacityQuestion
    limit: float
    people: int
    lost: float


@dataclass(frozen=True)
class OutlierCost:
    """What capping changes.

    Parameters
    ----------
    capped : Capped
        What was done.
    before, after : Plan
        The exact plans without and with it.
    noise : float
        The standard error with capping, divided by that without, at one epsilon.
    """

    capped: Capped
    before: Plan
    after: Plan
    noise: float


def cap_at_quantile(question: CapacityQuestion, quantile: float, *, compensate: bool = True) -> Capped:
    """Merge all amounts above the quantile of the people into it.

    Parameters
    ----------
    question : CapacityQuestion
        What is asked.
    quantile : float
        The share of people whose amounts stay as they are, such as 0.95.
    compensate : bool
        Whether the lost amount is known and added back to the estimate. If not, the
        estimate is too small, and the decision must bear it.

    Examples
    --------
    >>> question = CapacityQuestion([0, 1, 2, 300], [400, 300, 299, 1], 1000, "fn", at_most=0.1)
    >>> capped = cap_at_quantile(question, 0.99)
    >>> capped.limit, capped.people, capped.lost, capped.question.counts.tolist()
    (2.0, 1, 298.0, [400, 300, 300])
    >>> capped.question.capacity
    702.0
    """
    share = check_fraction(quantile, "quantile")
    order = np.argsort(question.amounts, kind="stable")
    reached = np.cumsum(question.counts[order]) >= share * question.n
    limit = float(question.amounts[order][int(np.argmax(reached))])
    kept = question.amounts <= limit
    if kept.all():
        raise InvalidParameterError(
            f"no amount lies above the {quantile:g} quantile, {limit:g}: choose a smaller one, or do not cap"
        )
    people = int(question.counts[~kept].sum())
    counts = question.counts[kept]
    counts[int(np.argmax(question.amounts[kept] == limit))] += people
    lost = float(question.counts[~kept] @ (question.amounts[~kept] - limit))
    capacity = question.capacity - lost if compensate else question.capacity
    try:
        left = replace(question, amounts=question.amounts[kept], counts=counts, capacity=capacity)
    except InvalidParameterError as error:
        raise InvalidParameterError(
            f"without the {lost:g} above {limit:g} the total lies on the other side of the capacity: "
            f"choose a larger quantile, or add the lost amount back ({error})"
        ) from None
    return Capped(left, limit, people, lost)


def outlier_cost(
    question: CapacityQuestion,
    protocol: str,
    quantile: float,
    *,
    compensate: bool = True,
    plan: Callable[[CapacityQuestion, str], Plan] = exact,
) -> OutlierCost:
    """Return the plans with and without capping at a quantile, and how much quieter the estimate is.

    Examples
    --------
    >>> question = CapacityQuestion(range(81), [100] * 41 + [1] * 40, 80_000, "fn", at_most=0.05)
    >>> cost = outlier_cost(question, "grr", 0.98)
    >>> cost.capped.limit, cost.capped.people, round(cost.noise, 2)
    (40.0, 40, 0.29)
    >>> cost.after.epsilon < cost.before.epsilon
    True
    """
    capped = cap_at_quantile(question, quantile, compensate=compensate)
    before, after = plan(question, protocol), plan(capped.question, protocol)
    epsilon = after.epsilon or before.epsilon or 1.0
    quiet, loud = (law_at(protocol, each)(epsilon).variance for each in (capped.question, question))
    return OutlierCost(capped, before, after, float(np.sqrt(quiet / loud)))
