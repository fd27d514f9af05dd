"""Result files: written whole, read back, and never mixed with another experiment."""

import json

import numpy as np
import pytest

from ldpkit.bench.grid import Cell, Experiment
from ldpkit.bench.results import as_text, finished, format_of, load, save
from ldpkit.core.errors import FileFormatError, InvalidParameterError, MismatchError


def make(**changes):
    settings = {
        "counts": np.array([5, 3, 2]),
        "epsilons": [1.0],
        "protocols": ["grr", "oue"],
        "methods": ["none"],
        "metrics": ["mae"],
        "repeats": 2,
    }
    return Experiment(**{**settings, **changes})


@pytest.fixture
def rows():
    return [row for result in make().run() for row in result.rows]


@pytest.mark.parametrize("suffix", ["csv", "json", "parquet"])
def test_rows_come_back_as_they_were(tmp_path, rows, suffix):
    path = tmp_path / f"results.{suffix}"
    save(path, rows, make())
    assert load(path, make()) == rows
    assert sorted(each.name for each in tmp_path.iterdir()) == [path.name, f"{path.name}.run.json"]


def test_the_tidy_columns_are_the_documented_ones(rows):
    assert as_text(rows, "csv").splitlines()[0] == "epsilon,protocol,method,metric,repeat,value"
    assert json.loads(as_text(rows, "json"))[0].keys() == {
        "epsilon", "protocol", "method", "metric", "repeat", "value",
    }  # fmt: skip


def test_only_whole_cells_are_finished(rows):
    assert finished(rows, make()) == [Cell(1.0, "grr"), Cell(1.0, "oue")]
    assert finished(rows[:-1], make()) == [Cell(1.0, "grr")]


@pytest.mark.parametrize(
    "changes",
    [{"seed": 1}, {"repeats": 3}, {"counts": np.array([5, 3, 3])}, {"metrics": ["l1"]}, {"engine": "users"}],
)
def test_rows_of_another_experiment_are_refused(tmp_path, rows, changes):
    save(tmp_path / "results.csv", rows, make())
    with pytest.raises(MismatchError, match=next(iter(changes)).replace("counts", "counts_sha256")):
        load(tmp_path / "results.csv", make(**changes))


def test_more_protocols_and_budgets_may_join(tmp_path, rows):
    save(tmp_path / "results.csv", rows, make())
    assert load(tmp_path / "results.csv", make(protocols=["ss", "grr"], epsilons=[1.0, 2.0])) == rows


def test_files_that_are_no_results_are_refused(tmp_path, rows):
    path = tmp_path / "results.csv"
    with pytest.raises(FileFormatError, match="cannot be resumed"):
        load(path, make())
    save(path, rows, make())
    path.write_text("a,b\n1,2\n")
    with pytest.raises(FileFormatError, match="not a result file"):
        load(path, make())
    with pytest.raises(InvalidParameterError, match=r"\.csv, \.json or \.parquet"):
        format_of(tmp_path / "results.xls")
