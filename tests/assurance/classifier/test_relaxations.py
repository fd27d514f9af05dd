"""Gaussian noise under PAC and (epsilon, delta), Theorem 16, and what reports tell in nats (Theorem 19)."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

import ldpkit
from ldpkit.assurance.classifier.columns import Clipped, NearestPoint
from ldpkit.assurance.classifier.gaussian import GaussianNoise
from ldpkit.assurance.classifier.information import (
    channel_information,
    information,
    information_bound,
    sharper_bound,
)
from ldpkit.assurance.classifier.relaxations import (
    SIGMAS,
    analytic_sigma,
    dp_delta,
    pac_combined,
    pac_delta,
    pac_sigma,
    printed_sigma,
    proof_sigma,
    relaxations,
)

RANDOM = np.random.default_rng(17)


def by_quadrature(sigma, epsilon, distance=1.0):
    """Return both deltas from the densities of two values that far apart, with no formula of the house."""
    one, other = norm(0, sigma), norm(distance, sigma)
    border = distance / 2 - epsilon * sigma**2 / distance  # the loss is above epsilon below it
    ends = border - 40 * sigma, border
    lost = quad(one.pdf, *ends, points=[min(max(0.0, ends[0]), border)], limit=200)[0]
    held = quad(other.pdf, *ends, points=[min(max(distance, ends[0]), border)], limit=200)[0]
    return lost, lost - math.exp(epsilon) * held


def test_both_deltas_are_those_of_a_quadrature_and_the_ends_of_the_domain_are_the_worst_values():
    for _ in range(12):
        sigma, epsilon = math.exp(RANDOM.uniform(-1.2, 1.2)), RANDOM.uniform(0.1, 4)
        pac, dp = by_quadrature(sigma, epsilon)
        assert pac_delta(sigma, epsilon) == pytest.approx(pac, abs=1e-9)
        assert dp_delta(sigma, epsilon) == pytest.approx(dp, abs=1e-9)
        nearer = by_quadrature(sigma, epsilon, RANDOM.uniform(0.2, 0.95))
        assert nearer[0] < pac
        assert nearer[1] < dp


@pytest.mark.parametrize("delta", [0.1, 1e-5])
def test_each_sigma_keeps_its_promise_and_the_least_ones_keep_no_more(delta):
    for epsilon in (0.5, 1.0, 2.0, 4.0, 8.0):
        sigmas = [choose(epsilon, delta) for choose in SIGMAS.values()]
        assert sigmas == sorted(sigmas, reverse=True)
        for sigma in sigmas[:3]:
            assert pac_delta(sigma, epsilon) <= delta * (1 + 1e-12)
            assert dp_delta(sigma, epsilon) < delta
        assert pac_delta(0.999 * pac_sigma(epsilon, delta), epsilon) > delta
        best = analytic_sigma(epsilon, delta)
        assert dp_delta(best, epsilon) <= delta < dp_delta(0.999 * best, epsilon)
        assert pac_delta(best, epsilon) > delta  # the other relaxation is not kept
    ratios = [proof_sigma(e, delta) / pac_sigma(e, delta) for e in (4.0, 0.5)]
    assert ratios == pytest.approx([1.41, 1.75] if delta == 0.1 else [1.13, 1.16], abs=0.01)


def test_theorem_18_as_printed_never_falls_below_0_7071_and_is_looser_than_it_says():
    assert printed_sigma(19.0, 0.1) > math.sqrt(0.5) > proof_sigma(10.0, 0.1)
    assert pac_delta(proof_sigma(2.0, 0.1), 2.0) == pytest.approx(0.0072, abs=5e-5)


def test_theorem_16_holds_for_gaussian_reports_and_its_sum_of_deltas_does_not_have_to_be_paid():
    for columns, epsilon, delta in itertools.product((1, 2, 5), (0.3, 2.0), (0.01, 0.3)):
        sigma = pac_sigma(epsilon, delta)
        total, together = pac_combined(epsilon, delta, columns)
        assert pac_delta(sigma, total, columns) <= together * (1 + 1e-12)
        assert together <= columns * delta * (1 + 1e-12)
        # the loss of the columns is a normal variable with the sum of their means and variances
        mean, spread = columns / (2 * sigma**2), math.sqrt(columns) / sigma
        assert pac_delta(sigma, total, columns) == pytest.approx(norm.sf((total - mean) / spread), rel=1e-9)


def deltas(rows, epsilon):
    """Return both deltas of a channel by enumeration."""
    pac = dp = 0.0
    for one, other in itertools.permutations(np.asarray(rows), 2):
        with np.errstate(divide="ignore", invalid="ignore"):
            loss = np.log(one / other)
        pac = max(pac, one[(loss > epsilon + 1e-9) & (one > 0)].sum())
        dp = max(dp, np.maximum(one - math.exp(epsilon) * other, 0).sum())
    return pac, dp


def channels(count):
    for _ in range(count):
        yield RANDOM.dirichlet(np.full(int(RANDOM.integers(2, 5)), 0.7), 2)


def test_theorem_16_by_enumeration_of_random_channels_and_pac_is_the_stronger_promise():
    below = 0
    for rows in channels(60):
        epsilon = RANDOM.uniform(0.1, 1.5)
        pac, dp = deltas(rows, epsilon)
        assert dp <= pac + 1e-12
        if not 0 < pac < 1:
            continue
        for columns in (2, 3):
            product = rows
            for _ in range(columns - 1):
                product = np.einsum("xi,xj->xij", product, rows).reshape(2, -1)
            found = deltas(product, columns * epsilon)
            for own, together in zip((pac, dp), found, strict=True):
                if own > 0:
                    assert together <= pac_combined(epsilon, own, columns)[1] + 1e-12
            below += found[0] > pac + 1e-6
    assert below > 5, "the delta of one column is not enough for several: the control of this test"


def test_the_delta_of_theorem_16_is_reached():
    """A channel that tells the value with probability delta and is randomised response else."""
    epsilon, delta = 1.0, 0.1
    kept = math.exp(epsilon) / (1 + math.exp(epsilon))
    row = [delta, 0, (1 - delta) * kept, (1 - delta) * (1 - kept)]
    rows = np.array([row, [row[1], row[0], row[3], row[2]]])
    assert deltas(rows, epsilon) == pytest.approx((delta, delta))
    product = np.einsum("xi,xj->xij", rows, rows).reshape(2, -1)
    assert deltas(product, 2 * epsilon) == pytest.approx((0.19, 0.19))


def test_gaussian_noise_is_a_law_and_no_mechanism():
    column = GaussianNoise(0.4, 10.0, 20.0)
    assert column.exact_epsilon() == math.inf
    assert "gaussian" not in " ".join(ldpkit.list_mechanisms()).lower()
    for refused in (column.privatize, column.draw):
        with pytest.raises(ldpkit.errors.InvalidParameterError, match="for analysis only"):
            refused(np.array([12.0]))
    with pytest.raises(ldpkit.errors.InvalidParameterError, match="sigma must be a positive number, got -1"):
        GaussianNoise(-1)
    at = np.linspace(-5, 40, 301)[None, :]
    law = column.outputs(np.array([12.0]))
    off = np.abs(law.below(at)[0] - norm(12, 4).cdf(at[0]))
    assert off.max() <= law.slack < 1e-6
    clipped = GaussianNoise(0.4, 10.0, 20.0, clip=True).outputs(np.array([12.0]))
    assert clipped.chances[0] == pytest.approx([norm(12, 4).cdf(10), norm(12, 4).sf(20)], abs=1e-6)


def test_a_model_is_read_under_gaussian_noise_and_one_that_is_only_asked_is_refused():
    linear = pytest.importorskip("sklearn.linear_model")
    rows = RANDOM.random((200, 2))
    model = linear.LogisticRegression().fit(rows, rows @ [1, 2] > 1.4)
    chosen = {0: GaussianNoise(0.5), 1: GaussianNoise(0.2)}
    found = ldpkit.utility(model, rows[:5], chosen)
    slope, shift = model.coef_[0], model.intercept_[0]
    score, spread = rows[:5] @ slope + shift, math.hypot(0.5 * slope[0], 0.2 * slope[1])
    assert found.values == pytest.approx(norm.cdf(np.abs(score) / spread), abs=1e-5)
    assert found.epsilon == math.inf
    with pytest.raises(ldpkit.errors.InvalidParameterError, match="for analysis only"):
        ldpkit.utility(lambda x: x[:, 0] > 0.5, rows[:2], chosen)


def test_the_table_of_relaxations():
    table = relaxations(1.0, 0.1, columns=2)
    assert [row["rule"] for row in table.rows()] == list(SIGMAS)
    assert "Gaussian noise for epsilon 1 and delta 0.1" in table.to_dict()["title"]
    assert all(row["pac together"] <= row["theorem 16"] for row in table.rows())


GRID = np.linspace(0, 1, 11)


def mechanisms(epsilon):
    yield from (ldpkit.get(name, (0, 1), epsilon=epsilon) for name in ("ogpm", "sw", "pm", "hm", "duchi"))
    yield Clipped(ldpkit.get("staircase", (0, 1), epsilon=epsilon))
    yield ldpkit.get("bounded_laplace", (0, 1), epsilon=epsilon)
    yield NearestPoint(ldpkit.GRR(GRID.tolist(), epsilon=epsilon))
    yield NearestPoint(ldpkit.Exponential(GRID.tolist(), epsilon=epsilon))


def test_theorem_19_over_mechanisms_epsilons_and_priors():
    for epsilon in (0.3, 2.0, 6.0):
        for mechanism in mechanisms(epsilon):
            prior = RANDOM.dirichlet(np.full(11, 0.5))
            told = information(mechanism, GRID, prior)
            assert 0 < told <= sharper_bound(epsilon, 11) <= information_bound(epsilon, 11)


def test_theorem_19_for_random_channels_with_their_own_epsilon_and_what_breaks_it():
    for _ in range(200):
        rows = RANDOM.dirichlet(np.full(4, 0.5), int(RANDOM.integers(2, 6))) + 1e-3
        rows /= rows.sum(axis=1, keepdims=True)
        epsilon = float(np.log(rows.max(axis=0) / rows.min(axis=0)).max())
        told = channel_information(rows, RANDOM.dirichlet(np.ones(len(rows))))
        assert told <= sharper_bound(epsilon, len(rows)) + 1e-12
    # randomised response that sends the raw value with probability 0.1 tells more than its stated epsilon
    chances = np.full((10, 10), 0.9 / (9 + math.exp(0.01)))
    np.fill_diagonal(chances, 0.1 + 0.9 * math.exp(0.01) / (9 + math.exp(0.01)))
    told = channel_information(chances)
    assert information_bound(0.01, 10) < told < math.log(10)


def test_information_is_that_of_a_quadrature():
    mechanism = ldpkit.get("ogpm", (0, 1), epsilon=1.5)
    prior = np.array([0.2, 0.5, 0.3])
    points = np.array([0.1, 0.4, 0.9])
    at = (np.arange(200_000) + 0.5) / 200_000
    density = np.array([mechanism.pdf(at, point) for point in points])
    mixed = prior @ density
    wanted = (prior[:, None] * density * np.log(density / mixed)).sum() / len(at)
    assert information(mechanism, points, prior) == pytest.approx(wanted, abs=1e-4)
    kept = math.exp(2) / (1 + math.exp(2))
    binary = math.log(2) + kept * math.log(kept) + (1 - kept) * math.log(1 - kept)
    assert information(ldpkit.GRR([0.0, 1.0], epsilon=2), [0.0, 1.0]) == pytest.approx(binary)
    with pytest.raises(ldpkit.errors.InvalidParameterError, match="3 probabilities with sum 1"):
        information(mechanism, points, [0.5, 0.5])
