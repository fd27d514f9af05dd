"""Missing values, decimal commas, endings, extras and standard output: told before any work is done."""

from __future__ import annotations

import importlib.util
import json
import sys

import pytest

import ldpkit
from ldpkit.cli.inputs import load_people
from ldpkit.cli.options import Missing
from ldpkit.cli.outputs import announce
from ldpkit.core.installing import install_command

PEOPLE = "age,city\n3,Rome\n,Oslo\n70.5,\nnan,Rome\n50,Oslo\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "comma.txt").write_text("1\n3,5\n")
    (tmp_path / "cities.txt").write_text("Rome\nOslo\n")
    return tmp_path


AGES = ("people.csv", "--column", "age", "--low", 0, "--high", 60)
READ = {
    "mean": ("mean", *AGES, "-e", 1, "-p", "pm", "--clip"),
    "density": ("density", *AGES, "-e", 1, "--bins", 2, "--clip"),
    "risk": ("risk", "-d", *AGES, "-p", "duchi", "--clip"),
    "plan": ("plan", "budget", "-d", *AGES, "--within", 9, "--n", 900, "--clip"),
    "bench": ("bench", "--task", "mean", "-d", *AGES, "-p", "pm", "-r", 2, "--clip"),
    "privatize": ("privatize", *AGES, "-e", 1, "-p", "pm", "-o", "out.ldp", "--clip"),
}


@pytest.mark.parametrize("command", READ)
def test_missing_numbers_are_refused_or_dropped_and_counted(run, folder, command):
    words = READ[command]
    line = run(*words, code=2).error_line
    assert "'people.csv', line 3: the value is missing" in line
    assert "leave it out with --missing drop" in line
    assert not (folder / "out.ldp").exists()
    told = run(*words, "--missing", "drop").err
    assert "2 missing values were left out, 3 are left" in told
    assert "1 of 3 values were outside and were moved to the nearest end" in told
    (folder / "out.ldp").unlink(missing_ok=True)
    unclipped = run(*words[:-1], "--missing", "drop", code=2).error_line
    assert "'people.csv', line 4: value 70.5 is not in the interval [0, 60]" in unclipped
    assert "--clip" in unclipped


def test_missing_categories_too(run, folder):
    words = ("privatize", "people.csv", "--column", "city", "-p", "grr", "-e", 1, "--domain", "@cities.txt")
    assert "line 4: the value is missing" in run(*words, "-o", "out.ldp", code=2).error_line
    assert "1 missing value was left out, 4 are left" in run(*words, "-o", "out.ldp", "--missing", "drop").err
    assert ldpkit.ReportFile.open("out.ldp").n == 4
    people = load_people("people.csv", "city", Missing.drop)
    assert (people.n, people.dropped, people.counts.tolist()) == (4, 1, [2, 2])
    assert "all values are missing" in refuse_all(run, folder)


def refuse_all(run, folder):
    (folder / "none.csv").write_text("x,y\n,1\n,2\n")
    words = (
        "privatize",
        "none.csv",
        "--column",
        "x",
        "-p",
        "grr",
        "-e",
        1,
        "--domain",
        3,
        "--missing",
        "drop",
        "-o",
        "n.ldp",
    )
    return run(*words, code=2).error_line


def test_rows_of_parquet_are_counted_from_1_whatever_was_dropped(run, folder):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table({"x": [1.0, None, float("nan"), 7.0]}), folder / "a.parquet")
    words = ("mean", "a.parquet", "--low", 0, "--high", 5, "-e", 1, "-p", "pm")
    assert "'a.parquet', row 2: the value is missing" in run(*words, code=2).error_line
    assert "'a.parquet', row 4: value 7.0 is not in" in run(*words, "--missing", "drop", code=2).error_line


def test_a_decimal_comma_in_a_file_is_named(run):
    line = run("mean", "comma.txt", "--low", 0, "--high", 9, "-e", 1, code=2).error_line
    assert "line 2: value '3,5' is not a number: a decimal has a point: write 3.5" in line


def test_a_domain_can_be_a_column_of_a_table(run, folder):
    (folder / "places.csv").write_text("name,code\nRome,7\nOslo,9\n")
    words = ("risk", "-p", "grr", "-e", 1, "--format", "json", "--domain")
    assert json.loads(run(*words, "@places.csv:name").out)["about"]["values"] == 2
    assert (
        "write --domain @places.csv:COLUMN with one of name, code"
        in run(*words, "@places.csv", code=2).error_line
    )
    assert "has no column 'town'" in run(*words, "@places.csv:town", code=2).error_line


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("estimate", "x.ldp", "-o", "a.xlsx"), "--output is written as .csv, .json or .txt, got 'a.xlsx'"),
        (("bench", "-o", "a.xlsx"), "--output is written as .csv, .json or .parquet, got 'a.xlsx'"),
        (("bench", "--report", "a.pdf"), "--report is written as .html, got 'a.pdf'"),
        (("audit", "x.ldp", "--report", "a.doc"), "--report is written as .html, got 'a.doc'"),
        (
            ("risk", "--domain", 3, "--figure", "a.gif"),
            "--figure is written as .png, .svg or .pdf, got 'a.gif'",
        ),
        (("risk", "--domain", 3, "--figure", "-"), "--figure goes to a file, not to standard output"),
        (("bench", "--resume", "-o", "-"), "--resume needs the file to go on with"),
        (("datasets", "prepare", "values", "cities.txt", "-o", "a.xls"), "--output is written as .csv"),
    ],
)
def test_an_ending_that_cannot_be_written_is_refused_before_any_work(run, words, said):
    assert said in run(*words, code=2).error_line


@pytest.mark.parametrize(
    ("library", "words", "extra"),
    [
        ("matplotlib", ("bench", "--figure", "a.png"), "plots"),
        ("matplotlib", ("bench", "--report", "a.html"), "plots"),
        ("pyarrow", ("bench", "-o", "a.parquet"), "frames"),
        ("bayes_opt", ("plan", "budget", "--at-most", 1, "--search", "bayes"), "optimisation"),
    ],
)
def test_a_missing_extra_is_named_before_any_work(run, monkeypatch, library, words, extra):
    find = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == library else find(name))
    line = run(*words, code=2).error_line
    assert line.endswith(install_command(extra))


def test_a_dash_is_standard_output(run):
    run("privatize", "cities.txt", "-p", "grr", "-e", 1, "--domain", "@cities.txt", "-o", "a.ldp")
    printed, plain = run("estimate", "a.ldp", "-o", "-"), run("estimate", "a.ldp")
    assert printed.out == plain.out
    assert (
        run("datasets", "prepare", "values", "cities.txt", "-o", "-").out == "value,count\nOslo,1\nRome,1\n"
    )
    rows = run("bench", "-d", "zipf:k=8,n=900", "-p", "grr", "-m", "none", "-r", 2, "-o", "-").out
    assert rows.splitlines()[0] == "epsilon,protocol,method,metric,repeat,value"


def test_reports_go_to_a_pipe(folder):
    import subprocess

    words = ("privatize", "cities.txt", "-p", "grr", "-e", "1", "--domain", "@cities.txt", "-o", "-")
    done = subprocess.run([sys.executable, "-m", "ldpkit", *words], capture_output=True, check=True)
    (folder / "piped.ldp").write_bytes(done.stdout)
    assert ldpkit.ReportFile.open("piped.ldp").n == 2


def test_a_large_file_is_announced(capsys, folder):
    announce(folder / "a.ldp", 1_000_000, 12_500, "reports")
    assert "will have about 12.5 GB: 1,000,000 reports of 12,500 bytes each" in capsys.readouterr().err
    announce(folder / "a.ldp", 1000, 12_500, "reports")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("plan", "budget", "-p", "all", "--at-most", 0.02, "--search", "analytic"),
            "dbitflip with analytic",
        ),
        (
            ("plan", "budget", "-p", "all", "--low", 0, "--high", 9, "--within", 1, "--n", 900),
            "aaa (is fitted",
        ),
        (("risk", "-p", "all", "--domain", 3), "(needs epsilon_inf and epsilon_1)"),
        (("recommend", "-p", "all", "-d", "zipf:k=8,n=900", "-e", 1, "-r", 2), "(needs epsilon_inf and"),
        (("bench", "-p", "all", "-m", "none", "-d", "zipf:k=8,n=900", "-r", 2), "(needs epsilon_inf and"),
    ],
)
def test_all_says_what_it_leaves_out(run, words, said):
    (line,) = (each for each in run(*words).err.splitlines() if each.startswith("left out of 'all': "))
    assert said in line
