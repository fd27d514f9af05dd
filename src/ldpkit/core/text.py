"""Text that people read: numbers, labels that cannot steer a terminal, and tables that fit a width.

A table library would do, and takes longer to load than most commands take to run.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal

__all__ = [
    "and_text",
    "clock_time",
    "decimal_comma",
    "display_width",
    "ends_text",
    "epsilon_text",
    "interval_text",
    "interval_texts",
    "is_unseen",
    "number_text",
    "percent_text",
    "rounded",
    "text_table",
    "visible",
    "wrapped",
]

_LARGEST = 1e15  # beyond, nobody counts digits
_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")  # control, format, surrogate, line and paragraph separator
_WELCOME = "\n\u200c\u200d"  # lines, and the joiners that Persian and emoji need
_EXACT = Context(prec=1000)  # digits enough for every float: nothing is rounded but where it is asked for
_GAP = "  "
_LONGEST_WORD = 24  # numbers and names are shorter, and are never cut
_NARROWEST = 8  # of text, in a window in which not even two columns fit


def number_text(value: float, digits: int = 4) -> str:
    """Return a number with so many digits, and all digits before the point.

    Examples
    --------
    >>> number_text(0.123456), number_text(50783.2), number_text(999_999.7), number_text(8.2031e-06)
    ('0.1235', '50783', '1000000', '8.203e-06')
    >>> number_text(5e20), number_text(float("nan"))
    ('5e+20', 'nan')
    """
    text = f"{value:.{digits}g}"
    return f"{value:.0f}" if "e+" in text and abs(value) < _LARGEST else text


def rounded(value: float, digits: int = 4, *, up: bool) -> float:
    """Return a number of so many digits, and all digits before the point, that is not below or not above.

    Ends of intervals are rounded outwards and bounds upwards, or what is said of them is not true.

    Parameters
    ----------
    value : float
        The number; it counts as the decimal that Python prints.
    digits : int
        How many to keep.
    up : bool
        True: the least such number that is not below `value`. False: the greatest that is not above.

    Examples
    --------
    >>> rounded(0.34501, up=True), rounded(0.01539, 2, up=False), rounded(0.3, up=False)
    (0.3451, 0.015, 0.3)
    >>> rounded(0.9999999999997887, 6, up=True), rounded(-50783.2, up=False)
    (1.0, -50784.0)
    """
    if not math.isfinite(value) or value == 0:
        return value
    exact = Decimal(repr(float(value)))
    decimals = digits - 1 - exact.adjusted()
    step = Decimal(1).scaleb(-max(decimals, 0) if abs(value) < _LARGEST else -decimals)
    return float(exact.quantize(step, ROUND_CEILING if up else ROUND_FLOOR, _EXACT))


def epsilon_text(epsilon: float) -> str:
    """Return an epsilon for a reader, with six digits at most; it is a bound, so it is rounded up.

    Examples
    --------
    >>> epsilon_text(0.9999999999997887), epsilon_text(1.0000000000000002), epsilon_text(math.inf)
    ('1.0', '1.00001', 'inf')
    """
    return repr(float(rounded(epsilon, 6, up=True)))


def ends_text(low: float, high: float, digits: int = 4) -> str:
    """Return the ends of an interval with so many digits, rounded outwards.

    Examples
    --------
    >>> ends_text(0.949963, 0.97), ends_text(12.34567, 8123.4567, 6)
    ('0.9499 to 0.97', '12.3456 to 8123.46')
    """
    shown = (number_text(rounded(each, digits, up=up), digits) for each, up in ((low, False), (high, True)))
    return " to ".join(shown)


def percent_text(share: float, *, up: bool = False) -> str:
    """Return a share in percent with three digits, and more where these would make it 100%.

    Parameters
    ----------
    share : float
        The share.
    up : bool
        Round up, for what is said to be at most so much.

    Examples
    --------
    >>> percent_text(0.0267), percent_text(0.731), percent_text(0.99966), percent_text(1 - 2.5e-9)
    ('2.67%', '73.1%', '99.966%', '99.99999975%')
    >>> percent_text(1.0), percent_text(461.0)
    ('100%', '46100%')
    >>> [percent_text(share, up=True) for share in (0.73106, 0.02672, 0.5, 0.99939, 1 - 2.5e-9)]
    ['73.2%', '2.68%', '50%', '99.94%', '99.99999976%']
    """
    if up and 0 < share < 1:
        return _percent_up(share)
    text = number_text(100 * share, 3)
    if share < 1 and float(text) >= 99.95:
        text = f"{100 * share:.{1 - math.floor(math.log10(100 * (1 - share)))}f}"
    return f"{text}%"


def _percent_up(share: float) -> str:
    """Return a share between 0 and 1 in percent, rounded up; never as 100%, which it is not."""
    digits = max(0, 2 - math.floor(math.log10(100 * share)))
    if share > 0.999:
        digits = max(digits, 1 - math.floor(math.log10(100 * (1 - share))))
    percent = (100 * Decimal(share)).quantize(Decimal(10) ** -digits, ROUND_CEILING)
    return f"{percent.normalize():f}%"


def interval_text(
    value: float,
    low: float,
    high: float,
    *,
    share: bool = False,
    unit: str = "",
    level: float | None = None,
    width: float | None = None,
) -> str:
    """Return a number with the ends of its interval, as `interval_texts` writes them.

    Parameters
    ----------
    value, low, high : float
        The number and the ends.
    share : bool
        Whether they are shares, which are written in percent.
    unit : str
        What the numbers are measured in.
    level : float, optional
        The coverage of the interval, if it is to be told.
    width : float, optional
        How wide the interval is, where that is not the difference.

    Examples
    --------
    >>> interval_text(41.23456, 39.8, 42.7, unit="years"), interval_text(0.51234, 0.4911, 0.5336, share=True)
    ('41.2 years (39.8 to 42.7)', '51.2% (49.1% to 53.4%)')
    >>> interval_text(1_234_567.0, 1_200_000.0, 1_260_000.0)
    '1,234,567 (1,200,000 to 1,260,000)'
    """
    shown, least, most = interval_texts(value, low, high, share=share, width=width)
    named = f" {unit}" if unit else ""
    told = "" if level is None else f"{100 * level:g}% interval "
    return f"{shown}{named} ({told}{least} to {most})"


def interval_texts(
    value: float, low: float, high: float, *, share: bool = False, width: float | None = None
) -> tuple[str, str, str]:
    """Return a number and the ends of its interval, all with the digits that the interval is worth.

    The ends are rounded outwards: the interval that is shown covers at least as often. Shares have
    one decimal or more.

    Parameters
    ----------
    value, low, high : float
        The number and the ends.
    share : bool
        Whether they are shares, which are written in percent.
    width : float, optional
        How wide the interval is, where that is not the difference: it may go over the end of a turn.

    Examples
    --------
    >>> interval_texts(34.31, 19.25, 49.34), interval_texts(0.0049, -0.0001, 0.16701, share=True)
    (('34', '19', '50'), ('0.5%', '-0.1%', '16.8%'))
    >>> interval_texts(350.0, 341.26, 8.11, width=26.85)
    ('350', '341', '9')
    """
    factor, sign = (100.0, "%") if share else (1.0, "")
    half = factor * abs(high - low if width is None else width) / 2
    known = math.isfinite(half) and half > 0
    least = 1 if share else 0
    decimals = min(max(1 - math.floor(math.log10(half)), least), 9) if known else 1 if share else 4
    shown, below, above = (
        f"{_fixed(each, decimals, share, rounding)}{sign}"
        for each, rounding in ((value, ROUND_HALF_EVEN), (low, ROUND_FLOOR), (high, ROUND_CEILING))
    )
    return shown, below, above


def _fixed(value: float, decimals: int, share: bool, rounding: str) -> str:
    if not math.isfinite(value):
        return str(value)
    exact = Decimal(repr(float(value))).scaleb(2 if share else 0, _EXACT)
    text = f"{exact.quantize(Decimal(1).scaleb(-decimals), rounding, _EXACT):,f}"
    return text if text.strip("-0.") else text.removeprefix("-")  # no minus before a zero


def and_text(words: Sequence[str]) -> str:
    """Return words as a sentence lists them.

    Examples
    --------
    >>> and_text(["pm"]), and_text(["pm", "hm"]), and_text(["0.5", "1", "2"])
    ('pm', 'pm and hm', '0.5, 1 and 2')
    """
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


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
