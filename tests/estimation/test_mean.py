"""Means of numbers: unbiased, with standard errors that hold, from tallies that add."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ldpkit
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.interval import GRID

seeded = ldpkit.random.seeded

ON_A_LINE = ["laplace", "duchi", "pm", "hm", "sw", "staircase", "compressed_pm", "compressed_sw"]
OFF_IT = ["truncated_laplace", "bounded_laplace", "truncated_pm", "truncated_sw"]


@pytest.fixture(scope="module")
def values():
    raw = seeded(1).generator().normal(30, 8, 4000)
    return np.clip(raw, 0, 100)


def estimates(name, epsilon, values, runs, **options):
    mechanism = ldpkit.get(name, (0, 100), epsilon=epsilon)
    for source in seeded(7).spawn(runs):
        yield mechanism.tally(mechanism.privatize(values, rng=source)).estimate(**options)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
@pytest.mark.parametrize("name", ON_A_LINE)
def test_the_mean_is_unbiased_and_its_error_is_right(name, epsilon, values):
    runs = 120
    made = list(estimates(name, epsilon, values, runs))
    z = np.array([(estimate.mean - values.mean()) / estimate.stderr for estimate in made])
    assert abs(z.mean()) < 6.1 / math.sqrt(runs), f"mean z {z.mean()} (false-alarm rate 1e-9)"
    # The variance of z is 1, by runs of a chi-square: outside 0.45 to 1.9 with probability below 1e-8.
    # Duchi's error is an upper bound, since it cannot tell how spread the values are.
    assert 0.45 < z.var() < 1.9, f"variance of z is {z.var()} (false-alarm rate 1e-8)"


def test_a_mean_without_its_line_is_biased(values):
    """Negative control: the plain average of square waves."""
    mechanism = ldpkit.get("sw", (0, 100), epsilon=2.0)
    reports = mechanism.privatize(np.tile(values, 10), rng=seeded(3))
    estimate = mechanism.tally(reports).estimate()
    assert abs(mechanism.values_of(reports).mean() - values.mean()) > 8 * estimate.stderr


@pytest.mark.parametrize("name", OFF_IT)
def test_mechanisms_off_the_line_say_how_far_they_may_be_off(name, values):
    for estimate in estimates(name, 2.0, values, 5):
        assert abs(estimate.mean - values.mean()) < 6.3 * estimate.stderr, "false-alarm rate 2e-9"
        assert estimate.stderr < 10


@pytest.mark.parametrize("name", ["pm", "hm", "sw", "laplace", "staircase", "truncated_sw"])
def test_the_variance_of_the_values(name, values):
    found = [estimate.variance for estimate in estimates(name, 4.0, np.tile(values, 5), 12)]
    error = np.std(found) / math.sqrt(12)
    assert np.mean(found) == pytest.approx(values.var(), abs=7 * error + 0.5)


def test_duchi_tells_nothing_of_the_variance(values):
    (estimate,) = estimates("duchi", 1.0, values, 1)
    assert math.isnan(estimate.variance)


def test_the_error_about_a_population_has_the_spread_of_its_people(values):
    about_people, about_all = (next(estimates("pm", 8.0, values, 1, population=p)) for p in (False, True))
    extra = about_all.stderr**2 - about_people.stderr**2
    assert extra == pytest.approx(values.var() / len(values), rel=0.2)


def test_the_error_is_the_known_one_where_it_does_not_depend_on_values(values):
    (estimate,) = estimates("laplace", 1.0, values, 1)
    assert estimate.stderr == pytest.approx(100 * math.sqrt(2 / 4000), rel=1e-6)


def test_merged_tallies_give_the_same_estimate(values):
    mechanism = ldpkit.get("hm", (0, 100), epsilon=1.0)
    reports = mechanism.privatize(values, rng=seeded(4))
    whole = mechanism.tally(reports).estimate()
    parts = sum(mechanism.tally(part) for part in np.array_split(reports, 9)).estimate()
    assert (parts.mean, parts.stderr, parts.variance) == (whole.mean, whole.stderr, whole.variance)
    assert whole.mean == pytest.approx(mechanism.values_of(reports).mean(), rel=1e-12)


def test_sums_are_exact_whatever_the_number_of_reports():
    mechanism = ldpkit.get("laplace", (0, 1), epsilon=0.001)
    tally = mechanism.tally(mechanism.privatize([0.25] * 1000, rng=seeded(5)))
    many = tally
    for _ in range(25):
        many = many + many
    assert many.n == 1000 * 2**25
    assert mechanism.total(many.counts) == 2**25 * mechanism.total(tally.counts)


def test_values_on_the_grid_are_recovered_without_noise_to_speak_of():
    mechanism = ldpkit.get("sw", (0, 1), epsilon=20.0)
    estimate = mechanism.tally(mechanism.privatize([12345 / GRID] * 2000, rng=seeded(6))).estimate()
    assert estimate.mean == pytest.approx(12345 / GRID, abs=6.3 * estimate.stderr)
    assert estimate.stderr < 1e-3


def test_an_estimate_says_what_it_is(values):
    (estimate,) = estimates("pm", 1.0, values, 1)
    low, high = estimate.interval(0.9)
    assert low < estimate.mean < high
    assert float(estimate) == estimate.mean
    assert estimate.n == 4000
    assert (high - low) / 2 == pytest.approx(1.6449 * estimate.stderr, rel=1e-4)
    assert repr(estimate).startswith("Mean ")
    assert "mechanism=pm, epsilon=1.0, method=mean" in repr(estimate)
    assert [row["statistic"] for row in estimate.rows()] == ["mean", "variance"]
    with pytest.raises(InvalidParameterError, match="level"):
        estimate.interval(1.0)


def test_intervals_stay_in_the_domain():
    mechanism = ldpkit.get("duchi", (0, 1), epsilon=0.1)
    low, high = mechanism.tally(np.array([1, 1, 0], np.uint8)).estimate().interval()
    assert (low, high) == (0.0, 1.0)


def test_what_cannot_be_estimated_is_refused():
    mechanism = ldpkit.get("pm", (0, 1), epsilon=1.0)
    with pytest.raises(InvalidInputError, match="empty"):
        mechanism.tally(np.array([], np.uint32)).estimate()
    tally = mechanism.tally(mechanism.privatize([0.5]))
    with pytest.raises(InvalidInputError, match="frequency oracle"):
        tally.estimate("mi")
    with pytest.raises(InvalidParameterError, match="for frequencies"):
        tally.estimate(consistency="norm_sub")
    oracle = ldpkit.GRR(3, epsilon=1.0)
    with pytest.raises(InvalidInputError, match='estimate with "mi"'):
        oracle.tally(np.array([0, 1], np.uint8)).estimate("mean")


def test_wide_intervals_whose_width_is_rounded_are_no_trouble():
    """low + width * 1 may be above high by the last digit; the mean must not ask for it."""
    oracle = ldpkit.PM((-30621.43, 121952.52), epsilon=1.0)
    estimate = oracle.tally(oracle.privatize([-30621.43, 0.0, 121952.52] * 50)).estimate()
    assert estimate.stderr > 0
