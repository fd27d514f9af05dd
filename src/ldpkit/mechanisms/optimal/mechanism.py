"""Optimal: reports drawn from the table that a linear program finds best among all epsilon-LDP ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.domains.interval import IntervalLike, as_interval
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.parameters import EPSILON, Parameter, check_whole
from ldpkit.core.typing import Floats
from ldpkit.mechanisms.base import register
from ldpkit.mechanisms.cells.mechanism import GRID_STEPS
from ldpkit.mechanisms.cells.widths import POWER, check_prior
from ldpkit.mechanisms.optimal import OUTPUT_STEPS, TIME_LIMIT
from ldpkit.mechanisms.tables.mechanism import TableMechanism
from ldpkit.mechanisms.tables.table import ReportTable

__all__ = ["Optimal"]

_SAME = 1e-9  # rows that differ by less, nobody can tell apart
_INTERVALS = Parameter(
    "intervals",
    int,
    "the number of cells of the grid; by default 16 up to epsilon 2, 32 up to 4.5 and 64 beyond",
    default=None,
    least=1,
)


@register
class Optimal(TableMechanism):
    """The mechanism with the least worst-case error among all that are epsilon-LDP, up to its grid.

    A linear program over all epsilon-LDP tables on a grid of inputs finds it; values between
    two grid points get either's row at random. No assumption on its shape is made: OGPM is
    the best of those that have a uniform floor, and this one beats it. The table is part of
    the mechanism's description, so whoever reads it solves nothing.

    Utility: on [0, 1] the mean |y - x| is at most 0.3164 at eps=1 and 0.2016 at eps=2, within
    0.1% and 0.5% of what is possible; OGPM's is 0.3775 and 0.2689. For squared error and
    eps <= ln(3 + 2 sqrt 2) it is compressed_duchi. Beyond eps of about 9 rounding to the grid
    costs more than is won: take OGPM. For a single report only; it is biased.
    Runtime: O(1) a user, O(1) a report; memory O(intervals * outputs). A table takes a tenth
    of a second for 16 intervals, and seconds for 64.
    Citation: the program of Zheng, section 5.2, over all mechanisms instead of piecewise ones.

    Parameters
    ----------
    domain : IntervalDomain or pair of float
        The interval of values.
    epsilon : float
        The privacy budget.
    power : float
        The power of |y - x| whose mean is made small: 1 for absolute, 2 for squared error.
    intervals : int, optional
        The number of cells of the grid, at most 128: 16, 32 or 64 by epsilon if left out.
    outputs, weights : optional
        A finished table, as `spec` gives it.
    grid : int
        The steps of the input grid, a power of two.
    time_limit : float
        Seconds for the solver.

    Examples
    --------
    >>> import ldpkit
    >>> mechanism = ldpkit.get("optimal", (0, 1), epsilon=1)
    >>> mechanism
    Optimal((0, 1), epsilon=1, power=1, intervals=16)
    >>> x = np.linspace(0, 1, 129)
    >>> [float(each.error(x).max().round(4)) for each in (mechanism, ldpkit.get("ogpm", (0, 1), epsilon=1))]
    [0.3164, 0.3775]
    >>> 1 - 1e-6 < mechanism.exact_epsilon() <= 1
    True
    """

    name = "optimal"
    title = "Minimax optimal mechanism"
    citation = (
        "Zheng: optimal piecewise-based mechanisms for bounded numerical data, dissertation, chapter 5; "
        "the program over all mechanisms is ours"
    )
    declared: ClassVar[tuple[Parameter, ...]] = (EPSILON, POWER, _INTERVALS, GRID_STEPS)
    power: float

    def __init__(
        self,
        domain: IntervalLike,
        epsilon: float,
        *,
        power: float = 1.0,
        intervals: int | None = None,
        outputs: Sequence[int] | None = None,
        weights: str | None = None,
        grid: int | None = None,
        time_limit: float = TIME_LIMIT,
    ) -> None:
        super().__init__(domain, epsilon, grid=grid)
        self._freeze(power=POWER.check(power))
        table = self._given(outputs, weights)
        if table is None:
            from ldpkit.mechanisms.optimal.making import best_in_worst_case, usual_intervals

            size = usual_intervals(self.epsilon) if intervals is None else check_whole(intervals, "intervals")
            table = best_in_worst_case(self.epsilon, self.power, size, time_limit)
        self._keep(table, intervals)

    def _given(self, outputs: Sequence[int] | None, weights: str | None) -> ReportTable | None:
        table = super()._given(outputs, weights)
        if table is not None and not 0 <= table.outputs[0] <= table.outputs[-1] <= OUTPUT_STEPS:
            raise InvalidParameterError(
                f"the outputs of {self.name} lie within the interval, from 0 to 2**30 steps, "
                f"got {table.outputs[0]} to {table.outputs[-1]}"
            )
        return table

    @classmethod
    def for_prior(
        cls,
        domain: IntervalLike,
        epsilon: float,
        values: Sequence[float] | Floats,
        weights: Sequence[float] | Floats | None = None,
        *,
        power: float = 1.0,
        intervals: int | None = None,
        time_limit: float = TIME_LIMIT,
    ) -> Self:
        """Return the mechanism with the least mean error over a prior.

        Parameters
        ----------
        domain : IntervalDomain or pair of float
            The interval of values.
        epsilon : float
            The privacy budget.
        values : sequence of float
            Where values may be; public, never those of the people who report.
        weights : sequence of float, optional
            How likely each of them is; equally by default.
        power : float
            The power of |y - x| whose mean is made small.
        intervals : int, optional
            The number of cells of the grid.
        time_limit : float
            Seconds for the solver.

        Examples
        --------
        >>> ages, weights = [20, 30, 40], [0.25, 0.5, 0.25]
        >>> mechanism = Optimal.for_prior((0, 100), 3.0, ages, weights)
        >>> round(float(mechanism.error(ages) @ weights), 3)
        1.132
        """
        from ldpkit.mechanisms.optimal.making import best_for_prior, usual_intervals

        interval, budget, order = as_interval(domain), EPSILON.check(epsilon), POWER.check(power)
        points, shares = check_prior(interval, values, weights)
        size = usual_intervals(budget) if intervals is None else check_whole(intervals, "intervals")
        table = best_for_prior(budget, order, size, points, shares, time_limit)
        return cls(interval, budget, power=order, outputs=table.outputs, weights=table.to_text())

    @property
    def output_steps(self) -> int:
        return OUTPUT_STEPS

    @cached_property
    def indistinct(self) -> tuple[tuple[float, float], ...]:
        shares, rows = self.table.shares, len(self.table.rows)
        same = np.abs(np.diff(shares, axis=0)).max(axis=1) < _SAME
        ends = np.flatnonzero(np.diff(np.concatenate([[False], same, [False]]).astype(np.int8)))
        places = self._from_share(ends / (rows - 1))
        return tuple((float(low), float(high)) for low, high in places.reshape(-1, 2))
