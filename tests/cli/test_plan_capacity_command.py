"""`ldpkit plan capacity`."""

from __future__ import annotations

import csv
import io
import json

import pytest

from ldpkit.papers.capri.water import water


@pytest.fixture
def city(tmp_path):
    path = tmp_path / "water.csv"
    rows = "".join(f"{amount},{count}\n" for amount, count in enumerate(water(9_851, 159_849)))
    path.write_text("amount,count\n" + rows)
    return path


LIMIT = ("--capacity", 140_000, "--constraint", "fn", "--at-most", 0.05)


def test_the_table(run, city):
    out = run("plan", "capacity", "-d", city, *LIMIT).out
    for word in ("grr", "exact", "false negative at most 0.05", "total 159,849", "9,851 people", "cantelli"):
        assert word in out


def test_json_has_everything(run, city):
    answer = json.loads(run("plan", "capacity", "-d", city, *LIMIT, "-p", "grr,ss", "--format", "json").out)
    answer |= answer["about"]
    assert (answer["people"], answer["total"], answer["capacity"]) == (9_851, 159_849, 140_000)
    assert [row["protocol"] for row in answer["rows"]] == ["grr", "ss"]
    for row in answer["rows"]:
        assert row["holds"] == "yes"
        assert row["P(fn)"] == pytest.approx(0.05, abs=1e-3)
        assert row["P(fn)"] <= 0.05 < row["cantelli"] < row["chebyshev"]
    assert {trial["protocol"] for trial in answer["trace"]} == {"grr", "ss"}


@pytest.mark.parametrize("method", ["capri", "capri_r"])
def test_searches(run, city, method):
    options = ("--search", method, "--runs", 2000, "--seed", 3, "--format", "csv")
    first, second = (run("plan", "capacity", "-d", city, *LIMIT, *options).out for _ in range(2))
    (row,), (again,) = (list(csv.DictReader(io.StringIO(out))) for out in (first, second))
    assert (row["method"], row["epsilon"]) == (method, again["epsilon"])
    assert float(row["low"]) < float(row["P(fn)"]) < float(row["high"])


def test_verify_prints_both_epsilons(run, city):
    out = run("plan", "capacity", "-d", city, *LIMIT, "--verify", "--format", "json").out
    at, below = json.loads(out)["about"]["verified"]
    assert (at["runs"], below["runs"]) == (20_000, 20_000)
    assert below["epsilon"] == pytest.approx(0.9 * at["epsilon"])
    assert abs(at["probability"] - 0.05) < 4.5 * 0.00154, "false alarm: 7e-6"
    assert below["holds"] == "no"
    assert "Independent simulation" in run("plan", "capacity", "-d", city, *LIMIT, "--verify").out


def test_numeric_mechanisms_are_searched_and_verified_too(run, city):
    options = ("-p", "duchi,pm", "--format", "json", "--runs", 4000)
    found = {
        search[0]: json.loads(run("plan", "capacity", "-d", city, *LIMIT, *options, "--search", *search).out)
        for search in (("exact", "--verify"), ("capri",))
    }
    for exact, searched in zip(found["exact"]["rows"], found["capri"]["rows"], strict=True):
        assert searched["epsilon"] == pytest.approx(exact["epsilon"], rel=0.1)
    at_duchi, _, at_pm, below_pm = found["exact"]["about"]["verified"]
    assert abs(at_duchi["probability"] - 0.05) < 0.01
    assert abs(at_pm["probability"] - 0.05) < 4.5 * 0.00154, "false alarm: 7e-6"
    assert below_pm["holds"] == "no"


def test_outliers(run, city):
    answer = json.loads(
        run("plan", "capacity", "-d", city, *LIMIT, "--outliers", 0.9, "--format", "json").out
    )
    assert answer["about"]["outliers"]["lost"] > 0
    assert "which loses" in run("plan", "capacity", "-d", city, *LIMIT, "--outliers", 0.9).out


def test_figure(run, city, tmp_path):
    for options in ((), ("-p", "grr,oue")):
        result = run(
            "plan", "capacity", "-d", city, *LIMIT, *options, "--figure", tmp_path / "plan.svg", "--force"
        )
        assert "wrote" in result.err
        assert (tmp_path / "plan.svg").read_text().startswith("<?xml")


def test_other_inputs(run, tmp_path):
    out = run("plan", "capacity", "-d", "poisson:k=20,n=3000,mean=6", "--capacity", 15_000,
              "--constraint", "tp",
              "--at-least", 0.9, "--format", "json").out  # fmt: skip
    assert json.loads(out)["about"]["values"] == 20
    listed = tmp_path / "values.txt"
    listed.write_text("0\n1\n" * 300 + "2\n" * 400)
    out = run("plan", "capacity", "-d", listed, "--capacity", 900, "--constraint", "fn", "--at-most", 0.1,
              "--format", "json").out  # fmt: skip
    assert json.loads(out)["about"]["total"] == 1100


def test_a_mean_is_estimated_by_numeric_mechanisms(run, city):
    (row,) = json.loads(run("plan", "capacity", "-d", city, *LIMIT, "-p", "duchi", "--format", "json").out)[
        "rows"
    ]
    assert row["holds"] == "yes"
    assert "normal" in row["note"]


def test_infeasible_is_said_and_told_by_the_exit_code(run, city):
    result = run("plan", "capacity", "-d", city, "--capacity", 159_800, "--constraint", "fn",
                 "--at-most", 0.01, "--eps-max", 1, code=1)  # fmt: skip
    assert "infeasible" in result.err
    assert "grr" in result.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--constraint", "fp", "--at-most", 0.05),
            "a false positive cannot happen: the total 159,849 exceeds",
        ),
        (("--constraint", "fn", "--at-least", 0.05), "is a mistake: bound it from above"),
        (("--constraint", "fn"), "needs a bound: give at_most"),
        (("--constraint", "fn", "--at-most", 1.5), "strictly between 0 and 1"),
        (("--constraint", "fn", "--at-most", 0.05, "-p", "nix"), "unknown mechanism 'nix'"),
        (("--constraint", "fn", "--at-most", 0.05, "-p", "lgrr"), "planning looks for one epsilon"),
        (("--constraint", "fn", "--at-most", 0.05, "--figure", "plan.txt"), ".png, .svg or .pdf"),
        (
            ("--constraint", "fn", "--at-most", 0.05, "--eps-min", 5, "--eps-max", 1),
            "below epsilon_max",
        ),
        (
            ("--constraint", "fn", "--at-most", 0.05, "-p", "bounded_laplace", "--search", "capri"),
            "the mean report of bounded_laplace is not a linear",
        ),
    ],
)
def test_refusals(run, city, options, message):
    assert message in run("plan", "capacity", "-d", city, "--capacity", 140_000, *options, code=2).error_line


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("amount,count\n0,5\n1,-3\n", "is not a whole number of people"),
        ("amount,count\n0,0\n1,0\n", "all zero"),
        ("amount,count\nlow,5\nhigh,3\n", "'low' is not an amount"),
        ("amount,count\n", "no values"),
    ],
)
def test_files_that_cannot_be_used(run, tmp_path, text, message):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    assert message in run("plan", "capacity", "-d", path, *LIMIT, code=2).error_line


def test_help_has_examples(run):
    assert "ldpkit plan capacity -d water.csv" in run("plan", "capacity", "--help").out


def test_a_large_epsilon_is_said_to_be_large(run, tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("amount,count\n" + "".join(f"{amount},5\n" for amount in range(40)))
    asked = ("plan", "capacity", "-d", path, "--constraint", "tp", "--at-least", 0.9, "--format", "json")
    (told,) = json.loads(run(*asked, "--capacity", 3898, "--eps-max", 15).out)["warnings"]
    assert told.startswith("grr: epsilon ")
    assert "promises almost nothing. Guessing from the report succeeds in" in told
    (told,) = json.loads(run(*asked, "--capacity", 3600, "-p", "duchi").out)["warnings"]
    assert told.startswith("duchi: epsilon 4.07 is large.")
    assert json.loads(run(*asked, "--capacity", 3000, "-p", "grr,duchi").out)["warnings"] == []
