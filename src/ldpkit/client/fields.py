"""Fields of a JSON document, each checked with the place where it stands."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from ldpkit.client.canonical import LARGEST_INTEGER
from ldpkit.core.errors import FileFormatError

__all__ = ["check_fields", "choice_of", "list_of", "name_of", "text_of", "whole_of"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_LONGEST_TEXT = 2000


def check_fields(form: Any, where: str, fields: Collection[str]) -> Mapping[str, Any]:
    """Return an object that has exactly some fields, or refuse it.

    Examples
    --------
    >>> check_fields({"ask": 1}, "spend", ["ask"])
    {'ask': 1}
    >>> check_fields({"ask": 1, "asks": 6}, "spend", ["ask"])
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.FileFormatError: spend has a field 'asks' that no collection has: remove it
    """
    if not isinstance(form, dict):
        raise FileFormatError(f"{where} is an object with {', '.join(fields)}, got {str(form)[:50]!r}")
    for field in fields:
        if field not in form:
            raise FileFormatError(f"{where} has no field {field!r}: it has been removed, or never was there")
    for field in form:
        if field not in fields:
            raise FileFormatError(f"{where} has a field {field[:50]!r} that no collection has: remove it")
    return form


def text_of(value: Any, where: str) -> str:
    """Return text that is not empty and not too long."""
    if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST_TEXT:
        raise FileFormatError(
            f"{where} is text of at most {_LONGEST_TEXT} characters, got {str(value)[:50]!r}"
        )
    return value


def name_of(value: Any, where: str) -> str:
    """Return an id: it stands in addresses and labels, so it is short and plain."""
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise FileFormatError(
            f"{where} is a name of at most 64 letters, digits, dots, dashes and underscores, "
            f"got {str(value)[:100]!r}"
        )
    return value


def whole_of(value: Any, where: str, *, least: int = 0, most: int = LARGEST_INTEGER) -> int:
    """Return a whole number within limits."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise FileFormatError(f"{where} is a whole number from {least} to {most}, got {str(value)[:50]!r}")
    return value


def choice_of(value: Any, where: str, choices: Collection[str]) -> str:
    """Return one of some words."""
    if not isinstance(value, str) or value not in choices:
        raise FileFormatError(f"{where} is one of {', '.join(choices)}, got {str(value)[:50]!r}")
    return value


def list_of(value: Any, where: str, *, least: int = 1, most: int = LARGEST_INTEGER) -> list[Any]:
    """Return an array with some items."""
    if not isinstance(value, list) or not least <= len(value) <= most:
        count = len(value) if isinstance(value, list) else str(value)[:50]
        raise FileFormatError(f"{where} is an array of {least} to {most} items, got {count!r}")
    return value
