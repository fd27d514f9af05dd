"""What answers cost a person at most: the charges of a collection, added on the device."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ldpkit.client.fields import check_fields
from ldpkit.client.spending import INFINITE, Micro, micro_text, read_micro
from ldpkit.core.errors import FileFormatError

__all__ = ["Charges", "Totals", "exceeds", "promised"]


def exceeds(micro: Micro, limit: Micro) -> bool:
    """Whether a cost is more than a limit; None stands for infinite.

    Examples
    --------
    >>> exceeds(None, 5), exceeds(5, None), exceeds(None, None), exceeds(6, 5)
    (True, False, False, True)
    """
    return limit is not None and (micro is None or micro > limit)


@dataclass(frozen=True)
class Charges:
    """What the answers of a device to one question cost.

    Parameters
    ----------
    first : int or None
        The first one, in millionths of an epsilon; None stands for infinite.
    next : int or None
        Each further one.

    Examples
    --------
    >>> Charges(500_000, 500_000).over(3), Charges(1_000_000, None).over(1), Charges(0, None).over(2)
    (1500000, 1000000, None)
    """

    first: Micro
    next: Micro

    @classmethod
    def from_json(cls, form: Any, where: str) -> Charges:
        """Return the charges of a question, or refuse them."""
        fields = check_fields(form, where, ("first", "next"))
        return cls(*(read_micro(fields[name], f"{where}.{name}") for name in ("first", "next")))

    def to_json(self) -> dict[str, int | str]:
        """Return the JSON form."""
        return {name: INFINITE if each is None else each for name, each in vars(self).items()}

    def over(self, rounds: int) -> Micro:
        """Return what the answers in so many rounds cost together."""
        if rounds == 1:
            return self.first
        return None if self.first is None or self.next is None else self.first + (rounds - 1) * self.next

    def dearest(self, rounds: int) -> Micro:
        """Return what the most expensive single answer in so many rounds costs."""
        return self.first if rounds == 1 or exceeds(self.first, self.next) else self.next


@dataclass(frozen=True)
class Totals:
    """What a report, a round and all rounds cost whoever pays most."""

    report: Micro
    round: Micro
    lifetime: Micro

    @classmethod
    def from_json(cls, form: Any, where: str) -> Totals:
        """Return the promise of a collection, or refuse it."""
        fields = check_fields(form, where, tuple(cls.__dataclass_fields__))
        return cls(*(read_micro(fields[name], f"{where}.{name}") for name in cls.__dataclass_fields__))

    def to_json(self) -> dict[str, int | str]:
        """Return the JSON form."""
        return {name: INFINITE if each is None else each for name, each in vars(self).items()}

    def check(self, costs: Totals) -> None:
        """Refuse if something costs more than is promised here."""
        for name, cost in vars(costs).items():
            promise = self[name]
            if exceeds(cost, promise):
                raise FileFormatError(
                    f"promise.{name} is epsilon {micro_text(promise)}, but the charges add up to "
                    f"{micro_text(cost)}: the promise is not kept"
                )

    def __getitem__(self, name: str) -> Micro:
        found: Micro = vars(self)[name]
        return found

    def __str__(self) -> str:
        report, each, all_rounds = map(micro_text, (self.report, self.round, self.lifetime))
        return f"epsilon {report} for a report, {each} for a round, {all_rounds} in all"


def promised(charges: Iterable[Charges], ask: int, rounds: int) -> Totals:
    """Return what a person pays at most who answers the most expensive questions in every round.

    Examples
    --------
    >>> print(promised([Charges(500_000, 500_000), Charges(2_000_000, 0)], ask=1, rounds=3))
    epsilon 2 for a report, 2 for a round, 2 in all
    """
    every = list(charges)
    reports = [each.dearest(rounds) for each in every]
    lifetimes = [each.over(rounds) for each in every]
    return Totals(_sum_of_dearest(reports, 1), _sum_of_dearest(reports, ask), _sum_of_dearest(lifetimes, ask))


def _sum_of_dearest(costs: list[Micro], count: int) -> Micro:
    finite = sorted((each for each in costs if each is not None), reverse=True)
    return None if len(finite) < len(costs) else sum(finite[:count])
