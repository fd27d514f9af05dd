"""What every estimate says of the reports that it was made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from ldpkit.core.checks import check_fraction
from ldpkit.core.errors import InvalidInputError
from ldpkit.core.provenance import UNKNOWN, Provenance
from ldpkit.core.results import Result
from ldpkit.mechanisms.base import Mechanism
from ldpkit.mechanisms.circular.mechanism import CircularMechanism
from ldpkit.mechanisms.kinds import is_circular, is_numeric, is_spatial
from ldpkit.mechanisms.numeric.mechanism import NumericMechanism
from ldpkit.mechanisms.spatial.mechanism import SpatialMechanism
from ldpkit.mechanisms.tally import Tally

__all__ = [
    "FromReports",
    "check_reported",
    "circular_mechanism",
    "made_by",
    "numeric_mechanism",
    "spatial_mechanism",
]


def made_by(mechanism: Mechanism, method: str) -> dict[str, Any]:
    """Return mechanism, parameters and method, as estimates carry them."""
    promise = {"promise": mechanism.promise()} if mechanism.can("joint") else {}  # it depends on who reads it
    return {"mechanism": mechanism.name, **mechanism.parameters(), "method": method, **promise}


def check_reported(tally: Tally) -> None:
    """Refuse a tally without reports."""
    if tally.n == 0:
        raise InvalidInputError("the tally is empty: there are no reports to estimate from")


def numeric_mechanism(tally: Tally) -> NumericMechanism:
    """Return the mechanism of a tally from which numbers can be estimated, or say why not."""
    mechanism = tally.mechanism
    if not is_numeric(mechanism):
        raise _other_kind(tally, "numeric")
    check_reported(tally)
    return mechanism


def circular_mechanism(tally: Tally) -> CircularMechanism:
    """Return the mechanism of a tally from which directions can be estimated, or say why not."""
    mechanism = tally.mechanism
    if not is_circular(mechanism):
        raise _other_kind(tally, "circular")
    check_reported(tally)
    return mechanism


def spatial_mechanism(tally: Tally) -> SpatialMechanism:
    """Return the mechanism of a tally from which a map can be estimated, or say why not."""
    mechanism = tally.mechanism
    if not is_spatial(mechanism):
        raise _other_kind(tally, "spatial")
    check_reported(tally)
    return mechanism


def _other_kind(tally: Tally, kind: str) -> InvalidInputError:
    """Return the refusal of a tally of another kind of mechanism."""
    return InvalidInputError(
        f"this needs reports of a {kind} mechanism, got {tally.mechanism!r}: "
        f'estimate with "{tally.mechanism.default_estimator}"'
    )


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
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know before trusting the numbers."""
        return tuple(self.provenance.warnings())

    def with_level(self, level: float) -> Self:
        """Return the same estimate, whose rows have an interval of another coverage."""
        changed: Any = replace(self, level=check_fraction(level, "level"))  # type: ignore[type-var]
        made: Self = changed
        return made

    def captioned(self, *parts: str, lines: Sequence[str] = ()) -> str:
        """Return a caption: how many reports of what, further parts and lines, and where they come from."""
        made = (f"{each!r}, {each.promise()}" for each in self.mechanisms)
        origin = [] if self.provenance == UNKNOWN else [str(self.provenance)]
        return "\n".join([", ".join([f"n={self.n}", *made, *parts]), *lines, *origin])

    def about_reports(self, **more: Any) -> dict[str, Any]:
        """Return what `about` tells of the reports, around what is the estimate's own."""
        made = [each.describe() for each in self.mechanisms]
        return {"n": self.n, "mechanisms": made, **more, "provenance": self.provenance.facts()}
