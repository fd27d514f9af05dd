"""Declared parameters: what a mechanism takes besides its domain, written down once.

A declaration has a name, a type, a range, a default and a line of help. The command line
parses by it, files and Python values are checked by it, and lists and help texts show it,
so nothing has to inspect a constructor to learn what it takes. Below are the checks of values that
are not declared and that more than one room needs, columns of values among them.
"""

from __future__ import annotations

import enum
import math
import operator
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, SupportsFloat, SupportsIndex, TypeAlias

import numpy as np

from ldpkit.core.errors import InvalidInputError, InvalidParameterError, OutOfDomainError
from ldpkit.core.limits import MOST_REPEATS
from ldpkit.core.typing import Counts, Values

__all__ = [
    "EPSILON",
    "EPSILON_1",
    "EPSILON_INF",
    "LARGEST_EPSILON",
    "MOST_PEOPLE",
    "REQUIRED",
    "SMALLEST_EPSILON",
    "Parameter",
    "ParameterValue",
    "as_array",
    "check_counts",
    "check_people",
    "check_epsilon",
    "check_fraction",
    "check_repeats",
    "check_whole",
    "exact_sum",
]

AnyArray: TypeAlias = np.ndarray[Any, Any]
ParameterValue: TypeAlias = float | str
"""What a parameter can be: a number, whole or not, or text."""

SMALLEST_EPSILON = 0.001
LARGEST_EPSILON = 20.0
MOST_PEOPLE = 2.0**62  # what integers of 64 bits hold with room to spare
_MISSING = ("NAType", "NaTType")  # of pandas, which need not be installed
_LONGEST_TEXT = 1000  # of a parameter that may come from a file
_LONGEST_SHOWN = 100  # characters of a bad value in a message


class _Required(enum.Enum):
    REQUIRED = "required"


REQUIRED: Final = _Required.REQUIRED
"""The default of a parameter that has none."""


@dataclass(frozen=True)
class Parameter:
    """What one parameter may be.

    Parameters
    ----------
    name : str
        The attribute of the mechanism, the argument of its constructor, and the word in files.
    type : {float, int, str}
        A number, a whole number or text.
    help : str
        What it means, in a phrase.
    default : optional
        What goes without saying; None if the mechanism chooses. Required if left out.
    least, most : float, optional
        The ends of its range, both included.
    above : float, optional
        A number that it must exceed.
    choices : tuple of str
        The words that text can be; any, if empty.
    reason : str
        Why the range ends where it does, for the message that refuses.
    example : optional
        A value to try the mechanism with, where there is no default; the contract checks do.

    Examples
    --------
    >>> d = Parameter("d", int, "how many buckets a device answers for", default=None, least=1)
    >>> d.required, d.parse("4"), d.check(4)
    (False, 4, 4)
    >>> d.parse("four")
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: d must be a whole number, got 'four'
    >>> d.check(0)
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: d must be at least 1, got 0
    """

    name: str
    type: type[float] | type[int] | type[str] = float
    help: str = ""
    default: ParameterValue | Literal[_Required.REQUIRED] | None = REQUIRED
    least: float | None = None
    most: float | None = None
    above: float | None = None
    choices: tuple[str, ...] = ()
    reason: str = ""
    example: ParameterValue | None = None

    def __post_init__(self) -> None:
        if self.type not in (float, int, str):
            raise InvalidParameterError(f"the type of {self.name} is float, int or str, got {self.type!r}")

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is REQUIRED

    def parse(self, text: str) -> Any:
        """Return the value that a text of the command line stands for, or refuse it."""
        if self.type is str:
            return self.check(text)
        number: float | int
        try:
            number = int(text)
        except ValueError:
            try:
                number = float(text)
            except ValueError:
                raise self._refused(f"must be {self._noun}", repr(text)) from None
            if self.type is int and math.isfinite(number) and number == math.floor(number):
                number = int(number)  # 1e6
        return self.check(number)

    def check(self, value: Any, called: str | None = None) -> Any:
        """Return a value from a file or from Python in the declared type, or refuse it.

        Parameters
        ----------
        value
            The value.
        called : str, optional
            What messages call it instead of its name.
        """
        if called is not None:
            return replace(self, name=called).check(value)
        if self.type is str:
            return self._check_text(value)
        number = self._whole(value) if self.type is int else self._number(value)
        is_below = self.above is not None and not number > self.above
        is_finite = isinstance(number, int) or math.isfinite(number)  # no float holds a very large int
        if self.above == 0 and (is_below or not is_finite):
            raise self._refused("must be positive and finite", str(value))
        if not is_finite:
            raise self._refused("must be finite", str(value))
        if is_below:
            raise self._refused(f"must be above {self.above:g}", str(value))
        low, high = self.least, self.most
        if (low is not None and number < low) or (high is not None and number > high):
            wanted = f"at least {low:g}" if high is None else f"at most {high:g}"
            if low is not None and high is not None:
                wanted = f"between {low:g} and {high:g}"
            reason = f": {self.reason}" if self.reason else ""
            raise self._refused(f"must be {wanted}", str(value), reason)
        return number

    @property
    def _noun(self) -> str:
        return {float: "a number", int: "a whole number", str: "text"}[self.type]

    def _number(self, value: Any) -> float:
        if isinstance(value, (str, bytes, bool, np.bool_)):
            raise self._refused("must be a number", repr(value))
        try:
            return float(value)
        except (TypeError, ValueError):
            raise self._refused("must be a number", repr(value)) from None
        except OverflowError:
            return math.inf

    def _whole(self, value: Any) -> int:
        if isinstance(value, (bool, np.bool_)):
            raise self._refused("must be a whole number", repr(value))
        try:
            return operator.index(value)
        except TypeError:
            raise self._refused("must be a whole number", repr(value)) from None

    def _check_text(self, value: Any) -> str:
        if not isinstance(value, str) or len(value) > _LONGEST_TEXT:
            raise self._refused(f"must be text of at most {_LONGEST_TEXT} characters", repr(value))
        if self.choices and value not in self.choices:
            raise self._refused(f"must be one of {', '.join(self.choices)}", repr(value))
        return value

    def _refused(self, rule: str, shown: str, remedy: str = "") -> InvalidParameterError:
        text = shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}..."
        return InvalidParameterError(f"{self.name} {rule}, got {text}{remedy}")


EPSILON = Parameter(
    "epsilon",
    float,
    "the privacy budget of one report",
    least=SMALLEST_EPSILON,
    most=LARGEST_EPSILON,
    above=0,
    reason="below, reports say nothing; above, they hide nothing",
)
EPSILON_INF = replace(EPSILON, name="epsilon_inf", help="what all reports about one value may cost together")
EPSILON_1 = replace(EPSILON, name="epsilon_1", help="what the first report may cost, less than epsilon_inf")


def check_epsilon(epsilon: SupportsFloat, name: str = "epsilon") -> float:
    """Return a usable epsilon as a float, or refuse it.

    Examples
    --------
    >>> check_epsilon(1)
    1.0
    >>> check_epsilon(-1)
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: epsilon must be positive and finite, got -1
    """
    number: float = EPSILON.check(epsilon, None if name == EPSILON.name else name)
    return number


def check_fraction(value: float, name: str) -> float:
    """Return a number strictly between 0 and 1, or refuse it."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0 < value < 1:
        raise InvalidParameterError(f"{name} must lie strictly between 0 and 1, got {value!r}")
    return float(value)


def check_whole(value: SupportsIndex, name: str, *, least: int = 1) -> int:
    """Return a whole number that is at least `least`, or refuse it."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidParameterError(f"{name} must be a whole number, got {value!r}") from None
    if isinstance(value, bool) or number < least:
        raise InvalidParameterError(f"{name} must be at least {least}, got {value!r}")
    return number


def check_repeats(repeats: SupportsIndex, *, least: int = 1) -> int:
    """Return how many collections to simulate, or refuse more than anybody needs.

    Examples
    --------
    >>> check_repeats(10**18)
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: repeats must be at most 1,000,000
    """
    number = check_whole(repeats, "repeats", least=least)
    if number > MOST_REPEATS:
        raise InvalidParameterError(f"repeats must be at most {MOST_REPEATS:,}")
    return number


def check_people(n: SupportsIndex, name: str = "n", *, least: int = 1) -> int:
    """Return a number of people, or of what they are asked, that 64-bit integers hold with room to spare.

    Examples
    --------
    >>> check_people(10**400)
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: n must be below 2**62
    """
    people = check_whole(n, name, least=least)
    if people >= MOST_PEOPLE:
        raise InvalidParameterError(f"{name} must be below 2**62")
    return people


def check_counts(counts: object, size: int) -> Counts:
    """Return counts of people per value as integers, or refuse them."""
    try:
        array = np.asarray(counts)
    except ValueError:
        raise InvalidInputError("counts must be one list of whole numbers") from None
    if array.shape != (size,):
        raise InvalidInputError(
            f"counts must have one entry for each of {size} values, got shape {array.shape}"
        )
    if array.dtype.kind not in "iuf" or not (np.isfinite(array).all() and (array == np.floor(array)).all()):
        raise InvalidInputError("counts must be whole numbers: they count people")
    if (array < 0).any():
        position = int(np.argmax(array < 0))
        raise InvalidInputError(f"counts must not be negative, got {array[position]} at position {position}")
    people = float(array.sum(dtype=np.float64))
    if people == 0:
        raise InvalidInputError("counts are all zero: there is nobody to ask")
    if people >= MOST_PEOPLE:
        raise InvalidInputError(f"counts sum to {people:.3g}, more than integers hold: scale them down")
    return array.astype(np.int64)


def exact_sum(counts: Counts) -> int:
    """Return the sum of integers of 64 bits, which may be more than such an integer holds.

    Examples
    --------
    >>> exact_sum(np.array([2**62, 2**62, 5])) == 2**63 + 5
    True
    """
    if counts.size == 0:
        return 0
    if max(int(counts.max()), -int(counts.min())) * counts.size < 1 << 63:
        return int(counts.sum())
    return (int((counts >> 32).sum()) << 32) + int((counts & 0xFFFFFFFF).sum())


def as_array(values: Values) -> AnyArray:
    """Return any column of values as a one-dimensional NumPy array.

    pandas, polars and arrow columns are recognised by what they can do (`to_numpy`),
    so that none of these libraries is required.
    """
    if isinstance(values, (str, bytes)):
        raise InvalidInputError(f"values must be a sequence, got the single string {values!r}")
    if isinstance(values, np.ndarray):
        array = values
    elif hasattr(values, "to_numpy"):
        array = _from_column(values)
    elif isinstance(values, Iterable):
        array = _from_items(list(values))
    else:
        raise InvalidInputError(f"values must be a sequence or a column, got {type(values).__name__}")
    # The exact type first: naming np.ma loads it, which takes longer than all the rest here.
    if type(array) is not np.ndarray and isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
        raise InvalidInputError("values are masked in places: drop missing values or give them a label")
    if array.ndim != 1:
        raise InvalidInputError(f"values must be one-dimensional, got shape {array.shape}")
    if array.dtype.kind not in "biufUSO":
        raise InvalidInputError(f"values of type {array.dtype} have no meaning here: give labels or indices")
    if array.dtype.kind == "O":
        array = _from_items(array.tolist())
    return array


def _from_column(column: Any) -> AnyArray:
    try:
        array = column.to_numpy()
    except (TypeError, ValueError):  # arrow asks before it copies
        array = column.to_numpy(zero_copy_only=False)
    return np.asarray(array)


def _from_items(items: list[Any]) -> AnyArray:
    for position, item in enumerate(items):
        if item is None or type(item).__name__ in _MISSING or (isinstance(item, float) and item != item):
            raise InvalidInputError(
                f"value {item!r} at position {position} is missing: drop missing values or give them a label"
            )
        if not isinstance(item, (str, bool, int, float, np.generic)):
            raise InvalidInputError(
                f"value {item!r} at position {position} is a {type(item).__name__}: give labels or indices"
            )
        if isinstance(item, str) and "\0" in item:
            raise OutOfDomainError(f"value {item!r} at position {position} holds a NUL, which no label does")
    if len({str if isinstance(item, (str, np.str_)) else float for item in items}) > 1:
        raise InvalidInputError("values mix text and numbers: give labels or indices, not both")
    array = np.array(items)
    if array.dtype.kind == "f" and any(
        isinstance(item, (int, np.integer)) and item != number
        for item, number in zip(items, array.tolist(), strict=True)
    ):
        return np.array(items, object)  # beyond 2**53 a double is another number
    return array
