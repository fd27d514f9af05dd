"""Rows that are made when they are looked at are those that a list would have."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest

from ldpkit.bench.benchmark import frequencies
from ldpkit.bench.experiment import Cell, Experiment, Row
from ldpkit.bench.rows import Keys, Rows
from ldpkit.core.errors import InvalidParameterError


def test_keys_are_those_of_a_product():
    axes = ("a", "b"), ("x", "y", "z"), range(4)
    wanted = list(itertools.product(*axes))
    for turned in (False, True):
        keys = Keys(*axes, turned=turned)
        expected = [key[::-1] if turned else key for key in wanted]
        assert list(keys) == [keys[place] for place in range(len(keys))] == expected
        assert keys[-1] == expected[-1]
        assert keys[3:9:2] == tuple(expected[3:9:2])
    with pytest.raises(IndexError):
        keys[24]


def test_rows_are_a_sequence():
    parts = [
        Rows(Row, Cell(1.0, name), Keys(["none"], ["mae"], range(3)), [0.5, 1, 2]) for name in ("a", "b")
    ]
    rows = Rows.joined(parts)
    expected = [
        Row(1.0, name, "none", "mae", at, value) for name in "ab" for at, value in enumerate((0.5, 1.0, 2.0))
    ]
    assert rows == expected
    assert list(rows) == [rows[place] for place in range(6)] == expected
    assert rows[1:5] == tuple(expected[1:5])
    assert rows[-1] == expected[-1]
    assert rows != expected[:-1]
    assert type(rows[0].value) is float
    with pytest.raises(IndexError):
        rows[6]
    with pytest.raises(ValueError, match="1 values for 3 keys"):
        Rows(Row, Cell(1.0, "a"), Keys(["none"], ["mae"], range(3)), [0.5])


def test_a_row_that_is_kept_takes_little_memory():
    experiment = Experiment(np.array([6, 4]), [1.0], ["grr"], ["none"], ["mae"], repeats=20_000)
    experiment.run_cell(experiment.cells()[0])  # what is imported at first does not count
    tracemalloc.start()
    try:
        kept = experiment.run_cell(experiment.cells()[0]).rows
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert len(kept) == 20_000
    assert taken < 40 * len(kept)  # as objects, they take 150 bytes each


def test_a_number_of_rows_is_not_negative():
    found = frequencies("uniform:k=4,n=100", ["grr"], methods=["none"], repeats=2)
    assert len(found.rows(1)) == 1
    with pytest.raises(InvalidParameterError, match="top must be"):
        found.rows(-1)


def test_estimates_that_no_method_processes_take_half(monkeypatch):
    asked = {"data": "uniform:k=500,n=100", "protocols": ["oue"], "repeats": 101, "run": False}
    monkeypatch.setenv("LDPKIT_MEMORY", "2M")
    assert frequencies(**asked, methods=["none"]).experiment.repeats == 101
    with pytest.raises(InvalidParameterError, match="set LDPKIT_MEMORY"):
        frequencies(**asked, methods=["none", "norm"])
