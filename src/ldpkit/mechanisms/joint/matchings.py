"""What is learned where the pairing is hidden: exact sums over all ways to pair people up.

Someone knows of m people whether their reports are true, and not who is paired with whom.
All pairings are alike, so only two counts matter: how many of the m were untruthful, and
how many pairs lie within the m and the person in question. That makes the sum over all
(n-1)!! pairings a sum over the number of inner pairs, all of whose terms are positive.

With negative correlation the worst that can be known is 'all untruthful' or 'all
truthful'. The number of inner pairs has a generating function with real roots (a Jacobi
polynomial), so the number of untruthful people has one too, and by Newton's inequalities
the probability of a given pattern is log-concave in their number. With positive
correlation that fails, and every number is tried.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache

from ldpkit.core.exact import log_up
from ldpkit.mechanisms.joint.table import PairTable

__all__ = ["MOST_SUMMED", "MOST_TRIED", "hidden_epsilon"]

MOST_TRIED = 500  # known people, up to which every pattern is tried where that is needed
MOST_SUMMED = 1_000_000  # known people, or unknown ones, up to which all pairings are summed over: seconds

_CONTEXT = Context(prec=60)
_SLACK = 1 + Fraction(1, 10**40)  # far more than sums of positive numbers of 60 digits lose


@lru_cache(maxsize=256)
def hidden_epsilon(table: PairTable, n: int, known: int) -> float | None:
    """Return the exact epsilon where the pairing is hidden and some people's truthfulness is known.

    Parameters
    ----------
    table : PairTable
        The law of a pair.
    n : int
        How many people are paired uniformly at random; an odd one answers alone.
    known : int
        Of how many others it is known whether they reported truthfully.

    Returns
    -------
    float or None
        Rounded up; None where it would take too long: with positive correlation more than
        `MOST_TRIED` known, with negative `MOST_SUMMED`, unless all but so many are.

    Examples
    --------
    >>> table = PairTable.correlated(2, Fraction(3, 4), Fraction(-1, 5))
    >>> [round(hidden_epsilon(table, n, 2), 6) for n in (4, 6)]
    [1.94591, 1.504077]
    """
    if known == 0 or table.covariance == 0:
        return table.epsilon_alone()
    paired = n + n % 2  # whoever pairs with nobody is as one paired with a stranger
    if table.covariance > 0:
        return _tried(table, paired, known) if known <= MOST_TRIED else None
    if min(known, paired - known) > MOST_SUMMED:
        return None
    other = PairTable(table.size, table.untruthful, table.neither)  # the two words exchanged
    worst = 0.0
    for each, is_other in ((table, False), (other, True)):
        truthful, untruthful = _uniform_patterns(each, paired, known + 1)
        factor = table.size - 1 if not is_other else Fraction(1, table.size - 1)
        worst = max(worst, _log(factor * truthful, untruthful))
    return worst


def _log(first: Fraction, second: Fraction) -> float:
    """Return |ln(first / second)|, both off by very little, rounded up."""
    if first == second:
        return 0.0
    if not first or not second:
        return math.inf
    return log_up(max(first / second, second / first) * _SLACK)


def _inner_pairs(paired: int, group: int) -> Iterator[tuple[int, Fraction]]:
    """Yield the possible numbers of pairs inside a group, with the ratio of each chance to the one before."""
    outside = paired - group
    first = max(0, (group - outside + 1) // 2)
    yield first, Fraction(1)
    for inner in range(first, group // 2):
        alone = group - 2 * inner
        yield inner + 1, Fraction(alone * (alone - 1), 2 * (inner + 1) * (outside - alone + 2))


def _uniform_patterns(table: PairTable, paired: int, group: int) -> tuple[Fraction, Fraction]:
    """Return how likely all but one of a group are untruthful, and all, over a common factor."""
    u = table.untruthful
    inside, mixed = _decimal(table.both / u**2), _decimal(table.one / u**2)
    alone = _decimal(table.truthful / u)
    times, add = _CONTEXT.multiply, _CONTEXT.add
    weight, all_but_one, every = Decimal(1), Decimal(0), Decimal(0)  # weight: chance * inside**(inner - 1)
    for inner, ratio in _inner_pairs(paired, group):
        weight = times(weight, _decimal(ratio))
        in_pair = times(Decimal(2 * inner), mixed)
        single = times(Decimal(group - 2 * inner), alone)
        if inner == 0:
            every, all_but_one = weight, times(weight, single)
        else:
            here = times(weight, inside)
            every = add(every, here)
            all_but_one = add(all_but_one, add(times(weight, in_pair), times(here, single)))
            weight = here
    return Fraction(all_but_one) / group, Fraction(every)


def _tried(table: PairTable, paired: int, known: int) -> float:
    """Return the worst over every number of untruthful people among the known."""
    patterns = _all_patterns(table, paired, known + 1)
    return max(
        _log((table.size - 1) * patterns[count] * table.truthful, patterns[count + 1] * table.untruthful)
        for count in range(known + 1)
    )


def _all_patterns(table: PairTable, paired: int, group: int) -> list[Fraction]:
    """Return how likely a pattern with 0, 1, ... untruthful people is, over that of independent ones."""
    p, u = table.truthful, table.untruthful
    pair = [_decimal(table.neither / p**2), _decimal(2 * table.one / (p * u)), _decimal(table.both / u**2)]
    times, add = _CONTEXT.multiply, _CONTEXT.add
    chances, chance = [], Decimal(1)
    for inner, ratio in _inner_pairs(paired, group):
        chance = times(chance, _decimal(ratio))
        chances.append((inner, chance))
    # Horner's scheme in the polynomial of a pair; what is not in a pair has (1 + z) for each person.
    last = group // 2
    weights = dict(chances)
    total = [weights.get(last, Decimal(0))]
    for step in range(1, last + 1):
        grown = [Decimal(0)] * (2 * step + 1)
        for place, each in enumerate(total):
            for shift, factor in enumerate(pair):
                grown[place + shift] = add(grown[place + shift], times(each, factor))
        weight = weights.get(last - step, Decimal(0))
        if weight:
            grown = [add(x, times(weight, Decimal(math.comb(2 * step, i)))) for i, x in enumerate(grown)]
        total = grown
    if group % 2:
        total = [add(x, y) for x, y in zip([*total, Decimal(0)], [Decimal(0), *total], strict=True)]
    return [Fraction(each) / math.comb(group, count) for count, each in enumerate(total)]


def _decimal(number: Fraction) -> Decimal:
    return _CONTEXT.divide(Decimal(number.numerator), Decimal(number.denominator))
