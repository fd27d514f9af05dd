"""What the thesis does not have: heat maps of Tokyo, and the best location for each report."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ldpkit.core.domains.cellgrid import CellGrid
from ldpkit.core.domains.plane import PlaneDomain
from ldpkit.core.random import RandomSource, seeded
from ldpkit.core.typing import Floats
from ldpkit.estimation.heatmap import HeatMap, heatmap
from ldpkit.estimation.remap import remap
from ldpkit.mechanisms.categorical.hashing import OLH
from ldpkit.mechanisms.tally import FrequencyTally
from ldpkit.papers import Claim, Settings, Verdict, compare
from ldpkit.papers.tracs.data import load_city, no_data
from ldpkit.papers.tracs.runs import thesis_c
from ldpkit.simulation.metrics.trajectories import average_error, trajectory_errors

__all__ = ["map_claims"]

_SIDE = 16
_COLLECTIONS = 16


def map_claims(settings: Settings) -> Iterator[Claim]:
    """Yield total variations of maps, coverage of their intervals, and what remapping gains."""
    city = load_city("tky")
    if city is None:
        yield no_data("heat maps of TKY")
        return
    source = seeded(settings.seed).derive("tracs maps")
    people = city.timed.points * city.degrees
    plane = PlaneDomain.rectangle((0, 0), tuple(city.degrees.tolist()))
    grid = CellGrid.of(plane, _SIDE, _SIDE)
    truth = grid.shares_of(people)
    drawn: dict[str, HeatMap] = {}
    for epsilon in (2.0, 4.0, 6.0, 10.0):
        mechanism = thesis_c(epsilon, plane)
        reports = mechanism.privatize(people, rng=source)
        found: HeatMap = heatmap(mechanism.tally(reports), columns=_SIDE, rows=_SIDE)
        answers = mechanism.points_of(reports)
        plain = float(np.abs(grid.shares_of(answers) - truth).sum() / 2)
        oracle = OLH(len(grid), epsilon)
        tally = oracle.tally(oracle.privatize(grid.cells_of(people), rng=source))
        cells = HeatMap.from_estimate(grid, tally.estimate())
        drawn[f"TraCS-C and EM, eps {epsilon:g}"] = found
        drawn[f"OLH on cells, eps {epsilon:g}"] = cells
        missed = ((found.low > truth) | (found.high < truth)).mean()
        missed_cells = ((cells.low > truth) | (cells.high < truth)).mean()
        apart = _oracle_variations(oracle, grid, people, source)
        wanted = (0.52, 0.30, 0.10) if epsilon == 4 else (None, None, None)
        for what, value, ours in zip(
            ("the plain histogram of TraCS-C", "EM of TraCS-C", "OLH on the cells"),
            wanted,
            (plain, found.total_variation(people), float(apart.mean())),
            strict=True,
        ):
            within = 0.01 if what.startswith("OLH") else 0.03  # the mean of many, or one collection
            same = value is None or compare(value, ours, 0, rounding=within)
            yield Claim(
                f"heat map of TKY, {_SIDE} x {_SIDE} cells, eps={epsilon:g}: total variation of {what}",
                value,
                round(ours, 3),
                None,
                Verdict.NOT_IN_PAPER
                if value is None
                else Verdict.REPRODUCED
                if same
                else Verdict.NOT_REPRODUCED,
                f"{len(people):,} check-ins; intervals of 95% miss {missed:.1%} of cells (EM), "
                f"{missed_cells:.1%} (OLH); OLH is the mean of {len(apart)} collections, of which one strays "
                f"by {apart.std(ddof=1):.3f}",
            )
        if epsilon == 4:
            finer: HeatMap = heatmap(mechanism.tally(reports), columns=2 * _SIDE, rows=2 * _SIDE)
            walks = city.timed.with_points(people)
            best = float(trajectory_errors(walks, remap(finer, reports)).mean())
            yield Claim(
                "TKY, eps=4: mean error of TraCS-C in degrees, each report moved to the best cell of the map",
                0.061,
                round(best, 4),
                None,
                Verdict.REPRODUCED if compare(0.061, best, 0, rounding=0.001) else Verdict.NOT_REPRODUCED,
                f"the mean over trajectories, 32 x 32 cells; {trajectory_errors(walks, answers).mean():.4f} "
                f"without. Over points and 16 x 16 cells {average_error(people, remap(found, reports)):.4f}; "
                "the map is estimated from the same reports",
            )
    _draw(settings, grid, truth, drawn)


def _oracle_variations(oracle: OLH, grid: CellGrid, people: Floats, source: RandomSource) -> Floats:
    """Return the total variations of several maps by an oracle over the cells, from their exact law."""
    counts = np.bincount(grid.cells_of(people), minlength=len(grid))
    found = []
    for _ in range(_COLLECTIONS):
        tally = FrequencyTally(oracle, len(people), oracle.simulate(counts, rng=source)[0])
        found.append(HeatMap.from_estimate(grid, tally.estimate()).total_variation(people))
    return np.array(found)


def _draw(settings: Settings, grid: CellGrid, truth: np.ndarray, drawn: dict[str, HeatMap]) -> None:
    if settings.folder is None:
        return
    from ldpkit.figures.canvas import new_figure, save_figure
    from ldpkit.figures.plane import draw_cells

    figure = new_figure(18, 7)
    axes = figure.subplots(2, 5)
    most = float(truth.max())
    draw_cells(axes[0, 0], grid, truth, most=most)
    axes[0, 0].set_title("29,114 check-ins of TKY", fontsize=10)
    axes[1, 0].set_axis_off()
    for place, (title, found) in enumerate(drawn.items()):
        one = axes[place % 2, 1 + place // 2]
        draw_cells(one, grid, found.masses, most=most)
        one.set_title(title, fontsize=10)
    save_figure(figure, settings.folder / "heat-maps.png")
