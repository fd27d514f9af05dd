"""The ledger: what all reports of a person cost together. No other module adds epsilons.

Records say what happened, or what is planned: a report, a device's history, rounds,
questions, shares of the people. The ledger says what it costs whoever pays most. A cost
is exact where some answers and some reports of that person reach it, with every answer
free to differ; else it is a bound. What the ledger does not know has no cost: it is
refused before a number is given.

Sums are taken of exact numbers and rounded up once. Devices that must agree in every
language count in millionths of an epsilon instead, each charge rounded up on its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from ldpkit.client.epsilon import MICRO
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.exact import total_up
from ldpkit.core.parameters import check_epsilon, check_whole
from ldpkit.core.typing import Reports
from ldpkit.mechanisms.base import Mechanism
from ldpkit.mechanisms.kinds import is_memoized
from ldpkit.mechanisms.longitudinal.memoized import MemoizedOracle
from ldpkit.protocols.history import device_loss

__all__ = [
    "MICRO",
    "Cost",
    "History",
    "Ledger",
    "Promise",
    "Questions",
    "Record",
    "Report",
    "Rounds",
    "Series",
    "Shares",
    "allot",
    "floor_epsilon",
    "micro_epsilon",
]


class Record:
    """Something that was, or will be, reported. The ledger knows those of this module."""


@dataclass(frozen=True)
class Report(Record):
    """One report of a mechanism with randomness of its own."""

    mechanism: Mechanism


@dataclass(frozen=True)
class Promise(Record):
    """One report of which only the stated epsilon is known."""

    epsilon: float

    def __post_init__(self) -> None:
        check_epsilon(self.epsilon)


@dataclass(frozen=True, eq=False)
class History(Record):
    """The reports of a device that keeps its permanent reports.

    Parameters
    ----------
    mechanism : MemoizedOracle
        What made them.
    times : tuple of (int, int)
        Each state that the device was in, and how many reports it made from it.
    fixed : bool
        Whether it reports its first value for ever.
    coins : array of length one, optional
        Its public coins, where they are known.
    """

    mechanism: MemoizedOracle
    times: tuple[tuple[int, int], ...]
    fixed: bool = False
    coins: Reports | None = None


@dataclass(frozen=True)
class Rounds(Record):
    """The same again, so many times; each round with randomness of its own."""

    record: Record
    count: int

    def __post_init__(self) -> None:
        check_whole(self.count, "count", least=0)


@dataclass(frozen=True)
class Series(Record):
    """Reports of a device about one question: what the first costs, and what each further one adds.

    Parameters
    ----------
    first, further : float
        Epsilons; that of a further report holds whatever the reports before it were.
    count : int
        How many reports.
    """

    first: float
    further: float
    count: int = 1

    def __post_init__(self) -> None:
        for each in (self.first, self.further):
            if not each >= 0:
                raise InvalidParameterError(f"what a report costs is not negative, got {each}")
        check_whole(self.count, "count")


@dataclass(frozen=True)
class Questions(Record):
    """Several questions, of which each person answers all, or `sample` drawn at random."""

    records: tuple[Record, ...]
    sample: int | None = None

    def __post_init__(self) -> None:
        if self.sample is not None and check_whole(self.sample, "sample") > len(self.records):
            raise InvalidParameterError(
                f"sample={self.sample} is more than the {len(self.records)} questions there are"
            )


@dataclass(frozen=True)
class Shares(Record):
    """Groups of people that each do something else, everybody in one group."""

    records: tuple[Record, ...]


@dataclass(frozen=True)
class Cost:
    """What something costs whoever pays most.

    Parameters
    ----------
    epsilon : float
        The exact sum, rounded up once; infinity where reports give a value away.
    is_exact : bool
        Whether it is reached; else it is a bound.
    micro : int or None
        The same in millionths, each report rounded up; None stands for infinite.
    """

    epsilon: float
    is_exact: bool
    micro: int | None

    @property
    def text(self) -> str:
        """The integer cost as files and messages tell it: digits, or "infinite"."""
        return "infinite" if self.micro is None else str(self.micro)

    def __str__(self) -> str:
        if math.isinf(self.epsilon):
            return "epsilon infinite"
        return f"epsilon {'exactly' if self.is_exact else 'at most'} {self.epsilon:.6g}"


@dataclass(frozen=True)
class Ledger:
    """Records of one person, added up.

    Parameters
    ----------
    records : tuple of Record
        What was reported.
    cap : int, optional
        The most that the person is to pay, in millionths; `fits` says whether something does.

    Examples
    --------
    >>> import ldpkit
    >>> ledger = Ledger().add(Report(ldpkit.GRR(4, epsilon=1))).add(Promise(0.5))
    >>> print(ledger.cost())
    epsilon at most 1.5
    >>> survey = Questions((Promise(0.5), Promise(1.0), Promise(0.25)), sample=2)
    >>> Ledger((Rounds(survey, 3),)).cost().micro
    4500000
    >>> Ledger(cap=1_500_000).fits(survey), Ledger(cap=1_400_000).fits(survey)
    (True, False)
    """

    records: tuple[Record, ...] = ()
    cap: int | None = None

    def add(self, record: Record) -> Ledger:
        """Return the ledger with one more record."""
        return replace(self, records=(*self.records, record))

    def supports(self, record: Record | None = None) -> bool:
        """Whether the cost of a record, or of all that is there, is known."""
        return all(_is_known(each) for each in (self.records if record is None else (record,)))

    def cost(self) -> Cost | None:
        """Return what all records cost together; None where one of them is not supported."""
        return _sum([_cost(each) for each in self.records]) if self.supports() else None

    def fits(self, record: Record) -> bool:
        """Whether a record can be added without exceeding the cap; never where its cost is unknown."""
        cost = self.add(record).cost()
        if cost is None or self.cap is None:
            return cost is not None
        return cost.micro is not None and cost.micro <= self.cap


def allot(epsilon: float, parts: int) -> float:
    """Return the largest epsilon of which so many fit into one.

    Examples
    --------
    >>> allot(2.0, 4), 3 * Fraction(allot(1.0, 3)) <= 1
    (0.5, True)
    """
    part = epsilon / parts
    return math.nextafter(part, 0) if Fraction(part) * parts > Fraction(epsilon) else part


def floor_epsilon(micro: Fraction | int) -> float:
    """Return the largest double that costs at most so many millionths: 0.1 is a little more than a tenth.

    Examples
    --------
    >>> micro_epsilon(0.1), micro_epsilon(floor_epsilon(100_000)), floor_epsilon(500_000)
    (100001, 100000, 0.5)
    """
    nearest = float(Fraction(micro, MICRO))
    return math.nextafter(nearest, 0) if Fraction(nearest) * MICRO > micro else nearest


def micro_epsilon(epsilon: float) -> int | None:
    """Return an epsilon in millionths, rounded up; None stands for infinite.

    Examples
    --------
    >>> micro_epsilon(1.0), micro_epsilon(1e-9), micro_epsilon(float("inf"))
    (1000000, 1, None)
    """
    return None if math.isinf(epsilon) else math.ceil(Fraction(epsilon) * MICRO)


def _is_known(record: Record) -> bool:
    if isinstance(record, Rounds):
        return _is_known(record.record)
    if isinstance(record, (Questions, Shares)):
        return bool(record.records) and all(map(_is_known, record.records))
    if isinstance(record, History):
        return is_memoized(record.mechanism)
    return isinstance(record, (Report, Promise, Series))


def _cost(record: Record) -> Cost:
    match record:
        case Report(mechanism):
            return _single(mechanism.exact_epsilon(), True)
        case Promise(epsilon):
            return _single(epsilon, False)
        case History(mechanism, times, fixed, coins):
            loss = device_loss(mechanism, dict(times), fixed=fixed, coins=coins)
            return _single(loss.epsilon, loss.is_exact)
        case Rounds(repeated, count):
            return _times(_cost(repeated), count)
        case Series(first, further, count):
            costs = [_single(first, False), _times(_single(further, False), count - 1)]
            return _sum(costs if count > 1 else costs[:1])
        case Questions(records, sample):
            return _sum(sorted(map(_cost, records), key=_order, reverse=True)[:sample])
        case Shares(records):
            return _worst([_cost(each) for each in records])
    raise InvalidParameterError(f"{record!r} is not a record that the ledger knows: ask supports() first")


def _single(epsilon: float, is_exact: bool) -> Cost:
    return Cost(epsilon, is_exact or math.isinf(epsilon), micro_epsilon(epsilon))


def _times(cost: Cost, count: int) -> Cost:
    micro = None if cost.micro is None and count else (cost.micro or 0) * count
    return Cost(total_up([(cost.epsilon, count)]), cost.is_exact, micro)


def _sum(costs: Iterable[Cost]) -> Cost:
    costs = list(costs)
    epsilon = total_up((each.epsilon, 1) for each in costs)
    finite = [each.micro for each in costs if each.micro is not None]
    exact = math.isinf(epsilon) or all(each.is_exact for each in costs)
    return Cost(epsilon, exact, sum(finite) if len(finite) == len(costs) else None)


def _worst(costs: list[Cost]) -> Cost:
    """Return the largest cost; it is exact if a share reaches it, whatever bounds the others have below."""
    largest = max(each.epsilon for each in costs)
    exact = any(each.is_exact for each in costs if each.epsilon == largest)
    return Cost(
        largest,
        exact,
        micro_epsilon(largest) if math.isinf(largest) else max(each.micro or 0 for each in costs),
    )


def _order(cost: Cost) -> tuple[float, bool]:
    return cost.epsilon, cost.is_exact
