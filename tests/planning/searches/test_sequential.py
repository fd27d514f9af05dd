"""The confidence sequence covers at all times at once, and the search keeps its promise."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ldpkit
from ldpkit.core.binomial import binomial_interval
from ldpkit.planning.constraint import Constraint
from ldpkit.planning.frequencies.plans import plan_budget
from ldpkit.planning.frequencies.question import FrequencyQuestion
from ldpkit.planning.searches import TrialRunner
from ldpkit.planning.searches.sequential import ConfidenceSequence, SequentialSearch
from ldpkit.simulation.populations import zipf

COUNTS = zipf(8, 20_000)
WANTED = Constraint("mae", "at most", 0.01, probability=0.9)


def chance_of_ever_excluding(p: float, runs: int, excludes: object) -> float:
    """Return the exact probability that p is excluded after any of the first runs."""
    alive = np.array([1.0])
    lost = 0.0
    for n in range(1, runs + 1):
        grown = np.zeros(n + 1)
        grown[:-1] += alive * (1 - p)
        grown[1:] += alive * p
        for successes in np.flatnonzero(grown > 1e-18):
            if excludes(int(successes), n):
                lost += grown[successes]
                grown[successes] = 0.0
        alive = grown
    return lost


@pytest.mark.parametrize("p", [0.5, 0.9, 0.97])
def test_the_sequence_covers_however_often_one_looks(p: float) -> None:
    sequence = ConfidenceSequence(0.9, error=0.05)
    lost = chance_of_ever_excluding(p, 250, lambda s, n: sequence.excludes(p, s, n))
    assert 0 < lost <= 0.05


def test_an_interval_for_one_look_does_not() -> None:
    def excludes(successes: int, n: int) -> bool:
        low, high = binomial_interval(successes, n)
        return not low <= 0.9 <= high

    assert chance_of_ever_excluding(0.9, 250, excludes) > 0.08  # the negative control


@pytest.mark.parametrize(("successes", "runs"), [(0, 20), (20, 20), (37, 40), (900, 1000), (1, 5000)])
def test_the_interval_ends_where_the_evidence_does(successes: int, runs: int) -> None:
    sequence = ConfidenceSequence(0.9, error=0.01)
    low, high = sequence.interval(successes, runs)
    assert low <= successes / runs <= high
    for end in (low, high):
        if 0 < end < 1:
            assert sequence.evidence(end, successes, runs) == pytest.approx(-math.log(0.01), abs=1e-6)


@pytest.mark.parametrize("wanted", [0.3, 0.9, 0.99])
def test_the_answer_is_shown_to_hold(wanted: float) -> None:
    constraint = Constraint("mae", "at most", 0.01, wanted)
    plan = plan_budget(FrequencyQuestion(COUNTS, "grr", constraint), rng=ldpkit.random.seeded(3))
    assert plan.holds == "yes"
    assert plan.confidence == 0.95
    assert plan.interval is not None
    assert plan.interval[0] > wanted


@pytest.mark.parametrize("tolerance", [0.5, 0.01, 0.0001])
def test_the_error_is_shared_among_all_comparisons(tolerance: float) -> None:
    search = SequentialSearch(tolerance=tolerance, most=50)
    for bound in (1e-9, 0.001, 0.01, 10.0):
        runner = TrialRunner(
            FrequencyQuestion(COUNTS, "oue", Constraint("mae", "at most", bound)), ldpkit.random.seeded(1)
        )
        search.select(runner)
        assert len(runner.trace) <= 1 + search._most_comparisons(0.001, 20.0)


def test_clear_cases_take_few_runs() -> None:
    plan = plan_budget(FrequencyQuestion(COUNTS, "oue", WANTED), rng=ldpkit.random.seeded(1))
    far = [trial for trial in plan.trace if plan.epsilon and not 0.5 < trial.epsilon / plan.epsilon < 2]
    assert far
    assert max(trial.runs for trial in far) < 150


def test_more_runs_come_closer() -> None:
    question = FrequencyQuestion(COUNTS, "oue", WANTED)
    exact = plan_budget(question, "analytic").epsilon
    few, many = (plan_budget(question, rng=ldpkit.random.seeded(2), most=most) for most in (100, 4000))
    assert exact is not None
    assert few.epsilon is not None
    assert many.epsilon is not None
    assert exact - 0.01 < many.epsilon < few.epsilon


def test_what_is_not_decided_is_not_promised() -> None:
    question = FrequencyQuestion(COUNTS, "oue", WANTED)
    edge = plan_budget(question, "analytic").epsilon
    assert edge is not None
    at_edge = FrequencyQuestion(COUNTS, "oue", WANTED, epsilon_max=edge)
    plan = plan_budget(at_edge, rng=ldpkit.random.seeded(1), most=200)
    assert plan.epsilon is None
    assert "undecided" in plan.note
