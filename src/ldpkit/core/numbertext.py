"""Numbers as people read them: short, and without exponents where something is counted."""

from __future__ import annotations

import math
import re

__all__ = ["clock_time", "decimal_comma", "number_text", "percent_text"]

_LARGEST = 1e15  # beyond, nobody counts digits


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


def percent_text(share: float) -> str:
    """Return a share in percent with three digits, and more where these would make it 100%.

    Examples
    --------
    >>> percent_text(0.0267), percent_text(0.731), percent_text(0.99966), percent_text(1 - 2.5e-9)
    ('2.67%', '73.1%', '99.966%', '99.99999975%')
    >>> percent_text(1.0), percent_text(461.0)
    ('100%', '46100%')
    """
    text = number_text(100 * share, 3)
    if share < 1 and float(text) >= 99.95:
        text = f"{100 * share:.{1 - math.floor(math.log10(100 * (1 - share)))}f}"
    return f"{text}%"


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
