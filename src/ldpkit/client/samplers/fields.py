"""The fields of a form, read from a file that anybody may have written.

Whatever is not exactly as a form must be is refused here, before a random byte is drawn: a
number that wraps around, or weights that do not sum to 2**64, would make reports that give more
away than their ratio says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ldpkit.core.errors import InvalidParameterError

__all__ = ["LARGEST_TABLE", "WORD", "Fields", "index_bytes"]

WORD = 1 << 64
"""How many values a random word has."""

LARGEST_TABLE = 4096
"""How many integers the arrays of a form have together, at most."""

_DIGITS = re.compile("0|[1-9][0-9]{0,19}")


def index_bytes(count: int) -> int:
    """Return how many bytes an index below `count` has on the wire.

    Examples
    --------
    >>> [index_bytes(count) for count in (2, 256, 257, 65536, 65537)]
    [1, 1, 2, 2, 4]
    """
    return next(size for size in (1, 2, 4, 8) if count <= 1 << 8 * size)


class Fields:
    """The fields of one form, of which each must be asked for and none may be left.

    Parameters
    ----------
    form : mapping
        What the file says.
    name : str
        What it is called in messages.

    Examples
    --------
    >>> fields = Fields({"form": "unary", "size": 3, "own": "0x7"}, "unary")
    >>> fields.number("size", 2, 100)
    3
    >>> fields.word("own")
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: the sampler 'unary' cannot be used: own must be decimal \
digits below 2**64 in quotes, got '0x7': get the collection file again, or report it as forged
    """

    def __init__(self, form: Any, name: str) -> None:
        self._name, self._used, self._integers = name, {"form"}, 0
        if not isinstance(form, Mapping):
            self.refuse(f"it must be an object with fields, got {_shown(form)}")
        self._form: Mapping[str, Any] = form

    def refuse(self, why: str) -> None:
        """Refuse the form."""
        raise InvalidParameterError(
            f"the sampler {self._name!r} cannot be used: {why}: get the collection file again, or report it "
            "as forged"
        )

    def require(self, condition: bool, why: str) -> None:
        """Refuse the form unless a condition holds."""
        if not condition:
            self.refuse(why)

    def has(self, name: str) -> bool:
        """Whether the form has an optional field."""
        return name in self._form

    def take(self, name: str) -> Any:
        """Return a field, whatever it is."""
        if name not in self._form:
            self.refuse(f"{name} is missing")
        self._used.add(name)
        return self._form[name]

    def done(self) -> None:
        """Refuse fields that nobody asked for: another version may mean something by them."""
        unknown = sorted(str(each) for each in self._form if each not in self._used)
        if unknown:
            self.refuse(f"it has a field {_shown(unknown[0])} that this version does not know")

    def word(self, name: str) -> int:
        """Return an integer of 64 bits, which is written as a string."""
        return self._word(self.take(name), name)

    def number(self, name: str, least: int, most: int) -> int:
        """Return a size or a count."""
        return self._number(self.take(name), name, least, most)

    def words(self, name: str) -> tuple[int, ...]:
        """Return an array of 64-bit integers."""
        return tuple(self._word(each, name) for each in self._array(self.take(name), name))

    def numbers(self, name: str, least: int, most: int, *, few: int = 0) -> tuple[int, ...]:
        """Return an array of counts: part of a table, or only a few, which do not count as one."""
        array = self._array(self.take(name), name, counted=not few)
        if few and len(array) > few:
            self.refuse(f"{name} has at most {few} numbers, got {len(array)}")
        return tuple(self._number(each, name, least, most) for each in array)

    def rows(self, name: str) -> tuple[tuple[int, ...], ...]:
        """Return an array of arrays of 64-bit integers, all of one length: laws, which sum to 2**64."""
        rows = tuple(
            tuple(self._word(each, name) for each in self._array(row, name))
            for row in self._array(self.take(name), name, counted=False)
        )
        self.require(len(rows) >= 2, f"{name} needs at least two rows, got {len(rows)}")
        self.require(len(rows[0]) >= 2, f"{name} needs rows of at least two weights, got {len(rows[0])}")
        for number, row in enumerate(rows):
            same = len(row) == len(rows[0])
            self.require(same, f"row {number} has {len(row)} weights and row 0 has {len(rows[0])}")
            self.require(min(row) >= 1, f"row {number} has a weight of 0, so some reports give others away")
            self.require(sum(row) == WORD, f"the weights of row {number} do not sum to 2**64")
        return rows

    def power_of_two(self, name: str, least: int, most: int) -> int:
        """Return the steps of a grid."""
        steps = self.number(name, least, most)
        self.require(steps & (steps - 1) == 0, f"{name} must be a power of two, got {steps}")
        return steps

    def part(self, name: str) -> Fields:
        """Return the fields of a part."""
        return Fields(self.take(name), f"{self._name}.{name}")

    def _word(self, text: Any, name: str) -> int:
        if not isinstance(text, str) or not _DIGITS.fullmatch(text) or int(text) >= WORD:
            self.refuse(f"{name} must be decimal digits below 2**64 in quotes, got {_shown(text)}")
        return int(text)

    def _number(self, number: Any, name: str, least: int, most: int) -> int:
        if type(number) is not int or not least <= number <= most:
            self.refuse(f"{name} must be a whole number from {least} to {most}, got {_shown(number)}")
        return int(number)

    def _array(self, array: Any, name: str, *, counted: bool = True) -> Sequence[Any]:
        if not isinstance(array, (list, tuple)) or not array:
            self.refuse(f"{name} must be an array with something in it, got {_shown(array)}")
        self._integers += len(array) if counted else 0
        if max(self._integers, len(array)) > LARGEST_TABLE:
            self.refuse(f"its arrays have more than {LARGEST_TABLE} integers")
        found: Sequence[Any] = array
        return found


def _shown(thing: Any) -> str:
    """Return a short picture of what came from outside, however long or deep it is."""
    if isinstance(thing, (str, int, float)) or thing is None:
        text = repr(thing) if not isinstance(thing, int) or abs(thing) < 1 << 200 else "a huge number"
    else:
        text = f"a {type(thing).__name__}"
    return text if len(text) <= 50 else text[:47] + "..."
