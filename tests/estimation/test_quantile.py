"""Quantiles: their intervals include bias and resolution."""

from __future__ import annotations

import numpy as np
import pytest

import ldpkit
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.estimation.quantile import _ramps, quantile_bounds, quantiles
from slow import slow

seeded = ldpkit.random.seeded


def tally_of(name, epsilon, values, seed=12, domain=(0, 1)):
    mechanism = ldpkit.get(name, domain, epsilon=epsilon)
    return mechanism.tally(mechanism.privatize(values, rng=seeded(seed)))


def test_minutes_a_day_are_covered_where_scatter_alone_is_not():
    """Most people stand in a fortieth of the interval: the median was 34.1 [33.4, 34.9], truth 21.7."""
    minutes = np.clip(seeded(1).generator().exponential(31.3, 100_000), 0, 1440)
    tally = tally_of("sw", 1.0, minutes, domain=(0, 1440))
    (median,) = quantiles(tally, [0.5])
    assert median.low <= np.median(minutes) <= median.high < 100
    assert median.low <= median.value <= median.high
    # Negative control: the smooth density with what its reports scatter, which was the interval.
    smooth = tally.estimate("density", bins=256)
    below = np.clip((median.value - smooth.edges[:-1]) / np.diff(smooth.edges), 0, 1)
    reach = 1.96 * np.sqrt(below @ smooth.covariance @ below)
    assert smooth.quantile(0.5 - reach) > np.median(minutes) + 5


@pytest.mark.parametrize(("name", "epsilon", "n"), [("sw", 1.0, 1000), ("pm", 10.0, 50), ("sw", 4.0, 20_000)])
def test_quantiles_are_covered(name, epsilon, n):
    values = np.where(np.arange(n) % 5 < 2, 0.25, 0.7)  # steps, where smoothing is at its worst
    mechanism, runs = ldpkit.get(name, (0, 1), epsilon=epsilon), 8
    covered, width = 0, 0.0
    for source in seeded(3).spawn(runs):
        tally = mechanism.tally(mechanism.privatize(values, rng=source))
        for share, truth in ((0.2, 0.25), (0.5, 0.7), (0.9, 0.7)):
            low, high = quantile_bounds(tally, share, 0.95)
            covered += low <= truth <= high
            width += (high - low) / (3 * runs)
    assert covered >= 0.8 * 3 * runs, f"{covered} of {3 * runs} (false-alarm rate 1e-3, seed fixed)"
    assert width < 0.55, "they tell something"


@pytest.mark.parametrize(
    ("name", "epsilon"), [("sw", 1.0), ("truncated_sw", 8.0), *slow(("truncated_laplace", 10.0))]
)
def test_ramps_bound_shares_for_every_value(name, epsilon):
    """Exactly, from the integers: between places too, the mean weight keeps the stated distances."""
    mechanism = ldpkit.get(name, (0, 1), epsilon=epsilon)
    ramps = _ramps(mechanism, 10_000)
    places = seeded(4).generator().integers(0, mechanism.grid, 60)
    curves = mechanism.bin_masses(places / mechanism.grid) @ ramps.weights
    starts = np.arange(-ramps.steps, 257) / 256
    ends = starts + ramps.steps / 256
    values = places[:, None] / mechanism.grid
    assert ((values <= starts) - curves <= ramps.short + 1e-9).all()
    assert (curves - (values < ends) <= ramps.over + 1e-9).all()
    assert ((values <= starts + 0.1) - curves > ramps.short).any(), "the negative control passes"


def test_higher_levels_have_wider_intervals_and_all_is_in_the_units_of_the_domain():
    values = np.clip(seeded(5).generator().normal(40, 12, 20_000), 0, 100)
    tally = tally_of("sw", 2.0, values, domain=(0, 100))
    estimate = tally.estimate()
    narrow, wide = estimate.quantile(0.5, 0.5), estimate.quantile(0.5, 0.999)
    assert wide.low < narrow.low < 40 < narrow.high < wide.high
    assert narrow.value == wide.value == pytest.approx(40, abs=3)


def test_what_has_no_answer_is_refused():
    with pytest.raises(InvalidInputError, match="nothing but the mean"):
        quantiles(tally_of("duchi", 1.0, [0.5] * 9), [0.5])
    tally = tally_of("sw", 1.0, [0.5] * 9)
    for share in (0.0, 1.0, 1.5):
        with pytest.raises(InvalidParameterError, match="strictly between 0 and 1"):
            quantiles(tally, [share])
    with pytest.raises(InvalidParameterError, match="level"):
        quantiles(tally, [0.5], 1.0)
