r"""Text in the cells of a CSV file that neither a spreadsheet nor a terminal obeys.

A spreadsheet takes a cell that begins with =, +, - or @ for a formula, which may call a
program or send the sheet away. OWASP's remedy is an apostrophe before it, the mark of
spreadsheets for "this is text". A terminal that shows a CSV file obeys the control
characters in it, so they are written out as Python does, such as \x1b, and a backslash
before what would read as such an escape is written \x5c. Numbers stay as they are.
"""

from __future__ import annotations

import math
import re
from typing import Any

from ldpkit.core.text import is_unseen

__all__ = ["harmless_cell", "original_cell"]

_STARTS = ("=", "+", "-", "@", "\t", "\n", "＝", "＋", "－", "＠")  # noqa: RUF001 - wide signs begin formulas too
_ESCAPE = re.compile(r"\\(x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})")
_BACKSLASH = r"\x5c"


def harmless_cell(value: Any) -> Any:
    r"""Return a value for a cell of a CSV file.

    Text that would be a formula gets an apostrophe, and control characters are written out.

    Examples
    --------
    >>> [harmless_cell(each) for each in ("=cmd()", "@home", "Rome", "-5", -5)]
    ["'=cmd()", "'@home", 'Rome', '-5', -5]
    >>> print(harmless_cell("\x1b[2J"), harmless_cell(r"C:\new"), harmless_cell(r"\x1b[2J"))
    \x1b[2J C:\new \x5cx1b[2J
    """
    if not isinstance(value, str):
        return value
    text = _written_out(value)
    return f"'{text}" if _is_formula(text) else text


def original_cell(value: Any) -> Any:
    r"""Return what `harmless_cell` was given.

    Examples
    --------
    >>> [original_cell(harmless_cell(each)) for each in ("=cmd()", "'=cmd()", "'s-Hertogenbosch", 7)]
    ['=cmd()', "'=cmd()", "'s-Hertogenbosch", 7]
    >>> [original_cell(harmless_cell(each)) for each in ("\x1b[2J", r"\x1b[2J", r"\x41")]
    ['\x1b[2J', '\\x1b[2J', '\\x41']
    """
    if not isinstance(value, str):
        return value
    text = value[1:] if value[:1] == "'" and _is_formula(value[1:]) else value
    return _ESCAPE.sub(lambda found: _meant(found) or found[0], text) if "\\" in text else text


def _written_out(text: str) -> str:
    if "\\" in text:
        text = _ESCAPE.sub(lambda found: f"{_BACKSLASH}{found[1]}" if _meant(found) else found[0], text)
    return (
        text if text.isprintable() else "".join(_escape(each) if _is_escaped(each) else each for each in text)
    )


def _is_escaped(character: str) -> bool:
    return is_unseen(character) and character != "\t"  # which CSV files have always had


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 1 << 8 else f"\\u{code:04x}" if code < 1 << 16 else f"\\U{code:08x}"


def _meant(found: re.Match[str]) -> str:
    """Return the character that an escape is for, or nothing if `harmless_cell` writes no such escape."""
    code = int(found[1][1:], 16)
    character = chr(code) if code <= 0x10FFFF else ""
    is_ours = character == "\\" or (character and _is_escaped(character))
    return character if is_ours and found[0] == _escape(character) else ""


def _is_formula(text: str) -> bool:
    # Text that has the apostrophe already gets another, so that both can be told apart.
    return text.lstrip("'").startswith(_STARTS) and not _is_number(text)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text)) and "_" not in text
    except ValueError:
        return False
