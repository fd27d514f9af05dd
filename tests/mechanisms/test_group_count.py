"""Joint counts of groups: private towards everybody, unbiased, and the best of their kind."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import ldpkit
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.mechanisms.base import from_spec


@pytest.mark.parametrize("size", [2, 3, 6])
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 20.0])
def test_no_member_changes_a_report_by_more_than_epsilon(size, epsilon):
    mechanism = ldpkit.GroupCount(size, epsilon)
    assert all(sum(row) == 2**64 and min(row) > 0 for row in mechanism.weights)
    low = Fraction(math.exp(epsilon)) * Fraction(1 + 1e-12)
    for first, second in zip(mechanism.weights, mechanism.weights[1:], strict=False):
        assert all(max(Fraction(x, y), Fraction(y, x)) <= low for x, y in zip(first, second, strict=True))
    assert epsilon - 1e-6 < mechanism.exact_epsilon() <= epsilon


def test_reports_are_read_without_bias():
    mechanism, e = ldpkit.GroupCount(2, 1), math.e
    assert mechanism.readings == pytest.approx([-1 / (e - 1), 1, 2 + 1 / (e - 1)], abs=1e-12)
    chances = np.array(mechanism.weights, float) / 2**64
    assert chances @ mechanism.readings == pytest.approx([0, 1, 2], abs=1e-12)
    worst = mechanism.group_variances().max()
    assert worst / (2 * ldpkit.GRR(2, epsilon=1).variance(0.5, 1)) == pytest.approx(e / (1 + e), abs=1e-9)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_no_unbiased_report_of_a_pair_has_a_smaller_worst_case(epsilon):
    """A linear program over every report that counts for a multiple of a tenth, and ours among them."""
    from scipy.optimize import linprog

    mechanism, e = ldpkit.GroupCount(2, epsilon), math.exp(epsilon)
    grid = np.unique(np.round(np.append(np.arange(-5, 7.01, 0.25), mechanism.readings), 9))
    points, size = len(grid), 3
    equal, right = np.zeros((2 * size, size * points + 1)), np.zeros(2 * size)
    for total in range(size):
        part = slice(total * points, (total + 1) * points)
        equal[2 * total, part], right[2 * total] = 1, 1
        equal[2 * total + 1, part], right[2 * total + 1] = grid, total
    bounds, most = [], []
    for total in range(size):
        row = np.zeros(size * points + 1)
        row[total * points : (total + 1) * points], row[-1] = grid**2, -1
        bounds.append(row)
        most.append(total**2)
    for first, second in ((0, 1), (1, 0), (1, 2), (2, 1)):
        for point in range(points):
            row = np.zeros(size * points + 1)
            row[first * points + point], row[second * points + point] = 1, -e
            bounds.append(row)
            most.append(0)
    cost = np.append(np.zeros(size * points), 1)
    best = linprog(cost, np.array(bounds), most, equal, right, bounds=(0, None))
    assert best.status == 0
    assert best.fun == pytest.approx(mechanism.group_variances().max(), rel=1e-6)


def test_simulated_and_real_collections_agree():
    mechanism, people = ldpkit.GroupCount(3, 1), np.array([80, 40])
    values, source = np.repeat([0, 1], people), ldpkit.random.seeded(1)
    drawn = mechanism.simulate(people, rng=source, repeats=20_000)
    real = np.array([mechanism.tally(mechanism.privatize(values, rng=source)).counts for _ in range(1000)])
    wanted = mechanism.variance(1 / 3, 120)
    for counts in (drawn, real):
        found = mechanism.unbiased(counts, 40)
        assert abs(found.mean() - 1 / 3) < 5 * math.sqrt(wanted / len(counts)), "false alarm 6e-7"
        assert abs(found.var() / wanted - 1) < 5 * math.sqrt(2 / len(counts))


def test_estimates_carry_the_promise_and_cover():
    mechanism, source = ldpkit.GroupCount(2, 1), ldpkit.random.seeded(2)
    values, held = [0] * 30 + [1] * 10, 0
    for _ in range(60):
        estimate = mechanism.tally(mechanism.privatize(values, rng=source)).estimate()
        low, high = estimate.interval()
        held += low[1] <= 0.25 <= high[1]
    assert held >= 50, "false alarm 1e-3 at a coverage of 0.95"
    assert estimate.n == 40
    assert "including the other members" in estimate.made_by["promise"]


def test_files_and_refusals():
    mechanism = ldpkit.GroupCount(3, 1)
    assert from_spec(mechanism.spec()) == mechanism == ldpkit.get("group_count", 2, size=3, epsilon=1)
    tally = mechanism.tally(mechanism.privatize([0, 1, 1]))
    assert ldpkit.Tally.from_bytes(tally.to_bytes()) == tally
    with pytest.raises(InvalidInputError, match="whole number of groups"):
        mechanism.privatize([0, 1])
    for people, share in ((0, 0.5), (7, 0.5), (6, 1.5), (6, math.nan)):
        with pytest.raises(InvalidParameterError):
            mechanism.variance(share, people)
    for bad in ({"size": 0}, {"size": 1}, {"size": 65}, {"size": 2.5}):
        with pytest.raises(InvalidParameterError):
            ldpkit.GroupCount(**bad, epsilon=1)
    with pytest.raises(InvalidParameterError, match="one of two values"):
        ldpkit.GroupCount(2, 1, domain=3)


def test_the_law_of_a_group_is_the_hypergeometric_one():
    from scipy.stats import hypergeom

    from ldpkit.mechanisms.joint.group_count import _sum_of_a_group

    for people, size in ((2, 2), (64, 64), (1000, 8)):
        for ones in {0, 1, people // 3, people}:
            expected = hypergeom.pmf(np.arange(size + 1), people, ones, size)
            assert _sum_of_a_group(ones, people, size) == pytest.approx(expected, abs=1e-14)


def test_very_many_groups_take_no_longer(monkeypatch):
    """SciPy walks along its hypergeometric law, which takes minutes for 2**53 people."""
    import scipy.stats

    monkeypatch.setattr(scipy.stats, "hypergeom", None)
    mechanism = ldpkit.GroupCount(2, epsilon=0.001)
    estimate = ldpkit.Tally(mechanism, 1 << 53, [1 << 53, 0, 0]).estimate()
    low, high = estimate.interval(0.95)
    assert np.isfinite(estimate.stderr).all()
    assert (low <= high).all()
    with pytest.raises(InvalidInputError, match="fewer than 1,000,000,000 people"):
        mechanism.simulate([10**9, 10**9])


def test_what_reports_of_large_groups_count_for_is_solved_exactly():
    mechanism = ldpkit.GroupCount(64, epsilon=0.5)
    exact = [
        sum(Fraction(w) * Fraction(x) for w, x in zip(row, mechanism.readings, strict=True))
        for row in mechanism.weights
    ]
    assert [float(each / 2**64) for each in exact] == pytest.approx(range(65), abs=1e-9)
