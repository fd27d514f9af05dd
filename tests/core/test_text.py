"""An interval that is shown is never narrower than the interval."""

from decimal import Decimal

import pytest

from ldpkit.core.numbertext import ends_text, interval_texts, rounded
from ldpkit.core.tables import Table

ENDS = (
    *(0.0, 0.015, 0.0149999, 0.05, 0.3, 0.345, 0.3451, 0.44999999999999996, 0.5, 0.9999999999, 1.0),
    *(-0.0001, 5e-324, 1e-12, 1 / 3, 2 / 3, 1234.5678, 99_999.96, 2.0**53, 1.2345678e300),
)


def number(text):
    return Decimal(text.replace(",", "").removesuffix("%"))


@pytest.mark.parametrize("share", [False, True])
def test_no_end_is_rounded_inwards(share):
    factor = 100 if share else 1
    for low in ENDS:
        for high in (each for each in ENDS if each >= low):
            shown, least, most = map(number, interval_texts((low + high) / 2, low, high, share=share))
            assert least <= factor * Decimal(repr(low)), (low, high)
            assert most >= factor * Decimal(repr(high)), (low, high)
            assert least <= shown <= most


def test_ends_are_rounded_no_further_than_the_last_digit():
    """The newcomer's intervals, which were shown as 0% to 34% and 2% to 45%."""
    assert interval_texts(0.12, 0.0, 0.345, share=True) == ("12.0%", "0.0%", "34.5%")
    assert interval_texts(0.23, 0.015, 0.44999999999999996, share=True) == ("23.0%", "1.5%", "45.0%")
    assert interval_texts(0.3, 0.3, 0.3, share=True) == ("30.0%", "30.0%", "30.0%")
    assert interval_texts(0.0, -1e-9, float("inf")) == ("0.0000", "-0.0001", "inf")


@pytest.mark.parametrize("digits", [2, 4, 6])
def test_rounded_is_a_bound_with_so_many_digits(digits):
    for value in (*ENDS, *(-each for each in ENDS)):
        low, high = (Decimal(repr(rounded(value, digits, up=up))) for up in (False, True))
        assert low <= Decimal(repr(value)) <= high
        assert high - low <= abs(Decimal(repr(value))) / 10 ** (digits - 1)


def test_the_ends_of_a_table_are_rounded_outwards():
    (row,) = Table.of([{"value": 0.12346, "low": 0.12346, "high": 0.12344}]).rows
    assert row == ("0.1235", "0.1234", "0.1235")
    (row,) = Table.of([{"low": 0.12346, "high": 0.22344, "mass": 0.5}]).rows  # a bin, which is no interval
    assert row == ("0.1235", "0.2234", "0.5")
    assert ends_text(0.12346, 0.12344) == "0.1234 to 0.1235"
