"""Longitudinal reports: unbiased with the stated variance, and each round with its probabilities."""

from __future__ import annotations

import numpy as np
import pytest

import ldpkit
from ldpkit.core.exact import WORD
from ldpkit.testing.false_alarms import SAID, z_limit
from mechanisms.longitudinal.chained import PAIRS, every_name, make
from slow import slow

seeded = ldpkit.random.seeded


@every_name
@pytest.mark.parametrize(("epsilon_inf", "epsilon_1"), [PAIRS[0], *slow(*PAIRS[1:])])
def test_reports_give_unbiased_estimates_with_the_stated_variance(name, epsilon_inf, epsilon_1):
    mechanism = make(name, 6, epsilon_inf, epsilon_1)
    counts = np.array([40, 30, 15, 10, 5, 0])
    repeats = 1000
    people = np.repeat(np.arange(6), counts)
    reports = mechanism.first_reports(np.tile(people, repeats), rng=seeded(5))
    users = np.array([mechanism.tally(part).counts for part in np.split(reports, repeats)])
    check_moments(mechanism, counts, users)


@every_name
@pytest.mark.parametrize(("epsilon_inf", "epsilon_1"), PAIRS)
@pytest.mark.parametrize("size", [16, *slow(2, 100)])
def test_simulated_estimates_are_unbiased_with_the_stated_variance(name, size, epsilon_inf, epsilon_1):
    mechanism = make(name, size, epsilon_inf, epsilon_1)
    counts = 200 * (1 + np.arange(size) % 5)
    counts[-1] = 0
    check_moments(mechanism, counts, mechanism.simulate(counts, rng=seeded(6), repeats=2000))


def check_moments(mechanism, counts, supports):
    n, (repeats, size) = int(counts.sum()), supports.shape
    truth = counts / n
    estimates = mechanism.unbiased(supports, n)
    variance = mechanism.variance(truth, n)
    limit = z_limit(2 * size)
    z = (estimates.mean(axis=0) - truth) / np.sqrt(variance / repeats)
    assert np.abs(z).max() < limit, f"biased, z-scores {z.round(1)} ({SAID})"
    spread = estimates.var(axis=0, ddof=1) / variance
    kurtosis = ((estimates - truth) ** 4).mean(axis=0) / variance**2
    z = (spread - 1) / np.sqrt((kurtosis - 1) / repeats)
    assert np.abs(z).max() < limit, f"variance off by {spread} ({SAID})"


def test_the_printed_aggregation_is_biased():
    """The negative control of the moment check: the printed q* of L-GRR."""
    mechanism = make("lgrr", 16)
    counts = np.full(16, 1000)
    supports = mechanism.simulate(counts, rng=seeded(7), repeats=500)
    first, second = mechanism.response.first, mechanism.response.second
    q = float(first.p * second.q + first.q * second.p)
    broken = (supports / counts.sum() - q) / (mechanism.p - q)
    error = np.sqrt(mechanism.variance(1 / 16, int(counts.sum())) / 500)
    assert np.abs((broken.mean(axis=0) - 1 / 16) / error).min() > 6


def test_simulated_lgrr_counts_sum_to_the_people():
    counts = np.array([5, 10, 15])
    assert (make("lgrr", 3).simulate(counts, rng=seeded(8), repeats=50).sum(axis=1) == 30).all()


@pytest.mark.parametrize("name", ["lsue", "loue", "lsoue", "losue"])
@pytest.mark.parametrize("size", [3, 8, 11])
def test_both_rounds_of_bits_have_their_probabilities(name, size):
    mechanism = make(name, size)
    draws, source = 40_000, seeded(9)
    permanent = mechanism.permanent(np.full(draws, 1, np.uint32), source)
    bits = np.unpackbits(permanent, axis=1, count=size, bitorder="little")
    first = np.array(mechanism._chain.first)[(np.arange(size) != 1).astype(int)] / WORD
    z = (bits.mean(axis=0) - first) / np.sqrt(first * (1 - first) / draws)
    assert np.abs(z).max() < z_limit(size), f"z-scores {z} ({SAID})"
    sent = np.unpackbits(
        mechanism.instant(np.repeat(permanent[:1], draws, axis=0), source),
        axis=1,
        count=size,
        bitorder="little",
    )
    second = np.array(mechanism._chain.second)[1 - bits[0]] / WORD
    z = (sent.mean(axis=0) - second) / np.sqrt(second * (1 - second) / draws)
    assert np.abs(z).max() < z_limit(size), f"z-scores {z} ({SAID})"


@pytest.mark.parametrize("name", ["lgrr", "lolh"])
def test_both_rounds_of_responses_have_their_probabilities(name):
    mechanism = make(name, 4)
    draws, source, chain = 40_000, seeded(10), mechanism.response
    coins = np.repeat(mechanism.public_coins(1, source), draws, axis=0)
    state = mechanism.states(coins[:1], np.array([2], np.uint32))
    permanent = mechanism.memorise(coins, np.repeat(state, draws), source)
    kept = permanent["y"] if name == "lolh" else permanent
    sent = mechanism.instant(np.repeat(permanent[:1], draws, axis=0), source)
    answers = sent["y"] if name == "lolh" else sent
    for observed, value, response in ((kept, state[0], chain.first), (answers, kept[0], chain.second)):
        exact = np.array([float(chance) for chance in response.row(int(value))])
        z = (np.bincount(observed, minlength=chain.size) / draws - exact) / np.sqrt(
            exact * (1 - exact) / draws
        )
        assert np.abs(z).max() < z_limit(chain.size), f"z-scores {z} ({SAID})"


def test_the_instant_round_keeps_the_hash_function():
    mechanism = make("lolh", 50)
    permanent = mechanism.permanent(np.arange(50, dtype=np.uint32), seeded(11))
    sent = mechanism.instant(permanent, seeded(12))
    assert (sent[["a", "b"]] == permanent[["a", "b"]]).all()
