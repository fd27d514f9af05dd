"""`ldpkit optimal`: the best mechanism from the command line, and its description for `privatize`."""

from __future__ import annotations

import json

import pytest

from ldpkit.mechanisms.base import from_spec


def test_a_mechanism_that_is_found_is_written_and_used(run, tmp_path):
    spec, figure = tmp_path / "age.json", tmp_path / "age.svg"
    found = run(
        "optimal", "-e", 1, "--low", 0, "--high", 100, "-o", spec, "--figure", figure, "--format", "json"
    )
    about = json.loads(found.out)["about"]
    assert about["gap"] < 0.01
    assert about["lower"] <= about["upper"] < about["closed_form"]
    assert f"wrote {spec}" in found.err
    mechanism = from_spec(json.loads(spec.read_text()))
    assert mechanism.name == "optimal"
    assert figure.read_text().startswith("<?xml")
    (tmp_path / "ages.csv").write_text("20\n30\n101\n")
    reports = tmp_path / "ages.ldp"
    refused = run("privatize", tmp_path / "ages.csv", "-p", f"@{spec}", "-o", reports, code=2)
    assert "101" in refused.error_line
    run("privatize", tmp_path / "ages.csv", "-p", f"@{spec}", "-o", reports, "--clip")
    shown = run("inspect", reports).out
    assert "optimal" in shown
    assert "exact_epsilon" in shown
    told = run(
        "privatize", tmp_path / "ages.csv", "-p", f"@{spec}", "-e", 1, "-o", reports, "--force", code=2
    )
    assert "says all about it: leave out --epsilon" in told.error_line


def test_a_prior_and_a_circle(run, tmp_path):
    (tmp_path / "census.csv").write_text("age\n20\n30\n30\n70\n")
    words = (
        "optimal",
        "-e",
        2,
        "--low",
        0,
        "--high",
        100,
        "--prior",
        tmp_path / "census.csv",
        "--intervals",
        10,
    )
    told = json.loads(run(*words, "--column", "age", "--format", "json").out)
    assert told["about"]["prior"] is True
    assert told["about"]["gap"] < 1e-3
    spec = tmp_path / "angle.json"
    out = run("optimal", "-e", 2, "--period", 360, "-o", spec).out
    assert "circular_ogpm" in out
    (tmp_path / "angles.csv").write_text("20\n370\n")
    run("privatize", tmp_path / "angles.csv", "-p", f"@{spec}", "-o", tmp_path / "a.ldp", "--wrap")


def test_pieces(run, tmp_path):
    pytest.importorskip("pyscipopt")
    figure = tmp_path / "pieces.svg"
    words = ("optimal", "-e", 2, "--pieces", 3, "--x", 0.5, "--at", 0.5)
    told = json.loads(run(*words, "--format", "json", "--figure", figure).out)
    assert told["about"]["closed"] is True
    assert len(told["rows"]) == 3
    unfinished = run("optimal", "-e", 2, "--pieces", 4, "--time-limit", 0.05)
    assert "warning: SCIP did not close the program of 4 pieces" in unfinished.err
    assert "closed form" in unfinished.out


def test_refusals(run, tmp_path):
    (tmp_path / "not.json").write_text("{}")
    (tmp_path / "grr.json").write_text(
        '{"mechanism": "grr", "parameters": {"epsilon": 1}, "domain": {"size": 3}}'
    )
    (tmp_path / "v.csv").write_text("1\n")
    for words, message in (
        (("optimal", "-e", 1, "--power", 0), "power must be positive"),
        (("optimal", "-e", 1, "--power", -2), "power must be positive"),
        (("optimal", "-e", 1, "--intervals", 1000), "too fine"),
        (("optimal", "-e", 1, "--x", 0.5), "--x and --at are for --pieces"),
        (("optimal", "-e", 1, "--pieces", 3, "-o", tmp_path / "a.json"), "leave out --output"),
        (("optimal", "-e", 1, "--period", 360, "--intervals", 4), "leave out --intervals"),
        (("optimal", "-e", 1, "-o", "-"), "give --output a file"),
        (
            ("privatize", tmp_path / "v.csv", "-p", f"@{tmp_path}/not.json", "-o", "x.ldp"),
            "describes no mechanism",
        ),
        (("privatize", tmp_path / "v.csv", "-p", f"@{tmp_path}/gone.json", "-o", "x.ldp"), "gone.json"),
        (("privatize", tmp_path / "v.csv", "-p", f"@{tmp_path}/grr.json", "-o", "x.ldp"), "grr"),
    ):
        assert message in run(*words, code=2).error_line


def test_what_would_be_ignored_or_misread_is_refused(run, tmp_path):
    assert "written as .json" in run("optimal", "-e", 1, "-o", tmp_path / "a.xlsx", code=2).error_line
    assert (
        "no --prior to read: leave out --column"
        in run("optimal", "-e", 1, "--column", "a", code=2).error_line
    )
    (tmp_path / "ages.txt").write_text("20\n30\n")
    reports, interval = tmp_path / "ages.ldp", ("--low", 0, "--high", 100)
    run("privatize", tmp_path / "ages.txt", "-p", "pm", "-e", 1, *interval, "-o", reports)
    for words in (("optimal", "-e", 1, "--prior", reports), ("risk", "-p", "pm", "-d", reports)):
        assert "has reports, not numbers" in run(*words, *interval, code=2).error_line
    assert "give the period" in run("error", "-p", "circular_ogpm", code=2).error_line
