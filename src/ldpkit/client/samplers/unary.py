"""Unary encoding: a bit for each value, each randomised on its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Self

from ldpkit.client.epsilon import Ratio
from ldpkit.client.randomness import Take
from ldpkit.client.samplers.base import Sampler, u64
from ldpkit.client.samplers.fields import WORD, Fields
from ldpkit.client.samplers.response import LARGEST_DOMAIN

__all__ = ["UnarySampler", "bit_ratio", "one_hot", "random_bits", "read_thresholds"]

_REST = (1 << 56) - 1


def read_thresholds(fields: Fields, more: str, less: str) -> tuple[int, int]:
    """Return the words for which the bit that is more likely one, and another, is one."""
    high, low = fields.word(more), fields.word(less)
    fields.require(low >= 1, f"{less} must be at least 1, or some reports give others away")
    fields.require(high >= low, f"{more} is less than {less}, so the true bit would be the rarest")
    return high, low


def random_bits(thresholds: Iterable[int], count: int, take: Take) -> bytes:
    """Return packed bits that are one with so many chances in 2**64: a byte each, and a word where it ties.

    Bit j is bit j mod 8 of byte j div 8.
    """
    packed = bytearray((count + 7) // 8)
    for place, (byte, threshold) in enumerate(zip(take(count), thresholds, strict=False)):
        if byte < threshold >> 56 or (byte == threshold >> 56 and u64(take) >> 8 < threshold & _REST):
            packed[place >> 3] |= 1 << (place & 7)
    return bytes(packed)


def one_hot(place: int, own: int, other: int) -> Iterator[int]:
    """Return the thresholds of a value, without end.

    Examples
    --------
    >>> thresholds = one_hot(1, 7, 2)
    >>> [next(thresholds) for _ in range(4)]
    [2, 7, 2, 2]
    """
    return chain(repeat(other, place), (own,), repeat(other))


def bit_ratio(own: int, other: int, whole: int = WORD) -> Ratio:
    """Return the worst ratio of two values, which differ in two bits."""
    return Ratio(own * (whole - other), other * (whole - own))


@dataclass(frozen=True)
class UnarySampler(Sampler):
    """A byte for each value, then a word for each tie in the order of values."""

    form = "unary"
    size: int
    own: int
    other: int

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(fields.number("size", 2, LARGEST_DOMAIN), *read_thresholds(fields, "own", "other"))

    @property
    def places(self) -> tuple[int, ...]:
        return (self.size,)

    @property
    def report_bytes(self) -> int:
        return (self.size + 7) // 8

    def ratio(self) -> Ratio:
        return bit_ratio(self.own, self.other)

    def _draw(self, place: tuple[int, ...], take: Take) -> bytes:
        return random_bits(one_hot(place[0], self.own, self.other), self.size, take)
