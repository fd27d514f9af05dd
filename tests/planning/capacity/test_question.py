"""What a capacity question takes, and what it refuses."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.planning.capacity.question import CapacityQuestion, Outcome

ABOVE = ([0, 1], [400, 600], 500)
BELOW = ([0, 1], [600, 400], 500)


@pytest.mark.parametrize(
    ("people", "outcome", "bound", "wanted"),
    [
        (ABOVE, "fn", {"at_most": 0.05}, 0.95),
        (ABOVE, "tp", {"at_least": 0.95}, 0.95),
        (BELOW, "fp", {"at_most": 0.05}, 0.95),
        (BELOW, "tn", {"at_least": 0.95}, 0.95),
    ],
)
def test_every_constraint_asks_for_right_decisions(people, outcome, bound, wanted):
    question = CapacityQuestion(*people, outcome, **bound)
    assert question.outcome is Outcome(outcome)
    assert question.wanted == pytest.approx(wanted)
    assert question.satisfied(0.96)
    assert not question.satisfied(0.94)
    assert question.right(0.2) == (0.8 if question.exceeds else 0.2)


@pytest.mark.parametrize(
    ("people", "outcome", "bound"),
    [
        (ABOVE, "fp", {"at_most": 0.05}),
        (ABOVE, "tn", {"at_least": 0.95}),
        (BELOW, "fn", {"at_most": 0.05}),
        (BELOW, "tp", {"at_least": 0.95}),
        (([0, 1], [500, 500], 500), "fn", {"at_most": 0.05}),  # at the capacity is not above it
    ],
)
def test_an_outcome_that_cannot_happen_is_refused(people, outcome, bound):
    with pytest.raises(InvalidParameterError, match=r"cannot happen: the total .* the capacity 500.*bound f"):
        CapacityQuestion(*people, outcome, **bound)


@pytest.mark.parametrize(
    ("outcome", "bound", "message"),
    [
        ("fn", {"at_least": 0.05}, "is a mistake: bound it from above"),
        ("tp", {"at_most": 0.95}, "is right: bound it from below"),
        ("fn", {}, "needs a bound: give at_most"),
        ("fn", {"at_most": 0.0}, "strictly between 0 and 1"),
        ("fn", {"at_most": 1.0}, "strictly between 0 and 1"),
        ("tp", {"at_least": float("nan")}, "strictly between 0 and 1"),
        ("xy", {"at_most": 0.1}, "one of tp, fp, tn and fn, got 'xy'"),
    ],
)
def test_bounds_that_make_no_sense(outcome, bound, message):
    with pytest.raises(InvalidParameterError, match=message):
        CapacityQuestion(*ABOVE, outcome, **bound)


@pytest.mark.parametrize(
    ("amounts", "counts", "message"),
    [
        ([0, 1], [1, -5], "must not be negative, got -5"),
        ([0, 1], [0, 0], "all zero"),
        ([0, 1], [1, 2, 3], "one entry for each of 2 values"),
        ([0, 1], [1.5, 2], "whole numbers"),
        ([0, float("inf")], [1, 2], "must be finite, got inf"),
        ([3, 3], [1, 2], "all amounts are 3"),
        ([1], [1], "at least 2 numbers"),
        (["a", "b"], [1, 2], "must be numbers"),
    ],
)
def test_people_that_make_no_sense(amounts, counts, message):
    with pytest.raises(InvalidInputError, match=message):
        CapacityQuestion(amounts, counts, 500, "fn", at_most=0.1)


@pytest.mark.parametrize("capacity", [float("nan"), float("inf"), "many", True])
def test_a_capacity_that_is_no_number(capacity):
    with pytest.raises(InvalidParameterError, match="capacity must be a finite number"):
        CapacityQuestion([0, 1], [1, 2], capacity, "fn", at_most=0.1)


def test_decimal_amounts_are_exact():
    # 0.1 * 3 is more than 0.3 in floats, and exactly 0.3 here.
    question = CapacityQuestion([0.1, 0.2], [3, 0], 0.3, "tn", at_least=0.9)
    assert question.exact_total == Fraction(3, 10)
    assert question.lattice.step == Fraction(1, 10)
    assert question.lattice.points.tolist() == [1, 2]


def test_amounts_share_a_step_unless_it_is_too_fine():
    assert CapacityQuestion([0, 4, 6], [1, 1, 1], 3, "fn", at_most=0.1).lattice.points.tolist() == [0, 2, 3]
    assert CapacityQuestion([-0.5, 1.25], [1, 9], 3, "fn", at_most=0.1).lattice.points.tolist() == [-2, 5]
    assert CapacityQuestion([0, 2**0.5, 1], [1, 5, 1], 3, "fn", at_most=0.1).lattice is None


def test_right_decision_takes_whichever_mistake_can_happen():
    assert CapacityQuestion.right_decision([0, 1], np.array([400, 600]), 500, 0.1).outcome is Outcome.FN
    assert CapacityQuestion.right_decision([0, 1], np.array([600, 400]), 500, 0.1).outcome is Outcome.FP
