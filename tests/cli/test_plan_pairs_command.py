"""`ldpkit plan pairs`, as a user asks for it."""

from __future__ import annotations

import json

import ldpkit

PAIRS = ("plan", "pairs", "--n", 2000, "--epsilon-alone", 1, "--epsilon", 2, "--ones-to", 100)


def test_a_table_says_who_learns_what(run):
    result = run(*PAIRS)
    assert "infinite" in result.out
    assert "GroupCount(2, epsilon=1)" in result.out
    assert "including the partner" in " ".join(result.out.split())
    assert "a partner who knows that their own report is false learns the value for certain" in result.err


def test_json_and_a_figure(run, tmp_path):
    figure = tmp_path / "pairs.png"
    found = json.loads(run(*PAIRS, "--format", "json", "--figure", figure).out)
    assert {row["name"] for row in found["rows"]} >= {"rr", "best", "thesis", "safe", "group"}
    assert all(row["statement"] for row in found["rows"])
    assert found["kind"] == "plan pairs"
    assert any("for certain" in told for told in found["warnings"])
    assert figure.stat().st_size > 10_000


def test_the_function_and_the_command_give_the_same_record(run):
    told = json.loads(run(*PAIRS, "--format", "json").out)
    assert told == ldpkit.plan.pairs(2000, 1.0, 2.0, ones=(0, 100)).to_dict()


def test_refusals(run):
    assert "give --epsilon-alone" in run("plan", "pairs", "--n", 10, code=2).error_line
    assert (
        "between 0 and n=10" in run("plan", "pairs", "--n", 10, "-e", 1, "--ones-to", 11, code=2).error_line
    )
    assert "at least 2" in run("plan", "pairs", "--n", 1, "-e", 1, code=2).error_line


def test_the_device_path_makes_no_promise_that_depends_on_the_reader(run, tmp_path):
    values = tmp_path / "values.txt"
    values.write_text("no\nyes\n" * 50)
    told = run(
        *("privatize", values, "-p", "jrr", "--domain", "no,yes", "--epsilon", 2, "-o", tmp_path / "reports"),
        *("--parameter", "epsilon_alone=1"),
    )
    assert "including the partner" in told.err + told.out
    refused = run(
        *("privatize", values, "-p", "jrr", "--domain", "no,yes", "-o", tmp_path / "more"),
        *("--parameter", "epsilon_alone=1", "--parameter", "adversary=known=1, pairing hidden"),
        code=2,
    )
    assert "adversary" in refused.error_line
