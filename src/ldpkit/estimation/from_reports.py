"""From reports to an estimate: `tally.estimate`, and what every estimate takes from its reports and tells."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.parameters import check_fraction
from ldpkit.core.provenance import UNKNOWN, Provenance
from ldpkit.core.registry import Registry
from ldpkit.core.results import Result
from ldpkit.mechanisms.base import Mechanism
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
from ldpkit.mechanisms.tally import AnyEstimate, Tally

__all__ = [
    "ESTIMATORS",
    "FromReports",
    "about_all",
    "at_level",
    "check_reported",
    "estimate",
    "estimator",
    "reported",
]

AnyTally = TypeVar("AnyTally", bound=Tally)
Options = ParamSpec("Options")
Found = TypeVar("Found")

ESTIMATORS: Registry[Callable[..., Any]] = Registry("estimator", "ldpkit.estimation")
"""Estimators by name: functions from a tally to an estimate."""

_OF_ANYBODY: set[str] = set()  # estimators whose intervals hold for a population in any case
_OF_ONE_LEVEL: set[str] = set()  # estimators that make their intervals themselves, so that they take a level


def estimate(
    tally: Tally, method: str | None = None, *, consistency: str | None = None, **options: Any
) -> AnyEstimate:
    """Return what the reports tell, with error bars; `tally.estimate` is this function.

    Parameters
    ----------
    tally : Tally
        What the reports add up to.
    method : str or None
        The estimator; by default that of the mechanism: "mi" of frequency oracles
        inverts the channel and is unbiased, "mean" of numeric mechanisms as well.
    consistency : str or None
        A post-processing method that makes the frequencies consistent.
    options
        What the estimator takes beyond that.

    Returns
    -------
    Estimate, NumericEstimate, Density, DirectionEstimate, CircularDensity or HeatMap
        Frequencies of values; the mean or the density of numbers; the mean direction or the
        density on a circle; the map of locations.
    """
    found: Any = ESTIMATORS.get(method or tally.mechanism.default_estimator)(tally, **options)
    if tally.provenance is not UNKNOWN:  # reports that were just made have nothing on record
        found = tally.provenance.sign(found)
    if consistency is not None:
        if not hasattr(found, "consistent"):
            raise InvalidParameterError(f"consistency={consistency!r} is for frequencies: leave it out here")
        found = found.consistent(consistency)
    made: AnyEstimate = found
    return made


def estimator(
    name: str, kind: type[AnyTally], *, of_anybody: bool = False, of_one_level: bool = False
) -> Callable[
    [Callable[Concatenate[AnyTally, Options], Found]], Callable[Concatenate[Tally, Options], Found]
]:
    """Return a decorator that registers an estimator and refuses tallies of another kind, or empty ones.

    Parameters
    ----------
    name : str
        What users call it.
    kind : type
        The tallies that it takes.
    of_anybody : bool
        Whether its intervals hold for a population in any case, so that it has no option `population`.
    of_one_level : bool
        Whether it makes its intervals together with the estimate, so that it has an option `level`.
    """

    def register(
        function: Callable[Concatenate[AnyTally, Options], Found],
    ) -> Callable[Concatenate[Tally, Options], Found]:
        @wraps(function)
        def checked(tally: Tally, *args: Options.args, **options: Options.kwargs) -> Found:
            return function(reported(tally, kind), *args, **options)

        for declared, names in ((of_anybody, _OF_ANYBODY), (of_one_level, _OF_ONE_LEVEL)):
            if declared:
                names.add(name)
        return ESTIMATORS.register(name)(checked)

    return register


def about_all(mechanism: Mechanism, method: str | None = None) -> dict[str, bool]:
    """Return the options for errors about everybody, where chance decided who of them reported.

    An interval for a population covers all people who took part, too. Those of a density or a map
    hold for a population in any case.

    Examples
    --------
    >>> import ldpkit
    >>> oracle = ldpkit.GRR(["no", "yes"], epsilon=4)
    >>> tally = ldpkit.Tally(oracle, 1000, [500, 500])
    >>> low, high = tally.estimate(**about_all(oracle)).interval()
    >>> bool(high[0] - low[0] > 3 * (tally.estimate().interval()[1] - tally.estimate().interval()[0])[0])
    True
    """
    return {} if _declared(mechanism, method, _OF_ANYBODY) else {"population": True}


def at_level(mechanism: Mechanism, level: float, method: str | None = None) -> dict[str, float]:
    """Return the options for intervals of a level, where they are made together with the estimate.

    Of other estimates `with_level` changes it afterwards.

    Examples
    --------
    >>> import ldpkit
    >>> at_level(ldpkit.GRR(4, epsilon=1), 0.99), at_level(ldpkit.GRR(4, epsilon=1), 0.99, "heatmap")
    ({}, {'level': 0.99})
    """
    return {"level": level} if _declared(mechanism, method, _OF_ONE_LEVEL) else {}


def _declared(mechanism: Mechanism, method: str | None, names: set[str]) -> bool:
    """Return whether an estimator, by default the mechanism's own, has declared itself so."""
    name = method or mechanism.default_estimator
    ESTIMATORS.get(name)  # loads it
    return name in names


def check_reported(tally: Tally) -> None:
    """Refuse a tally without reports."""
    if tally.n == 0:
        raise InvalidInputError("the tally is empty: there are no reports to estimate from")


def reported(tally: Tally, kind: type[AnyTally]) -> AnyTally:
    """Return a tally with reports as one of its kind, or say why this cannot be estimated from it."""
    if not isinstance(tally, kind):
        maker = "frequency oracle" if kind.kind == FrequencyOracle.kind else f"{kind.kind} mechanism"
        raise InvalidInputError(
            f"this needs reports of a {maker}, got {tally.mechanism!r}: "
            f'estimate with "{tally.mechanism.default_estimator}"'
        )
    check_reported(tally)
    return tally


class FromReports(Result):
    """A result that was made from reports: it carries what made them, and tells it."""

    n: int
    made_by: Mapping[str, Any]
    provenance: Provenance

    if TYPE_CHECKING:  # a field or a property: of the latter a dataclass would make the field's default

        @property
        def mechanisms(self) -> tuple[Mechanism, ...]:
            """What made the reports."""

    @property
    def how(self) -> str:
        """Mechanism, parameters and method, in a line."""
        return ", ".join(f"{key}={value}" for key, value in self.made_by.items())

    @property
    def method_told(self) -> tuple[str, ...]:
        """The method as a part of a caption, where there is one."""
        return (f"method {self.made_by['method']}",) if "method" in self.made_by else ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know before trusting the numbers."""
        return tuple(self.provenance.warnings())

    def with_level(self, level: float) -> Self:
        """Return the same estimate, whose rows have an interval of another coverage."""
        checked = check_fraction(level, "level")
        changed: Any = replace(self, level=checked)  # type: ignore[type-var]  # results are dataclasses
        made: Self = changed
        return made

    def captioned(self, *parts: str, lines: Sequence[str] = ()) -> str:
        """Return a caption: how many reports of what, further parts and lines, and where they come from."""
        made = (f"{each!r}, {each.promise()}" for each in self.mechanisms)
        origin = [str(self.provenance)] if str(self.provenance) else []
        return "\n".join([", ".join([f"n={self.n}", *made, *parts]), *lines, *origin])

    def about_reports(self, **more: Any) -> dict[str, Any]:
        """Return what `about` tells of the reports, around what is the estimate's own."""
        made = [each.describe() for each in self.mechanisms]
        return {"n": self.n, "mechanisms": made, **more, "provenance": self.provenance.facts()}
