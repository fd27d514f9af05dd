"""Ways to draw the coins of a pair without cryptography, each honest about what it shows to whom.

*Open coins*: both partners see both coins. *Dealer*: a helper draws them and sends each
partner its own. In both, everybody then flips its own report once more with a secret
local coin, so that no partner and no dealer learns more than a stated cap, whatever else
they know and whoever they talk to.
"""

from __future__ import annotations

import abc
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ldpkit.core.cached import cached_property
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.exact import WORD, RandomisedResponse, exp_bounds, log_up
from ldpkit.core.parameters import check_epsilon, check_whole
from ldpkit.core.random import RandomSource, resolve
from ldpkit.core.typing import Reports
from ldpkit.mechanisms.joint.table import PairTable

__all__ = ["Coins", "Dealer", "OpenCoins", "PairSampler", "answer"]

Coins = NDArray[np.bool_]
"""Whether each of two partners reports truthfully, shape (pairs, 2)."""


def answer(values: object, truthful: Coins) -> Reports:
    """Return the report of each person: the own bit if truthful, else the other; made on the device.

    Examples
    --------
    >>> answer([0, 1, 1], np.array([True, True, False])).tolist()
    [0, 1, 0]
    """
    bits, coins = np.asarray(values), np.asarray(truthful)
    if bits.shape != coins.shape or coins.dtype != np.bool_:
        raise InvalidInputError(f"there is one coin for each value, got {coins.shape} for {bits.shape}")
    if bits.dtype.kind not in "biu" or not np.isin(bits, (0, 1)).all():
        raise InvalidInputError("coins of a pair are for bits, 0 or 1")
    return np.asarray(bits.astype(np.uint8) ^ ~coins)


class PairSampler(abc.ABC):
    """Something that gives the partners of pairs their coins."""

    @property
    @abc.abstractmethod
    def table(self) -> PairTable:
        """The exact law of who reports truthfully in the end."""

    @abc.abstractmethod
    def draw(self, pairs: int, *, rng: RandomSource | None = None) -> Coins:
        """Return who reports truthfully in so many pairs."""

    @abc.abstractmethod
    def learned(self) -> dict[str, float]:
        """Return by role how much it can learn of a person at most, if it also sees the reports."""

    @property
    @abc.abstractmethod
    def statement(self) -> str:
        """Who must be trusted with what, in a sentence."""


@dataclass(frozen=True)
class _CappedCoins(PairSampler):
    """Coins that never lie both, and a local flip that hides them.

    Parameters
    ----------
    epsilon_alone : float
        The epsilon of one report on its own.
    cap : float
        What whoever sees the coins may learn at most; more than `epsilon_alone`.
    """

    epsilon_alone: float
    cap: float
    shown: ClassVar[str]

    def __post_init__(self) -> None:
        check_epsilon(self.epsilon_alone, "epsilon_alone")
        check_epsilon(self.cap, "cap")
        if self.cap <= self.epsilon_alone:
            raise InvalidParameterError(
                f"the cap {self.cap:g} must exceed epsilon_alone={self.epsilon_alone:g}: at equal numbers "
                "the local flip is all of randomised response, and GRR needs no partner"
            )

    @cached_property
    def flip(self) -> int:
        """The weight over 2**64 of a local flip: 1 / (1 + e^cap), rounded up."""
        return math.ceil(WORD / (1 + exp_bounds(self.cap)[0]))

    @cached_property
    def untruthful(self) -> int:
        """The weight over 2**64 of one untruthful coin, rounded up."""
        wanted, flip = RandomisedResponse(2, self.epsilon_alone).p, Fraction(self.flip, WORD)
        return WORD - math.floor(WORD * (wanted - flip) / (1 - 2 * flip))

    @cached_property
    def table(self) -> PairTable:
        flip, coin = Fraction(self.flip, WORD), Fraction(self.untruthful, WORD)
        untruthful = coin * (1 - flip) + (1 - coin) * flip
        return PairTable(2, 1 - untruthful, untruthful**2 - (1 - 2 * flip) ** 2 * coin**2)

    def coins(self, pairs: int, rng: RandomSource | None = None) -> Coins:
        """Return the coins as they are before anybody flips: what the partners or the dealer see."""
        words = resolve(rng).words(check_whole(pairs, "pairs"))
        keep = np.uint64(WORD - self.untruthful)
        return np.stack([words < keep, ~words < keep], axis=1)

    def draw(self, pairs: int, *, rng: RandomSource | None = None) -> Coins:
        source = resolve(rng)
        coins = self.coins(pairs, source)
        flips = source.words(coins.size).reshape(coins.shape) < np.uint64(self.flip)
        return np.asarray(coins ^ flips)

    def learned(self) -> dict[str, float]:
        most = log_up(Fraction(WORD - self.flip, self.flip))
        return {"collector": self.table.epsilon_alone(), "partner": most, self.shown: most}


@dataclass(frozen=True)
class OpenCoins(_CappedCoins):
    """Both partners see both coins, as by tossing them together; each then flips in secret.

    Examples
    --------
    >>> coins = OpenCoins(epsilon_alone=1, cap=2)
    >>> round(1 + float(coins.table.correlation), 3)       # of RR's variance if all are equal
    0.886
    >>> {role: round(most, 6) for role, most in coins.learned().items()}
    {'collector': 1.0, 'partner': 2.0}
    """

    shown: ClassVar[str] = "partner"

    @property
    def statement(self) -> str:
        """Who must be trusted with what, in a sentence."""
        return (
            "both partners see both coins; what a partner can learn is held down by the local flip alone, "
            f"to epsilon {self.cap:g}, whatever it knows"
        )


@dataclass(frozen=True)
class Dealer(_CappedCoins):
    """A helper sends each partner its own coin and sees no report; each then flips in secret.

    Examples
    --------
    >>> sorted(Dealer(epsilon_alone=1, cap=2).learned())
    ['collector', 'dealer', 'partner']
    """

    shown: ClassVar[str] = "dealer"

    @property
    def statement(self) -> str:
        """Who must be trusted with what, in a sentence."""
        return (
            "a dealer draws the coins and sends each partner its own; should it show them to the collector, "
            f"the local flip still holds what is learned down to epsilon {self.cap:g}"
        )
