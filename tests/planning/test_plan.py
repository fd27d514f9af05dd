"""Plans say what was found, how surely, and what could not be found."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scipy.stats import binomtest

from ldpkit.core.binomial import binomial_interval
from ldpkit.core.errors import InvalidParameterError
from ldpkit.planning.plan import Plan, Trial

TRACE = (Trial(20.0, 0.4, 100, False, 0.3), Trial(10.0, 0.1, 100, False, 0.5))
FOUND = Plan("bs", "grr", "mae at most 0.1", 0.9, 1.5, 0.93, (0.91, 0.95), 0.99, TRACE, 200, 0.1)


def test_an_infeasible_plan_says_so() -> None:
    plan = replace(FOUND, epsilon=None, probability=0.4)
    assert (plan.feasible, plan.satisfied, plan.holds) == (False, False, "no")
    assert "infeasible" in str(plan)
    assert "up to epsilon 20" in str(plan)
    assert plan.rows()[0]["epsilon"] is None


@pytest.mark.parametrize(
    ("interval", "verdict"), [((0.9, 0.95), "yes"), ((0.89, 0.95), "open"), ((0.8, 0.899), "no")]
)
def test_the_verdict_follows_from_the_interval(interval: tuple[float, float], verdict: str) -> None:
    assert replace(FOUND, interval=interval).holds == verdict


def test_a_computed_probability_needs_no_interval() -> None:
    assert replace(FOUND, interval=None, probability=0.9).holds == "yes"
    assert replace(FOUND, interval=None, probability=0.89).holds == "no"


def test_rows_have_the_trace_in_order() -> None:
    rows = FOUND.tried()
    assert [row["epsilon"] for row in rows] == [20.0, 10.0]
    assert {"protocol", "method", "runs", "passed", "mean", "probability"} <= set(rows[0])


@pytest.mark.parametrize(("successes", "runs"), [(0, 5), (5, 5), (1, 7), (900, 1000), (1, 1)])
def test_the_interval_is_that_of_clopper_and_pearson(successes: int, runs: int) -> None:
    expected = binomtest(successes, runs).proportion_ci(0.99, "exact")
    assert binomial_interval(successes, runs, 0.99) == pytest.approx((expected.low, expected.high), abs=1e-9)


@pytest.mark.parametrize(("successes", "runs"), [(2, 1), (-1, 5), (0, 0)])
def test_impossible_counts_are_refused(successes: int, runs: int) -> None:
    with pytest.raises(InvalidParameterError):
        binomial_interval(successes, runs)
