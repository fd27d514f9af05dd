"""OGPM on an interval against its closed forms: widths, heights, errors, and what it cannot do."""

from __future__ import annotations

import math
from decimal import getcontext
from fractions import Fraction

import numpy as np
import pytest

import ldpkit
from ldpkit.core.errors import InvalidParameterError
from ldpkit.mechanisms.cells.widths import clamped_error, end_error, height, optimal_width, prior_width

EPSILONS = [0.5, 1.0, 2.0, 4.0, 8.0]


def theorem_7(epsilon):
    """The window's width that the thesis gives for every power, right for power 1."""
    return 1 / (1 + math.exp(epsilon / 2))


def squared_error(x, epsilon):
    """Appendix C.2.5: the squared error of Theorem 7's mechanism, in its three cases."""
    grows, p, c = math.exp(epsilon), math.exp(epsilon / 2), theorem_7(epsilon) / 2
    if x < c:
        near, far = (2 * c - x) ** 3 + x**3, (1 - x) ** 3 - (2 * c - x) ** 3
    elif x < 1 - c:
        near, far = 2 * c**3, -2 * c**3 + 3 * x**2 - 3 * x + 1
    else:
        near, far = (1 - x) ** 3 - (1 - 2 * c - x) ** 3, (1 - 2 * c - x) ** 3 + x**3
    return p / 3 * near + p / (3 * grows) * far


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_worst_absolute_error_is_that_of_theorem_7(epsilon):
    assert float(optimal_width(epsilon, 1.0)) == pytest.approx(theorem_7(epsilon), rel=1e-14)
    assert end_error(epsilon, 1.0) == pytest.approx(theorem_7(epsilon), rel=1e-14)
    assert clamped_error(epsilon, theorem_7(epsilon), 0.0, 1.0) == pytest.approx(
        theorem_7(epsilon), rel=1e-12
    )
    mechanism = ldpkit.get("ogpm", (0, 1), epsilon=epsilon)
    assert mechanism.error(0.0) == pytest.approx(theorem_7(epsilon), abs=1e-6)
    assert mechanism.details()["height"] == pytest.approx(math.exp(epsilon / 2), rel=1e-5)
    assert epsilon - 1e-6 <= mechanism.exact_epsilon() <= epsilon


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_squared_error_has_the_root_of_the_cubic_and_not_theorem_7(epsilon):
    width, grows = float(optimal_width(epsilon, 2.0)), math.exp(epsilon)
    p = height(epsilon, width)
    assert (grows - 2) * p**3 + 3 * grows * p == pytest.approx(2 * grows**2, rel=1e-12)
    mechanism = ldpkit.get("ogpm", (0, 1), epsilon=epsilon, power=2)
    assert mechanism.error(0.0, 2) == pytest.approx(width**2, abs=1e-6)
    assert mechanism.error(0.0, 2) < squared_error(0.0, epsilon)
    assert epsilon - 1e-6 <= mechanism.exact_epsilon() <= epsilon


def test_squared_error_at_epsilon_4_in_figures():
    assert end_error(4.0, 2.0) == pytest.approx(0.0406356, abs=5e-8)
    assert clamped_error(4.0, theorem_7(4.0), 0.0, 2.0) == pytest.approx(0.0492072, abs=5e-8)


@pytest.mark.parametrize("power", [0.3, 1.0, 2.0, 3.7])
def test_the_width_solves_the_equation_of_its_power(power):
    for epsilon in EPSILONS:
        grows, p = math.exp(epsilon), height(epsilon, float(optimal_width(epsilon, power)))
        left = ((grows - 1) * p) ** power * p
        assert left == pytest.approx((grows - p) ** power * (p + power * grows), rel=1e-11)
        nearby = [
            clamped_error(epsilon, float(optimal_width(epsilon, power)) * f, 0.0, power) for f in (0.99, 1.01)
        ]
        assert min(nearby) > end_error(epsilon, power)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_squared_error_is_that_of_appendix_c_2_5(epsilon):
    values = np.linspace(0, 1, 33)
    closed = [squared_error(x, epsilon) for x in values]
    integrals = [clamped_error(epsilon, theorem_7(epsilon), x, 2.0) for x in values]
    assert integrals == pytest.approx(closed, abs=1e-12)
    mechanism = ldpkit.get("ogpm", (0, 1), epsilon=epsilon)
    assert mechanism.error(values, 2) == pytest.approx(np.array(closed), abs=1e-6)


def test_the_error_of_appendix_c_2_5_at_epsilon_1_beside_that_of_sw():
    assert squared_error(0.0, 1.0) == pytest.approx(0.220872, abs=5e-7)
    assert ldpkit.get("sw", (0, 1), epsilon=1).error(0.0, 2) == pytest.approx(0.286525, abs=1e-6)


def test_example_8():
    width = float(optimal_width(1.0, 1.0, Fraction(1, 5)))
    assert height(1.0, width) == pytest.approx(1.545890, abs=5e-7)
    assert clamped_error(1.0, width, 0.2, 1.0) == pytest.approx(0.241367, abs=5e-7)
    assert clamped_error(1.0, theorem_7(1.0), 0.2, 1.0) == pytest.approx(0.243358, abs=5e-7)
    at, worst = ldpkit.get("ogpm_at", (0, 10), epsilon=1, x0=2.0), ldpkit.get("ogpm", (0, 10), epsilon=1)
    assert at.error(2.0) == pytest.approx(2.41367, abs=1e-5)
    assert worst.error(2.0) == pytest.approx(2.43358, abs=1e-5)
    mirrored = ldpkit.get("ogpm_at", (0, 10), epsilon=1, x0=8.0)
    assert mirrored.window == at.window


def test_a_prior_is_met_by_the_width_with_the_least_mean_error():
    values, weights = np.array([0.05, 0.3, 0.9]), np.array([1.0, 2.0, 0.5])

    def mean_error(width):
        return weights @ [clamped_error(2.0, width, x, 2.0) for x in values]

    best = prior_width(2.0, 2.0, values, weights)
    assert mean_error(best) < min(mean_error(best * 0.99), mean_error(best * 1.01))
    mechanism = ldpkit.OGPMPrior.for_prior((0, 1), 2.0, values, weights, power=2)
    assert mechanism.width == best
    assert ldpkit.OGPMPrior.from_parameters(mechanism.domain, mechanism.parameters()) == mechanism


@pytest.mark.parametrize(("epsilon", "of_pm", "of_sw"), [(2.0, 0.9422, 0.9232), (4.0, 0.9048, 0.7472)])
def test_the_mean_errors_of_section_5_6(epsilon, of_pm, of_sw):
    values = (np.arange(256) + 0.5) / 256
    ours, pm, sw = (
        ldpkit.get(name, (0, 1), epsilon=epsilon).error(values).mean()
        for name in ("ogpm", "compressed_pm", "compressed_sw")
    )
    assert [ours / pm, ours / sw] == pytest.approx([of_pm, of_sw], abs=1e-4)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0, 6.0])
def test_pm_beats_the_unbiased_variant(epsilon):
    variant, pm = (ldpkit.get(name, (0, 1), epsilon=epsilon) for name in ("ogpm_unbiased", "pm"))
    reach = 1 / math.tanh(epsilon / 4)
    assert variant.output_range == pytest.approx((-reach, reach + 1), abs=1e-5)
    values = (np.arange(64) + 0.5) / 64
    assert 3.1 < variant.variance(0.0) / pm.variance(0.0) < 3.95
    assert 4.25 < variant.variance(values).mean() / pm.variance(values).mean() < 5.15


def test_the_unbiased_variant_in_figures():
    variant, pm = (ldpkit.get(name, (0, 1), epsilon=1) for name in ("ogpm_unbiased", "pm"))
    values = (np.arange(512) + 0.5) / 512
    worst, mean = variant.variance(0.0), variant.variance(values).mean()
    assert [worst, mean] == pytest.approx([5.02451, 4.767595], abs=2e-5)
    assert [pm.variance(0.0), pm.variance(values).mean()] == pytest.approx([1.30590, 1.048984], abs=2e-5)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, math.log(3 + 2 * math.sqrt(2))])
def test_compressed_duchi_has_the_minimax_squared_error(epsilon):
    mechanism, grows = ldpkit.get("compressed_duchi", (0, 1), epsilon=epsilon), math.exp(epsilon)
    points, _ = mechanism.atoms(0.5)
    assert points == pytest.approx(np.array([1, grows]) / (1 + grows), abs=1e-6)
    errors = mechanism.error(np.linspace(0, 1, 65), 2)
    assert errors.max() == pytest.approx(grows / (1 + grows) ** 2, abs=1e-6)


def test_compressed_duchi_estimates_the_mean_as_duchi_does():
    values = [0.2, 0.9] * 500
    tallies = []
    for name in ("duchi", "compressed_duchi"):
        mechanism = ldpkit.get(name, (0, 1), epsilon=1)
        tallies.append(mechanism.tally(mechanism.privatize(values, rng=ldpkit.random.seeded(3))).estimate())
    assert tallies[0].mean == pytest.approx(tallies[1].mean, abs=1e-12)
    assert tallies[0].interval() == pytest.approx(tallies[1].interval(), abs=1e-12)


def test_values_near_an_end_have_the_same_law():
    mechanism = ldpkit.get("ogpm", (0, 1), epsilon=1)
    (low, high), upper = mechanism.indistinct
    assert (low, high) == pytest.approx((0, theorem_7(1.0) / 2), abs=1e-6)
    assert upper == pytest.approx((1 - high, 1), abs=1e-12)
    places = [
        int(place) for place in mechanism.domain.encode([0.0, high - 1e-6, high + 1e-4], steps=mechanism.grid)
    ]
    first, last, beyond = (mechanism.law(place).edges.tolist() for place in places)
    assert first == last != beyond
    # All at 0: the raw mean of reports goes to 0.3775.
    assert mechanism.bias(0.0) == pytest.approx(0.3775, abs=1e-4)


def test_what_cannot_be_estimated_is_told_with_its_numbers():
    mechanism = ldpkit.get("ogpm", (0, 100), epsilon=1)
    tally = mechanism.tally(mechanism.privatize([1.0, 40.0] * 2000, rng=ldpkit.random.seeded(1)))
    with pytest.warns(
        ldpkit.UnidentifiedWarning, match="from 0 to 18.877 and for all from 81.123 to 100.*pm"
    ):
        mean = tally.estimate()
    assert mean.bias > 100 * theorem_7(1.0) / 4 - 0.1  # nobody can do better than half a stretch
    low, high = mean.interval()
    assert low <= 20.5 <= high
    with pytest.warns(ldpkit.UnidentifiedWarning, match="use sw"):
        tally.estimate("density", bins=16)
    for name in ("pm", "sw", "truncated_pm"):
        assert ldpkit.get(name, (0, 100), epsilon=1).indistinct == ()


@pytest.mark.parametrize("power", [0, -1, -0.5, math.nan, math.inf, 11, "two", None, True])
@pytest.mark.parametrize(("name", "domain"), [("ogpm", (0, 1)), ("circular_ogpm", 360)])
def test_senseless_powers_are_refused(name, domain, power):
    with pytest.raises(InvalidParameterError, match="power"):
        ldpkit.get(name, domain, epsilon=1, power=power)


def test_points_and_widths_outside_are_refused():
    for x0 in (-0.1, 1.1, math.nan):
        with pytest.raises(InvalidParameterError, match="x0"):
            ldpkit.get("ogpm_at", (0, 1), epsilon=1, x0=x0)
    for width in (0, -0.2, 1.5):
        with pytest.raises(InvalidParameterError, match="width"):
            ldpkit.get("ogpm_prior", (0, 1), epsilon=1, width=width)
    for weights in ([1.0], [1.0, -1.0], [0.0, 0.0], [math.nan, 1.0]):
        with pytest.raises(InvalidParameterError, match="prior"):
            ldpkit.OGPMPrior.for_prior((0, 1), 1.0, [0.2, 0.4], weights)


def test_the_callers_decimal_precision_changes_nothing():
    expected = optimal_width.__wrapped__(1.7, 0.6, Fraction(1, 3))
    before, getcontext().prec = getcontext().prec, 5
    try:
        assert optimal_width.__wrapped__(1.7, 0.6, Fraction(1, 3)) == expected
    finally:
        getcontext().prec = before
