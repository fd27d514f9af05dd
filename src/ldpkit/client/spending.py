"""What a device has spent: one charge for each answer, in millionths of an epsilon.

One person's answers always add, over questions, rounds and collections. Charges are whole
numbers, each rounded up before it is made, so that every language gets the same sum. A
charge that is infinite fits under no cap.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ldpkit.core.errors import FileFormatError, InvalidParameterError

__all__ = ["INFINITE", "Charge", "Micro", "Spending", "micro_text", "read_micro"]

Micro = int | None
"""Millionths of an epsilon; None stands for infinite."""

INFINITE = "infinite"
"""How files write a charge that has no bound."""

_FORMAT = "ldpkit-ledger-1"
_MOST = 1 << 53  # beyond, not every language has the whole numbers
_FIELDS = ("collection", "question", "round", "micro")


def read_micro(form: Any, what: str) -> Micro:
    """Return millionths of an epsilon from their JSON form, or refuse it.

    Examples
    --------
    >>> read_micro(500000, "a charge"), read_micro("infinite", "a charge")
    (500000, None)
    """
    if form == INFINITE:
        return None
    if isinstance(form, bool) or not isinstance(form, int) or not 0 <= form < _MOST:
        raise FileFormatError(
            f'{what} is a whole number of millionths of an epsilon, or "infinite", got {str(form)[:50]!r}'
        )
    return form


def micro_text(micro: Micro) -> str:
    """Return millionths as an epsilon that people read.

    Examples
    --------
    >>> micro_text(1_500_000), micro_text(333_334), micro_text(None)
    ('1.5', '0.333334', 'infinite')
    """
    return INFINITE if micro is None else f"{micro / 1e6:.6f}".rstrip("0").rstrip(".")


@dataclass(frozen=True, order=True)
class Charge:
    """What one answer cost.

    Parameters
    ----------
    collection, question : str
        Their ids.
    round : int
        The round in which it was given.
    micro : int or None
        Millionths of an epsilon; None stands for infinite.
    """

    collection: str
    question: str
    round: int
    micro: Micro


@dataclass(frozen=True)
class Spending:
    """Every charge of a device, and the most that it may spend.

    Parameters
    ----------
    charges : tuple of Charge
        One for each answer.
    cap : int, optional
        The most that all charges may add up to; None for no cap.

    Examples
    --------
    >>> spent = Spending((Charge("commute-2026", "commute", 0, 500_000),), cap=1_000_000)
    >>> spent.total, spent.fits(500_000), spent.fits(500_001), spent.fits(None)
    (500000, True, False, False)
    >>> Spending.from_json(spent.to_json()) == spent
    True
    """

    charges: tuple[Charge, ...] = ()
    cap: int | None = None

    def __post_init__(self) -> None:
        if self.cap is not None and (type(self.cap) is not int or self.cap < 0):
            raise InvalidParameterError(
                f"a cap is a whole number of millionths of an epsilon, got {self.cap!r}: 2000000 means 2"
            )
        ordered = sorted(self.charges, key=lambda each: (each.collection, each.question, each.round))
        object.__setattr__(self, "charges", tuple(ordered))

    @property
    def total(self) -> Micro:
        """What everything cost together."""
        return _sum(each.micro for each in self.charges)

    def of(self, collection: str) -> Spending:
        """Return what was spent on one collection, without a cap."""
        return Spending(tuple(each for each in self.charges if each.collection == collection))

    def fits(self, micro: Micro) -> bool:
        """Whether one more charge stays within the cap."""
        if self.cap is None:
            return True
        total = _sum([self.total, micro])
        return total is not None and total <= self.cap

    def to_json(self) -> str:
        """Return the portable form, the same in every client."""
        rows = [
            {
                "collection": each.collection,
                "question": each.question,
                "round": each.round,
                "micro": INFINITE if each.micro is None else each.micro,
            }
            for each in self.charges
        ]
        return json.dumps({"format": _FORMAT, "cap": self.cap, "charges": rows}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Spending:
        """Return the spending of a portable form, or refuse it."""
        try:
            form = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise FileFormatError(f"not a ledger: {error}") from None
        if (
            not isinstance(form, dict)
            or form.get("format") != _FORMAT
            or form.keys() - {"cap", "charges", "format"}
        ):
            raise FileFormatError(f"not a ledger: its format must be {_FORMAT!r}")
        cap, rows = form.get("cap"), form.get("charges")
        if not isinstance(rows, list):
            raise FileFormatError("not a ledger: its charges are an array")
        found = tuple(_charge(row, position) for position, row in enumerate(rows))
        if len({(each.collection, each.question, each.round) for each in found}) < len(found):
            raise FileFormatError("not a ledger: an answer is charged twice")
        return cls(found, None if cap is None else read_micro(cap, "the cap of a ledger"))


def _sum(charges: Iterable[Micro]) -> Micro:
    total = 0
    for each in charges:
        if each is None:
            return None
        total += each
    return total


def _charge(row: Any, position: int) -> Charge:
    where = f"charge {position} of a ledger"
    if not isinstance(row, dict) or row.keys() != set(_FIELDS):
        raise FileFormatError(f"{where} has the fields {', '.join(_FIELDS)}")
    collection, question, number, micro = (row[name] for name in _FIELDS)
    if not isinstance(collection, str) or not isinstance(question, str):
        raise FileFormatError(f"{where} names its collection and question as text")
    if type(number) is not int or not 0 <= number < 1 << 32:
        raise FileFormatError(f"{where} has a round from 0 to 4294967295, got {str(number)[:50]!r}")
    return Charge(collection, question, number, read_micro(micro, where))
