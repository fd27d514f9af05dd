"""Means of numeric reports, drawn without users: the exact law, not a normal one."""

import numpy as np
import pytest

import ldpkit
from ldpkit.core.errors import InvalidParameterError
from ldpkit.simulation.sums import _independent_bits, _uniform, sample_means
from slow import slow

ON_A_LINE = ["duchi", "pm", "hm", "sw", "compressed_pm", "laplace", "staircase"]
RUNS = 20_000


def draw(mechanism, values, counts, seed=3, runs=RUNS):
    places = mechanism.domain.encode(values, steps=mechanism.grid).astype(np.int64)
    return sample_means(mechanism, places, np.array(counts), repeats=runs, rng=ldpkit.random.seeded(seed))


@pytest.mark.parametrize("name", ["duchi", "pm", "hm", "laplace", *slow("sw", "compressed_pm", "staircase")])
@pytest.mark.parametrize("epsilon", [0.3, *slow(4.0)])
def test_mean_and_variance_are_the_mechanisms_own(name, epsilon):
    mechanism = ldpkit.get(name, (0, 1), epsilon=epsilon)
    values, counts = np.array([0.0, 0.3, 1.0]), np.array([30, 50, 20])
    means = draw(mechanism, values, counts)
    variance = counts @ mechanism.variance(values) / 100**2 / float(mechanism.line[1]) ** 2
    assert abs(means.mean() - 0.35) < 4.5 * np.sqrt(variance / RUNS), "false alarm rate 7e-6"
    assert means.var() == pytest.approx(variance, rel=0.05), "five standard errors: false alarm rate 1e-6"
    wrong = ldpkit.get(name, (0, 1), epsilon=0.9 * epsilon)
    assert draw(wrong, values, counts).var() != pytest.approx(variance, rel=0.03)


@pytest.mark.parametrize("name", ON_A_LINE)
def test_few_people_have_the_law_of_the_real_sampler(name):
    from scipy.stats import ks_2samp

    mechanism = ldpkit.get(name, (0, 1), epsilon=1.0)
    values = np.array([0.1, 0.1, 0.8])
    intercept, slope = map(float, mechanism.line)
    reports = mechanism.privatize(np.tile(values, RUNS), rng=ldpkit.random.seeded(1))
    real = (mechanism.values_of(reports).reshape(RUNS, 3).mean(axis=1) - intercept) / slope
    drawn = draw(mechanism, np.array([0.1, 0.8]), [2, 1])
    real, drawn = np.round(real, 9), np.round(drawn, 9)  # two numbers make four sums: rounding keeps ties
    assert ks_2samp(real, drawn).pvalue > 1e-6, "false alarm rate 1e-6"
    assert ks_2samp(real, draw(mechanism, np.array([0.1, 0.8]), [1, 2])).pvalue < 1e-6


def test_duchi_is_a_binomial():
    mechanism = ldpkit.get("duchi", (0, 1), epsilon=1.0)
    means = draw(mechanism, np.array([0.5]), [3])
    low, high = mechanism.output_range
    ups = np.rint((3 * means - 3 * low) / (high - low)).astype(int)
    np.testing.assert_allclose(means, low + (high - low) * ups / 3)
    shares = np.bincount(ups, minlength=4) / RUNS
    np.testing.assert_allclose(shares, [1 / 8, 3 / 8, 3 / 8, 1 / 8], atol=0.018, err_msg="false alarm 1e-6")


@pytest.mark.parametrize("length", [1, 2, 7, 8, 12])
def test_even_draws_have_every_sum_in_its_share(length):
    generator = ldpkit.random.seeded(2).generator()
    sums = _uniform(np.full(RUNS, 2), length, generator).astype(int)
    shares = np.convolve(np.full(length, 1 / length), np.full(length, 1 / length))
    found = np.bincount(sums, minlength=len(shares)) / RUNS
    np.testing.assert_allclose(found, shares, atol=0.018, err_msg="false alarm rate below 1e-5")


def test_bits_of_a_geometric_draw_are_independent_and_others_are_not():
    law = 0.9 ** np.arange(16)
    chances = _independent_bits(law / law.sum())
    assert chances is not None
    np.testing.assert_allclose(chances, [0.9**step / (1 + 0.9**step) for step in (1, 2, 4, 8)])
    assert _independent_bits(np.array([0.4, 0.3, 0.2, 0.1])) is None
    assert _independent_bits(np.full(3, 1 / 3)) is None


def test_what_has_no_line_is_refused():
    with pytest.raises(InvalidParameterError, match="not a linear"):
        draw(ldpkit.get("truncated_pm", (0, 1), epsilon=1.0), np.array([0.5]), [10])
