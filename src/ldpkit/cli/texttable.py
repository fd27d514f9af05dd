"""Tables as plain text: aligned columns that fit a width.

A table library would do, and takes longer to load than most commands take to run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

__all__ = ["display_width", "text_table", "wrapped"]

_GAP = "  "
_NARROWEST = 8  # a column is not made narrower than this if its words must be cut


def text_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[bool], width: int
) -> Iterator[str]:
    r"""Yield the lines of a table.

    Parameters
    ----------
    header : sequence of str
        What stands above the columns.
    rows : sequence of sequences of str
        The cells.
    right : sequence of bool
        Which columns are aligned on the right, as numbers are.
    width : int
        The width to fit; cells of the widest columns go on over several lines, but a
        number is never broken, even if the table is then too wide.

    Examples
    --------
    >>> print(*text_table(["city", "n"], [["Rome", "5"], ["New York", "12"]], right=[False, True], width=40),
    ...       sep="\n")
    city       n
    ────────────
    Rome       5
    New York  12
    >>> print(*text_table(["x"], [["a long cell"]], right=[False], width=9), sep="\n")
    x
    ──────
    a long
    cell
    """
    columns = list(zip(header, *rows, strict=True))
    widths = _fit([max(map(display_width, column)) for column in columns], columns, right, width)
    cells = [[wrapped(text, most) for text, most in zip(row, widths, strict=True)] for row in (header, *rows)]
    widths = [
        max(display_width(line) for lines in column for line in lines) for column in zip(*cells, strict=True)
    ]
    for number, row in enumerate(cells):
        for line in range(max(map(len, row))):
            texts = [part[line] if line < len(part) else "" for part in row]
            yield _GAP.join(map(_aligned, texts, widths, right)).rstrip()
        if number == 0:
            yield "─" * (sum(widths) + len(_GAP) * (len(widths) - 1))


def _fit(widths: list[int], columns: Sequence[Sequence[str]], right: Sequence[bool], width: int) -> list[int]:
    """Take from the widest column until all fit: whole words stay as long as that is possible."""
    words = [max(display_width(word) for cell in column for word in cell.split(" ")) for column in columns]
    cut = [
        max(display_width(word) for cell in column[1:] or [""] for word in cell.split(" "))
        if is_number
        else _NARROWEST
        for column, is_number in zip(columns, right, strict=True)
    ]
    for least in (words, cut):
        while sum(widths) + len(_GAP) * (len(widths) - 1) > width:
            wide = [place for place, each in enumerate(widths) if each > least[place]]
            if not wide:
                break
            widths[max(wide, key=widths.__getitem__)] -= 1
    return widths


def _aligned(text: str, width: int, right: bool) -> str:
    space = " " * (width - display_width(text))
    return space + text if right else text + space


def display_width(text: str) -> int:
    """Return how many columns of a terminal a text takes.

    Examples
    --------
    >>> display_width("Rome"), display_width("東京")
    (4, 4)
    """
    if text.isascii():
        return len(text)
    import unicodedata

    return sum(
        0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in "WF" else 1
        for each in text
    )


def wrapped(text: str, width: int) -> list[str]:
    """Return a text in lines of at most so many columns, broken between words where that is possible.

    Examples
    --------
    >>> wrapped("as long as it is short", 10), wrapped("unbreakable", 4), wrapped("", 4)
    (['as long as', 'it is', 'short'], ['unbr', 'eaka', 'ble'], [''])
    """
    if display_width(text) <= width:
        return [text]
    lines = [""]
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if display_width(joined) <= width:
            lines[-1] = joined
            continue
        if lines[-1]:
            lines.append("")
        for letter in word:  # a word that is too long is cut
            if display_width(lines[-1] + letter) > width:
                lines.append("")
            lines[-1] += letter
    return lines
