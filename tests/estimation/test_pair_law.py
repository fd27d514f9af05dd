"""The law of a count of reports that were made in pairs, against enumeration, and what it refutes."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ldpkit
from ldpkit.core.provenance import Provenance, Span
from ldpkit.estimation import pair_law
from ldpkit.estimation.intervals import CountRegion
from ldpkit.estimation.pair_law import PairCountLaw


def listed(law, holders):
    """Return the law of a count, summed over the pairs of two holders with exact chances, for even n."""
    table = law.oracle.table
    joint = np.array([[table.neither, table.one], [table.one, table.both]], float)
    own, stray = np.array([1.0, 0.0]), np.array([float(each) for each in law.oracle.stray_support])
    kinds = []
    for x, y in ((own, own), (own, stray), (stray, stray)):  # no support, one, and two, of a pair
        supports = [np.stack([1 - each, each]) for each in (x, y)]
        both = np.einsum("at,bu,tu->ab", *supports, joint)
        kinds.append(np.array([both[0, 0], both[0, 1] + both[1, 0], both[1, 1]]))
    pairs, found = law.n // 2, np.zeros(law.n + 1)

    def several(kind, times):
        made = np.ones(1)
        for _ in range(times):
            made = np.convolve(made, kind)
        return made

    for two in range(max(0, holders - pairs), holders // 2 + 1):
        mixed = holders - 2 * two
        chance = math.comb(pairs, two) * math.comb(pairs - two, mixed) * 2**mixed
        sizes = (two, mixed, pairs - two - mixed)
        parts = [several(kind, times) for kind, times in zip(kinds, sizes, strict=True)]
        found += chance / math.comb(law.n, holders) * np.convolve(np.convolve(parts[0], parts[1]), parts[2])
    return found


@pytest.mark.parametrize("correlation", ["negative", "positive"])
@pytest.mark.parametrize("name", ["jrr", "joint_sue", "joint_olh"])
def test_the_law_is_the_enumerated_one_at_every_epsilon(name, correlation):
    for alone, epsilon, n, holders in ((0.1, 2, 20, 7), (1, 8, 20, 20), (5, 10, 60, 9), (10, 12, 320, 10)):
        oracle = ldpkit.get(name, 16, epsilon_alone=alone, epsilon=epsilon, correlation=correlation)
        law = PairCountLaw(oracle, n, population=False)
        counts, chances = law.chances(holders / n)
        assert chances == pytest.approx(listed(law, holders)[counts], abs=1e-12)
        assert chances.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(("alone", "epsilon"), [(0.1, 10), (5, 10), (10, 12)])
def test_the_law_for_many_is_that_for_few(alone, epsilon, monkeypatch):
    law = PairCountLaw(ldpkit.JRR(16, alone, epsilon), 20_000, population=False)
    expanded = law.chances(0.125)[1]
    monkeypatch.setattr(pair_law, "_SUMMED", 10_000)
    assert expanded == pytest.approx(law.chances(0.125)[1], abs=1e-8)


def coverages(oracle, n):
    """Return the coverage of 95% intervals for every number of holders."""
    law = PairCountLaw(oracle, n, population=False)
    low, high = law.intervals(np.arange(n + 1), 0.05)
    for holders in range(n + 1):
        counts, chances = law.chances(holders / n)
        held = (low[counts] <= holders / n + 1e-12) & (high[counts] >= holders / n - 1e-12)
        yield float(chances[held].sum())


@pytest.mark.parametrize("correlation", ["negative", "positive"])
@pytest.mark.parametrize(
    ("k", "alone", "epsilon", "n"), [(2, 0.1, 10, 10), (2, 0.1, 10, 50), (2, 1, 8, 50), (3, 0.1, 2, 10)]
)
def test_intervals_cover_where_a_larger_share_makes_large_counts_rarer(k, alone, epsilon, n, correlation):
    assert min(coverages(ldpkit.JRR(k, alone, epsilon, correlation=correlation), n)) >= 0.95


def test_bisecting_alone_would_not_cover(monkeypatch):
    """Negative control: to look at no share in between, as if tails grew with it."""
    monkeypatch.setattr(
        pair_law, "_least_that", lambda holds, looks, _: pair_law.first_that(holds, looks[-1])
    )
    assert min(coverages(ldpkit.JRR(2, 0.1, 10, correlation="positive"), 10)) < 0.9


def test_all_shares_that_a_count_does_not_refute_are_in_its_interval():
    """Also where that depends on whether a number of holders is odd, and they are more than are looked at."""
    law = PairCountLaw(ldpkit.JRR(2, 0.1, 10, correlation="positive"), 150, population=False)
    counts = np.array([64, 75, 84, 91])
    low, high = law.intervals(counts, 0.05)
    for count, first, last in zip(counts.tolist(), low, high, strict=True):
        allowed = [each for each in range(151) if min(law.tails(each / 150, count)) > 0.025]
        assert first <= allowed[0] / 150 + 1e-12
        assert last >= allowed[-1] / 150 - 1e-12


def test_a_simultaneous_interval_of_very_many_people_is_not_everything():
    """The error of one of a thousand values is smaller than what an approximation may be off by."""
    oracle = ldpkit.JRR(2, 1, 2)
    counts = oracle.simulate([3_000_000, 1_000_000], rng=ldpkit.random.seeded(1))[0]
    low, high = PairCountLaw(oracle, 4_000_000, population=False).intervals(counts, 0.05 / 1000)
    assert np.all(high - low < 0.02)
    assert low[1] < 0.25 < high[1], "false alarm 5e-5"


BATCHES = ("0" * 32, "1" * 32)


def spans(*parts):
    return Provenance("secure", "stated", spans=tuple(Span(*part) for part in parts))


def share_held(oracle, counts, n, provenance, truth, error=0.05):
    """Return how many of some collections have an interval for the second value that holds the truth."""
    known, held = {}, 0
    for row in counts:
        if int(row[1]) not in known:
            region = CountRegion([ldpkit.Tally(oracle, n, row, provenance)])
            known[int(row[1])] = [float(end[1]) for end in region.ends(error, population=False)]
        low, high = known[int(row[1])]
        held += low <= truth <= high
    return held / len(counts)


def test_a_part_of_a_file_of_pairs_is_not_read_as_if_all_partners_were_in_it():
    """Of 1,500 parts: false alarm 1e-4 at a coverage of 0.95."""
    oracle, source = ldpkit.JRR(2, 0.5, 10), ldpkit.random.seeded(3)
    people = np.tile(np.repeat([0, 1], [18, 2]), 20)
    rows = [
        np.bincount(oracle.privatize(people, rng=source)[200:], minlength=2) for _ in range(1500)
    ]  # half of the reports, and 20 of 200 people hold the value
    whole, part = spans((BATCHES[0], 0, 200)), spans((BATCHES[0], 200, 400))
    assert share_held(oracle, rows, 200, part, 0.1) > 0.928
    assert share_held(oracle, rows, 200, whole, 0.1) < 0.928, "the control: as if it were the whole file"


def test_batches_of_pairs_that_differ_are_not_read_as_one():
    """All of one batch hold the value and none of the other; partners are positively correlated."""
    oracle = ldpkit.JRR(2, 0.5, 8, correlation="positive")
    source = ldpkit.random.seeded(4)
    parts = [oracle.simulate(people, rng=source, repeats=1500) for people in ([0, 60], [60, 0])]
    rows = parts[0] + parts[1]
    both = spans((BATCHES[0], 0, 60), (BATCHES[1], 0, 60))
    assert share_held(oracle, rows, 120, both, 0.5) > 0.928
    assert share_held(oracle, rows, 120, spans((BATCHES[0], 0, 120)), 0.5) < 0.9, (
        "the control: as if of one draw"
    )


@pytest.mark.parametrize("population", [False, True])
@pytest.mark.parametrize("partners", ["drawn", "none", "alike"])
def test_moments_are_those_of_the_law(partners, population):
    law = PairCountLaw(ldpkit.JRR(3, 1, 4, correlation="positive"), 40, population, partners)
    counts, chances = law.chances(0.3)
    mean = chances @ counts
    assert chances.sum() == pytest.approx(1)
    assert law.moments(0.3) == (pytest.approx(mean), pytest.approx(chances @ (counts - mean) ** 2))
