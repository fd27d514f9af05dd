"""Records in the compact protocol of Thrift, in which a Parquet file says what it holds.

Python has no library that reads such a record where it stands and leaves out what nobody asked for.
Whatever two readers could understand in two ways is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

__all__ = ["BOOL", "I32", "I64", "DamagedRecordError", "ThriftRecord", "Wanted"]

BOOL, I32, I64 = 1, 5, 6
_FALSE, _I16, _BYTES, _LIST, _SET, _MAP, _STRUCT = 2, 4, 8, 9, 10, 11, 12
_FIXED = {1: 1, 2: 1, 3: 1, 7: 8}  # bytes of a truth value in a list, a small number, and a decimal
_DEEPEST = 32

Wanted: TypeAlias = Mapping[int, Any]
"""Which fields of a record are wanted: the type of a number, or the fields of a record or a list of them."""


class DamagedRecordError(Exception):
    """A record is not what it should be."""


class ThriftRecord:
    """A place in bytes from which records and numbers are read one after the other.

    An IndexError says that the bytes end within one.

    Parameters
    ----------
    data : bytes
        The bytes.
    place : int
        Where to begin.

    Examples
    --------
    >>> record = ThriftRecord(bytes([0x15, 6, 0x16, 8, 0]))       # field 1 is 3, field 2 is 4
    >>> record.fields({1: I32}), record.place
    ({1: 3}, 5)
    """

    def __init__(self, data: bytes, place: int = 0) -> None:
        self._data = data
        self.place = place

    def fields(self, wanted: Wanted, depth: int = 0) -> dict[int, Any]:
        """Return the wanted fields of the type that they should have, by number; leave out all others."""
        found, number = dict[int, Any](), 0
        if depth > _DEEPEST:
            raise DamagedRecordError
        while True:
            head = self._byte()
            kind = head & 15
            if kind == 0:
                return found
            number = number + (head >> 4) if head >> 4 else self.number(16)
            if not 0 < number < 1 << 15:  # readers of 16 bits begin again
                raise DamagedRecordError
            part = wanted.get(number)
            if part is None or kind not in _kinds(part):
                self._skip_value(kind, depth)
            elif number in found:
                raise DamagedRecordError
            elif kind == _STRUCT:
                found[number] = self.fields(part, depth + 1)
            elif kind == _LIST:
                length, each = self._list()
                if each != _STRUCT:
                    raise DamagedRecordError
                found[number] = [self.fields(part, depth + 1) for _ in range(length)]
            elif part == BOOL:
                found[number] = kind == BOOL
            else:
                found[number] = self.number(32 if kind == I32 else 64)

    def skip(self, length: int) -> None:
        """Go on behind so many bytes."""
        self.place += length
        if self.place > len(self._data):
            raise IndexError

    def varint(self, bits: int = 32) -> int:
        """Return a number without a sign that has at most so many bits."""
        value, shift = 0, 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
            if shift > 63:
                raise DamagedRecordError
        if value >> bits:
            raise DamagedRecordError
        return value

    def number(self, bits: int) -> int:
        """Return a number with a sign."""
        value = self.varint(bits)
        return value >> 1 ^ -(value & 1)

    def take(self, length: int) -> bytes:
        """Return so many bytes as they are, and go on behind them."""
        start = self.place
        self.skip(length)
        return self._data[start : self.place]

    def _skip_value(self, kind: int, depth: int, *, is_field: bool = True) -> None:
        if is_field and kind in (BOOL, _FALSE):  # a truth value is its own type
            return
        if kind in _FIXED:
            self.skip(_FIXED[kind])
        elif kind in (_I16, I32, I64):
            self.varint(64 if kind == I64 else 32)
        elif kind == _BYTES:
            self.skip(self.varint())
        elif kind == _STRUCT:
            self.fields({}, depth + 1)
        elif kind in (_LIST, _SET):
            length, each = self._list()
            self._skip_values(length, (each,), depth)
        elif kind == _MAP:
            length = self.varint()
            kinds = self._byte() if length else 0
            self._skip_values(length, (kinds >> 4, kinds & 15), depth)
        else:
            raise DamagedRecordError

    def _skip_values(self, length: int, kinds: Sequence[int], depth: int) -> None:
        if depth > _DEEPEST:
            raise DamagedRecordError
        for _ in range(length):
            for kind in kinds:
                self._skip_value(kind, depth + 1, is_field=False)

    def _list(self) -> tuple[int, int]:
        """Return the length of a list and the type of what is in it."""
        head = self._byte()
        return (head >> 4 if head >> 4 < 15 else self.varint()), head & 15

    def _byte(self) -> int:
        value = self._data[self.place]
        self.place += 1
        return value


def _kinds(part: Any) -> tuple[int, ...]:
    """Return the types that a wanted field may have."""
    if isinstance(part, Mapping):
        return (_STRUCT, _LIST)
    return (BOOL, _FALSE) if part == BOOL else (part,)
