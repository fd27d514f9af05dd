"""The exact method, and independent checks of what it finds."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ldpkit
from ldpkit.core.errors import InvalidParameterError
from ldpkit.papers.capri.water import CLIENTS, TOTAL, water
from ldpkit.planning.capacity.exact import exact
from ldpkit.planning.capacity.question import CapacityQuestion
from ldpkit.planning.capacity.verify import verify
from ldpkit.planning.laws.totals import law_at

AMOUNTS = np.arange(41)
QUESTION = CapacityQuestion(AMOUNTS, water(), 1_400_000, "fn", at_most=0.05)


@pytest.mark.parametrize("name", ["grr", "sue", "oue", "the", "olh", "ss", "duchi"])
@pytest.mark.parametrize(
    "question",
    [
        QUESTION,
        CapacityQuestion(AMOUNTS, water(), 1_800_000, "tn", at_least=0.99),
        CapacityQuestion(AMOUNTS, water(985, 15_620), 18_000, "fp", at_most=0.2),
    ],
)
def test_the_answer_satisfies_the_constraint_and_less_does_not(name, question):
    plan = exact(question, name)
    law = law_at(name, question)
    at = question.right(law(plan.epsilon).at_most(question.capacity))
    assert at == plan.probability
    assert question.satisfied(at)
    assert plan.holds == "yes"
    less = question.right(law(0.99 * plan.epsilon).at_most(question.capacity))
    assert not question.satisfied(less)
    assert (plan.simulations, plan.interval) == (0, None)


def test_it_has_no_spread():
    assert len({exact(QUESTION, "grr").epsilon for _ in range(5)}) == 1


def test_tp_and_fn_are_one_question():
    other = CapacityQuestion(AMOUNTS, water(), 1_400_000, "tp", at_least=0.95)
    assert exact(other, "grr").epsilon == pytest.approx(exact(QUESTION, "grr").epsilon, abs=1e-5)


def test_stricter_takes_more():
    bounds = (0.4, 0.3, 0.1, 0.01, 1e-4, 1e-8)
    epsilons = [
        exact(CapacityQuestion(AMOUNTS, water(), 1_400_000, "fn", at_most=bound), "grr").epsilon
        for bound in bounds
    ]
    assert epsilons == sorted(epsilons)


def test_infeasible_is_said():
    plan = exact(CapacityQuestion(AMOUNTS, water(), TOTAL - 1, "fn", at_most=0.01), "grr", epsilon_max=1)
    assert (plan.feasible, plan.epsilon, plan.holds) == (False, None, "no")
    assert plan.probability < 0.6
    assert "infeasible" in str(plan)


def test_a_weak_constraint_takes_the_least_epsilon():
    plan = exact(CapacityQuestion(AMOUNTS, water(), 1_400_000, "tp", at_least=0.4), "grr")
    assert plan.epsilon == 0.001
    assert "smallest" in plan.note


@pytest.mark.parametrize("n", [3, 10, 40])
def test_few_people_make_a_curve_with_steps(n):
    question = CapacityQuestion([0, 1], [n // 3, n - n // 3], n / 3, "fn", at_most=0.1)
    for name in ("grr", "oue", "ss"):
        plan = exact(question, name, epsilon_max=20)
        # OUE tells a one only every other time, so three people cannot be told from fewer.
        assert plan.feasible == (name != "oue" or n > 3)
        assert question.satisfied(plan.probability) == plan.feasible


@pytest.mark.parametrize(
    ("low", "high", "message"),
    [
        (2, 1, "below epsilon_max"),
        (0, 1, "epsilon_min must be positive"),
        (0.1, 100, "epsilon_max must be between"),
    ],
)
def test_a_range_that_is_none(low, high, message):
    with pytest.raises(InvalidParameterError, match=message):
        exact(QUESTION, "grr", epsilon_min=low, epsilon_max=high)


def test_two_buckets_do_not_always_suffice():
    """BLH has noise left at every epsilon, which a protocol with more buckets has not."""
    question = CapacityQuestion(AMOUNTS, water(985, 15_620), 18_000, "fp", at_most=0.2)
    assert not exact(question, "blh").feasible
    assert exact(question, "olh").feasible


@pytest.mark.parametrize("name", ["grr", "oue"])
def test_independent_collections_agree(name):
    """At epsilon the bound holds up to noise; at 0.9 times it, it does not."""
    question = CapacityQuestion(AMOUNTS, water(2000, 32_500), 26_000, "fn", at_most=0.1)
    plan = exact(question, name)
    at, below = verify(question, name, plan.epsilon, runs=3000, rng=ldpkit.random.seeded(2))
    error = math.sqrt(0.1 * 0.9 / 3000)
    assert abs(at.probability - 0.1) < 4.5 * error, "false alarm: 7e-6"
    assert below.epsilon == pytest.approx(0.9 * plan.epsilon)
    assert below.probability > at.probability
    assert below.holds == "no"


def test_verify_at_the_edge_of_the_range():
    question = CapacityQuestion(AMOUNTS, water(2000, 32_500), 26_000, "fn", at_most=0.6)
    (only,) = verify(question, "grr", 0.001, runs=10, rng=ldpkit.random.seeded(2))
    assert only.epsilon == 0.001


def test_the_city_is_as_large_as_that_of_the_thesis():
    counts = water()
    assert (counts.sum(), counts @ AMOUNTS) == (CLIENTS, TOTAL)
    assert (counts > 0).all()
    with pytest.raises(InvalidParameterError, match="between 4 and 36"):
        water(10, 400)
