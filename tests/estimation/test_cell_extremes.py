"""The chances that bound a cell of a heat map do so wherever in the cell people are."""

from __future__ import annotations

import numpy as np
import pytest

import ldpkit
from ldpkit.core.domains.cellgrid import CellGrid
from ldpkit.estimation import cell_law
from ldpkit.estimation.cell_bounds import share_bounds
from ldpkit.estimation.cell_law import detectors
from slow import slow

PLACES = [(x / 6, y / 6) for x in range(7) for y in range(7)]
PLANE = ldpkit.PlaneDomain.rectangle((0, 0), (1, 1), places=PLACES)
SLANTED = ldpkit.PlaneDomain.parallelogram((0, 0), (3, 1), (-1, 2))
BOUNDED = [
    ("tracs_c", PLANE, {}),
    ("tracs_d", SLANTED, {}),
    ("planar_window", SLANTED, {}),
    ("grid_response", PLANE, {}),
    ("place_response", PLANE, {}),
    *slow(
        ("tracs_c", ldpkit.PlaneDomain.globe(), {}),
        ("tracs_d", PLANE, {}),
        ("tracs_d", PLANE, {"x": 0.3, "y": 0.0, "direction": "sectors"}),
        ("place_exponential", PLANE, {}),
        ("grid_exponential", SLANTED, {}),
    ),
]


def stray(mechanism, grid, found, count=400):
    """Return by how much the chance of a set is outside its bounds, for random locations."""
    region = grid.domain.region
    shares = np.random.default_rng(4).random((count, 2))
    points = region.from_shares(shares)
    cells = grid.cells_at(points).astype(int)
    flat = found.coarse[:, :, found.groups].reshape(-1, mechanism.tally_size).astype(float)
    chances = (mechanism._bin_masses(mechanism._place(points)) @ flat.T).reshape(count, len(grid), -1)
    is_own = cells[:, None, None] == np.arange(len(grid))[:, None]
    low = np.where(is_own, found.inside[0], found.outside[0])
    high = np.where(is_own, found.inside[1], found.outside[1])
    return float(np.maximum(low - chances, chances - high).max())


@pytest.mark.parametrize(("name", "plane", "more"), BOUNDED)
def test_no_location_has_a_chance_beyond_the_bounds(name, plane, more):
    mechanism = ldpkit.get(name, plane, epsilon=10.0, **more)
    grid = CellGrid.of(mechanism.domain, 3, 2)
    found = detectors(mechanism, grid)
    assert found.is_proven
    assert stray(mechanism, grid, found) < 1e-6


def test_nine_points_of_a_cell_do_not_bound_it(monkeypatch):
    monkeypatch.setattr(cell_law, "set_extremes", lambda *_: None)
    detectors.cache_clear()
    try:
        mechanism = ldpkit.get("grid_response", PLANE, epsilon=14.0)
        found = detectors(mechanism, CellGrid.of(mechanism.domain, 4, 3))
        assert not found.is_proven
        assert stray(mechanism, CellGrid.of(mechanism.domain, 4, 3), found) > 0.5
    finally:
        detectors.cache_clear()


def test_intervals_cover_people_where_nine_points_would_not_look():
    """Everybody of a cell stands in a column of the mechanism's grid that none of nine points lies in."""
    mechanism = ldpkit.get("grid_response", ((0, 0), (1, 1)), epsilon=14.0, columns=44, rows=44)
    grid = CellGrid.of(mechanism.domain, 4, 4)
    generator, missed = np.random.default_rng(2), 0
    law = mechanism.bin_masses([(12.5 / 44, 12.5 / 44), (30.5 / 44, 2.5 / 44), (0.9, 0.9)])
    for _ in range(20):
        counts = sum(
            generator.multinomial(n, row / row.sum()) for n, row in zip((600, 700, 700), law, strict=True)
        )
        low, high = share_bounds(mechanism, grid, counts, 0.95)
        missed += not low[5] <= 0.3 <= high[5]
    assert missed <= 4, "false alarm 3e-3 at a coverage of 95%, fixed seed"


def test_a_map_says_where_its_intervals_are_not_proven():
    around = ldpkit.get("tracs_d", ldpkit.PlaneDomain.disc((0, 0), 1), epsilon=2)
    square = ldpkit.get("planar_window", ((0, 0), (1, 1)), epsilon=2)
    for mechanism, told in ((around, True), (square, False)):
        reports = mechanism.privatize([(0.3, 0.3)] * 100, rng=ldpkit.random.seeded(1))
        found = mechanism.tally(reports).estimate("heatmap", columns=3, rows=3)
        assert ("nine points" in found.caption) is told
        assert found.to_dict()["about"]["is_proven"] is not told


class Counted(np.ndarray):
    """An array whose matrix products are counted, by the numbers that they make."""

    made = 0

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        plain = [np.asarray(each) for each in inputs]
        found = getattr(ufunc, method)(*plain, **options)
        if ufunc is np.matmul:
            Counted.made += found.size
            return found.view(Counted)
        return found


def test_the_work_for_the_bounds_of_a_map_grows_with_its_cells(monkeypatch):
    """With their square it was seven times as much work for three times as many cells."""
    plain = ldpkit.PlanarWindow.factors

    def counted(self, *asked):
        first, second, even = plain(self, *asked)
        return first.view(Counted), second.view(Counted), even

    monkeypatch.setattr(ldpkit.PlanarWindow, "factors", counted)
    mechanism = ldpkit.get("planar_window", ((0, 0), (1, 1)), epsilon=4)
    work = []
    for columns in (40, 120):
        Counted.made = 0
        detectors.cache_clear()
        detectors(mechanism, CellGrid.of(mechanism.domain, columns, 2))
        work.append(Counted.made)
    detectors.cache_clear()
    assert 0 < work[1] < 3.5 * work[0]


def test_a_map_of_many_cells_shows_how_far_it_is():
    seen = []

    def tell(items, total, label):
        for item in items:
            seen.append((total, label))
            yield item

    for name in ("planar_window", "place_response"):
        mechanism = ldpkit.get(name, PLANE, epsilon=3.5)
        reports = mechanism.privatize([(0.3, 0.3)] * 10, rng=ldpkit.random.seeded(1))
        seen.clear()
        mechanism.tally(reports).estimate("heatmap", columns=7, rows=3, watch=tell)
        assert len(seen) == seen[0][0] >= 3
        assert seen[0][1] == "bounding the cells"
