"""`ldpkit bench` from the outside."""

import json

import pytest

from forked import run_forked
from ldpkit.bench.experiment import Experiment

PLUGIN = '''
import numpy as np
from ldpkit.estimation.consistency import consistency
from ldpkit.mechanisms.base import register
from ldpkit.mechanisms.categorical.grr import GRR
from ldpkit.simulation.metrics import metric

@register
class Twin(GRR):
    """A copy of GRR."""
    name = "twin"
    aliases = ()
    title = "Twin"
    citation = "none"

@consistency("flat")
def flat(estimates, noise):
    return np.full_like(estimates, 1 / estimates.shape[1])

@metric("first_error", title="error of the first value")
def first_error(truth, estimates):
    return np.abs(estimates[:, 0] - truth[0])
'''

SMALL = ["bench", "-d", "zipf:k=8,n=2000", "-r", "2"]


def test_the_default_prints_the_table_and_what_to_do_next(run):
    done = run("bench", "-r", "2")
    for word in ("none", "norm", "grr", "olh", "next:"):
        assert word in done.out
    assert "best:" in done.err


@pytest.mark.parametrize(
    "epsilons", [["-e", "0.5", "1"], ["-e", "0.5,1"], ["-e", "0.5", "-e", "1"], ["--epsilon", "0.5", "1"]]
)
def test_several_values_may_be_given_in_any_way(run, epsilons):
    done = run(*SMALL, *epsilons, "-p", "grr", "oue", "-m", "none", "-u", "mae", "l2", "--format", "json")
    rows = json.loads(done.out)["rows"]
    assert {row["epsilon"] for row in rows} == {0.5, 1.0}
    assert {row["protocol"] for row in rows} == {"grr", "oue"}
    assert {row["metric"] for row in rows} == {"mae", "l2"}


def test_a_plugin_takes_part_everywhere(tmp_path):
    (tmp_path / "mine.py").write_text(PLUGIN)
    options = ["-p", "all", "-m", "all", "-u", "first_error", "--plugin", "mine.py"]
    files = ["--report", "page.html", "-o", "rows.csv"]
    done = run_forked([*SMALL, *options, *files], tmp_path)  # a plugin stays with its process
    assert done.returncode == 0, done.stderr
    rows = (tmp_path / "rows.csv").read_text()
    assert "twin" in rows
    assert "flat" in rows
    assert "twin" in (tmp_path / "page.html").read_text()


def test_numbers_with_decimals_that_are_taken_for_categories_are_noted(run, tmp_path):
    path = tmp_path / "scores.csv"
    for text, noted in (("0.5\n0.25\n0.125\n0.5\n", True), ("1.0\n2.0\n3.0\n", False)):
        path.write_text(text)
        told = run("bench", "-d", path, "-p", "grr", "-m", "none", "-r", 2).err
        assert ("note: these are numbers with 3 different values" in told) == noted


def test_an_interrupted_run_keeps_its_rows_and_goes_on(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    options = [*SMALL, "-p", "grr", "ss", "oue", "-m", "none", "-o"]
    run_cell = Experiment.run_cell

    def interrupted_at_the_third(experiment, cell):
        if cell.protocol == "oue":
            raise KeyboardInterrupt
        return run_cell(experiment, cell)

    with monkeypatch.context() as patch:
        patch.setattr(Experiment, "run_cell", interrupted_at_the_third)
        stopped = run(*options, "rows.csv", code=130)
    assert "wrote 4 rows to rows.csv; go on with --resume" in stopped.err
    assert len((tmp_path / "rows.csv").read_text().splitlines()) == 1 + 2 * 2
    assert not list(tmp_path.glob(".*.part"))
    resumed = run(*options, "rows.csv", "--resume")
    assert "2 of 3 cells were finished before" in resumed.err
    run(*options, "whole.csv")
    assert (tmp_path / "rows.csv").read_text() == (tmp_path / "whole.csv").read_text()
    refused = run(*options, "rows.csv", "--resume", "--seed", "9", code=2)
    assert "different seed" in refused.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-p", "olg"], "did you mean olh"),
        (["-m", "nrm_sub"], "did you mean norm_sub"),
        (["-u", "kendal"], "did you mean kendall"),
        (["-e", "0"], "epsilon must be positive and finite, got 0"),
        (["-e", "nan"], "epsilon must be positive and finite, got nan"),
        (["-e", "one"], "epsilon must be a number, got 'one'"),
        (["-d", "nowhere.csv"], "nowhere.csv"),
        (["--format", "parquet"], "-o results.parquet"),
        (["--resume"], "-o results.csv"),
        (["-o", "rows.xls"], ".csv, .json or .parquet"),
        (["--figure", "figure.gif"], ".png, .svg or .pdf"),
        (["--plugin", "missing.py"], "does not exist"),
    ],
)
def test_mistakes_get_one_line_and_exit_code_two(run, arguments, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert words in run(*SMALL, *arguments, code=2).error_line
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "arguments", "words"),
    [
        ("city\nRome\nRome\n", [], "at least 2 values"),
        ("city,age\nRome,3\n", ["--column", "cty"], "city"),
        ("value,count\na,b\nc,2\n", [], "b"),
    ],
)
def test_data_that_cannot_be_used_is_refused(run, text, arguments, words, tmp_path):
    (tmp_path / "data.csv").write_text(text)
    assert words in run("bench", "-d", tmp_path / "data.csv", *arguments, code=2).error_line
