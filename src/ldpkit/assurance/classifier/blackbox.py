"""Models that can only be asked: a box in which the label all but never changes, and what follows.

A box is accepted if n uniform points of it all keep the label, with n so large that a box
in which more than a share tau fails would pass with probability alpha at most. Boxes grow;
each test has fresh points, and the search ends after as many refused boxes as there are
sides and one. So at most that many boxes that fail more often can ever be tested before a
false acceptance, and alpha is omega divided by their number: the confidence 1 - omega holds
over the whole search. A box that was refused is never returned.

The points are uniform and reports are not. So the failing share is charged with the densest
part of the box: the mass that the reports' law can have in a part of that volume.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldpkit.assurance.classifier.columns import UNMERGED, laws_around
from ldpkit.assurance.classifier.outputs import Outputs
from ldpkit.assurance.classifier.table import RecordTable, Sensitive, private_columns, record_table
from ldpkit.core.errors import InvalidInputError
from ldpkit.core.parameters import check_fraction, check_whole
from ldpkit.core.random import RandomSource, seeded
from ldpkit.core.typing import Floats

__all__ = ["RobustBox", "densest_mass", "robust_box", "zero_failure_tests"]

_MOST_PARTS = 1 << 20


@dataclass(frozen=True)
class RobustBox:
    """A box around a record in which at most a share tau of the volume changes the label.

    Parameters
    ----------
    names : tuple
        The sensitive columns.
    low, high : tuple of float
        The ends of the box; equal ones if not even the smallest box was accepted.
    radius : float
        Of the largest accepted cube around the record, as a share of the columns' ranges.
    tau, omega : float
        The share that may fail, and the probability that this is wrong.
    calls : int
        How many rows the model was asked about.
    record : tuple of float
        The values of the sensitive columns.

    Examples
    --------
    >>> import ldpkit
    >>> def is_old(rows):
    ...     return (rows[:, 0] >= 0.2).astype(int)
    >>> ogpm = ldpkit.OGPM((0, 1), epsilon=4)
    >>> box = robust_box(is_old, [[0.9]], {0: ogpm}, rng=ldpkit.random.seeded(1))
    >>> 0.2 <= box.low[0] < 0.3
    True
    """

    names: tuple[str | int, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    radius: float
    tau: float
    omega: float
    calls: int
    record: tuple[float, ...]

    def bound(self, mechanisms: Mapping[Any, Any]) -> float:
        """Return a lower bound on the utility of any mechanisms, with confidence 1 - omega.

        The box does not depend on them, so one search serves all mechanisms and epsilons.
        """
        # Unmerged: merging would lower the highest densities.
        laws = laws_around(self.names, self.record, mechanisms, UNMERGED)
        # Points with a chance of their own have no volume, so uniform points say nothing of them.
        inside = [
            float(np.interp(high, law.edges[0], _sums(law)) - np.interp(low, law.edges[0], _sums(law)))
            if not law.discrete
            else 0.0
            for law, low, high in zip(laws, self.low, self.high, strict=True)
        ]
        volume = math.prod(high - low for low, high in zip(self.low, self.high, strict=True))
        if not volume or not all(inside):
            return 0.0
        worst = densest_mass(laws, self.low, self.high, self.tau * volume)
        slack = sum(law.slack for law in laws) * 2
        return max(math.prod(inside) - worst - slack, 0.0)


def _sums(law: Outputs) -> Floats:
    return np.concatenate([[0.0], np.cumsum(law.masses[0])])


def densest_mass(
    laws: Sequence[Outputs], low: Sequence[float], high: Sequence[float], volume: float
) -> float:
    """Return the most probability that a part of a box with a given volume can have.

    The density is a product of steps, so the parts of equal density are taken from the
    highest on until the volume is full.

    Examples
    --------
    >>> import ldpkit
    >>> from ldpkit.assurance.classifier.columns import as_private_column
    >>> law = as_private_column(ldpkit.get("ogpm", (0, 1), epsilon=4)).outputs(np.array([0.5]))
    >>> inside = float(law.between(np.array([0.2]), np.array([0.8]))[0])
    >>> round(inside - densest_mass([law], [0.2], [0.8], 0.01 * 0.6), 5)     # the thesis says 0.93641
    0.90153
    """
    most = max(2, int(_MOST_PARTS ** (1 / len(laws))))
    volumes, densities = np.ones(1), np.ones(1)
    for law, start, end in zip(laws, low, high, strict=True):
        edges = np.clip(law.edges[0], start, end)
        widths, heights = np.diff(edges), law.densities[0]
        widths, heights = widths[widths > 0], heights[widths > 0]
        order = np.argsort(-heights)
        widths, heights = widths[order], heights[order]
        if len(widths) > most:  # groups of similar density, each taken at its highest
            firsts = np.unique(np.linspace(0, len(widths), most + 1).astype(int)[:-1])
            widths, heights = np.add.reduceat(widths, firsts), heights[firsts]
        volumes = np.multiply.outer(volumes, widths).ravel()
        densities = np.multiply.outer(densities, heights).ravel()
    order = np.argsort(-densities)
    taken = np.minimum(np.cumsum(volumes[order]), volume)
    return float(np.diff(np.concatenate([[0.0], taken])) @ densities[order])


def zero_failure_tests(tau: float, alpha: float) -> int:
    """Return how many points without a failure show that at most a share tau fails.

    Examples
    --------
    >>> zero_failure_tests(0.01, 0.05)
    299
    """
    return math.ceil(math.log(alpha) / math.log1p(-tau))


def robust_box(
    model: Any,
    record: Any,
    mechanisms: Mapping[Any, Any],
    *,
    columns: Sequence[str] | None = None,
    tau: float = 0.01,
    omega: float = 0.05,
    steps: int = 32,
    rng: RandomSource | None = None,
) -> RobustBox:
    """Return a box around one record in which a model that can only be asked keeps its label.

    First a cube grows in equal steps of the columns' ranges until it is refused; then each
    side of it moves outwards until it is refused.

    Parameters
    ----------
    model : object with predict, or callable
        What gives a label for each row.
    record : table of one row
        The record.
    mechanisms : mapping
        For each sensitive column a numeric mechanism, whose domain is its range.
    columns : sequence of str, optional
        The names of the columns of an array.
    tau, omega : float
        The share of the box that may fail, and the probability that more does.
    steps : int
        In how many steps a side crosses the range of its column.
    rng : RandomSource, optional
        By default the points are the same every time, since a simulation protects nobody.

    Examples
    --------
    >>> import ldpkit
    >>> def inside(rows):
    ...     return ((rows[:, 0] >= 0.2) & (rows[:, 0] <= 0.8)).astype(int)
    >>> ogpm = ldpkit.get("ogpm", (0, 1), epsilon=4)
    >>> box = robust_box(inside, [[0.5]], {0: ogpm}, rng=ldpkit.random.seeded(1))
    >>> 0.19 < box.low[0] < 0.25, 0.75 < box.high[0] < 0.81, 0.8 < box.bound({0: ogpm}) < 0.946
    (True, True, True)
    """
    check_fraction(tau, "tau")
    check_fraction(omega, "omega")
    check_whole(steps, "steps")
    table = record_table(model, record, columns)
    if table.n != 1:
        raise InvalidInputError(f"a box is around one record, got {table.n}: give one row")
    sensitive = private_columns(table, mechanisms)
    search = _BoxTests(table, sensitive, tau, omega, (rng or seeded(0)).generator())
    centre = search.centre
    widths = np.array([each.column.mechanism.domain.width for each in sensitive])
    least = np.array([each.column.mechanism.domain.low for each in sensitive])
    step = widths / steps
    low, high, radius = centre.copy(), centre.copy(), 0.0
    for count in range(1, steps + 1):
        wider = np.maximum(centre - count * step, least), np.minimum(centre + count * step, least + widths)
        if not search.accepts(*wider):
            break
        (low, high), radius = wider, count / steps
    open_sides = [(axis, side) for axis in range(len(sensitive)) for side in (0, 1)] if radius else []
    while open_sides:
        for axis, side in tuple(open_sides):
            first, last = low.copy(), high.copy()
            if side == 0:
                first[axis] = max(first[axis] - step[axis], least[axis])
            else:
                last[axis] = min(last[axis] + step[axis], least[axis] + widths[axis])
            stuck = first[axis] == low[axis] and last[axis] == high[axis]
            if stuck or not search.accepts(first, last):
                open_sides.remove((axis, side))
            else:
                low, high = first, last
    return RobustBox(
        tuple(each.name for each in sensitive),
        tuple(low.tolist()),
        tuple(high.tolist()),
        radius,
        tau,
        omega,
        search.calls,
        tuple(centre.tolist()),
    )


class _BoxTests:
    """The tests of one search: fresh uniform points for each box."""

    def __init__(
        self,
        table: RecordTable,
        sensitive: Sequence[Sensitive],
        tau: float,
        omega: float,
        generator: np.random.Generator,
    ) -> None:
        self._table, self._positions = table, [each.position for each in sensitive]
        self._label = table.predict(table.values)[0]
        self._points = zero_failure_tests(tau, omega / (2 * len(sensitive) + 1))
        self._generator, self.calls = generator, 1
        self.centre = table.values[0, self._positions].copy()

    def accepts(self, low: Floats, high: Floats) -> bool:
        """Whether all points of a new sample keep the label."""
        rows = np.repeat(self._table.values, self._points, axis=0)
        shares = self._generator.random((self._points, len(low)))
        rows[:, self._positions] = low + shares * (high - low)
        self.calls += self._points
        return bool((self._table.predict(rows) == self._label).all())
