"""Populations: counts that sum to n and have the stated shape."""

from __future__ import annotations

import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import ldpkit
from ldpkit.core.errors import InvalidParameterError, PluginError, UnknownNameError
from ldpkit.simulation import populations
from ldpkit.simulation.populations import POPULATIONS, Population, from_spec, is_spec, population

NAMES = ["exponential", "gaussian", "poisson", "triangular", "uniform", "zipf"]


def test_the_registry_has_all_of_them():
    assert set(NAMES) <= set(POPULATIONS)
    for name in NAMES:
        assert POPULATIONS.get(name) is getattr(populations, name)
        assert POPULATIONS.get(name).summary.endswith(".")


@pytest.mark.parametrize("name", NAMES)
@given(k=st.integers(2, 400), n=st.integers(1, 1 << 50))
def test_counts_sum_to_n_and_are_next_to_their_shares(name, k, n):
    chosen = POPULATIONS.get(name)
    counts = chosen(k, n)
    assert counts.shape == (k,)
    assert counts.dtype == np.int64
    assert counts.sum() == n
    assert (counts >= 0).all()
    shares = chosen.probabilities(k) * n
    assert np.abs(counts - shares).max() <= 1 + 1e-15 * n


def test_exact_probabilities():
    assert populations.uniform.probabilities(4).tolist() == [0.25] * 4
    np.testing.assert_allclose(populations.zipf.probabilities(3, s=1), np.array([6, 3, 2]) / 11)
    np.testing.assert_allclose(
        populations.triangular.probabilities(4, peak=0.5), [1 / 8, 3 / 8, 3 / 8, 1 / 8]
    )
    np.testing.assert_allclose(populations.triangular.probabilities(2, peak=0), [3 / 4, 1 / 4])
    np.testing.assert_allclose(populations.triangular.probabilities(2, peak=1), [1 / 4, 3 / 4])
    # The peak inside a cell: the area left of 1/2 under a triangle that peaks at 3/4.
    np.testing.assert_allclose(populations.triangular.probabilities(2, peak=0.75), [1 / 3, 2 / 3])
    ratio = populations.exponential.probabilities(5, rate=10)
    np.testing.assert_allclose(ratio[1:] / ratio[:-1], math.exp(-2))
    within = [5.0**value / math.factorial(value) for value in range(8)]
    np.testing.assert_allclose(populations.poisson.probabilities(8), np.array(within) / sum(within))
    halves = [math.erf(2 / math.sqrt(2)) - math.erf(1 / math.sqrt(2)), math.erf(1 / math.sqrt(2))]
    bell = np.array([*halves, *halves[::-1]])  # four cells of one standard deviation each
    np.testing.assert_allclose(populations.gaussian.probabilities(4, sd=0.25), bell / bell.sum())


def test_the_bell_is_symmetric_even_far_out():
    bell = populations.gaussian.probabilities(100, sd=0.02)
    np.testing.assert_allclose(bell, bell[::-1], rtol=1e-9)
    assert bell[-1] > 0


def test_largest_remainders_round_up_first():
    steps = Population("steps", lambda k: np.array([0.5, 0.3, 0.2]))
    assert steps(3, 4).tolist() == [2, 1, 1]  # shares 2, 1.2, 0.8


def _chi_square(counts, expected) -> float:
    return float(((counts - expected) ** 2 / expected).sum())


def test_a_sample_follows_the_probabilities():
    k, n = 50, 200_000
    counts = populations.zipf(k, n, rng=ldpkit.random.seeded(5))
    assert counts.sum() == n
    # Chi-square with 49 degrees of freedom exceeds 118.6 with probability 1e-7.
    limit, alarm = 118.6, "false-alarm rate 1e-7"
    assert _chi_square(counts, populations.zipf.probabilities(k) * n) < limit, alarm
    wrong = populations.zipf.probabilities(k, s=1.05) * n
    assert _chi_square(counts, wrong) > limit, "the negative control must fail"


def test_samples_repeat_with_the_seed_only():
    draw = [populations.uniform(9, 1000, rng=ldpkit.random.seeded(seed)).tolist() for seed in (1, 1, 2)]
    assert draw[0] == draw[1] != draw[2]


@pytest.mark.parametrize(
    ("name", "arguments", "parameters", "message"),
    [
        ("zipf", (1, 10), {}, "k must be at least 2, got 1"),
        ("zipf", (2.5, 10), {}, "k must be a whole number, got 2.5"),
        ("zipf", (5, 0), {}, "n must be at least 1, got 0"),
        ("zipf", (5, 2**60), {}, r"n must be at most 2\*\*50"),
        ("zipf", (5, 10), {"a": 1}, "no parameter 'a': it has s=1.1"),
        ("uniform", (5, 10), {"s": 1}, "no parameter 's': it has k and n only"),
        ("zipf", (5, 10), {"s": math.nan}, "s of the population zipf must be finite, got nan"),
        ("zipf", (5, 10), {"s": -1e9}, "has nobody on 0..4 with s=-1e"),
        ("gaussian", (5, 10), {"sd": 0}, "sd of the population gaussian must be positive and finite, got 0"),
        ("gaussian", (5, 10), {"mean": 90}, "has nobody on 0..4 with mean=90"),
        ("poisson", (5, 10), {"mean": -1}, "must be positive and finite, got -1"),
        ("triangular", (5, 10), {"peak": 2}, "must be between 0 and 1, got 2"),
    ],
)
def test_bad_parameters(name, arguments, parameters, message):
    with pytest.raises(InvalidParameterError, match=message):
        POPULATIONS.get(name)(*arguments, **parameters)


def test_specs():
    name, counts = from_spec("zipf:k=128,n=100000,s=1.1")
    assert name == "zipf"
    assert counts.tolist() == populations.zipf(128, 100_000).tolist()
    assert from_spec("ZIPF: k=4, n=1e3, s=2")[1].tolist() == populations.zipf(4, 1000, s=2).tolist()
    sample = populations.zipf(4, 1000, rng=ldpkit.random.seeded(3)).tolist()
    assert from_spec("zipf:k=4,n=1000,seed=3")[1].tolist() == sample
    assert not is_spec("file.csv")
    assert not is_spec("C:/file.csv")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("zipf", "needs k: write for example zipf:k=128,n=100000"),
        ("zipf:k=3", "needs n"),
        ("zipf:k=3,n=5,s", "'s' in .* is not a parameter: write it as name=number"),
        ("zipf:k=3,n=many", "'n=many' in"),
        ("zipf:k=3,n=5,k=4", "k appears twice"),
        ("zipf:k=3.5,n=5", "k must be a whole number, got 3.5"),
        ("zipf:k=3,n=inf", "n must be a whole number, got inf"),
        ("zipf:k=3,n=5,seed=0.5", "seed must be a whole number"),
        ("zipf:k=3,n=5,t=1", "no parameter 't': it has s=1.1"),
        ("zipf:k=-3,n=5", "k must be at least 2"),
    ],
)
def test_bad_specs(spec, message):
    with pytest.raises(InvalidParameterError, match=message):
        from_spec(spec)


def test_an_unknown_population_has_near_matches():
    with pytest.raises(UnknownNameError, match="did you mean zipf"):
        from_spec("zpif:k=3,n=5")


def test_a_taken_name_is_refused():
    with pytest.raises(PluginError, match="taken"):
        population("zipf")(np.ones)
