"""Interval domains: exact places on the grid, and everything foreign refused."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldpkit.core.domains.interval import GRID, ClippedWarning, IntervalDomain, as_interval
from ldpkit.core.errors import FrozenError, InvalidInputError, InvalidParameterError, OutOfDomainError

finite = st.floats(-1e12, 1e12)


@pytest.mark.parametrize(
    ("low", "high", "message"),
    [
        (1, 1, "low must be below high, got low=1 and high=1"),
        (2, 1, "low must be below high, got low=2 and high=1"),
        (math.nan, 1, "low must be finite, got nan"),
        (0, math.inf, "high must be finite, got inf"),
        (10**400, 1, "low must be finite"),
        ("0", 1, "low must be a number, got '0'"),
        (False, 1, "low must be a number, got False"),
        (-1e308, 1e308, "too wide"),
        (0, 1e300, "too wide"),
        (0, 1e61, "too wide: rescale the values, so that it is between 1e-60 and 1e.60 wide"),
        (0, 1e-61, "too narrow"),
        (1e15, 1e15 + 1, "too narrow"),
        (0, 5e-324, "too narrow"),
    ],
)
def test_bad_ends_are_refused(low, high, message):
    with pytest.raises(InvalidParameterError, match=message.replace("(", r"\(")):
        IntervalDomain(low, high)


@pytest.mark.parametrize("given_domain", [5, "01", (1,), (0, 1, 2), None, {0, 1}, 1.5])
def test_what_is_no_interval_is_refused(given_domain):
    with pytest.raises(InvalidParameterError, match="two ends"):
        as_interval(given_domain)


def test_an_interval_is_a_frozen_value():
    domain = as_interval([-1, 1])
    assert as_interval(domain) is domain
    assert domain == IntervalDomain(-1.0, 1.0) != IntervalDomain(-1, 2)
    assert domain != (-1, 1)
    assert hash(domain) == hash(IntervalDomain(-1, 1))
    assert domain.digest == IntervalDomain(-1, 1).digest != IntervalDomain(-1, 1.5).digest
    assert pickle.loads(pickle.dumps(domain)) == domain
    assert IntervalDomain(-0.0, 1).digest == IntervalDomain(0, 1).digest
    assert (str(domain), repr(domain), domain.to_json()) == ("[-1, 1]", "IntervalDomain(-1, 1)", [-1.0, 1.0])
    with pytest.raises(FrozenError):
        domain.low = 0


@given(low=finite, width=st.floats(1e-3, 1e12))
def test_places_are_exact_both_ways(low, width):
    try:
        domain = IntervalDomain(low, low + width)
    except InvalidParameterError:
        assert width < 4 * GRID * math.ulp(max(abs(low), abs(low + width)))
        return
    places = np.unique(np.concatenate([[0, 1, 2, GRID // 3, GRID - 1, GRID], np.arange(0, GRID, 997)]))
    assert (domain.encode(domain.decode(places)) == places).all()
    assert domain.decode([0, GRID]).tolist() == [domain.low, domain.high]


@given(st.floats(0, 1))
def test_a_value_goes_to_the_nearest_place(value):
    place = int(IntervalDomain(0, 1).encode([value])[0])
    assert abs(place / GRID - value) <= 0.5 / GRID


def test_long_columns_are_placed_like_short_ones():
    values = np.linspace(-3, 7, 200_001)
    domain = IntervalDomain(-3, 7)
    assert (domain.encode(values) == np.rint((values + 3) / 10 * GRID)).all()


@pytest.mark.parametrize(
    "column",
    [
        [0.0, 0.5, 1.0],
        (0, 0.5, 1),
        np.array([0, 0.5, 1], np.float32),
        pd.Series([0, 0.5, 1]),
        pl.Series([0.0, 0.5, 1.0]),
        iter([0, 0.5, 1]),
    ],
)
def test_every_kind_of_column_is_taken(column):
    assert IntervalDomain(0, 1).encode(column).tolist() == [0, GRID // 2, GRID]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0.5, 1.5], r"value 1.5 at position 1 is not in the interval \[0, 1\].*clip=True"),
        ([-1e-9], r"value -1e-09 at position 0"),
        (np.array([0.5, math.nan]), "value nan at position 1 is not a finite number: drop missing"),
        ([0.5, math.inf], "value inf at position 1 is not a finite number: remove it"),
        ([0.5, -math.inf], "value -inf at position 1"),
        ([10**400], "too large"),
        ([10**30], r"value 1e\+30 at position 0"),
        ([], "there are no values"),
        (["0.5"], "text"),
        ([None], "missing"),
        ("0.5", "single string"),
        ([[0.5]], "one-dimensional|is a list"),
        (np.array([0.5 + 0j]), "complex"),
        (np.array(["2020-01-01"], "M8[D]"), "datetime"),
        (0.5, "sequence"),
    ],
)
def test_foreign_values_are_refused(values, message):
    with pytest.raises(InvalidInputError, match=message):
        IntervalDomain(0, 1).encode(values)


def test_clipping_is_asked_for_counted_and_reported():
    domain = IntervalDomain(0, 1)
    with pytest.warns(ClippedWarning, match=r"2 of 3 values were outside \[0, 1\]"):
        assert domain.encode([-5, 0.25, 9], steps=4, clip=True).tolist() == [0, 1, 4]
    assert domain.encode([0.25], steps=4, clip=True).tolist() == [1]  # nothing moved: no warning
    numbers, moved = domain.clip([-5, 0.25, 9])
    assert (numbers.tolist(), moved) == ([0.0, 0.25, 1.0], 2)
    for bad in (math.nan, math.inf):
        with pytest.raises(OutOfDomainError, match="not a finite number"):
            domain.encode(np.array([0.5, bad]), clip=True)
