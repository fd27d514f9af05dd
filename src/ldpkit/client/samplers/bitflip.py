"""dBitFlipPM: bits for a few buckets that a device has chosen once, kept and sent as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from ldpkit.client.epsilon import Ratio, larger
from ldpkit.client.randomness import Take
from ldpkit.client.samplers.base import MemorySampler, Place
from ldpkit.client.samplers.fields import WORD, Fields, index_bytes
from ldpkit.client.samplers.response import LARGEST_DOMAIN
from ldpkit.client.samplers.subset import choose_others
from ldpkit.client.samplers.unary import bit_ratio, one_hot, random_bits, read_thresholds

__all__ = ["BitFlipSampler"]


@dataclass(frozen=True)
class BitFlipSampler(MemorySampler):
    """The buckets are the coins, and the place of the value among them is the state."""

    form = "bitflip"
    size: int
    d: int
    own: int
    other: int

    @classmethod
    def read(cls, fields: Fields) -> Self:
        size = fields.number("size", 2, LARGEST_DOMAIN)
        d = fields.number("d", 1, min(size, LARGEST_DOMAIN - 1))
        return cls(size, d, *read_thresholds(fields, "own", "other"))

    @property
    def places(self) -> tuple[int, ...]:
        return (self.size,)

    @property
    def states(self) -> int:
        return self.d if self.d == self.size else self.d + 1

    @property
    def _bucket_bytes(self) -> int:
        return 0 if self.d == self.size else self.d * index_bytes(self.size)

    @property
    def report_bytes(self) -> int:
        return self._bucket_bytes + (self.d + 7) // 8

    def integers(self) -> tuple[int, ...]:
        return self.d, self.own, self.other

    def ratios(self) -> tuple[Ratio, Ratio, Ratio | None]:
        # Two bits tell two buckets apart, one bit the only bucket from all others.
        single = larger(Ratio(self.own, self.other), Ratio(WORD - self.other, WORD - self.own))
        worst = single if self.d == 1 else bit_ratio(self.own, self.other)
        return worst, worst, None

    def coins(self, take: Take) -> bytes:
        if self.d == self.size:
            return bytes(self.report_bytes)
        take(8)  # the word that says whether a set holds its own value; here there is none
        chosen = sorted(choose_others(self.size + 1, self.d, self.size, False, take))
        each = index_bytes(self.size)
        return b"".join(bucket.to_bytes(each, "little") for bucket in chosen) + bytes((self.d + 7) // 8)

    def state(self, coins: bytes, place: Place) -> int:
        self._check_kept(coins, "coins")
        value = self.check_place(place)[0]
        if self.d == self.size:
            return value
        each = index_bytes(self.size)
        own = value.to_bytes(each, "little")
        found = (at for at in range(self.d) if coins[at * each : (at + 1) * each] == own)
        return next(found, self.d)

    def _permanent(self, coins: bytes, state: int, take: Take) -> bytes:
        # One bit more, for 'none of these', is drawn and not sent.
        bits = bytearray(random_bits(one_hot(state, self.own, self.other), self.d + 1, take))
        bits[self.d >> 3] &= (1 << (self.d & 7)) - 1
        return coins[: self._bucket_bytes] + bytes(bits[: (self.d + 7) // 8])

    def _instant(self, permanent: bytes, take: Take) -> bytes:
        return permanent
