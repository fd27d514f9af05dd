"""From what a person wrote to the canonical file: mechanisms are made, and every promise is computed."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ldpkit.client.canonical import canonical, read_json
from ldpkit.client.collection import FORMAT, MOST_QUESTIONS, Collection, Schedule
from ldpkit.client.promises import Totals, exceeds
from ldpkit.client.questions import CHANGING, FIXED, Question
from ldpkit.client.spending import INFINITE, micro_text
from ldpkit.core.errors import FileFormatError, InvalidParameterError, LdpkitError
from ldpkit.mechanisms.base import MECHANISMS, Mechanism
from ldpkit.protocols.collection.charges import as_written, charges_of, series_of, totals_of
from ldpkit.protocols.collection.domains import DOMAIN_KEYS, read_domain, written_domain
from ldpkit.protocols.collection.written import Written, read_toml
from ldpkit.protocols.ledger import MICRO, Series

__all__ = ["PLANNING_KEYS", "build", "check_collection", "compile_toml", "mechanism_of"]

PLANNING_KEYS = ("people", "within")
"""What a file may say for planning and rehearsal alone; it is never sent to devices."""

_TOP = (
    "id",
    "version",
    "purpose",
    "questions",
    "rounds",
    "spend",
    "promise",
    "least_reports",
    "people",
    "randomness",
)
_QUESTION = ("id", "text", "mechanism", "value", "parameters", "within", *DOMAIN_KEYS)
_FEWEST = 100  # reports before anything is shown, unless the file says otherwise


def compile_toml(data: bytes, name: str = "the file") -> Collection:
    """Return the collection that a TOML file describes, or refuse it with the line.

    Parameters
    ----------
    data : bytes
        The file.
    name : str
        What messages call it.

    Examples
    --------
    >>> made = compile_toml(b'''
    ... id = "commute-2026"
    ... version = 1
    ... purpose = "How people in town travel to work."
    ... rounds = {every = "once", start = 2026-12-01}
    ... [[questions]]
    ... id = "commute"
    ... text = "How do you travel to work?"
    ... domain = ["walk", "bike", "bus", "car"]
    ... mechanism = "grr"
    ... epsilon = 0.5
    ... ''')
    >>> print(made.promise)
    epsilon 0.5 for a report, 0.5 for a round, 0.5 in all
    """
    return build(read_toml(data, name))


def build(written: Written) -> Collection:
    """Return the collection of a TOML text that was read."""
    top = written.table((), _TOP, ("id", "version", "purpose", "rounds", "questions"))
    items = top["questions"]
    if not isinstance(items, list) or not 1 <= len(items) <= MOST_QUESTIONS:
        written.refuse(
            ("questions",), f"a collection has 1 to {MOST_QUESTIONS} questions, each a [[questions]]"
        )
    rounds = _rounds(written)
    ask = _ask(written, len(items))
    asked = [_question(written, number) for number in range(len(items))]
    totals = totals_of([series for _, series in asked], ask, rounds.count)
    form = {
        "format": FORMAT,
        "id": top["id"],
        "version": top["version"],
        "purpose": top["purpose"],
        "questions": [question for question, _ in asked],
        "rounds": rounds.to_json(),
        "spend": {"ask": ask},
        "promise": _promise(written, totals).to_json(),
        "least_reports": top.get("least_reports", _FEWEST),
        "randomness": top.get("randomness", "secure"),
    }
    try:  # as a device will: numbers lose nothing on the way, and every check is passed
        return Collection.from_form(read_json(canonical(form), "the collection"))
    except LdpkitError as error:
        written.refuse(_path_in(str(error)), str(error))


def _path_in(message: str) -> tuple[str | int, ...]:
    """Return what a refusal of the finished document names first, such as questions[2].id."""
    place = message.split(" ")[0].rstrip(":")
    path: list[str | int] = []
    for part in place.split("."):
        name, _, number = part.partition("[")
        path += [name, int(number.rstrip("]"))] if number.rstrip("]").isdigit() else [name]
    return tuple(path)


def _rounds(written: Written) -> Schedule:
    table = written.table(("rounds",), ("every", "start", "count"), ("every", "start"))
    start = table["start"]
    if isinstance(start, datetime.datetime) or not isinstance(start, (datetime.date, str)):
        written.refuse(
            ("rounds", "start"), f"rounds start on a day such as 2026-12-01, got {str(start)[:50]!r}"
        )
    if "count" not in table and table["every"] in ("daily", "weekly"):
        written.refuse(("rounds",), "rounds need count: without an end there is no promise for a lifetime")
    with written.at("rounds", "start" if isinstance(start, str) else "count"):
        form = {"every": table["every"], "start": str(start), "count": table.get("count", 1)}
        return Schedule.from_json(form)


def _ask(written: Written, count: int) -> int:
    if "spend" not in written.data:
        return count
    table = written.table(("spend",), ("ask",), ("ask",))
    ask = count if table["ask"] == "all" else table["ask"]
    if isinstance(ask, bool) or not isinstance(ask, int) or not 1 <= ask <= count:
        written.refuse(
            ("spend", "ask"),
            f'ask says how many of the {count} questions a person answers, or "all", got {ask!r}',
        )
    return ask


def _question(written: Written, number: int) -> tuple[dict[str, Any], Series]:
    path = ("questions", number)
    table = written.data["questions"][number]
    name = table.get("mechanism") if isinstance(table, dict) else None
    if isinstance(table, dict) and name is None:
        written.refuse(path, "the question has no mechanism: name one, or let 'ldpkit plan survey' choose")
    with written.at(*path, "mechanism"):
        kind = MECHANISMS.get(str(name))
        if not kind.can("client"):
            raise InvalidParameterError(
                f"{name} does not run on devices: see 'ldpkit mechanisms' for those that do"
            )
    declared = [each.name for each in kind.declared]
    table = written.table(path, (*_QUESTION, *declared), ("id", "text"))
    with written.at(*path, next((key for key in DOMAIN_KEYS if key in table), "id")):
        domain, domain_form = written_domain(table)
        if not isinstance(domain, kind.domain_type):
            raise InvalidParameterError(
                f"{name} is for {kind.kind} questions, and not for values in {domain}"
            )
    with written.at(*path, next((key for key in declared if key in table), "mechanism")):
        extra = table.get("parameters", {})
        if not isinstance(extra, Mapping):
            raise InvalidParameterError(f"parameters are a table, got {str(extra)[:50]!r}")
        given = {key: table[key] for key in declared if key in table and key not in DOMAIN_KEYS}
        mechanism = kind.from_parameters(domain, as_written({**given, **extra}))
        sampler = mechanism.sampler()
    value = table.get("value", CHANGING)
    if value not in (CHANGING, FIXED):
        written.refuse((*path, "value"), f'value is "{CHANGING}" or "{FIXED}", got {str(value)[:50]!r}')
    with written.at(*path, "value"):
        series = series_of(mechanism, fixed=value == FIXED)
    return {
        "number": number,
        "id": table["id"],
        "text": table["text"],
        "kind": mechanism.kind,
        "domain": domain_form,
        "mechanism": mechanism.name,
        "parameters": mechanism.parameters(),
        "sampler": sampler,
        "report_bytes": mechanism.report_bytes,
        "value": value,
        "charge": charges_of(series).to_json(),
    }, series


def _promise(written: Written, totals: Totals) -> Totals:
    """Return the computed promise; refuse what exceeds the written one, or is infinite without a word."""
    names = tuple(vars(totals))
    told = written.table(("promise",), names) if "promise" in written.data else {}
    for name in names:
        cost = totals[name]
        if name not in told:
            if cost is None:
                written.refuse(
                    ("promise",),
                    f"what a person pays for a {name} has no bound, because a value that changes is given "
                    "away: ask "
                    f'once, make value = "fixed", or say so with [promise] {name} = "infinite"',
                )
            continue
        stated = told[name]
        if stated == INFINITE:
            continue
        if isinstance(stated, bool) or not isinstance(stated, (int, float)) or not 0 <= stated < math.inf:
            written.refuse(
                ("promise", name), f'a promise is an epsilon or "infinite", got {str(stated)[:50]!r}'
            )
        if exceeds(cost, math.ceil(Fraction(stated) * MICRO)):
            written.refuse(
                ("promise", name),
                f"the promise for a {name} is epsilon {str(stated)[:20]}, but the answers cost "
                f"{micro_text(cost)}: "
                "ask less, or state a larger epsilon",
            )
    return totals


def mechanism_of(question: Question) -> Mechanism:
    """Return the mechanism that makes the reports of a question."""
    kind = MECHANISMS.get(question.mechanism)
    return kind.from_parameters(read_domain(kind.domain_type, question.domain), question.parameters)


def check_collection(collection: Collection) -> None:
    """Refuse a collection whose integers, charges or promise are not those of its mechanisms.

    A device checks that the charges cover the integers. Here every mechanism is made anew from its
    parameters, so whoever says one thing and samples another is found out.
    """
    every: list[Series] = []
    for question in collection.questions:
        where = f"questions[{question.number}] ({question.id})"
        try:
            mechanism = mechanism_of(question)
            sampler = read_json(canonical(mechanism.sampler()))
            series = series_of(mechanism, fixed=question.value == FIXED)
        except LdpkitError as error:
            raise FileFormatError(f"{where}: {error}") from None
        for name, wanted, found in (
            ("kind", mechanism.kind, question.kind),
            ("sampler", sampler, question.sampler),
            ("report_bytes", mechanism.report_bytes, question.report_bytes),
            ("charge", charges_of(series), question.charges),
        ):
            if found != wanted:
                raise FileFormatError(
                    f"{where}.{name} does not match {mechanism!r}: it was changed by hand, or made by "
                    "another version"
                )
        every.append(series)
    totals = totals_of(every, collection.ask, collection.rounds.count)
    if totals != collection.promise:
        raise FileFormatError(
            f"the promise is {collection.promise}; computed from its mechanisms it is {totals}"
        )
