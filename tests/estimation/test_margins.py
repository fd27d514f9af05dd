"""Intervals of means: their exact coverage, summed over all that can be reported."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

import ldpkit
from ldpkit.estimation.margins import (
    LARGEST_RATIO,
    STUDENT,
    BettingMargin,
    ChernoffMargin,
    CoinMargin,
    NormalMargin,
)

PEOPLE = 50
WALD = 1.959964  # standard errors


def law_of_the_sum(mechanism, people):
    """Return the exact law of the sum of reports: people are places with their numbers."""
    cells = 1 << (PEOPLE * mechanism.cells).bit_length()
    product = np.ones(cells // 2 + 1, complex)
    for place, number in people.items():
        row = np.array([float(chance) for chance in mechanism.law(place).row(mechanism.cells)])
        assert row[mechanism.cells :].sum() < 1e-15, "atoms beyond the reach of the noise"
        product *= np.fft.rfft(row[: mechanism.cells], cells) ** number
    return np.clip(np.fft.irfft(product, cells), 0, None)


@pytest.mark.parametrize(
    ("name", "epsilon", "grid", "margin"),
    [("staircase", 4.0, 16, NormalMargin), ("pm", 10.0, 256, ChernoffMargin)],
)
def test_a_mean_is_covered_by_exact_summation(name, epsilon, grid, margin):
    """The sum of the reports tells these intervals: the staircase's error is the same for all values."""
    mechanism = ldpkit.get(name, (0, 1), epsilon=epsilon, grid=grid)
    made = mechanism.tally(mechanism.privatize([0.5] * PEOPLE)).estimate()
    assert isinstance(made.margin, margin)
    origin, step = (float(part) for part in mechanism.placement)
    wald = []
    for people in ({grid // 2: PEOPLE}, {0: PEOPLE}, {0: 25, grid: 25}, {3: 49, grid: 1}):
        chances = law_of_the_sum(mechanism, people)
        truth = sum(place * number for place, number in people.items()) / PEOPLE / grid
        means = origin + step * (np.arange(len(chances)) / PEOPLE + 0.5)
        likely = np.flatnonzero(chances > 1e-12)
        ends = np.array([replace(made.margin, centre=mean).ends(0.95) for mean in means[likely]])
        covered = float(chances[likely] @ ((ends[:, 0] <= truth) & (truth <= ends[:, 1])))
        assert covered >= 0.95, f"exact coverage {covered} for {people}"
        noise = sum(number * mechanism.variance(place / grid) for place, number in people.items()) / PEOPLE
        reach = WALD * np.sqrt(noise / PEOPLE)
        wald.append(float(chances[likely] @ (np.abs(means[likely] - truth) <= reach)))
    if name == "pm":
        assert min(wald) < 0.94, f"the negative control passes: the plain normal interval covers {wald}"


@pytest.mark.parametrize("epsilon", [0.1, 10.0])
def test_two_outputs_are_covered_by_exact_summation(epsilon):
    mechanism = ldpkit.get("duchi", (0, 1), epsilon=epsilon)
    points = tuple(float(point) for point in mechanism.atom_points)
    heads = np.arange(PEOPLE + 1)
    ends = np.array([CoinMargin(int(each), PEOPLE, points).ends(0.95) for each in heads])
    worst = worst_wald = 1.0
    for truth in (0.0, 0.01, 0.02, 0.3, 0.5, 0.98, 1.0):
        # All at the same value, or as many as it takes at one end and the others at the other one.
        upper = round(truth * PEOPLE)
        laws = [binom.pmf(heads, PEOPLE, mechanism.atoms(truth)[1][1])]
        if upper == truth * PEOPLE:
            below, above = (mechanism.atoms(end)[1][1] for end in (0.0, 1.0))
            two = np.convolve(
                binom.pmf(np.arange(PEOPLE - upper + 1), PEOPLE - upper, below),
                binom.pmf(np.arange(upper + 1), upper, above),
            )
            laws.append(two)
        chance = mechanism.atoms(truth)[1][1]
        shares = heads / PEOPLE
        reach = WALD * np.sqrt(shares * (1 - shares) / PEOPLE)
        for law in laws:
            worst = min(worst, law @ ((ends[:, 0] <= truth) & (truth <= ends[:, 1])))
            worst_wald = min(worst_wald, law @ (np.abs(shares - chance) <= reach))
    assert worst >= 0.95, f"exact coverage {worst}"
    assert worst_wald < 0.94, "the negative control passes: the plain normal interval covers as well"


def test_bets_cover_by_exact_summation():
    """Weights of which one is rare: the worst case for a spread that is estimated."""
    weights, heads = np.array([-0.1, 1.2]), np.arange(PEOPLE + 1)
    ends = []
    for each in heads:
        counts = np.array([PEOPLE - each, each])
        centre = float(counts @ weights / PEOPLE)
        ends.append(BettingMargin(counts, weights, weights, centre, (0.001, 0.43)).ends(0.95))
    low, high = np.array(ends).T
    for truth in (0.0, 0.01, 0.1, 0.5, 0.9, 1.0):
        law = binom.pmf(heads, PEOPLE, (truth + 0.1) / 1.3)
        assert law @ ((low <= truth) & (truth <= high)) >= 0.95, "exact coverage"
    assert (np.diff(low) >= 0).all()
    assert high[0] < 0.2, "the interval tells something"


@pytest.mark.parametrize("n", [50, 1000])
def test_an_error_from_scatter_covers_by_exact_summation(n):
    """People at both ends, drawn at random, with next to no noise: the scatter may miss the rare ones."""
    heads = np.arange(n + 1)
    mean, weights = heads / n, np.array([0.0, 1.0])
    whole = np.maximum(mean * (1 - mean) * n / (n - 1), 1e-3)
    ratios = STUDENT / np.sqrt(n * whole)
    ends, plain = [], []
    for each, ratio in zip(heads, ratios, strict=True):
        error = float(np.sqrt(whole[each] / n))
        if ratio <= LARGEST_RATIO:
            margin = NormalMargin(float(mean[each]), error, float(ratio), n=n)
        else:
            counts = np.array([n - each, each])
            margin = BettingMargin(counts, weights, weights, float(mean[each]), (1e-3, 0.25))
        ends.append(margin.ends(0.95))
        plain.append(NormalMargin(float(mean[each]), error, float(ratio) / STUDENT, n=n).ends(0.95))
    worst = []
    for low, high in (np.array(ends).T, np.array(plain).T):
        truths = np.geomspace(1 / n, 0.5, 60)
        worst.append(min(binom.pmf(heads, n, p) @ ((low <= p) & (p <= high)) for p in truths))
    assert worst[0] >= 0.95, f"exact coverage {worst[0]}"
    assert worst[1] < 0.94, "the negative control passes: the range need not count more"


@pytest.mark.parametrize("drawn", [False, True])
def test_a_bound_from_the_law_is_no_wider_than_it_must_be(drawn):
    """With many people it is sqrt(2 log 40) / 1.96 = 1.39 times the normal interval."""
    mechanism = ldpkit.get("hm", (0, 1), epsilon=1.0)
    low, high = ChernoffMargin(mechanism, 0.5, 10**6, drawn).ends(0.95)
    variance = mechanism.variance(0.5) + 0.25 * drawn  # drawn people may stand at both ends
    assert (high - low) / 2 == pytest.approx(1.386 * WALD * np.sqrt(variance / 10**6), rel=0.03)
