"""Power against the posterior that it is the mean of."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import ldpkit
from estimation.batches import NOISE, apply
from ldpkit.estimation.consistency import Noise
from ldpkit.estimation.consistency.power import LEAST_COUNT, _groups, _prior_mass, power


def sums(counts: np.ndarray, people: int, sigma: float, exponent: float) -> tuple[np.ndarray, np.ndarray]:
    """Return posterior mean and log-evidence of each count by summing over 1, ..., n, one by one.

    The evidence is relative to the density at the nearest possible count.
    """
    x = np.arange(1, people + 1, dtype=float)
    means, evidence = [], []
    for count in counts:
        nearest = np.clip(np.rint(count), 1, people)
        energy = -exponent * np.log(x) - ((x - count) / sigma) ** 2 / 2
        weights = np.exp(energy - energy.max())
        means.append((weights * x).sum() / weights.sum())
        evidence.append(np.log(weights.sum()) + energy.max() + ((nearest - count) / sigma) ** 2 / 2)
    return np.array(means), np.array(evidence)


def log_likelihood(counts: np.ndarray, people: int, sigma: float, exponent: float) -> float:
    prior = (np.arange(1, people + 1, dtype=float) ** -exponent).sum()
    return float((sums(counts, people, sigma, exponent)[1] - np.log(prior)).sum())


POWER_NOISE = Noise(100_000, 0.004)
POWER_ROW = np.array([0.31, 0.14, 0.09, 0.05, 0.041, 0.02, 0.011, 0.006, 0.002, -0.001, -0.004, -0.009])


def test_power_is_the_posterior_mean_at_the_likeliest_exponent() -> None:
    from scipy.optimize import minimize_scalar

    counts, people = POWER_ROW * POWER_NOISE.n, POWER_NOISE.n
    sigma = POWER_NOISE.stderr * people
    best = minimize_scalar(
        lambda s: -log_likelihood(counts, people, sigma, s), bounds=(0, 4), method="bounded"
    ).x
    expected = sums(counts, people, sigma, best)[0] / people
    result = apply("power", [POWER_ROW], POWER_NOISE)[0]
    np.testing.assert_allclose(result, expected, atol=2e-3 * POWER_NOISE.stderr)
    other = sums(counts, people, sigma, best + 0.3)[0] / people
    assert np.abs(other - expected).max() > 2e-2 * POWER_NOISE.stderr, "the negative control must fail"


@pytest.mark.parametrize(
    ("people", "sigma"),
    [(1, 0.5), (7, 0.01), (50, 0.3), (200, 1.4), (1000, 33.0), (1000, 50.0), (20_000, 2.5), (100_000, 400.0)],
)
def test_nodes_sum_over_all_counts(people: int, sigma: float) -> None:
    """Everywhere: below 1, at both ends and around the places where the nodes change, at n and beyond."""
    near = sigma * np.array([-40, -8, -1, 0, 0.5, 2, 9, 14.9, 15.1, 22])
    beyond = people + sigma * np.array([-20, -7.6, -7.4, -1, 0, 3, 40])
    counts = np.concatenate([near, beyond, np.linspace(1, people, 7), [1.5, 5.5]])
    counts = np.clip(counts, 1 - 40 * sigma, people + 40 * sigma)
    groups = list(_groups(counts, people, sigma))
    assert sorted(np.concatenate([group.members for group in groups])) == list(range(len(counts)))
    exponents = np.array([0.0, 1.25, 2.5, 3.75])
    for index, exponent in enumerate(exponents):
        means, evidence = sums(counts, people, sigma, exponent)
        for group in groups:
            ours = group.posterior_mean(np.full(len(group.members), exponent))
            np.testing.assert_allclose(ours, means[group.members], rtol=1e-9)
            ours = np.log(group.evidence(exponents)[index])
            np.testing.assert_allclose(ours, evidence[group.members], atol=1e-9)
    masses = (np.arange(1, people + 1) ** -exponents[:, None]).sum(1)
    np.testing.assert_allclose(_prior_mass(exponents, people), masses, rtol=1e-12)


def test_a_count_of_nobody_has_no_place() -> None:
    """The prior begins at one person: an integral from one half puts small counts too low."""
    row = np.array([[1.2, 0.9, 2.1, 1.4, 0.6, 5.0, 0.7, 1.1]]) / 20
    result = 20 * apply("power", row, Noise(20, 0.1 / 20))[0]
    assert result.min() >= 1
    exact = [1, 1, 2, 1, 1, 5, 1, 1]
    np.testing.assert_allclose(result, exact, atol=0.02)  # with noise this small, the nearest integer


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


def test_a_wide_row_in_pieces_is_the_row_as_a_whole(monkeypatch):
    batch = np.random.default_rng(3).normal(0.01, 0.02, (2, 300))
    whole = power(batch, Noise(10_000, 0.02))
    monkeypatch.setattr("ldpkit.estimation.consistency.power._NODES_AT_ONCE", 256 * 70)
    np.testing.assert_allclose(power(batch, Noise(10_000, 0.02)), whole, rtol=1e-10)


def test_equal_estimates_of_a_wide_row_are_taken_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """A million values have a few thousand different counts; each by itself took a hundred times as long."""
    module = importlib.import_module("ldpkit.estimation.consistency.power")
    counts = np.repeat(np.random.default_rng(3).normal(40, 200, 60), 150)[None, :]
    counts[0, ::150] = np.geomspace(500, 20_000, 60)
    each_by_itself = module._posterior_means(counts, np.ones(counts.shape[1]), 100_000, 200.0) / 100_000
    looked_at = []

    def counting(counts: np.ndarray, people: int, sigma: float) -> object:
        looked_at.append(len(counts))
        return _groups(counts, people, sigma)

    monkeypatch.setattr(module, "_groups", counting)
    together = power(counts / 100_000, Noise(100_000, 0.002))
    np.testing.assert_allclose(together, each_by_itself, rtol=1e-9)
    assert looked_at == [120]
