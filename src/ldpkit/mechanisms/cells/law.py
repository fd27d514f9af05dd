"""The law of one report, in integers: cells in pieces of equal weight, and atoms.

A report is a cell of an integer grid, or one of at most two atoms. Given the value, cells
come in pieces within which all have the same integer weight. Density, distribution
function, moments and the audit all read the same integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ldpkit.core.cached import cached_property
from ldpkit.core.typing import Floats

__all__ = ["Law", "Placement"]

Integers: TypeAlias = NDArray[Any]
"""Python integers of any size, in an array of objects."""

Placement: TypeAlias = tuple[Fraction, Fraction]
"""Where cells stand: edge t is at origin + t step, with low at 0 and high at 1."""


class Law:
    """The law of a report for one value.

    Parameters
    ----------
    edges : array of int
        The edges of the pieces, in cells, ascending.
    weights : array of Python integers
        The weight of every single cell in each piece.
    total : int
        What all weights sum to.
    atoms : tuple of int
        The weights of the atoms.
    heights : array, optional
        weights / total, where it is known already.

    Examples
    --------
    >>> law = Law(np.array([0, 2, 3]), np.array([1, 4], object), 6)
    >>> law.row(3)
    [Fraction(1, 6), Fraction(1, 6), Fraction(2, 3)]
    >>> clamped = law.clamp(1, 3)
    >>> clamped.edges.tolist(), clamped.atoms
    ([0, 1, 2], (1, 0))
    """

    def __init__(
        self,
        edges: NDArray[np.int64],
        weights: Integers,
        total: int,
        atoms: tuple[int, ...] = (),
        *,
        heights: Floats | None = None,
    ) -> None:
        self.edges = edges
        self.weights = weights
        self.total = total
        self.atoms = atoms
        self._heights = heights

    @cached_property
    def heights(self) -> Floats:
        """The probability of a single cell in each piece."""
        return (self.weights / self.total).astype(np.float64) if self._heights is None else self._heights

    @cached_property
    def masses(self) -> Floats:
        """The probability of each piece."""
        return self.heights * np.diff(self.edges)

    @cached_property
    def atom_masses(self) -> Floats:
        """The probability of each atom."""
        return np.array([weight / self.total for weight in self.atoms])

    @cached_property
    def _sums(self) -> Integers:
        """The exact weight of all cells below each edge."""
        sums = np.zeros(len(self.edges), object)
        np.cumsum(self.weights * np.diff(self.edges).astype(object), out=sums[1:])
        return sums

    @cached_property
    def _below(self) -> Floats:
        return np.concatenate([[0.0], np.cumsum(self.masses)])

    def clamp(self, first: int, last: int, *, shift: int = 0) -> Law:
        """Return the law of cells moved up by `shift` and clamped to first..last, counted from first.

        What falls below goes to one atom, what lies at `last` or above to another.
        """
        low, high = first - shift, last - shift
        at, until = np.searchsorted(self.edges, low, "right"), np.searchsorted(self.edges, high, "left")
        begin, end = max(int(at) - 1, 0), min(int(until), len(self.weights))
        edges = np.clip(self.edges[begin : end + 1], low, high) - low
        atoms = self._exactly_below(low), int(self._sums[-1]) - self._exactly_below(high)
        return Law(edges, self.weights[begin:end], self.total, atoms, heights=self.heights[begin:end])

    def _exactly_below(self, edge: int) -> int:
        piece = min(max(int(np.searchsorted(self.edges, edge, "right")) - 1, 0), len(self.weights) - 1)
        cells = min(max(edge - int(self.edges[piece]), 0), int(self.edges[piece + 1] - self.edges[piece]))
        return int(self._sums[piece]) + cells * int(self.weights[piece])

    def row(self, cells: int) -> list[Fraction]:
        """Return the exact probability of each of `cells` cells and then of the atoms."""
        weights = [0] * cells
        for start, stop, weight in zip(self.edges, self.edges[1:], self.weights, strict=False):
            weights[int(start) : int(stop)] = [weight] * int(stop - start)
        return [Fraction(weight, self.total) for weight in (*weights, *self.atoms)]

    def below(self, places: Floats) -> Floats:
        """Return the probability of the cells below each place, which may lie within a cell."""
        if len(self.weights) == 0:
            return np.zeros(np.shape(places))
        return np.interp(places, self.edges, self._below)

    def height(self, places: Floats) -> Floats:
        """Return the probability of the cell that holds each place."""
        if len(self.weights) == 0:
            return np.zeros(np.shape(places))
        piece = np.searchsorted(self.edges, places, "right") - 1
        inside = (piece >= 0) & (piece < len(self.heights))
        return np.where(inside, self.heights[np.clip(piece, 0, len(self.heights) - 1)], 0.0)

    def mean(self, placement: Placement, atoms: Floats) -> float:
        """Return the mean, cells placed as given and atoms at the given points."""
        edges = _points(self.edges, placement)
        middle = (edges[1:] + edges[:-1]) / 2
        return float(self.masses @ middle + self.atom_masses @ atoms)

    def exact_mean(self, placement: Placement, atoms: Sequence[Fraction]) -> Fraction:
        """Return the mean exactly, where there are few pieces.

        Examples
        --------
        >>> law = Law(np.array([0, 2, 3]), np.array([1, 2], object), 4)
        >>> law.exact_mean((Fraction(0), Fraction(1)), ()), law.mean((Fraction(0), Fraction(1)), np.zeros(0))
        (Fraction(7, 4), 1.75)
        """
        origin, step = placement
        edges = [int(edge) for edge in self.edges]
        pieces = zip(self.weights, edges, edges[1:], strict=False)
        middles = sum(int(weight) * (stop - start) * (start + stop) for weight, start, stop in pieces)
        points = sum(weight * point for weight, point in zip(self.atoms, atoms, strict=True))
        return (origin * int(self._sums[-1]) + step * middles / 2 + points) / self.total

    def moment(self, power: float, centre: float, placement: Placement, atoms: Floats) -> float:
        """Return the mean of |y - centre|**power, the mass of a cell being spread evenly over it."""
        away = _points(self.edges, placement) - centre
        integral = np.sign(away) * np.abs(away) ** (power + 1) / (power + 1)
        spread = self.heights @ np.diff(integral) / float(placement[1])
        return float(spread + self.atom_masses @ np.abs(atoms - centre) ** power)


def _points(edges: NDArray[np.int64], placement: Placement) -> Floats:
    origin, step = placement
    return float(origin) + float(step) * edges.astype(np.float64)
