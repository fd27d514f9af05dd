"""Parquet files from nothing: pages and footers that no writer makes, with numbers that lie."""

from __future__ import annotations

import random
from typing import Any

from files import parquetforging as forge

__all__ = ["forged_parquet"]

_NUMBERS = (
    0,
    1,
    2,
    8,
    31,
    100,
    4096,
    1 << 16,
    1 << 20,
    1 << 27,
    1 << 28,
    (1 << 31) - 1,
    1 << 31,
    -1,
    -(1 << 31),
)
_KINDS = (0, 1, 2, 3, 4, 5, 6, 6, 6, 7, 7)


def forged_parquet(rng: random.Random) -> bytes:
    """Return a small file of one or two columns."""
    kind, rows = rng.choice(_KINDS), rng.choice((1, 1, 3, 100, 4000, _lie(rng, 1 << 24)))
    length = _lie(rng, 4) if kind == forge.FIXED else 0
    about = forge.column(
        "v", kind, length=max(0, length), optional=rng.random() < 0.4, text=kind == forge.BYTES
    )
    codec = rng.choice((0, 0, forge.BROTLI))
    first = b"" if rng.random() < 0.5 else _keys(rng, codec)
    pages = first + b"".join(_page(rng, codec, rows) for _ in range(rng.choice((1, 1, 2, 5))))
    chunk = forge.chunk(about, pages, _lie(rng, rows), codec=codec, dictionary=len(first))
    more: dict[int, Any] = rng.choice(({}, {}, {6: "parquet-mr version 1.2.8"}, {8: {1: {2: "abcdefgh"}}}))
    group = rng.choice(({}, {}, {2: forge.Long(_lie(rng, 100))}, {6: forge.Long(1 << 31)}))
    return forge.file([about], [chunk], _lie(rng, rows), pages, group=group, more=more)


def _lie(rng: random.Random, truth: int) -> int:
    return truth if rng.random() < 0.8 else rng.choice(_NUMBERS)


def _packed(data: bytes, codec: int) -> bytes:
    import pyarrow

    return bytes(pyarrow.compress(data, "brotli", asbytes=True)) if codec else data


def _keys(rng: random.Random, codec: int) -> bytes:
    number, each = rng.choice((1, 3, 1000)), rng.choice((0, 1, 8, 300, 100_000))
    text = b"x" * each
    data = (len(text).to_bytes(4, "little") + text) * min(number, 1 + (1 << 20) // (each + 4))
    return forge.keys(_packed(data, codec), _lie(rng, number), unpacks_to=_lie(rng, len(data)))


def _page(rng: random.Random, codec: int, rows: int) -> bytes:
    encoding = rng.choice(
        (forge.PLAIN, forge.RLE, 5, forge.LENGTHS, forge.PREFIXES, forge.KEYS, forge.KEYS, 9)
    )
    data = forge.levels(rng.randrange(2), max(0, _lie(rng, rows))) if rng.random() < 0.4 else b""
    if encoding == forge.KEYS:
        data += b"\1" + forge.runs(0, max(0, _lie(rng, rows)), 1)
    elif encoding in (5, forge.LENGTHS, forge.PREFIXES):
        data += _differences(rng, rows) + _differences(rng, rows) + rng.randbytes(rng.choice((0, 8, 100)))
    else:
        data += bytes(rng.choice((0, 1, 8, 100, 1 << 16, 1 << 22)) if codec else rng.choice((0, 1, 8, 100)))
    packed, values = _packed(data, codec), _lie(rng, rows)
    if rng.random() < 0.3:
        levels = rng.choice((0, 0, 2, -1, 1 << 20))
        sizes = {1: 3, 2: _lie(rng, len(data)), 3: len(packed)}
        told = {1: values, 2: 0, 3: values, 4: encoding, 5: levels, 6: rng.choice((0, 0, 5))}
        return forge.record({**sizes, 8: told}) + packed
    return forge.page(packed, values, encoding, unpacks_to=_lie(rng, len(data)))


def _differences(rng: random.Random, rows: int) -> bytes:
    """Return packed differences, with a block or a few."""
    head = forge.varint(rng.choice((128, 128, 32, 1 << 20, 0))) + forge.varint(rng.choice((4, 4, 1, 0)))
    head += forge.varint(_lie(rng, rows)) + forge.number(_lie(rng, 3))
    width = rng.choice((0, 0, 1, 8, 32, 200))
    block = forge.number(_lie(rng, 0)) + bytes([width] * 4) + rng.randbytes(min(width, 32) * 16)
    return head + block * rng.choice((0, 1, 3))
