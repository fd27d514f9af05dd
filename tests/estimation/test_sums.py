"""Sums of frequencies: the law of a set is that of the channel, and the intervals cover exactly."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import ldpkit
from ldpkit.core.errors import InvalidInputError, InvalidParameterError, OutOfDomainError
from ldpkit.core.random import seeded
from ldpkit.estimation.intervals import exact_coverage
from ldpkit.estimation.sums import set_law, sum_table
from ldpkit.estimation.tails import CountLaw


@pytest.mark.parametrize("name", ["grr", "oue", "sue", "ss"])
@pytest.mark.parametrize("size", [2, 3])
def test_the_law_of_a_set_is_that_of_the_listed_reports(name, size):
    oracle = ldpkit.get(name, 4, epsilon=1.5)
    channel = oracle.channel()
    chosen = list(range(size))
    bits = np.unpackbits(oracle.packed_supports(channel.reports), axis=1, count=4, bitorder="little")
    added = bits[:, chosen].sum(axis=1, dtype=np.int64)  # NumPy 2.0 counts no unsigned numbers
    law = set_law(oracle.joint_law, 4, size)
    for value, chances in ((0, law.own), (3, law.other)):
        row = np.array([float(each) for each in channel.probabilities[value]])
        listed = np.bincount(added, row / row.sum(), minlength=size + 1)
        assert np.allclose(listed[law.outcomes], chances, atol=1e-9)


@pytest.mark.parametrize("name", ["grr", "oue"])
def test_intervals_of_sums_cover_in_every_collection_law(name):
    """Summed over all counts: no simulation, so no false alarm."""
    oracle = ldpkit.get(name, 6, epsilon=1.0)
    for size, share in itertools.product((2, 4), (0.0, 0.1, 0.5)):
        law = CountLaw([set_law(oracle.joint_law, 6, size)], [60], False)
        coverage, width = exact_coverage(law, share, 0.05)
        assert coverage >= 0.95
        assert width < 1.0


def test_half_widths_that_are_added_wrongly_do_not_cover():
    """The control: half-widths of single values, added as if they were standard errors, are too short.

    Intervals of rare values end at zero. Of 120 collections an interval that covers misses 15 or more with
    probability 1e-3.
    """
    oracle = ldpkit.OUE(6, epsilon=1.0)
    people = np.array([120, 80, 40, 30, 20, 10])
    rare, truth = [3, 4, 5], 60 / 300
    right = wrong = 0
    for counts in oracle.simulate(people, rng=seeded(5), repeats=120):
        found = ldpkit.Tally(oracle, 300, counts).estimate()
        whole = found.share_of(rare)
        right += not whole.low - 1e-9 <= truth <= whole.high + 1e-9
        low, high = (ends[rare] for ends in found.interval())
        reach = np.sqrt((((high - low) / 2) ** 2).sum())
        wrong += abs(found.values[rare].sum() - truth) > reach
    assert right < 15
    assert wrong >= 15


def test_a_table_of_sums_has_the_ends_of_every_sum():
    found = ldpkit.Tally(ldpkit.GRR(6, epsilon=1.0), 300, [70, 60, 55, 45, 40, 30]).estimate()
    table = sum_table(found)
    for size in (1, 2, 4):
        for chosen in map(list, itertools.combinations(range(6), size)):
            exact, near = found.share_of(chosen), table.ends(size, float(found.unbiased[chosen].sum()))
            assert near[0] <= max(exact.low, 0.0) + 1e-9
            assert near[1] >= min(exact.high, 1.0) - 1e-9
            assert near[1] - near[0] <= exact.high - exact.low + 0.02


def test_the_reports_of_hashing_scatter_as_the_law_says():
    """Hash functions are only nearly independent for three values: the variance of a sum must be right.

    Of 400 collections the ratio of variances leaves 0.8 to 1.25 with probability about 2e-3.
    """
    oracle = ldpkit.OLH(8, epsilon=1.0)
    values = np.repeat(np.arange(8), 25)
    counts = [
        oracle.tally(oracle.privatize(values, rng=seeded(each))).counts[:4].sum() for each in range(400)
    ]
    law = CountLaw([set_law(oracle.joint_law, 8, 4)], [200], False)
    assert 0.8 < np.var(counts, ddof=1) / law.moments(np.array([0.5]))[1][0] < 1.25


def test_sums_are_what_single_values_are_and_everybody_is_all():
    found = ldpkit.Tally(ldpkit.OUE(3, epsilon=2), 500, [200, 150, 90]).estimate()
    one = found.share_of([1])
    low, high = found.interval()
    assert (one.low, one.high, one.share) == pytest.approx((low[1], high[1], found.values[1]), abs=0.003)
    assert found.share_of([0, 1, 2]).stderr == 0
    assert found.share_of([0, 0, 1]).labels == (0, 1)


def test_refusals():
    found = ldpkit.Tally(ldpkit.GRR(3, epsilon=2), 100, [50, 30, 20]).estimate()
    with pytest.raises(OutOfDomainError, match="7 is not in the domain"):
        found.share_of([0, 7])
    with pytest.raises(InvalidParameterError, match="at least one"):
        found.share_of([])
    histogram = ldpkit.get("she", 3, epsilon=1)
    with pytest.raises(InvalidInputError, match="no interval"):
        histogram.tally(histogram.privatize([0, 1, 2] * 9)).estimate().share_of([0, 1])
