"""Columns of values, from arrays and from frames: what is taken, and what is refused."""

from __future__ import annotations

import datetime
import decimal

import numpy as np
import pytest

from ldpkit.core.domains.categorical import CategoricalDomain
from ldpkit.core.errors import InvalidInputError
from ldpkit.core.parameters import as_array

# --- arrays ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "values",
    [
        *(
            "text",
            b"text",
            5,
            5.0,
            None,
            object(),
            np.array(5),
            np.zeros((2, 2)),
            np.zeros((2, 0)),
            [[0], [1]],
        ),
        *([None], [0, None], [np.nan, "a"], [0, "a"], [object()], [{}], [(0,)], [1j], np.array([1j])),
        *(
            np.array(["2020"], "M8[Y]"),
            [np.datetime64("NaT", "D")],
            [datetime.date(2020, 1, 1)],
            [decimal.Decimal(1)],
        ),
        *(np.ma.masked_array([0, 1], [0, 1]), np.array([(1,)], [("a", int)]), np.array([None, 0], object)),
        *(np.array([[0], [1]], object), [b"a"], [np.array(0)], [[]]),
        [np.array([0, 1]), np.array([1, 2])],
        [decimal.Decimal("sNaN")],
    ],
)
def test_what_is_no_column_of_values_is_refused(values):
    with pytest.raises(InvalidInputError):
        as_array(values)


def test_the_missing_value_is_named():
    with pytest.raises(InvalidInputError, match="value None at position 2 is missing: drop missing values"):
        as_array([0, 1, None])
    with pytest.raises(InvalidInputError, match="value nan at position 1 is missing"):
        as_array([0, float("nan")])


def test_nothing_is_no_input():
    for nothing in ([], (), np.empty(0), np.empty(0, int), iter(())):
        with pytest.raises(InvalidInputError, match="no values"):
            CategoricalDomain(3).encode(nothing)


def test_arrays_are_not_copied():
    array = np.arange(5)
    assert as_array(array) is array


def test_a_masked_array_without_masks_is_an_array():
    assert CategoricalDomain(3).encode(np.ma.masked_array([0, 2])).tolist() == [0, 2]


# --- frames ----------------------------------------------------------------------------


def columns():
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    return pandas, polars, pyarrow


def test_columns_of_frames_are_understood():
    pd, pl, pa = columns()
    numbers, texts = CategoricalDomain(4), CategoricalDomain(["a", "b", "c"])
    for column in (
        pd.Series([3, 0]),
        pd.Series([3, 0], index=[7, 7]),
        pd.Series([3.0, 0.0]),
        pd.Series([3, 0], dtype="Int64"),
        pd.Series([3, 0], dtype="int64[pyarrow]"),
        pd.Index([3, 0]),
        pl.Series([3, 0]),
        pl.Series([3, 0], dtype=pl.UInt8),
        pa.array([3, 0]),
        pa.array([3, 0], pa.uint8()),
        pa.chunked_array([[3], [0]]),
    ):
        assert numbers.encode(column).tolist() == [3, 0], repr(column)
    for column in (
        pd.Series(["c", "a"]),
        pd.Series(["c", "a"], dtype="string"),
        pd.Series(["c", "a"], dtype="category"),
        pd.Series(["c", "a"], dtype="category").cat.reorder_categories(["c", "a"]),
        pl.Series(["c", "a"]),
        pl.Series(["c", "a"], dtype=pl.Categorical),
        pl.Series(["c", "a"], dtype=pl.Enum(["c", "b", "a"])),
        pa.array(["c", "a"]),
        pa.array(["c", "a"], pa.large_string()),
        pa.chunked_array([["c"], ["a"]]),
        pa.array(["c", "a"]).dictionary_encode(),
    ):
        assert texts.encode(column).tolist() == [2, 0], repr(column)
    for column in (pd.Series([True, False]), pl.Series([True, False]), pa.array([True, False])):
        assert numbers.encode(column).tolist() == [1, 0]


def test_missing_values_in_columns_are_refused():
    pd, pl, pa = columns()
    numbers, texts = CategoricalDomain(4), CategoricalDomain(["a", "b", "nan", "None", "<NA>"])
    for column in (
        pd.Series([3, None]),
        pd.Series([3, None], dtype="Int64"),
        pd.Series([3, None], dtype="int64[pyarrow]"),
        pd.Series([pd.NaT, pd.NaT]),
        pl.Series([3, None]),
        pl.Series([True, None]),
        pl.Series([None, None]),
        pa.array([3, None]),
        pa.array([True, None]),
        pa.nulls(2),
        pa.chunked_array([[3], [None]]),
    ):
        with pytest.raises(InvalidInputError):
            numbers.encode(column)
    for column in (
        pd.Series(["a", None]),
        pd.Series(["a", float("nan")]),
        pd.Series(["a", None], dtype="category"),
        pl.Series(["a", None]),
        pl.Series(["a", None], dtype=pl.Categorical),
        pa.array(["a", None]),
        pa.array(["a", None]).dictionary_encode(),
    ):
        with pytest.raises(InvalidInputError):
            texts.encode(column)


def test_pandas_na_is_refused():
    pd, _, _ = columns()
    for column in (
        pd.Series(["a", None], dtype="string"),
        pd.Series([True, None], dtype="boolean"),
        [pd.NA],
        ["a", pd.NA],
    ):
        with pytest.raises(InvalidInputError, match="missing"):
            as_array(column)


def test_tables_and_other_types_of_columns_are_refused():
    pd, pl, pa = columns()
    for column in (
        pd.DataFrame({"a": [0, 1]}),
        pl.DataFrame({"a": [0, 1]}),
        pa.table({"a": [0, 1]}),
        pl.Series([[0], [1]]),
        pl.Series([0, 1]).cast(pl.Date),
        pd.to_datetime(pd.Series(["2020-01-01"])),
        pd.Series([[0], [1]]),
        pd.Series([1 + 0j]),
    ):
        with pytest.raises(InvalidInputError):
            CategoricalDomain(4).encode(column)
