"""Interval domains: numbers between two public ends, and the integer grid they stand on.

A number is moved to the nearest of `steps` + 1 evenly spaced points before any
randomness is drawn; all that follows is done in integers. Everything that does not
belong is refused here. Nothing is clipped unless the user asks for it, and then it is
counted and reported.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from ldpkit.core.domains.reals import NARROWEST, WIDEST, RealDomain, as_numbers, check_end, refuse_infinite
from ldpkit.core.errors import InvalidParameterError, OutOfDomainError

if TYPE_CHECKING:
    from ldpkit.core.random import RandomSource
    from ldpkit.core.typing import Counts, Floats, Indices, Values

__all__ = ["GRID", "ClippedWarning", "IntervalDomain", "IntervalLike", "as_interval"]

GRID = 1 << 20
"""The steps between low and high on which values stand: a value moves by less than a millionth."""


class ClippedWarning(UserWarning):
    """Values outside an interval were moved to its ends, as the user asked.

    Examples
    --------
    >>> import warnings, ldpkit
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     _ = ldpkit.PM((0, 10), epsilon=1).privatize([3.0, 12.0], clip=True)
    >>> told[0].category is ldpkit.ClippedWarning
    True
    """


class IntervalDomain(RealDomain):
    """The numbers from low to high, both ends included.

    Parameters
    ----------
    low, high : float
        The ends, between 1e-60 and 1e60 apart. They are public: take them from what is possible,
        not from the data.

    Examples
    --------
    >>> ages = IntervalDomain(0, 120)
    >>> ages.encode([0, 30, 120], steps=4).tolist()
    [0, 1, 4]
    >>> ages.decode([0, 1, 4], steps=4).tolist()
    [0.0, 30.0, 120.0]
    >>> ages.encode([30, 121])
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.OutOfDomainError: value 121.0 at position 1 is not in the interval [0, 120]: \
remove it, widen the interval, or give clip=True to move such values to the nearest end
    """

    __slots__ = ("_high", "_low")
    _low: float
    _high: float
    described = "the interval "
    remedy = "remove it, widen the interval, or give clip=True to move such values to the nearest end"

    def __init__(self, low: float, high: float) -> None:
        ends = [check_end(low, "low"), check_end(high, "high")]
        if not ends[0] < ends[1]:
            raise InvalidParameterError(f"low must be below high, got low={low!r} and high={high!r}")
        width = ends[1] - ends[0]
        if not NARROWEST <= width <= WIDEST:
            raise InvalidParameterError(
                f"the interval from {low!r} to {high!r} is too {'wide' if width > 1 else 'narrow'}: rescale "
                f"the values, so that it is between {NARROWEST:g} and {WIDEST:g} wide"
            )
        if width < 4 * GRID * math.ulp(max(map(abs, ends))):
            raise InvalidParameterError(
                f"the interval from {low!r} to {high!r} is too narrow for its distance from zero: "
                "subtract a constant from the values"
            )
        object.__setattr__(self, "_low", ends[0])
        object.__setattr__(self, "_high", ends[1])

    @property
    def low(self) -> float:
        """The lower end."""
        return self._low

    @property
    def high(self) -> float:
        """The upper end."""
        return self._high

    @property
    def width(self) -> float:
        """The distance between the ends."""
        return self._high - self._low

    def clip(self, values: Values) -> tuple[Floats, int]:
        """Return finite numbers moved into the interval, and how many had to be moved.

        Examples
        --------
        >>> IntervalDomain(0, 1).clip([-3, 0.5, 7])
        (array([0. , 0.5, 1. ]), 2)
        """
        numbers = as_numbers(values)
        finite = np.isfinite(numbers)
        if not finite.all():
            refuse_infinite(numbers, int(np.argmin(finite)))
        outside = int(((numbers < self._low) | (numbers > self._high)).sum())
        return (np.clip(numbers, self._low, self._high) if outside else numbers), outside

    def take(self, values: Values, *, clip: bool = False) -> Floats:
        """Return numbers of the interval, clipped with a warning if asked for, else checked."""
        if not clip:
            return self.check(values)
        numbers, moved = self.clip(values)
        if moved:
            warnings.warn(
                f"{moved} of {len(numbers)} values were outside {self} and were moved to its nearest end",
                ClippedWarning,
                stacklevel=3,
            )
        return numbers

    def encode(self, values: Values, *, steps: int = GRID, clip: bool = False) -> Indices:
        """Return the place of every value on the grid, 0 for low and `steps` for high.

        Parameters
        ----------
        values : array, sequence or column
            Numbers.
        steps : int
            How many steps the grid has.
        clip : bool
            True moves values outside to the nearest end and warns with their number.
        """
        return self.place(self.take(values, clip=clip), steps)

    def place(self, numbers: Floats, steps: int = GRID) -> Indices:
        """Return the nearest grid point of numbers that `take` or `check` let through, in new memory.

        The numbers may be the caller's, which another thread can change after the check;
        the places are tested once more, because kernels find their way by them.
        """
        found = self._nearest(numbers, steps)
        if len(found) and found.max() > steps:
            raise OutOfDomainError(
                f"values changed while they were read, to some outside the interval {self}: "
                "do not write to an array that is being privatized"
            )
        return found

    def decode(self, places: Indices | Counts | Sequence[int], *, steps: int = GRID) -> Floats:
        """Return the numbers that places on the grid stand for; exact at both ends."""
        share = np.asarray(places, np.float64) / steps
        return self._low * (1 - share) + self._high * share

    def to_json(self) -> list[float]:
        """Return the JSON form: the two ends."""
        return [self._low, self._high]

    @classmethod
    def from_json(cls, form: Any) -> Self:
        """Return the interval of a JSON form, or refuse it."""
        if not isinstance(form, list) or len(form) != 2:
            raise InvalidParameterError(
                f"an interval is an array of its two ends, such as [0, 1], got {str(form)[:50]!r}"
            )
        return cls(*form)

    @property
    def short(self) -> str:
        """The domain in the `repr` of a mechanism."""
        return f"({self._low:g}, {self._high:g})"

    def examples(self, most: int, source: RandomSource) -> list[float]:
        """Return numbers to try: both ends, the quarters between them and some at random."""
        inner = np.sort(source.generator().random(most // 4))
        shares = np.unique([0.0, 0.25, 0.5, 0.75, 1.0, *inner])
        return [float(self._low + share * self.width) for share in shares]

    def __str__(self) -> str:
        return f"[{self._low:.15g}, {self._high:.15g}]"

    def __repr__(self) -> str:
        return f"IntervalDomain({self._low:.15g}, {self._high:.15g})"

    def __reduce__(self) -> Any:
        return IntervalDomain, (self._low, self._high)


IntervalLike: TypeAlias = "IntervalDomain | Sequence[float]"
"""An interval, or its two ends."""


def as_interval(domain: IntervalLike) -> IntervalDomain:
    """Return the interval for an interval or its two ends.

    Examples
    --------
    >>> as_interval((-1, 1))
    IntervalDomain(-1, 1)
    """
    if isinstance(domain, IntervalDomain):
        return domain
    if not isinstance(domain, (tuple, list, np.ndarray)) or len(domain) != 2:
        raise InvalidParameterError(f"an interval is given by its two ends, such as (0, 1), got {domain!r}")
    return IntervalDomain(domain[0], domain[1])
