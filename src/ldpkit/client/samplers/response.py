"""Randomised response: the value itself, or any other with equal chance. Also among public sites."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

from ldpkit.client.epsilon import Ratio
from ldpkit.client.randomness import Take
from ldpkit.client.samplers.base import Sampler, u64
from ldpkit.client.samplers.fields import WORD, Fields, index_bytes

__all__ = ["LARGEST_DOMAIN", "Folded", "ResponseSampler", "Round", "SiteSampler", "read_shape"]

LARGEST_DOMAIN = 1 << 26


@dataclass(frozen=True)
class Round:
    """The integers of one round: words below `keep` keep the value, each other one has `width` words."""

    size: int
    keep: int
    width: int

    @classmethod
    def read(cls, fields: Fields, size: int) -> Round:
        """Return the integers of a round over so many values, or refuse them."""
        keep, width = fields.word("keep"), fields.word("width")
        fields.require(width >= 1, "width must be at least 1, or some reports give others away")
        fields.require(keep >= width, "keep is less than width, so the true value would be the rarest")
        fields.require(keep + (size - 1) * width == WORD, "keep + (size - 1) * width is not 2**64")
        return cls(size, keep, width)

    def respond(self, value: int, take: Take) -> int:
        """Return the response to a value."""
        word = u64(take)
        if word < self.keep:
            return value
        piece = (word - self.keep) // self.width
        return piece + (piece >= value)

    @property
    def ratio(self) -> Ratio:
        """The worst ratio of two values."""
        return Ratio(self.keep, self.width)


@dataclass(frozen=True)
class ResponseSampler(Sampler):
    r"""One word chooses the report.

    Examples
    --------
    >>> from ldpkit.client.samplers import read_sampler
    >>> sampler = read_sampler({"form": "response", "size": 2, "keep": str(3 * 2**62), "width": str(2**62)})
    >>> [sampler.draw(1, lambda count, word=word: word.to_bytes(8, "little")) for word in (0, 3 * 2**62)]
    [b'\x01', b'\x00']
    >>> sampler.ratio()[0] / sampler.ratio()[1]
    3.0
    """

    form = "response"
    response: Round

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(Round.read(fields, fields.number("size", 2, LARGEST_DOMAIN)))

    @property
    def places(self) -> tuple[int, ...]:
        return (self.response.size,)

    @property
    def report_bytes(self) -> int:
        return index_bytes(self.response.size)

    def ratio(self) -> Ratio:
        return self.response.ratio

    def _draw(self, place: tuple[int, ...], take: Take) -> bytes:
        return self.response.respond(place[0], take).to_bytes(self.report_bytes, "little")


def read_shape(fields: Fields) -> tuple[int, ...]:
    """Return how many sites there are, or how many columns and rows of them."""
    shape = fields.numbers("shape", 1, LARGEST_DOMAIN, few=2)
    count = math.prod(shape)
    fields.require(2 <= count <= LARGEST_DOMAIN, f"there must be 2 to 2**26 sites, got {count}")
    return shape


@dataclass(frozen=True)
class Folded:
    """Indices as columns and rows, where there are two coordinates."""

    shape: tuple[int, ...]

    def flat(self, place: tuple[int, ...]) -> int:
        """Return the index of a place."""
        return place[0] if len(self.shape) == 1 else place[0] * self.shape[1] + place[1]

    def encode(self, index: int, outputs: int) -> bytes:
        """Return a report: one index below `outputs`, or a column and a row."""
        if len(self.shape) == 1:
            return index.to_bytes(self.length(outputs), "little")
        size = index_bytes(max(self.shape))
        return b"".join(each.to_bytes(size, "little") for each in divmod(index, self.shape[1]))

    def length(self, outputs: int) -> int:
        """Return the length of a report."""
        return index_bytes(outputs) if len(self.shape) == 1 else 2 * index_bytes(max(self.shape))


@dataclass(frozen=True)
class SiteSampler(Sampler):
    """Randomised response among the cells of a grid, or public places."""

    form = "sites"
    sites: Folded
    response: Round

    @classmethod
    def read(cls, fields: Fields) -> Self:
        shape = read_shape(fields)
        return cls(Folded(shape), Round.read(fields, math.prod(shape)))

    @property
    def places(self) -> tuple[int, ...]:
        return self.sites.shape

    @property
    def report_bytes(self) -> int:
        return self.sites.length(self.response.size)

    def ratio(self) -> Ratio:
        return self.response.ratio

    def _draw(self, place: tuple[int, ...], take: Take) -> bytes:
        return self.sites.encode(self.response.respond(self.sites.flat(place), take), self.response.size)
