"""Plain tables: they fit, they are aligned, and nothing of a cell is lost."""

from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st

from ldpkit.cli.options import Format
from ldpkit.cli.printing import show
from ldpkit.core.numbertext import number_text
from ldpkit.core.text import display_width, text_table, wrapped

words = st.text("abcdefgh", max_size=12)
cells = st.lists(words, max_size=6).map(" ".join)


def lines_of(header, rows, width, right=None):
    return list(text_table(header, rows, right=right or [False] * len(header), width=width))


@given(st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=5), st.integers(45, 90))
def test_a_table_fits_its_width_and_loses_nothing(rows, width):
    lines = lines_of(["one", "two", "three"], rows, width)
    assert all(display_width(line) <= width for line in lines)  # three columns of 12 always fit
    shown = sorted("".join(lines[2:]).replace(" ", ""))
    assert shown == sorted("".join("".join(row) for row in rows).replace(" ", ""))


numbers = st.integers(-(10**12), 10**12).map(str) | st.floats(-1e9, 1e9).map(number_text)


@given(st.lists(st.tuples(words, *[numbers] * 7), min_size=1, max_size=4), st.integers(30, 100))
def test_no_number_is_broken_whatever_the_width(rows, width):
    header = ["name", *(f"some_column_{place}" for place in range(7))]
    lines = lines_of(header, rows, width, [False] + [True] * 7)
    assert all(display_width(line) <= width for line in lines)
    shown = " ".join(lines).split()
    for row in rows:
        for number in row[1:]:
            assert number in shown, f"{number} was broken over lines"


def test_a_wide_table_goes_on_below_with_its_first_columns_again():
    row = ["ss", "norm_sub", "0.006332", "8.679e-05", "0.004143", "0.009228"]
    lines = lines_of(
        ["protocol", "method", "error", "stderr", "low", "high"], [row], 40, [False] * 2 + [True] * 4
    )
    assert lines == [
        "protocol  method       error     stderr",
        "───────────────────────────────────────",
        "ss        norm_sub  0.006332  8.679e-05",
        "",
        "protocol  method         low      high",
        "──────────────────────────────────────",
        "ss        norm_sub  0.004143  0.009228",
    ]


@given(cells, st.integers(1, 30))
def test_wrapping_keeps_every_letter_and_the_width(text, width):
    lines = wrapped(text, width)
    assert all(display_width(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_words_are_cut_only_if_they_must_be():
    header, row = ["name", "title"], ["bounded_laplace", "a rather long title of many words"]
    assert any("bounded_laplace" in line for line in lines_of(header, [row], 30))
    assert not any("bounded_laplace" in line for line in lines_of(header, [row], 16))


def test_numbers_stand_on_the_right_and_wide_letters_count_twice():
    lines = lines_of(["city", "n"], [["東京", "5"], ["Rome", "12"]], 40, [False, True])
    assert lines == ["city   n", "────────", "東京   5", "Rome  12"]


def test_numbers_are_never_broken():
    header, row = ["value", *"abcdef"], ["a label of several words", *["0.0007012345"] * 6]
    right = [False] + [True] * 6
    for width in (60, 80, 100):
        assert sum(line.count("0.0007012345") for line in lines_of(header, [row], width, right)) == 6


def test_numbers_of_people_are_shown_in_digits():
    target = io.StringIO()
    show([{"people": 50784.3, "rare": 0.00012345, "many": 2.5e15}], Format.table, file=target)
    assert target.getvalue().splitlines()[-1].split() == ["50784", "0.0001234", "2.5e+15"]


def test_show_says_what_stands_above_and_below():
    target = io.StringIO()
    rows = [{"name": "a", "error": 0.123456}, {"name": "b\x1b[1m", "error": None}]
    show(rows, Format.table, title="above", caption="below", file=target)
    assert target.getvalue().splitlines() == [
        "above",
        "name       error",
        "────────────────",
        "a         0.1235",
        r"b\x1b[1m",
        "below",
    ]


def test_people_are_never_counted_in_powers_of_ten():
    target = io.StringIO()
    show(
        [{"value": "a", "people": 50783.2, "stderr": 12345678.9, "share": 1.5e-7}], Format.table, file=target
    )
    assert target.getvalue().splitlines()[-1].split() == ["a", "50783", "12345679", "1.5e-07"]


def test_show_without_rows_prints_no_table():
    target = io.StringIO()
    show([], Format.table, title="nothing", file=target)
    assert target.getvalue() == "nothing\n"
