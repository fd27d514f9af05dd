"""dBitFlipPM: public buckets, exact epsilon, a centred estimator, and its aggregate law."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest

import ldpkit
from ldpkit.core.errors import FileFormatError, InvalidInputError, InvalidParameterError
from ldpkit.testing.false_alarms import SAID, z_limit
from slow import slow

seeded = ldpkit.random.seeded


def make(size=6, epsilon=1.0, d=None):
    return ldpkit.get("dbitflip", size, epsilon=epsilon, **({} if d is None else {"d": d}))


@pytest.mark.parametrize("size", [2, 6, 100])
@pytest.mark.parametrize("epsilon", [0.001, 1.0, 4.0, 20.0])
def test_epsilon_is_exact_for_every_d(size, epsilon):
    for d in {1, 2, size - 1, size}:
        mechanism = make(size, epsilon, d)
        assert epsilon - 1e-6 <= mechanism.exact_epsilon() <= epsilon
        assert (
            mechanism.exact_permanent_epsilon()
            == mechanism.repeated_epsilon(1000)
            == mechanism.exact_epsilon()
        )


@pytest.mark.parametrize(("size", "d"), [(2, 1), (2, 2), (4, 1), (4, 2), (4, 3), (4, 4), (5, 3)])
def test_epsilon_is_that_of_the_channel(size, d):
    mechanism = make(size, 1.0, d)
    channels = [mechanism.channel(seeded(seed)) for seed in range(20)]
    assert all(sum(row) == 1 for channel in channels for row in channel.probabilities)
    assert max(channel.epsilon() for channel in channels) == mechanism.exact_epsilon()


def test_the_published_bits_would_waste_half_the_budget_for_one_bucket():
    """The negative control: with d = 1 two values differ in one bit only."""
    p, q = ldpkit.SUE(2, epsilon=1.0).support_probabilities
    assert np.log(float(p / q)) == pytest.approx(0.5)
    assert make(6, 1.0, 1).exact_epsilon() == pytest.approx(1.0)


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_every_set_of_buckets_is_as_likely(d):
    mechanism, draws = make(5, 1.0, d), 40_000
    if d == 5:
        assert mechanism.report_dtype.names == ("bits",)
        return
    chosen = mechanism.public_coins(draws, seeded(1))["buckets"].tolist()
    sets = list(itertools.combinations(range(5), d))
    observed = np.array([chosen.count(list(each)) for each in sets])
    share = 1 / len(sets)
    z = (observed - draws * share) / np.sqrt(draws * share * (1 - share))
    assert observed.sum() == draws
    assert np.abs(z).max() < z_limit(len(sets)), f"z-scores {z} ({SAID})"


@pytest.mark.parametrize("d", [1, 2, 3, 8, 9])
def test_bits_have_their_probabilities_in_every_state(d):
    mechanism, draws = make(9, 1.0, d), 40_000
    coins = np.repeat(mechanism.public_coins(1, seeded(2)), draws)
    p, q = (float(chance) for chance in mechanism.bit_probabilities)
    for state in range(mechanism.state_count):
        reports = mechanism.memorise(coins, np.full(draws, state, np.uint32), seeded(3))
        assert mechanism._is_valid(reports).all()
        exact = np.where(np.arange(d) == state, p, q)
        z = (mechanism._ones(reports).mean(axis=0) - exact) / np.sqrt(exact * (1 - exact) / draws)
        assert np.abs(z).max() < z_limit(100), f"z-scores {z} ({SAID})"


def test_states_are_places_among_the_chosen_buckets():
    mechanism = make(6, 1.0, 2)
    coins = mechanism.public_coins(1, seeded(4))
    coins["buckets"] = [1, 4]
    everybody = np.arange(6, dtype=np.uint32)
    assert mechanism.states(np.repeat(coins, 6), everybody).tolist() == [2, 0, 2, 2, 1, 2]
    assert make(6).states(np.zeros(6, make(6).report_dtype), everybody).tolist() == list(range(6))


# --- the estimator ----------------------------------------------------------------------


def collections(mechanism, counts, repeats, way):
    if way == "simulate":
        return mechanism.simulate(counts, rng=seeded(5), repeats=repeats)
    people = np.repeat(np.arange(len(counts)), counts)
    reports = mechanism.first_reports(np.tile(people, repeats), rng=seeded(6))
    return np.array([mechanism.tally(part).counts for part in np.split(reports, repeats)])


def score_moments(mechanism, counts):
    """Exact mean and covariance of the scores, over all sets of buckets and all bits."""
    size, d, zero = mechanism.size, mechanism.d, mechanism._zero_score
    p, q = (float(chance) for chance in mechanism.bit_probabilities)
    mean, covariance = np.zeros(size), np.zeros((size, size))
    sets = list(itertools.combinations(range(size), d))
    for value, people in enumerate(counts):
        first, second = np.zeros(size), np.zeros((size, size))
        for chosen in sets:
            places = np.array(chosen)
            one = np.where(places == value, p, q)
            score, spread = np.zeros(size), np.zeros(size)
            score[places], spread[places] = 1024 * one - zero, 1024**2 * one * (1 - one)
            first += score / len(sets)
            second += (np.outer(score, score) + np.diag(spread)) / len(sets)
        mean += people * first
        covariance += people * (second - np.outer(first, first))
    return mean, covariance


@pytest.mark.parametrize("way", ["users", "simulate"])
@pytest.mark.parametrize("d", [2, 5, *slow(1, 4)])
def test_scores_have_their_exact_joint_law(d, way):
    mechanism, repeats = make(5, 1.5, d), 600 if way == "simulate" else 2000
    counts = np.array([60, 40, 0, 20, 5])
    scores = collections(mechanism, counts, repeats, way)
    mean, covariance = score_moments(mechanism, counts)
    centred = scores - mean
    z = centred.mean(axis=0) / np.sqrt(np.diag(covariance) / repeats)
    assert np.abs(z).max() < z_limit(30), f"wrong mean, z-scores {z} ({SAID})"
    products = centred[:, :, None] * centred[:, None, :]
    z = (products.mean(axis=0) - covariance) / (products.std(axis=0) / np.sqrt(repeats))
    assert np.abs(z).max() < z_limit(30), f"wrong covariance, z-scores {z} ({SAID})"


@pytest.mark.parametrize("d", [1, 2, 4, 5])
@pytest.mark.parametrize("epsilon", [0.1, 1.5, 20.0])
def test_the_estimator_is_unbiased_with_the_stated_variance(d, epsilon):
    """Exactly: from the enumerated law of one report."""
    mechanism, counts = make(5, epsilon, d), np.array([60, 40, 0, 20, 5])
    mean, covariance = score_moments(mechanism, counts)
    n = int(counts.sum())
    assert np.allclose(mechanism.unbiased(mean, n), counts / n, atol=1e-9)
    slope = mechanism.unbiased(np.ones(5), n) - mechanism.unbiased(np.zeros(5), n)
    assert np.allclose(mechanism.variance(counts / n, n), np.diag(covariance) * slope**2, rtol=1e-9)


def test_centred_scores_beat_counted_ones():
    mechanism = make(100, 0.5, 4)
    p, q = (float(chance) * 4 / 100 for chance in mechanism.bit_probabilities)
    counted = q * (1 - q) / (p - q) ** 2  # Ding et al. as a pure protocol
    gain = mechanism.variance(0.0, 1) / counted
    assert gain == pytest.approx(1 - float(mechanism.bit_probabilities[1]), abs=0.02)
    everybody, sue = make(100, 0.5), ldpkit.SUE(100, epsilon=0.5)
    assert everybody.variance(0.3, 1) == pytest.approx(sue.variance(0.3, 1), rel=1e-9)


# --- reports and refusals ---------------------------------------------------------------


@pytest.mark.parametrize(("size", "d"), [(2, 1), (9, 8), (9, 9), (300, 5), (300, 300)])
def test_reports_travel(size, d):
    mechanism = make(size, 1.0, d)
    reports = mechanism.first_reports(np.arange(size), rng=seeded(7))
    data = mechanism.encode(reports)
    assert len(data) == size * mechanism.report_bytes
    assert mechanism.encode(mechanism.decode(data)) == data
    tally = mechanism.tally(reports)
    assert type(tally).from_bytes(tally.to_bytes()) == tally
    assert len(tally.estimate()) == size
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism


def test_default_is_every_bucket():
    assert make(7) == make(7, d=7)
    assert make(7).parameters() == {"epsilon": 1.0, "d": 7}


@pytest.mark.parametrize("d", [0, -1, 7, 2.5, "2", True])
def test_senseless_d_is_refused(d):
    with pytest.raises(InvalidParameterError, match="d must be"):
        make(6, 1.0, d)


def test_reports_of_another_shape_are_refused():
    mechanism = make(6, 1.0, 2)
    bad = mechanism.first_reports([0], rng=seeded(8))
    bad["buckets"] = [4, 4]
    with pytest.raises(FileFormatError, match="cannot come from"):
        mechanism.decode(bad.tobytes())
    bad["buckets"], bad["bits"] = [1, 4], 255
    with pytest.raises(FileFormatError, match="cannot come from"):
        mechanism.decode(bad.tobytes())
    with pytest.raises(InvalidInputError):
        mechanism.tally(make(6, 1.0, 3).first_reports([0], rng=seeded(9)))


def test_a_device_that_keeps_its_answer_repeats_it():
    mechanism = make(6, 1.0, 2)
    permanent = mechanism.permanent(np.array([3], np.uint32), seeded(10))
    assert mechanism.instant(permanent, seeded(11)) == permanent
    said = mechanism.log_likelihood(np.repeat(permanent, 3))
    assert (said == said[0]).all()
    with pytest.raises(InvalidInputError, match="differ"):
        mechanism.log_likelihood(mechanism.first_reports([3] * 20, rng=seeded(12)))
    assert mechanism.log_likelihood(
        mechanism.first_reports([3] * 20, rng=seeded(12)), memoized=False
    ).shape == (
        20,
        6,
    )


def test_bits_that_no_sampler_could_make_are_refused():
    """It could be made, but neither its epsilon nor a report could."""
    with pytest.raises(InvalidParameterError, match=r"d must be at most 2\*\*26 - 1"):
        ldpkit.get("dbitflip", 1 << 26, epsilon=1.0)
    assert ldpkit.get("dbitflip", 1 << 26, epsilon=1.0, d=8).exact_epsilon() <= 1
