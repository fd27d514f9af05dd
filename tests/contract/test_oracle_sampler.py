"""The contract of every frequency oracle: a sampler to match the channel, and honest error bars."""

from __future__ import annotations

import numpy as np
import pytest

import ldpkit
from contract import checks
from contract.subjects import ORACLE_NAMES, every_oracle, every_pure_oracle, oracle
from ldpkit.core.errors import InvalidInputError, InvalidParameterError, OutOfDomainError
from ldpkit.mechanisms.categorical.hashing import LocalHashing

seeded = ldpkit.random.seeded


# --- the sampler -----------------------------------------------------------------------


@every_oracle
@pytest.mark.parametrize(("size", "epsilon"), [(2, 0.1), (5, 1.0), (9, 3.0), (4, 8.0)])
def test_reports_follow_the_channel(name, size, epsilon):
    checks.check_sampler(oracle(name, size, epsilon), draws=30_000)


@every_oracle
def test_reports_follow_the_channel_closely(name):
    checks.check_sampler(oracle(name, 3, 1.0), draws=400_000, seed=21)


@every_pure_oracle
def test_neighbours_in_a_batch_are_independent(name):
    """The noise of one report says nothing about that of the next: supports of pairs multiply."""
    mechanism = oracle(name, 4, 1.0)
    reports = mechanism.first_reports(np.zeros(6000, int), rng=seeded(22))
    held = np.array([mechanism.tally(reports[i : i + 1]).counts[0] for i in range(len(reports))])
    table = np.bincount(2 * held[:-1:2] + held[1::2], minlength=4)
    p = mechanism.p
    surprise = checks.fits(table, [(1 - p) ** 2, (1 - p) * p, p * (1 - p), p * p])
    assert surprise > 1e-9, f"neighbouring reports depend, p-value {surprise:.2g} (false-alarm rate 1e-9)"


@every_oracle
def test_chunks_are_the_whole(name):
    mechanism = oracle(name, 40, 1.0)
    if mechanism.can("joint"):
        pytest.skip("everybody is one chunk, so that no chunk decides who meets whom")
    values = np.arange(2 * mechanism.chunk_size + 17) % 40
    whole = mechanism.first_reports(values, rng=seeded(31))
    chunks = list(mechanism.first_reports_chunks(values, rng=seeded(31)))
    assert [len(chunk) for chunk in chunks] == [mechanism.chunk_size] * 2 + [17]
    assert mechanism.encode(np.concatenate(chunks)) == mechanism.encode(whole)
    assert sum(mechanism.tally(chunk) for chunk in chunks) == mechanism.tally(whole)
    assert mechanism.encode(chunks[0][:17]) != mechanism.encode(chunks[2]), "chunks share randomness"


@every_oracle
def test_chunks_are_checked_at_once(name, untouched):
    with pytest.raises(OutOfDomainError):
        oracle(name).first_reports_chunks([0, 1, 99], rng=untouched)


@every_oracle
@pytest.mark.parametrize("size", [2, 7, 8, 9, 255, 256, 257, 4097])
def test_every_size_works_from_report_to_tally(name, size):
    mechanism = oracle(name, size, 2.0)
    values = np.array([0, size - 1, size // 2, size - 1, 0])
    reports = mechanism.first_reports(values, rng=seeded(size))
    data = mechanism.encode(reports)
    assert mechanism.encode(mechanism.decode(data)) == data
    tally = mechanism.tally(reports)
    assert tally.n == 5
    assert len(tally.estimate()) == size


@every_oracle
def test_the_own_value_shows_at_high_epsilon(name):
    """A mix-up of positions (bit order, last value, padding) cannot hide at epsilon 9."""
    for size in (2, 9, 64, 65):
        mechanism = oracle(name, size, 9.0)
        for value in {0, 1, 7 % size, size - 2, size - 1}:
            counts = mechanism.tally(mechanism.first_reports([value] * 150, rng=seeded(value))).counts
            assert counts.argmax() == value, f"{mechanism!r} lost value {value} (false-alarm rate below 1e-9)"


# --- unbiased, with the stated variance ------------------------------------------------


@every_oracle
@pytest.mark.parametrize(("size", "epsilon"), [(2, 1.0), (9, 0.5)])
def test_simulated_estimates_are_unbiased_with_the_stated_variance(name, size, epsilon):
    mechanism = oracle(name, size, epsilon)
    checks.check_unbiased_simulation(mechanism, repeats=4000 if mechanism.can("pure") else 800)


@every_pure_oracle
def test_simulated_estimates_of_many_values(name):
    checks.check_unbiased_simulation(oracle(name, 40, 4.0), repeats=2500, seed=23)


@every_oracle
@pytest.mark.parametrize(("size", "epsilon"), [(12, 2.0)])
def test_real_estimates_are_unbiased_with_the_stated_variance(name, size, epsilon):
    checks.check_unbiased_users(oracle(name, size, epsilon))


@every_oracle
@pytest.mark.parametrize(("size", "epsilon"), [(5, 1.0), (4, 0.3)])
def test_simulation_has_the_law_of_real_reports(name, size, epsilon):
    checks.check_simulation_law(oracle(name, size, epsilon))


@every_oracle
def test_simulation_repeats_with_its_seed(name):
    mechanism, counts = oracle(name, 6), [5, 0, 3, 100, 1, 0]
    first = mechanism.simulate(counts, rng=seeded(8), repeats=3)
    assert first.shape == (3, 6)
    assert first.dtype == np.int64
    assert (first == mechanism.simulate(np.array(counts), rng=seeded(8), repeats=3)).all()
    assert (first != mechanism.simulate(counts, rng=seeded(9), repeats=3)).any()
    assert (mechanism.simulate(counts, repeats=20) != mechanism.simulate(counts, repeats=20)).any()
    least, greatest = mechanism.count_range(109)
    assert (first >= least).all()
    assert (first <= greatest).all()
    assert ldpkit.Tally(mechanism, 109, first[0]).estimate().n == 109


@every_oracle
@pytest.mark.parametrize(
    "counts",
    [
        [1, 2],
        [[1, 2, 3]],
        [1, 2, -1],
        [1, 2, 0.5],
        [1, 2, np.nan],
        [1, 2, np.inf],
        [0, 0, 0],
        ["1", "2", "3"],
        None,
        3,
    ],
)
def test_senseless_counts_are_refused(name, counts, untouched):
    with pytest.raises(InvalidInputError, match="counts"):
        oracle(name, 3).simulate(counts, rng=untouched)


@every_oracle
@pytest.mark.parametrize("repeats", [0, -1, 1.5, None, True, "2"])
def test_senseless_repeats_are_refused(name, repeats, untouched):
    with pytest.raises(InvalidParameterError, match="repeats"):
        oracle(name, 3).simulate([1, 2, 3], rng=untouched, repeats=repeats)


@every_pure_oracle
def test_variance_follows_p_and_q(name):
    mechanism = oracle(name, 7, 1.5)
    if mechanism.can("joint"):
        pytest.skip("reports of partners are not independent: tests/mechanisms/test_jrr.py has the variance")
    p, q = (float(x) for x in mechanism.support_probabilities)
    frequencies = np.array([0.0, 0.25, 1.0])
    fixed = mechanism.variance(frequencies, 500)
    sampled = mechanism.variance(frequencies, 500, population=True)
    exact = (frequencies * p * (1 - p) + (1 - frequencies) * q * (1 - q)) / (500 * (p - q) ** 2)
    assert np.allclose(fixed, exact, rtol=1e-12)
    assert np.allclose(sampled - fixed, frequencies * (1 - frequencies) / 500, rtol=1e-9, atol=1e-15)
    single = mechanism.variance(0.25, 500)
    assert isinstance(single, float)
    assert single == fixed[1]


# --- the helper of the suite itself ----------------------------------------------------


def test_the_goodness_of_fit_test_has_its_level():
    """p-values of true laws are uniform: checked by their mean and their smallest."""
    generator = np.random.default_rng(5)
    law = np.array([0.5, 0.3, 0.15, 0.05])
    surprises = [checks.fits(row, law) for row in generator.multinomial(5000, law, 2000)]
    assert abs(np.mean(surprises) - 0.5) < 6 * np.sqrt(1 / 12 / 2000), "false-alarm rate 2e-9"
    assert min(surprises) > 1e-9 / 2000, "false-alarm rate 1e-9"
    assert checks.fits([10, 0, 1], [0.5, 0.5, 0.0]) == 0.0, "what is impossible must not be pooled away"


def test_hashing_is_covered():
    assert any(isinstance(oracle(name), LocalHashing) for name in ORACLE_NAMES)
