"""`ldpkit privatize`."""

from __future__ import annotations

import io
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import ldpkit
from ldpkit.core.numbertext import epsilon_text
from ldpkit.core.parameters import EPSILON, Parameter
from ldpkit.files.reportfile import ReportFile, tally_file
from ldpkit.mechanisms.base import MECHANISMS


@pytest.fixture
def numbers(tmp_path):
    path = tmp_path / "values.csv"
    path.write_text("value\n" + "\n".join(str(i % 5) for i in range(1000)) + "\n")
    return path


@pytest.fixture
def target(tmp_path):
    return tmp_path / "reports.ldp"


def test_reports_are_those_of_the_library(run, numbers, target):
    result = run("privatize", numbers, "-p", "olh", "-e", 1, "--domain", 8, "-o", target, "--seed", 5)
    oracle = ldpkit.OLH(8, epsilon=1.0)
    expected = oracle.privatize(np.arange(1000) % 5, rng=ldpkit.random.seeded(5))
    assert ReportFile.open(target).mechanism == oracle
    assert (np.concatenate(list(ReportFile.open(target).reports())) == expected).all()
    assert result.out == ""
    assert "protect nobody" in result.err
    wrote = result.err.splitlines()[-1]
    assert "1000 reports of OLH(8, epsilon=1)" in wrote
    assert f"exact epsilon {epsilon_text(oracle.exact_epsilon())}" in wrote
    assert f"{target.stat().st_size} bytes" in wrote


def test_without_a_seed_two_runs_differ_and_nothing_is_said_of_seeds(run, numbers, tmp_path):
    for name in ("a.ldp", "b.ldp"):
        result = run("privatize", numbers, "-p", "oue", "-e", 1, "--domain", 8, "-o", tmp_path / name)
        assert "seed" not in result.err.replace(str(tmp_path), "")
    assert (tmp_path / "a.ldp").read_bytes() != (tmp_path / "b.ldp").read_bytes()


@pytest.mark.parametrize("name", ["grr", "olh", "blh", "oue", "rappor", "ss"])
def test_every_oracle_and_alias(run, numbers, target, name):
    run("privatize", numbers, "-p", name, "-e", 2, "--domain", 5, "-o", target)
    assert tally_file(target).n == 1000


def test_a_missing_domain_is_refused_before_a_value_is_read(run, tmp_path, target):
    line = run("privatize", tmp_path / "none.csv", "-p", "grr", "-e", 1, "-o", target, code=2).error_line
    assert "the domain is missing: give the public list of values with --domain" in line
    assert "--domain-from-data" in line


def test_a_domain_from_the_data_is_asked_for_and_recorded(run, numbers, target):
    result = run("privatize", numbers, "-p", "grr", "-e", 1, "-o", target, "--domain-from-data")
    assert "epsilon does not protect that these values exist" in result.err
    file = ReportFile.open(target)
    assert file.mechanism.domain.to_json() == 5
    assert (file.provenance.domain, file.provenance.randomness) == ("data", "secure")
    for command in (("inspect", target), ("estimate", target)):
        shown = run(*command)
        assert "it is not hidden that these values exist" in shown.out + shown.err


def test_a_domain_is_stated_or_taken_from_the_data(run, numbers, target):
    both = ("--domain", 5, "--domain-from-data")
    line = run("privatize", numbers, "-p", "grr", "-e", 1, *both, "-o", target, code=2).error_line
    assert "exclude each other" in line
    interval = ("--low", 0, "--high", 5, "--domain-from-data")
    line = run("privatize", numbers, "-p", "pm", "-e", 1, *interval, "-o", target, code=2).error_line
    assert "--domain is for categories" in line


def test_labels_become_a_domain(run, tmp_path, target):
    (tmp_path / "people.csv").write_text("age,city\n3,Rome\n4,Oslo\n5,Rome\n")
    options = ("--column", "city", "-p", "grr", "-e", 1, "--domain-from-data", "-o", target)
    run("privatize", tmp_path / "people.csv", *options)
    assert ReportFile.open(target).mechanism.domain.to_json() == ["Oslo", "Rome"]


def test_a_seed_is_recorded_and_shown_everywhere(run, numbers, target):
    options = ("--low", 0, "--high", 5, "-p", "sw", "-e", 1, "-o", target)
    run("privatize", numbers, *options, "--seed", 1)
    file = ReportFile.open(target)
    assert (file.provenance.randomness, file.provenance.domain) == ("seeded", "stated")
    for command in ("inspect", "estimate", "mean", "density"):
        shown = run(command, target)
        assert "made with a seed: whoever knows the seed can undo the noise" in shown.out + shown.err
        facts = json.loads(run(command, target, "--format", "json").out)
        told = facts["rows"][0] if command == "inspect" else facts["about"]["provenance"]
        assert (told["randomness"], told["batches"]) == ("seeded", [file.batch])
        csv = run(command, target, "--format", "csv")
        assert "made with a seed" in csv.out + csv.err
    run("privatize", numbers, *options, "--force")
    assert ReportFile.open(target).provenance.randomness == "secure"
    assert "warning" not in run("estimate", target).err


@pytest.mark.parametrize(
    ("text", "domain"),
    [("0\n0\n", 2), ("-3\n4\n", [-3, 4]), ("0.5\n1.5\n", [0.5, 1.5]), ("b\na\n", ["a", "b"])],
)
def test_inferred_domains(run, tmp_path, target, text, domain):
    (tmp_path / "values.txt").write_text(text)
    run("privatize", tmp_path / "values.txt", "-p", "grr", "-e", 1, "-o", target, "--domain-from-data")
    assert ReportFile.open(target).mechanism.domain.to_json() == domain


def test_reports_on_a_domain_from_the_data_are_those_on_the_same_domain(run, tmp_path, target, monkeypatch):
    """The column is not kept: a file is read twice, and standard input is kept in a byte for each value."""
    text = "b\n\na\nb\n" * 50
    (tmp_path / "values.txt").write_text(text)
    options = ("-p", "grr", "-e", 1, "--seed", 3, "--missing", "drop", "--force", "-o", target)
    run("privatize", tmp_path / "values.txt", *options, "--domain", "a,b")
    stated = np.concatenate(list(ReportFile.open(target).reports()))
    result = run("privatize", tmp_path / "values.txt", *options, "--domain-from-data")
    assert "50 missing values were left out, 150 are left" in result.err
    assert (np.concatenate(list(ReportFile.open(target).reports())) == stated).all()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    result = run("privatize", "-", *options, "--domain-from-data")
    assert "50 missing values were left out, 150 are left" in result.err
    assert (np.concatenate(list(ReportFile.open(target).reports())) == stated).all()


@pytest.mark.parametrize(
    ("spec", "values", "counts"),
    [
        ("3", "0\n2\n2\n", [1, 0, 2]),
        ("red, green", "green\ngreen\nred\n", [1, 2]),
        ("1,2,3", "2\n3\n3\n", [0, 1, 2]),  # the numbers in the file are labels, not indices
        ("1,2,other", "2\n2\n", [0, 2, 0]),
        ("0.5,1", "1\n0.5\n1\n", [1, 2]),
    ],
)
def test_domain_specs(run, tmp_path, target, spec, values, counts):
    (tmp_path / "values.txt").write_text(values)
    run(
        "privatize",
        tmp_path / "values.txt",
        "-p",
        "grr",
        "-e",
        20,
        "--domain",
        spec,
        "-o",
        target,
        "--seed",
        1,
    )
    assert tally_file(target).counts.tolist() == counts  # at epsilon 20 a lie has probability 1e-8


def test_a_domain_from_a_file(run, tmp_path, target):
    (tmp_path / "cities.txt").write_text("Rome\nOslo\nLima\n")
    (tmp_path / "values.txt").write_text("Lima\nLima\nRome\n")
    spec = f"@{tmp_path / 'cities.txt'}"
    run(
        "privatize",
        tmp_path / "values.txt",
        "-p",
        "grr",
        "-e",
        20,
        "--domain",
        spec,
        "-o",
        target,
        "--seed",
        1,
    )
    assert tally_file(target).counts.tolist() == [1, 0, 2]


def test_standard_input(run, target, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"0\n1\n1\n")))
    run("privatize", "-", "-p", "grr", "-e", 1, "--domain", 2, "-o", target)
    assert tally_file(target).n == 3


def test_force_overwrites(run, numbers, target):
    target.write_text("precious")
    run("privatize", numbers, "-p", "grr", "-e", 1, "--domain", 5, "-o", target, "--force")
    assert ReportFile.open(target).n == 1000


class WithParameters(ldpkit.GRR):
    """Takes a further parameter."""

    name, title = "with_parameters", "Randomised response with a further parameter"
    declared = (EPSILON, Parameter("rounds", int), Parameter("scale", float, default=1.0))

    def __init__(self, domain, epsilon, rounds, scale=1.0):
        super().__init__(domain, epsilon)
        self._freeze(rounds=rounds, scale=scale)


@pytest.fixture
def with_parameters(monkeypatch):
    list(MECHANISMS)  # discovery comes first, so that it is not disturbed
    monkeypatch.setitem(MECHANISMS._members, "with_parameters", WithParameters)


@pytest.mark.usefixtures("with_parameters")
def test_further_parameters_reach_the_mechanism_and_the_file(run, numbers, target):
    more = ["--parameter", "rounds=3", "--parameter", "scale=0.5"]
    run("privatize", numbers, "-p", "with-parameters", "-e", 1, "--domain", 5, *more, "-o", target)
    assert ReportFile.open(target).mechanism.parameters() == {"epsilon": 1.0, "rounds": 3, "scale": 0.5}


@pytest.mark.usefixtures("with_parameters")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "with_parameters needs rounds: give it with --parameter rounds=..."),
        (["--parameter", "rounds"], "the parameter 'rounds' has no value: write NAME=VALUE"),
        (["--parameter", "rounds=x"], "rounds must be a whole number, got 'x'"),
        (["--parameter", "rounds=1", "--parameter", "rounds=2"], "'rounds' is given twice"),
        (["--parameter", "epsilon=1"], "epsilon is given twice"),
        (
            ["--parameter", "rounds=1", "--parameter", "depth=2"],
            "with_parameters has no parameter 'depth': it takes epsilon, rounds, scale",
        ),
    ],
)
def test_wrong_parameters_are_refused(run, numbers, target, arguments, message):
    command = (
        "privatize",
        numbers,
        "-p",
        "with_parameters",
        "-e",
        1,
        "--domain",
        5,
        *arguments,
        "-o",
        target,
    )
    assert message in run(*command, code=2).error_line
    assert not target.exists()


def test_a_first_line_that_is_a_value_is_no_header_and_any_other_is_told(run, tmp_path):
    bare, headed = tmp_path / "bare.csv", tmp_path / "headed.csv"
    bare.write_text("red\nblue\nred\n")
    headed.write_text("colour\nblue\nred\n")
    asked = ("-p", "grr", "-e", 1, "--domain", "red,blue", "-o")
    assert "3 reports" in (told := run("privatize", bare, *asked, tmp_path / "bare.ldp").err)
    assert "header" not in told
    told = run("privatize", headed, *asked, tmp_path / "headed.ldp").err
    assert "2 reports" in told
    assert "'colour', was taken as the header" in told
    named = run("privatize", headed, "--column", "colour", *asked, tmp_path / "named.ldp").err
    assert "header" not in named


def test_the_help_says_when_a_file_may_be_shared(run):
    told = " ".join(run("privatize", "--help").out.split())
    assert "Without --seed, each report is epsilon-differentially private" in told
    assert "several files about the same people add up" in told


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_with_the_name_of_a_table_is_read_once(run, tmp_path):
    pipe = tmp_path / "values.csv"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as writer:
        written = writer.submit(pipe.write_text, "pet\ncat\ndog\n")
        told = run("privatize", pipe, "-p", "grr", "-e", 2, "--domain-from-data", "-o", tmp_path / "r.ldp")
        written.result()
    assert "2 reports" in told.err
