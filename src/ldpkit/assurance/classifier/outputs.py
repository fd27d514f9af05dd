"""The laws of privatized numbers for many records: pieces of even density, and points with a chance.

Everything here asks the laws for three things only: the probability below a number, its
integral, and the masses of intervals. A law with very many pieces is merged into fewer;
`slack` then bounds how far any of its probabilities below a number can be off.

A report is the middle of a cell of a fine lattice, and a piece spreads each cell evenly.
`reached` counts middles and is exact; `below` and `integral` are off by half a cell at most,
`grain`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.typing import Counts, Floats

__all__ = ["ReportCells", "Outputs", "merged"]


@dataclass(frozen=True)
class ReportCells:
    """The cells of a mechanism's reports: edge k stands at low + width (origin + step k).

    Examples
    --------
    >>> quarters = ReportCells(0.0, 1.0, 0.0, 0.25)
    >>> quarters.edge(np.array([0.3, 0.375]), inclusive=True).tolist()
    [0.25, 0.5]
    """

    low: float
    width: float
    origin: float
    step: float

    def at(self, cells: Floats) -> Floats:
        """Return where edges, or with halves middles, stand: computed as the mechanism does."""
        return np.asarray(self.low + self.width * (self.origin + self.step * cells))

    def edge(self, at: Floats, *, inclusive: bool) -> Floats:
        """Return the upper edge of the last cell whose middle is below numbers, or at them."""
        with np.errstate(invalid="ignore", over="ignore"):
            cells = np.floor(((at - self.low) / self.width - self.origin) / self.step + 0.5)
        cells = np.clip(np.nan_to_num(cells), -(2.0**52), 2.0**52)
        before, after = self.at(cells - 0.5), self.at(cells + 0.5)
        if inclusive:
            cells = np.where(before > at, cells - 1, np.where(after <= at, cells + 1, cells))
        else:
            cells = np.where(before >= at, cells - 1, np.where(after < at, cells + 1, cells))
        return self.at(cells)


@dataclass(frozen=True, eq=False)
class Outputs:
    """The law of one privatized column, a row for each record.

    Parameters
    ----------
    edges : array, records x (pieces + 1)
        The ends of the pieces, ascending.
    masses : array, records x pieces
        The probability of each piece, spread evenly over it.
    points : array
        The numbers with a probability of their own, ascending, the same for all records.
    chances : array, records x points
        These probabilities.
    slack : float
        No probability below a number is farther off than this, since pieces were merged.
    grain : float
        Half the probability of the likeliest cell: what `below` is off by, beyond that.
    lattice : ReportCells, optional
        The cells whose middles are reported.

    Examples
    --------
    >>> law = Outputs(np.array([[0.0, 0.5, 1.0]]), np.array([[0.6, 0.2]]), np.array([1.0]), np.array([[0.2]]))
    >>> law.below(np.array([[0.25, 1.0]])).round(3).tolist()
    [[0.3, 0.8]]
    >>> law.below(np.array([[1.0]]), inclusive=True).round(3).tolist()
    [[1.0]]
    >>> law.integral(np.array([[1.0]])).round(3).tolist()
    [[0.5]]
    """

    edges: Floats
    masses: Floats
    points: Floats
    chances: Floats
    slack: float = 0.0
    grain: float = 0.0
    lattice: ReportCells | None = None

    @property
    def off(self) -> float:
        """How far a probability below a number can be off where cells are spread evenly."""
        return self.slack + self.grain

    @property
    def n(self) -> int:
        """The number of records."""
        return len(self.edges)

    @property
    def discrete(self) -> bool:
        """Whether all probability is in points."""
        return not self.masses.shape[1]

    @property
    def support(self) -> tuple[float, float]:
        """The least and the greatest output of any record."""
        spread = [] if self.discrete else [float(self.edges.min()), float(self.edges.max())]
        ends = [*spread, *self.points.tolist()]
        return min(ends), max(ends)

    @property
    def reach(self) -> float:
        """The largest size of any output."""
        spread = 0.0 if self.discrete else float(np.abs(self.edges).max())
        return max(spread, float(np.abs(self.points).max(initial=0.0)))

    def take(self, rows: Counts) -> Outputs:
        """Return the laws of some records."""
        return replace(self, edges=self.edges[rows], masses=self.masses[rows], chances=self.chances[rows])

    @cached_property
    def densities(self) -> Floats:
        """The density of each piece; 0 where it is empty."""
        widths = np.diff(self.edges, axis=1)
        return np.divide(self.masses, widths, out=np.zeros_like(self.masses), where=widths > 0)

    @cached_property
    def _sums(self) -> Floats:
        return _from_zero(np.cumsum(self.masses, axis=1))

    @cached_property
    def _integrals(self) -> Floats:
        """The integral of the pieces' distribution function, up to each edge."""
        widths = np.diff(self.edges, axis=1)
        return _from_zero(np.cumsum((self._sums[:, :-1] + self.masses / 2) * widths, axis=1))

    @cached_property
    def _flat(self) -> tuple[float, float, Floats]:
        """All edges as one ascending array, two units a record, so that one search serves all."""
        low = float(self.edges.min())
        scale = max(float(self.edges.max()) - low, 1e-300)
        shifted = (self.edges - low) / scale + 2.0 * np.arange(self.n)[:, None]
        return low, scale, shifted.ravel()

    def piece_of(self, rows: Counts, at: Floats) -> tuple[Counts, Floats]:
        """Return the piece at each number of some records, and the numbers moved into the pieces' range."""
        low, scale, flat = self._flat
        inside = np.clip(at, self.edges[rows, 0], self.edges[rows, -1])
        width = self.edges.shape[1]
        found = np.searchsorted(flat, ((inside - low) / scale + 2.0 * rows).ravel(), "right")
        piece = np.clip(found.reshape(at.shape) - 1 - width * rows, 0, width - 2)
        # The common scale rounds, so that a number close to an edge may be taken for its neighbour.
        piece = piece - ((self.edges[rows, piece] > inside) & (piece > 0))
        return piece + ((self.edges[rows, piece + 1] <= inside) & (piece < width - 2)), inside

    def _rows(self, at: Floats) -> Counts:
        return np.broadcast_to(np.arange(self.n)[:, None], at.shape)

    @cached_property
    def _chance_sums(self) -> tuple[Floats, Floats]:
        """The sums of chances, and of chances times points, below each point."""
        return (
            _from_zero(np.cumsum(self.chances, axis=1)),
            _from_zero(np.cumsum(self.chances * self.points, axis=1)),
        )

    def below(self, at: Floats, *, inclusive: bool = False) -> Floats:
        """Return the probability below numbers, a row of them for each record."""
        return self.below_of(self._rows(at), at, inclusive=inclusive)

    def below_of(self, rows: Counts, at: Floats, *, inclusive: bool = False) -> Floats:
        """Return the probability below numbers, each for the record named beside it."""
        total = self.spread_below(rows, at)
        if len(self.points):
            index = np.searchsorted(self.points, at, "right" if inclusive else "left")
            total += self._chance_sums[0][rows, index]
        return total

    def spread_below(self, rows: Counts, at: Floats) -> Floats:
        """Return the probability that lies in pieces below numbers, each for the record named beside it."""
        if self.discrete:
            return np.zeros(at.shape)
        piece, inside = self.piece_of(rows, at)
        density = self.densities[rows, piece]
        return np.asarray(self._sums[rows, piece] + density * (inside - self.edges[rows, piece]))

    def reached(self, at: Floats, *, inclusive: bool = True) -> Floats:
        """Return the probability that a report is below numbers, or at them, counted in whole cells.

        Examples
        --------
        >>> cells = Outputs(np.array([[0.0, 1.0]]), np.ones((1, 1)), np.zeros(0), np.zeros((1, 0)),
        ...     grain=0.125, lattice=ReportCells(0.0, 1.0, 0.0, 0.25))
        >>> cells.reached(np.array([[0.12, 0.125, 0.3]])).tolist()
        [[0.0, 0.25, 0.25]]
        >>> cells.reached(np.array([[0.125]]), inclusive=False).tolist()
        [[0.0]]
        """
        rows = self._rows(at)
        total = self.spread_reached(rows, at, inclusive=inclusive)
        if len(self.points):
            index = np.searchsorted(self.points, at, "right" if inclusive else "left")
            total += self._chance_sums[0][rows, index]
        return total

    def spread_reached(self, rows: Counts, at: Floats, *, inclusive: bool) -> Floats:
        """Return the probability of the cells whose middle is below numbers, or at them."""
        edges = at if self.lattice is None else self.lattice.edge(at, inclusive=inclusive)
        return self.spread_below(rows, edges)

    def integral(self, at: Floats) -> Floats:
        """Return the integral of `below` from minus infinity to numbers, a row of them for each record."""
        total, rows = np.zeros(at.shape), self._rows(at)
        if not self.discrete:
            piece, inside = self.piece_of(rows, at)
            along = inside - self.edges[rows, piece]
            density = self.densities[rows, piece]
            total += self._integrals[rows, piece]
            total += (self._sums[rows, piece] + density * along / 2) * along
            total += self._sums[:, -1:] * np.maximum(at - self.edges[:, -1:], 0.0)
        if len(self.points):
            index = np.searchsorted(self.points, at, "right")
            sums, weighted = self._chance_sums
            total += sums[rows, index] * at - weighted[rows, index]
        return total

    def between(self, low: Floats, high: Floats) -> Floats:
        """Return the probability of one closed interval for each record."""
        above = self.reached(high[:, None])[:, 0]
        return np.asarray(np.maximum(above - self.reached(low[:, None], inclusive=False)[:, 0], 0.0))

    @cached_property
    def _total(self) -> Floats:
        return np.asarray(self.masses.sum(axis=1) + self.chances.sum(axis=1))

    def clipped(self, low: float, high: float) -> Outputs:
        """Return the law of the outputs moved into an interval: what lies outside gathers at its ends."""
        under = self.reached(np.full((self.n, 1), low), inclusive=False)
        over = self._total[:, None] - self.reached(np.full((self.n, 1), high))
        edges, masses = np.clip(self.edges, low, high), self.masses
        used = np.flatnonzero((np.diff(edges, axis=1) > 0).any(axis=0))
        if len(used):  # pieces that lie outside for all records are left out
            kept = slice(int(used[0]), int(used[-1]) + 1)
            edges = edges[:, kept.start : kept.stop + 1]
            masses = self.densities[:, kept] * np.diff(edges, axis=1)
        else:
            edges, masses = edges[:, :1], masses[:, :0]
        inside = (self.points >= low) & (self.points <= high)
        points = np.concatenate([[low], self.points[inside], [high]])
        chances = np.concatenate([under, self.chances[:, inside], over], axis=1)
        return replace(self, edges=edges, masses=masses, points=points, chances=chances)


def merged(edges: Floats, masses: Floats, most: int) -> tuple[Floats, Floats, float]:
    """Return at most `most` pieces in place of many, and how far a probability below a number can be off.

    Merged pieces keep their mass and become even; they are narrow where the density is high.

    Examples
    --------
    >>> merged(np.array([0.0, 1.0, 2.0]), np.array([0.75, 0.25]), 1)
    (array([0., 2.]), array([1.]), 0.25)
    """
    if len(masses) <= most:
        return edges, masses, 0.0
    effort = _flat_from_zero(np.cumsum(np.sqrt(masses * np.diff(edges))))
    kept = np.unique(np.searchsorted(effort, np.linspace(0.0, effort[-1], most + 1)))
    kept = np.unique(np.concatenate([[0], np.minimum(kept, len(masses)), [len(masses)]]))
    sums = _flat_from_zero(np.cumsum(masses))
    coarse = np.interp(edges, edges[kept], sums[kept])
    return edges[kept], np.diff(sums[kept]), float(np.abs(coarse - sums).max())


def _from_zero(sums: Floats) -> Floats:
    return np.concatenate([np.zeros((len(sums), 1)), sums], axis=1)


def _flat_from_zero(sums: Any) -> Floats:
    return np.concatenate([[0.0], sums])
