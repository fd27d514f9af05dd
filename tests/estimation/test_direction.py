"""Mean directions: right on average, with an arc that covers, and honest where there is no direction.

Collections are drawn from the exact law of a tally, not person by person. A coverage test
asks whether the true direction is admitted; with 400 collections at level 0.9, a count
below 333 has probability below 1e-5 where the level holds, and coverage of 0.8 is noticed
with probability 0.94.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import ldpkit
from ldpkit.core.errors import InvalidInputError
from ldpkit.estimation.arc import Arc, DirectionMargin
from ldpkit.mechanisms.tally import Tally

RUNS, FEWEST, LEVEL = 400, 333, 0.9

PEOPLE = {
    "one value": ([77.0], [1.0]),
    "around the end of a turn": ([340.0, 0.0, 30.0], [0.5, 0.25, 0.25]),
    "nearly no direction": ([10.0, 190.0], [0.52, 0.48]),
}


def collections(mechanism, values, shares, n, seed, *, population=False):
    """Yield tallies of n people, and the direction that is to be found, in radians."""
    rng = np.random.default_rng(seed)
    law = mechanism.bin_masses(np.array(values))
    law /= law.sum(axis=1, keepdims=True)
    fixed = np.round(np.array(shares) * n).astype(int)
    weights = np.array(shares) if population else fixed / fixed.sum()
    truth = float(np.angle(weights @ np.exp(1j * mechanism.domain.radians(values))))
    for _ in range(RUNS):
        people = rng.multinomial(n, shares) if population else fixed
        counts = np.zeros(mechanism.tally_size, np.int64)
        counts[:-1] = sum(rng.multinomial(each, row) for each, row in zip(people, law, strict=True))
        yield Tally(mechanism, int(people.sum()), counts), truth


@pytest.mark.parametrize("people", PEOPLE)
@pytest.mark.parametrize(
    ("name", "epsilon", "n", "population"),
    [
        ("circular_ogpm", 1.0, 60, False),
        ("circular_ogpm", 8.0, 2000, False),
        ("von_mises", 2.0, 400, True),
        ("circular_sw", 4.0, 25, True),
    ],
)
def test_the_arc_covers(name, epsilon, n, population, people):
    mechanism = ldpkit.get(name, 360, epsilon=epsilon)
    drawn = collections(mechanism, *PEOPLE[people], n, 7, population=population)
    covered = sum(DirectionMargin(tally, population).admits(truth, LEVEL) for tally, truth in drawn)
    assert covered >= FEWEST


def test_an_arc_that_forgets_the_noise_does_not_cover():
    """Negative control: the spread of people alone, as if reports were values."""
    mechanism = ldpkit.get("circular_ogpm", 360, epsilon=1.0)

    class Naive(DirectionMargin):
        def variances(self, phi, *, sure):
            across, along = super().variances(phi, sure=sure)
            return 0.3 * across, 0.3 * along

    drawn = collections(mechanism, *PEOPLE["one value"], 2000, 7)
    assert sum(Naive(tally).admits(truth, LEVEL) for tally, truth in drawn) < FEWEST


def test_the_arc_holds_what_is_admitted_and_ends_there():
    mechanism = ldpkit.get("circular_ogpm", 360, epsilon=2.0)
    tally, _ = next(collections(mechanism, *PEOPLE["around the end of a turn"], 800, 3))
    margin = DirectionMargin(tally)
    arc = margin.arc(0.95)
    assert 0 < arc.length < 60
    for degrees in np.linspace(0, 360, 721)[:-1]:
        admitted = margin.admits(math.radians(degrees), 0.95)
        assert admitted == (degrees in arc)
    wider = margin.arc(0.999)
    assert wider.length > arc.length
    assert arc.start in wider
    assert arc.end in wider


def test_estimates_are_right_on_average_and_scatter_as_they_say():
    mechanism = ldpkit.get("circular_ogpm", 360, epsilon=2.0)
    values, shares = PEOPLE["around the end of a turn"]
    found = [tally.estimate() for tally, _ in collections(mechanism, values, shares, 2000, 5)]
    mean = np.array(shares) @ np.exp(1j * np.radians(values))
    truth = float(np.degrees(np.angle(mean)))
    away = np.array([mechanism.domain.difference(each.direction, truth) for each in found])
    lengths = np.array([each.resultant for each in found])
    for errors, stated in (
        (away, np.mean([each.stderr for each in found])),
        (lengths - abs(mean), np.mean([each.resultant_stderr for each in found])),
    ):
        # Six standard errors of a mean, and of a standard deviation: false alarms below 1e-8.
        assert abs(errors.mean()) < 6 * stated / math.sqrt(RUNS)
        assert abs(errors.std() / stated - 1) < 6 / math.sqrt(2 * RUNS)


def test_without_a_direction_the_arc_is_the_whole_circle():
    mechanism = ldpkit.get("circular_ogpm", 24, epsilon=1)
    everywhere = np.linspace(0, 24, 4000, endpoint=False)
    estimate = mechanism.tally(mechanism.privatize(everywhere, rng=ldpkit.random.seeded(2))).estimate()
    arc = estimate.interval(0.99)
    assert arc.is_whole
    assert 17.3 in arc
    assert str(arc) == "the whole circle"
    assert estimate.with_level(0.99).rows()[0]["low"] is None
    assert estimate.stderr <= 24 / math.sqrt(12)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_few_reports_show_no_direction(n):
    mechanism = ldpkit.get("circular_ogpm", 360, epsilon=20)
    estimate = mechanism.tally(mechanism.privatize([90.0] * n, rng=ldpkit.random.seeded(1))).estimate()
    assert 90 in estimate.interval()
    assert math.isfinite(estimate.stderr)
    assert 0 <= estimate.resultant <= 1


@pytest.mark.parametrize("population", [False, True])
@pytest.mark.parametrize("n", [400, 200_000])
def test_the_narrowest_error_there_is_has_an_arc(n, population):
    """A part of 2**-53 is no step below 1, as the levels of both tests that make an arc would have to be."""
    mechanism = ldpkit.get("circular_ogpm", 360, epsilon=8.0)
    tally = mechanism.tally(mechanism.privatize([77.0] * n, rng=ldpkit.random.seeded(5)))
    margin = DirectionMargin(tally, population)
    narrow, wide = margin.arc(1 - 2**-20), margin.arc(1 - 2**-53)
    assert 0 < narrow.length < wide.length < 360


def test_the_turn_may_begin_anywhere_and_measure_anything():
    hours = ldpkit.CircleDomain(24, low=-6)
    day, compass = ldpkit.get("von_mises", hours, epsilon=3), ldpkit.get("von_mises", 360, epsilon=3)
    values = np.array([17.0, -5.5, 16.0] * 300)
    first = day.tally(day.privatize(values, rng=ldpkit.random.seeded(4))).estimate()
    turned = hours.radians(values) * 180 / math.pi
    second = compass.tally(compass.privatize(turned, rng=ldpkit.random.seeded(4))).estimate()
    assert hours.radians(first.direction) == pytest.approx(math.radians(second.direction))
    assert first.stderr * 15 == pytest.approx(second.stderr)
    assert first.interval().length * 15 == pytest.approx(second.interval().length)
    assert -6 <= first.direction <= 18


def test_an_empty_tally_is_refused():
    mechanism = ldpkit.get("circular_sw", 360, epsilon=1)
    with pytest.raises(InvalidInputError, match="empty"):
        Tally(mechanism, 0, np.zeros(mechanism.tally_size, np.int64)).estimate()


def test_an_arc_that_passes_the_end_of_a_turn():
    arc = Arc(350.0, 30.0, ldpkit.CircleDomain(360))
    assert tuple(arc) == (350.0, 380.0)
    assert arc.end == 20.0
    assert [value in arc for value in (349, 350, 0, 360, 20, 21)] == [False, True, True, True, True, False]
