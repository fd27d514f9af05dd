"""`ldpkit risk`."""

from __future__ import annotations

import csv
import io
import json

import pytest

import ldpkit
from ldpkit.assurance.adversary import risk as measure


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("value,count\n0,10\n5,60\n9,30\n")
    return path


def test_one_answer_comes_in_words(run):
    out = run("risk", "-p", "grr", "-e", 1, "--domain", 4).err
    for words in ("47.5% of all cases", "1.9 times as often", "at most 73.2%"):
        assert words in out


def test_several_mechanisms_and_epsilons(run):
    rows = json.loads(run("risk", "-p", "grr", "oue", "-e", 2, 1, "--domain", 5, "--format", "json").out)[
        "rows"
    ]
    assert [(row["mechanism"], round(row["epsilon"], 6)) for row in rows] == [
        ("grr", 1), ("grr", 2), ("oue", 1), ("oue", 2),
    ]  # fmt: skip
    assert rows[1]["success"] == pytest.approx(measure(ldpkit.GRR(5, epsilon=2.0)).success)
    assert all("of all cases" in row["words"] for row in rows)


def test_the_prior_is_that_of_the_people_unless_told_otherwise(run, people, tmp_path):
    def success(*options):
        out = run("risk", "-d", people, "-p", "grr", "-e", 1, *options, "--format", "csv").out
        (row,) = csv.DictReader(io.StringIO(out))
        return float(row["success"])

    oracle, counts = ldpkit.GRR([0, 5, 9], epsilon=1.0), [10, 60, 30]
    assert success() == pytest.approx(measure(oracle, counts).success)
    assert success("--prior", "uniform") == pytest.approx(measure(oracle, None, people=counts).success)
    other = tmp_path / "belief.csv"
    other.write_text("value,count\n9,70\n0,30\n")
    assert success("--prior", other) == pytest.approx(measure(oracle, [30, 0, 70], people=counts).success)


def test_eta_asks_for_low_values(run, people):
    out = run("risk", "-d", people, "-p", "grr", "-e", 3, "--eta", 5, "--format", "json").out
    (row,) = json.loads(out)["rows"]
    expected = measure(ldpkit.GRR([0, 5, 9], epsilon=3.0), [10, 60, 30], eta=5)
    assert (row["precision"], row["recall"], row["f_score"]) == pytest.approx(
        (expected.precision, expected.recall, expected.f_score)
    )
    assert "at most 5" in row["words"]


def test_amount_columns_are_read_too(run, tmp_path):
    path = tmp_path / "water.csv"
    path.write_text("amount,count\n0,5\n1,7\n")
    assert "one of 2 values" in run("risk", "-d", path, "-p", "grr").out


def test_repeated_reports(run):
    options = ("--reports", 10, "--devices", 300, "--domain", 6, "--format", "json")
    (fresh,) = json.loads(run("risk", "-p", "oue", "-e", 0.5, *options).out)["rows"]
    assert (fresh["reports"], fresh["how"]) == (10, "simulated")
    assert fresh["epsilon"] == pytest.approx(5)
    kept = ("-p", "lgrr", "--parameter", "epsilon_inf=2", "--parameter", "epsilon_1=1")
    (memoized,) = json.loads(run("risk", *kept, *options).out)["rows"]
    assert memoized["epsilon"] <= 2
    again = json.loads(run("risk", *kept, *options).out)["rows"]
    assert again == [memoized]


@pytest.mark.parametrize("options", [(), ("--eta", 2)])
def test_figure(run, tmp_path, options):
    path = tmp_path / "risk.png"
    result = run("risk", "--domain", 6, "-p", "grr", "ss", "-e", 0.5, 1, 2, "--figure", path, *options)
    assert "wrote" in result.err
    assert path.stat().st_size > 1000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give --domain, --data, or --low and --high"),
        (("--domain", 3, "-d", "zipf:k=3,n=9"), "the data have their own values: leave out --domain"),
        (("--domain", 3, "-e", "x"), "epsilon must be a number, got 'x'"),
        (("--domain", 3, "-e", -1), "epsilon must be positive"),
        (("--domain", 3, "-p", "nix"), "unknown mechanism 'nix'"),
        (("--domain", 3, "--reports", 0), "reports must be at least 1"),
        (("--domain", 3, "--figure", "a.txt"), ".png, .svg or .pdf"),
        (("--domain", 3, "--prior", "missing.csv"), "missing.csv"),
    ],
)
def test_refusals(run, arguments, message):
    assert message in run("risk", *arguments, code=2).error_line


def test_help_has_examples(run):
    assert "ldpkit risk -p grr" in run("risk", "--help").out


def test_a_mechanism_that_needs_more_than_epsilon_says_what(run):
    assert (
        "give it with --parameter epsilon_alone=..."
        in run("risk", "-p", "grr", "jrr", "--domain", 4, code=2).err
    )
    told = run("risk", "-p", "lgrr", "--domain", 4, "-e", 1, code=2).error_line
    assert "lgrr takes epsilon_inf and epsilon_1 instead of epsilon" in told
    assert "--parameter epsilon_inf=... --parameter epsilon_1=..." in told
    shown = run("risk", "-p", "jrr", "--parameter", "epsilon_alone=1", "-e", 2, "--domain", 4)
    assert "knowing the partner's value and report" in shown.err
