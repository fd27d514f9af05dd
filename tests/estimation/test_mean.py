"""Means of numbers: unbiased, with standard errors that hold, from tallies that add."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ldpkit
from ldpkit.core.domains.interval import GRID
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.estimation.mean import _weights
from slow import slow

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


@pytest.mark.parametrize("epsilon", [2.0, *slow(0.5)])
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
    assert 1 <= (high - low) / 2 / (1.6449 * estimate.stderr) < 1.05, "wider by what skewness can do at most"
    assert estimate.whose == "the 4000 people who reported"
    assert estimate.bias == 0
    assert repr(estimate).startswith("Mean ")
    assert "mechanism=pm, epsilon=1.0, method=mean" in repr(estimate)
    assert [row["statistic"] for row in estimate.rows()] == ["mean", "variance"]
    with pytest.raises(InvalidParameterError, match="level"):
        estimate.interval(1.0)


def test_intervals_are_cut_to_the_domain_but_hold_their_estimate():
    mechanism = ldpkit.get("duchi", (0, 1), epsilon=0.1)
    assert mechanism.tally(np.array([1, 0] * 3, np.uint8)).estimate().interval() == (0.0, 1.0)
    outside = mechanism.tally(np.array([1, 1, 0], np.uint8)).estimate()
    assert outside.interval() == (0.0, outside.mean)
    sure = mechanism.tally(np.ones(10**6, np.uint8)).estimate()
    assert sure.interval() == (1.0, sure.mean), "a mean far outside leaves the end, never a bare point"


@pytest.mark.parametrize(("name", "epsilon"), [("truncated_sw", 10.0), ("truncated_pm", 10.0)])
def test_narrow_windows_between_the_fitted_values_are_not_missed(name, epsilon):
    """All at 1/256 gave 0.49999 +- 0.00056: weights were fitted at every 128th part only."""
    mechanism = ldpkit.get(name, (0, 1), epsilon=epsilon)
    reports = mechanism.privatize(np.full(100_000, 1 / 256), rng=seeded(8))
    estimate = mechanism.tally(reports).estimate()
    assert abs(estimate.mean - 1 / 256) < 6 * estimate.stderr < 0.01, "false-alarm rate 2e-9"
    low, high = estimate.interval(0.9999)
    assert low <= 1 / 256 <= high < 0.02, "false-alarm rate 1e-4, seed fixed"


@pytest.mark.parametrize("epsilon", [10.0, *slow(1.0)])
@pytest.mark.parametrize("name", OFF_IT)
def test_the_bias_is_within_what_is_claimed_for_every_value(name, epsilon):
    """Exactly, from the integers, at places that the weights were not fitted at."""
    mechanism = ldpkit.get(name, (0, 1), epsilon=epsilon)
    weights = _weights(mechanism, 10_000)
    generator = seeded(9).generator()
    ends = [0, 1, 2, mechanism.grid // 256, mechanism.grid - 1, mechanism.grid]
    places = np.concatenate([ends, generator.integers(0, mechanism.grid, 200)])
    off = mechanism.bin_masses(mechanism.domain.decode(places, steps=mechanism.grid)) @ weights.first
    bias = np.abs(off - places / mechanism.grid).max()
    assert bias <= weights.bias * (1 + 1e-9) + 1e-12
    assert weights.bias < (0.5 if name == "truncated_pm" and epsilon == 1 else 0.05)
    moved = mechanism.bin_masses([0.5]) @ np.roll(weights.first, 40)
    if epsilon == 10:
        assert abs(moved[0] - 0.5) > weights.bias, "the negative control passes: weights of other bins"


@pytest.mark.parametrize(("name", "epsilon"), [("pm", 10.0), ("hm", 10.0)])
def test_few_people_at_one_value_are_covered(name, epsilon):
    """Fifty people, one of them elsewhere: the reports hardly scatter, or not at all."""
    values = np.append(np.zeros(49), 1.0)
    mechanism, runs = ldpkit.get(name, (0, 1), epsilon=epsilon), 150
    covered = 0
    for source in seeded(11).spawn(runs):
        low, high = mechanism.tally(mechanism.privatize(values, rng=source)).estimate().interval()
        covered += low <= 0.02 <= high
    assert covered >= 0.97 * runs, f"{covered} of {runs} cover, 99% or more should (seed fixed)"


def test_a_sample_of_people_tells_of_all_with_a_wider_interval():
    mechanism = ldpkit.get("pm", (0, 1), epsilon=8.0)
    tally = mechanism.tally(mechanism.privatize([0.0, 1.0] * 500, rng=seeded(12)))
    alone, some, most = (tally.estimate(people=people) for people in (None, 4000, 1100))
    population = tally.estimate(population=True)
    assert alone.stderr < most.stderr < some.stderr < population.stderr
    # Sampling m of N people without replacement adds S^2 (1/m - 1/N), with S^2 = 1/4 here.
    for estimate, rest in ((some, 3 / 4), (most, 1 / 11)):
        extra = estimate.stderr**2 - alone.stderr**2
        assert extra == pytest.approx(0.25 / 1000 * rest, rel=0.1)
    assert some.whose == "all 4000 people"
    assert "population" in population.whose
    assert tally.estimate(people=1000).stderr == alone.stderr
    with pytest.raises(InvalidParameterError, match="people=999 is fewer than the 1000 reports"):
        tally.estimate(people=999)


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


@pytest.mark.parametrize("name", ["pm", "duchi", "laplace"])
def test_the_highest_level_that_a_number_can_say_has_an_interval(name, values):
    mechanism = ldpkit.get(name, (0, 100), epsilon=1.0)
    made = mechanism.tally(mechanism.privatize(values, rng=seeded(3))).estimate()
    ends = [made.interval(level) for level in (0.95, math.nextafter(1, 0))]
    assert ends[1][0] < ends[0][0] < ends[0][1] < ends[1][1]
    assert all(map(math.isfinite, (*ends[1], *made.variance_interval(math.nextafter(1, 0)))))
