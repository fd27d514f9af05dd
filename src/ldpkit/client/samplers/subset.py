"""Subset selection: a random set of values that is likely to hold the true one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from ldpkit.client.epsilon import Ratio
from ldpkit.client.randomness import Take
from ldpkit.client.samplers.base import Sampler, u32, u64
from ldpkit.client.samplers.fields import WORD, Fields, index_bytes
from ldpkit.client.samplers.response import LARGEST_DOMAIN

__all__ = ["SubsetSampler", "bitmap", "choose_others"]

_LOW = (1 << 32) - 1


def choose_others(size: int, count: int, value: int, held: bool, take: Take) -> set[int]:
    """Return so many of the other values, one less if the value itself is held, all sets alike.

    Floyd's algorithm on the size - 1 others; a draw below a bound takes the high half of a product
    and rejects the few low halves that would make it uneven (Lemire 2019). A set that holds the
    value consumes the first draw and does not use it, so all sets consume alike.
    """
    draws = [u32(take) for _ in range(count)]
    chosen: set[int] = set()
    for step, draw in enumerate(draws):
        last = size - 1 - count + step
        product = draw * (last + 1)
        uneven = (1 << 32) % (last + 1)
        while product & _LOW < uneven:
            product = u32(take) * (last + 1)
        if step == 0 and held:
            continue
        found = product >> 32
        place = found + (found >= value)
        chosen.add(last + (last >= value) if place in chosen else place)
    return chosen


def bitmap(values: set[int], size: int) -> bytes:
    """Return a set as a bit for each value."""
    packed = bytearray((size + 7) // 8)
    for value in values:
        packed[value >> 3] |= 1 << (value & 7)
    return bytes(packed)


@dataclass(frozen=True)
class SubsetSampler(Sampler):
    """A word says whether the value is held, 32-bit words choose the others."""

    form = "subset"
    size: int
    omega: int
    threshold: int

    @classmethod
    def read(cls, fields: Fields) -> Self:
        size = fields.number("size", 2, LARGEST_DOMAIN)
        omega, threshold = fields.number("omega", 1, size - 1), fields.word("threshold")
        fields.require(threshold >= 1, "threshold must be at least 1, or some reports give others away")
        likely = threshold * (size - omega) >= (WORD - threshold) * omega
        fields.require(likely, "threshold is so small that the true value would be the rarest")
        return cls(size, omega, threshold)

    @property
    def places(self) -> tuple[int, ...]:
        return (self.size,)

    @property
    def is_bitmap(self) -> bool:
        """Whether a report is a bit for each value; else it lists its values."""
        return self.omega * index_bytes(self.size) >= (self.size + 7) // 8

    @property
    def report_bytes(self) -> int:
        return (self.size + 7) // 8 if self.is_bitmap else self.omega * index_bytes(self.size)

    def ratio(self) -> Ratio:
        held, missed = self.threshold, WORD - self.threshold
        return Ratio(held * (self.size - self.omega), missed * self.omega)

    def _draw(self, place: tuple[int, ...], take: Take) -> bytes:
        held = u64(take) < self.threshold
        chosen = choose_others(self.size, self.omega, place[0], held, take) | ({place[0]} if held else set())
        if self.is_bitmap:
            return bitmap(chosen, self.size)
        size = index_bytes(self.size)
        return b"".join(value.to_bytes(size, "little") for value in sorted(chosen))
