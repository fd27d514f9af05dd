"""What the pages of a Parquet file unpack to, as the header of each page says.

The end of a Parquet file says how large its parts are, and can say less than is true: a page of some
hundred bytes unpacks to two gigabytes. Arrow takes the memory that the header of a page asks for, so
those headers are read here, before Arrow unpacks anything. They are in the compact protocol of Thrift,
for which Python has no library that leaves out what nobody asked for. Whatever a reader could understand
in two ways is refused.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from ldpkit.core.cached import cached_property
from ldpkit.core.errors import InvalidInputError

__all__ = ["PageSizes", "Unpacked"]

_I32, _I64, _BYTES, _LIST, _SET, _MAP, _STRUCT = 5, 6, 8, 9, 10, 11, 12
_FIXED = {1: 1, 2: 1, 3: 1, 7: 8}  # bytes of a truth value in a list, a small number, and a decimal
_DEEPEST = 32

Wanted: TypeAlias = Mapping[int, Any]
"""Which fields of a record are wanted: the type of a number, or the fields of a record or a list of them."""

_ROW_GROUPS, _COLUMNS, _ABOUT = 4, 1, 3
_VALUES, _PACKED, _DATA_AT, _DICTIONARY_AT = 5, 7, 9, 11
_FOOTER: Wanted = {
    _ROW_GROUPS: {_COLUMNS: {_ABOUT: dict.fromkeys((_VALUES, _PACKED, _DATA_AT, _DICTIONARY_AT), _I64)}}
}
_KIND, _UNPACKS_TO, _IS_PACKED_IN, _FIRST_FORM, _SECOND_FORM = 1, 2, 3, 5, 8
_PAGE: Wanted = {
    **dict.fromkeys((_KIND, _UNPACKS_TO, _IS_PACKED_IN), _I32),
    _FIRST_FORM: {1: _I32, 2: _I32},
    _SECOND_FORM: {1: _I32, 4: _I32},
}
_FORMS = {0: (_FIRST_FORM, 2), 3: (_SECOND_FORM, 4)}  # the kinds of pages of data: their part, its encoding
_BY_LENGTHS = (6, 7)  # encodings of text that begin with the length of every value, packed far more tightly
_LENGTHS = 8  # bytes that Arrow takes for such a length
_LONGEST_HEADER = 1 << 24  # as Arrow has it
_PEEK = 512
_BEHIND = 100  # bytes behind a column in which Arrow looks on, because old writers counted too few


class _DamagedError(Exception):
    """A record is not what it should be."""


class Unpacked(NamedTuple):
    """The bytes of all pages of columns, and what the lengths of all values of one page take."""

    size: int
    lengths: int


class PageSizes:
    """How many bytes columns of an open Parquet file unpack to.

    Parameters
    ----------
    title : str
        What the file is called in a message.
    source : pyarrow.NativeFile
        The file, open for reading.
    metadata : pyarrow.parquet.FileMetaData
        Its end, as Arrow has read it.
    """

    def __init__(self, title: str, source: Any, metadata: Any) -> None:
        self._title, self._source, self._metadata = title, source, metadata

    @cached_property
    def _groups(self) -> Sequence[Sequence[dict[int, int]]]:
        """What the end of the file says of each column of each row group."""
        written = io.BytesIO()
        self._metadata.write_metadata_file(written)  # what Arrow understood, whatever there was to read
        data = written.getvalue()
        try:
            footer = _Record(data, len(b"PAR1")).fields(_FOOTER)
            groups = [[column[_ABOUT] for column in group[_COLUMNS]] for group in footer.get(_ROW_GROUPS, [])]
            packed = [about[_PACKED] for group in groups for about in group]
            if min(packed, default=0) < 0 or sum(packed) > self._source.size():
                raise _DamagedError  # parts that share pages would be read as often as there are such parts
            return groups
        except (_DamagedError, IndexError, KeyError):
            raise self._damaged() from None

    def unpacked(self, group: int, columns: Sequence[int]) -> Unpacked:
        """Return the bytes that some columns of a row group unpack to, headers of pages included."""
        try:
            found = [self._column(self._groups[group][column]) for column in columns]
            return Unpacked(sum(each.size for each in found), sum(each.lengths for each in found))
        except (_DamagedError, LookupError, OSError):
            raise self._damaged() from None

    def _column(self, about: dict[int, int]) -> Unpacked:
        place, first = about[_DATA_AT], about.get(_DICTIONARY_AT, 0)
        if 0 < first < place:
            place = first
        end, left, size, lengths = place + about[_PACKED], about[_VALUES], 0, 0
        while left > 0 and place < end + _BEHIND:
            try:
                page, header = self._page(place)
            except (_DamagedError, KeyError):
                if place < end:
                    raise
                break
            packed, unpacked, values = page[_IS_PACKED_IN], page[_UNPACKS_TO], 0
            if page[_KIND] in _FORMS:
                form, encoding = _FORMS[page[_KIND]]
                values = page[form][1]
                if page[form][encoding] in _BY_LENGTHS:
                    lengths = max(lengths, _LENGTHS * values)
            if min(packed, unpacked, values) < 0:
                raise _DamagedError
            place += header + packed
            size += header + unpacked
            left -= values
        return Unpacked(size, lengths)

    def _page(self, place: int) -> tuple[dict[int, Any], int]:
        """Return the header of the page at a place, and how long it is."""
        length = _PEEK
        while True:
            data = self._source.read_at(length, place)
            record = _Record(data)
            try:
                return record.fields(_PAGE), record.place
            except IndexError:  # it goes on behind what was read
                if len(data) < length or length >= _LONGEST_HEADER:
                    raise _DamagedError from None
                length *= 8

    def _damaged(self) -> InvalidInputError:
        return InvalidInputError(f"{self._title} is damaged: what it says of its pages cannot be read")


class _Record:
    """A record in the compact protocol of Thrift; an IndexError says that the bytes end within it."""

    def __init__(self, data: bytes, place: int = 0) -> None:
        self._data = data
        self.place = place

    def fields(self, wanted: Wanted, depth: int = 0) -> dict[int, Any]:
        """Return the wanted fields of the type that they should have, by number; leave out all others."""
        found, number = dict[int, Any](), 0
        if depth > _DEEPEST:
            raise _DamagedError
        while True:
            head = self._byte()
            kind = head & 15
            if kind == 0:
                return found
            number = number + (head >> 4) if head >> 4 else self._number(16)
            if not 0 < number < 1 << 15:  # readers of 16 bits begin again
                raise _DamagedError
            part = wanted.get(number)
            if part is None or kind not in ((_STRUCT, _LIST) if isinstance(part, Mapping) else (part,)):
                self._skip(kind, depth)
            elif number in found:
                raise _DamagedError
            elif kind == _STRUCT:
                found[number] = self.fields(part, depth + 1)
            elif kind == _LIST:
                length, each = self._list()
                if each != _STRUCT:
                    raise _DamagedError
                found[number] = [self.fields(part, depth + 1) for _ in range(length)]
            else:
                found[number] = self._number(32 if kind == _I32 else 64)

    def _skip(self, kind: int, depth: int, *, is_field: bool = True) -> None:
        if is_field and kind in (1, 2):  # a truth value is its own type
            return
        if kind in _FIXED:
            self._pass(_FIXED[kind])
        elif kind in (4, _I32, _I64):
            self._varint()
        elif kind == _BYTES:
            self._pass(self._varint())
        elif kind == _STRUCT:
            self.fields({}, depth + 1)
        elif kind in (_LIST, _SET):
            length, each = self._list()
            self._skip_all(length, (each,), depth)
        elif kind == _MAP:
            length = self._varint()
            kinds = self._byte() if length else 0
            self._skip_all(length, (kinds >> 4, kinds & 15), depth)
        else:
            raise _DamagedError

    def _skip_all(self, length: int, kinds: Sequence[int], depth: int) -> None:
        if depth > _DEEPEST:
            raise _DamagedError
        for _ in range(length):
            for kind in kinds:
                self._skip(kind, depth + 1, is_field=False)

    def _list(self) -> tuple[int, int]:
        """Return the length of a list and the type of what is in it."""
        head = self._byte()
        return (head >> 4 if head >> 4 < 15 else self._varint()), head & 15

    def _byte(self) -> int:
        value = self._data[self.place]
        self.place += 1
        return value

    def _pass(self, length: int) -> None:
        self.place += length
        if self.place > len(self._data):
            raise IndexError

    def _varint(self, bits: int = 32) -> int:
        value, shift = 0, 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
            if shift > 63:
                raise _DamagedError
        if value >> bits:
            raise _DamagedError
        return value

    def _number(self, bits: int) -> int:
        value = self._varint(bits)
        return value >> 1 ^ -(value & 1)
