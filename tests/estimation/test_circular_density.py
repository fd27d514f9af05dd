"""Densities on a circle: the channel is exact, smoothing goes round, and EMS finds what was there."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ldpkit
from ldpkit.core.errors import InvalidParameterError
from ldpkit.estimation.circular_density import circular_transition
from ldpkit.mechanisms.tally import Tally
from ldpkit.simulation.metrics.transport import circular_emd

NAMES = ldpkit.list_mechanisms("circular")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("grid", [None, 8])
def test_the_channel_is_the_mean_over_the_places_of_a_bin(name, grid):
    mechanism = ldpkit.get(name, 360, epsilon=2.0, grid=grid)
    bins = 16 if grid is None else 4
    matrix = circular_transition(mechanism, bins)
    assert matrix.sum(axis=1) == pytest.approx(np.ones(bins), abs=1e-12)
    assert np.roll(matrix[1], 2 * mechanism.bins // bins) == pytest.approx(matrix[3], abs=1e-12)
    # A bin by brute force, values at its ends counting half.
    width = mechanism.grid // bins
    places = np.linspace(0, width, min(width, 256) + 1)
    rows = mechanism.bin_masses(mechanism.domain.decode(places, steps=mechanism.grid))
    weights = np.ones(len(rows))
    weights[[0, -1]] = 0.5
    within = 1e-12 if width <= 256 else 1e-6
    assert matrix[0] == pytest.approx(weights @ rows / weights.sum(), abs=within)


def tally_of(mechanism, values, n, seed):
    law = mechanism.bin_masses(values)
    mean = law.mean(axis=0)
    counts = np.zeros(mechanism.tally_size, np.int64)
    counts[:-1] = np.random.default_rng(seed).multinomial(n, mean / mean.sum())
    return Tally(mechanism, n, counts)


def test_ems_finds_a_hill_on_the_end_of_the_turn_wherever_the_turn_begins():
    quantiles = (np.arange(400) + 0.5) / 400
    hill = 180 / math.pi * np.sqrt(0.2) * np.array([math.sqrt(2) * _erfinv(2 * q - 1) for q in quantiles])
    here, there = ldpkit.get("circular_sw", 360, epsilon=2), ldpkit.get("circular_sw", 360, epsilon=2)
    at_end = tally_of(here, hill % 360, 50_000, 1).estimate("circular_density", bins=32)
    in_middle = tally_of(there, hill + 180, 50_000, 2).estimate("circular_density", bins=32)
    truth = np.histogram(hill % 360, np.linspace(0, 360, 33))[0] / 400
    lost = circular_emd(truth, at_end.masses[None, :])[0] * 360 / 32
    assert lost < 3.0  # degrees; the hill itself is 26 degrees wide
    turned = circular_emd(np.roll(truth, 16), in_middle.masses[None, :])[0] * 360 / 32
    assert turned < 3.0
    assert at_end.domain.distance(at_end.direction, 0) < 2
    assert at_end.resultant == pytest.approx(math.exp(-0.1), abs=0.03)
    assert at_end.masses.sum() == pytest.approx(1)


def _erfinv(x):
    from scipy.special import erfinv

    return float(erfinv(x))


def test_smoothing_that_stops_at_the_end_is_seen():
    """Negative control: the same reports, as if the first bin were not a neighbour of the last."""
    from ldpkit.estimation.deconvolution import maximise

    mechanism = ldpkit.get("circular_sw", 360, epsilon=1)
    matrix = circular_transition(mechanism, 64)
    here = tally_of(mechanism, np.zeros(1), 200_000, 1).counts[:-1]
    turned = np.roll(here, mechanism.bins // 2)  # the same people, half a turn on
    gaps = []
    for around in (True, False):
        first = maximise(matrix, here, 1.0, smooth=True, around=around)
        second = maximise(matrix, turned, 1.0, smooth=True, around=around)
        gaps.append(np.abs(np.roll(first, 32) - second).sum())
    assert gaps[0] < 1e-6 < 1e-3 < gaps[1]


@pytest.mark.parametrize("algorithm", ["em", "inversion"])
def test_the_other_algorithms_find_the_mass_too(algorithm):
    mechanism = ldpkit.get("circular_ogpm", 24, epsilon=3)
    values = np.array([23.5] * 3 + [5.5])
    tally = tally_of(mechanism, values, 1_000_000, 3)
    found = tally.estimate("circular_density", bins=24, algorithm=algorithm)
    assert found.masses[[22, 23, 0]].sum() == pytest.approx(0.75, abs=0.1)
    assert found.masses[[4, 5, 6]].sum() == pytest.approx(0.25, abs=0.1)
    assert np.isnan(found.stderr).all() == (algorithm == "em")
    assert len(list(found.rows())) == len(found) == 24


def test_the_stated_scatter_is_the_one_seen():
    mechanism = ldpkit.get("circular_sw", 360, epsilon=2)
    values = np.linspace(0, 180, 50)
    tallies = (tally_of(mechanism, values, 20_000, seed) for seed in range(30))
    runs = [tally.estimate("circular_density", bins=8) for tally in tallies]
    seen = np.std([run.masses for run in runs], axis=0, ddof=1)
    stated = np.mean([run.stderr for run in runs], axis=0)
    # A standard deviation from 30 runs is within 6 / sqrt(58) of the truth but for 1e-8.
    assert np.abs(seen / stated - 1).max() < 0.79
    histogram, edges = tally_of(mechanism, values, 20_000, 1).estimate().histogram(8)
    assert (histogram == runs[1].masses).all()
    assert edges[-1] == 360


def test_unknown_algorithms_are_refused():
    mechanism = ldpkit.get("circular_sw", 360, epsilon=1)
    with pytest.raises(InvalidParameterError, match="choose from ems, em, inversion"):
        tally_of(mechanism, np.zeros(1), 10, 1).estimate("circular_density", algorithm="magic")
