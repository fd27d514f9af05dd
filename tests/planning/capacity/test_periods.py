"""Planning from period to period, and outliers."""

from __future__ import annotations

import numpy as np
import pytest

import ldpkit
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.papers.capri.water import water
from ldpkit.planning.capacity.exact import exact
from ldpkit.planning.capacity.outliers import cap_at_quantile, outlier_cost
from ldpkit.planning.capacity.periods import plan_next, run_periods
from ldpkit.planning.capacity.question import CapacityQuestion, Outcome

AMOUNTS = np.arange(41)


def history(months, seed=1, **options):
    arguments = {"amounts": AMOUNTS, "capacity": 28_000, "protocol": "oue", "mistake": 0.05, **options}
    return list(run_periods(months, water(2000, 34_000), rng=ldpkit.random.seeded(seed), **arguments))


def test_one_period_plans_the_next():
    months = [water(2000, total) for total in (34_000, 33_500, 33_000, 22_000)]
    periods = history(months)
    assert [period.number for period in periods] == [1, 2, 3, 4]
    assert [period.total for period in periods] == [34_000, 33_500, 33_000, 22_000]
    # The first plan is made from what was known before; its mistakes are as rare as wanted.
    first = CapacityQuestion.right_decision(AMOUNTS, water(2000, 34_000), 28_000, 0.05)
    assert periods[0].epsilon == exact(first, "oue").epsilon
    assert periods[0].mistake == pytest.approx(0.05, abs=1e-4)
    assert len({period.epsilon for period in periods}) == 4
    assert periods[-1].spent == pytest.approx(sum(period.epsilon for period in periods))
    assert all(
        (period.estimate > 28_000) == (period.outcome in (Outcome.TP, Outcome.FP)) for period in periods
    )
    assert periods[-1].outcome in (Outcome.TN, Outcome.FP)
    assert set(periods[0].row()) == {"number", "epsilon", "total", "estimate", "mistake", "spent", "outcome"}


def test_an_estimate_at_the_capacity_takes_the_largest_epsilon():
    periods = history([water(2000, 34_000)] * 6, capacity=33_990, epsilon_max=0.5)
    assert any(not period.plan.feasible and period.epsilon == 0.5 for period in periods)


def test_the_next_plan_comes_from_a_tally():
    counts = water(50_000, 800_000)
    oracle = ldpkit.OUE(41, epsilon=8.0)
    tally = oracle.tally(oracle.privatize(np.repeat(AMOUNTS, counts), rng=ldpkit.random.seeded(1)))
    known = exact(CapacityQuestion.right_decision(AMOUNTS, counts, 700_000, 0.05), "grr").epsilon
    assert plan_next(tally, AMOUNTS, 700_000, "grr", 0.05).epsilon == pytest.approx(known, rel=0.05)


def test_periods_refuse_what_they_cannot_use():
    with pytest.raises(InvalidInputError, match="one entry for each of 41 values"):
        history([[1, 2, 3]])
    with pytest.raises(InvalidParameterError, match="laplace is for numbers, not for categories"):
        history([water(2000, 34_000)], protocol="laplace")


# --- outliers ------------------------------------------------------------------------------

LONG_TAIL = CapacityQuestion(np.arange(81), np.array([100] * 41 + [1] * 40), 80_000, "fn", at_most=0.05)


def test_capping_keeps_people_and_says_what_is_lost():
    capped = cap_at_quantile(LONG_TAIL, 0.98)
    assert (capped.limit, capped.people) == (40.0, 40)
    assert capped.question.n == LONG_TAIL.n
    assert capped.question.total + capped.lost == LONG_TAIL.total
    assert capped.question.capacity == LONG_TAIL.capacity - capped.lost
    plain = cap_at_quantile(LONG_TAIL, 0.98, compensate=False)
    assert plain.question.capacity == LONG_TAIL.capacity


def test_capping_takes_less_epsilon_and_bias_takes_more():
    cost = outlier_cost(LONG_TAIL, "grr", 0.98)
    assert cost.after.epsilon < cost.before.epsilon
    assert cost.noise < 0.5
    biased = outlier_cost(LONG_TAIL, "grr", 0.98, compensate=False)
    assert biased.after.epsilon > cost.after.epsilon


def test_amounts_need_no_order():
    shuffled = CapacityQuestion([300, 0, 2, 1], [1, 400, 299, 300], 1000, "fn", at_most=0.1)
    capped = cap_at_quantile(shuffled, 0.99)
    assert capped.question.amounts.tolist() == [0, 2, 1]
    assert capped.question.counts.tolist() == [400, 300, 300]


def test_capping_that_cannot_be():
    with pytest.raises(InvalidParameterError, match=r"no amount lies above the 0\.9999 quantile"):
        cap_at_quantile(CapacityQuestion([0, 1], [4, 6], 5, "fn", at_most=0.1), 0.9999)
    near = CapacityQuestion(np.arange(81), LONG_TAIL.counts, 84_000, "fn", at_most=0.05)
    with pytest.raises(InvalidParameterError, match="on the other side of the capacity"):
        cap_at_quantile(near, 0.98, compensate=False)
    with pytest.raises(InvalidParameterError, match="strictly between 0 and 1"):
        cap_at_quantile(LONG_TAIL, 1.5)
