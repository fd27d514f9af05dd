"""`ldpkit plan budget`: the smallest epsilon for a wanted accuracy, as a user asks for it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
DATA = "zipf:k=8,n=20000"


@pytest.fixture
def counts(tmp_path: Path) -> Path:
    file = tmp_path / "colours.csv"
    file.write_text("value,count\nred,12000\ngreen,5000\nblue,2500\ngrey,500\n")
    return file


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_a_table_says_epsilon_and_how_surely(run: Run, counts: Path) -> None:
    out = run("plan", "budget", "-d", counts, "-p", "oue", "-u", "mae", "--at-most", 0.01).out
    assert "The smallest epsilon for mean absolute error at most 0.01 with probability at least 0.9" in out
    assert "sequential" in out
    assert "yes" in out
    assert "20,000 people, 4 values" in out


def test_several_protocols_and_methods(run: Run) -> None:
    out = run(
        "plan", "budget", "-d", DATA, "-p", "grr", "oue,olh", "--at-most", 0.01,
        "--search", "analytic", "sequential", "--format", "csv",
    ).out  # fmt: skip
    found = rows(out)
    assert [(row["protocol"], row["method"]) for row in found] == [
        (protocol, method) for protocol in ("grr", "oue", "olh") for method in ("analytic", "sequential")
    ]
    for analytic, sequential in zip(found[::2], found[1::2], strict=True):
        assert abs(float(analytic["epsilon"]) - float(sequential["epsilon"])) < 0.1


def test_json_has_the_trace(run: Run) -> None:
    out = run(
        "plan", "budget", "-d", DATA, "-p", "rappor", "-u", "tau", "--at-least", 0.7,
        "--probability", 0.8, "--format", "json",
    ).out  # fmt: skip
    result = json.loads(out)
    result |= result["about"]
    assert result["goal"] == "Kendall's tau-b at least 0.7 with probability at least 0.8"
    assert (result["people"], result["values"]) == (20_000, 8)
    (row,) = result["rows"]
    assert row["protocol"] == "sue"
    assert row["holds"] == "yes"
    assert {trial["epsilon"] for trial in result["trace"]} >= {row["epsilon"], 20.0}


def test_a_seed_repeats_the_answer(run: Run) -> None:
    asked = ("plan", "budget", "-d", DATA, "--at-most", 0.01, "--format", "csv", "--seed")
    first, second, other = (rows(run(*asked, seed).out)[0] for seed in (3, 3, 4))
    assert first["epsilon"] == second["epsilon"]
    assert first["probability"] != other["probability"]


def test_verification_simulates_anew(run: Run) -> None:
    out = run(
        "plan", "budget", "-d", DATA, "-p", "oue", "--at-most", 0.01, "--verify", "--format", "json"
    ).out
    selected, below = json.loads(out)["about"]["verified"]
    assert selected["runs"] == below["runs"] == 20_000
    assert below["epsilon"] == pytest.approx(0.9 * selected["epsilon"])
    assert (selected["holds"], below["holds"]) == ("yes", "no")
    table = run("plan", "budget", "-d", DATA, "-p", "oue", "--at-most", 0.01, "--verify").out
    assert "Independent simulation" in table
    assert "0.9 times it" in table


def test_a_figure_is_drawn(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "plan.svg"
    result = run(
        "plan", "budget", "-d", DATA, "-p", "grr", "oue", "--at-most", 0.02, "--search", "analytic",
        "--figure", file,
    )  # fmt: skip
    assert f"wrote {file}" in result.err
    assert "<svg" in file.read_text()


def test_post_processing_and_parameters(run: Run) -> None:
    out = run(
        "plan", "budget", "-d", DATA, "-p", "oue", "--at-most", 0.01, "--search", "rbs", "--parameter", "g=6",
        "--tolerance", 0.05, "--consistency", "norm_sub", "--eps-min", 0.5, "--eps-max", 4,
        "--format", "json",
    ).out  # fmt: skip
    result = json.loads(out)
    result |= result["about"]
    assert result["consistency"] == "norm_sub"
    assert all(0.5 <= trial["epsilon"] <= 4 for trial in result["trace"])


def test_infeasible_is_said_and_has_an_exit_code(run: Run) -> None:
    result = run("plan", "budget", "-d", DATA, "-p", "oue", "--at-most", 0.01, "--eps-max", 0.3, code=1)
    assert "infeasible" in result.out
    assert "not reached up to epsilon 0.3" in result.err
    some = run(
        "plan", "budget", "-d", DATA, "-p", "blh", "oue", "--at-most", 0.01, "--eps-max", 1.6,
        "--search", "analytic", "--format", "csv",
    )  # fmt: skip
    assert [row["feasible"] for row in rows(some.out)] == ["False", "True"]
    assert "blh: infeasible" in some.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-u", "kendall_tau", "--at-most", 0.5), "larger is better: bound it from below"),
        (("-u", "mae", "--at-least", 0.5), "smaller is better: bound it from above"),
        (("-u", "mae"), "give --at-most OMEGA"),
        (("-u", "kendall_tau"), "give --at-least OMEGA"),
        (("--at-most", 0.1, "--at-least", 0.2), "cannot be given together"),
        (("--at-most", 0.1, "--probability", 1), "strictly between 0 and 1"),
        (("--at-most", 0.1, "--probability", 0), "strictly between 0 and 1"),
        (("--at-most", "nan"), "finite"),
        (("--at-most", 0.1, "-p", "ouee"), "did you mean oue"),
        (("--at-most", 0.1, "--search", "sequentail"), "did you mean sequential"),
        (("--at-most", 0.1, "-u", "maee"), "did you mean mae"),
        (("--at-most", 0.1, "--consistency", "norm_subb"), "did you mean norm_sub"),
        (("--at-most", 0.1, "--search", "rbs", "--parameter", "g=2"), "g must exceed 2"),
        (("--at-most", 0.1, "--search", "bs", "--parameter", "g=4"), "no parameter 'g'"),
        (("--at-most", 0.1, "--search", "analytic", "--consistency", "norm_sub"), "use sequential"),
        (("--at-most", 0.1, "--eps-min", 3, "--eps-max", 2), "below the largest"),
        (("--at-most", 0.1, "--eps-max", 30), "between 0.001 and 20"),
        (("--at-most", 0.1, "--figure", "plan.txt"), "--figure is written as"),
        (("--at-most", 0.1, "-d", "missing.csv"), "missing.csv"),
        (("--at-most", 0.1, "--seed", -1), "seed"),
    ],
)
def test_mistakes_are_refused_in_one_line(run: Run, arguments: tuple[object, ...], message: str) -> None:
    assert message in run("plan", "budget", *arguments, code=2).error_line


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("value,count\nred,5\ngreen,-3\n", "-3"),
        ("value,count\nred,0\ngreen,0\n", "zero"),
        ("value,count\n", "no"),
    ],
)
def test_bad_counts_are_refused(run: Run, tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "counts.csv"
    file.write_text(text)
    assert message in run("plan", "budget", "-d", file, "--at-most", 0.1, code=2).error_line


def test_help_has_examples(run: Run) -> None:
    out = run("plan", "budget", "--help").out
    assert "Examples" in out
    assert "--at-least" in out


def test_all_leaves_out_what_cannot_do_it_and_says_so(run: Run) -> None:
    asked = ("plan", "budget", "-d", DATA, "--search", "analytic", "--at-most", 0.02)
    result = run(*asked, "-p", "all", "--format", "json")
    told = json.loads(result.out)
    told |= told["about"]
    assert {row["protocol"] for row in told["rows"]} >= {"grr", "oue", "olh", "ss"}
    assert any(reason.startswith("dbitflip with analytic: ") for reason in told["left_out"])
    assert "left out of 'all': " in result.err
    assert "dbitflip is not one: use sequential" in run(*asked, "-p", "dbitflip", code=2).error_line
    refused = run(*asked, "-p", "all", "--consistency", "norm_sub", code=2)
    assert "nothing is left to plan with" in refused.err


def test_a_large_epsilon_is_said_to_be_large(run: Run) -> None:
    asked = ("plan", "budget", "-d", "zipf:k=100,n=200", "--search", "analytic", "-p", "sue")
    result = run(*asked, "--at-most", 0.002, "--format", "json")
    (warning,) = json.loads(result.out)["warnings"]
    assert warning.startswith("sue: epsilon 13.7 promises almost nothing. Guessing from the report succeeds ")
    assert f"warning: {warning}" in result.err
    asked = ("plan", "budget", "-d", DATA, "--search", "analytic", "-p", "sue", "--at-most", 0.02)
    assert json.loads(run(*asked, "--format", "json").out)["warnings"] == []


def test_a_bound_that_zeros_satisfy_is_said_to_ask_nothing(run: Run) -> None:
    result = run("plan", "budget", "-d", "zipf:k=100,n=200", "--search", "analytic", "--at-most", 0.2)
    assert "publishing zeros without asking anybody has mean absolute error 0.01" in result.err
