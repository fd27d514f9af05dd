"""`ldpkit estimate` on Parquet files."""

from __future__ import annotations

import json

import pytest

from engines.lakes import make_lake
from ldpkit.engines.local import tally
from ldpkit.estimation.evidence import Evidence
from ldpkit.mechanisms.tally import Tally


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lake")
    make_lake(folder, n=600)
    return folder


def test_a_pattern_of_files_is_one_estimate(run, lake, tmp_path):
    kept = tmp_path / "app.tally"
    pattern = f"{lake}/question=app/*/*.parquet"
    result = json.loads(run("estimate", pattern, "--format", "json", "--save-tally", kept).out)
    whole = tally(lake / "question=app").total()
    assert result["rows"] == whole.estimate().rows()
    assert Tally.from_bytes(kept.read_bytes()) == whole


def test_a_name_is_that_of_a_file_before_it_is_a_pattern(run, lake, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "values.txt").write_text("0\n1\n")
    words = ("-p", "grr", "-e", 1, "--domain", 2, "--seed", 1)
    run("privatize", "values.txt", *words, "-o", "answers [2].ldp")
    assert "n=2 reports" in run("estimate", "answers [2].ldp").out
    named = next(lake.rglob("question=app/**/*.parquet"))
    (tmp_path / "x[1].parquet").write_bytes(named.read_bytes())
    (tmp_path / "x1.parquet").write_text("another one")
    assert run("estimate", "x[1].parquet").out == run("estimate", named).out
    for name, told in (
        (
            "a[/b].ldp",
            "cannot read the report file 'a[/b].ldp': No such file or directory: check the path",
        ),
        ("[bold]x", "there is no file '[bold]x', and no Parquet file fits it: check the path"),
        (
            "empty",
            "there is no Parquet file in the folder 'empty': name report files",
        ),
    ):
        assert run("estimate", name, code=2).error_line.startswith(f"error: {told}")


def test_groups_are_one_table_with_every_engine(run, lake):
    words = ("estimate", lake, "--by", "question,day", "--format", "csv", "--consistency", "norm_sub")
    one = run(*words).out
    assert one.splitlines()[0].startswith("question,day,value,")
    assert len(one.splitlines()) == 1 + 2 * (64 + 3)
    pytest.importorskip("dask", reason="the extra dask is not installed")
    assert run(*words, "--engine", "dask").out == one
    shown = run("estimate", lake, "--by", "question", "--top", 2).out
    assert "by question" in shown


def test_maximum_likelihood_of_a_lake(run, lake):
    found = json.loads(run("estimate", lake / "question=mood", "--estimator", "mle", "--format", "json").out)
    whole = Evidence.from_tally(tally(lake / "question=mood").total())
    assert found["rows"] == whole.estimate("mle").rows()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--by", "city"), "has no column 'city'"),
        ((), "do not mix"),
        (("--estimator", "mle", "--by", "day"), "leave out --by"),
        (("--estimator", "mle", "--engine", "spark"), "use --engine dask"),
        (("--master", "local[2]"), "give --engine spark or --engine dask"),
        (("--by", "question", "--sort", "value"), "leave out --sort"),
    ],
)
def test_refusals_are_one_line(run, lake, words, said):
    assert said in run("estimate", lake, *words, code=2).error_line


def test_a_report_file_has_no_groups_and_does_not_mix_with_a_lake(run, lake, tmp_path):
    file = tmp_path / "a.ldp"
    file.write_bytes(b"LDPR")
    assert "--by is for Parquet files" in run("estimate", file, "--by", "day", code=2).error_line
    assert "is not a Parquet file" in run("estimate", file, lake, code=2).error_line
    assert "no Parquet file fits" in run("estimate", f"{lake}/x*.parquet", code=2).error_line
