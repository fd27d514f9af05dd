"""The table as a mechanism: a value is rounded at random to a row, and the report is drawn from it."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.exact import WORD, log_up
from ldpkit.core.parameters import Parameter, check_counts, check_whole
from ldpkit.core.random import RandomSource, resolve
from ldpkit.core.typing import Counts, Floats, Indices, Reports
from ldpkit.mechanisms.cells.law import Law, Placement
from ldpkit.mechanisms.forms import word_rows
from ldpkit.mechanisms.numeric.mechanism import NumericMechanism
from ldpkit.mechanisms.tables.table import ReportTable, check_size, worst_ratio

__all__ = ["INTERVALS", "TableMechanism"]

INTERVALS = Parameter(
    "intervals", int, "the number of cells of the grid; 16 by default", default=None, least=1
)


class TableMechanism(NumericMechanism):
    """A numeric mechanism that is a table of weights, an input a row.

    The value is rounded at random to one of two rows next to it, without bias. The table
    is part of the mechanism's description, and is checked in integers wherever it is read,
    so a device need not trust the collector that made it; what is read is never solved.

    A subclass stores the table in its constructor with `_keep`, which takes `outputs` and
    `weights` for a finished one.
    """

    words_per_report = 2
    capabilities = NumericMechanism.capabilities | {"tabled", "client"}
    declared: ClassVar[tuple[Parameter, ...]] = (*NumericMechanism.declared, INTERVALS)

    table: ReportTable

    table_type: ClassVar[type[ReportTable]] = ReportTable

    def _given(self, outputs: Sequence[int] | None, weights: str | None) -> ReportTable | None:
        """Return the finished table that was given, checked; None if there is none and one must be made."""
        if (outputs is None) != (weights is None):
            raise InvalidParameterError("outputs and weights make a table together: give both or none")
        if outputs is None or weights is None:
            return None
        table = self.table_type.from_text(outputs, weights)
        table.check(self.epsilon)
        return table

    def _keep(self, table: ReportTable, intervals: int | None) -> None:
        """Store the table, or refuse one that is too large or of another grid."""
        check_size(table.bins + 1, len(table.outputs))
        if intervals is not None and intervals != table.bins:
            raise InvalidParameterError(
                f"intervals={intervals} need {intervals + 1} inputs, got {table.bins + 1}"
            )
        self._freeze(table=table)

    @property
    @abc.abstractmethod
    def output_steps(self) -> int:
        """In how many steps outputs divide the width of the domain."""

    @property
    def intervals(self) -> int:
        """The number of cells of the grid."""
        return self.table.bins

    def spec(self) -> dict[str, Any]:
        table = {"outputs": list(self.table.outputs), "weights": self.table.to_text()}
        return {**super().spec(), "parameters": {**self.parameters(), **table}}

    @classmethod
    def from_parameters(cls, domain: Any, parameters: Mapping[str, Any]) -> Self:
        """Return the mechanism of a description: it holds the table, so nothing that is read is solved."""
        table = {name: parameters.get(name) for name in ("outputs", "weights")}
        if None in table.values():
            raise InvalidParameterError(f"a description of {cls.name} has a table: outputs and weights")
        others = {name: value for name, value in parameters.items() if name not in table}
        return cls.make(domain, **cls.check_parameters(others), **table)

    def details(self) -> dict[str, float]:
        return {"outputs": len(self.table.outputs)}

    @property
    def cells(self) -> int:
        return 0

    @property
    def placement(self) -> Placement:
        return Fraction(0), Fraction(1)

    @cached_property
    def atom_points(self) -> tuple[Fraction, ...]:
        return tuple(Fraction(output, self.output_steps) for output in self.table.outputs)

    def law(self, place: int) -> Law:
        row, upper = divmod(place * self.table.bins, self.grid)
        atoms = self.table.mixture(row, upper, self.grid)
        return Law(np.zeros(1, np.int64), np.zeros(0, object), WORD * self.grid, atoms)

    def exact_epsilon(self) -> float:
        # Between two rows the law changes evenly, so the extremes are at the places next to rows.
        nearest = {
            place
            for row in range(self.table.bins + 1)
            for place in (row * self.grid // self.table.bins, -(-row * self.grid // self.table.bins))
        }
        worst = worst_ratio([self.law(place).atoms for place in sorted(nearest)])
        return float("inf") if worst is None else log_up(worst)

    def values_of(self, reports: Reports) -> Floats:
        numbers: Floats = self._from_share(self._atom_shares)[self.check_reports(reports)]
        return numbers

    @cached_property
    def _guide(self) -> np.ndarray[Any, np.dtype[np.uint16]]:
        """The output to begin with for each input and each value of a word's first 8 bits."""
        firsts = np.arange(256, dtype=np.uint64) << np.uint64(56)
        guide = [np.searchsorted(row, firsts, "right") - 1 for row in self.table.bounds]
        return np.array(guide).astype(np.uint16)

    def _form(self) -> dict[str, Any]:
        return {"form": "table", "grid": self.grid, "rows": word_rows(self.table.rows, self)}

    def _randomise(self, places: Indices, source: RandomSource) -> Reports:
        from ldpkit.mechanisms.kernels.table import draw_rows

        reports = np.empty(len(places), self.report_dtype)
        draw_rows(
            source.words(len(places)),
            source.bytes(4 * len(places)).view("<u4"),
            places,
            np.uint64(self.table.bins),
            np.uint64(self.grid.bit_length() - 1),
            self.table.bounds,
            self._guide,
            reports,
        )
        return reports

    def simulate(self, counts: object, *, rng: RandomSource | None = None, repeats: int = 1) -> Counts:
        """Draw the tallies of whole collections without simulating a single user.

        Parameters
        ----------
        counts : array of int
            How many people stand at each of the intervals + 1 grid points, after rounding.
        rng : RandomSource, optional
            Secure by default.
        repeats : int
            How many collections to draw.

        Returns
        -------
        array of int, shape (repeats, tally_size)
            Counts with the law that those of `tally(privatize(values))` have.

        Examples
        --------
        >>> import ldpkit
        >>> int(ldpkit.AAA((0, 1), epsilon=1.0, intervals=2).simulate([5, 3, 2]).sum())
        10
        """
        people, generator = check_counts(counts, self.table.bins + 1), resolve(rng).generator()
        drawn = np.zeros((check_whole(repeats, "repeats"), self.tally_size), np.int64)
        for row, each in zip(self.table.rows, people, strict=True):
            chances = np.array(row, float)
            drawn[:, :-1] += generator.multinomial(each, chances / chances.sum(), len(drawn))
        return drawn

    def _identity(self) -> tuple[object, ...]:
        return (*super()._identity(), self.table)
