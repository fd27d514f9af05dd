"""Parquet files that no writer makes: any footer and any page, in a few bytes."""

from __future__ import annotations

from typing import Any

BOOLEAN, INT64, BYTES, FIXED = 0, 2, 6, 7
PLAIN, RLE, LENGTHS, PREFIXES, KEYS = 0, 3, 6, 7, 8
BROTLI = 4


class Long(int):
    """A number of 64 bits in a record."""


def varint(value: int) -> bytes:
    """Return a number without a sign, as Thrift and packed differences have it."""
    value, data = value & (1 << 64) - 1, bytearray()
    while value > 127:
        data.append(value & 127 | 128)
        value >>= 7
    return bytes([*data, value])


def number(value: int) -> bytes:
    """Return a number with a sign."""
    return varint(value << 1 ^ value >> 63)


def record(fields: dict[int, Any]) -> bytes:
    """Return a record; a tuple is a type and bytes as they are."""
    data, last = b"", 0
    for place, value in fields.items():
        kind, content = _value(value)
        data += bytes([place - last << 4 | kind]) + content
        last = place
    return data + b"\0"


def _value(value: Any) -> tuple[int, bytes]:
    if isinstance(value, tuple):
        return value
    if isinstance(value, int):
        return 6 if isinstance(value, Long) else 5, number(value)
    if isinstance(value, str):
        return 8, varint(len(value)) + value.encode()
    if isinstance(value, dict):
        return 12, record(value)
    kind = _value(value[0])[0]
    return 9, bytes([len(value) << 4 | kind]) + b"".join(_value(each)[1] for each in value)


def runs(value: int, times: int, width: int) -> bytes:
    """Return a value many times, run-length encoded."""
    return varint(times << 1) + value.to_bytes((width + 7) // 8, "little")


def levels(value: int, times: int) -> bytes:
    """Return definition levels: 1 is a value that is there, 0 one that is missing."""
    data = runs(value, times, 1)
    return len(data).to_bytes(4, "little") + data


def page(data: bytes, values: int, encoding: int = PLAIN, *, unpacks_to: int | None = None) -> bytes:
    """Return a page of data."""
    sizes = {1: 0, 2: len(data) if unpacks_to is None else unpacks_to, 3: len(data)}
    return record({**sizes, 5: {1: values, 2: encoding, 3: RLE, 4: RLE}}) + data


def keys(data: bytes, values: int, *, unpacks_to: int | None = None) -> bytes:
    """Return a page with a dictionary."""
    sizes = {1: 2, 2: len(data) if unpacks_to is None else unpacks_to, 3: len(data)}
    return record({**sizes, 7: {1: values, 2: PLAIN}}) + data


def column(
    name: str, kind: int, *, length: int = 0, optional: bool = False, text: bool = False
) -> dict[int, Any]:
    """Return what the schema says of a column."""
    about: dict[int, Any] = {1: kind, **({2: length} if length else {}), 3: int(optional), 4: name}
    return {**about, 6: 0} if text else about


def chunk(
    about: dict[int, Any], pages: bytes, rows: int, *, at: int = 4, codec: int = 0, dictionary: int = 0
) -> dict[int, Any]:
    """Return what the footer says of a column of a row group; a dictionary of so many bytes is first."""
    told = {1: about[1], 2: [PLAIN, RLE], 3: [about[4]], 4: codec, 5: Long(rows), 6: Long(100)}
    places = {7: Long(len(pages)), 9: Long(at + dictionary), **({11: Long(at)} if dictionary else {})}
    return {2: Long(0), 3: {**told, **places}}


def file(
    columns: list[dict[int, Any]],
    chunks: list[dict[int, Any]],
    rows: int,
    pages: bytes,
    *,
    group: dict[int, Any] | None = None,
    more: dict[int, Any] | None = None,
) -> bytes:
    """Return a file of one row group."""
    schema = [{4: "schema", 5: len(columns)}, *columns]
    one = {1: chunks, 2: Long(100), 3: Long(rows), **(group or {})}
    footer = record({1: 1, 2: schema, 3: Long(rows), 4: [one], 6: "x", **(more or {})})
    return b"PAR1" + pages + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def simple(about: dict[int, Any], pages: bytes, rows: int, **options: Any) -> bytes:
    """Return a file of one column."""
    return file([about], [chunk(about, pages, rows, **options)], rows, pages)


_TEXT = column("v", BYTES, text=True)


def _with_dictionary(first: bytes, places: bytes, rows: int) -> bytes:
    data = page(b"\1" + places, rows, KEYS)
    return simple(_TEXT, first + data, rows, dictionary=len(first))


_MANY_LENGTHS = varint(1 << 31) + varint(1) + varint(1 << 28) + bytes(3)
_ONE_LENGTH = varint(128) + varint(4) + varint(1) + bytes(1)
_FIXED = column("v", FIXED, length=(1 << 31) - 1, optional=True)
GREEDY = {
    "lengths": simple(_TEXT, page(_MANY_LENGTHS, 1, LENGTHS), 1),
    "lengths behind those of beginnings": simple(_TEXT, page(_ONE_LENGTH + _MANY_LENGTHS, 1, PREFIXES), 1),
    "a missing value of a fixed length": simple(_FIXED, page(levels(0, 1), 1), 1),
    "keys": _with_dictionary(keys(bytes(4), 1 << 28), runs(0, 1, 1), 1),
    "rows": _with_dictionary(keys(b"\1\0\0\0a", 1), runs(0, 1 << 26, 1), 1 << 26),
}
"""Files of a hundred bytes that once took gigabytes, or seconds."""
