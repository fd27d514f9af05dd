"""Text in the cells of a CSV file that spreadsheets must not run.

A spreadsheet takes a cell that begins with =, +, - or @ for a formula, which may call a
program or send the sheet away. OWASP's remedy is an apostrophe before it, the mark of
spreadsheets for "this is text". Numbers stay as they are.
"""

from __future__ import annotations

import math
from typing import Any

__all__ = ["harmless_cell", "original_cell"]

_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # noqa: RUF001


def harmless_cell(value: Any) -> Any:
    """Return a value for a cell of a CSV file; text that would be a formula gets an apostrophe.

    Examples
    --------
    >>> [harmless_cell(each) for each in ("=cmd()", "@home", "Rome", "-5", -5)]
    ["'=cmd()", "'@home", 'Rome', '-5', -5]
    """
    return f"'{value}" if isinstance(value, str) and _is_formula(value) else value


def original_cell(value: Any) -> Any:
    """Return what `harmless_cell` was given.

    Examples
    --------
    >>> [original_cell(harmless_cell(each)) for each in ("=cmd()", "'=cmd()", "'s-Hertogenbosch", 7)]
    ['=cmd()', "'=cmd()", "'s-Hertogenbosch", 7]
    """
    return value[1:] if isinstance(value, str) and value[:1] == "'" and _is_formula(value[1:]) else value


def _is_formula(text: str) -> bool:
    # Text that has the apostrophe already gets another, so that both can be told apart.
    return text.lstrip("'").startswith(_STARTS) and not _is_number(text)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text)) and "_" not in text
    except ValueError:
        return False
