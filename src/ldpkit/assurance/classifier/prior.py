"""What people hold before they report: a distribution on points, from records or from reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ldpkit.assurance.classifier.outputs import Outputs
from ldpkit.assurance.classifier.table import Sensitive, private_columns, record_table
from ldpkit.core.errors import InvalidInputError
from ldpkit.core.parameters import check_whole
from ldpkit.core.typing import Floats
from ldpkit.estimation.deconvolution import maximise

__all__ = ["Prior", "prior_from_reports", "relative_likelihoods"]

_LEAST_SHARE = 1e-12


@dataclass(frozen=True, eq=False)
class Prior:
    """A distribution of the sensitive columns on points.

    Parameters
    ----------
    names : tuple
        The sensitive columns.
    positions : tuple of int
        Where they stand in a record.
    points : array
        A row for each point.
    shares : array
        Their probabilities.
    """

    names: tuple[str | int, ...]
    positions: tuple[int, ...]
    points: Floats
    shares: Floats

    @classmethod
    def of_records(cls, rows: Floats, sensitive: Sequence[Sensitive], points: int) -> Prior:
        """Return how often the values of records occur; of many records, evenly spaced ones."""
        chosen = np.unique(np.linspace(0, len(rows) - 1, min(points, len(rows))).astype(int))
        positions = tuple(each.position for each in sensitive)
        found, counts = np.unique(rows[chosen][:, positions], axis=0, return_counts=True)
        return cls(tuple(each.name for each in sensitive), positions, found, counts / counts.sum())

    def laws(self, sensitive: Sequence[Sensitive]) -> list[Outputs]:
        """Return the law of each column's report, a row for each point."""
        return [each.column.outputs(self.points[:, axis]) for axis, each in enumerate(sensitive)]


def prior_from_reports(
    reports: Any, mechanisms: Mapping[Any, Any], *, columns: Sequence[str] | None = None, points: int = 256
) -> Prior:
    """Return the distribution of the sensitive columns under which privatized records are likeliest.

    It is found by EM on a grid of all sensitive columns together, so that what goes together
    stays together. Reports alone are enough: it is post-processing and costs no epsilon.

    Parameters
    ----------
    reports : table of numbers
        Records whose sensitive columns are privatized.
    mechanisms : mapping
        For each of these columns the mechanism that privatized it.
    columns : sequence of str, optional
        The names of the columns of an array.
    points : int
        So many points the grid has at most.

    Examples
    --------
    >>> import ldpkit
    >>> values = np.repeat([0.1, 0.8], [3000, 1000])
    >>> ogpm = ldpkit.OGPM((0, 1), epsilon=3)
    >>> reports = ogpm.values_of(ogpm.privatize(values, rng=ldpkit.random.seeded(1)))
    >>> prior = prior_from_reports(reports[:, None], {0: ogpm}, points=21)
    >>> round(float(prior.shares[prior.points[:, 0] > 0.5].sum()), 1)
    0.3
    """
    table = record_table(None, reports, columns)
    sensitive = private_columns(table, mechanisms, checked=False)
    each_has = max(int(check_whole(points, "points", least=2) ** (1 / len(sensitive)) + 1e-9), 2)
    grid = np.array(list(product(*(each.column.candidates(each_has) for each in sensitive))))
    prior = Prior(
        tuple(each.name for each in sensitive),
        tuple(each.position for each in sensitive),
        grid,
        np.full(len(grid), 1 / len(grid)),
    )
    likely = relative_likelihoods(table.values, sensitive, prior.laws(sensitive), np.zeros(len(grid)))
    epsilon = sum(each.column.mechanism.exact_epsilon() for each in sensitive)
    shares = maximise(likely.T, np.ones(table.n, np.int64), epsilon, smooth=False)
    kept = shares > _LEAST_SHARE
    return Prior(prior.names, prior.positions, grid[kept], shares[kept] / shares[kept].sum())


def relative_likelihoods(
    rows: Floats, sensitive: Sequence[Sensitive], laws: Sequence[Outputs], start: Floats
) -> Floats:
    """Return how likely each point of a prior (column) makes each privatized record (row), the likeliest 1.

    Parameters
    ----------
    rows : array
        Privatized records.
    sensitive, laws
        The columns that were privatized, and what each point of the prior is reported as.
    start : array
        The logarithm of what each point has before.
    """
    logs = np.broadcast_to(start, (len(rows), len(start))).copy()
    with np.errstate(divide="ignore"):
        for each, law in zip(sensitive, laws, strict=True):
            logs += np.log(_likelihoods(law, rows[:, each.position]))
    best = logs.max(axis=1, keepdims=True)
    lost = np.flatnonzero(~np.isfinite(best[:, 0]))
    if len(lost):
        raise InvalidInputError(
            f"the privatized record in row {lost[0]} cannot come from these mechanisms: check that its "
            "sensitive columns were privatized, with the same mechanisms"
        )
    return np.asarray(np.exp(logs - best))


def _likelihoods(law: Outputs, at: Floats) -> Floats:
    """Return the density or chance of each report (row) under each point of the prior (column)."""
    found = np.zeros((len(at), law.n))
    on = np.zeros(len(at), bool)
    if len(law.points):
        place = np.clip(np.searchsorted(law.points, at), 0, len(law.points) - 1)
        # A report that went through a file may differ from its point in the last digits.
        nearer = np.where(
            np.abs(law.points[np.maximum(place - 1, 0)] - at) < np.abs(law.points[place] - at),
            place - 1,
            place,
        )
        on = np.isclose(law.points[nearer], at, rtol=1e-12, atol=1e-12)
        found[on] = law.chances[:, nearer[on]].T
    if not law.discrete:
        for column in range(law.n):
            piece = np.searchsorted(law.edges[column], at, "right") - 1
            piece = np.clip(piece, 0, law.masses.shape[1] - 1)
            inside = (at >= law.edges[column, 0]) & (at <= law.edges[column, -1]) & ~on
            found[inside, column] = law.densities[column, piece[inside]]
    return found
