"""Random bytes that bring a sampler to both sides of its turns.

Where the reports of two words differ, halving finds two neighbouring words between them whose
reports differ too: both sides of a threshold, of the edge of a window or of the last cell, without
knowing anything about the form. Ties and rejections are brought about by bytes that cause them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from ldpkit.core.random import RandomSource

__all__ = ["Draw", "special_bytes", "turns"]

Draw = Callable[[bytes], bytes]
"""From the random bytes to a report; what is missing behind the given bytes is made up."""

_LAST = (1 << 64) - 1
_WORDS = {  # where the words of a form stand among its random bytes
    "hashing": (8, 16),  # behind a and b of 4 or of 8 bytes
    "noise": (0, 8),
    "pair": (0, 8),
    "unary": (),
    "chained_unary": (),
    "bitflip": (),
}
_HALVINGS = 5


def turns(draw: Draw, form: str, source: RandomSource) -> Iterator[bytes]:
    """Yield the bytes on both sides of some turns of a sampler, and with the first and the last word."""
    for at in _WORDS.get(form, (0,)):
        before, behind = source.bytes(at).tobytes(), source.bytes(8).tobytes()

        def given(word: int, before: bytes = before, behind: bytes = behind) -> bytes:
            return before + word.to_bytes(8, "little") + behind

        words = sorted({0, _LAST, *(int(word) for word in source.words(_HALVINGS))})
        yield from (given(word) for word in (0, 1, _LAST - 1, _LAST))
        for low, high in pairwise(words):
            if draw(given(low)) != draw(given(high)):
                yield from map(given, _between(lambda word: draw(given(word)), low, high))


def _between(report: Callable[[int], bytes], low: int, high: int) -> tuple[int, int]:
    """Return two neighbouring words between two, whose reports differ."""
    first = report(low)
    while high - low > 1:
        middle = (low + high) // 2
        if report(middle) == first:
            low = middle
        else:
            high = middle
    return low, high


def special_bytes(form: Mapping[str, Any], stage: str, source: RandomSource) -> Iterator[bytes]:
    """Yield bytes with ties of bits and with rejected draws, for forms that know them."""
    name = form["form"]
    if name in ("unary", "bitflip") and stage in ("draw", "permanent"):
        count = form["size"] if name == "unary" else form["d"] + 1
        yield from _ties(count, [int(form["own"]), int(form["other"])], source)
    if name == "chained_unary" and stage in ("permanent", "instant"):
        thresholds = form["first" if stage == "permanent" else "second"]
        yield from _ties(form["size"], [int(each) for each in thresholds.values()], source)
    if name == "subset" or (name == "bitflip" and stage == "coins" and form["d"] < form["size"]):
        yield from _rejections(form["omega" if name == "subset" else "d"], source)
    if name == "table":
        yield from (source.bytes(8).tobytes() + coin for coin in (bytes(4), b"\xff" * 4, b"\0\0\1\0"))


def _ties(count: int, thresholds: list[int], source: RandomSource) -> Iterator[bytes]:
    """Yield bytes of which some or all equal the first byte of a threshold, and words that settle it."""
    for threshold in thresholds:
        rest = (threshold & (1 << 56) - 1) << 8
        around = [word % (1 << 64) for word in (rest - 1, rest, rest + 255, rest + 256)]
        settle = b"".join(word.to_bytes(8, "little") for word in around)
        top = bytes([threshold >> 56])
        yield top * count + settle * (count // 4 + 1)
        yield (
            bytes([(threshold >> 56) - 1 & 255])
            + top
            + source.bytes(count - 2).tobytes()
            + settle[8:] * count
        )
        yield top + source.bytes(count - 1).tobytes() + settle * count


def _rejections(count: int, source: RandomSource) -> Iterator[bytes]:
    """Yield bytes whose draws of 32 bits are rejected once or twice, where any can be."""
    for word in (bytes(8), b"\xff" * 8):
        yield word + bytes(4 * count) + source.bytes(4 * count).tobytes()
        yield word + bytes(8 * count) + source.bytes(4 * count).tobytes()
        yield word + b"\xff" * (4 * count)
        some = bytearray(source.bytes(4 * count).tobytes())
        some[:4] = bytes(4)
        yield word + bytes(some) + bytes(4) + source.bytes(8).tobytes()
