"""Recommendations: the right one first, for the right reason."""

from functools import partial
from statistics import NormalDist

import numpy as np
import pytest

import ldpkit
from ldpkit.core.domains.interval import IntervalDomain
from ldpkit.core.errors import InvalidInputError, InvalidParameterError, LdpkitError
from ldpkit.mechanisms.kinds import Selection
from ldpkit.planning.constraint import Constraint
from ldpkit.planning.frequencies import recommend as recommend_module
from ldpkit.planning.frequencies.nothing import learn_nothing
from ldpkit.planning.frequencies.plans import plan_budget
from ldpkit.planning.frequencies.question import FrequencyQuestion
from ldpkit.planning.frequencies.recommend import recommend
from ldpkit.planning.frequencies.study import BUDGETS, OracleStudy, _first_good
from ldpkit.planning.mean.mechanisms import mean_options, smallest_epsilon
from ldpkit.simulation.metrics import metric_for
from ldpkit.simulation.populations import POPULATIONS

FEW = np.array([600, 300, 80, 20])


def ask(counts, *arguments, **options):
    return recommend(counts, *arguments, rng=ldpkit.random.seeded(1), repeats=100, **options)


def test_grr_is_best_for_few_values_and_not_for_many():
    protocols = ["grr", "oue"]
    assert ask(FEW, epsilon=2.0, protocols=protocols).best.protocol == "grr"
    many = POPULATIONS.get("zipf")(64, 20_000)
    assert ask(many, epsilon=1.0, protocols=protocols).best.protocol == "oue"


def test_options_are_in_order_and_complete():
    found = ask(FEW, "mae", epsilon=1.0, protocols=["grr", "oue"])
    errors = [option.error for option in found.options]
    assert errors == sorted(errors)
    assert {(option.protocol, option.estimator) for option in found.options} == {
        (protocol, estimator) for protocol in ("grr", "oue") for estimator in ("mi", "ibu_limit")
    }
    assert all(option.low <= option.error <= option.high for option in found.options)
    assert all(0 < option.attack < 1 for option in found.options)


def test_an_agreement_is_ranked_from_above():
    found = ask(FEW, "kendall_tau", epsilon=1.0, protocols=["grr"])
    errors = [option.error for option in found.options]
    assert errors == sorted(errors, reverse=True)


def test_the_epsilon_of_a_wanted_accuracy_gives_it():
    wanted = Constraint("mae", "at most", 0.03, probability=0.8)
    found = ask(FEW, wanted=wanted, protocols=["grr"])
    plain = next(option for option in found.options if (option.estimator, option.method) == ("mi", "none"))
    oracle = ldpkit.GRR(4, epsilon=plain.epsilon)
    supports = oracle.simulate(FEW, rng=ldpkit.random.seeded(9), repeats=4000)
    share = wanted.holds(np.abs(oracle.unbiased(supports, 1000) - FEW / 1000).mean(axis=1)).mean()
    assert share == pytest.approx(0.8, abs=0.1), "100 runs allow this much: false alarm rate 0.01"
    assert wanted.holds(np.array([plain.error])).all()
    assert found.best.epsilon <= plain.epsilon


@pytest.mark.parametrize("protocol", ["grr", "oue"])
def test_the_epsilon_between_two_budgets_is_that_of_the_law(protocol):
    people = POPULATIONS.get("zipf")(32, 50_000)
    wanted = Constraint("mae", "at most", 0.004, probability=0.9)
    make, rng = partial(ldpkit.get, protocol, 32), ldpkit.random.seeded(5)
    plain = next(OracleStudy(make, people, wanted.measure, 1000, rng).smallest(wanted))
    computed = plan_budget(FrequencyQuestion(people, protocol, wanted), "analytic").epsilon
    assert plain.epsilon == pytest.approx(computed, rel=0.015), "1000 runs: false alarm rate below 0.001"
    assert plain.epsilon != pytest.approx(BUDGETS[np.searchsorted(BUDGETS, computed)], rel=0.015)
    assert wanted.quantile(plain.values) == pytest.approx(0.004)


@pytest.mark.parametrize("first", [0, 1, 13, 14, 15, 27, 28])
def test_the_first_good_budget_is_found_from_any_guess(first):
    for guess in (0, 9, 14, 20, 27):
        tried = []

        def is_good(epsilon, tried=tried):
            tried.append(epsilon)
            return BUDGETS.index(epsilon) >= first

        assert _first_good(is_good, guess) == first
        assert len(set(tried)) <= 2 + 2 * abs(guess - first)


def test_what_never_does_is_said():
    wanted = Constraint("mae", "at most", 0.0005, probability=0.9)
    study = OracleStudy(partial(ldpkit.get, "oue", 4), FEW, wanted.measure, 20, ldpkit.random.seeded(1))
    assert next(study.smallest(wanted)).epsilon is None


def test_the_reasons_name_the_best_and_the_runner_up():
    reasons = list(ask(FEW, epsilon=1.0, protocols=["grr", "oue"]).reasons())
    assert "grr" in reasons[0]
    assert "smallest expected mean absolute error" in reasons[0]
    assert "oue" in reasons[1]


@pytest.mark.parametrize(
    ("counts", "options", "words"),
    [
        (FEW, {}, "either an epsilon or a wanted"),
        (FEW, {"epsilon": 1.0, "wanted": Constraint("mae", "at most", 0.1)}, "either an epsilon or a wanted"),
        (FEW, {"wanted": Constraint("mae", "at most", 1e-9), "protocols": ["blh"]}, "ask more people"),
        (np.array([5]), {"epsilon": 1.0}, "at least 2 values"),
        (np.array([5, -1]), {"epsilon": 1.0}, "negative"),
    ],
)
def test_senseless_questions_are_refused(counts, options, words):
    with pytest.raises(InvalidInputError, match=words):
        ask(counts, **options)


def test_the_best_mechanism_for_a_mean():
    unit = IntervalDomain(-1.0, 1.0)
    by_error = {option.mechanism: option for option in mean_options(unit, 10_000, epsilon=4.0)}
    assert by_error["pm"].stderr < by_error["duchi"].stderr
    small = mean_options(unit, 10_000, epsilon=0.3)
    assert small[0].mechanism in ("duchi", "hm")
    assert small[0].stderr <= small[-1].stderr


def test_the_epsilon_for_a_mean_is_the_smallest():
    unit = IntervalDomain(0.0, 10.0)
    reach = NormalDist().inv_cdf(0.975)
    epsilon = smallest_epsilon("pm", unit, 10_000, 0.1 * reach)
    at, below = (
        max(float(ldpkit.get("pm", unit, epsilon=each).variance(x)) for x in (0, 5, 10)) / 10_000
        for each in (epsilon, 0.9999 * epsilon)
    )
    assert at <= 0.01 < below
    assert smallest_epsilon("duchi", unit, 10, 1e-3) is None
    assert smallest_epsilon("duchi", unit, 10, 1e9) == 0.001


def test_senseless_questions_about_means_are_refused():
    unit = IntervalDomain(0.0, 1.0)
    with pytest.raises(InvalidInputError, match="either"):
        mean_options(unit, 100)
    with pytest.raises(InvalidInputError, match="ask more people"):
        mean_options(unit, 10, within=1e-6)
    with pytest.raises(InvalidParameterError, match="positive"):
        mean_options(unit, 10, within=-1.0)


# --- learning nothing, and ties ------------------------------------------------------------


def test_few_people_at_a_small_epsilon_learn_nothing():
    people = POPULATIONS.get("zipf")(100, 200)
    found = ask(people, epsilon=0.1, protocols=["grr", "ss"])
    assert not found.teaches
    assert (found.nothing.estimator, found.nothing.error) == ("zeros", pytest.approx(0.01))
    assert found.ranked()[0] is found.nothing
    assert found.best.error > found.nothing.error
    enough = found.enough
    assert ask(people << 8, epsilon=0.1, protocols=["grr", "ss"]).teaches
    assert 200 < enough.more_people <= 200 << 8
    assert ask(people, epsilon=2 * enough.more_epsilon, protocols=["grr", "ss"]).teaches


def test_what_teaches_is_not_accused():
    found = ask(FEW, epsilon=2.0, protocols=["grr"])
    assert found.teaches
    assert found.enough is None
    assert found.ranked()[-1] is found.nothing
    assert found.warnings == ()


def test_a_ranking_by_a_constant_is_no_knowledge():
    people = np.arange(40, 0, -1)  # sorted: the first ten of equals would all be right
    assert learn_nothing(people, metric_for("topk_precision@10")).error == pytest.approx(0.25, abs=0.03)
    assert learn_nothing(people, metric_for("kendall_tau")).error == 0.0


def test_methods_that_change_nothing_tie():
    found = ask(np.array([400, 300, 200, 100]) * 1000, epsilon=4.0, protocols=["grr"])
    tied = {option.method for option in found.ties}
    assert {"none", "norm", "norm_sub", "norm_cut"} <= tied
    first = next(found.reasons())
    assert first.startswith(f"{len(found.ties)} combinations tie for the ")
    assert not any("worse" in reason and "e-" in reason for reason in found.reasons())


def test_epsilons_within_the_noise_of_the_simulation_tie():
    wanted = Constraint("mae", "at most", 0.02, probability=0.8)
    found = ask(FEW, wanted=wanted, protocols=["grr"])
    assert found.best.epsilon_stderr > 0
    for option in found.options:
        reach = 2 * np.hypot(found.best.epsilon_stderr, option.epsilon_stderr)
        assert option.tied == (abs(option.epsilon - found.best.epsilon) <= 0.9921 * reach)  # Student: 1.984


def test_a_large_domain_is_attacked_too():
    found = ask(POPULATIONS.get("zipf")(3000, 1_000_000), epsilon=4.0, protocols=["oue"])
    assert 0 < found.best.attack < 1


def test_all_leaves_out_what_cannot_be_simulated_and_a_name_is_refused(monkeypatch):
    monkeypatch.setattr(recommend_module, "select", lambda *_, **__: Selection(["grr", "ss"], {}))
    many = FEW * 10**7
    found = recommend(many, epsilon=1.0, repeats=2, rng=ldpkit.random.seeded(1))
    assert {option.protocol for option in found.options} == {"grr"}
    assert found.left_out[0].startswith("ss: subset selection is simulated for fewer than 1e9 people")
    with pytest.raises(LdpkitError, match="1e9"):
        recommend(many, epsilon=1.0, protocols=["ss"], repeats=2, rng=ldpkit.random.seeded(1))


def test_a_single_person_is_no_reason_to_stop():
    found = recommend([1, 0], epsilon=0.5, protocols=["oue"], repeats=8, rng=ldpkit.random.seeded(1))
    assert not found.teaches
