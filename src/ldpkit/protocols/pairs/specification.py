"""The two protocols of the thesis (4.4) as an executable specification, in one process.

Each party is an object that holds its own view and nothing else: what it drew, its own
shares, and the messages it received. Secret comparisons are ideal here, as in the thesis:
a function takes the shares of all parties and hands fresh shares of the answer back.
`mpc` runs the second protocol for real.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.exact import WORD
from ldpkit.core.random import RandomSource

__all__ = ["CoinParty", "GroupingParty", "draw_below", "group_by_keys", "share_coins", "sorting_network"]

Draw = Callable[[], int]
"""A uniform integer below the modulus of the shares."""


def draw_below(source: RandomSource, modulus: int = WORD) -> Draw:
    """Return uniform draws below a power of two, from a source of random words."""
    if modulus < 2 or modulus > WORD or modulus & (modulus - 1):
        raise InvalidParameterError(f"the modulus of shares is a power of two up to 2**64, got {modulus}")
    return lambda: int(source.words(1)[0]) % modulus


# --- correlated coins (4.4.2) ------------------------------------------------------------


@dataclass
class CoinParty:
    """One of two partners: its random number, its shares, what it was sent, and its own coin."""

    number: int
    shares: list[int] = field(default_factory=list)
    received: int | None = None
    coin: int | None = None

    def share_of(self, first: bool, modulus: int) -> int:
        """Return the own share of the first or the second partner's coin.

        It is reduced before it is sent: a number outside the modulus would tell of the other coin.
        """
        below_1, below_2, below_3 = self.shares
        return (below_2 if first else below_1 + below_3 - below_2) % modulus


def share_coins(thresholds: Sequence[int], draw: Draw, *, modulus: int = WORD) -> tuple[CoinParty, CoinParty]:
    """Run the coin protocol of two partners and return both, each with its coin and its view.

    Parameters
    ----------
    thresholds : three ints
        The ends of 'both truthful', 'only the first' and 'only the second', as
        `PairTable.thresholds` has them.
    draw : callable
        Uniform integers below the modulus: the numbers of both, then one share of each comparison.
    modulus : int
        Of the shares and of the sum of both numbers.

    Examples
    --------
    >>> from ldpkit.core import random
    >>> from ldpkit.mechanisms.joint.table import PairTable
    >>> table = PairTable.of_epsilons(2, 1.0, 2.0)
    >>> first, second = share_coins(table.thresholds, draw_below(random.seeded(1)))
    >>> first.coin in (0, 1), second.coin in (0, 1)
    (True, True)
    """
    first, second = CoinParty(draw()), CoinParty(draw())
    for threshold in thresholds:
        for party, share in zip(
            (first, second), _compare(first, second, threshold, draw, modulus), strict=True
        ):
            party.shares.append(share)
    # Selective opening: each sends its share of the other's coin, and nothing else.
    first.received, second.received = second.share_of(True, modulus), first.share_of(False, modulus)
    first.coin = (first.share_of(True, modulus) + first.received) % modulus
    second.coin = (second.share_of(False, modulus) + second.received) % modulus
    return first, second


def _compare(
    first: CoinParty, second: CoinParty, threshold: int, draw: Draw, modulus: int
) -> tuple[int, int]:
    """Return fresh shares of whether the sum of both numbers lies below a threshold: the ideal function."""
    bit = int((first.number + second.number) % modulus < threshold)
    mask = draw()
    return mask, (bit - mask) % modulus


# --- random grouping (4.4.1) -------------------------------------------------------------


@dataclass
class GroupingParty:
    """One person: the secret key, shares of everybody's keys and places, and in the end the partner."""

    name: int
    key: int
    shares: list[tuple[int, int]] = field(default_factory=list)
    partner: int | None = None


def group_by_keys(n: int, draw: Draw, *, modulus: int = WORD) -> list[GroupingParty]:
    """Run the grouping protocol: sort people by secret keys, obliviously, and pair neighbours.

    Equal keys would let the order of names show, so whenever there are any, all keys are
    drawn again. An odd one is left without a partner.

    Parameters
    ----------
    n : int
        How many people, two or more.
    draw : callable
        Uniform integers below the modulus.
    modulus : int
        Of keys and shares; at least n.

    Examples
    --------
    >>> from ldpkit.core import random
    >>> people = group_by_keys(6, draw_below(random.seeded(1)))
    >>> all(people[each.partner].partner == each.name for each in people)
    True
    """
    if n < 2 or modulus < n:
        raise InvalidParameterError(
            f"grouping needs two people or more and as many keys, got {n} and {modulus}"
        )
    while True:
        people = [GroupingParty(name, draw()) for name in range(n)]
        _deal(people, [(each.key, each.name) for each in people], draw, modulus)
        for i, j in sorting_network(n):
            items = _opened(people, modulus)
            if items[i][0] > items[j][0]:
                items[i], items[j] = items[j], items[i]
            _deal(people, items, draw, modulus)  # fresh shares hide whether two were swapped
        order = _opened(people, modulus)
        if len({key for key, _ in order}) == n:  # one opened bit
            break
    for place in range(0, n - 1, 2):
        one, other = order[place][1], order[place + 1][1]
        people[one].partner, people[other].partner = other, one
    return people


def sorting_network(n: int) -> Iterator[tuple[int, int]]:
    """Yield the comparisons of Batcher's odd-even merge sort: the same for all keys.

    Examples
    --------
    >>> list(sorting_network(4))
    [(0, 1), (2, 3), (0, 2), (1, 3), (1, 2)]
    """
    p = 1
    while p < n:
        k = p
        while k >= 1:
            for j in range(k % p, n - k, 2 * k):
                for i in range(min(k, n - j - k)):
                    if (i + j) // (2 * p) == (i + j + k) // (2 * p):
                        yield i + j, i + j + k
            k //= 2
        p *= 2


def _deal(people: list[GroupingParty], items: Sequence[tuple[int, int]], draw: Draw, modulus: int) -> None:
    """Give everybody fresh additive shares of a list of keys and names."""
    for each in people:
        each.shares = []
    for item in items:
        masks = [(draw(), draw()) for _ in people[1:]]
        last = tuple((value - sum(mask[part] for mask in masks)) % modulus for part, value in enumerate(item))
        for each, share in zip(people, [*masks, (last[0], last[1])], strict=True):
            each.shares.append(share)


def _opened(people: list[GroupingParty], modulus: int) -> list[tuple[int, int]]:
    """Return the list behind the shares of all: only the ideal function of a comparison sees it."""
    sums = [
        [sum(each.shares[place][part] for each in people) % modulus for part in (0, 1)]
        for place in range(len(people))
    ]
    return [(key, name) for key, name in sums]
