"""What answers cost, from the mechanisms that make the reports, and what a collection promises."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from ldpkit.client.promises import Charges, Totals
from ldpkit.core.errors import InvalidParameterError
from ldpkit.mechanisms.base import Mechanism
from ldpkit.mechanisms.kinds import is_memoized
from ldpkit.protocols.ledger import (
    MICRO,
    Ledger,
    Questions,
    Record,
    Series,
    Shares,
    floor_epsilon,
    micro_epsilon,
)

__all__ = ["as_written", "charges_of", "series_of", "totals_of"]


def as_written(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return parameters whose epsilons are at most the decimal numbers that a person wrote.

    Examples
    --------
    >>> as_written({"epsilon": 0.1, "buckets": 4})["epsilon"] < 0.1 == as_written({"a": 0.1})["a"]
    True
    """
    return {
        name: floor_epsilon(Fraction(Decimal(repr(value))) * MICRO)
        if name.startswith("epsilon") and isinstance(value, float) and math.isfinite(value)
        else value
        for name, value in parameters.items()
    }


def series_of(mechanism: Mechanism, *, fixed: bool, count: int = 1) -> Series:
    """Return what so many answers of a device cost, for the ledger.

    A device that goes on reporting its first value pays for its permanent report once. One whose value may
    change pays the second round for every further report: whatever came before, it is a mixture of its rows.
    """
    if not is_memoized(mechanism):
        if fixed:
            raise InvalidParameterError(
                f'{mechanism.name} keeps no permanent report, so value = "fixed" has no meaning: leave it out'
            )
        once = max(mechanism.exact_epsilon(), _stated(mechanism, "epsilon"))
        return Series(once, once, count)
    if fixed:
        ever = max(mechanism.exact_permanent_epsilon(), _stated(mechanism, "epsilon_inf", "epsilon"))
        return Series(ever, 0.0, count)
    once = max(mechanism.exact_epsilon(), _stated(mechanism, "epsilon_1", "epsilon"))
    return Series(once, mechanism.exact_instant_epsilon(), count)


def _stated(mechanism: Mechanism, *names: str) -> float:
    """Return the epsilon that a reader of the file is told: what is charged covers it too."""
    told = mechanism.parameters()
    return next((float(told[name]) for name in names if name in told), 0.0)


def charges_of(series: Series) -> Charges:
    """Return the charges of a question in millionths."""
    return Charges(micro_epsilon(series.first), micro_epsilon(series.further))


def totals_of(every: Sequence[Series], ask: int, rounds: int) -> Totals:
    """Return what a report, a round and all rounds cost whoever pays most, added up by the ledger.

    Examples
    --------
    >>> print(totals_of([Series(0.5, 0.5), Series(2.0, 0.0)], ask=1, rounds=3))
    epsilon 2 for a report, 2 for a round, 2 in all
    """
    answers: list[Record] = [
        Shares((Series(each.first, 0.0), Series(each.further, 0.0)))
        if rounds > 1
        else Series(each.first, 0.0)
        for each in every
    ]
    lifetimes = [Series(each.first, each.further, rounds) for each in every]
    return Totals(
        _micro(Shares(tuple(answers))),
        _micro(Questions(tuple(answers), ask)),
        _micro(Questions(tuple(lifetimes), ask)),
    )


def _micro(record: Record) -> int | None:
    cost = Ledger((record,)).cost()
    assert cost is not None
    return cost.micro
