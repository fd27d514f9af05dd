"""Standard errors of the likelihood estimators: exact values, coverage, bootstrap."""

from __future__ import annotations

import numpy as np
import pytest

import ldpkit
from ldpkit.estimation.bayes.bootstrap import simulate
from ldpkit.estimation.bayes.errors import ErrorRules, by_delta, by_information, information
from ldpkit.estimation.bayes.limit import limit
from ldpkit.estimation.evidence import Evidence, Part
from slow import slow


def expected_evidence(oracle, frequencies, n=10**12):
    """Return evidence in which every report is as frequent as expected."""
    channel = oracle.channel()
    table = np.array([[float(p) for p in row] for row in channel.probabilities])
    counts = np.round(n * (frequencies @ table)).astype(np.int64)
    return Evidence((Part(oracle, oracle.packed_supports(channel.reports), counts),))


def test_asymptotic_variances_at_the_uniform_distribution():
    """Summed over k=4 values with OUE and epsilon=1: MI 16.48, IBU 12.55, MLE 12.25 (errata 13)."""
    oracle, uniform, n = ldpkit.OUE(4, epsilon=1), np.full(4, 0.25), 10**12
    inversion = 4 * n * oracle.variance(0.25, n, population=True)
    support = n * (oracle.q + 0.25 * (oracle.p - oracle.q))
    update = by_delta(oracle, np.full(4, round(support)), n, population=True)
    maximum = by_information(expected_evidence(oracle, uniform), uniform, population=True)
    assert inversion == pytest.approx(16.48, abs=0.005)
    assert n * (update.stderr**2).sum() == pytest.approx(12.55, abs=0.005)
    assert n * (maximum.stderr**2).sum() == pytest.approx(12.25, abs=0.005)


@pytest.mark.parametrize(
    ("kind", "epsilon", "gain"),
    [
        (ldpkit.OUE, 1, 2),
        (ldpkit.OUE, 2, 6),
        (ldpkit.OUE, 4, 4),
        (ldpkit.SUE, 1, 2),
        (ldpkit.SUE, 2, 8),
        (ldpkit.SUE, 4, 15),
    ],
)
def test_what_the_maximum_gains_on_the_update(kind, epsilon, gain):
    """In per cent of variance at the uniform distribution, k=8 (errata 13)."""
    oracle, uniform, n = kind(8, epsilon=epsilon), np.full(8, 1 / 8), 10**12
    support = round(n * (oracle.q + (oracle.p - oracle.q) / 8))
    update = by_delta(oracle, np.full(8, support), n, population=True)
    maximum = by_information(expected_evidence(oracle, uniform), uniform, population=True)
    ratio = (maximum.stderr**2).sum() / (update.stderr**2).sum()
    assert round(100 * (1 - ratio)) == gain


@pytest.mark.parametrize(("name", "size"), [("grr", 5), ("oue", 5), ("olh", 14)])
def test_the_information_is_minus_the_second_derivative(name, size):
    oracle = ldpkit.get(name, size, epsilon=1.5)
    evidence = Evidence.of(oracle, oracle.privatize(np.arange(300) % size, rng=ldpkit.random.seeded(1)))
    [part] = evidence.parts
    f = np.random.default_rng(1).dirichlet(np.full(size, 5.0))
    bits = part.bits(slice(None)).astype(float)
    counts = np.ones(len(bits)) if part.counts is None else part.counts

    def gradient(point):  # of sum log(sum_v f_v + excess sum_v f_v S_v)
        likelihoods = 1 + part.excess * bits
        return (counts / (likelihoods @ point)) @ likelihoods

    step = 1e-6
    numeric = np.array(
        [(gradient(f - step * unit) - gradient(f + step * unit)) / (2 * step) for unit in np.eye(size)]
    )
    assert np.allclose(information(evidence, f), numeric, rtol=1e-5)


@pytest.mark.parametrize("size", [100, 500])
def test_the_information_has_the_same_bits_with_any_number_of_threads(size):
    """Workers of a cluster have one thread for BLAS, which rounds these products otherwise than with two."""
    threads = pytest.importorskip("threadpoolctl").threadpool_limits
    oracle, f = ldpkit.OUE(size, epsilon=1), np.full(size, 1 / size)
    evidence = Evidence.of(oracle, oracle.privatize(np.arange(777) % size, rng=ldpkit.random.seeded(1)))
    [part] = evidence.parts
    rows = (1 + part.excess * part.bits(slice(None))) * 1.0
    rows /= (1 + part.excess * part.bits(slice(None)) @ f)[:, None]
    found = []
    for number in (1, 2):
        with threads(number):
            found.append(information(evidence, f))
    assert (found[0] == found[1]).all()
    assert np.allclose(found[0], rows.T @ rows, rtol=1e-12)


def test_a_sample_of_the_reports_stands_for_all(monkeypatch):
    monkeypatch.setattr("ldpkit.estimation.bayes.errors._MOST_WORK", 30_000 * 16**2)
    oracle = ldpkit.OLH(16, epsilon=1)
    evidence = Evidence.of(oracle, oracle.privatize(np.arange(100_000) % 16, rng=ldpkit.random.seeded(2)))
    [part] = evidence.parts
    f = np.full(16, 1 / 16)
    some = by_information(evidence, f, population=True)
    likelihoods = 1 + part.excess * part.bits(slice(None))
    likelihoods /= (likelihoods @ f)[:, None]
    inverse = np.linalg.inv(likelihoods.T @ likelihoods)
    along = inverse.sum(axis=0)
    whole = np.sqrt(np.diag(inverse - np.outer(along, along) / along.sum()))
    assert np.allclose(some.stderr, whole, rtol=0.03)
    assert not (some.stderr == whole).all()
    assert (some.stderr == by_information(evidence, f, population=True).stderr).all()


@pytest.mark.parametrize(
    ("name", "population"),
    [
        ("grr", True),
        ("olh", False),
        *slow(("grr", False), ("oue", False), ("oue", True), ("olh", True), ("ss", False), ("ss", True)),
    ],
)
def test_errors_of_the_limit_are_those_of_simulated_collections(name, population):
    oracle, n, repeats = ldpkit.get(name, 5, epsilon=1.0), 100_000, 4000
    shares = np.array([0.6, 0.1, 0.1, 0.1, 0.1])
    rules = ErrorRules(repeats=repeats, rng=ldpkit.random.seeded(3), population=population)
    collections = simulate(oracle, shares, n, rules)
    spread = limit(collections, oracle.p, oracle.q).std(axis=0, ddof=1)
    claimed = np.mean(
        [by_delta(oracle, row, n, population=population).stderr for row in collections[:20]], axis=0
    )
    # A sample standard deviation has a relative error of 1/sqrt(2 repeats).
    reach = 6 / np.sqrt(2 * repeats)
    assert (np.abs(spread / claimed - 1) < reach).all(), f"{spread / claimed} (false-alarm rate 1e-7)"
    assert not (np.abs(spread / (0.9 * claimed) - 1) < reach).any(), (
        "negative control: 10 % less must be noticed"
    )


def test_the_bootstrap_of_reports_agrees_with_the_information_inside():
    oracle = ldpkit.OUE(4, epsilon=3)
    evidence = Evidence.of(oracle, oracle.privatize([0, 0, 1, 2, 3] * 400, rng=ldpkit.random.seeded(4)))
    for population in (False, True):
        closed = evidence.estimate(population=population)
        drawn = evidence.estimate(
            errors="bootstrap", repeats=400, rng=ldpkit.random.seeded(5), population=population
        )
        assert closed.diagnostics["errors"] == "information"
        assert drawn.diagnostics["errors"] == "bootstrap"
        assert (drawn.values == closed.values).all()
        assert np.allclose(drawn.stderr, closed.stderr, rtol=0.25), "false-alarm rate below 1e-9"


def test_the_bootstrap_resamples_single_rows_too():
    oracle = ldpkit.OLH(20, epsilon=3)
    evidence = Evidence.of(oracle, oracle.privatize(np.arange(2000) % 20, rng=ldpkit.random.seeded(6)))
    drawn = evidence.estimate(errors="bootstrap", repeats=60, rng=ldpkit.random.seeded(7), population=True)
    closed = evidence.estimate(population=True)
    assert np.median(drawn.stderr / closed.stderr) == pytest.approx(1, abs=0.2)
    again = evidence.estimate(errors="bootstrap", repeats=60, rng=ldpkit.random.seeded(7), population=True)
    assert (again.stderr == drawn.stderr).all()


@pytest.mark.parametrize("method", ["ibu", "ibu_limit"])
@pytest.mark.parametrize("population", [False, True])
def test_the_parametric_bootstrap_agrees_with_the_closed_form_inside(method, population):
    oracle = ldpkit.OUE(4, epsilon=3)
    tally = ldpkit.Tally(oracle, 4000, oracle.simulate([1000] * 4, rng=ldpkit.random.seeded(8))[0])
    drawn = tally.estimate(
        method, errors="bootstrap", repeats=600, rng=ldpkit.random.seeded(9), population=population
    )
    closed = tally.estimate(method, population=population)
    assert np.allclose(drawn.stderr, closed.stderr, rtol=0.2), "false-alarm rate below 1e-9"


def test_too_few_reports_fall_back_on_inversion():
    oracle = ldpkit.OUE(40, epsilon=1)
    reports = oracle.privatize(np.arange(100) % 40, rng=ldpkit.random.seeded(10))
    estimate = Evidence.of(oracle, reports).estimate("mle")
    assert estimate.diagnostics["errors"] == "inversion"
    assert np.allclose(estimate.stderr, np.sqrt(oracle.variance(estimate.values, 100)))


def test_large_domains_fall_back_on_inversion():
    oracle = ldpkit.GRR(3000, epsilon=8)
    estimate = oracle.tally(oracle.privatize(np.arange(30_000) % 3000)).estimate("mle")
    assert estimate.diagnostics["errors"] == "inversion"
    assert (estimate.stderr > 0).all()


def test_nobody_can_be_sure_that_a_value_has_frequency_zero():
    oracle = ldpkit.OUE(4, epsilon=2)
    edge = Evidence.of(oracle, oracle.privatize(np.zeros(4000, int), rng=ldpkit.random.seeded(12))).estimate()
    empty = edge.values == 0
    assert empty.any()
    assert (edge.stderr[empty] > 0).all()
    assert (edge.interval()[1][empty] > 0).all()


def test_people_of_the_bootstrap_are_whole():
    oracle = ldpkit.GRR(3, epsilon=20)
    rules = ErrorRules(repeats=3, rng=ldpkit.random.seeded(13))
    collections = simulate(oracle, np.array([1 / 3, 1 / 3, 1 / 3]), 100, rules)
    assert (collections.sum(axis=1) == 100).all()
    assert collections.min() >= 32
