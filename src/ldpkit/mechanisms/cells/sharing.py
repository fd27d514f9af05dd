"""One budget for two reports: how it is shared, and what both cost together."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.exact import log_product_up
from ldpkit.core.parameters import SMALLEST_EPSILON

__all__ = ["budgets", "product_epsilon", "rest_of"]


def rest_of(epsilon: float, part: float) -> float:
    """Return what a part leaves of a budget, rounded so that both together keep it.

    Examples
    --------
    >>> Fraction(rest_of(0.3, 0.1)) + Fraction(0.1) <= Fraction(0.3)
    True
    """
    rest = epsilon - part
    return float(np.nextafter(rest, 0.0)) if Fraction(rest) + Fraction(part) > Fraction(epsilon) else rest


def budgets(epsilon: float, share: float) -> tuple[float, float]:
    """Return the epsilons of two parts of which the first gets a share; together they keep the budget.

    Examples
    --------
    >>> budgets(4.0, 0.25)
    (1.0, 3.0)
    """
    first = epsilon * share
    second = rest_of(epsilon, first)
    if not min(first, second) >= SMALLEST_EPSILON:
        raise InvalidParameterError(
            f"epsilon={epsilon:g} is for two reports, which need at least {SMALLEST_EPSILON} each, and a "
            f"share of {share:g} leaves them {first:g} and {second:g}"
        )
    return first, second


def product_epsilon(*ratios: Fraction) -> float:
    """Return the epsilon of reports with these largest ratios together, rounded up.

    Examples
    --------
    >>> product_epsilon(Fraction(2), Fraction(1, 2))
    0.0
    """
    whole = Fraction(1)
    for ratio in ratios:
        whole *= ratio
    return log_product_up({whole: 1})
