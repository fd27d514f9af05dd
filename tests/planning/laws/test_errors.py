"""The analytic laws: exact where enumeration can tell, close to simulation elsewhere."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import chi2

import ldpkit
from ldpkit.core.errors import InvalidParameterError
from ldpkit.planning.constraint import Constraint
from ldpkit.planning.frequencies.plans import plan_budget
from ldpkit.planning.frequencies.question import FrequencyQuestion
from ldpkit.planning.laws.errors import absolutes_score, largest_error_score, squares_score
from ldpkit.planning.laws.noise import NoiseLaw
from ldpkit.planning.laws.order import TauLaw, discordant_mean, discordant_moments
from ldpkit.planning.searches import TrialRunner
from ldpkit.simulation.metrics.concordance import TrueOrder
from ldpkit.simulation.populations import zipf


def independent(*variances: float) -> NoiseLaw:
    array = np.array(variances)
    return NoiseLaw(array, array, False, 1e6)


def centred(*spread: float) -> NoiseLaw:
    array = np.array(spread)
    variance = np.diag(NoiseLaw(array, array, True, 1e6).covariance())
    return NoiseLaw(variance, array, True, 1e6)


def covariance_of_reports(oracle: Any, counts: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the covariance of the estimates by listing every report of every person."""
    channel = oracle.channel()
    supports = np.array(
        [oracle.tally(channel.reports[i : i + 1]).counts for i in range(len(channel.reports))]
    )
    total = np.zeros((oracle.size, oracle.size))
    for people, row in zip(counts, channel.probabilities, strict=True):
        chances = np.array([float(chance) for chance in row])
        mean = chances @ supports
        total += people * ((supports.T * chances) @ supports - np.outer(mean, mean))
    return total / (counts.sum() * (oracle.p - oracle.q)) ** 2


@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize("name", ["grr", "ss", "sue", "oue"])
def test_the_covariance_is_that_of_all_reports(name: str, size: int) -> None:
    oracle = ldpkit.get(name, size, epsilon=0.8)
    counts = np.arange(1, size + 1) * 10
    law = NoiseLaw.of(oracle, counts)
    expected = covariance_of_reports(oracle, counts)
    np.testing.assert_allclose(law.covariance(), expected, rtol=0, atol=1e-12 * expected.max())
    np.testing.assert_allclose(law.variance, np.diag(expected), rtol=1e-12)


@pytest.mark.parametrize("k", [3, 10, 450])
def test_eigenvalues_are_those_of_the_covariance(k: int) -> None:
    law = NoiseLaw.of(ldpkit.GRR(k, epsilon=2), zipf(k, 100_000))
    expected = np.linalg.eigvalsh(law.covariance())[1:]
    tolerance = 1e-10 if k <= 400 else 0.01  # beyond, they are set into their gaps
    for power in (1, 2):
        assert (law.eigenvalues() ** power).sum() == pytest.approx((expected**power).sum(), rel=tolerance)


@pytest.mark.parametrize("k", [1, 5, 100])
@pytest.mark.parametrize("level", [0.01, 0.5, 0.9, 0.999])
def test_sums_of_squares_follow_chi_square(k: int, level: float) -> None:
    score = squares_score(independent(*[0.04] * k), 0.04 * chi2.ppf(level, k))
    assert float(ndtr(score)) == pytest.approx(level, abs=0.004 if k == 1 else 0.001)


@pytest.mark.parametrize("level", [0.1, 0.5, 0.9, 0.99])
def test_centred_squares_lose_one_degree_of_freedom(level: float) -> None:
    score = squares_score(centred(*[0.04] * 6), 0.04 * chi2.ppf(level, 5))
    assert float(ndtr(score)) == pytest.approx(level, abs=0.001)


def test_the_saddle_point_is_continuous_at_the_mean() -> None:
    law = independent(1.0, 2.0, 0.5)
    scores = [squares_score(law, 3.5 * (1 + offset)) for offset in (-1e-3, -1e-6, 0.0, 1e-6, 1e-3)]
    assert scores == sorted(scores)
    assert scores[-1] - scores[0] < 0.01


@pytest.mark.parametrize("bound", [0.5, 1.5, 3.0, 5.0])
def test_two_absolute_errors_fill_a_square(bound: float) -> None:
    # |x| + |y| <= b is a square turned by 45 degrees, so its normal mass is a product.
    expected = (2 * ndtr(bound / math.sqrt(2)) - 1) ** 2
    assert float(ndtr(absolutes_score(independent(1.0, 1.0), bound))) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("bound", [0.5, 1.5, 3.0])
def test_with_two_values_all_errors_are_one(bound: float) -> None:
    law = centred(1.0, 1.0)  # both errors are +-z with variance 1/2
    expected = 2 * ndtr(bound * math.sqrt(2)) - 1
    assert float(ndtr(largest_error_score(law, bound))) == pytest.approx(expected, abs=1e-9)
    assert float(ndtr(absolutes_score(law, 2 * bound))) == pytest.approx(expected, abs=0.005)
    assert float(ndtr(squares_score(law, 2 * bound**2))) == pytest.approx(expected, abs=0.005)


def test_the_largest_error_is_a_product() -> None:
    variances = (0.5, 1.0, 2.0)
    expected = math.prod(2 * ndtr(1.7 / math.sqrt(each)) - 1 for each in variances)
    assert float(ndtr(largest_error_score(independent(*variances), 1.7))) == pytest.approx(
        expected, abs=1e-12
    )


@pytest.mark.parametrize("score", [squares_score, absolutes_score, largest_error_score])
@pytest.mark.parametrize("law", [independent(1e-3, 2e-3, 1e-2), centred(1e-3, 2e-3, 1e-2)])
def test_scores_rise_from_one_end_to_the_other(score: Any, law: NoiseLaw) -> None:
    scores = [score(law, bound) for bound in (-1.0, 0.0, 1e-12, 1e-6, 1e-3, 0.03, 0.3, 3.0, 1e6)]
    assert scores == sorted(scores)
    assert scores[0] < -30
    assert scores[-1] > 30
    assert all(math.isfinite(each) for each in scores)


@pytest.mark.parametrize("k", [2, 5, 30])
def test_a_hidden_order_is_discordant_by_chance(k: int) -> None:
    truth, law = np.arange(k) * 1e-9, independent(*[1.0] * k)
    mean, variance = discordant_moments(truth, law)
    assert mean == pytest.approx(k * (k - 1) / 4, rel=1e-6)
    assert variance == pytest.approx(k * (k - 1) * (2 * k + 5) / 72, rel=0.01)


@pytest.mark.parametrize("k", [2, 7, 800])
def test_the_quick_mean_is_the_mean(k: int) -> None:
    counts = zipf(k, 50_000)
    law = NoiseLaw.of(ldpkit.GRR(k, epsilon=1.5), counts)
    truth = counts / counts.sum()
    assert discordant_mean(truth, law) == pytest.approx(discordant_moments(truth, law)[0], rel=1e-12)


def test_pairs_tied_in_the_truth_do_not_count() -> None:
    truth = np.array([0.2, 0.2, 0.6])
    assert discordant_mean(truth, independent(1e6, 1e6, 1e6)) == pytest.approx(1.0, abs=1e-3)
    assert TauLaw(np.array([0.5, 0.5]), 0.1).score(independent(1.0, 1.0)) < -30  # no order: tau is 0
    assert TauLaw(np.array([0.5, 0.5]), 0.0).score(independent(1.0, 1.0)) > 30


def test_tau_beyond_its_range_is_certain() -> None:
    truth, law = np.array([0.1, 0.3, 0.6]), independent(1.0, 1.0, 1.0)
    assert TauLaw(truth, 1.01).score(law) < -30
    assert TauLaw(truth, -1.0).score(law) > 30


@pytest.mark.parametrize("name", ["grr", "ss", "oue"])
def test_moments_of_discordance_are_those_of_simulation(name: str) -> None:
    counts = zipf(6, 3000)
    oracle, runs = ldpkit.get(name, 6, epsilon=0.5), 20_000
    law, truth = NoiseLaw.of(oracle, counts), counts / counts.sum()
    supports = oracle.simulate(counts, rng=ldpkit.random.seeded(8), repeats=runs)
    found = (1 - TrueOrder(truth).tau_b(oracle.unbiased(supports, 3000))) / 2 * 15
    mean, variance = discordant_moments(truth, law)
    reach = 5 * math.sqrt(variance / runs) + 0.01  # ties of whole counts move the mean a little
    assert abs(found.mean() - mean) < reach, "false alarm below 1e-6"
    assert found.var() == pytest.approx(variance, rel=0.06)
    if law.centred:  # the negative control: variances without covariances
        naive = NoiseLaw(law.variance, law.variance, False, law.smallest_count)
        assert abs(found.mean() - discordant_mean(truth, naive)) > reach


@pytest.mark.parametrize(
    ("metric", "omega"),
    [("l1", 0.1), ("mae", 0.01), ("l2", 0.04), ("mse", 2e-4), ("rmse", 0.014), ("max_error", 0.03)],
)
@pytest.mark.parametrize("protocol", ["grr", "oue", "blh"])
def test_the_selected_epsilon_is_right(metric: str, omega: float, protocol: str) -> None:
    for wanted in (0.5, 0.9):
        question = FrequencyQuestion(zipf(10, 20_000), protocol, Constraint(metric, "at most", omega, wanted))
        plan = plan_budget(question, "analytic")
        assert plan.epsilon is not None
        assert plan.probability == pytest.approx(wanted, abs=0.003)
        good = question.constraint.holds(
            TrialRunner(question, ldpkit.random.seeded(4)).draw(plan.epsilon, 4000)
        )
        # Four standard errors (false alarm 6e-5) and 0.02 for the law itself.
        assert abs(good.mean() - wanted) < 4 * math.sqrt(wanted * (1 - wanted) / 4000) + 0.02


@pytest.mark.parametrize("tau", [0.3, 0.8])
@pytest.mark.parametrize("protocol", ["grr", "sue", "olh"])
def test_the_selected_epsilon_keeps_the_order(tau: float, protocol: str) -> None:
    question = FrequencyQuestion(zipf(12, 20_000), protocol, Constraint("tau", "at least", tau, 0.9))
    plan = plan_budget(question, "analytic")
    assert plan.epsilon is not None
    good = question.constraint.holds(TrialRunner(question, ldpkit.random.seeded(4)).draw(plan.epsilon, 4000))
    assert abs(good.mean() - 0.9) < 4 * math.sqrt(0.09 / 4000) + 0.02, "false alarm 6e-5"
    fewer = question.constraint.holds(
        TrialRunner(question, ldpkit.random.seeded(4)).draw(0.7 * plan.epsilon, 4000)
    )
    assert fewer.mean() < 0.86  # the negative control


def test_two_values_are_exact() -> None:
    question = FrequencyQuestion([520, 480], "grr", Constraint("tau", "at least", 0.5, 0.9))
    plan = plan_budget(question, "analytic", tolerance=1e-5)
    assert plan.epsilon is not None
    spread = NoiseLaw.of(ldpkit.GRR(2, epsilon=plan.epsilon), question.counts).spread
    assert 0.04 / math.sqrt(spread.sum()) == pytest.approx(ndtri(0.9), abs=1e-3)


def test_small_counts_are_called_rough() -> None:
    question = FrequencyQuestion(zipf(20, 300), "grr", Constraint("mae", "at most", 0.004))
    plan = plan_budget(question, "analytic")
    assert "rough" in plan.note
    assert plan.holds == "open"


@pytest.mark.parametrize(
    ("metric", "direction", "protocol", "consistency", "message"),
    [
        ("kl", "at most", "oue", None, "law of kl is not known.*use sequential"),
        ("topk_recall@3", "at least", "oue", None, "use sequential"),
        ("mae", "at most", "oue", "norm_sub", "after norm_sub is not known.*use sequential"),
        ("kendall_tau", "at least", "oue", "base_pos", "after base_pos"),
        ("mae", "at most", "she", None, "pure protocol.*use sequential"),
    ],
)
def test_where_no_law_is_known_it_says_so(
    metric: str, direction: Any, protocol: str, consistency: str | None, message: str
) -> None:
    question = FrequencyQuestion(zipf(6, 1000), protocol, Constraint(metric, direction, 0.5), consistency)
    with pytest.raises(InvalidParameterError, match=message):
        plan_budget(question, "analytic")


def test_a_shift_keeps_the_order() -> None:
    wanted = Constraint("kendall_tau", "at least", 0.5)
    plain, shifted = (FrequencyQuestion(zipf(6, 9000), "oue", wanted, method) for method in (None, "norm"))
    assert plan_budget(plain, "analytic").epsilon == plan_budget(shifted, "analytic").epsilon
