"""AAA: reports drawn from a table that is optimal for a descriptor of the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.checks import check_counts, check_whole
from ldpkit.core.domains.interval import IntervalLike
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.exact import WORD, log_up
from ldpkit.core.parameters import Parameter
from ldpkit.core.random import RandomSource, resolve
from ldpkit.core.typing import Counts, Floats, Indices, Reports
from ldpkit.mechanisms.adaptive import TIME_LIMIT
from ldpkit.mechanisms.adaptive.descriptor import check_descriptor
from ldpkit.mechanisms.adaptive.table import NoiseTable, check_size, worst_ratio
from ldpkit.mechanisms.base import register
from ldpkit.mechanisms.cells.law import Law, Placement
from ldpkit.mechanisms.numeric.mechanism import NumericMechanism

__all__ = ["AAA"]

INTERVALS = 16


@register
class AAA(NumericMechanism):
    """The advanced adaptive additive mechanism, corrected: the best noise for a descriptor.

    The value is rounded at random to one of intervals + 1 grid points, without bias, and the
    report is drawn from that point's row of a table. The table has the least expected
    variance for the descriptor among all unbiased epsilon-LDP tables on the grid. The
    descriptor only decides how good the mechanism is: private and unbiased it is for all
    data. The table is part of the mechanism's description, and is checked in integers
    wherever it is read, so a device need not trust the collector that made it.

    Utility: at N(0, 0.2^2) on [-1, 1] 7% below PM's variance for eps = 1, 35% for eps = 4;
    nothing is won for small epsilon, where Duchi's mechanism is as good.
    Runtime: O(1) a user, O(1) a report; memory O(intervals^2). A table takes some
    milliseconds for 16 intervals, seconds for 100.
    Citation: Wei et al. (PVLDB 2024), whose printed program is neither private nor unbiased.

    Parameters
    ----------
    domain : IntervalDomain or pair of float
        The interval of values.
    epsilon : float
        The privacy budget.
    intervals : int, optional
        The number of cells of the grid; 16 unless a descriptor says it.
    descriptor : sequence of float, optional
        The share of people at each of the intervals + 1 grid points; uniform if left out.
    noise_range : int, optional
        The most steps of noise that every grid point can get. Chosen if left out.
    outputs, weights : optional
        A finished table instead of a descriptor, as `spec` gives it.
    time_limit : float
        Seconds for the solver.
    cache : path, optional
        A directory in which tables are kept between runs.

    Examples
    --------
    >>> mechanism = AAA((0, 100), epsilon=2.0, descriptor=[0.1, 0.2, 0.4, 0.2, 0.1])
    >>> mechanism
    AAA((0, 100), epsilon=2, intervals=4)
    >>> 2 - 1e-6 < mechanism.exact_epsilon() <= 2
    True
    >>> mechanism.bias(30.0)
    0.0
    """

    name = "aaa"
    title = "Advanced adaptive additive mechanism"
    citation = (
        "Wei, Bao, Xiao, Yang, Ding: AAA: an adaptive mechanism for locally differentially private "
        "mean estimation. PVLDB 17(8), 2024"
    )
    default_estimator = "table_mean"
    words_per_report = 2
    declared = (
        *NumericMechanism.declared,
        Parameter("intervals", int, "the number of cells of the grid; 16 by default", default=None, least=1),
    )
    capabilities = NumericMechanism.capabilities | {"linear", "unbiased", "fitted"}

    table: NoiseTable

    def __init__(
        self,
        domain: IntervalLike,
        epsilon: float,
        *,
        intervals: int | None = None,
        descriptor: Sequence[float] | Floats | None = None,
        noise_range: int | None = None,
        outputs: Sequence[int] | None = None,
        weights: str | None = None,
        grid: int | None = None,
        time_limit: float = TIME_LIMIT,
        cache: str | Path | None = None,
    ) -> None:
        super().__init__(domain, epsilon, grid=grid)
        if (outputs is None) != (weights is None):
            raise InvalidParameterError("outputs and weights make a table together: give both or none")
        if outputs is not None and weights is not None:
            table = NoiseTable.from_text(outputs, weights)
            table.check(self.epsilon)
        else:
            size = INTERVALS if intervals is None else check_whole(intervals, "intervals")
            check_size(size + 1, size + 1)  # before anything is solved: a table has more outputs than inputs
            shares = np.full(size + 1, 1 / (size + 1)) if descriptor is None else check_descriptor(descriptor)
            from ldpkit.mechanisms.adaptive.solve import fitted_table

            table = fitted_table(
                shares, self.epsilon, noise_range=noise_range, time_limit=time_limit, cache=cache
            )
        check_size(table.bins + 1, len(table.outputs))
        if intervals is not None and intervals != table.bins:
            raise InvalidParameterError(
                f"intervals={intervals} need {intervals + 1} shares of a descriptor, got {table.bins + 1}"
            )
        self._freeze(table=table)

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
        return tuple(Fraction(output, self.table.bins) for output in self.table.outputs)

    @property
    def line(self) -> tuple[Fraction, Fraction]:
        return Fraction(0), Fraction(1)

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

    def variance(self, x: Any) -> Any:
        """Return the variance of a report: that of the two rows, and that of rounding to them."""
        row, upper = self._rows(x)
        spread = upper * (1 - upper) * (2 / self.table.bins) ** 2
        rows = (1 - upper) * self.table.variances[row] + upper * self.table.variances[row + 1]
        return self._shaped((rows + spread) * (self.domain.width / 2) ** 2, x)

    def bias(self, x: Any) -> Any:
        """Return zero: the mean of a report is the value, exactly, on the grid of values."""
        self.domain.check(np.atleast_1d(np.asarray(x, float)).ravel())
        return self._shaped(np.zeros(np.size(x)), x)

    def _rows(self, x: Any) -> tuple[Any, Floats]:
        """Return the row at or below each value, and how far on the way to the next one it is."""
        places = self.domain.encode(np.atleast_1d(np.asarray(x, float)).ravel(), steps=self.grid)
        scaled = places.astype(np.int64) * self.table.bins
        row = np.minimum(scaled // self.grid, self.table.bins - 1)
        return row, scaled / self.grid - row

    def _shaped(self, result: Floats, x: Any) -> Any:
        return result.reshape(np.shape(x)) if np.ndim(x) else float(result[0])

    def values_of(self, reports: Reports) -> Floats:
        numbers: Floats = self._from_share(self._atom_shares)[self.check_reports(reports)]
        return numbers

    @cached_property
    def _guide(self) -> np.ndarray[Any, np.dtype[np.uint16]]:
        """The output to begin with for each input and each value of a word's first 8 bits."""
        firsts = np.arange(256, dtype=np.uint64) << np.uint64(56)
        guide = [np.searchsorted(row, firsts, "right") - 1 for row in self.table.bounds]
        return np.array(guide).astype(np.uint16)

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
        >>> int(AAA((0, 1), epsilon=1.0, intervals=2).simulate([5, 3, 2]).sum())
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
