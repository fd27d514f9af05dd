"""Text that people see: nothing in a label or a file name may steer the terminal."""

from __future__ import annotations

__all__ = ["is_unseen", "visible"]

_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")  # control, format, surrogate, line and paragraph separator
_WELCOME = "\n\u200c\u200d"  # lines, and the joiners that Persian and emoji need


def is_unseen(character: str) -> bool:
    r"""Whether a character shows nothing of its own and may steer what shows it.

    Examples
    --------
    >>> is_unseen("\x1b"), is_unseen("\u202e"), is_unseen("\n"), is_unseen("é")
    (True, True, False, False)
    """
    import unicodedata

    return unicodedata.category(character) in _UNSEEN and character not in _WELCOME


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
    return "".join(
        each.encode("unicode_escape").decode("ascii") if is_unseen(each) else each for each in text
    )
