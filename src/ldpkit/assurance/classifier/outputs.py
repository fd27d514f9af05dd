"""The laws of privatized numbers for many records: pieces of even density, and points with a chance.

Everything here asks the laws for three things only: the probability below a number, its
integral, and the masses of intervals. A law with very many pieces is merged into fewer;
`slack` then bounds how far any of its probabilities below a number can be off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.typing import Counts, Floats

__all__ = ["Outputs", "merged"]


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
        No probability below a number is farther off than this.

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

    @property
    def n(self) -> int:
        """The number of records."""
        return len(self.edges)

    @property
    def discrete(self) -> bool:
        """Whether all probability is in points."""
        return not self.masses.shape[1]

    def take(self, rows: Counts) -> Outputs:
        """Return the laws of some records."""
        return Outputs(self.edges[rows], self.masses[rows], self.points, self.chances[rows], self.slack)

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

    def _pieces(self, at: Floats) -> tuple[Counts, Floats]:
        """Return the piece at each number, and the numbers moved into the range of the pieces."""
        low, scale, flat = self._flat
        inside = np.clip(at, self.edges[:, :1], self.edges[:, -1:])
        wanted = (inside - low) / scale + 2.0 * np.arange(self.n)[:, None]
        width = self.edges.shape[1]
        found = np.searchsorted(flat, wanted.ravel(), "right").reshape(at.shape) - 1
        return np.clip(found - width * np.arange(self.n)[:, None], 0, width - 2), inside

    @cached_property
    def _chance_sums(self) -> tuple[Floats, Floats]:
        """The sums of chances, and of chances times points, below each point."""
        return (
            _from_zero(np.cumsum(self.chances, axis=1)),
            _from_zero(np.cumsum(self.chances * self.points, axis=1)),
        )

    def below(self, at: Floats, *, inclusive: bool = False) -> Floats:
        """Return the probability below numbers, a row of them for each record."""
        total = np.zeros(at.shape)
        if not self.discrete:
            piece, inside = self._pieces(at)
            start = np.take_along_axis(self.edges, piece, 1)
            density = np.take_along_axis(self.densities, piece, 1)
            total += np.take_along_axis(self._sums, piece, 1) + density * (inside - start)
        if len(self.points):
            index = np.searchsorted(self.points, at, "right" if inclusive else "left")
            total += np.take_along_axis(self._chance_sums[0], index, 1)
        return total

    def integral(self, at: Floats) -> Floats:
        """Return the integral of `below` from minus infinity to numbers, a row of them for each record."""
        total = np.zeros(at.shape)
        if not self.discrete:
            piece, inside = self._pieces(at)
            start = np.take_along_axis(self.edges, piece, 1)
            along = inside - start
            density = np.take_along_axis(self.densities, piece, 1)
            total += np.take_along_axis(self._integrals, piece, 1)
            total += (np.take_along_axis(self._sums, piece, 1) + density * along / 2) * along
            total += self._sums[:, -1:] * np.maximum(at - self.edges[:, -1:], 0.0)
        if len(self.points):
            index = np.searchsorted(self.points, at, "right")
            sums, weighted = self._chance_sums
            total += np.take_along_axis(sums, index, 1) * at - np.take_along_axis(weighted, index, 1)
        return total

    def between(self, low: Floats, high: Floats) -> Floats:
        """Return the probability of one closed interval for each record."""
        above = self.below(high[:, None], inclusive=True)[:, 0]
        return np.asarray(np.maximum(above - self.below(low[:, None])[:, 0], 0.0))

    @cached_property
    def _total(self) -> Floats:
        return np.asarray(self.masses.sum(axis=1) + self.chances.sum(axis=1))

    def clipped(self, low: float, high: float) -> Outputs:
        """Return the law of the outputs moved into an interval: what lies outside gathers at its ends."""
        under = self.below(np.full((self.n, 1), low))
        over = self._total[:, None] - self.below(np.full((self.n, 1), high), inclusive=True)
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
        return Outputs(edges, masses, points, chances, self.slack)

    @classmethod
    def stacked(
        cls, laws: Sequence[tuple[Floats, Floats]], points: Floats, chances: Floats, slack: float = 0.0
    ) -> Outputs:
        """Return the laws of some records, each given by its edges and masses, in arrays of one width."""
        width = max(len(masses) for _, masses in laws)
        edges, masses = np.zeros((len(laws), width + 1)), np.zeros((len(laws), width))
        for row, (its_edges, its_masses) in enumerate(laws):
            edges[row, : len(its_edges)] = its_edges
            edges[row, len(its_edges) :] = its_edges[-1] if len(its_edges) else 0.0
            masses[row, : len(its_masses)] = its_masses
        order = np.argsort(points, kind="stable")
        return cls(edges, masses, points[order], chances[:, order], slack)


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
