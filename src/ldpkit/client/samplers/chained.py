"""Two rounds: a permanent report that a device keeps, and a report made from it each time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from ldpkit.client.epsilon import Ratio, larger
from ldpkit.client.randomness import Take
from ldpkit.client.samplers.base import MemorySampler, Place
from ldpkit.client.samplers.fields import WORD, Fields, index_bytes
from ldpkit.client.samplers.hashing import HashFamily
from ldpkit.client.samplers.response import LARGEST_DOMAIN, Round
from ldpkit.client.samplers.unary import bit_ratio, one_hot, random_bits, read_thresholds

__all__ = ["ChainedHashing", "ChainedResponseSampler", "ChainedUnary", "TwoRounds"]


@dataclass(frozen=True)
class TwoRounds:
    """Randomised response, and randomised response to that."""

    first: Round
    second: Round

    @classmethod
    def read(cls, fields: Fields, size: int) -> TwoRounds:
        """Return both rounds of some fields, or refuse them."""
        parts = [fields.part(name) for name in ("first", "second")]
        rounds = [Round.read(part, size) for part in parts]
        for part in parts:
            part.done()
        return cls(*rounds)

    @property
    def integers(self) -> tuple[int, ...]:
        """What the label of a permanent report has of them."""
        return self.first.size, self.first.keep, self.first.width, self.second.keep, self.second.width

    @property
    def ratios(self) -> tuple[Ratio, Ratio, Ratio]:
        """The ratios of one report, of the permanent one and of the second round."""
        size, keep, width, again, others = self.integers
        own = keep * again + (size - 1) * width * others
        other = keep * others + width * again + (size - 2) * width * others
        return Ratio(own, other), self.first.ratio, self.second.ratio


@dataclass(frozen=True)
class ChainedResponseSampler(MemorySampler):
    """Randomised response on a kept randomised response."""

    form = "chained_response"
    rounds: TwoRounds

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(TwoRounds.read(fields, fields.number("size", 2, LARGEST_DOMAIN)))

    @property
    def places(self) -> tuple[int, ...]:
        return (self.rounds.first.size,)

    @property
    def states(self) -> int:
        return self.rounds.first.size

    @property
    def report_bytes(self) -> int:
        return index_bytes(self.rounds.first.size)

    def integers(self) -> tuple[int, ...]:
        return self.rounds.integers

    def ratios(self) -> tuple[Ratio, Ratio, Ratio | None]:
        return self.rounds.ratios

    def _permanent(self, coins: bytes, state: int, take: Take) -> bytes:
        return self.rounds.first.respond(state, take).to_bytes(self.report_bytes, "little")

    def _instant(self, permanent: bytes, take: Take) -> bytes:
        kept = self.check_kept_answer(int.from_bytes(permanent, "little"))
        return self.rounds.second.respond(kept, take).to_bytes(self.report_bytes, "little")


@dataclass(frozen=True)
class ChainedHashing(MemorySampler):
    """One hash function for a device's life, and both rounds on the bucket."""

    form = "chained_hashing"
    family: HashFamily
    rounds: TwoRounds

    @classmethod
    def read(cls, fields: Fields) -> Self:
        family = HashFamily.read(fields)
        return cls(family, TwoRounds.read(fields, family.buckets))

    @property
    def places(self) -> tuple[int, ...]:
        return (self.family.size,)

    @property
    def states(self) -> int:
        return self.family.buckets

    @property
    def report_bytes(self) -> int:
        return self.family.report_bytes

    def integers(self) -> tuple[int, ...]:
        return self.family.word, *self.rounds.integers

    def ratios(self) -> tuple[Ratio, Ratio, Ratio | None]:
        return self.rounds.ratios

    def coins(self, take: Take) -> bytes:
        return self.family.encode(take(2 * self.family.word_bytes), 0)

    def state(self, coins: bytes, place: Place) -> int:
        self._check_kept(coins, "coins")
        return self.family.bucket(coins, self.check_place(place)[0])

    def _permanent(self, coins: bytes, state: int, take: Take) -> bytes:
        return self.family.encode(coins, self.rounds.first.respond(state, take))

    def _instant(self, permanent: bytes, take: Take) -> bytes:
        kept = self.check_kept_answer(self.family.answer(permanent))
        return self.family.encode(permanent, self.rounds.second.respond(kept, take))


@dataclass(frozen=True)
class ChainedUnary(MemorySampler):
    """Randomised bits of kept randomised bits."""

    form = "chained_unary"
    size: int
    first: tuple[int, int]
    second: tuple[int, int]

    @classmethod
    def read(cls, fields: Fields) -> Self:
        parts = fields.part("first"), fields.part("second")
        first, second = read_thresholds(parts[0], "own", "other"), read_thresholds(parts[1], "one", "zero")
        for part in parts:
            part.done()
        return cls(fields.number("size", 2, LARGEST_DOMAIN), first, second)

    @property
    def places(self) -> tuple[int, ...]:
        return (self.size,)

    @property
    def states(self) -> int:
        return self.size

    @property
    def report_bytes(self) -> int:
        return (self.size + 7) // 8

    def integers(self) -> tuple[int, ...]:
        return *self.first, *self.second

    def ratios(self) -> tuple[Ratio, Ratio, Ratio | None]:
        one, zero = self.second
        own, other = (bit * one + (WORD - bit) * zero for bit in self.first)
        # Two permanent reports may differ in every bit.
        flipped = larger(Ratio(one, zero), Ratio(WORD - zero, WORD - one))
        return (
            bit_ratio(own, other, WORD * WORD),
            bit_ratio(*self.first),
            Ratio(flipped.num, flipped.den, self.size),
        )

    def _permanent(self, coins: bytes, state: int, take: Take) -> bytes:
        return random_bits(one_hot(state, *self.first), self.size, take)

    def _instant(self, permanent: bytes, take: Take) -> bytes:
        one, zero = self.second
        kept = (one if byte >> place & 1 else zero for byte in permanent for place in range(8))
        return random_bits(kept, self.size, take)
