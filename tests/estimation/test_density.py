"""Densities: EMS finds two humps, knows its error, and beats plain inversion."""

from __future__ import annotations

import numpy as np
import pytest

import ldpkit
from ldpkit.core.domains.interval import IntervalDomain
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.estimation.binned_density import ALGORITHMS
from ldpkit.estimation.deconvolution import maximise
from ldpkit.estimation.density import Density, transition
from slow import slow

seeded = ldpkit.random.seeded
BINS = 64


@pytest.fixture(scope="module")
def humps():
    generator = seeded(11).generator()
    left = generator.random(40_000) < 0.4
    values = np.where(left, generator.normal(0.25, 0.06, 40_000), generator.normal(0.7, 0.08, 40_000))
    return np.clip(values, 0, 1)


def tally_of(name, epsilon, values, seed=12):
    mechanism = ldpkit.get(name, (0, 1), epsilon=epsilon)
    return mechanism.tally(mechanism.privatize(values, rng=seeded(seed)))


def wasserstein(density, values):
    truth = np.histogram(values, density.edges)[0] / len(values)
    return float(np.abs(np.cumsum(density.masses - truth)).mean())


@pytest.mark.parametrize("epsilon", [0.5, 4.0, *slow(1.0, 2.0)])
@pytest.mark.parametrize("seed", [1, *slow(2, 3)])
def test_ems_is_nearer_to_the_truth_than_inversion(humps, epsilon, seed):
    estimate = tally_of("sw", epsilon, humps, seed).estimate()
    distance = {method: wasserstein(estimate.density(BINS, method), humps) for method in ALGORITHMS}
    assert distance["ems"] < distance["inversion"]


def test_ems_finds_both_humps(humps):
    density = tally_of("sw", 2.0, humps).estimate("density", bins=BINS)
    middle = (density.edges[1:] + density.edges[:-1]) / 2
    heights = density.heights
    left, valley, right = (
        heights[(middle > low) & (middle < high)] for low, high in ((0.15, 0.35), (0.43, 0.5), (0.6, 0.8))
    )
    assert left.max() > 4 * valley.min()
    assert right.max() > 4 * valley.min()
    assert wasserstein(density, humps) < 0.01


@pytest.mark.parametrize(
    "name",
    [
        *("pm", "bounded_laplace", "truncated_sw"),
        *slow(
            "laplace",
            "hm",
            "sw",
            "staircase",
            "truncated_laplace",
            "truncated_pm",
            "compressed_pm",
            "compressed_sw",
        ),
    ],
)
def test_any_mechanism_with_cells_gives_a_density(name, humps):
    density = tally_of(name, 4.0, humps).estimate().density(32)
    uniform = np.abs(np.cumsum(np.histogram(humps, 32, (0, 1))[0] / len(humps) - 1 / 32)).mean()
    assert density.masses.min() >= 0
    assert density.masses.sum() == pytest.approx(1)
    assert wasserstein(density, humps) < uniform / 3
    assert density.mean == pytest.approx(humps.mean(), abs=0.02)


def test_standard_errors_are_those_of_repeated_collections(humps):
    runs, bins = 40, 8
    made = [tally_of("sw", 2.0, humps[:10_000], seed).estimate("density", bins=bins) for seed in range(runs)]
    seen = np.std([density.masses for density in made], axis=0, ddof=1)
    stated = np.mean([density.stderr for density in made], axis=0)
    # A standard deviation from 40 runs is off by a factor of 1.8 with probability below 1e-6.
    assert (seen < 1.8 * stated).all(), "false-alarm rate 1e-5"
    assert (seen > stated / 3).all(), "early stopping makes errors smaller than stated, not this small"


def test_em_without_noise_finds_what_was_there():
    mechanism = ldpkit.get("sw", (0, 1), epsilon=3.0)
    matrix = transition(mechanism, 16)
    truth = np.array([0, 0, 4, 8, 4, 0, 0, 0, 0, 1, 2, 3, 2, 1, 0, 0]) / 25
    counts = np.rint(1e9 * truth @ matrix).astype(np.int64)
    assert maximise(matrix, counts, 3.0, smooth=False) == pytest.approx(truth, abs=0.01)
    assert matrix.sum(axis=1) == pytest.approx(np.ones(16))


def test_merged_tallies_give_the_same_density(humps):
    mechanism = ldpkit.get("sw", (0, 1), epsilon=1.0)
    reports = mechanism.privatize(humps, rng=seeded(5))
    whole = mechanism.tally(reports).estimate("density")
    parts = sum(mechanism.tally(part) for part in np.array_split(reports, 5)).estimate("density")
    assert (whole.masses == parts.masses).all()


def test_a_density_is_a_distribution(humps):
    estimate = tally_of("sw", 2.0, humps).estimate()
    density = estimate.density(50)
    assert density.heights @ np.diff(density.edges) == pytest.approx(1)
    assert density.cdf(1.0) == pytest.approx(1)
    assert density.cdf([0.0, density.quantile(0.3)]) == pytest.approx([0, 0.3])
    assert density.quantile([0.0, 1.0])[1] <= 1
    assert density.variance == pytest.approx(humps.var(), abs=0.01)
    rows = list(density.rows())
    assert len(rows) == len(density) == 50
    assert set(rows[0]) == {"low", "high", "mass", "stderr", "density"}
    masses, edges = estimate.histogram(10)
    assert masses == pytest.approx(estimate.density(10).masses)
    assert edges == pytest.approx(np.linspace(0, 1, 11))
    assert repr(density).startswith("Density on [0, 1] in 50 bins from n=40000 reports (mechanism=sw")
    with pytest.raises(ValueError, match="read-only"):
        density.masses[0] = 1


def test_what_has_no_answer_is_refused(humps):
    tally = tally_of("sw", 1.0, humps[:100])
    with pytest.raises(InvalidParameterError, match="unknown algorithm 'magic'"):
        tally.estimate("density", algorithm="magic")
    with pytest.raises(InvalidParameterError, match="bins must be at least 2"):
        tally.estimate("density", bins=1)
    with pytest.raises(InvalidParameterError, match="between 0 and 1"):
        tally.estimate("density").quantile(1.5)
    assert np.isnan(tally.estimate("density", algorithm="em").stderr).all()
    for silent in ("duchi", "hm"):
        with pytest.raises(InvalidInputError, match="nothing but the mean"):
            tally_of(silent, 0.5, humps[:100]).estimate("density")
    oracle = ldpkit.GRR(3, epsilon=1.0)
    with pytest.raises(InvalidInputError, match="numeric mechanism"):
        oracle.tally(np.array([0, 1], np.uint8)).estimate("density")


@pytest.mark.parametrize("end", [0.0, 1.0])
def test_people_at_an_end_are_found_there_at_a_large_epsilon(end):
    """A window narrower than a bin: only the last values before high report in the last bin."""
    density = tally_of("sw", 10.0, np.full(5000, end)).estimate("density", bins=32)
    assert density.masses[-1 if end else 0] > 0.9, "it was 0.03 at high, and the mean of the density 0.49"
    matrix = transition(ldpkit.get("sw", (0, 1), epsilon=10.0), 30)
    assert matrix.sum(axis=1) == pytest.approx(np.ones(30), abs=1e-12)
    assert matrix[-1, -1] > 100 * matrix[-2, -1], "the last bin speaks for the end"


def test_empty_bins_hold_no_quantile():
    density = Density(np.arange(6.0), np.array([0, 0.5, 0, 0.5, 0]), 10, IntervalDomain(0, 5), {}, None)
    assert density.quantile([0, 0.25, 0.5, 0.75, 1]).tolist() == [1, 1.5, 2, 3.5, 4]
    assert density.cdf(density.quantile(0.75)) == 0.75


def test_people_close_together_are_noticed(humps):
    assert tally_of("sw", 2.0, humps).estimate("density").narrow() is None
    low, high = tally_of("sw", 2.0, 0.02 * humps).estimate("density", bins=256).narrow()
    assert 0 <= low < high < 0.1
