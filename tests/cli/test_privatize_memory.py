"""`ldpkit privatize` with mechanisms that keep something: who the people are, or that devices are new."""

from __future__ import annotations

import io
import json
import sys

import pytest

import ldpkit

LGRR = ("--mechanism", "lgrr", "--parameter", "epsilon_inf=2", "--parameter", "epsilon_1=1")
FLIP = ("--mechanism", "dbitflip", "--epsilon", 1, "--parameter", "d=2")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("person,page\n" + "".join(f"{i},{'abc'[i % 3]}\n" for i in range(30)))
    return path


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "secret"
    path.write_bytes(bytes(range(32)))
    return path


def reports(path):
    return b"".join(chunk.tobytes() for chunk in ldpkit.ReportFile.open(path).reports())


def test_a_mechanism_with_memory_is_refused_without_a_word_about_it(run, table, tmp_path):
    common = ("privatize", table, "--column", "page", "--domain", "a,b,c", "-o", tmp_path / "x.ldp")
    for mechanism in (LGRR, FLIP):
        line = run(*common, *mechanism, code=2).error_line
        assert "--ids, --secret-file and --question, or --new-devices" in line
    assert not (tmp_path / "x.ldp").exists()


def test_new_devices_are_stated_and_both_epsilons_shown(run, table, tmp_path):
    file = tmp_path / "x.ldp"
    common = ("privatize", table, "--column", "page", "--domain", "a,b,c", "-o", file)
    oracle = ldpkit.get("lgrr", ["a", "b", "c"], epsilon_inf=2, epsilon_1=1)
    assert oracle.promise() in run(*common, *LGRR, "--new-devices").err
    facts = json.loads(run("inspect", file, "--format", "json").out)["rows"]
    fact = facts[0] if isinstance(facts, list) else facts["rows"][0]
    assert fact["exact_epsilon"] == oracle.exact_epsilon()
    assert fact["exact_permanent_epsilon"] == oracle.exact_permanent_epsilon()
    shown = run("estimate", file).out.replace("\n", " ")
    assert repr(oracle.exact_permanent_epsilon()) in shown
    assert "for all its reports while its value stays the same" in " ".join(shown.split())
    made = json.loads(run("estimate", file, "--format", "json").out)["about"]
    assert made["mechanisms"][0]["exact_permanent_epsilon"] == oracle.exact_permanent_epsilon()


def test_people_keep_their_permanent_reports_from_run_to_run(run, table, secret, tmp_path):
    def made(name, question="page"):
        file = tmp_path / name
        run(
            *("privatize", table, "--column", "page", "--domain", "a,b,c", *FLIP, "-o", file),
            *("--ids", "person", "--secret-file", secret, "--question", question),
        )
        return reports(file)

    monday = made("monday.ldp")
    assert made("tuesday.ldp") == monday, "dbitflip sends its permanent report"
    secret.write_bytes(bytes(range(32)) + b"\n")
    assert made("edited.ldp") == monday, "an editor's line end is not part of the secret"
    table.write_text(table.read_text().replace("\n0,", "\nzero,"))
    assert made("text.ldp")[3:] == monday[3:], "ids are read as text now, and are the same people"
    assert made("other.ldp", "game") != monday


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("--ids", "person"), "--secret-file is missing"),
        (("--ids", "person", "--secret-file", "SECRET"), "--question is missing"),
        (("--secret-file", "SECRET", "--question", "page"), "--ids is missing"),
        (("--ids", "person", "--secret-file", "SECRET", "--question", " "), "a question needs a name"),
        (("--ids", "nobody", "--secret-file", "SECRET", "--question", "page"), "no column 'nobody'"),
        (("--ids", "page", "--secret-file", "SECRET", "--question", "page"), "the ids must be in another"),
        (("--ids", "person", "--secret-file", "no", "--question", "page"), "head -c 32 /dev/urandom"),
        (("--ids", "person", "--secret-file", "/dev/zero", "--question", "page"), "not a file"),
        (("--ids", "person", "--new-devices"), "leave out --ids or --new-devices"),
        (
            ("--new-devices", "-e", "1", "-p", "grr"),
            "grr keeps nothing on the device: leave out --new-devices",
        ),
    ],
)
def test_bad_memory_is_refused(run, arguments, what, table, secret, tmp_path):
    mechanism = () if "grr" in arguments else LGRR
    given = [secret if each == "SECRET" else each for each in arguments]
    line = run(
        *("privatize", table, "--column", "page", "--domain", "a,b,c", "-o", tmp_path / "x.ldp"),
        *(*mechanism, *given),
        code=2,
    ).error_line
    assert what in line
    assert not (tmp_path / "x.ldp").exists()


def test_text_and_rounded_numbers_have_no_ids(run, secret, tmp_path, monkeypatch):
    values = tmp_path / "values.txt"
    values.write_text("0\n1\n2\n")
    memory = ("--ids", "person", "--secret-file", secret, "--question", "page")
    common = ("privatize", values, *LGRR, *memory, "-o", tmp_path / "x.ldp")
    assert "a list without columns, so it has no ids" in run(*common, "--domain", 3, code=2).error_line
    bins = ("--low", 0, "--high", 2, "--bins", 4)
    assert "--bins rounds at random at every run" in run(*common, *bins, code=2).error_line
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"0\n1\n")))
    assert "read twice" in run("privatize", "-", *common[2:], "--domain", 3, code=2).error_line


def test_a_secret_is_never_written_over(run, table, secret):
    before = secret.read_bytes()
    line = run(
        *("privatize", table, "--column", "page", "--domain", "a,b,c", *LGRR, "-o", secret, "--force"),
        *("--ids", "person", "--secret-file", secret, "--question", "page"),
        code=2,
    ).error_line
    assert "is also the input" in line
    assert secret.read_bytes() == before
