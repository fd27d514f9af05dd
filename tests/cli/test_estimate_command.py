"""`ldpkit estimate`."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

import ldpkit
from ldpkit.cli.options import Format
from ldpkit.cli.printing import show
from ldpkit.core.results import finite
from ldpkit.files.reportfile import ReportWriter

ORACLE = ldpkit.OUE(30, epsilon=2.0)


def write(path, oracle, values, seed):
    reports = oracle.privatize(values, rng=ldpkit.random.seeded(seed))
    with ReportWriter(path, oracle) as writer:
        writer.write(reports)
    return oracle.tally(reports)


@pytest.fixture
def collected(tmp_path):
    """Two files of one mechanism, and the tally of both."""
    values = np.minimum(np.arange(4000) % 50, 29)
    first = write(tmp_path / "a.ldp", ORACLE, values[:2500], 1)
    second = write(tmp_path / "b.ldp", ORACLE, values[2500:], 2)
    return tmp_path / "a.ldp", tmp_path / "b.ldp", first + second


def rows_of(result):
    return json.loads(result.out)["rows"]


def test_several_files_are_one_collection(run, collected):
    first, second, tally = collected
    result = json.loads(run("estimate", first, second, "--format", "json").out)
    result |= result["about"]
    assert result["rows"] == list(tally.estimate().rows())
    assert result["about"]["n"] == 4000
    assert result["mechanisms"] == [
        {"mechanism": "oue", "parameters": {"epsilon": 2.0}, "exact_epsilon": ORACLE.exact_epsilon()}
    ]


def test_consistency_level_and_simultaneous(run, collected):
    first, second, tally = collected
    made = tally.estimate(consistency="norm_sub")
    options = ("--consistency", "norm-sub", "--level", "0.9", "--simultaneous", "--format", "json")
    rows = rows_of(run("estimate", first, second, *options))
    low, high = made.interval(0.9, simultaneous=True)
    assert [row["frequency"] for row in rows] == made.values.tolist()
    assert [row["low"] for row in rows] == low.tolist()
    assert [row["high"] for row in rows] == high.tolist()


def test_a_table_shows_the_most_frequent_and_says_what_it_is(run, collected):
    first, second, tally = collected
    lines = run("estimate", first, second).out.splitlines()
    shown = [line.split()[0] for line in lines[3:-2]]
    assert shown == [str(index) for index in np.argsort(-tally.estimate().values, kind="stable")[:20]]
    caption = "\n".join(lines[-2:])
    for fact in (
        "\nbatch ",
        "n=4000",
        "OUE(30, epsilon=2)",
        "exact epsilon 2.0",
        "95% intervals",
    ):
        assert fact in caption
    assert "the 20 most frequent of 30 values" in caption


def test_top_and_sort(run, collected):
    first, second, tally = collected
    best = np.argsort(-tally.estimate().values, kind="stable")[:5].tolist()
    rows = rows_of(run("estimate", first, second, "--top", 5, "--sort", "frequency", "--format", "json"))
    assert [row["value"] for row in rows] == best
    rows = rows_of(run("estimate", first, second, "--top", 5, "--format", "json"))
    assert [row["value"] for row in rows] == sorted(best)


def test_output_goes_to_a_file_in_the_form_of_its_ending(run, collected, tmp_path):
    first, second, tally = collected
    result = run("estimate", first, second, "-o", tmp_path / "out.csv")
    assert result.out == ""
    assert "n=4000" in result.err
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out.csv").read_text())))
    assert [float(row["frequency"]) for row in rows] == tally.estimate().values.tolist()
    run("estimate", first, second, "-o", tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text())["about"]["n"] == 4000
    run("estimate", first, second, "-o", tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_text().splitlines()[1].startswith("value  frequency ")


def test_tallies_are_saved_and_estimated_like_reports(run, collected, tmp_path):
    first, second, tally = collected
    for path in (first, second):
        run("estimate", path, "--save-tally", path.with_suffix(".tally"))
    assert ldpkit.Tally.from_bytes(first.with_suffix(".tally").read_bytes()).n == 2500
    rows = rows_of(run("estimate", first.with_suffix(".tally"), second, "--format", "json"))
    assert rows == list(tally.estimate().rows())


def test_labels_that_look_like_markup_are_shown_as_they_are(run, tmp_path):
    write(tmp_path / "a.ldp", ldpkit.GRR(["[/red]", "\x1b[31m"], epsilon=1.0), ["[/red]"] * 9, 1)
    out = run("estimate", tmp_path / "a.ldp").out
    assert "[/red]" in out
    assert r"\x1b[31m" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--estimator", "mii"], "unknown estimator 'mii': did you mean mi?"),
        (["--consistency", "norm_subb"], "unknown consistency method 'norm_subb': did you mean norm_sub"),
        (["--level", "1.5"], "level must lie strictly between 0 and 1, got 1.5"),
        (["--level", "nan"], "level must lie strictly between 0 and 1, got nan"),
    ],
)
def test_wrong_options_are_refused(run, collected, tmp_path, arguments, message):
    result = run("estimate", collected[0], *arguments, "-o", tmp_path / "out.csv", code=2)
    assert message in result.error_line
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    "other",
    [
        ldpkit.OUE(30, epsilon=1.0),
        ldpkit.SUE(30, epsilon=2.0),
        ldpkit.OUE([f"v{i}" for i in range(30)], epsilon=2.0),
    ],
    ids=["epsilon", "mechanism", "labels"],
)
def test_files_of_different_mechanisms_do_not_mix(run, collected, tmp_path, other):
    write(tmp_path / "other.ldp", other, [0, 1], 3)
    line = run("estimate", collected[0], tmp_path / "other.ldp", code=2).error_line
    assert f"'{tmp_path / 'other.ldp'}' holds reports of {other!r} on {other.domain}" in line
    assert "do not mix" in line


@pytest.mark.parametrize("name", ["\ud800", "a" * 5000])
def test_a_name_that_no_file_can_have_is_refused_in_one_line(run, collected, name):
    assert run("estimate", collected[0], name, code=2).error_line


def test_a_file_given_twice_is_refused(run, collected):
    assert "is given twice" in run("estimate", collected[0], collected[0], code=2).error_line


@pytest.mark.parametrize("method", ["mi", "mle"])
def test_a_copy_is_refused_by_its_batch(run, tmp_path, method):
    oracle = ldpkit.GRR(3, epsilon=1.0)
    first, copy, tally = tmp_path / "a.ldp", tmp_path / "copy.ldp", tmp_path / "a.tally"
    write(first, oracle, [0, 1, 2] * 20, 1)
    copy.write_bytes(first.read_bytes())
    assert f"wrote {tally}" in run("estimate", first, "--save-tally", tally).err
    for twin in (copy, tally):
        line = run("estimate", first, twin, "--estimator", method, code=2).error_line
        assert f"'{first}' and '{twin}' hold the same reports: reports 0 to 59 of batch " in line
        assert "count a file and its copy or its tally only once" in line
    write(copy, oracle, [0, 1, 2] * 20, 1)  # the same values again are other people, as far as a file tells
    assert (
        json.loads(run("estimate", tally, copy, "--estimator", method, "--format", "json").out)["about"]["n"]
        == 120
    )


def test_copies_of_numbers_are_refused(run, tmp_path):
    mechanism = ldpkit.PM((0, 1), epsilon=1.0)
    write(tmp_path / "a.ldp", mechanism, [0.5] * 10, 1)
    (tmp_path / "b.ldp").write_bytes((tmp_path / "a.ldp").read_bytes())
    for command in ("mean", "density", "estimate"):
        line = run(command, tmp_path / "a.ldp", tmp_path / "b.ldp", code=2).error_line
        assert "hold the same reports" in line


def test_parts_of_a_file_are_estimated_together(run, collected, tmp_path):
    file = ldpkit.ReportFile.open(collected[0])
    paths = [tmp_path / "early.tally", tmp_path / "late.tally"]
    for path, part in zip(paths, (file.tally(stop=1000), file.tally(start=1000)), strict=True):
        path.write_bytes(part.to_bytes())
    told = json.loads(run("estimate", *paths, "--format", "json").out)
    told |= told["about"]
    assert (told["n"], told["provenance"]["batches"]) == (2500, [file.batch])


def test_a_likelihood_states_its_memory_before_it_takes_it(run, tmp_path):
    oracle = ldpkit.OLH(1 << 18, epsilon=1.0)
    with ReportWriter(tmp_path / "a.ldp", oracle) as writer:
        writer.write(oracle.privatize(range(25_600)))
    line = run("estimate", tmp_path / "a.ldp", "--estimator", "mle", code=2).error_line
    assert "takes 800 MiB of memory" in line


@pytest.mark.parametrize(
    ("size", "options", "needed"),
    [
        ((1 << 20) + 1, (), 257),
        (1 << 20, ("--consistency", "power"), 512),
        (1 << 19, ("--estimator", "mle"), 512),
    ],
)
def test_an_estimate_states_its_memory_before_it_takes_it(run, tmp_path, size, options, needed):
    oracle = ldpkit.GRR(size, epsilon=1.0)
    write(tmp_path / "a.ldp", oracle, [0], 1)
    line = run("estimate", tmp_path / "a.ldp", *options, code=2).error_line
    assert f"an estimate of {size} values takes {needed} MiB" in line
    assert f"set LDPKIT_MEMORY={needed}M" in line


@pytest.mark.parametrize("style", [Format.json, Format.csv])
def test_rows_are_written_as_they_are_made(style):
    """All rows at once, a million of them, took more than a gigabyte."""
    made, seen = [], []

    class Watched(io.StringIO):
        def write(self, text):
            seen.append(len(made))
            return super().write(text)

    show(({"value": made.append(each) or each} for each in range(5000)), style, file=(out := Watched()))
    assert seen[0] < 2000 < len(made)
    assert out.getvalue().count("4999") == 1


@pytest.mark.parametrize("count", [0, 1, 2049])
@pytest.mark.parametrize("about", [{}, {"empty": [], "inside": {"epsilon": np.inf}}])
def test_json_written_in_parts_is_the_json_of_the_whole(count, about):
    rows = [{"value": f"[]\n{row}", "frequency": row / 2, "inside": {"list": [1, 2]}} for row in range(count)]
    show(iter(rows), Format.json, about=about, file=(parts := io.StringIO()))
    whole = json.loads(parts.getvalue())
    assert whole["rows"] == rows
    assert whole["about"] == finite(about)
    assert parts.getvalue() == json.dumps(whole, indent=2) + "\n"


def test_a_file_without_reports_is_refused(run, tmp_path):
    with ReportWriter(tmp_path / "none.ldp", ORACLE):
        pass
    assert "no reports to estimate from" in run("estimate", tmp_path / "none.ldp", code=2).error_line


def test_outputs_are_not_overwritten(run, collected, tmp_path):
    first, second, _ = collected
    (tmp_path / "out.csv").write_text("precious")
    assert "add --force" in run("estimate", first, "-o", tmp_path / "out.csv", code=2).error_line
    assert "add --force" in run("estimate", first, "--save-tally", tmp_path / "out.csv", code=2).error_line
    assert (tmp_path / "out.csv").read_text() == "precious"
    assert (
        "is also the input"
        in run("estimate", first, second, "--save-tally", second, "--force", code=2).error_line
    )
    same = ("-o", tmp_path / "x.csv", "--save-tally", tmp_path / "x.csv")
    assert "choose two names" in run("estimate", first, *same, code=2).error_line
    run("estimate", first, "-o", tmp_path / "out.csv", "--force")
    assert (tmp_path / "out.csv").read_text() != "precious"


def test_a_damaged_tally_is_refused_with_its_name(run, tmp_path):
    (tmp_path / "a.tally").write_bytes(b"LDPT" + bytes(30))
    assert f"'{tmp_path / 'a.tally'}': the tally has version 0" in (
        run("estimate", tmp_path / "a.tally", code=2).error_line
    )


def test_maximum_likelihood_pools_mechanisms_and_epsilons(run, tmp_path):
    oracles = [ldpkit.OUE(4, epsilon=2.0), ldpkit.OLH(4, epsilon=1.0)]
    paths = [tmp_path / "oue.ldp", tmp_path / "olh.ldp"]
    for oracle, path in zip(oracles, paths, strict=True):
        with ldpkit.ReportWriter(path, oracle) as writer:
            writer.write(oracle.privatize([0, 1, 1, 3] * 500, rng=ldpkit.random.seeded(1)))
    refused = run("estimate", *paths, code=2)
    assert "--estimator mle pools them" in refused.error_line
    result = json.loads(run("estimate", *paths, "--estimator", "mle", "--format", "json").out)
    result |= result["about"]
    assert (result["n"], [each["mechanism"] for each in result["mechanisms"]]) == (4000, ["oue", "olh"])
    assert result["diagnostics"]["converged"]
    assert sum(row["frequency"] for row in result["rows"]) == pytest.approx(1)
    saved = run("estimate", *paths, "--estimator", "mle", "--save-tally", tmp_path / "a.tally", code=2)
    assert "--save-tally" in saved.error_line


def test_the_caption_says_whose_frequencies_these_are(run, collected):
    first, second, tally = collected
    people = run("estimate", first, second)
    assert "95% intervals for the frequencies of these 4000 people" in people.out
    drawn = run("estimate", first, second, "--population")
    assert "95% intervals for the frequencies of the population they were drawn from" in drawn.out
    result = json.loads(run("estimate", first, second, "--population", "--format", "json").out)
    result |= result["about"]
    assert result["population"] is True
    assert result["rows"] == list(tally.estimate(population=True).rows())


def test_people_are_whole_and_in_digits(run, tmp_path):
    oracle = ldpkit.GRR(["bus", "car"], epsilon=3.0)
    path = tmp_path / "many.tally"
    path.write_bytes(ldpkit.Tally(oracle, 10**6, np.array([300_000, 700_000])).to_bytes())
    lines = run("estimate", path).out.splitlines()
    counts = [int(line.split()[-1]) for line in lines[3:5]]
    assert sum(counts) == 10**6
    assert min(counts) > 10**5


def test_negative_values_come_with_a_word(run, tmp_path):
    oracle = ldpkit.GRR(["bus", "car", "bike"], epsilon=1.0)
    path = tmp_path / "a.tally"
    path.write_bytes(ldpkit.Tally(oracle, 100, np.array([60, 35, 5])).to_bytes())
    hint = "negative values are noise around zero: the consistency method norm_sub removes them"
    raw = run("estimate", path)
    assert raw.err.count(hint) == 1
    assert "frequencies above 1 are noise" in raw.err
    tidy = run("estimate", path, "--consistency", "norm_sub")
    assert hint not in tidy.err
    for row in rows_of(run("estimate", path, "--consistency", "norm_sub", "--format", "json")):
        assert 0 <= row["low"] <= row["frequency"] <= row["high"] <= 1


def test_counts_that_nobody_can_have_made_are_not_called_noise(run, tmp_path):
    oracle = ldpkit.GRR(["bus", "car", "bike"], epsilon=1.0)
    path = tmp_path / "a.tally"
    path.write_bytes(ldpkit.Tally(oracle, 10_000, np.array([9000, 900, 100])).to_bytes())
    told = run("estimate", path).err
    assert "warning: no people could have made these counts" in told
    assert "noise" not in told


def test_pooled_people_of_two_populations_are_warned_about(run, tmp_path):
    oracles = [ldpkit.OUE(4, epsilon=2.0), ldpkit.OLH(4, epsilon=1.0)]
    paths = [tmp_path / "oue.ldp", tmp_path / "olh.ldp"]
    for oracle, path, value in zip(oracles, paths, (0, 1), strict=True):
        write(path, oracle, [value] * 1000, 1)
    apart = run("estimate", *paths, "--estimator", "mle")
    assert "assuming that one population answered all mechanisms" in " ".join(apart.out.split())
    assert "warning: these people do not come from one population" in apart.err
