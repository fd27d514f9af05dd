"""Text that people see: nothing in a label or a file name may steer the terminal."""

from __future__ import annotations

from typing import Any

from ldpkit.files.spreadsheet import harmless_cell

__all__ = ["csv_cell", "visible"]

_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")  # control, format, surrogate, line and paragraph separator
_WELCOME = "\n\u200c\u200d"  # lines, and the joiners that Persian and emoji need


def visible(text: str) -> str:
    r"""Return a text with its control characters written out; lines stay lines.

    Escape sequences, other control characters, marks that turn the direction of writing
    and halves of characters are shown as Python writes them.

    Examples
    --------
    >>> visible("Rome \x1b[31m red"), visible("a\u202eb"), visible("東京")
    ('Rome \\x1b[31m red', 'a\\u202eb', '東京')
    """
    if text.isprintable():
        return text
    import unicodedata

    return "".join(
        each.encode("unicode_escape").decode("ascii")
        if unicodedata.category(each) in _UNSEEN and each not in _WELCOME
        else each
        for each in text
    )


def csv_cell(value: Any, on_screen: bool) -> Any:
    r"""Return a value for a CSV cell that neither a spreadsheet nor, on a screen, the terminal obeys.

    Examples
    --------
    >>> csv_cell("=1+1", False), csv_cell("\x1b[2J", True), csv_cell(-0.5, True)
    ("'=1+1", '\\x1b[2J', -0.5)
    """
    safe = harmless_cell(value)
    return visible(safe) if on_screen and isinstance(safe, str) else safe
