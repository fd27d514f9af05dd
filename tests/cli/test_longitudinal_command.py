"""`ldpkit longitudinal`."""

from __future__ import annotations

import csv
import io
import json
import math
import re

import pytest
from scipy.stats import binomtest

import ldpkit
from ldpkit.assurance.longitudinal import success_bound
from ldpkit.core.errors import InvalidParameterError
from ldpkit.protocols.history import sequence_epsilon

SMALL = ("--reports", "60", "--devices", "60")


def test_the_loss_is_that_of_the_device_and_the_attack_stays_below_its_bound(run):
    result = run("longitudinal", "--reports", 200, "--devices", 400, "--changes", "0,1", "--format", "json")
    found = json.loads(result.out)
    found |= found["about"]
    oracle = ldpkit.get("lgrr", 16, epsilon_inf=2, epsilon_1=1)
    assert found["permanent_epsilon"] == oracle.exact_permanent_epsilon()
    assert found["first_report_epsilon"] == oracle.exact_epsilon()
    rows = {(row["changes"], row["reports"]): row for row in found["rows"]}
    assert [reports for changes, reports in rows if changes == 0] == [1, 2, 5, 10, 20, 50, 100, 200]
    for reports in (1, 5, 200):
        same, fixed = (sequence_epsilon(oracle, [3] * reports, fixed=fixed) for fixed in (False, True))
        assert rows[0, reports]["every_history"] == same.epsilon
        assert rows[0, reports]["exact"] is same.is_exact is (reports == 1)
        assert rows[0, reports]["same_pattern"] == rows[0, reports]["fixed"] == fixed.epsilon <= 2
        assert rows[0, reports]["without_memo"] == same.without_memo
    changed = sequence_epsilon(oracle, [3] * 100 + [5] * 100)
    assert rows[1, 200]["every_history"] == changed.epsilon > 100
    assert rows[1, 200]["same_pattern"] == changed.same_pattern > rows[0, 200]["same_pattern"]
    assert rows[1, 200]["fixed"] == rows[0, 200]["fixed"]
    assert rows[1, 200]["permanent_reports"] == 2
    assert rows[1, 200]["found"] is None
    last = rows[0, 200]
    assert last["bound"] == success_bound(oracle.exact_permanent_epsilon(), 16)
    # 400 devices: a standard error of 0.024, so five of them are exceeded one time in 3 million.
    assert last["found_stderr"] == pytest.approx((last["found"] * (1 - last["found"]) / 400) ** 0.5)
    assert last["found"] < last["bound"] + 0.12
    assert last["found_without_memo"] > 0.9  # the negative control: the same attack does find values


@pytest.mark.parametrize("name", ["lsue", "loue", "lsoue", "losue", "lblh", "lolh"])
def test_every_longitudinal_mechanism_has_its_table(run, name):
    rows = list(csv.DictReader(io.StringIO(run("longitudinal", "-p", name, *SMALL, "--format", "csv").out)))
    assert len(rows) == 2 * len([1, 2, 5, 10, 20, 50, 60])
    assert float(rows[0]["every_history"]) == pytest.approx(1, abs=1e-6)
    assert float(rows[6]["every_history"]) > 20
    assert float(rows[6]["fixed"]) == pytest.approx(2, abs=1e-3)
    assert float(rows[6]["without_memo"]) == pytest.approx(60, abs=1e-4)


def test_dbitflip_takes_one_epsilon_and_its_own_parameter(run):
    arguments = ("longitudinal", "-p", "dbitflip", "--epsilon-inf", 1, "--parameter", "d=4", *SMALL)
    found = json.loads(run(*arguments, "--format", "json").out)
    found |= found["about"]
    assert found["mechanism"] == "DBitFlip(16, epsilon=1, d=4)"
    rows = [row for row in found["rows"] if row["changes"] == 0]
    assert {row["fixed"] for row in rows} == {rows[0]["every_history"]} == {found["permanent_epsilon"]}
    assert {row["every_history"] for row in rows[1:]} == {"infinite"}


def test_the_same_seed_gives_the_same_attack(run):
    first, again, other = (
        run("longitudinal", *SMALL, "--seed", seed, "--format", "csv").out for seed in (1, 1, 2)
    )
    assert first == again != other


def test_table_and_figure(run, tmp_path):
    result = run("longitudinal", *SMALL, "--domain", "a,b,c", "--figure", tmp_path / "attack.png")
    assert "LGRR(3, epsilon_inf=2, epsilon_1=1)" in result.out
    assert "wrote" in result.err
    assert (tmp_path / "attack.png").read_bytes().startswith(b"\x89PNG")


def test_the_page_has_the_answer_of_the_result(run, tmp_path):
    page = tmp_path / "attack.html"
    run("longitudinal", *SMALL, "--seed", 3, "--report", page)
    oracle = ldpkit.get("lgrr", 16, epsilon_inf=2, epsilon_1=1)
    found = ldpkit.expose(oracle, 60, devices=60, rng=ldpkit.random.seeded(3))
    assert f'<p id="answer">{found.answer()}</p>' in page.read_text()
    attacked = found.rows()[6]
    low, high = binomtest(round(60 * attacked["found"]), 60).proportion_ci(method="exact")
    assert (
        f"{math.floor(1000 * low) / 10}% to {math.ceil(1000 * high) / 10}%) of 60 devices" in found.answer()
    )


def test_the_figure_has_a_curve_for_every_case():
    found = ldpkit.expose(ldpkit.get("lgrr", 3, epsilon_inf=2, epsilon_1=1), 9, changes=range(6), devices=9)
    loss = found.figure().axes[0]
    shown = " ".join(text.get_text().replace("\n", " ") for text in loss.get_legend().get_texts())
    every = re.findall(r"every history, ([\d or]+) changes?", shown)
    assert sorted(int(count) for text in every for count in text.split(" or ")) == list(range(6))
    assert re.findall(r"of states, (\d) change", shown) == list("12345")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--epsilon-1", 2), "epsilon_1=2 is too large for lgrr with epsilon_inf=2: the largest feasible"),
        (("--epsilon-1", 3), "epsilon_1=3 is too large for lgrr"),
        (
            ("-p", "loue", "--epsilon-inf", 1, "--epsilon-1", 0.9),
            "the largest feasible epsilon_1 is 0.763382",
        ),
        (("--epsilon-1", -1), "epsilon_1 must be positive and finite, got -1"),
        (("-p", "olh"), "olh keeps no permanent report: choose from dbitflip, lblh, lgrr, lolh"),
        (("-p", "ss"), "choose from dbitflip, lblh, lgrr"),
        (("-p", "lgr"), "unknown mechanism 'lgr': did you mean lgrr"),
        (("-p", "dbitflip", "--epsilon-1", 1), "dbitflip sends its permanent report itself"),
        (("--domain", 1), "at least 2 values"),
        (("--changes", "0,x"), "--changes takes whole numbers separated by commas, such as 0,3, got '0,x'"),
        (("--changes", "-1"), "changes must be at least 0, got -1"),
        (("--reports", 3, "--changes", 3), "a value cannot change 3 times between 3 reports"),
        (("--reports", 0), "reports must be at least 1, got 0"),
        (("--devices", 0), "devices must be at least 1, got 0"),
        (("--reports", 10**8), "are too much to attack"),
        (("--figure", "attack.jpeg"), "--figure is written as .png, .svg or .pdf"),
        (("--figure", "a.png", "-o", "a.png", "--format", "csv"), "is written as"),
        (("--report", "attack.txt"), "--report is written as .html, got 'attack.txt'"),
        (("--parameter", "d=4"), "lgrr has no parameter 'd'"),
        (("--seed", -1), "a seed must be a non-negative integer, got -1"),
    ],
)
def test_nonsense_is_refused_in_one_line(run, arguments, message):
    assert message in run("longitudinal", *arguments, code=2).error_line


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"changes": 3}, "changes are whole numbers, such as"),
        ({"changes": []}, "changes are whole numbers, such as"),
        ({"changes": [1.5]}, "changes must be a whole number"),
        ({"rng": 3}, "rng must be ldpkit.random.secure"),
        ({"devices": 10**9}, "at most 10,000,000 devices"),
    ],
)
def test_what_cannot_be_exposed_is_refused(options, reason):
    with pytest.raises(InvalidParameterError, match=reason):
        ldpkit.expose(ldpkit.get("lgrr", 3, epsilon_inf=2, epsilon_1=1), 5, **options)


def test_a_case_is_told_once(run):
    words = ("longitudinal", "--domain", 3, "--reports", 5, "--devices", 9, "--format", "csv", "--changes")
    assert run(*words, "0,0") == run(*words, "0")
