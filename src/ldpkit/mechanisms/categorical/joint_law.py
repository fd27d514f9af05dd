"""What one report adds to the counts of all values at once: what laws of totals are made from."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ldpkit.core.typing import Floats

__all__ = ["JointLaw"]


@dataclass(frozen=True, eq=False)
class JointLaw:
    """How a report supports its own value and the others, exactly.

    Parameters
    ----------
    own, other : Fraction
        What a report adds on average to the count of its own value and of any other one.
    size : int or None
        How many values every report supports, uniform but for the own one; None where
        values are supported independently of each other.
    noise : pair of arrays, optional
        Where a report adds noise instead of one or nothing: what it adds to another
        value, and the probabilities. To its own it adds 1 less such a number.

    Examples
    --------
    >>> import ldpkit
    >>> law = ldpkit.GRR(4, epsilon=1).joint_law
    >>> law.size, round(float(law.own), 4)
    (1, 0.4754)
    """

    own: Fraction
    other: Fraction
    size: int | None = None
    noise: tuple[Floats, Floats] | None = None
