"""`ldpkit mechanisms`."""

from __future__ import annotations

import csv
import io
import json
import math

import pytest

import ldpkit
from ldpkit.mechanisms.base import MECHANISMS


def test_every_mechanism_has_a_row_with_its_own_numbers(run):
    result = run("mechanisms", "--epsilon", "2", "--domain", "50", "--n", "1000", "--format", "json")
    rows = {row["name"]: row for row in json.loads(result.out)["rows"]}
    assert sorted(rows) == list(MECHANISMS)
    for name in ("grr", "olh", "blh", "oue", "sue", "ss"):
        oracle, row = ldpkit.get(name, 50, epsilon=2.0), rows[name]
        assert row["exact_epsilon"] == oracle.exact_epsilon() <= 2
        assert row["report_bytes"] == oracle.report_bytes
        assert row["stderr"] == pytest.approx(math.sqrt(oracle.variance(0.0, 1000)))
        assert row["variance_times_n"] == pytest.approx(1000 * oracle.variance(0.0, 1000))
        assert row["details"] == oracle.details()
        assert row["citation"] == oracle.citation
    assert rows["sue"]["aliases"] == ["rappor"]


def test_table_and_csv_say_the_same(run):
    table = run("mechanisms").out
    rows = list(csv.DictReader(io.StringIO(run("mechanisms", "--format", "csv").out)))
    assert sorted(row["name"] for row in rows) == list(MECHANISMS)
    for row in rows:
        assert row["name"] in table
        assert row["title"].split()[0] in table
        assert row["citation"]
    assert {row["name"]: row["details"] for row in rows}["olh"] == "g=4"
    assert "g=4" in table


def test_kinds_stand_together_and_can_be_asked_for(run):
    rows = json.loads(run("mechanisms", "--format", "json").out)["rows"]
    kinds = [row["kind"] for row in rows]
    assert kinds == sorted(kinds)  # frequency, longitudinal, numeric
    assert {row["name"] for row in rows if row["kind"] == "longitudinal"} >= {"lgrr", "lolh", "dbitflip"}
    numeric = run("mechanisms", "--kind", "numeric", "--format", "json")
    assert json.loads(numeric.out)["rows"] == [row for row in rows if row["kind"] == "numeric"]
    assert "aliases" not in run("mechanisms", "--kind", "numeric").out


def test_longitudinal_rows_are_of_one_round(run):
    result = run("mechanisms", "--kind", "longitudinal", "--domain", "20", "--format", "json")
    rows = {row["name"]: row for row in json.loads(result.out)["rows"]}
    oracle = ldpkit.get("lgrr", 20, epsilon_inf=2.0, epsilon_1=1.0)
    assert rows["lgrr"]["stderr"] == pytest.approx(math.sqrt(oracle.variance(0.0, 100_000)))
    assert rows["lgrr"]["exact_epsilon"] == oracle.exact_epsilon()
    assert "epsilon_inf=2" in run("mechanisms", "--kind", "longitudinal").out


@pytest.mark.parametrize("name", ["pm", "hm", "duchi", "laplace", "staircase", "sw"])
def test_numeric_rows_are_of_the_worst_case(run, name):
    result = run("mechanisms", "--kind", "numeric", "--n", "100", "--format", "json")
    row = {row["name"]: row for row in json.loads(result.out)["rows"]}[name]
    mechanism = ldpkit.get(name, (-1, 1), epsilon=1.0)
    worst = max(mechanism.variance([-1.0, 0.0, 1.0])) / float(mechanism.line[1]) ** 2
    assert row["stderr"] == pytest.approx(math.sqrt(worst / 100), rel=1e-3)


def test_a_domain_may_be_labels(run):
    assert "for 3 values" in run("mechanisms", "--domain", "a,b,c").out


def test_a_mechanism_that_needs_more_than_epsilon_still_has_its_row(run, monkeypatch):
    class Demanding(ldpkit.GRR):
        """Takes a further parameter."""

        name, title = "demanding", "A demanding mechanism"

        def __init__(self, domain, epsilon, epsilon_inf):
            super().__init__(domain, epsilon)

    monkeypatch.setitem(MECHANISMS._members, "demanding", Demanding)
    rows = {row["name"]: row for row in json.loads(run("mechanisms", "--format", "json").out)["rows"]}
    assert rows["demanding"]["title"] == "A demanding mechanism"
    assert rows["demanding"]["exact_epsilon"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--epsilon", "0"), "epsilon must be positive and finite, got 0.0"),
        (("--domain", "1"), "at least 2 values"),
        (("--domain", "many"), "the domain 'many' is not a size: give a size, comma-separated labels"),
        (("--domain", "a,,b"), "label 2 of the domain 'a,,b' is empty"),
    ],
)
def test_nonsense_is_refused(run, arguments, message):
    assert message in run("mechanisms", *arguments, code=2).error_line
