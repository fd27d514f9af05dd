"""The benchmark of coverage: its own functions on corners, and its negative control."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def benchmark():
    """Return the modules of the benchmark, without leaving its folder on the path.

    The script itself is named like the package `coverage`, so it is not imported by name.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [*sys.path, str(FOLDER)])
        return tuple(
            importlib.import_module(f"coverage_{part}") for part in ("cells", "frequencies", "numbers")
        )


def test_intervals_cover_in_corners_where_wald_intervals_do_not(benchmark):
    cells, frequencies, numbers = benchmark
    rare = cells.Cell("mi", "oue", 10.0, 50, 16, "rare")
    coin = cells.Cell("mean", "duchi", 10.0, 50, None, "point")
    for cell, measure in ((rare, frequencies.FREQUENCIES["mi"]), (coin, numbers.NUMBERS["mean"])):
        [row], [control] = measure(cell, 0, False), measure(cell, 0, True)
        assert row.runs == 0, "both are summed: nothing is left to chance"
        assert row.covers, row
        assert not control.covers, control


def test_a_consistency_method_only_extends_the_interval(benchmark):
    cells, frequencies, _ = benchmark
    cell = cells.Cell("consistency", "oue", 10.0, 50, 16, "rare")
    [raw] = frequencies.FREQUENCIES["mi"](cell, 0, False)
    rows = frequencies.FREQUENCIES["consistency"](cell, 200, False)
    assert {"mi + norm_sub", "ibu_limit"} <= {row.method for row in rows}
    for row in rows:
        # Of 200 runs, false with a chance below 1e-6 where the coverage is 0.95.
        assert row.coverage > min(raw.coverage, 0.95) - 0.075, row


def test_the_upper_limit_is_that_of_clopper_and_pearson(benchmark):
    from scipy.stats import binom

    upper_limit = benchmark[0].upper_limit
    assert binom.cdf(1860, 2000, upper_limit(1860, 2000)) == pytest.approx(0.001)
    assert upper_limit(2000, 2000) == 1


def test_every_grid_of_the_cells_is_whole(benchmark):
    cells = benchmark[0]
    wanted = 4 * 3 * 3 * 3
    every = list(cells.cells())
    assert sum(cell.mechanism == "she" and cell.about == "people" for cell in every) == wanted
    assert sum(cell.estimator == "pooled" for cell in every) == wanted
    assert sum(cell.estimator == "mean" and cell.mechanism == "hm" for cell in every) == 12
