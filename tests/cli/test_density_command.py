"""`ldpkit density`."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

import ldpkit


@pytest.fixture
def hills(tmp_path):
    """Numbers around 0.25 and 0.75, in a file."""
    generator = ldpkit.random.seeded(4).generator()
    centres = np.where(generator.random(8000) < 0.5, 0.25, 0.75)
    values = np.clip(centres + 0.05 * generator.standard_normal(8000), 0, 1)
    path = tmp_path / "hills.txt"
    path.write_text("\n".join(map(str, values)))
    return path


INTERVAL = ("--low", 0, "--high", 1)


def test_two_hills_are_found(run, hills):
    result = run("density", hills, *INTERVAL, "-e", 2, "--bins", 8, "--seed", 1, "--format", "json")
    found = json.loads(result.out)
    found |= found["about"]
    masses = [row["mass"] for row in found["rows"]]
    assert sum(masses) == pytest.approx(1)
    assert sum(masses[1:3]) > 0.35, "the hill at 0.25; the seed is fixed"
    assert sum(masses[5:7]) > 0.35, "the hill at 0.75; the seed is fixed"
    assert sum(masses[3:5]) < 0.2, "the valley; the seed is fixed"
    (made,) = found["mechanisms"]
    assert (made["mechanism"], found["n"]) == ("sw", 8000)
    assert made["exact_epsilon"] <= 2
    assert [each["q"] for each in found["quantiles"]] == [0.25, 0.5, 0.75]
    for each in found["quantiles"]:
        assert each["low"] <= each["value"] <= each["high"]


def test_it_is_what_the_library_finds(run, hills):
    mechanism = ldpkit.get("sw", (0, 1), epsilon=1.0)
    tally = mechanism.tally(mechanism.privatize(np.loadtxt(hills), rng=ldpkit.random.seeded(9)))
    for method in ("ems", "em", "inversion"):
        options = ("-e", 1, "--bins", 6, "--estimator", method, "--seed", 9, "--format", "json")
        masses = [row["mass"] for row in json.loads(run("density", hills, *INTERVAL, *options).out)["rows"]]
        assert masses == pytest.approx(tally.estimate().density(6, method).masses.tolist())


def test_from_report_files(run, hills, tmp_path):
    run("privatize", hills, *INTERVAL, "-p", "sw", "-e", 1, "-o", tmp_path / "a.ldp", "--seed", 9)
    options = ("--bins", 6, "--quantile", "0.1,0.9", "--format", "json")
    from_reports = json.loads(run("density", tmp_path / "a.ldp", *options).out)["about"]
    simulated = json.loads(run("density", hills, *INTERVAL, "-e", 1, "--seed", 9, *options).out)["about"]
    assert from_reports.pop("provenance")["randomness"] == "seeded"
    assert simulated.pop("provenance")["randomness"] == "unknown"
    assert from_reports == simulated


def test_table_csv_and_figure(run, hills, tmp_path):
    arguments = ("density", hills, *INTERVAL, "-e", 1, "--bins", 4, "--seed", 1)
    result = run(*arguments, "--figure", tmp_path / "f.png")
    assert "Quantiles" in result.out
    assert (tmp_path / "f.png").read_bytes().startswith(b"\x89PNG")
    result = run(*arguments, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(result.out)))
    assert list(rows[0]) == ["low", "high", "mass", "stderr", "density"]
    assert "quantile 0.5:" in result.err


def test_it_says_what_intervals_cover_and_warns_of_a_wide_interval(run, hills, tmp_path):
    arguments = ("density", hills, "-e", 1, "--bins", 4, "--seed", 1)
    result = run(*arguments, *INTERVAL)
    assert "stderr: the noise alone" in result.out
    assert "95% interval, including bias and resolution" in result.out
    assert "blur" not in result.err
    wide = run(*arguments, "--low", 0, "--high", 50)
    assert "An interval such as 0 to 7 would show more. It costs a new collection" in wide.err
    assert "An interval such as -" in run(*arguments, "--low", -50, "--high", 50).err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "numbers need their interval"),
        (INTERVAL, "a mechanism needs its privacy budget"),
        (("--low", 1, "--high", 0, "-e", 1), "low must be below high"),
        (("--low", 0, "--high", 0.5, "-e", 1), "with --clip"),
        (
            (*INTERVAL, "-e", 1, "--estimator", "magic"),
            "unknown estimator 'magic': choose from em, ems, inversion",
        ),
        ((*INTERVAL, "-e", 1, "--quantile", "2"), "a quantile lies strictly between 0 and 1, got 2"),
        ((*INTERVAL, "-e", 1, "--quantile", "half"), "a quantile must be a number, got 'half'"),
        ((*INTERVAL, "-e", 1, "-p", "duchi"), "reveal nothing but the mean: use sw"),
        ((*INTERVAL, "-e", 1, "-p", "auto"), "unknown mechanism 'auto'"),
        ((*INTERVAL, "-e", 1, "--figure", "f.txt"), "--figure is written as .png, .svg or .pdf"),
    ],
)
def test_mistakes_are_one_line(run, hills, arguments, message):
    assert message in run("density", hills, *arguments, code=2).error_line
