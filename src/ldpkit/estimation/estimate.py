"""Estimates: frequencies that carry their error bars and how they were made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import Any

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.checks import check_fraction
from ldpkit.core.domain import CategoricalDomain
from ldpkit.core.errors import InvalidParameterError, MissingDependencyError, OutOfDomainError
from ldpkit.core.typing import Floats, Label
from ldpkit.estimation.consistency import CONSISTENCY
from ldpkit.estimation.noise import Noise

__all__ = ["Estimate"]

_BACKENDS = ("polars", "pandas", "pyarrow")


@dataclass(frozen=True, eq=False)
class Estimate:
    """Estimated frequencies of all values of a domain.

    Parameters
    ----------
    values : array
        The estimated frequencies.
    stderr : array
        The standard error of each, of the unbiased estimate.
    n : int
        The number of reports.
    domain : CategoricalDomain
        What the values are called.
    made_by : mapping
        Mechanism, parameters and estimator.
    unbiased : array
        The estimate before any post-processing; intervals are centred on it.
    noise : Noise
        What post-processing needs to know of the noise.
    centre : array, optional
        Where the intervals are centred; `unbiased` unless the estimator knows better.
    diagnostics : mapping
        How an iterative estimator got there: iterations, converged, log_likelihood and
        more; empty for others.

    Examples
    --------
    >>> import ldpkit
    >>> oracle = ldpkit.GRR(["no", "yes"], epsilon=2.0)
    >>> estimate = oracle.tally([1] * 700 + [0] * 300).estimate()
    >>> round(estimate["yes"], 3), round(float(estimate.stderr[1]), 3)
    (0.763, 0.013)
    """

    values: Floats
    stderr: Floats
    n: int
    domain: CategoricalDomain
    made_by: Mapping[str, Any]
    unbiased: Floats = field(repr=False)
    noise: Noise = field(repr=False)
    centre: Floats | None = field(default=None, repr=False)
    diagnostics: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if self.centre is None:
            object.__setattr__(self, "centre", self.unbiased)
        for name in ("values", "stderr", "unbiased", "centre"):
            array = np.array(getattr(self, name), float)
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @property
    def labels(self) -> list[Label]:
        """The labels in the order of the values."""
        return list(self.domain.labels)

    @property
    def counts(self) -> Floats:
        """The estimated number of people for each value."""
        return self.values * self.n

    def interval(self, level: float = 0.95, *, simultaneous: bool = False) -> tuple[Floats, Floats]:
        """Return lower and upper ends of confidence intervals.

        Parameters
        ----------
        level : float
            The coverage, of each interval alone.
        simultaneous : bool
            True widens the intervals (Bonferroni) so that all of them together cover
            the truth with probability `level`.

        Returns
        -------
        tuple of arrays
            The ends, cut to 0..1. They belong to the unbiased estimate: post-processing
            moves a value but does not tell how sure it is.
        """
        error = 1 - check_fraction(level, "level")
        if simultaneous:
            error /= len(self.values)
        reach = -NormalDist().inv_cdf(error / 2) * self.stderr
        centre = np.asarray(self.centre)
        return np.clip(centre - reach, 0, 1), np.clip(centre + reach, 0, 1)

    def consistent(self, method: str) -> Estimate:
        """Return the estimate post-processed by a consistency method, such as "norm_sub"."""
        step = CONSISTENCY.get(method)
        made_by = {**self.made_by, "consistency": method}
        return replace(self, values=step(self.unbiased[None, :], self.noise)[0], made_by=made_by)

    def rows(self, level: float = 0.95, *, simultaneous: bool = False) -> Iterator[dict[str, Any]]:
        """Yield one record for each value: value, frequency, stderr, low, high, count."""
        low, high = self.interval(level, simultaneous=simultaneous)
        for index, label in enumerate(self.domain.labels):
            yield {
                "value": label,
                "frequency": float(self.values[index]),
                "stderr": float(self.stderr[index]),
                "low": float(low[index]),
                "high": float(high[index]),
                "count": float(self.counts[index]),
            }

    def to_frame(self, backend: str = "auto", *, level: float = 0.95) -> Any:
        """Return the rows as a data frame that narwhals understands.

        Parameters
        ----------
        backend : {"auto", "polars", "pandas", "pyarrow"}
            The library; "auto" takes the first of these that is installed.
        level : float
            The coverage of the intervals.
        """
        rows = list(self.rows(level))
        columns = {name: [row[name] for row in rows] for name in rows[0]}
        return _frame(columns, backend)

    @cached_property
    def _position(self) -> dict[Label, int]:
        return {label: index for index, label in enumerate(self.domain.labels)}

    def __getitem__(self, label: Label) -> float:
        try:
            return float(self.values[self._position[label]])
        except (KeyError, TypeError):
            raise OutOfDomainError(f"value {label!r} is not in the domain {self.domain}") from None

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        order = np.argsort(-self.values, kind="stable")[:5]
        shown = [
            f"  {self.domain.labels[index]!s:>12}  {self.values[index]:8.4f} +- {self.stderr[index]:.4f}"
            for index in order
        ]
        more = [f"  ... and {len(self) - len(order)} more"] if len(self) > len(order) else []
        if "converged" in self.diagnostics:
            ending = "converged" if self.diagnostics["converged"] else "stopped before it converged"
            more.append(f"  {ending} after {self.diagnostics['iterations']} iterations")
        how = ", ".join(f"{key}={value}" for key, value in self.made_by.items())
        head = f"Estimate of {len(self)} frequencies from n={self.n} reports ({how})"
        return "\n".join([head, *shown, *more])


def _frame(columns: dict[str, list[Any]], backend: str) -> Any:
    import importlib

    if backend != "auto" and backend not in _BACKENDS:
        raise InvalidParameterError(f"backend must be auto, {', '.join(_BACKENDS)}, got {backend!r}")
    for library in _BACKENDS if backend == "auto" else (backend,):
        try:
            module = importlib.import_module(library)
        except ImportError:
            continue
        return module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    raise MissingDependencyError("polars, pandas or pyarrow", "to_frame()", "frames")
