"""Heat maps, hotspots, origins and destinations, and remapping: they find what is there, and cover."""

from __future__ import annotations

import numpy as np
import pytest

import ldpkit
from ldpkit.core.domains.cellgrid import CellGrid
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.random import seeded
from ldpkit.estimation.cell_law import cell_law, detectors
from ldpkit.estimation.heatmap import HeatMap, heatmap
from ldpkit.estimation.hotspots import hotspots
from ldpkit.estimation.origin_destination import origin_destination
from ldpkit.estimation.remap import remap

SQUARE = ((0, 0), (1, 1))
MECHANISMS = {
    "tracs_c": {},
    "tracs_d": {},
    "planar_window": {},
    "grid_response": {"columns": 4, "rows": 4},
}
# TraCS-D leaves next to no budget for the distance, so its maps are vague.
NEAR = {"tracs_c": 0.35, "tracs_d": 0.7, "planar_window": 0.25, "grid_response": 0.05}


def people(n, seed=3):
    """Three crowds, one of them in the corner of its cell."""
    generator = seeded(seed).generator()
    middles = np.array([[0.2, 0.3], [0.7, 0.6], [0.999, 0.999]])
    points = middles[generator.choice(3, n, p=[0.5, 0.3, 0.2])]
    return np.clip(points + 0.02 * generator.standard_normal((n, 2)), 0, 1)


def test_cells_are_found_and_what_is_no_grid_is_refused():
    grid = CellGrid.of(((0, 0), (2, 1)), 4, 2)
    assert grid.cells_of([(0, 0), (2, 1), (0.6, 0.2)]).tolist() == [0, 7, 2]
    assert grid.shares_of([(0, 0), (2, 1)])[[0, 7]].tolist() == [0.5, 0.5]
    assert grid.cells_at(grid.middles).tolist() == list(range(8))
    for columns, rows in ((1, 1), (0, 3), (100, 100)):
        with pytest.raises(InvalidParameterError):
            CellGrid.of(SQUARE, columns, rows)


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_law_of_cells_is_the_law_of_their_locations(name):
    mechanism = ldpkit.get(name, SQUARE, epsilon=3, **MECHANISMS[name])
    grid = CellGrid.of(SQUARE, 4, 4)
    law = cell_law(mechanism, grid)
    assert law.sum(axis=1) == pytest.approx(np.ones(16))
    generator = seeded(1).generator()
    inside = generator.random((4_000, 2)) / 4 + np.array([0.25, 0.5])
    assert np.abs(mechanism.bin_masses(inside).mean(axis=0) - law[1 * 4 + 2]).sum() < 0.05


def test_cells_outside_a_region_are_empty():
    mechanism = ldpkit.get("planar_window", ldpkit.Disc((0, 0), 1), epsilon=4)
    found = mechanism.tally(mechanism.privatize([(0.0, 0.0)] * 500, rng=seeded(1))).estimate(
        columns=8, rows=8
    )
    corner = found.grid.cells_at(np.array([[-0.99, -0.99]]))[0]
    assert found.masses[corner] == found.high[corner] == 0
    assert found.masses.sum() == pytest.approx(1)


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_map_finds_the_crowds_and_its_intervals_cover(name):
    points = people(3_000)
    mechanism = ldpkit.get(name, SQUARE, epsilon=4, **MECHANISMS[name])
    grid = CellGrid.of(SQUARE, 4, 4)
    truth = grid.shares_of(points)
    missed = []
    for seed in range(10):
        found = mechanism.tally(mechanism.privatize(points, rng=seeded(seed))).estimate(columns=4, rows=4)
        assert found.masses.sum() == pytest.approx(1)
        assert (found.low <= found.masses).all()
        assert (found.masses <= found.high).all()
        missed.append((found.low > truth) | (found.high < truth))
    assert found.total_variation(points) < NEAR[name]
    # Of 160 intervals at 95%, more than 17 miss with a chance below 1e-3.
    assert np.sum(missed) <= 17


def test_intervals_of_a_lower_level_miss_more_often():
    """The negative control of coverage: at a level of 20% most intervals of exact counts miss."""
    points = people(3_000)
    mechanism = ldpkit.get("grid_response", SQUARE, epsilon=2, columns=4, rows=4)
    truth = CellGrid.of(SQUARE, 4, 4).shares_of(points)
    missed = 0
    for seed in range(10):
        tally = mechanism.tally(mechanism.privatize(points, rng=seeded(seed)))
        low, high = heatmap(tally, columns=4, rows=4, level=0.2).interval()
        missed += int(((low > truth) | (high < truth)).sum())
    assert missed > 30


def test_detectors_do_not_depend_on_reports_and_bound_every_location():
    mechanism = ldpkit.get("planar_window", SQUARE, epsilon=4)
    grid = CellGrid.of(SQUARE, 4, 4)
    found = detectors(mechanism, grid)
    points = seeded(2).generator().random((500, 2))
    chances = mechanism.bin_masses(points) @ found.coarse[5][:, found.groups].T
    inside = grid.cells_of(points) == 5
    slack = 0.03  # between the points of the lattice
    for size in range(chances.shape[1]):
        assert (chances[inside, size] >= found.inside[0, 5, size] - slack).all()
        assert (chances[~inside, size] <= found.outside[1, 5, size] + slack).all()


def test_an_oracle_over_the_cells_is_a_map_too():
    points, grid = people(4_000), CellGrid.of(SQUARE, 8, 8)
    oracle = ldpkit.OLH(len(grid), epsilon=3)
    estimate = oracle.tally(oracle.privatize(grid.cells_of(points), rng=seeded(4))).estimate()
    found = HeatMap.from_estimate(grid, estimate)
    assert found.total_variation(points) < 0.2
    spots = hotspots(found, 3, draws=5, rng=seeded(1))
    assert spots.chances.min() > 0.5
    assert list(found.to_dict()["rows"][0]) == ["column", "row", "x", "y", "share", "low", "high"]
    with pytest.raises(InvalidInputError, match="the map 16 cells"):
        HeatMap.from_estimate(CellGrid.of(SQUARE, 4, 4), estimate)
    with pytest.raises(InvalidInputError, match="have no location"):
        remap(found, [[0, 0]])


def test_hotspots_have_chances_and_refuse_nonsense():
    mechanism = ldpkit.get("planar_window", SQUARE, epsilon=4)
    found = mechanism.tally(mechanism.privatize(people(4_000), rng=seeded(1))).estimate(columns=4, rows=4)
    spots = hotspots(found, 3, draws=10, rng=seeded(2))
    crowds = found.grid.cells_of([(0.2, 0.3), (0.7, 0.6), (0.99, 0.99)])
    assert sorted(spots.cells.tolist()) == sorted(crowds.tolist())
    assert spots.chances.min() > 0.8
    with pytest.raises(InvalidInputError, match="16 cells"):
        hotspots(found, 16)


def test_the_best_location_of_a_report_is_nearer():
    points = people(5_000)
    mechanism = ldpkit.get("tracs_c", SQUARE, epsilon=4)
    reports = mechanism.privatize(points, rng=seeded(1))
    found = mechanism.tally(reports).estimate()
    plain = np.hypot(*(mechanism.points_of(reports) - points).T).mean()
    moved = np.hypot(*(remap(found, reports) - points).T).mean()
    among = np.hypot(*(remap(found, reports, places=[(0.2, 0.3), (0.7, 0.6), (1, 1)]) - points).T).mean()
    assert moved < 0.6 * plain
    assert among < moved


def test_origins_and_destinations_are_found_and_covered():
    first, last = people(3_000, 1), people(3_000, 2)
    last[:1500] = 1 - first[:1500]
    mechanism = ldpkit.get("grid_response", SQUARE, epsilon=4, columns=2, rows=2)
    grid = CellGrid.of(SQUARE, 2, 2)
    truth = np.zeros((4, 4))
    np.add.at(truth, (grid.cells_of(first), grid.cells_of(last)), 1 / len(first))
    reports = [mechanism.privatize(each, rng=seeded(seed)) for seed, each in enumerate((first, last))]
    found = origin_destination(mechanism, *reports, columns=2, rows=2)
    assert np.abs(found.masses - truth).sum() / 2 < 0.03
    assert ((found.low <= truth) & (truth <= found.high)).mean() > 0.9
    assert (found.high - found.low).max() < 0.8
    with pytest.raises(InvalidInputError, match="origin and a destination"):
        origin_destination(mechanism, reports[0], reports[1][:5])


def test_other_tallies_and_empty_ones_are_refused():
    with pytest.raises(InvalidInputError, match="spatial"):
        heatmap(ldpkit.GRR(3, epsilon=1).tally([0, 1]))
    mechanism = ldpkit.get("grid_response", SQUARE, epsilon=2)
    with pytest.raises(InvalidInputError, match="empty"):
        mechanism.tally(np.empty((0, 2), np.uint8)).estimate()


@pytest.mark.parametrize(
    ("columns", "rows", "across", "up"), [(100, 3, 16, 16), (5, 4096, 16, 7), (1, 7, 4, 5), (2500, 2, 3, 4)]
)
def test_the_law_of_a_cell_is_exact_where_laws_have_steps(columns, rows, across, up):
    """Four points of a cell stood for it, and missed where an edge of the reports' grid lies in it."""
    mechanism = ldpkit.get("grid_response", SQUARE, epsilon=12, columns=columns, rows=rows)
    own = []
    for size, edges in zip((across, up), mechanism.bin_edges, strict=True):
        cells, bins = np.arange(size + 1) / size, edges / edges[-1]
        begins, ends = np.maximum.outer(cells[:-1], bins[:-1]), np.minimum.outer(cells[1:], bins[1:])
        own.append(np.maximum(ends - begins, 0) * size)
    p, q = float(mechanism.response.p), float(mechanism.response.q)
    sizes = np.outer(*map(np.diff, mechanism.bin_edges)).ravel()
    expected = (p - q) * np.einsum("ib,jc->ijbc", *own).reshape(across * up, -1) + q * sizes
    law = cell_law(mechanism, CellGrid.of(mechanism.domain, across, up))
    assert law == pytest.approx(expected, abs=1e-12)
