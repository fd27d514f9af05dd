"""Rows that are written by column are the text that the standard library makes of them."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

from ldpkit.cli.options import Format
from ldpkit.cli.printing import present, show
from ldpkit.core.results import in_columns
from ldpkit.files.writing import write_csv, write_json
from ldpkit.mechanisms.lookup import get
from ldpkit.mechanisms.tally import Tally

LABELS = ["a,b", 'say "x"', "two\nlines", "é", "100%", ""]


@pytest.fixture(params=[LABELS, 6], ids=["labels", "numbers"])
def estimate(request):
    return Tally(get("oue", request.param, epsilon=1.0), 50, [0, 12, 14, 12, 50, 0]).estimate()


def written(result, style):
    stream = io.StringIO()
    present(result, style, file=stream)
    return stream.getvalue()


def test_csv_is_what_a_writer_makes_of_the_rows(estimate):
    expected = io.StringIO()
    writer = csv.DictWriter(expected, list(estimate.rows()[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(estimate.rows())
    assert written(estimate, Format.csv) == expected.getvalue()


def test_json_is_what_the_library_makes_of_the_envelope(estimate, monkeypatch):
    monkeypatch.setattr("ldpkit.estimation.estimate._AT_ONCE", 4)
    assert written(estimate, Format.json) == estimate.to_json() + "\n"


def test_numbers_keep_their_sign_and_what_is_not_finite_has_a_word():
    columns = {"x": np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 0.1])}
    text, whole = io.StringIO(), io.StringIO()
    write_csv([columns], text)
    write_json({}, [columns], whole)
    assert text.getvalue().split() == ["x", "0.0", "-0.0", "inf", "-inf", "nan", "0.1"]
    rows = json.loads(whole.getvalue())["rows"]
    assert [str(row["x"]) for row in rows] == ["0.0", "-0.0", "infinite", "-infinite", "None", "0.1"]


def test_cells_that_hold_more_are_indented_as_the_library_does():
    rows = [{"a%s": {"b": [1, 2.5], "c": None}, "d": True}, {"a%s": {}, "d": np.float64("inf")}]
    stream = io.StringIO()
    show(rows, Format.json, file=stream)
    told = json.loads(stream.getvalue())
    assert told["rows"] == [rows[0], {"a%s": {}, "d": "infinite"}]
    assert stream.getvalue() == json.dumps(told, indent=2) + "\n"


@pytest.mark.parametrize("count", [0, 1, 1024, 1025])
def test_any_number_of_rows_is_written(count):
    rows = [{"value": each, "n": each / 3} for each in range(count)]
    stream = io.StringIO()
    write_json({"rows": []}, in_columns(rows), stream)
    assert stream.getvalue() == json.dumps({"rows": rows}, indent=2) + "\n"
    stream = io.StringIO()
    write_csv(in_columns(rows), stream)
    assert len(stream.getvalue().splitlines()) == count + 1
