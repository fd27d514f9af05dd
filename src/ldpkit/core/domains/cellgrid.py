"""The cells of a map: a region cut into columns and rows, with the cell of a location in O(1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.domains.plane import Locations, PlaneDomain, PlaneLike, as_plane
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.parameters import check_whole

if TYPE_CHECKING:
    from ldpkit.core.typing import Floats, Indices

__all__ = ["MOST_CELLS", "CellGrid"]

MOST_CELLS = 4096
"""A map has at most so many cells."""


@dataclass(frozen=True)
class CellGrid:
    """A region cut into cells of equal size, numbered column by column.

    Parameters
    ----------
    domain : PlaneDomain
        The region of locations.
    columns, rows : int
        How many cells there are along its first and its second edge.

    Examples
    --------
    >>> grid = CellGrid.of(((0, 0), (4, 2)), 4, 2)
    >>> grid.cells_of([(0.5, 0.5), (3.9, 1.5)]).tolist(), len(grid)
    ([0, 7], 8)
    >>> grid.rounded([(3.9, 1.2)]).tolist()
    [[3.5, 1.5]]
    """

    domain: PlaneDomain
    columns: int
    rows: int

    @classmethod
    def of(cls, domain: PlaneLike, columns: int, rows: int) -> CellGrid:
        """Return the cells of a region, or refuse numbers that are none."""
        wide, high = (
            check_whole(columns, "columns", least=1),
            check_whole(rows, "rows", least=1),
        )
        if not 2 <= wide * high <= MOST_CELLS:
            raise InvalidParameterError(
                f"a map has 2 to {MOST_CELLS} cells, got {wide} columns and {high} rows"
            )
        return cls(as_plane(domain), wide, high)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of columns and rows."""
        return self.columns, self.rows

    def __len__(self) -> int:
        return self.columns * self.rows

    def cells_of(self, locations: Locations) -> Indices:
        """Return the cell of each location, as the device computes it."""
        return self.cells_at(self.domain.take(locations))

    def cells_at(self, points: Floats) -> Indices:
        """Return the cell of each point of the map."""
        shares = self.domain.region.to_shares(points)
        column, row = (
            np.clip(np.floor(shares[:, axis] * size).astype(np.int64), 0, size - 1)
            for axis, size in enumerate(self.shape)
        )
        found: Any = (column * self.rows + row).astype(np.uint32)
        return np.asarray(found)

    @cached_property
    def middles(self) -> Floats:
        """The middle of each cell, as points of the map within the region."""
        column, row = np.divmod(np.arange(len(self)), self.rows)
        shares = (np.stack([column, row], axis=1) + 0.5) / self.shape
        points = self.domain.region.from_shares(shares)
        return points if self.domain.region.fills_frame else self.domain.region.project(points)

    @property
    def centres(self) -> Floats:
        """The middle of each cell, as a location."""
        return self.domain.locations(self.middles)

    def rounded(self, locations: Locations) -> Floats:
        """Return each location moved to the middle of its cell."""
        return self.centres[self.cells_of(locations)]

    def shares_of(self, locations: Locations) -> Floats:
        """Return the share of some locations that lies in each cell."""
        cells = self.cells_of(locations)
        return np.asarray(np.bincount(cells, minlength=len(self)) / max(len(cells), 1))

    def outlines(self) -> Floats:
        """Return the four corners of each cell as points of the map, shape (cells, 4, 2)."""
        column, row = np.divmod(np.arange(len(self)), self.rows)
        ends = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
        shares = (np.stack([column, row], axis=1)[:, None, :] + ends) / self.shape
        return self.domain.region.from_shares(shares.reshape(-1, 2)).reshape(-1, 4, 2)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form: the region and the numbers of cells."""
        return {"space": self.domain.to_json(), "columns": self.columns, "rows": self.rows}

    def __str__(self) -> str:
        return f"{self.columns} x {self.rows} cells of {self.domain}"
