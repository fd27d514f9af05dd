"""Numbers as people read them: the digits they are worth, bounds and ends of intervals rounded outwards."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal

__all__ = [
    "ends_text",
    "epsilon_text",
    "interval_text",
    "interval_texts",
    "number_text",
    "percent_text",
    "rounded",
]

_LARGEST = 1e15  # beyond, nobody counts digits
_EXACT = Context(prec=1000)  # digits enough for every float: nothing is rounded but where it is asked for


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
