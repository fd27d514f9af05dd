"""The optimal table: bounds that hold, integers that keep epsilon, descriptions that are never solved."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ldpkit
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.exact import WORD
from ldpkit.mechanisms.base import from_spec
from ldpkit.mechanisms.optimal import OUTPUT_STEPS, making
from ldpkit.mechanisms.optimal.bounds import lower_bound, mean_loss, worst_loss
from ldpkit.mechanisms.optimal.making import best_for_prior, best_in_worst_case
from ldpkit.mechanisms.optimal.mechanism import Optimal
from ldpkit.mechanisms.optimal.problem import Problem
from ldpkit.mechanisms.optimal.solve import UnsolvedError, solve
from ldpkit.mechanisms.tables.table import ReportTable

FALSE_ALARM = 1e-9


def places(table):
    return np.array(table.outputs) / OUTPUT_STEPS


@pytest.mark.parametrize("epsilon", [0.001, 0.5, 1.0, 4.0, 20.0])
@pytest.mark.parametrize("grid", [None, 16])
def test_epsilon_is_exact_on_the_grid(epsilon, grid):
    mechanism = Optimal((0, 10), epsilon, intervals=5, grid=grid)
    assert epsilon - (1e-6 if epsilon < 10 else 1e-5) < mechanism.exact_epsilon() <= epsilon
    if grid is not None:
        assert mechanism.channel().epsilon() == mechanism.exact_epsilon()


@settings(max_examples=12, deadline=None)
@given(st.floats(0.01, 10), st.floats(0.05, 6), st.integers(1, 7))
def test_every_table_is_exactly_private_and_no_better_than_its_bound(epsilon, power, intervals):
    table = best_in_worst_case(epsilon, power, intervals)
    table.check(epsilon)
    assert all(sum(row) == WORD for row in table.rows)
    reached = worst_loss(table.shares, places(table), power)
    inputs = np.arange(intervals + 1) / intervals
    bound = lower_bound(solve(Problem.of_inputs(epsilon, power, inputs)))
    assert bound <= reached + 1e-12
    mechanism = Optimal((0, 1), epsilon, power=power, intervals=intervals)
    assert mechanism.error(np.linspace(0, 1, 65), power).max() <= reached + 1e-6


@pytest.mark.parametrize("power", [0.5, 1.0, 1.5, 2.0, 3.0])
def test_the_bound_holds_for_every_mechanism_there_is(power):
    """The bound is below the worst error of all others, and the mechanism's own is between."""
    table = best_in_worst_case(1.5, power, 12)
    upper = worst_loss(table.shares, places(table), power)
    inputs = np.arange(17) / 16
    bound = lower_bound(solve(Problem.of_inputs(1.5, power, inputs)))
    x = np.linspace(0, 1, 33)
    others = {
        name: ldpkit.get(name, (0, 1), epsilon=1.5).error(x, power).max()
        for name in ("ogpm", "compressed_pm", "compressed_sw", "compressed_duchi", "truncated_pm")
    }
    assert bound <= upper <= min(others.values()) + 1e-6
    assert upper < 1.06 * bound


def test_prices_that_are_wrong_lower_the_bound_and_never_raise_it():
    """The negative control: no choice of weights and prices gives a bound above the truth."""
    solved = solve(Problem.of_inputs(1.0, 2.0, np.array([0.0, 1.0])))
    truth = math.e / (1 + math.e) ** 2
    assert lower_bound(solved) == pytest.approx(truth, abs=1e-9)
    rng = np.random.default_rng(5)
    for _ in range(50):
        prices = solved.prices * rng.uniform(0.5, 2, 2)
        weights = rng.dirichlet([1, 1])
        wrong = type(solved)(**{**solved.__dict__, "prices": prices, "weights": weights})
        assert lower_bound(wrong) <= truth
    greedy = type(solved)(**{**solved.__dict__, "prices": 2 * solved.prices})
    assert lower_bound(greedy) < truth < greedy.prices.sum()


def test_outputs_between_inputs_are_part_of_the_bound():
    """With outputs at the inputs only, squared error looks harder than it is; the bound must know."""
    inputs = np.array([0.0, 1.0])
    solved = solve(Problem.of_inputs(1.0, 2.0, inputs))
    at_inputs_only = 1 / (1 + math.e)  # randomised response between 0 and 1
    assert solved.value < at_inputs_only
    crude = type(solved)(
        **{**solved.__dict__, "prices": np.full(2, at_inputs_only / 2), "weights": np.full(2, 0.5)}
    )
    assert crude.prices.sum() > math.e / (1 + math.e) ** 2 >= lower_bound(crude)


def test_the_worst_loss_is_the_worst_of_all_inputs():
    rng = np.random.default_rng(1)
    for power in (0.5, 1.0, 2.0, 2.7):
        table = best_in_worst_case(2.0, power, 6)
        x = np.sort(np.append(rng.uniform(0, 1, 4000), places(table)))
        problem = Problem(2.0, power, np.arange(7) / 6, x)
        seen = ((np.abs(places(table)[:, None] - x) ** power) * (problem.rounding @ table.shares).T).sum(
            axis=0
        )
        worst = worst_loss(table.shares, places(table), power)
        assert seen.max() <= worst < seen.max() + 2e-4


def test_a_prior_is_used():
    points, shares = np.array([0.1, 0.4, 0.8]), np.array([0.2, 0.5, 0.3])
    table = best_for_prior(2.0, 1.0, 10, points, shares)
    bound = lower_bound(solve(Problem.of_inputs(2.0, 1.0, points, shares)))
    assert mean_loss(table.shares, places(table), 1.0, points, shares) == pytest.approx(bound, abs=1e-8)
    mechanism = Optimal.for_prior((0, 10), 2.0, 10 * points, shares, intervals=10)
    assert float(mechanism.error(10 * points) @ shares) == pytest.approx(10 * bound, rel=1e-5)
    assert mechanism.exact_epsilon() <= 2
    ogpm = ldpkit.OGPMPrior.for_prior((0, 10), 2.0, 10 * points, shares)
    assert float(ogpm.error(10 * points) @ shares) > 10 * bound


def test_values_that_a_prior_does_not_have_are_not_turned_around():
    mechanism = Optimal.for_prior((0, 1), 1.0, [0.0, 1.0], intervals=8)
    means = mechanism.table.shares @ places(mechanism.table)
    assert np.diff(means).min() > -1e-9, "a larger value has smaller reports"


def test_reports_follow_the_law():
    from scipy.stats import chisquare

    mechanism = Optimal((0, 1), 2.0, intervals=8)
    for x in (0.0, 0.31, 1.0):
        place = int(mechanism.domain.encode([x], steps=mechanism.grid)[0])
        reports = mechanism.privatize(np.full(50_000, x), rng=ldpkit.random.seeded(5))
        observed = np.bincount(reports, minlength=len(mechanism.table.outputs))
        found = [
            chisquare(observed, mechanism.law(each).atom_masses * len(reports)).pvalue
            for each in (place, abs(place - mechanism.grid // 10))
        ]
        assert found[0] > FALSE_ALARM, (
            f"reports of {x} do not follow the law (false-alarm rate {FALSE_ALARM:g})"
        )
        assert found[1] < FALSE_ALARM, "the negative control passes: the law of another value fits as well"


def test_the_description_holds_the_table_and_reading_it_solves_nothing(monkeypatch):
    mechanism = Optimal((0, 1), 1.0, intervals=4)
    spec = json.loads(json.dumps(mechanism.spec()))

    def forbidden(*arguments, **options):
        raise AssertionError("solved")

    monkeypatch.setattr(making, "solve", forbidden)
    twin = from_spec(spec)
    assert twin == mechanism
    assert hash(twin) == hash(mechanism)
    for missing in ("outputs", "weights"):
        cut = {**spec, "parameters": {k: v for k, v in spec["parameters"].items() if k != missing}}
        with pytest.raises(InvalidParameterError, match="has a table: outputs and weights"):
            from_spec(cut)
    for changed, message in (
        ({"epsilon": 0.5}, r"not 0\.5-LDP"),
        ({"intervals": 5}, "intervals=5 need 6 inputs"),
        ({"outputs": [-1, *spec["parameters"]["outputs"][1:]]}, "lie within the interval"),
        ({"power": 0}, "power must be"),
        ({"time_limit": 1e9}, "no parameter 'time_limit'"),
        ({"weights": spec["parameters"]["weights"][:-16] + "0" * 16}, "positive integers that sum"),
    ):
        with pytest.raises(InvalidParameterError, match=message):
            from_spec({**spec, "parameters": {**spec["parameters"], **changed}})


def test_a_collection_is_estimated_from_its_reports():
    mechanism = Optimal((0, 10), 2.0, intervals=8)
    values = np.linspace(2, 6, 40_000)
    tally = mechanism.tally(mechanism.privatize(values, rng=ldpkit.random.seeded(4)))
    estimate = tally.estimate()
    low, high = estimate.interval(0.999)
    assert low <= values.mean() <= high
    assert mechanism.indistinct == ()
    constant = Optimal.for_prior((0, 10), 0.1, [5.0], intervals=4)
    assert constant.indistinct == ((0.0, 10.0),)


@pytest.mark.parametrize("power", [0, -1, math.nan])
def test_powers_that_are_none(power):
    with pytest.raises(InvalidParameterError, match="power must be"):
        Optimal((0, 1), 1.0, power=power)


def test_too_fine_a_grid_and_too_little_time_are_refused():
    with pytest.raises(InvalidParameterError, match=r"1000 intervals is too fine.*at most 128 intervals"):
        Optimal((0, 1), 1.0, intervals=1000)
    with pytest.raises(UnsolvedError, match=r"did not solve the program within 1e-06 s"):
        solve(Problem.worst_case(1.25, 1.0, 40), time_limit=1e-6)


def test_a_table_of_two_rows_may_be_all():
    table = ReportTable((0, OUTPUT_STEPS), ((3 << 62, 1 << 62), (1 << 62, 3 << 62)))
    mechanism = Optimal((0, 1), 1.2, outputs=table.outputs, weights=table.to_text())
    assert mechanism.intervals == 1
    assert mechanism.exact_epsilon() == pytest.approx(math.log(3))
    assert mechanism.error(0.5) == 0.5
