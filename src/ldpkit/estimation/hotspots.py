"""Hotspots: the fullest cells of a map, each with the chance that a collection like this finds it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ldpkit.core.errors import InvalidInputError
from ldpkit.core.parameters import check_whole
from ldpkit.core.random import RandomSource, resolve
from ldpkit.core.results import Result
from ldpkit.core.typing import Counts, Floats
from ldpkit.estimation.heatmap import HeatMap

__all__ = ["Hotspots", "hotspots"]


@dataclass(frozen=True, eq=False, repr=False)
class Hotspots(Result):
    """The fullest cells of a map.

    Parameters
    ----------
    density : HeatMap
        The map.
    cells : array of int
        The cells, fullest first.
    chances : array
        In which share of redrawn collections each was among so many fullest cells again.
    draws : int
        How many collections were redrawn.

    Examples
    --------
    >>> import ldpkit, numpy as np
    >>> town = ldpkit.PlaneDomain.rectangle((0, 0), (10, 10))
    >>> mechanism = ldpkit.PlanarWindow(town, epsilon=6)
    >>> people = np.random.default_rng(1).normal(3, 0.5, (2000, 2)).clip(0, 10)
    >>> reports = mechanism.privatize(people, rng=ldpkit.random.seeded(1))
    >>> found = ldpkit.hotspots(mechanism.tally(reports).estimate(columns=4, rows=4), 2, draws=5)
    >>> len(found.rows())
    2
    """

    density: HeatMap
    cells: Counts
    chances: Floats
    draws: int

    kind: ClassVar[str] = "hotspots"

    def answer(self, unit: str = "") -> str:
        """Return the fullest cell and how surely it is among the fullest, as a sentence."""
        sure = f"in {self.chances[0]:.0%} of {self.draws:,} redrawn collections"
        return f"{self.density.answer(unit)} It is among the {len(self.cells)} fullest {sure}."

    @property
    def title(self) -> str:
        """The title above the table."""
        return f"The {len(self.cells)} fullest of {self.density.grid}"

    @property
    def caption(self) -> str:
        """What the chance is."""
        return (
            f"chance: in what share of {self.draws} collections, redrawn from this map and estimated in the "
            f"same way, the cell was among the {len(self.cells)} fullest again; low, high: a "
            f"{100 * self.density.level:g}% interval of the share"
        )

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return one record for each hotspot: that of its cell, and the chance."""
        every = self.density.rows()
        found = zip(self.cells.tolist(), self.chances.tolist(), strict=True)
        return [{**every[cell], "chance": chance} for cell, chance in found][:top]

    def about(self) -> dict[str, Any]:
        """Return what holds for the map, and how many collections were redrawn."""
        return {**self.density.about(), "draws": self.draws}

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know first."""
        return self.density.warnings


def hotspots(
    density: HeatMap, top: int = 10, *, draws: int = 50, rng: RandomSource | None = None
) -> Hotspots:
    """Return the fullest cells of a map with their chances.

    Parameters
    ----------
    density : HeatMap
        A map estimated from reports.
    top : int
        How many cells.
    draws : int
        How many collections are redrawn.
    rng : RandomSource, optional
        What they are drawn with.

    Examples
    --------
    >>> import ldpkit
    >>> from ldpkit.core.random import seeded
    >>> mechanism = ldpkit.get("grid_response", ((0, 0), (1, 1)), epsilon=4, columns=4, rows=4)
    >>> reports = mechanism.privatize([(0.1, 0.1), (0.9, 0.8)] * 5_000, rng=seeded(1))
    >>> found = hotspots(mechanism.tally(reports).estimate(columns=4, rows=4), 2, draws=20, rng=seeded(2))
    >>> sorted(found.cells.tolist()), found.chances.tolist()
    ([0, 15], [1.0, 1.0])
    """
    count = check_whole(top, "top", least=1)
    if count >= len(density.grid):
        raise InvalidInputError(f"the map has {len(density.grid)} cells: ask for fewer than that, got {top}")
    if density.redraw is None:
        raise InvalidInputError("nothing is known of how this map was estimated: estimate it from a tally")
    again = density.redraw(resolve(rng), check_whole(draws, "draws", least=1))
    fullest = np.argsort(-again, axis=1, kind="stable")[:, :count]
    times = np.bincount(fullest.ravel(), minlength=len(density.grid)) / len(again)
    cells = np.argsort(-density.masses, kind="stable")[:count]
    return Hotspots(density, cells, times[cells], len(again))
