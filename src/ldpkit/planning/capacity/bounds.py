"""What the mean and the variance alone say of a wrong decision: Chebyshev and Cantelli.

Both are valid for every law, and loose; the exact law is in `law`. The thesis applies
Chebyshev's bound also where the mistake cannot happen. Here the question refuses that.
"""

from __future__ import annotations

from ldpkit.planning.capacity.question import CapacityQuestion
from ldpkit.planning.laws.totals import EstimatedTotal

__all__ = ["cantelli", "chebyshev"]


def chebyshev(law: EstimatedTotal, question: CapacityQuestion) -> float:
    """Return the two-sided bound V / (total - capacity)^2 of the probability of a mistake, at most 1.

    Examples
    --------
    >>> import ldpkit
    >>> from ldpkit.planning.laws.totals import total_law
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
