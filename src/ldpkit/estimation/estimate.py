"""Estimates: frequencies that carry their error bars and how they were made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.checks import check_fraction
from ldpkit.core.domains.categorical import CategoricalDomain
from ldpkit.core.errors import InvalidParameterError, MissingDependencyError, OutOfDomainError
from ldpkit.core.typing import Counts, Floats, Label
from ldpkit.estimation.consistency import CONSISTENCY
from ldpkit.estimation.intervals import Region
from ldpkit.estimation.noise import Noise

__all__ = ["Estimate", "about_whom"]

_AT_ONCE = 4096  # records that are made together
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
        The estimate before any post-processing.
    noise : Noise
        What post-processing needs to know of the noise.
    region : Region
        Which frequencies the reports do not refute; intervals are made from it.
    population : bool
        False: standard errors and intervals are about the people who reported. True:
        about the population that they were drawn from.
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
    region: Region = field(repr=False)
    population: bool = False
    diagnostics: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        for name in ("values", "stderr", "unbiased"):
            array = np.array(getattr(self, name), float)
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @property
    def labels(self) -> list[Label]:
        """The labels in the order of the values."""
        return list(self.domain.labels)

    @property
    def about(self) -> str:
        """Whose frequencies these errors and intervals are about, in words."""
        return about_whom(self.n, population=self.population)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know before trusting the numbers."""
        return tuple(self.diagnostics.get("warnings", ()))

    @property
    def counts(self) -> Floats:
        """The estimated number of people for each value."""
        return self.values * self.n

    def interval(
        self, level: float = 0.95, *, simultaneous: bool = False, population: bool | None = None
    ) -> tuple[Floats, Floats]:
        """Return lower and upper ends of confidence intervals.

        An interval holds the frequencies within 0..1 that the reports do not refute. It
        is made from the exact law of the counts, so it covers the true frequency in at
        least `level` of all collections, also of few reports and of values that nobody
        holds. It is not symmetric, and `stderr` is not its half.

        Parameters
        ----------
        level : float
            The coverage, of each interval alone.
        simultaneous : bool
            True widens the intervals (Bonferroni) so that all of them together cover
            the truth with probability `level`.
        population : bool or None
            False: the frequency among the people who reported. True: that in the
            population they were drawn from. None is as the estimate was made.

        Returns
        -------
        tuple of arrays
            The ends. An interval always holds the value that it stands beside: it is
            extended to where post-processing moved it, and leaves 0..1 only to reach an
            unbiased value that does.

        Examples
        --------
        >>> import ldpkit
        >>> estimate = ldpkit.Tally(ldpkit.OUE(3, epsilon=4), 50, [0, 12, 14]).estimate()
        >>> low, high = estimate.interval()
        >>> low.round(2).tolist(), high.round(2).tolist()
        ([-0.04, 0.28, 0.36], [0.08, 0.72, 0.82])
        >>> estimate.consistent("norm_sub").interval()[0].round(2).tolist()
        [0.0, 0.28, 0.36]
        """
        error = 1 - check_fraction(level, "level")
        if simultaneous:
            error /= len(self.values)
        about = self.population if population is None else population
        low, high = self.region.ends(error, population=about)
        return np.minimum(low, self.values), np.maximum(high, self.values)

    def consistent(self, method: str) -> Estimate:
        """Return the estimate post-processed by a consistency method, such as "norm_sub"."""
        step = CONSISTENCY.get(method)
        made_by = {**self.made_by, "consistency": method}
        return replace(self, values=step(self.unbiased[None, :], self.noise)[0], made_by=made_by)

    def columns(
        self, level: float = 0.95, *, simultaneous: bool = False, population: bool | None = None
    ) -> dict[str, list[Any]]:
        """Return value, frequency, stderr, low, high and count, a list for each."""
        low, high = self.interval(level, simultaneous=simultaneous, population=population)
        numbers = {"frequency": self.values, "stderr": self.stderr, "low": low, "high": high}
        lists = {name: column.tolist() for name, column in numbers.items()}
        return {"value": self.labels, **lists, "count": self.counts.tolist()}

    def rows(
        self,
        level: float = 0.95,
        *,
        simultaneous: bool = False,
        population: bool | None = None,
        at: Sequence[int] | Counts | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Yield one record for each value: value, frequency, stderr, low, high, count.

        Records are made as they are asked for: a million of them take a gigabyte.

        Parameters
        ----------
        level, simultaneous, population
            As of `interval`.
        at : sequence of int, optional
            The indices of the values, in the order of the records; by default all.
        """
        low, high = self.interval(level, simultaneous=simultaneous, population=population)
        numbers = {"frequency": self.values, "stderr": self.stderr, "low": low, "high": high}
        labels, chosen = self.domain.labels, np.arange(len(self)) if at is None else np.asarray(at, np.intp)
        for start in range(0, len(chosen), _AT_ONCE):
            some = chosen[start : start + _AT_ONCE]
            columns = {name: column[some].tolist() for name, column in numbers.items()}
            columns["count"] = (self.values[some] * self.n).tolist()
            for index, *row in zip(some.tolist(), *columns.values(), strict=True):
                yield {"value": labels[index], **dict(zip(columns, row, strict=True))}

    def to_frame(self, backend: str = "auto", *, level: float = 0.95) -> Any:
        """Return the rows as a data frame that narwhals understands.

        Parameters
        ----------
        backend : {"auto", "polars", "pandas", "pyarrow"}
            The library; "auto" takes the first of these that is installed.
        level : float
            The coverage of the intervals.
        """
        return _frame(self.columns(level), backend)

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
        more.append(f"  +- one standard error, for the frequencies {self.about}")
        more.extend(f"  warning: {warning}" for warning in self.warnings)
        how = ", ".join(f"{key}={value}" for key, value in self.made_by.items())
        head = f"Estimate of {len(self)} frequencies from n={self.n} reports ({how})"
        return "\n".join([head, *shown, *more])


def about_whom(n: int, *, population: bool) -> str:
    """Return whose frequencies are meant, for captions.

    Examples
    --------
    >>> about_whom(4000, population=False), about_whom(4000, population=True)
    ('of these 4000 people', 'of the population they were drawn from')
    """
    return "of the population they were drawn from" if population else f"of these {n} people"


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
