"""Budgets for means: the smallest epsilon that does, seen by exact simulation."""

import numpy as np
import pytest

import ldpkit
from ldpkit.core.domains.interval import IntervalDomain
from ldpkit.core.errors import InvalidParameterError
from ldpkit.planning.mean.mechanisms import mean_options
from ldpkit.planning.mean.question import MeanQuestion, plan_mean, verify_mean
from ldpkit.planning.mean.variance import Spread, report_variance, unbiased_mechanisms, worst_value
from slow import slow

CENT = IntervalDomain(0.0, 100.0)
SKEWED = 100 * ldpkit.random.seeded(1).generator().beta(5, 1, 4000)
AGES = ldpkit.random.seeded(2).generator().integers(18, 90, 4000).astype(float)


def ask(mechanism, within=0.5, n=100_000, values=None, **options):
    return MeanQuestion(mechanism, CENT, within, n, values, **options)


@pytest.mark.parametrize("values", [None, SKEWED, *slow(AGES)], ids=["any", "skewed", "ages"])
@pytest.mark.parametrize("name", ["hm", "sw", *slow("pm", "duchi", "staircase")])
def test_simulations_agree_and_less_is_not_enough(name, values):
    question = ask(name, values=values)
    plan = plan_mean(question)
    assert plan.holds == "yes"
    assert plan.simulations == 0
    at, below = verify_mean(question, plan, rng=ldpkit.random.seeded(7), runs=4000)
    assert at.probability == pytest.approx(0.95, abs=0.0155), "4.5 standard errors: false alarm rate 7e-6"
    assert below.epsilon == pytest.approx(0.9 * at.epsilon)
    assert below.holds == "no"


def test_reports_of_two_numbers_stay_on_the_safe_side():
    question = ask("duchi", within=5.0, n=1000)
    plan = plan_mean(question)
    at, _ = verify_mean(question, plan, rng=ldpkit.random.seeded(3))
    assert at.probability > 0.945, "means are a grid here; three standard errors: false alarm rate 0.002"


def test_recommend_and_plan_say_the_same():
    options = {option.mechanism: option for option in mean_options(CENT, 100_000, within=0.5)}
    for name, option in options.items():
        if name != "laplace":  # it takes longest, and is no different
            assert plan_mean(ask(name)).epsilon == pytest.approx(option.epsilon, rel=1e-9)
    assert options["hm"].within == pytest.approx(0.5, rel=1e-5)


def test_values_save_budget_where_they_are_not_the_worst():
    assert plan_mean(ask("pm", values=np.full(10, 50.0))).epsilon < 0.9 * plan_mean(ask("pm")).epsilon
    worst = plan_mean(ask("pm", values=np.array([0.0, 100.0])))
    assert worst.epsilon == pytest.approx(plan_mean(ask("pm")).epsilon, rel=1e-5)


def test_the_hybrid_mechanism_is_smallest_on_both_sides_of_its_switch():
    # At 0.609 it changes from Duchi's, which is better for values at the ends, and its error jumps up.
    ends = np.array([0.0, 100.0])
    question = ask("hm", values=ends)
    before, after = question.error(0.6), question.error(0.62)
    assert before < after
    wanted = (question.error(0.605) + before) / 2
    plan = plan_mean(ask("hm", within=wanted, values=ends))
    assert 0.6 < plan.epsilon < 0.605


@pytest.mark.parametrize("name", ["hm", "pm", "duchi", "sw", "staircase"])
@pytest.mark.parametrize("epsilon", [0.4, 3.0])
def test_the_variance_over_values_is_their_mean(name, epsilon):
    mechanism = ldpkit.get(name, CENT, epsilon=epsilon)
    values = SKEWED[:300]
    mean = mechanism.variance(values).mean() / float(mechanism.line[1]) ** 2
    assert report_variance(mechanism, Spread(CENT, values)) == pytest.approx(mean, rel=1e-6)
    grid = np.linspace(0, 100, 41)
    assert mechanism.variance(worst_value(mechanism)) >= mechanism.variance(grid).max() * (1 - 1e-9)


def test_a_mechanism_without_a_parabola_is_computed_in_groups():
    class Cubic(ldpkit.PM):
        def variance(self, x):
            return 1.0 + np.asarray(x, float) ** 3

    mechanism = Cubic(CENT, epsilon=1.0)
    average = report_variance(mechanism, Spread(CENT, SKEWED))
    assert average == pytest.approx(1 + (SKEWED**3).mean(), rel=1e-3)
    assert worst_value(mechanism) == 100.0


def test_many_values_stand_in_few_groups_with_the_same_mean():
    places, counts = Spread(CENT, SKEWED).groups(1 << 20)
    assert len(places) <= 129
    assert counts.sum() == len(SKEWED)
    assert places @ counts / len(SKEWED) / (1 << 20) * 100 == pytest.approx(SKEWED.mean(), abs=1e-4)


@pytest.mark.parametrize("n", [1, 777, 10_000_000])
def test_another_number_of_people_has_the_same_spread(n):
    question = ask("pm", n=n, values=AGES)
    places, counts = question.people(question.at(1.0))
    assert counts.sum() == n
    assert (counts >= 0).all()
    if n > 10_000:
        assert places @ counts / n / (1 << 20) * 100 == pytest.approx(AGES.mean(), abs=1e-3)


def test_an_infeasible_plan_says_so_and_is_not_verified():
    question = ask("duchi", within=0.01, n=100)
    plan = plan_mean(question)
    assert not plan.feasible
    assert plan.holds == "no"
    assert "not reached up to epsilon 20" in str(plan)
    assert list(verify_mean(question, plan, rng=ldpkit.random.seeded(1))) == []


def test_a_range_of_budgets_is_kept():
    assert plan_mean(ask("hm", within=50.0, epsilon_min=0.3)).epsilon == 0.3
    assert plan_mean(ask("hm", epsilon_max=1.0)).epsilon is None
    assert all(
        0.5 <= trial.epsilon <= 4 for trial in plan_mean(ask("pm", epsilon_min=0.5, epsilon_max=4)).trace
    )


def test_few_people_are_said_to_be_rough():
    few = plan_mean(ask("pm", within=50.0, n=20))
    assert "rough" in few.note
    assert few.holds == "open"
    assert "rough" not in plan_mean(ask("pm")).note


def test_biased_mechanisms_are_not_among_the_unbiased():
    assert unbiased_mechanisms() == ["duchi", "hm", "laplace", "ogpm_unbiased", "pm", "staircase"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"within": -1.0}, "positive and finite, got -1"),
        ({"within": float("nan")}, "positive and finite, got nan"),
        ({"n": 0}, "at least 1"),
        ({"n": 2**63}, "must be below 2\\*\\*62"),
        ({"probability": 1.0}, "strictly between 0 and 1"),
        ({"epsilon_min": 2.0, "epsilon_max": 1.0}, "below the largest"),
    ],
)
def test_senseless_questions_are_refused(options, words):
    with pytest.raises(InvalidParameterError, match=words):
        ask("pm", **options)


def test_what_another_mechanism_surpasses_is_said_with_the_numbers():
    words = (
        "ogpm_unbiased has 3.8 times the variance of pm in the worst case and 4.5 times on average: use pm"
    )
    assert f"{words}." in ldpkit.recommend_mean((0, 10), 1000, epsilon=1.0).notes()
    plans = ldpkit.plan.mean((0, 10), 0.5, ["pm", "ogpm_unbiased"], n=5000)
    assert any("times the variance of pm" in note for note in plans.notes())
    assert not any(
        "times the variance" in note for note in ldpkit.plan.mean((0, 10), 0.5, "pm", n=5000).notes()
    )


def test_a_mechanism_without_a_simple_mean_is_refused():
    with pytest.raises(InvalidParameterError, match="use one of duchi"):
        plan_mean(ask("truncated_pm"))
