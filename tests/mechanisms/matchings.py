"""All ways to pair people up, listed: what every formula about pairs is compared with."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from ldpkit.mechanisms.joint.table import PairTable

Pairing = list[tuple[int, int]]


def pairings(people: list[int]) -> Iterator[Pairing]:
    """Yield every pairing of an even number of people."""
    if not people:
        yield []
        return
    first, rest = people[0], people[1:]
    for place, partner in enumerate(rest):
        for more in pairings(rest[:place] + rest[place + 1 :]):
            yield [(first, partner), *more]


def joint(table: PairTable, first: bool, second: bool) -> Fraction:
    """Return the probability that two partners are truthful or not."""
    return {2: table.neither, 1: table.one, 0: table.both}[first + second]


def pattern_chance(table: PairTable, n: int, known: dict[int, bool]) -> Fraction:
    """Return how likely some people are truthful or not, over all pairings of n people."""
    total, count = Fraction(0), 0
    for pairing in pairings(list(range(n))):
        count += 1
        chance = Fraction(1)
        for pair in pairing:
            inside = [known[person] for person in pair if person in known]
            if len(inside) == 2:
                chance *= joint(table, *inside)
            elif inside:
                chance *= table.truthful if inside[0] else table.untruthful
        total += chance
    return total / count


def count_law(table: PairTable, values: list[int], value: int) -> dict[int, Fraction]:
    """Return the law of how many report a value, over all pairings and all reports."""
    pairs = list(pairings(list(range(len(values)))))
    found: dict[int, Fraction] = {}
    for pairing in pairs:
        law = {0: Fraction(1, len(pairs))}
        for a, b in pairing:
            reports: dict[int, Fraction] = {}
            for x, y in product(range(table.size), repeat=2):
                lies = (x != values[a]) + (y != values[b])
                chance = joint(table, x == values[a], y == values[b]) / (table.size - 1) ** lies
                said = (x == value) + (y == value)
                reports[said] = reports.get(said, Fraction(0)) + chance
            grown: dict[int, Fraction] = {}
            for count, chance in law.items():
                for said, more in reports.items():
                    grown[count + said] = grown.get(count + said, Fraction(0)) + chance * more
            law = grown
        for count, chance in law.items():
            found[count] = found.get(count, Fraction(0)) + chance
    return found
