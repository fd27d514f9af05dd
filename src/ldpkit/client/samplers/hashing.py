"""Local hashing: a hash function that the report names, and randomised response on the bucket."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from ldpkit.client.epsilon import Ratio
from ldpkit.client.randomness import Take
from ldpkit.client.samplers.base import Sampler
from ldpkit.client.samplers.fields import Fields, index_bytes
from ldpkit.client.samplers.response import LARGEST_DOMAIN, Round

__all__ = ["HashFamily", "HashingSampler"]

_SMALL_DOMAIN, _SMALL_BUCKETS = 1 << 17, 256
_MOST_BUCKETS = 1 << 32
_ROUNDS = {  # the finalisers of MurmurHash3 and SplitMix64
    32: ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)),
    64: ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)),
}


@dataclass(frozen=True)
class HashFamily:
    """Multiply-shift hashes of some values into buckets, computed in words of 32 or 64 bits."""

    size: int
    buckets: int
    word: int

    @classmethod
    def read(cls, fields: Fields) -> HashFamily:
        """Return the family of some fields, or refuse them."""
        size, buckets = fields.number("size", 2, LARGEST_DOMAIN), fields.number("buckets", 2, _MOST_BUCKETS)
        word = fields.number("word", 32, 64)
        expected = 32 if size <= _SMALL_DOMAIN and buckets <= _SMALL_BUCKETS else 64
        fields.require(word == expected, f"word must be {expected} for so many values and buckets")
        return cls(size, buckets, word)

    @property
    def word_bytes(self) -> int:
        """The length of a multiplier or a shift."""
        return self.word // 8

    @property
    def report_bytes(self) -> int:
        """The length of multiplier, shift and bucket."""
        return 2 * self.word_bytes + index_bytes(self.buckets)

    def bucket(self, function: bytes, value: int) -> int:
        """Return the bucket of a value under the hash function that a report begins with."""
        mask, half, size = (1 << self.word) - 1, self.word // 2, self.word_bytes
        a, b = (int.from_bytes(function[at : at + size], "little") for at in (0, size))
        mixed = value + 1
        for shift, factor in _ROUNDS[self.word]:
            mixed = (mixed ^ mixed >> shift) * factor & mask
        low = (1 << half + 1) - 1
        constant = (mixed & ~low) | value
        return ((a * constant + b & mask) >> half) * self.buckets >> half

    def encode(self, function: bytes, answer: int) -> bytes:
        """Return a report: the hash function and an answer."""
        return function[: 2 * self.word_bytes] + answer.to_bytes(index_bytes(self.buckets), "little")

    def answer(self, report: bytes) -> int:
        """Return the answer in a report."""
        return int.from_bytes(report[2 * self.word_bytes :], "little")


@dataclass(frozen=True)
class HashingSampler(Sampler):
    """Multiplier and shift come first, then the word of the response."""

    form = "hashing"
    family: HashFamily
    response: Round

    @classmethod
    def read(cls, fields: Fields) -> Self:
        family = HashFamily.read(fields)
        return cls(family, Round.read(fields, family.buckets))

    @property
    def places(self) -> tuple[int, ...]:
        return (self.family.size,)

    @property
    def report_bytes(self) -> int:
        return self.family.report_bytes

    def ratio(self) -> Ratio:
        return self.response.ratio

    def _draw(self, place: tuple[int, ...], take: Take) -> bytes:
        function = take(2 * self.family.word_bytes)
        bucket = self.family.bucket(function, place[0])
        return self.family.encode(function, self.response.respond(bucket, take))
