"""Sums and differences of rounds cover the truth, although the same people answer in each."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ldpkit
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.estimation.over_rounds import change, together

PEOPLE, ROUNDS, RUNS = 2000, 4, 1000


@pytest.fixture(scope="module")
def collections():
    """Estimates of the share 0.3 in several rounds whose noise is the very same: permanent reports."""
    oracle = ldpkit.GRR(["no", "yes"], epsilon=1.0)
    p, q = map(float, oracle.support_probabilities)
    source = np.random.default_rng(7)
    ones = source.binomial(600, p, RUNS) + source.binomial(1400, q, RUNS)
    return [oracle.tally([1] * n + [0] * (PEOPLE - n)).estimate() for n in ones.tolist()]


def test_rounds_together_cover_where_errors_are_the_same(collections):
    """Coverage is at least 0.95 less three of its deviations; the control adds variances, and falls short."""
    least = 0.95 - 3 * math.sqrt(0.95 * 0.05 / RUNS)  # false alarm 0.0014
    covered = control = 0
    for each in collections:
        row = together([each] * ROUNDS, range(ROUNDS)).rows()[1]
        covered += row["low"] <= 0.3 <= row["high"]
        half = 1.96 * each.stderr[1] * math.sqrt(ROUNDS) / ROUNDS  # as if the rounds were independent
        control += abs(row["estimate"] - 0.3) <= half
    assert covered / RUNS >= least
    assert control / RUNS < 0.75


def test_changes_cover_where_errors_are_opposed():
    """The worst case of a difference: what one round gains the other loses."""
    oracle = ldpkit.GRR(["no", "yes"], epsilon=1.0)
    p, q = map(float, oracle.support_probabilities)
    expected = 1000 * (p + q)
    source = np.random.default_rng(8)
    ones = source.binomial(1000, p, RUNS) + source.binomial(1000, q, RUNS)
    covered = control = 0
    for n in ones.tolist():
        first, second = (
            oracle.tally([1] * count + [0] * (PEOPLE - count)).estimate()
            for count in (n, round(2 * expected) - n)
        )
        row = change(first, second, [0, 1]).rows()[1]
        covered += row["low"] <= 0 <= row["high"]
        control += abs(row["estimate"]) <= 1.96 * math.hypot(first.stderr[1], second.stderr[1])
    assert covered / RUNS >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / RUNS)
    assert control / RUNS < 0.9


def test_a_round_counts_by_its_answers_and_means_work_too(collections):
    oracle = ldpkit.GRR(["no", "yes"], epsilon=1.0)
    small = oracle.tally([1] * 90 + [0] * 10).estimate()
    both = together([collections[0], small], [0, 1])
    wanted = (PEOPLE * collections[0].values[1] + 100 * small.values[1]) / (PEOPLE + 100)
    assert both.rows()[1]["estimate"] == pytest.approx(wanted)
    mechanism = ldpkit.PM((0, 100), epsilon=1)
    means = [mechanism.tally(mechanism.privatize([each] * 500)).estimate() for each in (20.0, 60.0)]
    row = change(*means, [3, 4]).rows()[0]
    assert row["low"] < row["estimate"] < row["high"]
    with pytest.raises(InvalidInputError, match="no answers"):
        together([], [])
    circle = ldpkit.get("circular_ogpm", ldpkit.CircleDomain(24), epsilon=1)
    found = circle.tally(circle.privatize([3.0] * 50)).estimate()
    with pytest.raises(InvalidParameterError, match="one by one"):
        together([found, found], [0, 1])
