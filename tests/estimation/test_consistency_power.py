"""Power against the posterior that it is the mean of."""

from __future__ import annotations

import numpy as np
import pytest

import ldpkit
from estimation.batches import NOISE, apply
from ldpkit.estimation.consistency.power import LEAST_COUNT
from ldpkit.estimation.noise import Noise


def posterior_means(counts: np.ndarray, people: int, sigma: float, exponent: float) -> np.ndarray:
    """Integrate the posterior of each count on a grid so fine that nothing else matters."""
    logs = np.linspace(np.log(LEAST_COUNT), np.log(people), 100_001)
    x = np.exp(logs)
    means = []
    for count in counts:
        energy = (1 - exponent) * logs - ((x - count) / sigma) ** 2 / 2
        weights = np.exp(energy - energy.max())
        means.append(np.trapezoid(weights * x, logs) / np.trapezoid(weights, logs))
    return np.array(means)


def log_evidence(counts: np.ndarray, people: int, sigma: float, exponent: float) -> float:
    logs = np.linspace(np.log(LEAST_COUNT), np.log(people), 100_001)
    x = np.exp(logs)
    prior = np.exp((1 - exponent) * logs)
    prior /= np.trapezoid(prior, logs)
    return float(
        sum(np.log(np.trapezoid(prior * np.exp(-(((x - c) / sigma) ** 2) / 2), logs)) for c in counts)
    )


POWER_NOISE = Noise(100_000, 0.004)
POWER_ROW = np.array([0.31, 0.14, 0.09, 0.05, 0.041, 0.02, 0.011, 0.006, 0.002, -0.001, -0.004, -0.009])


def test_power_is_the_posterior_mean_at_the_likeliest_exponent() -> None:
    from scipy.optimize import minimize_scalar

    counts, people = POWER_ROW * POWER_NOISE.n, POWER_NOISE.n
    sigma = POWER_NOISE.stderr * people
    best = minimize_scalar(
        lambda s: -log_evidence(counts, people, sigma, s), bounds=(0, 4), method="bounded"
    ).x
    expected = posterior_means(counts, people, sigma, best) / people
    result = apply("power", [POWER_ROW], POWER_NOISE)[0]
    np.testing.assert_allclose(result, expected, atol=2e-3 * POWER_NOISE.stderr)
    other = posterior_means(counts, people, sigma, best + 0.3) / people
    assert np.abs(other - expected).max() > 2e-2 * POWER_NOISE.stderr, "the negative control must fail"


@pytest.mark.parametrize("place", [-8, -3, -1, 0, 0.5, 2, 5, 9, 10, 11, 16, 17, 30, 100])
@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.5])
def test_nodes_integrate_the_posterior(place: float, exponent: float) -> None:
    from ldpkit.estimation.consistency.power import _Integrals

    people, sigma = 100_000, 400.0
    counts = np.array([place * sigma])
    mean = _Integrals.of(counts[None, :], people, sigma).posterior_mean(np.array([exponent]))[0]
    np.testing.assert_allclose(mean, posterior_means(counts, people, sigma, exponent), atol=1e-3 * sigma)


def test_nodes_integrate_the_posterior_at_the_upper_end() -> None:
    from ldpkit.estimation.consistency.power import _Integrals

    people, sigma = 100_000, 400.0
    counts = np.array([people - sigma, people, people + 3 * sigma])
    mean = _Integrals.of(counts[None, :], people, sigma).posterior_mean(np.array([1.0]))[0]
    np.testing.assert_allclose(mean, posterior_means(counts, people, sigma, 1.0), atol=1e-3 * sigma)
    assert (mean < people).all()


def test_power_uses_the_noise_of_all_people() -> None:
    """LDP3 takes k for n, a noise k times too small, and then hardly shrinks at all."""
    row, noise = POWER_ROW[None, :], POWER_NOISE
    too_small = Noise(noise.n, noise.stderr / np.sqrt(128))
    shrunk, hardly = apply("power", row, noise), apply("power", row, too_small)
    small = slice(6, 9)
    assert (shrunk[0, small] < 0.8 * row[0, small]).all()
    assert (hardly[0, small] > 0.95 * row[0, small]).all(), "the negative control must fail"


def test_power_keeps_order_and_range() -> None:
    row = np.linspace(-0.1, 1.2, 60)[None, :]
    result = apply("power", row)
    assert (np.diff(result[0]) >= 0).all()
    assert result.min() >= LEAST_COUNT / NOISE.n
    assert result.max() <= 1


def test_power_without_noise_changes_nothing_inside() -> None:
    row = [[0.6, 0.4, 0.0, -0.2, 1.2]]
    expected = [[0.6, 0.4, LEAST_COUNT / 50, LEAST_COUNT / 50, 1.0]]
    assert apply("power", row, Noise(50, 0.0)).tolist() == expected
    np.testing.assert_allclose(apply("power", row, Noise(50, 1e-9)), expected, atol=1e-6)


def test_power_in_chunks_is_power() -> None:
    batch = ldpkit.random.seeded(2).generator().normal(0.01, 0.02, (40, 700))
    whole = apply("power", batch)  # some thirty rows fit a chunk
    np.testing.assert_allclose(whole[-2:], apply("power", batch[-2:]), atol=1e-13)
