"""CAPRI, CAPRI-R and Bayesian optimisation, and the collections they draw."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

import ldpkit
from ldpkit.core.errors import InvalidParameterError, MissingDependencyError
from ldpkit.papers.capri.water import water
from ldpkit.planning.capacity.exact import exact
from ldpkit.planning.capacity.question import CapacityQuestion
from ldpkit.planning.capacity.search import bayesian, capri, capri_r
from ldpkit.planning.capacity.totals import from_collections, from_law
from ldpkit.planning.laws.totals import law_at
from slow import slow

AMOUNTS = np.arange(41)
QUESTION = CapacityQuestion(AMOUNTS, water(), 1_400_000, "fn", at_most=0.1)
EVEN = CapacityQuestion(AMOUNTS * 2 + 3, water(900, 14_000), 25_000, "fn", at_most=0.1)
UNEVEN = CapacityQuestion([0, 1, 2, 7, 20], [300, 200, 150, 100, 50], 2500, "fp", at_most=0.1)
IRREGULAR = CapacityQuestion([0, 2**0.5, 1, 3], [300, 200, 150, 100], 1000, "fp", at_most=0.1)


@pytest.mark.parametrize("name", ["grr", "sue", "oue", "olh", "ss"])
@pytest.mark.parametrize(("question", "epsilon"), [(EVEN, 1.5), (UNEVEN, 1.5), (IRREGULAR, 0.3)])
def test_collections_have_the_exact_law(name, question, epsilon):
    """Every quick way to draw totals, and the slow one, against the exact probability."""
    runs = 1500 if name == "ss" else 20_000
    right = question.right(law_at(name, question)(epsilon).at_most(question.capacity))
    drawn = from_collections(question, name, ldpkit.random.seeded(7))(epsilon, runs) / runs
    error = math.sqrt(right * (1 - right) / runs)
    assert abs(drawn - right) < 4.5 * error, "false alarm: 7e-6 for each of 15"
    wrong = question.right(law_at(name, question)(1.5 * epsilon).at_most(question.capacity))
    if runs == 20_000:
        assert abs(drawn - wrong) > 4.5 * error, "the check would notice another epsilon"


@pytest.mark.parametrize("name", ["grr", "oue"])
def test_whole_totals_have_the_exact_moments(name):
    from ldpkit.planning.capacity.totals import _sums

    oracle = ldpkit.get(name, 41, epsilon=0.8)
    sums = _sums(oracle, EVEN, 40_000, ldpkit.random.seeded(4).generator())
    reports = law_at(name, EVEN)(0.8).reports
    assert abs(sums.mean() - reports.mean) < 4.5 * math.sqrt(reports.variance / 40_000), "false alarm: 7e-6"
    assert abs(sums.var() / reports.variance - 1) < 4.5 * math.sqrt(2 / 40_000), "false alarm: 7e-6"


def test_draws_of_the_law_are_binomial():
    right = QUESTION.right(law_at("grr", QUESTION)(0.7).at_most(QUESTION.capacity))
    drawn = from_law(QUESTION, "grr", ldpkit.random.seeded(1))(0.7, 10**6) / 10**6
    assert abs(drawn - right) < 4.5 * math.sqrt(right * (1 - right) / 10**6), "false alarm: 7e-6"


@pytest.mark.parametrize("engine", ["collections", "law"])
def test_capri_is_near_the_exact_epsilon(engine):
    plan = capri(QUESTION, "grr", runs=5000, engine=engine, rng=ldpkit.random.seeded(1))
    answer = exact(QUESTION, "grr").epsilon
    # One standard error of epsilon is 0.009 here, and the grid has steps of 0.01.
    assert abs(plan.epsilon - answer) < 0.06
    assert len(plan.trace) == 11
    assert plan.trace[0].epsilon == 10
    assert plan.simulations == (55_000 if engine == "collections" else 0)
    assert plan.interval[0] < plan.probability < plan.interval[1]
    assert 0 <= plan.confidence <= 1


def test_the_same_seed_gives_the_same_plan():
    first, second = (capri(QUESTION, "grr", runs=500, rng=ldpkit.random.seeded(5)) for _ in range(2))
    assert first.trace == second.trace


@pytest.mark.parametrize("search", [capri, capri_r])
def test_an_infeasible_question_ends_at_once(search):
    question = CapacityQuestion(AMOUNTS, water(), 1_598_000, "fn", at_most=0.01)
    plan = search(question, "grr", runs=500, epsilon_max=1, rng=ldpkit.random.seeded(1))
    assert (plan.epsilon, len(plan.trace), plan.trace[0].epsilon) == (None, 1, 1.0)


@pytest.mark.parametrize("delta", [1e-6, 0.004, 0.05, 1.0, 100.0])
def test_capri_r_ends_whatever_delta_is(delta):
    """The thesis' version never ends for delta of half the precision and more."""
    plan = capri_r(QUESTION, "grr", delta=delta, runs=2000, engine="law", rng=ldpkit.random.seeded(3))
    assert plan.trace[-1].passed
    assert plan.epsilon == plan.trace[-1].epsilon
    assert abs(plan.epsilon - exact(QUESTION, "grr").epsilon) < 0.1
    assert all(0.001 <= trial.epsilon <= 10 for trial in plan.trace)


def test_more_runs_make_it_steadier():
    def spread(runs):
        sources = ldpkit.random.seeded(9).spawn(15)
        return np.std([capri(QUESTION, "grr", runs=runs, engine="law", rng=each).epsilon for each in sources])

    assert spread(20_000) < spread(300)


def test_a_watcher_sees_every_trial():
    seen = []

    def watch(trials, total, label):
        assert (total, label) == (11, "simulating grr")
        for trial in trials:
            seen.append(trial)
            yield trial

    plan = capri(QUESTION, "grr", runs=200, engine="law", rng=ldpkit.random.seeded(1), watch=watch)
    assert tuple(seen) == plan.trace


@pytest.mark.parametrize("protocol", ["grr", *slow("oue")])
def test_bayesian_is_near_the_exact_epsilon(protocol):
    pytest.importorskip("bayes_opt", reason="bayesian-optimization is not installed")
    plan = bayesian(QUESTION, protocol, runs=5000, engine="law", rng=ldpkit.random.seeded(1))
    assert plan.epsilon == min(trial.epsilon for trial in plan.trace if trial.passed)
    assert abs(plan.epsilon - exact(QUESTION, protocol).epsilon) < 0.05
    failed = [trial.epsilon for trial in plan.trace if not trial.passed and trial.epsilon < plan.epsilon]
    assert plan.epsilon - max(failed) <= 0.01, "the gap below the answer is halved until it is narrow"
    assert len(plan.trace) >= 25


def test_bayesian_says_what_it_needs(monkeypatch):
    monkeypatch.setitem(sys.modules, "bayes_opt", None)
    with pytest.raises(
        MissingDependencyError, match=r'bayesian-optimization: .* -m pip install .*\[optimisation\]"'
    ):
        bayesian(QUESTION, "grr")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "magic"}, "collections or law"),
        ({"runs": 0}, "runs must be at least 1"),
        ({"precision": 0}, "precision must be a number"),
        ({"precision": float("nan")}, "precision must be a number"),
        ({"epsilon_min": 5, "epsilon_max": 1}, "below epsilon_max"),
    ],
)
def test_options_that_make_no_sense(options, message):
    with pytest.raises(InvalidParameterError, match=message):
        capri(QUESTION, "grr", **options)


@pytest.mark.parametrize("delta", [0, -1, float("inf"), True])
def test_a_delta_that_makes_no_sense(delta):
    with pytest.raises(InvalidParameterError, match="delta must be positive"):
        capri_r(QUESTION, "grr", delta=delta)


@pytest.mark.parametrize(
    ("protocol", "message"),
    [
        ("bounded_laplace", "the mean report of bounded_laplace is not a linear"),
        ("lgrr", "planning looks for one"),
    ],
)
def test_mechanisms_that_cannot_be_searched(protocol, message):
    with pytest.raises(InvalidParameterError, match=message):
        capri(QUESTION, protocol)
