"""What a history of states gives away against every other history of its length.

The permanent reports of different states are independent. So the probability of some
reports, given a history, is a product over the states of that history: of a mixture over
the permanent report, which all reports from that state share. Another history shares the
same reports out in another way: its value changes at other times, comes back, or never
changes. The exact epsilon is the largest ratio over all histories and all reports.

For a few reports all of them are gone through, those that are alike once. For many there
is a bound. Let L(x) be the probability of the reports from one state if its permanent
report is x, which has probability P(x). Then, for any weights w(x) that sum to one,

    sum of P(x) L(x)  >=  product of (P(x) L(x) / w(x)) ** w(x)  =  e**-KL(w, P) * product of L(x) ** w(x)

by the inequality of the means. The last product factors over the reports. No history can
make a report likelier than its likeliest permanent report does, so every report costs at
most `rate` = ln max L(x) - sum of w(x) ln L(x), and every permanent report of the other
history costs KL(w, P) once. The weights are those that make all reports cost the same,
and then no smaller rate holds for long histories.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache, lru_cache
from math import log, prod
from operator import sub, truediv

from ldpkit.core.exact import WORD, float_up, log_product_up, log_up
from ldpkit.mechanisms.longitudinal.chain import ChainedBits, ChainedResponse

__all__ = ["LONGEST", "bits_bound", "bits_epsilon", "response_bound", "response_epsilon", "sequences"]

LONGEST = 4
"""So many reports are gone through, exactly; a fifth would take ten times as long."""


def sequences(length: int, *pools: range) -> Iterator[tuple[int, ...]]:
    """Yield sequences of labels, one of each kind that differ only in which labels of a pool are where.

    The labels of a pool are alike, so those that a sequence uses are always the first ones.

    Examples
    --------
    >>> list(sequences(2, range(3)))                     # the same label twice, or two labels
    [(0, 0), (0, 1)]
    >>> len(list(sequences(2, range(1), range(1, 2), range(2, 3))))
    9
    """
    if length == 0:
        yield ()
        return
    for head in sequences(length - 1, *pools):
        for pool in pools:
            used = sum(label in pool for label in set(head))
            yield from ((*head, label) for label in pool[: used + 1])


def _history(times: Sequence[int]) -> tuple[int, ...]:
    """Return a history with so many reports from state 0, 1, ...; their order does not matter."""
    return tuple(state for state, count in enumerate(times) for _ in range(count))


@lru_cache(maxsize=256)
def response_epsilon(chain: ChainedResponse, times: tuple[int, ...], states: int) -> float:
    """Return the exact epsilon of a history of randomised responses against any other, rounded up.

    Given how often each answer occurs, the history decides how likely the reports can be,
    and the other history decides it independently: any answer may be in any of its states.

    Parameters
    ----------
    chain : ChainedResponse
        Both rounds.
    times : tuple of int
        How many reports there are from each state of the history, at most four in all.
    states : int
        How many states a history may use; the answers may be more.

    Examples
    --------
    >>> chain = ChainedResponse(3, 1.9, 2.0)
    >>> round(response_epsilon(chain, (2, 1), 3), 4)
    7.5028
    """

    @cache
    def part(own: int, others: tuple[int, ...]) -> Fraction:
        return _response_chance(chain, own, others)

    def chance(sent: tuple[int, ...], history: tuple[int, ...]) -> Fraction:
        """Return the probability of the answers, a factor for each state of the history."""
        pairs: dict[int, Counter[int]] = {}
        for state, answer in zip(history, sent, strict=True):
            pairs.setdefault(state, Counter())[answer] += 1
        parts = (
            part(counts.pop(state, 0), tuple(sorted(counts.values()))) for state, counts in pairs.items()
        )
        return prod(parts, start=Fraction(1))

    reports, history = sum(times), _history(times)
    own = [range(state, state + 1) for state in range(len(times))]
    ranges: dict[tuple[tuple[int, ...], ...], list[Fraction]] = {}
    for sent in sequences(reports, *own, range(len(times), states), range(states, chain.size)):
        counts = Counter(sent)
        # Answers that are states come first; those that are none cannot be anybody's own.
        key = tuple(
            tuple(sorted(count for answer, count in counts.items() if (answer < states) is is_state))
            for is_state in (True, False)
        )
        ranges.setdefault(key, []).append(chance(sent, history))
    worst = Fraction(1)
    for (named, unnamed), chances in ranges.items():
        sent = _history(named) + tuple(answer + states for answer in _history(unnamed))
        own = [range(state, state + 1) for state in range(len(named))]
        others = [chance(sent, other) for other in sequences(reports, *own, range(len(named), states))]
        worst = max(worst, max(chances) / min(others), max(others) / min(chances))
    return log_up(worst)


def _response_chance(chain: ChainedResponse, own: int, others: tuple[int, ...]) -> Fraction:
    """Return the probability that a state is the answer so many times, and some others so many times."""
    first, second, reports = chain.first, chain.second, own + sum(others)
    total = first.keep * second.keep**own * second.width ** (reports - own)
    total += sum(first.width * second.keep**n * second.width ** (reports - n) for n in others)
    total += (chain.size - 1 - len(others)) * first.width * second.width**reports
    return Fraction(total, WORD ** (reports + 1))


@lru_cache(maxsize=256)
def bits_epsilon(chain: ChainedBits, times: tuple[int, ...], states: int) -> float:
    """Return the exact epsilon of a history of unary reports against any other, rounded up.

    Given both histories, the bits are independent, so each is taken at its worst. Floats
    find the worst histories, and those that come close are compared exactly.

    Parameters
    ----------
    chain : ChainedBits
        Both rounds.
    times : tuple of int
        How many reports there are from each state of the history, at most four in all.
    states : int
        How many states there are, each with a bit of its own.

    Examples
    --------
    >>> chain = ChainedBits((3 * WORD // 4, WORD // 4), 1.0, symmetric=True)
    >>> round(bits_epsilon(chain, (1,), 5), 6), round(bits_epsilon(chain, (1, 1), 5), 6)
    (1.0, 2.878188)
    """
    histories = _BitHistories(chain, sum(times))
    history, own = _history(times), [range(state, state + 1) for state in range(len(times))]
    found: dict[tuple[object, ...], tuple[float, tuple[int, ...], bool]] = {}
    for other in sequences(sum(times), *own, range(len(times), states)):
        kind = _kind(times, other)
        if kind not in found:
            up, down = (histories.logarithm(*pair, states) for pair in ((history, other), (other, history)))
            found[kind] = max(up, down), other, up >= down
    close = max(logarithm for logarithm, *_ in found.values()) * (1 - 1e-9)
    best = [entry for entry in found.values() if entry[0] >= close]
    return max(
        log_product_up(histories.powers(*((history, other) if forth else (other, history)), states))
        for _, other, forth in best
    )


class _BitHistories:
    """The probabilities of a bit's patterns, given a history.

    Parameters
    ----------
    chain : ChainedBits
        Both rounds.
    reports : int
        The length of a history; a pattern is a number of so many bits.
    """

    def __init__(self, chain: ChainedBits, reports: int) -> None:
        self._chain, self._patterns = chain, range(1 << reports)
        self._parts: dict[tuple[int, bool], tuple[list[Fraction], list[float]]] = {}

    def _part(self, places: int, own: bool) -> tuple[list[Fraction], list[float]]:
        """Return the probability of each pattern in the places of one state, and its logarithm."""
        if (places, own) not in self._parts:
            held, (one, zero), count = (
                self._chain.first[0 if own else 1],
                self._chain.second,
                places.bit_count(),
            )
            chances = []
            for pattern in self._patterns:
                ones = (pattern & places).bit_count()
                zeros = count - ones
                kept = held * one**ones * (WORD - one) ** zeros
                lost = (WORD - held) * zero**ones * (WORD - zero) ** zeros
                chances.append(Fraction(kept + lost, WORD ** (count + 1)))
            self._parts[places, own] = chances, [log(chance) for chance in chances]
        return self._parts[places, own]

    def _factors(self, history: tuple[int, ...], bit: int) -> list[tuple[list[Fraction], list[float]]]:
        """Return the factors of the probability of each pattern of a bit, one for each state."""
        places: dict[int, int] = {}
        for place, state in enumerate(history):
            places[state] = places.get(state, 0) | 1 << place
        return [self._part(place, state == bit) for state, place in places.items()]

    def _bits(self, above: tuple[int, ...], below: tuple[int, ...], states: int) -> list[tuple[int, int]]:
        """Return the bits that differ, each with how many there are of its kind; -1 is nobody's own."""
        own = {*above, *below}
        return [*((bit, 1) for bit in own), (-1, states - len(own))]

    def logarithm(self, above: tuple[int, ...], below: tuple[int, ...], states: int) -> float:
        """Return the logarithm of the worst ratio of one history to another, nearly."""
        total = 0.0
        for bit, power in self._bits(above, below, states):
            mine, theirs = (
                map(sum, zip(*(logs for _, logs in self._factors(history, bit)), strict=True))
                for history in (above, below)
            )
            total += power * max(map(sub, mine, theirs))
        return total

    def powers(self, above: tuple[int, ...], below: tuple[int, ...], states: int) -> dict[Fraction, int]:
        """Return the worst ratio of one history to another, exactly, as a product of powers."""
        powers: Counter[Fraction] = Counter()
        for bit, power in self._bits(above, below, states):
            mine, theirs = (
                map(prod, zip(*(chances for chances, _ in self._factors(history, bit)), strict=True))
                for history in (above, below)
            )
            powers[max(map(truediv, mine, theirs))] += power
        return powers


def _kind(times: Sequence[int], other: Sequence[int]) -> tuple[object, ...]:
    """Return what two histories have in common that look alike beside the one with these times."""
    pairs = Counter(zip(_history(times), other, strict=True))
    columns = {
        label: tuple(pairs[state, label] for state in range(len(times))) for label in sorted(set(other))
    }
    named = tuple(columns.get(state) for state in range(len(times)))
    return named, tuple(sorted(column for label, column in columns.items() if label >= len(times)))


def response_bound(chain: ChainedResponse, reports: int, states: int) -> float:
    """Return a bound on the epsilon of any history of randomised responses to any other.

    All answers weigh the same, so each report costs (1 - 1/g) ln(p / q) of the second round.

    Examples
    --------
    >>> chain = ChainedResponse(2, 1.0, 2.0)
    >>> response_bound(chain, 1000, 2) < 0.51 * 1000 * chain.second.epsilon()
    True
    """
    first, size = chain.first, chain.size
    rate = Fraction(chain.second.epsilon()) * (size - 1) / size
    own, other = (Fraction(log_up(1 / (size * chance))) for chance in (first.p, first.q))
    return float_up(reports * rate + min(reports, states) * (own + (size - 1) * other) / size)


def bits_bound(chain: ChainedBits, reports: int, states: int) -> float:
    """Return a bound on the epsilon of any history of unary reports to any other.

    A one speaks for a permanent one with some odds and a zero for a permanent zero with
    others; permanent ones are weighed so that both cost the same.
    """
    one, zero = (Fraction(threshold, WORD) for threshold in chain.second)
    ones, zeros = (Fraction(log_up(odds)) for odds in (one / zero, (1 - zero) / (1 - one)))
    weight = ones / (ones + zeros)
    own, other = (_divergence(weight, Fraction(threshold, WORD)) for threshold in chain.first)
    permanent = min(reports, states) * (own + (states - 1) * other)
    return float_up(reports * states * max(ones * (1 - weight), zeros * weight) + permanent)


def _divergence(weight: Fraction, chance: Fraction) -> Fraction:
    """Return the Kullback-Leibler divergence of two bits, rounded up."""
    one, zero = log_up(weight / chance), log_up((1 - weight) / (1 - chance))
    return weight * Fraction(one) + (1 - weight) * Fraction(zero)
