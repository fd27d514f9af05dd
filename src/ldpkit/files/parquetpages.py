"""What the pages of a Parquet file unpack to, as the header of each page says.

The end of a Parquet file says how large its parts are, and can say less than is true: a page of some
hundred bytes unpacks to two gigabytes. Arrow takes the memory that the header of a page asks for, and
some that the page itself asks for, so both are read here, before Arrow unpacks anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.errors import InvalidInputError
from ldpkit.files.thrift import BOOL, I32, I64, DamagedRecordError, ThriftRecord, Wanted

__all__ = ["PageSizes", "Unpacked"]

_ROW_GROUPS, _COLUMNS, _ABOUT, _SECRET = 4, 1, 3, 8
_CODEC, _VALUES, _PACKED, _DATA_AT, _DICTIONARY_AT = 4, 5, 7, 9, 11
_NUMBERS = (_VALUES, _PACKED, _DATA_AT, _DICTIONARY_AT)
_FOOTER: Wanted = {
    _ROW_GROUPS: {_COLUMNS: {_ABOUT: {_CODEC: I32, **dict.fromkeys(_NUMBERS, I64)}, _SECRET: {}}}
}
_KIND, _UNPACKS_TO, _IS_PACKED_IN, _FIRST_FORM, _KEYS, _SECOND_FORM = 1, 2, 3, 5, 7, 8
_NUMBER, _LEVELS, _OTHER_LEVELS, _IS_PACKED = 1, 5, 6, 7
_PAGE: Wanted = {
    **dict.fromkeys((_KIND, _UNPACKS_TO, _IS_PACKED_IN), I32),
    _FIRST_FORM: {_NUMBER: I32, 2: I32},
    _KEYS: {_NUMBER: I32},
    _SECOND_FORM: {_NUMBER: I32, 4: I32, _LEVELS: I32, _OTHER_LEVELS: I32, _IS_PACKED: BOOL},
}
_DICTIONARY = 2  # the kind of page
_FORMS = {0: (_FIRST_FORM, 2), 3: (_SECOND_FORM, 4)}  # the kinds of pages of data: their part, its encoding
_CODECS = {1: "snappy", 2: "gzip", 4: "brotli", 6: "zstd", 7: "lz4_raw"}
_LENGTHS_FIRST, _PREFIXES_FIRST = 6, 7  # encodings of text that begin with the lengths of all values
_COPIES = 3  # of a page beside the page itself: values in a batch that doubles, and one that is handed on
_FOR_A_KEY, _FOR_A_LENGTH = 24, 8  # bytes that Arrow takes for a value of a dictionary, and for a length
_WIDEST = 32  # bits of a difference of lengths
_LONGEST_BLOCK = 1 << 16  # of such differences; writers put some hundred into one
_LONGEST_HEADER = 1 << 24  # as Arrow has it
_PEEK = 512
_BEHIND = 100  # bytes behind a column in which Arrow looks on, because old writers counted too few
_MAGIC = b"PAR1"


class Unpacked(NamedTuple):
    """What columns of a row group take.

    Parameters
    ----------
    size : int
        The bytes of all pages.
    beside : int
        The bytes that Arrow takes beside them while it reads one page.
    longest : int
        How many bytes of a value may stand in the pages once and be there for many rows.
    """

    size: int
    beside: int
    longest: int


class PageSizes:
    """How many bytes columns of an open Parquet file unpack to.

    Parameters
    ----------
    title : str
        What the file is called in a message.
    source : pyarrow.NativeFile
        The file, open for reading.
    optional : collection of int
        Which columns may have missing values.
    most : int
        The bytes that are allowed for: a page that takes more is not looked into.
    """

    def __init__(self, title: str, source: Any, optional: frozenset[int], most: int) -> None:
        self._title, self._source, self._optional, self._most = title, source, optional, most

    @cached_property
    def _groups(self) -> Sequence[Sequence[dict[int, Any]]]:
        """What the end of the file says of each column of each row group."""
        size = self._source.size()
        length, magic = self._source.read_at(8, size - 8)[:4], self._source.read_at(4, size - 4)
        if magic != _MAGIC:
            raise DamagedRecordError
        length = int.from_bytes(length, "little")
        footer = ThriftRecord(self._source.read_at(length, size - 8 - length)).fields(_FOOTER)
        groups = [group[_COLUMNS] for group in footer.get(_ROW_GROUPS, [])]
        packed = [column[_ABOUT][_PACKED] for group in groups for column in group if _ABOUT in column]
        if min(packed, default=0) < 0 or sum(packed) > size:
            raise DamagedRecordError  # parts that share pages would be read as often as there are such parts
        return groups

    def unpacked(self, group: int, columns: Sequence[int]) -> Unpacked:
        """Return the bytes that some columns of a row group unpack to, headers of pages included."""
        try:
            found = [self._column(self._groups[group][column], column) for column in columns]
        except InvalidInputError:
            raise
        except (DamagedRecordError, LookupError, OSError, ValueError):  # a ValueError is of Arrow
            raise InvalidInputError(
                f"{self._title} is damaged: what it says of its pages cannot be read"
            ) from None
        return Unpacked(
            sum(each.size for each in found),
            sum(each.beside for each in found),
            max((each.longest for each in found), default=0),
        )

    def _column(self, chunk: dict[int, Any], column: int) -> Unpacked:
        if _SECRET in chunk:
            raise InvalidInputError(
                f"{self._title} is encrypted: write the column without encryption, or choose another"
            )
        about = chunk[_ABOUT]
        place, first = about[_DATA_AT], about.get(_DICTIONARY_AT, 0)
        if 0 < first < place:
            place = first
        end, left, size, beside, longest = place + about[_PACKED], about[_VALUES], 0, 0, 0
        while left > 0 and place < end + _BEHIND:
            try:
                page, header = self._page(place)
            except (DamagedRecordError, KeyError):
                if place < end:
                    raise
                break
            packed, unpacked, values = page[_IS_PACKED_IN], page[_UNPACKS_TO], 0
            if min(packed, unpacked) < 0:
                raise DamagedRecordError
            more = _COPIES * unpacked
            if page[_KIND] == _DICTIONARY:
                more += _FOR_A_KEY * max(0, page[_KEYS][_NUMBER])
                longest = max(longest, unpacked)
            elif page[_KIND] in _FORMS:
                form, encoding = _FORMS[page[_KIND]]
                values = page[form][_NUMBER]
                if page[form][encoding] in (_LENGTHS_FIRST, _PREFIXES_FIRST) and more <= self._most:
                    lengths = self._lengths(page, place + header, about[_CODEC], column in self._optional)
                    more += _FOR_A_LENGTH * lengths.number
                    longest = max(longest, lengths.shared)
            if values < 0:
                raise DamagedRecordError
            place += header + packed
            size += header + unpacked
            left -= values
            beside = max(beside, more)
        return Unpacked(size, beside, longest)

    def _page(self, place: int) -> tuple[dict[int, Any], int]:
        """Return the header of the page at a place, and how long it is."""
        length = _PEEK
        while True:
            data = self._source.read_at(length, place)
            record = ThriftRecord(data)
            try:
                return record.fields(_PAGE), record.place
            except IndexError:  # it goes on behind what was read
                if len(data) < length or length >= _LONGEST_HEADER:
                    raise DamagedRecordError from None
                length *= 8

    def _lengths(self, page: dict[int, Any], place: int, codec: int, is_optional: bool) -> _Lengths:
        """Return what a page says of the lengths of its values."""
        data = self._source.read_at(page[_IS_PACKED_IN], place)
        form, encoding = _FORMS[page[_KIND]]
        values, levels = page[form], 0
        if form == _SECOND_FORM:  # levels stand before what is packed
            levels = values.get(_LEVELS, 0) + values.get(_OTHER_LEVELS, 0)
            if min(values.get(_LEVELS, 0), values.get(_OTHER_LEVELS, 0)) < 0:
                raise DamagedRecordError
        data, unpacked = data[levels:], page[_UNPACKS_TO] - levels
        if unpacked < 0:
            raise DamagedRecordError
        if codec != 0 and values.get(_IS_PACKED, True):
            if codec not in _CODECS:
                return _UNKNOWN
            data = _unpack(data, unpacked, _CODECS[codec])
        record = ThriftRecord(data)
        if form == _FIRST_FORM and is_optional:
            record.skip(int.from_bytes(record.take(4), "little"))
        shared = _Lengths(0, 0)
        if values[encoding] == _PREFIXES_FIRST:
            shared = _shared_lengths(record, values[_NUMBER])
        return _Lengths(shared.number + _delta_header(record).total, shared.shared)


class _Lengths(NamedTuple):
    """How many lengths there are, and the most that a value shares with the one before it."""

    number: int
    shared: int


_UNKNOWN = _Lengths(1 << 31, 1 << 31)


class _DeltaHeader(NamedTuple):
    """What packed differences begin with: values in a block, parts of a block, and all values."""

    block: int
    parts: int
    total: int
    first: int


def _unpack(data: bytes, length: int, codec: str) -> bytes:
    import pyarrow

    unpacked: bytes = pyarrow.decompress(data, length, codec=codec, asbytes=True)
    return unpacked


def _delta_header(record: ThriftRecord) -> _DeltaHeader:
    return _DeltaHeader(record.varint(), record.varint(), record.varint(), record.number(64))


def _shared_lengths(record: ThriftRecord, values: int) -> _Lengths:
    """Read packed differences: a block has the least of them, and parts with what each is above it."""
    header = _delta_header(record)
    if header.total > values or header.block > _LONGEST_BLOCK:
        return _UNKNOWN
    each, left = header.block // max(1, header.parts), header.total - 1
    if left > 0 and (header.block % max(1, header.parts) or each == 0 or each % 32):
        raise DamagedRecordError
    last = most = header.first
    while left > 0:
        least = record.number(64)
        for width in record.take(header.parts):
            if left <= 0:
                break
            if width > _WIDEST:
                raise DamagedRecordError
            few = min(each, left)
            if width == 0:  # they are evenly spaced
                last += least * few
                most = max(most, last, last - least * (few - 1))
            else:
                packed = np.frombuffer(record.take(width * each // 8), np.uint8)
                bits = np.unpackbits(packed, bitorder="little").reshape(each, width)[:few]
                lengths = last + np.cumsum(least + bits @ (1 << np.arange(width, dtype=np.int64)))
                last, most = int(lengths[-1]), max(most, int(lengths.max()))
            left -= few
    return _Lengths(header.total, min(max(most, 0), _UNKNOWN.shared))
