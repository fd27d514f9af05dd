"""Heat maps: the share of people in each cell, from reports of a spatial mechanism or a frequency oracle.

From locations that were reported noisily the shares are found by EM over the exact law of the
mechanism. EM spreads people over what the mechanism cannot tell apart; the intervals do not
depend on it, and cover. Where only the map is wanted, a frequency oracle over the same cells
tells more: `HeatMap.from_estimate` reads its estimate as a map.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from ldpkit.core.domains.cellgrid import CellGrid
from ldpkit.core.domains.plane import Locations
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.numbertext import interval_text
from ldpkit.core.parameters import check_fraction
from ldpkit.core.provenance import UNKNOWN, Provenance
from ldpkit.core.random import RandomSource
from ldpkit.core.results import TOP
from ldpkit.core.tables import Table
from ldpkit.core.typing import Floats
from ldpkit.core.watching import Onlooker, Watch, unwatched
from ldpkit.estimation.cell_bounds import share_bounds
from ldpkit.estimation.cell_law import cell_law, detectors
from ldpkit.estimation.deconvolution import maximise
from ldpkit.estimation.estimate import Estimate
from ldpkit.estimation.from_reports import FromReports, estimator
from ldpkit.mechanisms.base import Mechanism
from ldpkit.mechanisms.kinds import is_frequency
from ldpkit.mechanisms.tally import SpatialTally, Tally

__all__ = ["HeatMap", "heatmap"]

Redraw = Callable[[RandomSource, int], Floats]


@dataclass(frozen=True, eq=False, repr=False)
class HeatMap(FromReports):
    """The estimated share of people in each cell of a region.

    Parameters
    ----------
    grid : CellGrid
        The cells.
    masses : array
        The share of people in each; not negative, with sum one.
    low, high : array
        The ends of an interval for each share, by itself.
    n : int
        The number of reports.
    made_by : mapping
        Mechanism, parameters and method.
    mechanism : Mechanism or None
        What made the reports.
    provenance : Provenance
        What is recorded of how they were made.
    level : float
        The coverage of the intervals, at least.
    redraw : callable or None
        From a random source and a number to so many maps of collections like this one.
    is_proven : bool
        Whether the intervals hold wherever in the cells people are, or rest on nine points of each cell.

    Examples
    --------
    >>> import ldpkit
    >>> mechanism = ldpkit.get("planar_window", ((0, 0), (1, 1)), epsilon=4)
    >>> reports = mechanism.privatize([(0.1, 0.1), (0.9, 0.8)] * 5_000)
    >>> found = mechanism.tally(reports).estimate("heatmap", columns=4, rows=4)
    >>> bool(found.masses[0] > 0.3), bool(found.masses[found.grid.cells_of([(0.9, 0.8)])[0]] > 0.3)
    (True, True)
    """

    grid: CellGrid
    masses: Floats
    low: Floats
    high: Floats
    n: int
    made_by: Mapping[str, Any]
    mechanism: Mechanism | None = None
    provenance: Provenance = UNKNOWN
    level: float = 0.95
    redraw: Redraw | None = field(default=None, repr=False)
    is_proven: bool = True

    kind: ClassVar[str] = "heat map"

    @classmethod
    def from_estimate(cls, grid: CellGrid, estimate: Estimate, level: float = 0.95) -> HeatMap:
        """Return the map of frequencies that an oracle estimated over the cells of a grid.

        Parameters
        ----------
        grid : CellGrid
            The cells; the values of the oracle are 0 to their number less one.
        estimate : Estimate
            Frequencies of cells; they are made consistent by norm_sub if they are not.
        level : float
            The coverage of the intervals.

        Examples
        --------
        >>> import ldpkit
        >>> grid = CellGrid.of(((0, 0), (1, 1)), 4, 4)
        >>> oracle = ldpkit.OLH(len(grid), epsilon=4)
        >>> reports = oracle.privatize(grid.cells_of([(0.1, 0.1), (0.9, 0.8)] * 5_000))
        >>> found = HeatMap.from_estimate(grid, oracle.tally(reports).estimate())
        >>> bool(abs(found.masses[0] - 0.5) < 0.05)
        True
        """
        if len(estimate.values) != len(grid):
            raise InvalidInputError(
                f"the estimate has {len(estimate.values)} values, the map {len(grid)} cells: "
                "report the cells of the same grid"
            )
        low, high = estimate.interval(check_fraction(level, "level"))
        values = np.asarray(estimate.values)
        if values.min() < 0 or abs(values.sum() - 1) > 1e-9:
            values = np.asarray(estimate.consistent("norm_sub").values)
        oracle = next(iter(estimate.mechanisms), None)
        low, high = np.minimum(low, values), np.maximum(high, values)

        def redraw(source: RandomSource, count: int) -> Floats:
            assert is_frequency(oracle)
            people = _whole(values, estimate.n, source, count)
            seen = (oracle.simulate(each, rng=source)[0] for each in people)
            tallies = (Tally(oracle, estimate.n, counts) for counts in seen)
            return np.stack(
                [np.asarray(each.estimate("mi", consistency="norm_sub").values) for each in tallies]
            )

        return cls(
            grid,
            values,
            low,
            high,
            estimate.n,
            estimate.made_by,
            oracle,
            estimate.provenance,
            level,
            redraw if is_frequency(oracle) else None,
        )

    def __post_init__(self) -> None:
        for name in ("masses", "low", "high"):
            array = np.array(getattr(self, name), float)
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """What made the reports, where it is known."""
        return () if self.mechanism is None else (self.mechanism,)

    def with_level(self, level: float) -> Self:
        """Return the map itself, if it has that level: its intervals were made with it."""
        self.interval(check_fraction(level, "level"))
        return self

    def interval(self, level: float | None = None) -> tuple[Floats, Floats]:
        """Return the ends of the interval of each cell, at the level of the map."""
        if level not in (None, self.level):
            raise InvalidParameterError(
                f"the intervals of this map have level {self.level:g}: make it again with level={level:g}"
            )
        return self.low, self.high

    def total_variation(self, locations: Locations) -> float:
        """Return half the sum of absolute differences from the map of some locations."""
        return float(np.abs(self.masses - self.grid.shares_of(locations)).sum() / 2)

    def answer(self, unit: str = "") -> str:
        """Return the share of reports from the fullest cell, as a sentence."""
        first = int(np.argmax(self.masses))
        ends = float(self.low[first]), float(self.high[first])
        held = interval_text(float(self.masses[first]), *ends, share=True, level=self.level)
        row = self.rows()[first]
        rivals = int((self.high >= self.low[first]).sum()) - 1
        noise = f"; {rivals:,} other{'s' * (rivals > 1)} may be as full" if rivals else ""
        where = f"around {row['x']:.4g}, {row['y']:.4g}"
        return (
            f"Of {self.n:,} reports, {held} are from the fullest of {len(self.grid):,} cells, {where}{noise}."
        )

    @property
    def title(self) -> str:
        """The title above the table."""
        return f"Heat map of {self.grid} from n={self.n} reports"

    @property
    def caption(self) -> str:
        """What made the reports, and what the columns are."""
        columns = (
            f"share: of reports from the cell around (x, y); low, high: a {100 * self.level:g}% interval for "
            "each cell on its own, wide where the mechanism cannot tell neighbouring cells apart"
        )
        rest = (
            "the intervals rest on the chances at nine points of each cell: for this mechanism and region it "
            "is not proven that they bound those in between"
        )
        return self.captioned(*self.method_told, lines=[columns] if self.is_proven else [columns, rest])

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return one record for each cell: column, row, x, y, share, low, high; the fullest first, if few."""
        order = np.arange(len(self.grid)) if top is None else np.argsort(-self.masses, kind="stable")[:top]
        centres = self.grid.centres
        return [
            {
                "column": int(cell // self.grid.rows),
                "row": int(cell % self.grid.rows),
                "x": float(centres[cell, 0]),
                "y": float(centres[cell, 1]),
                "share": float(self.masses[cell]),
                "low": float(self.low[cell]),
                "high": float(self.high[cell]),
            }
            for cell in order.tolist()
        ]

    def tables(self, top: int | None = TOP) -> list[Table]:
        """Return the fullest cells."""
        return super().tables(top)

    def about(self) -> dict[str, Any]:
        """Return the cells, what made the reports, and how they were read."""
        return self.about_reports(
            grid=self.grid.to_json(),
            method=self.made_by.get("method"),
            level=self.level,
            is_proven=self.is_proven,
        )


@estimator("heatmap", SpatialTally, of_anybody=True, of_one_level=True)
def heatmap(
    tally: SpatialTally,
    *,
    columns: int = 16,
    rows: int = 16,
    level: float = 0.95,
    watch: Watch = unwatched,
) -> HeatMap:
    """Return the share of people in each cell, by EM over the exact law of the mechanism.

    Parameters
    ----------
    tally : SpatialTally
        Reports of a spatial mechanism.
    columns, rows : int
        How many cells there are along the edges of the region.
    level : float
        The coverage of the interval of each cell.
    watch : Watch
        Shows progress.
    """
    mechanism = tally.mechanism
    grid = CellGrid.of(mechanism.domain, columns, rows)
    check_fraction(level, "level")
    law = cell_law(mechanism, grid)
    masses = maximise(law, tally.counts, mechanism.epsilon, smooth=False)
    low, high = share_bounds(mechanism, grid, tally.counts, level, Onlooker(watch))

    def redraw(source: RandomSource, count: int) -> Floats:
        seen = source.generator().multinomial(tally.n, masses @ law / (masses @ law).sum(), size=count)
        return np.stack([maximise(law, each, mechanism.epsilon, smooth=False) for each in seen])

    return HeatMap(
        grid,
        masses,
        np.minimum(low, masses),
        np.maximum(high, masses),
        tally.n,
        mechanism.read_by("em"),
        mechanism,
        tally.provenance,
        level,
        redraw,
        detectors(mechanism, grid, Onlooker(watch)).is_proven,
    )


def _whole(values: Floats, n: int, source: RandomSource, count: int) -> Any:
    """Return whole numbers of people in each cell, drawn anew for each collection."""
    return source.generator().multinomial(n, np.maximum(values, 0) / np.maximum(values, 0).sum(), size=count)
