"""The variance of numbers: an interval that covers, and no 0 where noise hides it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import binom

import ldpkit
from ldpkit.mechanisms.cells.mechanism import CellMechanism
from slow import slow

seeded = ldpkit.random.seeded

RUNS = 100
MOST = int(binom.isf(1e-7, RUNS, 0.05))  # misses of 95% intervals that are rarely exceeded by chance

PEOPLE = {
    "all alike": np.full(400, 20.0),
    "at both ends": np.repeat([0.0, 100.0], 200),
    "a few far away": np.repeat([0.0, 100.0], [396, 4]),
    "everywhere": np.linspace(0, 100, 400),
}


def ends_of(name, epsilon, values, runs=RUNS):
    mechanism = ldpkit.get(name, (0, 100), epsilon=epsilon)
    for source in seeded(11).spawn(runs):
        yield mechanism.tally(mechanism.privatize(values, rng=source)).estimate().variance_interval()


@pytest.mark.parametrize("epsilon", [1.0, *slow(0.3, 10.0)])
@pytest.mark.parametrize("name", ["pm", *slow("hm", "laplace", "sw", "staircase", "truncated_sw", "duchi")])
def test_the_interval_of_the_variance_covers(name, epsilon):
    missed_when_shrunk = 0
    for people, values in PEOPLE.items():
        truth, missed = values.var(), 0
        for low, high in ends_of(name, epsilon, values):
            missed += not low <= truth <= high + 1e-9
            quarter, middle = (high - low) / 8, (high + low) / 2
            missed_when_shrunk += not middle - quarter <= truth <= middle + quarter
        assert missed <= MOST, f"{missed} of {RUNS} miss, people {people} (false-alarm rate 1e-7)"
    assert missed_when_shrunk > MOST * len(PEOPLE), "the negative control passes: a quarter of it covers too"


@pytest.mark.parametrize("few", [1, 2, 10])
def test_few_people(few):
    values = np.linspace(0, 100, few)
    missed = sum(not low <= values.var() <= high for low, high in ends_of("pm", 4.0, values))
    assert missed <= MOST, "false-alarm rate 1e-7"


def test_a_population_is_covered_though_the_people_were_drawn():
    mechanism, missed = ldpkit.get("pm", (0, 100), epsilon=4.0), 0
    for source in seeded(12).spawn(RUNS):
        values = source.generator().choice([10.0, 90.0], 300)
        tally = mechanism.tally(mechanism.privatize(values, rng=source))
        low, high = tally.estimate(population=True).variance_interval()
        missed += not low <= 1600 <= high
    assert missed <= MOST, "false-alarm rate 1e-7"


def test_more_people_and_a_larger_epsilon_narrow_it():
    widths = [
        np.mean([high - low for low, high in ends_of("pm", epsilon, np.tile(PEOPLE["everywhere"], times), 5)])
        for epsilon, times in ((1.0, 1), (1.0, 10), (4.0, 10))
    ]
    assert widths[0] > 1.8 * widths[1] > 1.8 * 4 * widths[2]


@pytest.fixture(scope="module")
def hidden():
    """The estimate of people who are all alike, where the noise hid that."""
    mechanism = ldpkit.get("pm", (0, 100), epsilon=0.5)
    for seed in range(20):
        found = mechanism.tally(mechanism.privatize([40.0] * 500, rng=seeded(seed))).estimate()
        if found.variance == 0:
            return found
    raise AssertionError("noise hides no variance here")


def test_a_variance_that_noise_hides_is_no_zero(hidden):
    """It printed 0, which reads as a result."""
    row = hidden.rows()[1]
    low, high = hidden.variance_interval()
    assert row == {"statistic": "variance", "value": None, "stderr": None, "low": 0.0, "high": high}
    assert low == 0 < high < 2500
    (note,) = hidden.notes()
    assert note.startswith("the noise hides the variance: with 95% confidence it is at most ")
    told = json.loads(hidden.to_json())
    assert told["rows"][1]["value"] is None
    assert told["rows"][1]["high"] == pytest.approx(high)
    assert note in told["notes"]
    (line,) = (line for line in str(hidden.tables()[0]).splitlines() if line.startswith("variance"))
    assert line.split() == ["variance", "0", f"{high:.4g}"]  # low and high, under which they stand
    page = hidden.page()
    assert "The noise hides the variance: with 95% confidence it is at most" in page


def test_a_variance_that_is_seen_has_an_interval_and_no_note():
    mechanism = ldpkit.get("pm", (0, 100), epsilon=4)
    reports = mechanism.privatize(np.tile(PEOPLE["everywhere"], 20), rng=seeded(3))
    found = mechanism.tally(reports).estimate()
    low, high = found.variance_interval()
    assert 0 < low < found.variance < high
    assert found.rows()[1]["value"] == found.variance
    assert found.notes() == []
    wide = found.variance_interval(0.999)
    assert wide[0] < low < high < wide[1]


def test_an_estimate_that_cannot_be_is_not_shown():
    """At a small epsilon, the noise of few reports gives variances above a quarter of the squared width."""
    mechanism, beyond = ldpkit.get("laplace", (0, 100), epsilon=0.5), 0
    for source in seeded(5).spawn(10):
        found = mechanism.tally(mechanism.privatize([50.0] * 30, rng=source)).estimate()
        beyond += found.variance > 2500
        row = found.rows()[1]
        assert row["high"] <= 2500
        assert row["value"] is None or 0 < row["value"] <= 2500
    assert beyond, "no estimate was beyond what can be: this shows nothing"


def test_of_a_coin_only_the_mean_bounds_the_variance():
    mechanism = ldpkit.get("duchi", (0, 100), epsilon=4)
    found = mechanism.tally(mechanism.privatize([5.0] * 20_000, rng=seeded(4))).estimate()
    low, high = found.variance_interval()
    assert low == 0
    assert high == pytest.approx(5 * 95, rel=0.2)  # the mean is 5: nobody is below 0
    assert "reveal the variance only through the mean" in found.notes()[0]


@pytest.mark.parametrize("name", ["laplace", "truncated_laplace", "staircase"])
def test_the_law_of_noise_is_moved_as_a_whole(name):
    mechanism = ldpkit.get(name, (0, 100), epsilon=0.7, grid=256)
    values = np.array([0.0, 3.0, 50.0, 100.0])
    assert np.allclose(mechanism.bin_masses(values), CellMechanism.bin_masses(mechanism, values), atol=1e-14)
