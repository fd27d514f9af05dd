"""Each numeric mechanism against its closed form and the corrected numbers of the errata."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest

import ldpkit
from ldpkit.core.errors import InvalidParameterError

EPSILONS = [0.1, 0.5, 1.0, 2.0, 4.0, 8.0]
INSIDE = np.array([-1.0, -0.5, 0.0, 0.25, 1.0])


def make(name, epsilon, domain=(-1, 1)):
    return ldpkit.get(name, domain, epsilon=epsilon)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_piecewise(epsilon):
    s = exp(epsilon / 2)
    mechanism = make("pm", epsilon)
    expected = INSIDE**2 / (s - 1) + (s + 3) / (3 * (s - 1) ** 2)
    assert mechanism.variance(INSIDE) == pytest.approx(expected, rel=1e-4)
    assert mechanism.output_range[1] == pytest.approx((s + 1) / (s - 1), rel=1e-4)
    width = (s + 1) / (s - 1) - 1
    assert mechanism.pdf(0.0, 0.0) * width == pytest.approx(s / (s + 1), rel=1e-4)


def test_piecewise_beats_the_linear_extension_on_the_unit_interval():
    mechanism = make("pm", 1.0, (0, 1))
    assert mechanism.worst_variance() == pytest.approx(1.30590, abs=1e-5)  # errata 44
    assert mechanism.variance(np.linspace(0, 1, 1001)).mean() == pytest.approx(1.04924, abs=1e-5)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_duchi(epsilon):
    bound = (exp(epsilon) + 1) / (exp(epsilon) - 1)
    mechanism = make("duchi", epsilon)
    assert mechanism.variance(INSIDE) == pytest.approx(bound**2 - INSIDE**2, rel=1e-9)
    points, chances = mechanism.atoms(0.25)
    assert points == pytest.approx([-bound, bound])
    assert chances[1] == pytest.approx(0.5 + 0.25 / (2 * bound))
    assert mechanism.pdf(0.0, 0.0) == 0.0
    assert mechanism.cdf([-bound - 1, 0.0, bound + 1], 0.25) == pytest.approx([0, chances[0], 1])


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_hybrid(epsilon):
    e, s = exp(epsilon), exp(epsilon / 2)
    duchi = ((e + 1) / (e - 1)) ** 2
    flat = np.full(5, (s + 3) / (3 * s * (s - 1)) + (e + 1) ** 2 / (s * (e - 1) ** 2))
    expected = flat if epsilon > 0.61 else duchi - INSIDE**2
    assert make("hm", epsilon).variance(INSIDE) == pytest.approx(expected, rel=1e-4)


def test_hybrid_switches_where_its_worst_case_meets_that_of_duchi():
    below, above = (make("hm", epsilon).worst_variance() for epsilon in (0.609351, 0.609353))
    assert below == pytest.approx(above, rel=1e-5)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_square_wave(epsilon):
    e = exp(epsilon)
    b = (epsilon * e - e + 1) / (2 * e * (e - 1 - epsilon))
    p = e / (2 * b * e + 1)
    mechanism = make("sw", epsilon, (0, 1))
    near = 4e-6 / b  # the width of the wave is rounded to a few cells
    assert mechanism.output_range == pytest.approx((-b, 1 + b), abs=4e-6)
    assert mechanism.pdf([0.3, 0.3 + 0.99 * b, 0.3 + 1.01 * b], 0.3) == pytest.approx([p, p, p / e], rel=near)


def test_square_wave_errors_of_the_errata():
    assert make("sw", 1.0, (0, 1)).error(0.0, 2) == pytest.approx(0.286525, abs=1e-6)  # errata 45
    assert make("compressed_sw", 1.0, (0, 1)).error(0.3, 2) == pytest.approx(0.083166, abs=1e-6)  # errata 47


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_compressed_reports_fill_the_domain_and_nothing_else(epsilon):
    s = exp(epsilon / 2)
    for name, inner in (("compressed_pm", "pm"), ("compressed_sw", "sw")):
        mechanism, full = make(name, epsilon), make(inner, epsilon)
        assert mechanism.output_range == (-1, 1)
        factor = full.output_range[1]
        assert mechanism.variance(INSIDE) * factor**2 == pytest.approx(full.variance(INSIDE), rel=1e-9)
        assert mechanism.exact_epsilon() == full.exact_epsilon()
    assert make("compressed_pm", epsilon).bias(1.0) == pytest.approx((s - 1) / (s + 1) - 1, rel=1e-4)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(
    ("name", "inner"), [("truncated_pm", "pm"), ("truncated_sw", "sw"), ("truncated_laplace", "laplace")]
)
def test_truncated_reports_are_clamped_reports(name, inner, epsilon):
    mechanism, full = make(name, epsilon), make(inner, epsilon)
    inside = np.linspace(-0.999, 0.999, 41)
    for x in (-1.0, 0.25, 1.0):
        assert mechanism.cdf(inside, x) == pytest.approx(full.cdf(inside, x), abs=1e-4)
        points, chances = mechanism.atoms(x)
        assert points.tolist() == [-1, 1]
        assert chances == pytest.approx([full.cdf(-1.0, x), 1 - full.cdf(1.0, x)], abs=1e-4)
    assert mechanism.output_range == pytest.approx((-1, 1))


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_laplace(epsilon):
    mechanism = make("laplace", epsilon)
    assert mechanism.variance(INSIDE) == pytest.approx(np.full(5, 8 / epsilon**2), rel=1e-6)
    assert mechanism.error(0.25) == pytest.approx(2 / epsilon, rel=1e-6)
    assert mechanism.error(0.25, 0.5) == pytest.approx(np.sqrt(np.pi / 4 * 2 / epsilon), rel=1e-3)
    scale = 2 / epsilon
    away = np.array([0.1, 0.5, 1.0, 3.0]) * scale
    assert mechanism.pdf(0.25 + away, 0.25) == pytest.approx(np.exp(-away / scale) / (2 * scale), rel=2e-3)
    assert mechanism.cdf(0.25 + away, 0.25) == pytest.approx(1 - np.exp(-away / scale) / 2, rel=1e-3)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_staircase_reaches_the_least_absolute_error(epsilon):
    mechanism = make("staircase", epsilon, (0, 1))
    assert mechanism.error(0.3) == pytest.approx(exp(epsilon / 2) / (exp(epsilon) - 1), rel=1e-6)  # errata 49
    assert mechanism.error(0.3) <= make("laplace", epsilon, (0, 1)).error(0.3)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("x", [0.0, 0.25, 0.5, 1.0])
def test_bounded_laplace(epsilon, x):
    left, right = exp(-epsilon * x), exp(-epsilon * (1 - x))
    top = 2 - (1 + epsilon * x) * left - (1 + epsilon * (1 - x)) * right
    expected = top / (epsilon * (2 - left - right))  # errata 48
    mechanism = make("bounded_laplace", epsilon, (0, 1))
    assert mechanism.error(x) == pytest.approx(expected, rel=2e-5)
    density = epsilon / (2 - left - right)
    assert mechanism.pdf(x if x < 1 else 1 - 1e-9, x) == pytest.approx(density, rel=2e-3)


def test_bounded_laplace_of_the_errata():
    assert make("bounded_laplace", 4.0, (0, 1)).error(0.5) == pytest.approx(0.171741, abs=1e-6)


def test_the_interval_only_scales_and_shifts():
    for name in ("pm", "hm", "sw", "duchi", "laplace", "bounded_laplace", "truncated_pm"):
        unit, wide = make(name, 1.0, (0, 1)), make(name, 1.0, (-20, 60))
        assert wide.variance(20.0) == pytest.approx(6400 * unit.variance(0.5))
        assert wide.bias(-20.0) == pytest.approx(80 * unit.bias(0.0), abs=1e-11)
        assert wide.error(0.0, 3) == pytest.approx(80**3 * unit.error(0.25, 3))
        assert wide.output_range == pytest.approx([80 * end - 20 for end in unit.output_range])


def test_arrays_of_values_and_points_broadcast():
    mechanism = make("pm", 1.0)
    table = mechanism.cdf(np.linspace(-3, 3, 7)[:, None], np.array([-1.0, 0.0, 1.0]))
    assert table.shape == (7, 3)
    assert table[3, 1] == mechanism.cdf(0.0, 0.0)
    assert isinstance(mechanism.variance(0.5), float)
    assert mechanism.variance([]).shape == (0,)


@pytest.mark.parametrize("width", [1e-60, 1e60])
def test_the_widest_and_narrowest_intervals_have_errors(width):
    """Squares of the width must neither overflow nor vanish: an error of 0 would be a lie."""
    for name in ("pm", "laplace", "sw", "duchi"):
        unit, scaled = (ldpkit.get(name, (0, high), epsilon=0.01) for high in (1, width))
        tallies = [
            each.tally(each.privatize(np.array([0, 0.5, 1]) * each.domain.high, rng=ldpkit.random.seeded(1)))
            for each in (unit, scaled)
        ]
        ours, theirs = (tally.estimate() for tally in tallies)
        assert theirs.stderr / width == pytest.approx(ours.stderr, rel=1e-9)
        assert theirs.mean / width == pytest.approx(ours.mean, rel=1e-9, abs=1e-9)
        assert scaled.error(0, 4) / width**4 == pytest.approx(unit.error(0, 4), rel=1e-9)
        with pytest.raises(InvalidParameterError, match=r"power=5 moves the error on .* out of the range"):
            scaled.error(0, 5)


@pytest.mark.parametrize("power", [0, -1, float("nan"), "2", True, None])
def test_a_power_without_meaning_is_refused(power):
    with pytest.raises(InvalidParameterError, match="power must be"):
        make("pm", 1.0).error(0.0, power)


@pytest.mark.parametrize("grid", [3, 1, 0, 2**21, 2.5, "8"])
def test_a_grid_must_be_a_power_of_two(grid):
    with pytest.raises(InvalidParameterError, match="grid must be"):
        ldpkit.get("pm", (0, 1), epsilon=1, grid=grid)


def test_values_outside_have_no_law():
    with pytest.raises(ldpkit.LdpkitError, match=r"value 2\.0"):
        make("pm", 1.0).variance(2.0)
