"""`ldpkit plan budget` about numbers, as a user asks for it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
MEAN = ("plan", "budget", "--low", 0, "--high", 100, "--within", 0.5)


@pytest.fixture
def ages(tmp_path: Path) -> Path:
    file = tmp_path / "ages.csv"
    file.write_text("id,age\n" + "".join(f"{row},{18 + row % 60}\n" for row in range(3000)))
    return file


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_a_table_says_the_smallest_epsilon(run: Run) -> None:
    result = run(*MEAN, "--n", 100_000, "-p", "hm", "pm,duchi")
    assert "The smallest epsilon for mean within 0.5 with probability at least 0.95" in result.out
    assert "1.2822" in result.out
    assert "for any numbers" in result.out
    assert "hm needs the smallest epsilon: 1.282" in result.err


def test_it_says_what_recommend_says(run: Run) -> None:
    planned = rows(run(*MEAN, "--n", 50_000, "-p", "all", "--format", "csv").out)
    options = ("recommend", "--low", 0, "--high", 100, "--within", 0.5, "--n", 50_000, "--format", "json")
    recommended = {row["mechanism"]: row["epsilon"] for row in json.loads(run(*options).out)["rows"]}
    assert {row["protocol"] for row in planned} == set(recommended) - {"nothing"}
    for row in planned:
        assert float(row["epsilon"]) == pytest.approx(recommended[row["protocol"]])


def test_simulations_verify_it(run: Run) -> None:
    out = run(*MEAN, "--n", 100_000, "--verify", "--format", "json").out
    result = json.loads(out)
    result |= result["about"]
    selected, below = result["verified"]
    assert selected["runs"] == below["runs"] == 20_000
    assert selected["probability"] == pytest.approx(0.95, abs=0.007), "false alarm rate 7e-6"
    assert (selected["protocol"], below["holds"]) == ("hm", "no")
    assert result["goal"].startswith("mean within 0.5")
    assert {trial["protocol"] for trial in result["trace"]} == {"hm"}
    assert "Independent simulation" in run(*MEAN, "--n", 90_000, "-p", "duchi", "--verify").out


def test_a_file_of_numbers_stands_in_for_the_people(run: Run, ages: Path) -> None:
    options = (*MEAN[:-1], 2, "-d", ages, "--column", "age", "-p", "pm", "--format", "json")
    found = json.loads(run(*options).out)
    found |= found["about"]
    assert found["people"] == 3000
    assert found["scope"] == "for numbers like these"
    worst = json.loads(run(*MEAN[:-1], 2, "--n", 3000, "-p", "pm", "--format", "json").out)
    worst |= worst["about"]
    assert found["rows"][0]["epsilon"] < worst["rows"][0]["epsilon"]
    more = json.loads(run(*options, "--n", 100_000).out)
    more |= more["about"]
    assert more["people"] == 100_000
    assert more["rows"][0]["epsilon"] < found["rows"][0]["epsilon"]


def test_numbers_outside_are_refused_or_moved(run: Run, ages: Path) -> None:
    asked = ("plan", "budget", "-d", ages, "--column", "age", "--low", 20, "--high", 90, "--within", 2)
    assert "--clip" in run(*asked, code=2).error_line
    assert "of 3,000 values were outside and were moved" in run(*asked, "--clip").err


def test_a_figure_is_drawn(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "plan.svg"
    assert f"wrote {file}" in run(*MEAN, "--n", 9000, "-p", "hm", "pm", "--figure", file).err
    assert "<svg" in file.read_text()


def test_infeasible_is_said_and_has_an_exit_code(run: Run) -> None:
    result = run(*MEAN, "--n", 1000, "-p", "duchi", code=1)
    assert "infeasible" in result.out
    assert "not reached up to epsilon 20" in result.err
    some = run(*MEAN, "--n", 1000, "-p", "duchi", "pm", "--format", "csv")
    assert [row["feasible"] for row in rows(some.out)] == ["False", "True"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-u", "mae"), "how far off it may be: leave out --metric"),
        (("--at-most", 0.1), "how far off it may be: leave out --at-most"),
        (("--at-least", 0.1), "how far off it may be: leave out --at-least"),
        (("--search", "bs"), "how far off it may be: leave out --search"),
        (("--consistency", "norm_sub"), "how far off it may be: leave out --consistency"),
        (("--parameter", "g=6"), "how far off it may be: leave out --parameter"),
        (("--tolerance", 0.1), "how far off it may be: leave out --tolerance"),
        (("-p", "oue"), "oue is for categories, not for numbers: choose from"),
        (("-p", "hmm"), "did you mean hm"),
        (("-p", "truncated_pm"), "makes biased reports: take some of duchi"),
        (("-p", "aaa"), "is fitted to data that is not there yet"),
        (("--column", "age"), "give one with -d FILE"),
        (("--clip",), "give one with -d FILE"),
        (("-d", "missing.csv"), "missing.csv"),
        (("--within", 0), "positive"),
        (("--within", "nan"), "positive"),
        (("--high", -1), "low must be below high"),
        (("--probability", 1), "strictly between 0 and 1"),
        (("--eps-min", 3, "--eps-max", 2), "below the largest"),
        (("--n", 10**19), "must be below 2**62"),
        (("--figure", "plan.txt"), "--figure is written as"),
    ],
)
def test_mistakes_are_refused_in_one_line(run: Run, arguments: tuple[object, ...], message: str) -> None:
    assert message in run(*MEAN, "--n", 1000, *arguments, code=2).error_line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--low", 0, "--within", 1, "--n", 10), "--high is missing"),
        (("--within", 1, "--n", 10), "give it with --low and --high"),
        (("--low", 0, "--high", 1, "--n", 10), "give --within"),
        (("--low", 0, "--high", 1, "--within", 1), "give --n"),
    ],
)
def test_what_is_missing_is_named(run: Run, arguments: tuple[object, ...], message: str) -> None:
    assert message in run("plan", "budget", *arguments, code=2).error_line


def test_a_large_epsilon_and_a_bound_without_meaning_are_said(run: Run) -> None:
    small = ("plan", "budget", "--low", 0, "--high", 100, "--n", 100)
    far = run(*small, "--within", 0.5)
    assert "warning: hm: epsilon" in far.err
    assert "promises almost nothing" in far.err
    vague = json.loads(run(*small, "--within", 60, "--format", "json").out)
    vague |= vague["about"]
    (warning,) = vague["warnings"]
    assert warning == (
        "the bound is so loose that no collection is needed: "
        "the middle of the interval, 50, is never further off than 50"
    )


def test_ties_are_named(run: Run) -> None:
    result = run("plan", "budget", "--low", 0, "--high", 100, "--n", 1000, "--within", 20, "-p", "all")
    assert "duchi and hm tie for the smallest epsilon" in result.err
