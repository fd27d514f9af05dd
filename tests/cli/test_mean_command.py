"""`ldpkit mean`, and the device and collector halves for numbers."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

import ldpkit
from ldpkit.files.reportfile import ReportFile


@pytest.fixture
def ages(tmp_path):
    """Two thousand ages between 0 and 100, in a file."""
    values = np.clip(40 + 12 * ldpkit.random.seeded(3).generator().standard_normal(2000), 0, 100).round(2)
    path = tmp_path / "ages.csv"
    path.write_text("age\n" + "\n".join(map(str, values)) + "\n")
    return path


INTERVAL = ("--low", 0, "--high", 100)


def read(path):
    return np.loadtxt(path, skiprows=1)


def only_row(result):
    row, _ = json.loads(result.out)["rows"]
    return row


def test_the_simulation_is_that_of_the_library(run, ages):
    result = run("mean", ages, *INTERVAL, "-e", 1, "-p", "hm", "--seed", 5, "--format", "json")
    mechanism = ldpkit.get("hm", (0, 100), epsilon=1.0)
    made = mechanism.tally(mechanism.privatize(read(ages), rng=ldpkit.random.seeded(5))).estimate()
    low, high = made.interval()
    assert only_row(result) == {
        "statistic": "mean",
        "value": made.mean,
        "stderr": made.stderr,
        "low": low,
        "high": high,
    }
    about = json.loads(result.out)["about"]
    assert (about["interval"], about["n"]) == ([0, 100], 2000)
    assert about["mechanisms"] == [mechanism.describe()]
    assert f"the mean of the file's 2000 numbers is {read(ages).mean():.6g}" in result.err


def test_auto_is_the_default_and_pays_for_its_first_phase(run, ages):
    result = run("mean", ages, *INTERVAL, "-e", 2, "--bins", 8, "--seed", 1, "--format", "json")
    row, about = only_row(result), json.loads(result.out)["about"]
    assert about["mechanisms"][0]["mechanism"] in ("aaa", "pm", "hm", "duchi", "laplace")
    assert about["described"] == 100  # sqrt(5 n)
    assert sum(about["descriptor"]) == pytest.approx(1)
    assert about["n"] == 2000
    assert 2 - 1e-6 < about["exact_epsilon"] <= 2
    assert abs(row["value"] - read(ages).mean()) < 5 * row["stderr"], "fails once in a million seeds"
    table = run("mean", ages, *INTERVAL, "-e", 2, "--bins", 8, "--share", 0.1, "--seed", 1).out
    assert "200 people described the data through SS(9, epsilon=2)" in " ".join(table.split())


def test_the_caption_says_whose_mean_it_is(run, ages, tmp_path):
    options = (*INTERVAL, "-e", 8, "-p", "pm", "--seed", 5)
    here, everybody = (
        json.loads(run("mean", ages, *options, *extra, "--format", "json").out)
        for extra in ((), ("--population",))
    )
    assert here["about"]["whose"] == "the 2000 people who reported"
    assert everybody["about"]["whose"] == "the population that the people were drawn from"
    assert everybody["rows"][0]["stderr"] > 1.5 * here["rows"][0]["stderr"], "people differ more than noise"
    table = " ".join(run("mean", ages, *options).out.split())
    assert "95% intervals for the mean and the variance of the 2000 people who reported" in table
    two_phases = run("mean", ages, *INTERVAL, "-e", 2, "--bins", 8, "--seed", 1).out
    assert "the variance of all 2000 people" in two_phases
    run("privatize", ages, *options, "-o", tmp_path / "a.ldp")
    assert "the variance of the 2000 people who reported" in run("estimate", tmp_path / "a.ldp").out


def test_bias_that_cannot_be_helped_is_in_the_interval_and_told(run, ages):
    result = run("mean", ages, *INTERVAL, "-e", 1, "-p", "truncated_pm", "--seed", 1)
    assert "of bias included" in result.out
    assert "does not vanish with more people: pm and hm have none" in result.err
    assert "bias" not in run("mean", ages, *INTERVAL, "-e", 1, "-p", "pm", "--seed", 1).out


def test_level_and_csv(run, ages):
    wide = run("mean", ages, *INTERVAL, "-e", 1, "-p", "pm", "--seed", 1, "--level", 0.99, "--format", "csv")
    narrow = run("mean", ages, *INTERVAL, "-e", 1, "-p", "pm", "--seed", 1, "--level", 0.5, "--format", "csv")
    (first, _), (second, _) = (csv.DictReader(io.StringIO(each.out)) for each in (wide, narrow))
    assert first["value"] == second["value"]
    assert float(first["low"]) < float(second["low"]) < float(second["high"]) < float(first["high"])


def test_device_and_collector_halves(run, ages, tmp_path):
    for day, seed in (("monday", 1), ("tuesday", 2)):
        made = run(
            "privatize", ages, *INTERVAL, "-p", "pm", "-e", 1, "-o", tmp_path / f"{day}.ldp", "--seed", seed
        )
        assert "2000 reports of PM((0, 100), epsilon=1)" in made.err
    mechanism = ldpkit.get("pm", (0, 100), epsilon=1.0)
    reports = [mechanism.privatize(read(ages), rng=ldpkit.random.seeded(seed)) for seed in (1, 2)]
    expected = mechanism.tally(np.concatenate(reports)).estimate()
    files = (tmp_path / "monday.ldp", tmp_path / "tuesday.ldp")
    row = only_row(run("mean", *files, "--format", "json"))
    assert (row["value"], row["stderr"]) == (expected.mean, expected.stderr)
    result = json.loads(run("estimate", *files, "--format", "json").out)
    assert result["rows"] == list(expected.rows())
    assert (result["about"]["interval"], result["about"]["n"]) == ([0, 100], 4000)
    assert "PM((0, 100), epsilon=1)" in run("estimate", *files).out


def test_tallies_of_numbers_add(run, ages, tmp_path):
    run("privatize", ages, *INTERVAL, "-p", "sw", "-e", 1, "-o", tmp_path / "a.ldp")
    run("estimate", tmp_path / "a.ldp", "--save-tally", tmp_path / "a.tally")
    assert only_row(run("mean", tmp_path / "a.tally", "--format", "json")) == only_row(
        run("mean", tmp_path / "a.ldp", "--format", "json")
    )


def test_what_reports_do_not_tell_is_null(run, ages, tmp_path):
    run("privatize", ages, *INTERVAL, "-p", "duchi", "-e", 1, "-o", tmp_path / "a.ldp")
    _, variance = json.loads(run("estimate", tmp_path / "a.ldp", "--format", "json").out)["rows"]
    assert variance["value"] is None


def test_inspect_shows_the_interval(run, ages, tmp_path):
    run("privatize", ages, *INTERVAL, "-p", "laplace", "-e", 1, "-o", tmp_path / "a.ldp")
    (facts,) = json.loads(run("inspect", tmp_path / "a.ldp", "--format", "json").out)["rows"]
    assert facts["domain"] == [0, 100]
    assert facts["domain_size"] is None
    table = run("inspect", tmp_path / "a.ldp").out
    assert "[0, 100]" in table
    assert "domain_size" not in table


def test_two_phases_through_files(run, ages, tmp_path):
    first, second = tmp_path / "first.ldp", tmp_path / "second.ldp"
    described = run("privatize", ages, *INTERVAL, "--bins", 8, "-p", "grr", "-e", 2, "-o", first, "--seed", 1)
    assert "value i of 0..8 stands for 0 + i * 12.5" in described.err
    assert ReportFile.open(first).mechanism == ldpkit.GRR(9, epsilon=2.0)
    run("privatize", ages, *INTERVAL, "-p", "aaa", "--descriptor", first, "-e", 2, "-o", second, "--seed", 2)
    made = ReportFile.open(second).mechanism
    assert repr(made) == "AAA((0, 100), epsilon=2, intervals=8)"
    assert made.exact_epsilon() <= 2
    told = run("mean", second, "--format", "json")
    assert json.loads(told.out)["about"]["mechanisms"][0]["mechanism"] == "aaa"
    row = only_row(told)
    assert abs(row["value"] - read(ages).mean()) < 5 * row["stderr"], "fails once in a million seeds"
    even = ldpkit.get("aaa", (0, 100), epsilon=2.0, intervals=8)
    near = 100 * (np.arange(9) / 8)
    shares = np.exp(-((near - 40) ** 2) / 288)
    assert shares @ made.variance(near) < shares @ even.variance(near)  # it was fitted to the data


def test_auto_takes_what_the_first_phase_speaks_for(run, ages, tmp_path):
    ends = tmp_path / "ends.txt"
    ends.write_text("0\n100\n" * 500)
    first, second = tmp_path / "first.ldp", tmp_path / "second.ldp"
    for values, made in ((ends, "Duchi"), (ages, "AAA")):
        # The describers may have another budget: everybody reports in one phase only.
        run(
            "privatize",
            values,
            *INTERVAL,
            "--bins",
            16,
            "-p",
            "ss",
            "-e",
            3,
            "-o",
            first,
            "--seed",
            1,
            "--force",
        )
        options = ("-p", "auto", "--descriptor", first, "-e", 4, "--seed", 2, "--force")
        assert (
            f"reports of {made}((0, 100), epsilon=4"
            in run("privatize", values, *INTERVAL, *options, "-o", second).err
        )


def test_clipping_is_asked_for_and_counted(run, ages, tmp_path):
    outside = int((read(ages) > 50).sum())
    said = f"{outside:,} of 2,000 values were outside and were moved to the nearest end"
    assert said in run("mean", ages, "--low", 0, "--high", 50, "-e", 1, "-p", "pm", "--clip").err
    options = ("--low", 0, "--high", 50, "--clip", "-p", "pm", "-e", 1)
    made = run("privatize", ages, *options, "-o", tmp_path / "a.ldp")
    assert said in made.err


@pytest.mark.parametrize("command", ["mean", "privatize"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--low", 5, "--high", 5, "-p", "pm", "-e", 1), "low must be below high, got low=5.0 and high=5.0"),
        (("--low", 5, "--high", 1, "-p", "pm", "-e", 1), "low must be below high, got low=5.0 and high=1.0"),
        (("--low", 5, "-p", "pm", "-e", 1), "--high is missing: an interval needs it as well as --low"),
        (("--low", "nan", "--high", 1, "-p", "pm", "-e", 1), "low must be finite, got nan"),
        ((*INTERVAL, "-p", "pm", "-e", -1), "epsilon must be positive and finite, got -1.0"),
        ((*INTERVAL, "-p", "pmm", "-e", 1), "unknown mechanism 'pmm': did you mean pm"),
        ((*INTERVAL, "-p", "grr", "-e", 1), "grr is for categories, not for numbers"),
        (("--low", 0, "--high", 20, "-p", "pm", "-e", 1), "or move it to the nearest end with --clip"),
    ],
)
def test_mistakes_are_one_line(run, ages, tmp_path, command, arguments, message):
    target = () if command == "mean" else ("-o", tmp_path / "out.ldp")
    assert message in run(command, ages, *arguments, *target, code=2).error_line
    assert not (tmp_path / "out.ldp").exists()


def test_a_value_outside_is_named_with_its_row(run, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("x\n1\n2\n700\n4\n")
    line = run("mean", path, *INTERVAL, "-e", 1, "-p", "pm", code=2).error_line
    assert "line 4: value 700.0 is not in the interval [0, 100]: remove it, widen --low and --high" in line


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x\n1\nnan\n", "line 3: the value nan is not a finite number"),
        ("x\n1\n\n3\n", "line 3: the value is missing"),
        ("x\n1\ntwo\n", "line 3: value 'two' is not a number"),
        ("x\n1\ninf\n", "is not a finite number"),
    ],
    ids=["nan", "missing", "text", "infinite"],
)
def test_what_is_no_number_is_refused(run, tmp_path, text, message):
    path = tmp_path / "x.csv"
    path.write_text(text)
    assert message in run("mean", path, *INTERVAL, "-e", 1, "-p", "pm", "--clip", code=2).error_line


def test_too_few_people_for_two_phases(run, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("x\n" + "3\n" * 50)
    line = run("mean", path, *INTERVAL, "-e", 1, code=2).error_line
    assert "50 people are too few for two phases" in line
    assert "'hm'" in line
    told = run("mean", path, *INTERVAL, "-e", 1, "-p", "hm", "--format", "json")
    assert json.loads(told.out)["about"]["n"] == 50


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "numbers need their interval: give it with --low and --high"),
        (INTERVAL, "a mechanism needs its privacy budget: give it with --epsilon"),
        ((*INTERVAL, "-e", 1, "--level", 2), "level must lie strictly between 0 and 1"),
        ((*INTERVAL, "-e", 1, "--share", 0), "share must lie strictly between 0 and 1"),
    ],
)
def test_what_is_missing_is_asked_for(run, ages, arguments, message):
    assert message in run("mean", ages, *arguments, code=2).error_line


def test_report_files_answer_for_themselves(run, ages, tmp_path):
    numbers, categories = tmp_path / "n.ldp", tmp_path / "c.ldp"
    run("privatize", ages, *INTERVAL, "-p", "pm", "-e", 1, "-o", numbers)
    run("privatize", ages, *INTERVAL, "--bins", 4, "-p", "grr", "-e", 1, "-o", categories)
    assert "report files know their interval" in run("mean", numbers, *INTERVAL, code=2).error_line
    assert "report files know their epsilon" in run("mean", numbers, "-e", 1, code=2).error_line
    assert "is about categories: use 'ldpkit estimate'" in run("mean", categories, code=2).error_line
    assert "is given twice" in run("mean", numbers, numbers, code=2).error_line
    assert "do not mix" in run("mean", numbers, categories, code=2).error_line
    assert "are about numbers: leave out" in run("estimate", numbers, "--top", 3, code=2).error_line
    assert "use 'ldpkit density'" in run("estimate", numbers, "--estimator", "density", code=2).error_line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-p", "pm", "-e", 1), "pm is for numbers: give"),
        (("-p", "pm", "-e", 1, "--domain", 4), "pm is for numbers: give the interval with --low and --high"),
        (("-p", "grr", "-e", 1, "--domain", 4, "--clip"), "--clip, --bins, --descriptor are for numbers"),
        (("-p", "pm", "-e", 1, "--domain", 4, *INTERVAL), "--domain is for categories"),
        (("-p", "auto", "-e", 1, *INTERVAL), "auto chooses by reports of a first phase"),
        (("-p", "aaa", "-e", 1, *INTERVAL, "--parameter", "outputs=3"), "aaa has no parameter 'outputs'"),
        (("-p", "pm", "-e", 1, *INTERVAL, "--bins", 4), "pm is for numbers"),
    ],
)
def test_numbers_and_categories_are_told_apart(run, ages, tmp_path, arguments, message):
    assert message in run("privatize", ages, *arguments, "-o", tmp_path / "out.ldp", code=2).error_line


def test_a_descriptor_is_checked(run, ages, tmp_path):
    target = ("-o", tmp_path / "out.ldp")
    run("privatize", ages, *INTERVAL, "-p", "pm", "-e", 1, "-o", tmp_path / "n.ldp")
    numeric = ("--descriptor", tmp_path / "n.ldp")
    line = run("privatize", ages, *INTERVAL, "-p", "aaa", "-e", 1, *numeric, *target, code=2).error_line
    assert "a descriptor needs reports made with --bins" in line
    line = run("privatize", ages, *INTERVAL, "-p", "pm", "-e", 1, *numeric, *target, code=2).error_line
    assert "pm is not fitted to data: leave out --descriptor" in line


def test_moved_numbers_are_told_everywhere(run, tmp_path):
    """Compared with the mean of the moved numbers alone, an estimate looked near the truth."""
    values = tmp_path / "values.txt"
    values.write_text(
        "10\n" * 300 + "900\n" * 100
    )  # their mean is 232.5, and 32.5 when they are moved to 100
    told = run("mean", values, *INTERVAL, "--clip", "-e", 8, "-p", "pm", "--seed", 1).err
    assert "numbers is 32.5" in told
    assert "100 of 400 values were outside and were moved to the nearest end, before that" in told
    planned = run("plan", "budget", "-d", values, *INTERVAL, "--clip", "--within", 5, "-p", "pm").err
    assert "before that their mean was 232.5" in planned
    made = tmp_path / "a.ldp"
    run("privatize", values, *INTERVAL, "--clip", "-e", 8, "-p", "pm", "-o", made)
    assert ReportFile.open(made).provenance.outside == "moved"
    for command in ("inspect", "estimate", "mean", "density"):
        shown = run(command, made)
        assert "moved to its nearest end" in (shown.out + shown.err).replace("\n", " ")


def test_a_file_without_clipping_says_that_numbers_outside_were_refused(run, ages, tmp_path):
    run("privatize", ages, *INTERVAL, "-e", 1, "-p", "pm", "-o", tmp_path / "a.ldp")
    assert ReportFile.open(tmp_path / "a.ldp").provenance.outside == "refused"


def test_a_mean_outside_its_interval_is_called_noise(run, tmp_path):
    (tmp_path / "few.txt").write_text("100\n" * 20)
    made = tmp_path / "a.ldp"
    run("privatize", tmp_path / "few.txt", *INTERVAL, "-e", 0.1, "-p", "laplace", "--seed", 4, "-o", made)
    mean = json.loads(run("mean", made, "--format", "json").out)["rows"][0]["value"]
    assert not 0 <= mean <= 100
    told = "the estimate lies outside the interval [0, 100], where no mean can be: this is noise"
    assert told in run("mean", made).err
    assert told in run("estimate", made).err
