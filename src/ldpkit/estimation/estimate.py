"""Estimates: frequencies that carry their error bars and how they were made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.domains.categorical import CategoricalDomain
from ldpkit.core.errors import OutOfDomainError
from ldpkit.core.numbertext import interval_text
from ldpkit.core.parameters import check_fraction
from ldpkit.core.provenance import UNKNOWN, Provenance
from ldpkit.core.results import TOP
from ldpkit.core.tables import Table, cell_text
from ldpkit.core.typing import Counts, Floats, Label
from ldpkit.estimation.consistency import CONSISTENCY, Noise
from ldpkit.estimation.from_reports import FromReports
from ldpkit.estimation.intervals import Region
from ldpkit.mechanisms.base import Mechanism

if TYPE_CHECKING:
    from ldpkit.estimation.sums import ShareOf

__all__ = ["Estimate", "Order", "about_whom"]

_LONGEST_SHOWN = 60  # characters of a label, in a line
_AT_ONCE = 1 << 14  # records that are made together

Order = Literal["value", "frequency"]
"""In which order rows stand."""


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(FromReports):
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
    raw : array
        What the estimator gave, before any post-processing.
    unbiased : array
        The frequencies by matrix inversion, unbiased whatever the estimator is; of several
        mechanisms, the average that is best for rare values.
    noise : Noise
        What post-processing needs to know of the noise.
    region : Region
        Which frequencies the reports do not refute; intervals are made from it.
    mechanisms : tuple of Mechanism
        What made the reports.
    population : bool
        False: standard errors and intervals are about the people who reported. True:
        about the population that they were drawn from.
    diagnostics : mapping
        How an iterative estimator got there: iterations, converged, log_likelihood and
        more; empty for others.
    provenance : Provenance
        What is recorded of how the reports were made.
    level : float
        The coverage of the intervals in the rows; `with_level` changes it.
    simultaneous : bool
        Whether all these intervals together have that coverage.

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
    raw: Floats
    unbiased: Floats
    noise: Noise
    region: Region
    mechanisms: tuple[Mechanism, ...]
    population: bool = False
    diagnostics: Mapping[str, Any] = field(default_factory=dict)
    provenance: Provenance = UNKNOWN
    level: float = 0.95
    simultaneous: bool = False

    kind: ClassVar[str] = "frequencies"

    def __post_init__(self) -> None:
        for name in ("values", "stderr", "raw", "unbiased"):
            array = np.array(getattr(self, name), float)
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @property
    def labels(self) -> list[Label]:
        """The labels in the order of the values."""
        return list(self.domain.labels)

    @property
    def whose(self) -> str:
        """Whose frequencies these errors and intervals are about, in words."""
        return about_whom(self.n, population=self.population)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know before trusting the numbers."""
        return (*self.diagnostics.get("warnings", ()), *self._impossible, *super().warnings)

    @cached_property
    def _impossible(self) -> tuple[str, ...]:
        """Why no people can have made the counts, where that is so."""
        from ldpkit.estimation.intervals import CountRegion
        from ldpkit.estimation.plausible import impossible_counts

        if not isinstance(self.region, CountRegion):
            return ()
        found = (impossible_counts(tally) for tally in self.region.tallies)
        return tuple(each for each in found if each is not None)

    @property
    def counts(self) -> Floats:
        """The estimated number of people for each value."""
        return self.values * self.n

    def interval(
        self,
        level: float | None = None,
        *,
        simultaneous: bool | None = None,
        population: bool | None = None,
    ) -> tuple[Floats, Floats]:
        """Return lower and upper ends of confidence intervals.

        An interval holds the frequencies within 0..1 that the reports do not refute. It
        is made from the exact law of the counts, so it covers the true frequency in at
        least `level` of all collections, also of few reports and of values that nobody
        holds. It is not symmetric, and `stderr` is not its half.

        Parameters
        ----------
        level : float, optional
            The coverage, of each interval alone; 0.95 unless `with_level` changed it.
        simultaneous : bool, optional
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
        error = 1 - check_fraction(self.level if level is None else level, "level")
        if self.simultaneous if simultaneous is None else simultaneous:
            error /= len(self.values)
        about = self.population if population is None else population
        if (error, about) not in self._known_ends:
            self._known_ends[error, about] = self.region.ends(error, population=about)
        low, high = self._known_ends[error, about]
        return np.minimum(low, self.values), np.maximum(high, self.values)

    @cached_property
    def _known_ends(self) -> dict[tuple[float, bool], tuple[Floats, Floats]]:
        """The ends that were asked for: table, page, figure and JSON of an estimate ask for the same ones."""
        return {}

    def share_of(self, labels: Iterable[Label]) -> ShareOf:
        """Return the share of people who hold one of several values, with its own error and interval.

        Errors of single frequencies depend on each other, so their intervals do not add up.

        Examples
        --------
        >>> import ldpkit
        >>> oracle = ldpkit.GRR(["bus", "tram", "car"], epsilon=2)
        >>> found = ldpkit.Tally(oracle, 100, [50, 30, 20]).estimate().share_of(["bus", "tram"])
        >>> round(found.share, 3), round(found.low, 3), round(found.high, 3)
        (0.863, 0.77, 0.96)
        """
        from ldpkit.estimation.sums import share_of

        return share_of(self, labels)

    def consistent(self, method: str) -> Estimate:
        """Return the estimate post-processed by a consistency method, such as "norm_sub"."""
        step = CONSISTENCY.get(method)
        made_by = {**self.made_by, "consistency": method}
        return replace(self, values=step(self.raw[None, :], self.noise)[0], made_by=made_by)

    def with_level(self, level: float, *, simultaneous: bool = False) -> Estimate:
        """Return the same estimate, whose rows have intervals of another coverage.

        Examples
        --------
        >>> import ldpkit
        >>> estimate = ldpkit.Tally(ldpkit.OUE(3, epsilon=4), 50, [0, 12, 14]).estimate()
        >>> [round(row["high"], 2) for row in estimate.with_level(0.99, simultaneous=True).rows()]
        [0.16, 0.88, 0.98]
        """
        return replace(self, level=check_fraction(level, "level"), simultaneous=simultaneous)

    def answer(self, unit: str = "") -> str:
        """Return the share of the most frequent value as a sentence, and how many may be as frequent."""
        low, high = self.interval()
        first = int(np.argmax(self.values))
        held = interval_text(
            float(self.values[first]), float(low[first]), float(high[first]), share=True, level=self.level
        )
        rivals = int((high >= low[first]).sum()) - 1
        noise = ""
        if rivals:
            noise = f"; {rivals:,} other{'s' * (rivals > 1)} may be as frequent"
        people = f"these {self.n:,} people"
        whom = f"the population that {people} were drawn from" if self.population else people
        label = cell_text(self.domain.labels[first])
        return f"The most frequent of {len(self):,} values is {label}: {held} of {whom}{noise}."

    @property
    def title(self) -> str:
        """The title above the table."""
        return f"Estimate of {len(self)} frequencies from n={self.n} reports"

    @property
    def caption(self) -> str:
        """What the intervals cover, and what made the reports."""
        kind = "simultaneous intervals" if self.simultaneous else "intervals"
        consistency = self.made_by.get("consistency")
        parts = [
            f"{100 * self.level:g}% {kind} for the frequencies {self.whose}",
            *(["assuming that one population answered all mechanisms"] if len(self.mechanisms) > 1 else []),
            *([f"consistency {consistency}"] if consistency else []),
        ]
        return self.captioned(*parts)

    def rows(self, top: int | None = None, *, sort: Order = "value") -> list[dict[str, Any]]:
        """Return one record for each value: value, frequency, stderr, low, high, count.

        Parameters
        ----------
        top : int, optional
            Only the most frequent.
        sort : {"value", "frequency"}
            In which order.
        """
        made = []
        for columns in self.iter_columns(top, sort=sort):
            numbers = [column.tolist() for name, column in columns.items() if name != "value"]
            cells = zip(columns["value"], *numbers, strict=True)
            made += [dict(zip(columns, row, strict=True)) for row in cells]
        return made

    def iter_columns(self, top: int | None = None, *, sort: Order = "value") -> Iterator[dict[str, Any]]:
        """Yield the records of `rows` by column, some at a time: a million of them take a gigabyte."""
        low, high = self.interval()
        numbers = {"frequency": self.values, "stderr": self.stderr, "low": low, "high": high}
        labels, order = self.domain.labels, self.order(top, sort=sort)
        for start in range(0, len(order), _AT_ONCE):
            some = order[start : start + _AT_ONCE]
            yield {
                "value": [labels[index] for index in some.tolist()],
                **{name: column[some] for name, column in numbers.items()},
                "count": self.values[some] * self.n,
            }

    def order(self, top: int | None = None, *, sort: Order = "value") -> Counts:
        """Return the indices of the values that `rows` shows, in their order."""
        frequent = np.argsort(-self.values, kind="stable")[:top]
        return frequent if sort == "frequency" else np.sort(frequent)

    def about(self) -> dict[str, Any]:
        """Return what made the reports, how they were read, and what the intervals cover."""
        return self.about_reports(
            method=self.made_by["method"],
            consistency=self.made_by.get("consistency"),
            level=self.level,
            simultaneous=self.simultaneous,
            population=self.population,
            diagnostics=dict(self.diagnostics),
        )

    def notes(self) -> list[str]:
        """Return what a reader should know who looks at single numbers."""
        told = []
        if "consistency" not in self.made_by and not self._impossible:  # which no noise explains
            remedy = "the consistency method norm_sub removes them"
            if (self.values < 0).any():
                told.append(f"negative values are noise around zero: {remedy}")
            if (self.values > 1).any():
                told.append(f"frequencies above 1 are noise: {remedy}")
        if not self.diagnostics.get("converged", True):
            told.append(
                f"not converged after {self.diagnostics['iterations']} iterations: "
                "stopping early smooths the result"
            )
        return told

    def tables(self, top: int | None = TOP, *, sort: Order = "frequency") -> list[Table]:
        """Return the most frequent values as a table; people are whole there."""
        rows = [{**row, "count": round(row["count"])} for row in self.rows(top, sort=sort)]
        more = f", the {len(rows)} most frequent of {len(self)} values" if len(rows) < len(self) else ""
        first, *origin = self.caption.split("\n")
        return [Table.of(rows, title=self.title, caption="\n".join([first + more, *origin]))]

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
            f"  {cell_text(self.domain.labels[index])[:_LONGEST_SHOWN]:>12}"
            f"  {self.values[index]:8.4f} +- {self.stderr[index]:.4f}"
            for index in order
        ]
        more = [f"  ... and {len(self) - len(order)} more"] if len(self) > len(order) else []
        if "converged" in self.diagnostics:
            ending = "converged" if self.diagnostics["converged"] else "stopped before it converged"
            more.append(f"  {ending} after {self.diagnostics['iterations']} iterations")
        more.append(f"  +- one standard error, for the frequencies {self.whose}")
        more.extend(f"  warning: {warning}" for warning in self.warnings)
        head = f"Estimate of {len(self)} frequencies from n={self.n} reports ({self.how})"
        return "\n".join([head, *shown, *more])


def about_whom(n: int, *, population: bool) -> str:
    """Return whose frequencies are meant, for captions.

    Examples
    --------
    >>> about_whom(4000, population=False), about_whom(4000, population=True)
    ('of these 4000 people', 'of the population they were drawn from')
    """
    return "of the population they were drawn from" if population else f"of these {n} people"
