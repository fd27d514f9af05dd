"""Values on a circle from the command line: `privatize`, `mean`, `density` and `audit` with --period."""

from __future__ import annotations

import csv
import io
import json
import math
import warnings

import numpy as np
import pytest

import ldpkit

TURN = ("--period", 360)


@pytest.fixture
def headings(tmp_path):
    """Headings around north, in a file."""
    values = (5 + 20 * ldpkit.random.seeded(4).generator().standard_normal(4000)) % 360
    path = tmp_path / "headings.txt"
    path.write_text("\n".join(map(str, values)))
    return path


@pytest.fixture
def turned(headings):
    """The same headings from -180 to 180."""
    values = np.loadtxt(headings)
    path = headings.with_name("turned.txt")
    path.write_text("\n".join(map(str, np.where(values > 180, values - 360, values))))
    return path


def test_a_direction_is_what_the_library_finds(run, headings):
    mechanism = ldpkit.get("circular_ogpm", 360, epsilon=1.0)
    tally = mechanism.tally(mechanism.privatize(np.loadtxt(headings), rng=ldpkit.random.seeded(9)))
    result = run("mean", headings, *TURN, "-e", 1, "--seed", 9, "--format", "json")
    found = json.loads(result.out)
    assert found["kind"] == "direction"
    assert [row["value"] for row in found["rows"]] == [row["value"] for row in tally.estimate().rows()]
    assert "the mean direction of the file's 4000 values is 5.06779," in result.err, "the seed is fixed"


def test_reports_keep_their_circle_and_give_both_estimates(run, headings, turned, tmp_path):
    reports = tmp_path / "a.ldp"
    where = ("--period", 360, "--low", -180)
    run("privatize", turned, *where, "-p", "circular_sw", "-e", 2, "-o", reports, "--seed", 3)
    found = json.loads(run("mean", reports, "--format", "json").out)
    assert found["about"]["circle"] == {"period": 360.0, "low": -180.0}
    assert abs(found["rows"][0]["value"] - 5) < 4, "about six standard errors; the seed is fixed"
    density = json.loads(run("density", reports, "--bins", 12, "--format", "json").out)
    assert density["kind"] == "circular density"
    masses = [row["mass"] for row in density["rows"]]
    assert sum(masses[5:7]) > 0.8, "between -30 and 30; the seed is fixed"
    assert "report files know their circle" in run("mean", reports, *TURN, code=2).error_line
    assert "has no quantiles" in run("density", reports, "-q", 0.5, code=2).error_line
    assert run("audit", "-p", "circular_sw", *where, "-e", 2, "--reports", 2000, "--seed", 1).out


def test_wrapped_values_are_counted_and_recorded(run, turned, headings, tmp_path):
    outside = int((np.loadtxt(turned) < 0).sum())
    told = f"{outside:,} of 4,000 values were outside the turn and were wrapped around the circle"
    options = ("-p", "circular_ogpm", "-e", 1, "--seed", 3)
    result = run("privatize", turned, *TURN, "--wrap", *options, "-o", tmp_path / "a.ldp")
    assert told in result.err
    run("privatize", headings, *TURN, *options, "-o", tmp_path / "b.ldp")
    first, second = (
        json.loads(run("mean", tmp_path / f"{name}.ldp", "--format", "json").out) for name in "ab"
    )
    assert first["rows"] == second["rows"]
    kept = [each["about"]["provenance"]["outside"] for each in (first, second)]
    assert kept == ["wrapped", "refused"]
    assert told in run("density", turned, *TURN, "--wrap", "-e", 1, "--seed", 1).err


def test_figures_and_csv(run, headings, tmp_path):
    for command, columns in (
        ("mean", ["statistic", "value", "stderr", "low", "high"]),
        ("density", ["low", "high", "mass", "stderr", "density"]),
    ):
        figure = tmp_path / f"{command}.png"
        result = run(command, headings, *TURN, "-e", 1, "--seed", 1, "--figure", figure, "--format", "csv")
        assert list(next(csv.DictReader(io.StringIO(result.out)))) == columns
        assert figure.read_bytes().startswith(b"\x89PNG")
        assert f"wrote {figure}" in result.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--period", 0, "-e", 1), "period must be positive, got 0.0"),
        (("--period", -360, "-e", 1), "period must be positive, got -360.0"),
        (("--period", "nan", "-e", 1), "period"),
        (
            ("--period", 90, "-e", 1),
            "is not in the circle from 0 to 90: remove it, correct --period and --low",
        ),
        ((*TURN, "--high", 360, "-e", 1), "a circle ends where it begins: leave out --high"),
        ((*TURN, "--clip", "-e", 1), "give --wrap instead of --clip"),
        (("--low", 0, "--high", 360, "--wrap", "-e", 1), "--wrap goes round a circle: give its --period"),
        (
            (*TURN, "-p", "pm", "-e", 1),
            "pm is for numbers, not for values on a circle: choose from",
        ),
        (
            ("--low", 0, "--high", 360, "-p", "circular_sw", "-e", 1),
            "for values on a circle: give --period",
        ),
        (TURN, "needs epsilon: give it with --epsilon"),
    ],
)
def test_mistakes_are_one_line(run, headings, arguments, message):
    assert message in run("mean", headings, *arguments, code=2).error_line
    assert message in run("density", headings, *arguments, code=2).error_line


def test_the_risk_of_a_value_on_a_circle(run, headings):
    options = ("-p", "circular_ogpm", "-e", 1, *TURN, "--bins", 8, "--format", "json")
    found = json.loads(run("risk", *options).out)
    (row,) = found["rows"]
    width = 1 / (1 + math.exp(0.5))
    # whoever takes the cell in the middle of the window is right when the report is less than half a cell off
    assert row["success"] == pytest.approx(math.exp(0.5) / 8, abs=1e-5)
    assert width > 1 / 8
    assert found["about"]["circle"] == {"period": 360.0, "low": 0.0}
    known = json.loads(run("risk", *options, "-d", headings).out)["rows"][0]
    assert known["blind"] > 0.45, "nearly everybody is around north; the seed is fixed"
    assert "nothing is below it" in run("risk", *options, "--eta", 3, code=2).error_line
    assert "is for numbers, not" not in run("risk", "-p", "all", "-e", 1, *TURN).err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-p", "circular_ogpm", "-e", 1, "--parameter", "power=0"), "power"),
        (("-p", "circular_ogpm", "-e", 1, "--parameter", "power=-1"), "power"),
        (("-p", "circular_ogpm", "-e", 1, "--domain", 4), "leave out --domain"),
        (("-p", "circular_ogpm", "-e", 1, "--bins", 4), "leave out --bins"),
        (("-p", "grr", "-e", 1), "grr is for categories, not for values on a circle"),
    ],
)
def test_refusals_of_privatize_come_before_any_file(run, headings, tmp_path, arguments, message):
    target = tmp_path / "r.ldp"
    assert message in run("privatize", headings, *TURN, *arguments, "-o", target, code=2).error_line
    assert not target.exists()


def test_reports_that_identify_nothing_are_warned_of_in_a_sentence(run, headings):
    line = ("--low", 0, "--high", 360, "-p", "ogpm", "-e", 1, "--seed", 1)
    for command, better in (("mean", "for a mean use pm or hm"), ("density", "for a distribution use sw")):
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            told = run(command, headings, *line).err
        (warning,) = [each for each in told.splitlines() if "the same distribution" in each]
        assert warning.startswith(
            "warning: reports of OGPM((0, 360), epsilon=1, power=1) have the same distribution"
        )
        assert "from 0 to 67.957" in warning
        assert warning.endswith(better)


def test_what_is_no_place_on_the_circle_is_refused_by_its_line(run, tmp_path):
    file = tmp_path / "hours.csv"
    file.write_text("hour\n1\n1e300\n")
    assert (
        "line 3: value 1e+300 is more than" in run("mean", file, "--period", 24, "--wrap", code=2).error_line
    )
    file.write_text("hour\n12:30\n")
    line = run("mean", file, "--period", 24, code=2).error_line
    assert "line 2: value '12:30' is not a number: a time of day is a number of hours: write 12.5" in line


def test_a_circular_mechanism_without_a_circle_asks_for_the_period(run, tmp_path):
    file = tmp_path / "hours.csv"
    file.write_text("hour\n1\n2\n")
    asked = ("privatize", file, "-p", "circular_ogpm", "-e", 1, "-o", tmp_path / "x.ldp")
    assert "give --period" in run(*asked, code=2).error_line
    assert "give --period" in run("risk", "-p", "circular_ogpm", "--domain", 4, code=2).error_line
