"""THE and SHE: the threshold in closed form, and Laplace noise in integers."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldpkit
from ldpkit.core.errors import FileFormatError, InvalidInputError, InvalidParameterError
from ldpkit.core.exact import WORD, log_up
from ldpkit.mechanisms.categorical.grid_laplace import GridLaplace
from ldpkit.testing.false_alarms import SAID, z_limit

seeded = ldpkit.random.seeded


def the(size=5, epsilon=1.0):
    return ldpkit.get("the", size, epsilon=epsilon)


def she(size=5, epsilon=1.0):
    return ldpkit.get("she", size, epsilon=epsilon)


# --- THE --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "theta"), [(0.5, 0.561629), (1.0, 0.618553), (2.0, 0.709614), (4.0, 0.815676)]
)
def test_theta_is_the_published_optimum(epsilon, theta):
    assert the(epsilon=epsilon).theta == pytest.approx(theta, abs=1e-6)


def printed_variance(theta, epsilon):
    x = np.exp(epsilon * theta / 2)
    return (2 * x - 1) / (1 + np.exp(epsilon * (theta - 0.5)) - 2 * x) ** 2


@pytest.mark.parametrize("epsilon", [0.001, 0.1, 1.0, 3.0, 10.0, 20.0])
def test_no_threshold_up_to_one_has_less_variance(epsilon):
    mechanism = the(epsilon=epsilon)
    assert 0.5 < mechanism.theta < 1
    grid = np.linspace(0.01, 1, 2000)
    best = printed_variance(grid, epsilon).min()
    assert mechanism.variance(0.0, 1) <= best * (1 + 1e-9)
    assert mechanism.variance(0.0, 1) == pytest.approx(printed_variance(mechanism.theta, epsilon), rel=1e-9)


def test_beyond_one_the_printed_variance_is_a_trap():
    """The negative control: the formula no longer holds there, and an optimiser would love it."""
    assert printed_variance(np.linspace(1, 6, 5000), 2.0).min() < 0.01 < the(epsilon=2.0).variance(0.0, 1)


@given(epsilon=st.floats(0.001, 20.0))
def test_thresholds_are_rounded_towards_privacy(epsilon):
    mechanism = the(3, epsilon)
    own, other = (threshold / WORD for threshold in mechanism.thresholds)
    assert own == pytest.approx(1 - math.exp(epsilon / 2 * (mechanism.theta - 1)) / 2, rel=1e-12)
    assert other == pytest.approx(math.exp(-epsilon * mechanism.theta / 2) / 2, rel=1e-9)
    assert 0 < mechanism.exact_epsilon() < epsilon


def test_the_says_less_than_the_laplace_vector_it_comes_from():
    mechanism = the(4, 1.0)
    assert mechanism.tight is False
    p, q = mechanism.support_probabilities
    assert mechanism.exact_epsilon() == log_up(p * (1 - q) / (q * (1 - p))) == mechanism.channel().epsilon()
    assert mechanism.exact_epsilon() == pytest.approx(0.895989, abs=1e-6)


def test_bits_are_those_of_thresholded_laplace_noise():
    draws, epsilon = 200_000, 1.0
    mechanism = the(2, epsilon)
    noise = seeded(1).generator().laplace(scale=2 / epsilon, size=(draws, 2))
    ideal = (noise + np.array([1.0, 0.0]) > mechanism.theta).mean(axis=0)
    real = mechanism.tally(mechanism.privatize(np.zeros(draws, int), rng=seeded(2))).counts / draws
    z = (ideal - real) / np.sqrt(2 * 0.25 / draws)
    assert np.abs(z).max() < z_limit(2), f"z-scores {z} ({SAID})"


# --- the grid law -----------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.001, 0.01, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 19.99, 20.0])
def test_grid_law_is_exact(epsilon):
    law = GridLaplace(epsilon)
    weights = law.weights
    assert len(weights) == law.grid + 2 * law.reach + 1
    assert sum(weights) == WORD
    assert min(weights) > 0
    assert epsilon - 1e-6 <= law.exact_epsilon() <= epsilon
    assert float(law.variance) == pytest.approx(8 / epsilon**2, rel=2e-4)
    assert abs(float(law.mean)) < 1e-5


@given(epsilon=st.floats(0.01, 20.0))
def test_grid_law_is_exact_anywhere(epsilon):
    assert epsilon - 1e-6 <= GridLaplace(epsilon).exact_epsilon() <= epsilon


def test_grid_law_is_laplace_and_its_clamped_tails():
    law = GridLaplace(1.0)
    decay = math.exp(-1 / (2 * law.grid))
    zero = law.reach
    bulk = np.array(law.weights[zero : zero + 1000], float) / WORD
    assert np.allclose(bulk, (1 - decay) / (1 + decay) * decay ** np.arange(1000), rtol=1e-6)
    assert law.weights[0] / WORD == pytest.approx(decay**law.reach / (1 + decay), rel=1e-6)
    assert law.weights[-1] / WORD == pytest.approx(decay ** (law.reach + law.grid) / (1 + decay), rel=1e-6)


def test_rounding_the_other_way_breaks_the_promise():
    """The negative control: round the likelier outcome up and its mirror image down."""
    law = GridLaplace(1.0)
    low = law.weights[-1]
    assert log_up(Fraction(law.weights[0] + 1, low - 1) ** 2) > 1


def test_sums_are_drawn_from_the_table():
    """Single draws against the table in 40 cells; sums by mean and variance."""
    law = GridLaplace(2.0)
    draws = 200_000
    singles = law.sample_sums(np.ones(draws, int), seeded(3).generator())
    weights = np.array(law.weights, float) / WORD
    edges = np.searchsorted(np.cumsum(weights), np.linspace(0, 1, 41)[1:-1])
    cells = np.add.reduceat(weights, np.concatenate([[0], edges]))
    observed = np.bincount(np.searchsorted(edges, singles + law.reach, side="right"), minlength=40)
    z = (observed - draws * cells) / np.sqrt(draws * cells * (1 - cells))
    assert np.abs(z).max() < z_limit(40), f"z-scores {z} ({SAID})"
    sums = law.sample_sums(np.full(20_000, 1000), seeded(4).generator()) / law.grid
    z = (sums.mean() - 1000 * float(law.mean)) / math.sqrt(1000 * float(law.variance) / 20_000)
    assert abs(z) < z_limit(1), f"z-score {z} ({SAID})"
    z = (sums.var() / (1000 * float(law.variance)) - 1) / math.sqrt(2 / 20_000)
    assert abs(z) < z_limit(1), f"z-score {z} ({SAID})"


def test_blocks_cover_every_outcome_once():
    law = GridLaplace(0.7)
    covered = sorted(
        start + away * step for start, away, digits in law._blocks for step in range(1 << digits)
    )
    assert covered == list(range(-law.reach, law.grid + law.reach + 1))


# --- SHE --------------------------------------------------------------------------------


def test_she_reports_follow_the_table():
    mechanism = she(3, 2.0)
    draws = 100_000
    reports = mechanism.privatize(np.full(draws, 1), rng=seeded(5)).astype(int)
    weights = np.array(mechanism.law.weights, float) / WORD
    edges = np.searchsorted(np.cumsum(weights), np.linspace(0, 1, 31)[1:-1])
    cells = np.add.reduceat(weights, np.concatenate([[0], edges]))
    for column, outcomes in enumerate(reports.T):
        zeroed = mechanism.grid - outcomes if column == 1 else outcomes
        places = np.searchsorted(edges, zeroed + mechanism.law.reach, side="right")
        z = (np.bincount(places, minlength=30) - draws * cells) / np.sqrt(draws * cells * (1 - cells))
        assert np.abs(z).max() < z_limit(90), f"z-scores {z} ({SAID})"


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0, 20.0])
@pytest.mark.parametrize("way", ["users", "simulate"])
def test_she_is_unbiased_with_the_stated_variance(epsilon, way):
    mechanism = she(4, epsilon)
    counts = np.array([50, 30, 20, 0])
    repeats = 2000
    if way == "users":
        people = np.repeat(np.arange(4), counts)
        reports = mechanism.privatize(np.tile(people, repeats), rng=seeded(6))
        sums = np.array([mechanism.tally(part).counts for part in np.split(reports, repeats)])
    else:
        sums = mechanism.simulate(counts, rng=seeded(7), repeats=repeats)
    estimates, truth = mechanism.unbiased(sums, 100), counts / 100
    variance = mechanism.variance(truth, 100)
    assert np.allclose(variance, 8 / epsilon**2 / 100, rtol=1e-3)
    z = (estimates.mean(axis=0) - truth) / np.sqrt(variance / repeats)
    assert np.abs(z).max() < z_limit(8), f"biased, z-scores {z} ({SAID})"
    z = (estimates.var(axis=0) / variance - 1) / np.sqrt(2.1 / repeats)
    assert np.abs(z).max() < z_limit(8), f"wrong variance, z-scores {z} ({SAID})"


def test_population_variance_adds_that_of_the_people():
    mechanism = she(4, 1.0)
    added = mechanism.variance(0.3, 100, population=True) - mechanism.variance(0.3, 100)
    assert added == pytest.approx(0.21 / 100)


def test_she_estimates_through_a_tally_that_may_be_negative():
    mechanism = she(["a", "b", "c"], 1.0)
    reports = mechanism.privatize(["a"] * 300, rng=seeded(8))
    tally = mechanism.tally(reports[:100]) + mechanism.tally(reports[100:])
    assert tally == mechanism.tally(reports)
    assert tally == type(tally).from_bytes(tally.to_bytes()) == pickle.loads(pickle.dumps(tally))
    estimate = tally.estimate()
    assert abs(estimate["a"] - 1) < 7 * estimate.stderr[0], "false-alarm rate 1e-11"
    assert (tally.counts < 0).any() or estimate.values.min() > -1
    negative = type(tally)(mechanism, 1, np.array([-5, 0, 5]))
    assert negative.counts.tolist() == [-5, 0, 5]
    with pytest.raises(InvalidInputError, match="must lie between"):
        type(tally)(mechanism, 1, np.array([0, 0, 10**6]))
    with pytest.raises(InvalidInputError, match="must lie between 0 and 1"):
        type(tally)(ldpkit.GRR(3, epsilon=1), 1, np.array([-1, 0, 0]))


def test_she_has_no_p_and_q_and_no_list_of_reports():
    mechanism = she(2, 1.0)
    assert not mechanism.can("pure")
    for attribute in ("p", "q", "support_probabilities"):
        with pytest.raises(InvalidInputError, match="not a pure protocol"):
            getattr(mechanism, attribute)
    with pytest.raises(InvalidParameterError, match="possible reports"):
        mechanism.channel()


def test_she_refuses_reports_outside_its_range():
    mechanism = she(2, 1.0)
    with pytest.raises(FileFormatError, match="cannot come from"):
        mechanism.decode(np.array([[0, 30_000]], "<i2").tobytes())
    with pytest.raises(InvalidInputError):
        mechanism.tally(np.array([[0.0, 1.0]]))
    reports = mechanism.privatize([0, 1], rng=seeded(9))
    assert mechanism.encode(mechanism.decode(mechanism.encode(reports))) == mechanism.encode(reports)
    assert she(2, 0.001).report_dtype.subdtype[0] == np.dtype("<i4")
