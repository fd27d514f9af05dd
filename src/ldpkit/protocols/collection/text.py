"""The TOML of a new collection, with the reasons for its choices as comments."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from ldpkit.core.errors import InvalidParameterError

__all__ = ["collection_text", "question_text"]

_WIDTH = 100


def collection_text(
    name: str,
    purpose: str,
    *,
    people: int | None,
    every: str,
    start: date,
    count: int,
    ask: int | None = None,
    version: int = 1,
    least_reports: int = 100,
) -> str:
    """Return the head of a collection file; questions follow.

    Examples
    --------
    >>> print(collection_text("a", "To see.", people=None, every="once", start=date(2026, 12, 1), count=1))
    id = "a"
    version = 1
    purpose = "To see."
    least_reports = 100 # results from fewer answers are not shown
    <BLANKLINE>
    [rounds]
    every = "once"
    start = 2026-12-01
    <BLANKLINE>
    """
    lines = [f"id = {_value(name)}", f"version = {version}", f"purpose = {_value(purpose)}"]
    if people is not None:
        lines.append(f"people = {people} # expected; used only for planning, never sent to devices")
    lines += [
        f"least_reports = {least_reports} # results from fewer answers are not shown",
        "",
        "[rounds]",
        f"every = {_value(every)}",
    ]
    lines.append(f"start = {start.isoformat()}")
    if every != "once":
        lines.append(f"count = {count}")
    if ask is not None:
        lines += ["", "[spend]", f"ask = {ask} # questions that a person answers, drawn at random"]
    return "\n".join(lines) + "\n"


def question_text(question: Mapping[str, Any], reasons: Sequence[str] = ()) -> str:
    """Return the table of one question.

    Examples
    --------
    >>> print(question_text({"id": "q", "text": "Yes?", "mechanism": "grr", "epsilon": 1.0}, ["Because."]))
    <BLANKLINE>
    [[questions]]
    id = "q"
    text = "Yes?"
    # Because.
    mechanism = "grr"
    epsilon = 1.0
    <BLANKLINE>
    """
    lines = ["", "[[questions]]"]
    for key, value in question.items():
        if key == "mechanism":
            lines += [f"# {line}" for reason in reasons for line in textwrap.wrap(reason, _WIDTH)]
        lines.append(f"{key} = {_value(value)}")
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    """Return a value as TOML writes it: as JSON does, for what a collection has."""
    if isinstance(value, str) and not value.isprintable():
        raise InvalidParameterError(f"{value[:50]!r} has a character that cannot be displayed: remove it")
    return json.dumps(value, ensure_ascii=False)
