"""Matrix inversion: the unbiased estimate, exactly and with honest error bars."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest

import ldpkit
from ldpkit.core.errors import InvalidInputError
from ldpkit.estimation.consistency import Noise
from ldpkit.estimation.from_reports import ESTIMATORS
from ldpkit.estimation.inversion import matrix_inversion

SIX = [ldpkit.GRR, ldpkit.SUE, ldpkit.OUE, ldpkit.BLH, ldpkit.OLH, ldpkit.SS]
every_kind = pytest.mark.parametrize("kind", SIX)


@every_kind
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_expected_counts_give_back_the_truth(kind, epsilon):
    oracle = kind(7, epsilon)
    truth = np.array([0.5, 0.2, 0.1, 0.1, 0.07, 0.03, 0.0])
    n = 10**6
    p, q = (float(x) for x in oracle.support_probabilities)
    assert np.allclose(oracle.unbiased(n * (truth * p + (1 - truth) * q), n), truth, atol=1e-9)


@every_kind
def test_a_batch_is_inverted_row_by_row(kind):
    oracle = kind(5, 1.0)
    supports = oracle.simulate([10, 20, 30, 0, 40], rng=ldpkit.random.seeded(1), repeats=4)
    batch = oracle.unbiased(supports, 100)
    assert batch.shape == (4, 5)
    for row, each in zip(batch, supports, strict=True):
        assert (row == ldpkit.Tally(oracle, 100, each).estimate().values).all()


@pytest.mark.parametrize("kind", [ldpkit.GRR, ldpkit.SS])
def test_estimates_sum_to_one_where_every_report_supports_equally_many(kind):
    oracle = kind(12, 1.0)
    estimate = oracle.tally(oracle.privatize(np.arange(500) % 12, rng=ldpkit.random.seeded(2))).estimate()
    assert estimate.values.sum() == pytest.approx(1, abs=1e-9)


def test_a_value_nobody_reported_is_estimated_below_zero():
    """It must not be left at 0: that would bias the sum of many tallies (errata 73)."""
    oracle = ldpkit.GRR(4, 1.0)
    estimate = oracle.tally([0] * 50 + [1] * 50).estimate()
    assert estimate[3] == pytest.approx(-oracle.q / (oracle.p - oracle.q))


@every_kind
@pytest.mark.parametrize("population", [False, True])
def test_standard_errors_are_those_of_the_variance(kind, population):
    oracle = kind(6, 1.0)
    tally = oracle.tally(oracle.privatize(np.arange(900) % 6, rng=ldpkit.random.seeded(3)))
    estimate = tally.estimate(population=population)
    clipped = np.clip(estimate.values, 0, 1)
    assert np.allclose(estimate.stderr**2, oracle.variance(clipped, 900, population=population), rtol=1e-12)
    assert (estimate.stderr > 0).all()
    assert estimate.noise == Noise.of(oracle, 900)
    assert estimate.noise.stderr == pytest.approx(np.sqrt(oracle.variance(0.0, 900)))


@every_kind
def test_the_population_error_is_the_larger(kind):
    oracle = kind(6, 4.0)
    tally = oracle.tally(oracle.privatize(np.arange(900) % 6, rng=ldpkit.random.seeded(3)))
    assert (tally.estimate(population=True).stderr > tally.estimate().stderr).all()


def coverage(oracle, counts, shrink=1.0):
    """Return how often the 95 % interval holds the truth, and how many intervals were looked at."""
    repeats, n = 400, int(counts.sum())
    supports = oracle.simulate(counts, rng=ldpkit.random.seeded(4), repeats=repeats)
    hits = 0
    for row in supports:
        estimate = ldpkit.Tally(oracle, n, row).estimate()
        reach = NormalDist().inv_cdf(0.975) * estimate.stderr * shrink
        hits += (np.abs(estimate.values - counts / n) <= reach).sum()
    return hits / (repeats * len(counts)), repeats * len(counts)


@every_kind
def test_intervals_cover_as_often_as_they_say(kind):
    counts = np.array([3000, 1500, 400, 100, 0, 2000])
    rate, looked = coverage(kind(6, 1.0), counts)
    # Values of one collection are dependent, so count collections, not intervals.
    reach = 6.2 * np.sqrt(0.95 * 0.05 / (looked / 6))
    assert abs(rate - 0.95) < reach + 0.005, f"{kind.__name__} covers {rate:.3f} (false-alarm rate 1e-9)"
    rate, _ = coverage(kind(6, 1.0), counts, shrink=0.7)
    assert abs(rate - 0.95) > reach + 0.005, "negative control: intervals 30 % too short must be noticed"


def test_an_empty_tally_has_no_estimate():
    oracle = ldpkit.GRR(3, 1.0)
    with pytest.raises(InvalidInputError, match="no reports"):
        oracle.tally(np.empty(0, np.uint8)).estimate()


def test_it_is_registered_and_says_how_it_was_made():
    assert ESTIMATORS.get("mi") is matrix_inversion
    tally = ldpkit.OLH(4, 1.5).tally(ldpkit.OLH(4, 1.5).privatize([0, 1, 2]))
    made = {"mechanism": "olh", "epsilon": 1.5, "method": "mi"}
    assert dict(tally.estimate("mi").made_by) == made


def test_options_that_do_not_exist_are_refused():
    tally = ldpkit.GRR(3, 1.0).tally([0, 1, 2])
    with pytest.raises((TypeError, ldpkit.LdpkitError)):
        tally.estimate("mi", no_such_option=1)
