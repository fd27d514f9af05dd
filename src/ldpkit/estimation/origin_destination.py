"""Origins and destinations: how many people went from one cell to another, from two reports of each.

Both reports of a person are read together: EM over the product of two laws finds the shares of
all pairs of cells. The intervals are made as those of a map, with a set of bins for the
origin and one for the destination.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ldpkit.core.domains.cellgrid import CellGrid
from ldpkit.core.errors import InvalidInputError
from ldpkit.core.parameters import check_fraction
from ldpkit.core.provenance import UNKNOWN, Provenance
from ldpkit.core.typing import Floats, Reports
from ldpkit.estimation.cell_bounds import chance_ends, chosen_detectors, solved
from ldpkit.estimation.cell_law import bins_of, cell_law
from ldpkit.estimation.from_reports import FromReports
from ldpkit.mechanisms.base import Mechanism
from ldpkit.mechanisms.kinds import is_spatial

__all__ = ["OriginDestination", "origin_destination"]

_MOST_STEPS = 2_000
_MOST_PAIRS = 4096


@dataclass(frozen=True, eq=False, repr=False)
class OriginDestination(FromReports):
    """The estimated share of people for each pair of cells.

    Parameters
    ----------
    grid : CellGrid
        The cells.
    masses, low, high : array, shape (cells, cells)
        The share from each cell (rows) to each cell (columns), and the ends of an interval for it.
    n : int
        The number of people, with two reports each.
    made_by, mechanism, provenance, level
        As in `HeatMap`.

    Examples
    --------
    >>> import ldpkit, numpy as np
    >>> mechanism = ldpkit.GridResponse(((0, 0), (10, 10)), epsilon=6)
    >>> rng, homes = ldpkit.random.seeded(1), np.full((500, 2), 2.0)
    >>> first, last = mechanism.privatize(homes, rng=rng), mechanism.privatize(homes + 6, rng=rng)
    >>> isinstance(ldpkit.origin_destination(mechanism, first, last), OriginDestination)
    True
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

    kind: ClassVar[str] = "origins and destinations"

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """What made the reports."""
        return () if self.mechanism is None else (self.mechanism,)

    @property
    def counts(self) -> Floats:
        """The estimated number of people for each pair."""
        return self.masses * self.n

    @property
    def title(self) -> str:
        """The title above the table."""
        return f"Origins and destinations among {self.grid} from n={self.n} people"

    @property
    def caption(self) -> str:
        """What the columns are, and what two reports cost."""
        columns = (
            "origin, destination: cells as column,row; count: people who went from one to the other; "
            f"low, high: a {100 * self.level:g}% interval for each pair on its own"
        )
        return self.captioned("two reports of each person, which cost epsilon twice", lines=[columns])

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return one record for each pair of cells; those with most people first, if few."""
        order = np.argsort(-self.masses, axis=None, kind="stable")[:top]
        pairs = np.stack(np.divmod(order if top is not None else np.sort(order), len(self.grid)), axis=1)
        return [
            {
                "origin": f"{one // self.grid.rows},{one % self.grid.rows}",
                "destination": f"{two // self.grid.rows},{two % self.grid.rows}",
                "count": float(self.counts[one, two]),
                "low": float(self.low[one, two] * self.n),
                "high": float(self.high[one, two] * self.n),
            }
            for one, two in pairs.tolist()
        ]

    def about(self) -> dict[str, Any]:
        """Return the cells and what made the reports."""
        return self.about_reports(grid=self.grid.to_json(), level=self.level)


def origin_destination(
    mechanism: Mechanism,
    origins: Reports,
    destinations: Reports,
    *,
    columns: int = 4,
    rows: int = 4,
    level: float = 0.95,
) -> OriginDestination:
    """Return how many people went from each cell to each other.

    Parameters
    ----------
    mechanism : SpatialMechanism
        What made the reports.
    origins, destinations : array
        A report of where each person began and one of where the same person ended.
    columns, rows : int
        How many cells there are along the edges of the region.
    level : float
        The coverage of the interval of each pair.

    Examples
    --------
    >>> import ldpkit
    >>> from ldpkit.core.random import seeded
    >>> mechanism = ldpkit.get("grid_response", ((0, 0), (1, 1)), epsilon=4, columns=2, rows=2)
    >>> people = np.array([(0.1, 0.1)] * 3_000), np.array([(0.9, 0.1)] * 2_000 + [(0.1, 0.9)] * 1_000)
    >>> first, last = (mechanism.privatize(each, rng=seeded(place)) for place, each in enumerate(people))
    >>> found = origin_destination(mechanism, first, last, columns=2, rows=2)
    >>> found.counts.round(-2).tolist()[0]
    [0.0, 1000.0, 2000.0, 0.0]
    """
    if not is_spatial(mechanism):
        raise InvalidInputError(f"this needs reports of a spatial mechanism, got {mechanism!r}")
    grid = CellGrid.of(mechanism.domain, columns, rows)
    if len(grid) ** 2 > _MOST_PAIRS:
        raise InvalidInputError(
            f"{len(grid)} cells have {len(grid) ** 2} pairs, more than {_MOST_PAIRS}: take fewer cells"
        )
    check_fraction(level, "level")
    first, last = bins_of(mechanism, origins), bins_of(mechanism, destinations)
    n = len(first)
    if n != len(last) or n == 0:
        raise InvalidInputError(f"everybody has an origin and a destination, got {n} and {len(last)} reports")
    law = cell_law(mechanism, grid)
    masses = _maximise(law[:, first].T, law[:, last].T, mechanism.epsilon)
    found, lower, upper = chosen_detectors(mechanism, grid, n, 1 - level)
    ends = []
    for which in (lower, upper):
        cells = np.arange(len(grid))
        sets = found.sets(which)
        hits = sets[:, first].astype(float) @ sets[:, last].T.astype(float)
        low, high = chance_ends(np.rint(hits), n, 1 - level)
        inside, outside = found.inside[:, cells, which], found.outside[:, cells, which]
        ends.append(solved(low, high, *_pairs(inside, outside)))
    low, high = np.minimum(ends[0][0], masses), np.maximum(ends[1][1], masses)
    return OriginDestination(grid, masses, low, high, n, mechanism.read_by("em"), mechanism, level=level)


def _pairs(inside: Floats, outside: Floats) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    """Return the least and largest chances of a pair of detectors, for people of the pair and for others."""
    (a, b), (c, d) = inside, outside
    any_least, any_most = np.minimum(a, c), np.maximum(b, d)
    least = np.minimum(np.outer(c, any_least), np.outer(any_least, c))
    most = np.maximum(np.outer(d, any_most), np.outer(any_most, d))
    return (np.outer(a, a), np.outer(b, b)), (least, most)


def _maximise(first: Floats, last: Floats, epsilon: float) -> Floats:
    """Return the shares of pairs that EM finds; the likelihoods of both reports have a row a person."""
    count = first.shape[1]
    masses = np.full((count, count), 1 / count**2)
    tolerance, before = 1e-3 * float(np.exp(epsilon)) / len(first), -np.inf
    for _ in range(_MOST_STEPS):
        expected = np.maximum(((first @ masses) * last).sum(axis=1), 1e-300)
        likelihood = float(np.log(expected).mean())
        if abs(likelihood - before) < tolerance:
            break
        before = likelihood
        masses = masses * ((first / expected[:, None]).T @ last) / len(first)
    return np.asarray(masses / masses.sum())
