"""Sums and differences of rounds cover the truth, although the same people answer in each."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

import ldpkit
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.estimation.over_rounds import change, together

PEOPLE, ROUNDS = 2000, 4
ORACLE = ldpkit.GRR(["no", "yes"], epsilon=1.0)


def _estimate(ones: int):
    return ORACLE.tally([1] * ones + [0] * (PEOPLE - ones)).estimate()


def _law(share: float):
    """The chance of each number of reported ones, if a share of the people say yes."""
    p, q = map(float, ORACLE.support_probabilities)
    ones = round(share * PEOPLE)
    counts = np.arange(PEOPLE + 1)
    return np.convolve(stats.binom.pmf(counts, ones, p), stats.binom.pmf(counts, PEOPLE - ones, q))[
        : PEOPLE + 1
    ]


def _coverage(law, is_covered: Callable[[int], bool]) -> float:
    """Return the chance that an interval covers, exactly: the counts for which it does follow each other."""
    middle = int(np.argmax(law))
    assert is_covered(middle)
    ends = []
    for step in (-1, 1):
        inside, outside = 0, 400
        while outside - inside > 1:
            tried = (inside + outside) // 2
            if is_covered(middle + step * tried):
                inside = tried
            else:
                outside = tried
        ends.append(middle + step * inside)
    return float(law[ends[0] : ends[1] + 1].sum())


def test_rounds_together_cover_where_errors_are_the_same():
    """Permanent reports: the noise of every round is the very same. The control adds variances."""

    def is_covered(ones):
        row = together([_estimate(ones)] * ROUNDS, range(ROUNDS)).rows()[1]
        return row["low"] <= 0.3 <= row["high"]

    def is_covered_if_independent(ones):
        found = _estimate(ones)
        return abs(found.values[1] - 0.3) <= 1.96 * found.stderr[1] / math.sqrt(ROUNDS)

    law = _law(0.3)
    assert 0.95 <= _coverage(law, is_covered) < 0.97
    assert _coverage(law, is_covered_if_independent) < 0.75


def test_changes_cover_where_errors_are_opposed():
    """The worst case of a difference: what one round gains the other loses. The control adds variances."""
    law = _law(0.5)
    opposite = 2 * int(np.argmax(law))

    def is_covered(ones):
        row = change(_estimate(ones), _estimate(opposite - ones), [0, 1]).rows()[1]
        return row["low"] <= 0 <= row["high"]

    def is_covered_if_independent(ones):
        first, second = _estimate(ones), _estimate(opposite - ones)
        moved = abs(second.values[1] - first.values[1])
        return moved <= 1.96 * math.hypot(first.stderr[1], second.stderr[1])

    assert 0.95 <= _coverage(law, is_covered) < 0.97
    assert _coverage(law, is_covered_if_independent) < 0.9


def test_a_round_counts_by_its_answers_and_means_work_too():
    large = _estimate(800)
    small = ORACLE.tally([1] * 90 + [0] * 10).estimate()
    both = together([large, small], [0, 1])
    wanted = (PEOPLE * large.values[1] + 100 * small.values[1]) / (PEOPLE + 100)
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
