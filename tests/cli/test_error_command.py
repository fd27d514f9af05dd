"""`ldpkit error`: errors of one report, from the command line."""

from __future__ import annotations

import csv
import io
import json


def test_a_comparison_as_csv_and_json(run, tmp_path):
    words = ("error", "-p", "ogpm", "compressed_pm", "-e", "2", "4", "--points", "65")
    rows = list(csv.DictReader(io.StringIO(run(*words, "--format", "csv").out)))
    assert [(row["mechanism"], row["epsilon"]) for row in rows] == [
        ("ogpm", "2.0"),
        ("compressed_pm", "2.0"),
        ("ogpm", "4.0"),
        ("compressed_pm", "4.0"),
    ]
    assert round(float(rows[0]["mean"]) / float(rows[1]["mean"]), 3) == 0.942
    told = json.loads(run(*words, "--format", "json", "--low", "0", "--high", "10").out)
    assert told["kind"] == "errors"
    assert round(told["rows"][0]["worst"], 3) == 2.689
    figure = tmp_path / "error.svg"
    assert f"wrote {figure}" in run(*words, "--figure", figure).err
    text = figure.read_text()
    assert text.startswith("<?xml")


def test_a_circle_has_one_distance_for_all(run):
    words = (
        "error",
        "--period",
        360,
        "-p",
        "circular_ogpm,compressed_pm",
        "-e",
        2,
        "--power",
        2,
        "--points",
        33,
    )
    out = run(*words).out
    assert "arc(y, x)^2" in out
    assert "the same distance, the shorter arc, for all mechanisms" in " ".join(out.split())


def test_refusals(run):
    for words, message in (
        (("-p", "grr"), "grr does not report numbers"),
        (("-p", "circular_ogpm"), "does not report numbers of an interval"),
        (("--power", 0), "power must be positive"),
        (("--power", -1), "power must be positive"),
        (("--low", 0), "--high is missing"),
        (("--period", 0), "period"),
        (("--period", 360, "--high", 5), "leave out --high"),
        (("-e", "0"), "epsilon"),
        (("-p", "nobody"), "unknown mechanism"),
    ):
        assert message in run("error", *words, code=2).error_line
