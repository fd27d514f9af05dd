"""A question that is to be planned: what may be answered, and how exact the answer must be."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from ldpkit.core.domains.base import Domain
from ldpkit.core.errors import InvalidParameterError, LdpkitError
from ldpkit.core.parameters import LARGEST_EPSILON, SMALLEST_EPSILON, check_people
from ldpkit.mechanisms.base import MECHANISMS, Mechanism
from ldpkit.mechanisms.kinds import CIRCULAR, FREQUENCY, NUMERIC, select
from ldpkit.planning.searches.roots import find_root
from ldpkit.planning.survey.errors import expected_error

__all__ = ["Choice", "PlannedQuestion", "choose", "least_epsilon", "ranked", "shortlisted"]

_SHARE = (
    0.01  # of all people, of an interval or of a circle: the error that is wanted unless somebody says so
)
_NEEDS: dict[str, tuple[str, ...]] = {
    FREQUENCY: ("client",),
    NUMERIC: ("client", "unbiased"),
    CIRCULAR: ("client",),
}
_TIE = 1.02  # errors that differ by less are alike: the shorter report wins
_ANCHORS = 0.1, 1.0, 3.0, 8.0  # epsilons at which the mechanisms of a search are chosen
_CLOSE = 1e-4  # of the logarithm of an epsilon


@dataclass(frozen=True)
class PlannedQuestion:
    """What is asked, and how exact the answer must be.

    Parameters
    ----------
    name : str
        Its id.
    domain : Domain
        The values: categories, an interval or a circle.
    within : float, optional
        How far off the answer may be with probability 0.95: a share, a mean in the unit of the numbers,
        or a direction in the unit of the circle. By default a hundredth of all that is possible.
    mechanisms : tuple of str
        What may be used; all that a device can run by default.

    Examples
    --------
    >>> import ldpkit
    >>> PlannedQuestion("age", ldpkit.IntervalDomain(0, 120)).wanted
    1.2
    """

    name: str
    domain: Domain
    within: float | None = None
    mechanisms: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        if self.within is not None and not (self.within > 0 and math.isfinite(self.within)):
            raise InvalidParameterError(
                f"question {self.name!r} may be off by a positive number, got within={self.within!r}"
            )
        width = float(getattr(self.domain, "width", 1.0))
        if self.within is not None and self.within >= width:
            hint = "" if hasattr(self.domain, "width") else ", a share: two points are 0.02"
            raise InvalidParameterError(
                f"question {self.name!r} may be off by less than {width:g}, all that is possible{hint}; got "
                f"within={self.within!r}"
            )
        if not self.candidates:
            raise InvalidParameterError(
                f"no mechanism plans question {self.name!r} on {self.domain}: categories, numbers and angles "
                "are "
                "planned here, locations with 'ldpkit trajectory recommend'"
            )

    @property
    def wanted(self) -> float:
        """How far off the answer may be."""
        return self.within or _SHARE * float(getattr(self.domain, "width", 1.0))

    @property
    def candidates(self) -> tuple[str, ...]:
        """What may make the reports."""
        return self.mechanisms or _candidates(type(self.domain))


@lru_cache(maxsize=8)
def _candidates(domain: type[Domain]) -> tuple[str, ...]:
    """Return the mechanisms for a sort of domain that a device can run and that take an epsilon alone."""
    found: list[str] = []
    for kind, capabilities in _NEEDS.items():
        names = select(kind, *capabilities, single_epsilon=True, without=("fitted", "memoized")).names
        found += [name for name in names if MECHANISMS.get(name).domain_type is domain]
    return tuple(found)


@dataclass(frozen=True)
class Choice:
    """What a question is asked with, and how exact the answer will be."""

    question: PlannedQuestion
    mechanism: Mechanism
    reports: int
    error: float

    @property
    def ratio(self) -> float:
        """The error over the wanted one: up to 1 is good enough."""
        return self.error / self.question.wanted

    def row(self) -> dict[str, Any]:
        """Return the record."""
        return {
            "question": self.question.name,
            "mechanism": self.mechanism.name,
            "epsilon": self.mechanism.epsilon,
            "answers": self.reports,
            "error": self.error,
            "wanted": self.question.wanted,
            "of_wanted": self.ratio,
            "report_bytes": self.mechanism.report_bytes,
        }


def ranked(question: PlannedQuestion, epsilon: float, people: int, *, share: float = 1.0) -> list[Choice]:
    """Return every mechanism that can ask a question at an epsilon, the best first.

    Best is the smallest expected error; of those that are alike, the shortest report.

    Parameters
    ----------
    question : PlannedQuestion
        What is asked.
    epsilon : float
        The budget of one answer.
    people : int
        How many take part.
    share : float
        Which part of them is drawn for this question.
    """
    reports = max(1, round(check_people(people, "people") * share))
    found: list[Choice] = []
    refusals: list[str] = []
    for name in question.candidates:
        try:
            mechanism = MECHANISMS.get(name).make(question.domain, epsilon=epsilon)
            mechanism.sampler()
        except LdpkitError as error:  # such as a domain too large for it, or a table too large for a device
            refusals.append(f"{name}: {error}")
            continue
        found.append(Choice(question, mechanism, reports, expected_error(mechanism, reports, people)))
    if not found:
        told = "; ".join(refusals)
        raise InvalidParameterError(f"no mechanism can ask {question.name!r} at epsilon {epsilon:g}: {told}")
    least = _TIE * min(each.error for each in found)
    return sorted(
        found,
        key=lambda each: (
            (0, each.mechanism.report_bytes, each.error) if each.error <= least else (1, each.error, 0)
        ),
    )


def choose(question: PlannedQuestion, epsilon: float, people: int, *, share: float = 1.0) -> Choice:
    """Return the first of `ranked`.

    Examples
    --------
    >>> import ldpkit
    >>> few, many = (PlannedQuestion("q", ldpkit.CategoricalDomain(size)) for size in (3, 200))
    >>> choose(few, 1.0, 10_000).mechanism.name, choose(many, 1.0, 10_000).mechanism.name
    ('grr', 'olh')
    """
    return ranked(question, epsilon, people, share=share)[0]


def shortlisted(
    question: PlannedQuestion, people: int, tries: Iterable[tuple[float, float]]
) -> PlannedQuestion:
    """Return a question with those mechanisms alone that are best somewhere: some take long to make.

    Parameters
    ----------
    question : PlannedQuestion
        What is asked.
    people : int
        How many take part.
    tries : iterable of (float, float)
        The epsilons, and the parts of the people, that are tried.
    """
    best = [choose(question, epsilon, people, share=share).mechanism.name for epsilon, share in tries]
    return replace(question, mechanisms=tuple(dict.fromkeys(best)))


def least_epsilon(question: PlannedQuestion, people: int, *, share: float = 1.0) -> Choice:
    """Return the choice with the smallest epsilon that is exact enough.

    Examples
    --------
    >>> import ldpkit
    >>> choice = least_epsilon(PlannedQuestion("age", ldpkit.IntervalDomain(0, 100), within=0.5), 100_000)
    >>> choice.mechanism.name, round(choice.mechanism.epsilon, 2)
    ('hm', 1.28)
    """
    question = shortlisted(question, people, [(anchor, share) for anchor in _ANCHORS])

    def excess(log_epsilon: float) -> float:
        return math.log(choose(question, math.exp(log_epsilon), people, share=share).ratio)

    low, high = math.log(SMALLEST_EPSILON), math.log(LARGEST_EPSILON)
    if excess(high) > 0:
        best = choose(question, LARGEST_EPSILON, people, share=share)
        raise InvalidParameterError(
            f"{people:,} people cannot answer {question.name!r} within {question.wanted:g} at any epsilon up "
            f"to {LARGEST_EPSILON:g}, where it is {best.error:.3g}: ask more people or accept a larger error"
        )
    if excess(low) <= 0:
        return choose(question, SMALLEST_EPSILON, people, share=share)
    root = find_root(excess, low, high, _CLOSE)
    while excess(root) > 0:
        root += _CLOSE
    return choose(question, math.exp(root), people, share=share)
