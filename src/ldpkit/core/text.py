"""Text that people read: labels that cannot steer a terminal, lists and hints, and tables that fit a width.

A table library would do, and takes longer to load than most commands take to run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

__all__ = [
    "and_text",
    "as_html",
    "clock_time",
    "decimal_comma",
    "display_width",
    "is_unseen",
    "listed",
    "text_table",
    "visible",
    "wrapped",
]

_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")  # control, format, surrogate, line and paragraph separator
_WELCOME = "\n\u200c\u200d"  # lines, and the joiners that Persian and emoji need
_GAP = "  "
_MOST_LISTED = 30
_LONGEST_WORD = 24  # numbers and names are shorter, and are never cut
_NARROWEST = 8  # of text, in a window in which not even two columns fit


def and_text(words: Sequence[str]) -> str:
    """Return words as a sentence lists them.

    Examples
    --------
    >>> and_text(["pm"]), and_text(["pm", "hm"]), and_text(["0.5", "1", "2"])
    ('pm', 'pm and hm', '0.5, 1 and 2')
    """
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def listed(names: Sequence[str]) -> str:
    r"""Return names that came from a file as a message lists them: in one line, and not all of very many.

    Examples
    --------
    >>> listed(["a", "two\nlines", ""]), listed(["a"] * 1000)[-20:]
    ("a, two lines, ''", 'a, a, a and 970 more')
    """
    shown = ", ".join(" ".join(name.split()) or "''" for name in names[:_MOST_LISTED])
    return shown + (f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else "")


def decimal_comma(text: object) -> str:
    """Return a hint for a message if a number was written with a decimal comma, else nothing.

    Examples
    --------
    >>> decimal_comma("3,5"), decimal_comma("1.234,5"), decimal_comma("red")
    (': a decimal has a point: write 3.5', ': a decimal has a point: write 1234.5', '')
    """
    found = re.fullmatch(r"[\s'\"]*([+-]?\d{1,3}(?:\.\d{3})+|[+-]?\d+),(\d+)[\s'\"]*", str(text))
    return "" if found is None else f": a decimal has a point: write {found[1].replace('.', '')}.{found[2]}"


def clock_time(text: object) -> str:
    """Return a hint for a message if a time of day was written where a number is wanted, else nothing.

    Examples
    --------
    >>> clock_time("12:30"), clock_time("99:99")
    (': a time of day is a number of hours: write 12.5', '')
    """
    found = re.fullmatch(r"\s*([01]?\d|2[0-4]):([0-5]\d)(?::([0-5]\d))?\s*", str(text))
    if found is None:
        return ""
    hours = int(found[1]) + int(found[2]) / 60 + int(found[3] or 0) / 3600
    return f": a time of day is a number of hours: write {round(hours, 4):g}"


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


def as_html(text: object) -> str:
    r"""Return a text as it stands on a page: no markup, and nothing that is not seen.

    Examples
    --------
    >>> as_html('<b> & "c"'), as_html("a\u202eb")
    ('&lt;b&gt; &amp; &quot;c&quot;', 'a\\u202eb')
    """
    import html

    return html.escape(visible(str(text)))


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
        The width to fit. Cells go on over several lines, broken between words. Where that
        is not enough the table goes on below, with its first columns again; a number is
        never broken.

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
    >>> print(*text_table(["city", "people", "area"], [["Rome", "2873000", "1285.3"]],
    ...                   right=[False, True, True], width=15), sep="\n")
    city   people
    ─────────────
    Rome  2873000
    <BLANKLINE>
    city    area
    ────────────
    Rome  1285.3
    """
    columns = [
        _Column(title, [row[place] for row in rows], right[place]) for place, title in enumerate(header)
    ]
    for number, block in enumerate(_blocks(columns, width)):
        if number:
            yield ""
        yield from _lines(block, width)


class _Column:
    """A column, and how narrow it may be."""

    def __init__(self, header: str, cells: Sequence[str], right: bool) -> None:
        self.header, self.cells, self.right = header, cells, right
        words = [display_width(word) for cell in cells for word in cell.split(" ")]
        words += [display_width(word) for word in _breakable(header).split(" ")]
        self.widest = max(display_width(header), *map(display_width, cells), 0)
        self.least = max(words) if right else min(max(words), _LONGEST_WORD)

    def lines(self, width: int) -> list[list[str]]:
        """Return the lines of the header and of every cell."""
        header = [self.header]
        if display_width(self.header) > width:
            header = [line.replace("_ ", "_") for line in wrapped(_breakable(self.header), width)]
        return [header, *(wrapped(cell, width) for cell in self.cells)]


def _breakable(header: str) -> str:
    """Return a header with places to break after its underscores."""
    return header.replace("_", "_ ")


def _blocks(columns: Sequence[_Column], width: int) -> Iterator[list[_Column]]:
    """Yield the columns that stand side by side; the first ones are repeated in every block."""
    if _total([column.least for column in columns]) <= width:
        yield list(columns)
        return
    keys = [columns[0]]
    for column in columns[1:]:
        if column.right or _total([each.least for each in [*keys, column]]) > width // 2:
            break
        keys.append(column)
    block: list[_Column] = []
    for column in columns[len(keys) :]:
        if block and _total([each.least for each in [*keys, *block, column]]) > width:
            yield [*keys, *block]
            block = []
        block.append(column)
    yield [*keys, *block]


def _lines(columns: Sequence[_Column], width: int) -> Iterator[str]:
    cells = [column.lines(most) for column, most in zip(columns, _fit(columns, width), strict=True)]
    widths = [max(display_width(line) for lines in column for line in lines) for column in cells]
    right = [column.right for column in columns]
    for number, row in enumerate(zip(*cells, strict=True)):
        for line in range(max(map(len, row))):
            texts = [part[line] if line < len(part) else "" for part in row]
            yield _GAP.join(map(_aligned, texts, widths, right)).rstrip()
        if number == 0:
            yield "─" * _total(widths)


def _fit(columns: Sequence[_Column], width: int) -> list[int]:
    """Take from the widest column until all fit; words of text are cut only if nothing else helps."""
    widths = [column.widest for column in columns]
    narrow = [column.least if column.right else min(column.least, _NARROWEST) for column in columns]
    for least in ([column.least for column in columns], narrow):
        while _total(widths) > width:
            wide = [place for place, each in enumerate(widths) if each > least[place]]
            if not wide:
                break
            widths[max(wide, key=widths.__getitem__)] -= 1
    return widths


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1)


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
