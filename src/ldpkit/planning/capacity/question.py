"""The question: values with amounts, a capacity, and how often the decision must be right.

The collector adds up the estimated amounts and says that the capacity is exceeded if the
estimated total lies above it. Whether that is a true or a false positive or negative
depends on the true total, which the planner knows: two of the four outcomes cannot
happen, and the other two have probabilities that sum to one. So every constraint says
the same thing: the decision must be right with at least some probability.
"""

from __future__ import annotations

import enum
import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.parameters import check_counts, check_fraction
from ldpkit.core.typing import Counts, Floats

__all__ = ["CapacityQuestion", "TotalLattice", "Outcome", "as_exact"]

_EVERY_WHOLE = 1 << 53  # below, every whole number is a float of its own
_LARGEST_POINT = 1 << 31  # amounts that need a finer grid are as good as continuous


class Outcome(enum.StrEnum):
    """What a decision turns out to be."""

    TP = "tp"
    """The capacity is exceeded, and the collector says so."""
    FP = "fp"
    """The capacity suffices, and the collector says that it does not."""
    TN = "tn"
    """The capacity suffices, and the collector says so."""
    FN = "fn"
    """The capacity is exceeded, and the collector does not notice."""

    @property
    def words(self) -> str:
        """The outcome in words."""
        truth = "true" if self in (Outcome.TP, Outcome.TN) else "false"
        return f"{truth} {'positive' if self in (Outcome.TP, Outcome.FP) else 'negative'}"

    @property
    def is_mistake(self) -> bool:
        """Whether the decision is wrong."""
        return self in (Outcome.FP, Outcome.FN)

    @property
    def needs_excess(self) -> bool:
        """Whether the outcome happens only if the true total exceeds the capacity."""
        return self in (Outcome.TP, Outcome.FN)


@dataclass(frozen=True)
class TotalLattice:
    """Amounts as whole multiples of a step, exactly."""

    step: Fraction
    points: Counts


@dataclass(frozen=True, eq=False)
class CapacityQuestion:
    """A population, a capacity, and a bound on the probability of an outcome.

    Parameters
    ----------
    amounts : sequence of float
        What a person with each value uses.
    counts : sequence of int
        How many people hold each value.
    capacity : float
        What there is for all of them together.
    outcome : {"tp", "fp", "tn", "fn"}
        What is bounded.
    at_most, at_least : float
        The bound, strictly between 0 and 1: mistakes are bounded from above, right
        decisions from below. Give the one that fits.

    Examples
    --------
    >>> question = CapacityQuestion([0, 1], [400, 600], 500, "fn", at_most=0.05)
    >>> question.total, question.wanted
    (600.0, 0.95)
    >>> print(question)
    probability of a false negative at most 0.05 (total 600, capacity 500)
    >>> CapacityQuestion([0, 1], [900, 100], 500, "fn", at_most=0.05)
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: a false negative cannot happen: the total 100 does not \
exceed the capacity 500, so every epsilon keeps its probability at 0: bound fp or tn, or check the capacity
    """

    amounts: Floats
    counts: Counts
    capacity: float
    outcome: Outcome
    at_most: float | None = None
    at_least: float | None = None

    def __post_init__(self) -> None:
        amounts = _amounts(self.amounts)
        counts = check_counts(self.counts, len(amounts))
        for array in (amounts, counts):
            array.setflags(write=False)
        capacity = _number(self.capacity, "capacity")
        outcome = _outcome(self.outcome)
        fields = {"amounts": amounts, "counts": counts, "capacity": capacity, "outcome": outcome}
        for name, value in fields.items():
            object.__setattr__(self, name, value)
        self._check_bound()
        self._check_side()

    def _check_bound(self) -> None:
        fitting, other = ("at_most", "at_least") if self.outcome.is_mistake else ("at_least", "at_most")
        if (given := getattr(self, other)) is not None:
            side = (
                "a mistake: bound it from above" if self.outcome.is_mistake else "right: bound it from below"
            )
            raise InvalidParameterError(f"a {self.outcome.words} is {side}, {fitting}={given}, not {other}")
        if (bound := getattr(self, fitting)) is None:
            raise InvalidParameterError(
                f"the probability of a {self.outcome.words} needs a bound: give {fitting}"
            )
        object.__setattr__(self, fitting, check_fraction(bound, fitting))

    def _check_side(self) -> None:
        if self.outcome.needs_excess == self.exceeds:
            return
        relation = "exceeds" if self.exceeds else "does not exceed"
        possible = "fn or tp" if self.exceeds else "fp or tn"
        raise InvalidParameterError(
            f"a {self.outcome.words} cannot happen: the total {self.total:,.10g} {relation} the capacity "
            f"{self.capacity:,.10g}, so every epsilon keeps its probability at 0: bound {possible}, "
            "or check the capacity"
        )

    @classmethod
    def right_decision(
        cls,
        amounts: Sequence[float] | Floats,
        counts: Sequence[int] | Counts,
        capacity: float,
        mistake: float,
    ) -> CapacityQuestion:
        """Return the question whose mistake, of whichever kind, has at most some probability."""
        numbers = _amounts(amounts)
        people = check_counts(counts, len(numbers))
        total = _exact_total(_over_one_denominator(numbers), people)
        exceeds = total > as_exact(_number(capacity, "capacity"))
        return cls(numbers, people, capacity, Outcome.FN if exceeds else Outcome.FP, at_most=mistake)

    @property
    def n(self) -> int:
        """The number of people."""
        return int(self.counts.sum())

    @cached_property
    def exact_total(self) -> Fraction:
        """The true total, exactly."""
        return _exact_total(self._exact_amounts, self.counts)

    @cached_property
    def _exact_amounts(self) -> tuple[list[int], int]:
        """The amounts as they were written: whole numbers over one denominator."""
        return _over_one_denominator(self.amounts)

    @property
    def total(self) -> float:
        """The true total (TTC)."""
        return float(self.exact_total)

    @property
    def exceeds(self) -> bool:
        """Whether the true total exceeds the capacity."""
        return self.exact_total > as_exact(self.capacity)

    @property
    def wanted(self) -> float:
        """The least probability of a right decision that satisfies the constraint."""
        return 1 - self.at_most if self.at_most is not None else float(self.at_least or 0.0)

    @property
    def bound(self) -> float:
        """The bound on the probability of the outcome."""
        return self.at_most if self.at_most is not None else float(self.at_least or 0.0)

    def right(self, below: float) -> float:
        """Return the probability of a right decision, from that of an estimate at most the capacity."""
        return 1 - below if self.exceeds else below

    def of_outcome(self, right: float) -> float:
        """Return the probability of the outcome, from that of a right decision."""
        return 1 - right if self.outcome.is_mistake else right

    def satisfied(self, right: float) -> bool:
        """Return whether a probability of right decisions satisfies the constraint."""
        if self.at_most is not None:
            return 1 - right <= self.at_most
        return right >= self.wanted

    @cached_property
    def lattice(self) -> TotalLattice | None:
        """The amounts as multiples of their greatest common step; None if that is too fine to matter."""
        whole, denominator = self._exact_amounts
        common = math.gcd(*whole) or 1
        points = [number // common for number in whole]
        if max(map(abs, points)) > _LARGEST_POINT:
            return None
        return TotalLattice(Fraction(common, denominator), np.array(points, np.int64))

    @cached_property
    def points(self) -> tuple[Floats, Fraction, Fraction]:
        """What each value adds to a sum of reports, their step, and the sum of them all, exactly.

        Multiples of the step if there is one, else the amounts themselves.
        """
        if self.lattice is None:
            numerators, denominator = self._exact_amounts
            return self.amounts, Fraction(1), Fraction(sum(numerators), denominator)
        whole = self.lattice.points
        return whole.astype(np.float64), self.lattice.step, Fraction(sum(whole.tolist()))

    def __str__(self) -> str:
        direction = "at most" if self.outcome.is_mistake else "at least"
        return (
            f"probability of a {self.outcome.words} {direction} {self.bound:g} "
            f"(total {self.total:,.10g}, capacity {self.capacity:,.10g})"
        )


def as_exact(number: float) -> Fraction:
    """Return the decimal number that a float was written as.

    Examples
    --------
    >>> as_exact(0.1)
    Fraction(1, 10)
    """
    value = float(number)
    if value.is_integer() and abs(value) < _EVERY_WHOLE:
        return Fraction(int(value))  # ten times as fast, and most amounts are whole
    return Fraction(repr(value))


def _over_one_denominator(amounts: Floats) -> tuple[list[int], int]:
    """Return whole numbers and what to divide them by for the numbers that amounts were written as."""
    if (np.floor(amounts) == amounts).all() and np.abs(amounts).max() < _EVERY_WHOLE:
        return amounts.astype(np.int64).tolist(), 1  # most are, and a million fractions take seconds
    exact = list(map(as_exact, amounts.tolist()))
    denominator = math.lcm(*(amount.denominator for amount in exact))
    return [amount.numerator * (denominator // amount.denominator) for amount in exact], denominator


def _exact_total(amounts: tuple[list[int], int], counts: Counts) -> Fraction:
    numerators, denominator = amounts
    return Fraction(sum(map(operator.mul, numerators, counts.tolist())), denominator)


def _amounts(amounts: Sequence[float] | Floats) -> Floats:
    try:
        array = np.array(amounts, float)
    except (TypeError, ValueError):
        raise InvalidInputError("amounts must be numbers: what a person with each value uses") from None
    if array.ndim != 1 or len(array) < 2:
        raise InvalidInputError(f"amounts must be a list of at least 2 numbers, got shape {array.shape}")
    if not np.isfinite(array).all():
        position = int(np.argmin(np.isfinite(array)))
        raise InvalidInputError(f"amounts must be finite, got {array[position]} at position {position}")
    if len(np.unique(array)) < 2:
        raise InvalidInputError(f"all amounts are {array[0]:g}: the total is known without asking anybody")
    return array


def _number(value: float, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not math.isfinite(value):
        raise InvalidParameterError(f"{name} must be a finite number, got {value!r}")
    return float(value)


def _outcome(name: str) -> Outcome:
    try:
        return Outcome(str(name).lower())
    except ValueError:
        raise InvalidParameterError(f"the outcome is one of tp, fp, tn and fn, got {name!r}") from None
