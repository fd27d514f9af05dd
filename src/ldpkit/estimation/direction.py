"""The mean direction of values on a circle, with an arc that covers, and how strongly it prevails."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ldpkit.core.domains.circle import CircleDomain
from ldpkit.core.parameters import check_fraction
from ldpkit.core.provenance import UNKNOWN, Provenance
from ldpkit.core.typing import Floats
from ldpkit.estimation.arc import Arc, DirectionMargin
from ldpkit.estimation.circular_density import CircularDensity, circular_density
from ldpkit.estimation.from_reports import FromReports, estimator
from ldpkit.mechanisms.base import Mechanism
from ldpkit.mechanisms.tally import CircularTally

__all__ = ["DirectionEstimate", "direction"]


@dataclass(frozen=True, eq=False, repr=False)
class DirectionEstimate(FromReports):
    """What reports tell about values on a circle.

    Parameters
    ----------
    direction : float
        The estimated mean direction.
    stderr : float
        Its standard error, at most that of a direction nobody knows.
    resultant : float
        The estimated resultant length: 1 where all people hold one value, 0 where no
        direction prevails. From few reports it is too large where the truth is near 0.
    resultant_stderr : float
        Its standard error.
    n : int
        The number of reports.
    domain : CircleDomain
        The circle of values.
    made_by : mapping
        Mechanism, parameters and method.
    whose : str
        Whose direction the error and the interval are about.
    margin : DirectionMargin
        What knows the interval.
    provenance : Provenance
        What is recorded of how the reports were made.
    level : float
        The coverage of the interval in the rows; `with_level` changes it.

    Examples
    --------
    >>> import ldpkit
    >>> mechanism = ldpkit.get("circular_ogpm", 360, epsilon=2)
    >>> estimate = mechanism.tally(mechanism.privatize([350.0, 20.0] * 20_000)).estimate()
    >>> abs(estimate.domain.difference(estimate.direction, 5)) < 6 * estimate.stderr < 6
    True
    >>> 5 in estimate.interval(0.999999)
    True
    """

    direction: float
    stderr: float
    resultant: float
    resultant_stderr: float
    n: int
    domain: CircleDomain
    made_by: Mapping[str, Any]
    whose: str
    margin: DirectionMargin = field(repr=False)
    provenance: Provenance = UNKNOWN
    level: float = 0.95

    kind: ClassVar[str] = "direction"

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """What made the reports."""
        return (self.margin.mechanism,)

    def interval(self, level: float | None = None) -> Arc:
        """Return an arc that holds the mean direction with probability `level`, by default that of the rows.

        It holds for few people and at a large epsilon. Where reports do not show a
        direction, it is the whole circle.
        """
        return self.margin.arc(check_fraction(self.level if level is None else level, "level"))

    def density(self, bins: int = 128, method: str = "ems") -> CircularDensity:
        """Return the distribution of the values, by "ems", "em" or "inversion"."""
        return circular_density(self.margin.tally, bins=bins, algorithm=method)

    def histogram(self, bins: int = 12, method: str = "ems") -> tuple[Floats, Floats]:
        """Return the share of people in each bin around the circle, and the edges of the bins."""
        found = self.density(bins, method)
        return found.masses, found.edges

    def answer(self, unit: str = "") -> str:
        """Return the mean direction with its interval, as a sentence."""
        arc = self.interval()
        if arc.is_whole:
            return f"The reports of {self.whose} show no direction: the interval is the whole circle."
        width = self.domain.period * ((arc.end - arc.start) / self.domain.period % 1)
        digits = max(1 - math.floor(math.log10(width / 2)), 0) if width > 0 else 4
        value, low, high = (f"{each:,.{digits}f}" for each in (self.direction, arc.start, arc.end))
        named = f" {unit}" if unit else ""
        level = f"{100 * self.level:g}% interval {low} to {high}"
        whose = self.whose.replace(str(self.n), f"{self.n:,}")
        return f"The mean direction of {whose} is {value}{named} ({level})."

    @property
    def title(self) -> str:
        """The title above the table."""
        return f"Mean direction on {self.domain} from n={self.n} reports"

    @property
    def caption(self) -> str:
        """What made the reports, and what the interval covers."""
        covers = (
            f"{100 * self.level:g}% interval, running upwards from low to high, for the mean direction of"
        )
        return self.captioned(lines=[f"{covers} {self.whose}"])

    def notes(self) -> list[str]:
        """Return what a reader should know where the reports show no direction."""
        if not self.interval().is_whole:
            return []
        return ["the reports show no direction: the interval is the whole circle, so low and high are empty"]

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return one record for each statistic: statistic, value, stderr, low, high.

        The interval of the direction goes on from low to high, past the end of the turn if
        low is above high; both are None if it is the whole circle.
        """
        arc = self.interval()
        low, high = (None, None) if arc.is_whole else (arc.start, arc.end)
        names = ("statistic", "value", "stderr", "low", "high")
        rows = [
            ("direction", self.direction, self.stderr, low, high),
            ("resultant", self.resultant, self.resultant_stderr, None, None),
        ]
        return [dict(zip(names, row, strict=True)) for row in rows][:top]

    def about(self) -> dict[str, Any]:
        """Return what made the reports, how they were read, and what the interval covers."""
        return self.about_reports(
            circle=self.domain.to_json(), method=self.made_by["method"], level=self.level, whose=self.whose
        )

    def __float__(self) -> float:
        return self.direction

    def __repr__(self) -> str:
        return (
            f"Direction {self.direction:.6g} +- {self.stderr:.3g}, resultant {self.resultant:.3g}, on "
            f"{self.domain} from n={self.n} reports ({self.how})"
        )


@estimator("direction", CircularTally)
def direction(tally: CircularTally, *, population: bool = False) -> DirectionEstimate:
    """Return the mean direction and the resultant length, with standard errors and an interval.

    Parameters
    ----------
    tally : CircularTally
        Reports of a circular mechanism.
    population : bool
        False: the error is about the people who reported. True: about the population
        they were drawn from.
    """
    mechanism = tally.mechanism
    margin = DirectionMargin(tally, population)
    vector, left = margin.vectors[0], margin.response.first
    across, along = margin.variances(float(np.angle(vector)), sure=False)
    unknown = mechanism.domain.period / math.sqrt(12)
    turn = math.sqrt(across / tally.n) / max(abs(vector), 1e-300) * mechanism.domain.period / (2 * math.pi)
    return DirectionEstimate(
        direction=mechanism.domain.from_radians(float(np.angle(vector))),
        stderr=min(turn, unknown),
        resultant=min(abs(vector) / left, 1.0),
        resultant_stderr=math.sqrt(along / tally.n) / left,
        n=tally.n,
        domain=mechanism.domain,
        made_by=mechanism.read_by("direction"),
        whose="the population that the people were drawn from"
        if population
        else f"the {tally.n} people who reported",
        margin=margin,
        provenance=tally.provenance,
    )
