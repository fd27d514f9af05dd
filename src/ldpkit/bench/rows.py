"""The rows of a benchmark, of which only the numbers are kept: a row is made when it is looked at.

A run of many repeats has millions of rows. As an object, each would take 150 bytes; its number takes 8.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, overload

import numpy as np

from ldpkit.core.typing import Floats

__all__ = ["Keys", "Rows"]

Key = tuple[str | int, ...]


class Keys(Sequence[Key]):
    """All combinations of what stands on some axes, the last one changing fastest.

    Parameters
    ----------
    axes : sequence
        What stands on each.
    turned : bool
        Whether a key has the last axis first.

    Examples
    --------
    >>> list(Keys(["none", "norm"], range(2)))
    [('none', 0), ('none', 1), ('norm', 0), ('norm', 1)]
    >>> len(Keys(["none", "norm"], range(10**9)))
    2000000000
    """

    def __init__(self, *axes: Sequence[str | int], turned: bool = False) -> None:
        self._axes, self._step = axes, -1 if turned else 1

    def __len__(self) -> int:
        count = 1
        for axis in self._axes:
            count *= len(axis)
        return count

    def __iter__(self) -> Iterator[Key]:
        # itertools.product would make a tuple of every axis, and repeats are many.
        *before, last = self._axes
        return ((*key, each)[:: self._step] for key in itertools.product(*before) for each in last)

    @overload
    def __getitem__(self, place: int) -> Key: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Key, ...]: ...
    def __getitem__(self, place: int | slice) -> Key | tuple[Key, ...]:
        """Return the combination at a place."""
        if isinstance(place, slice):
            return tuple(self[each] for each in range(len(self))[place])
        rest, key = range(len(self))[place], list[str | int]()
        for axis in reversed(self._axes):
            rest, at = divmod(rest, len(axis))
            key.append(axis[at])
        return tuple(key[:: -self._step])


class Rows(Sequence[Any]):
    """Rows of cells; each has the cell, a key and a value.

    Parameters
    ----------
    make : type
        Makes a row of its fields.
    cell : tuple
        The cell of these rows; `joined` puts cells together.
    keys : sequence of tuple
        What stands between the cell and the value, for each row.
    values : sequence of float
        The values.

    Examples
    --------
    >>> from ldpkit.bench.experiment import Cell, Row
    >>> rows = Rows(Row, Cell(1.0, "grr"), Keys(["none"], ["mae"], range(2)), [0.25, 0.5])
    >>> rows[1].repeat, rows.values.tolist(), len(Rows.joined([rows, rows]))
    (1, [0.25, 0.5], 4)
    """

    def __init__(
        self, make: Any, cell: tuple[Any, ...], keys: Sequence[Key], values: Iterable[float]
    ) -> None:
        found = np.fromiter(values, float)
        if len(found) != len(keys):
            raise ValueError(f"{len(found)} values for {len(keys)} keys")
        found.setflags(write=False)
        self._parts: tuple[tuple[Any, tuple[Any, ...], Sequence[Key], Floats], ...] = (
            (make, cell, keys, found),
        )

    @classmethod
    def joined(cls, several: Iterable[Rows]) -> Rows:
        """Return the rows of several cells, one after the other."""
        made = cls.__new__(cls)
        made._parts = tuple(part for each in several for part in each._parts)
        return made

    @property
    def values(self) -> Floats:
        """The value of each row."""
        return np.concatenate([np.empty(0), *(values for *_, values in self._parts)])

    def __len__(self) -> int:
        return sum(len(values) for *_, values in self._parts)

    def __iter__(self) -> Iterator[Any]:
        for make, cell, keys, values in self._parts:
            for key, value in zip(keys, values, strict=True):
                yield make(*cell, *key, float(value))

    @overload
    def __getitem__(self, place: int) -> Any: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Any, ...]: ...
    def __getitem__(self, place: int | slice) -> Any:
        """Return the row at a place."""
        if isinstance(place, slice):
            return tuple(self[each] for each in range(len(self))[place])
        at = range(len(self))[place]
        for make, cell, keys, values in self._parts:
            if at < len(values):
                return make(*cell, *keys[at], float(values[at]))
            at -= len(values)
        raise IndexError(place)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(one == two for one, two in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # as a list has none

    def __repr__(self) -> str:
        return f"<{len(self)} rows of {len(self._parts)} cells>"
