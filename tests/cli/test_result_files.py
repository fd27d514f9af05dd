"""Every command that shows a result as a table, CSV or JSON writes the same to a file, in the same way."""

from __future__ import annotations

import csv
import json
from types import SimpleNamespace

import pytest

from cli.test_vocabulary import EVERY, options
from client.collections import TOWN
from ldpkit import GRR, ReportWriter
from ldpkit.collector.database import open_database
from ldpkit.collector.tokens import ANALYST, new_token
from ldpkit.core.results import ENVELOPE

SPACE = ("--space", "0,0,1,1")
CASES = {
    "audit": ("in/reports.ldp", "--reports", 1000, "--seed", 1, "--at-most", 0.5),
    "collection check": ("in/town.toml",),
    "collection diff": ("in/town.toml", "in/next.toml"),
    "collection show": ("in/town.toml",),
    "collection simulate": ("in/town.toml", "--n", 50, "-r", 1),
    "collector estimates": ("town", "--question", "commute"),
    "collector tokens": ("--data", "in/data"),
    "collector verify": ("--data", "in/data"),
    "datasets list": (),
    "datasets show": ("in/values.txt",),
    "density": ("in/ages.txt", "--period", 99, "-e", 1, "--seed", 1, "--bins", 4),
    "error": ("-p", "pm", "-e", 1, "--points", 9),
    "estimate": ("in/reports.ldp",),
    "inspect": ("in/reports.ldp",),
    "longitudinal": ("--reports", 5, "--devices", 20),
    "mean": ("in/ages.txt", "--low", 0, "--high", 99, "-e", 1, "--seed", 1, "-p", "duchi"),
    "mechanisms": ("--kind", "spatial"),
    "plan budget": ("--low", 0, "--high", 1, "--within", 0.0001, "--n", 10, "-p", "duchi"),
    "plan capacity": ("-d", "poisson:k=9,n=500,mean=3", "--capacity", 2000, "--constraint", "fp",
                      "--at-most", 0.1, "-p", "grr"),
    "plan cluster": ("--people", 1000, "-p", "grr", "--domain", 4, "-e", 1),
    "plan pairs": ("--n", 6, "--epsilon-alone", 1),
    "recommend": ("-d", "zipf:k=3,n=90", "-e", 1, "-p", "grr", "-r", 2),
    "risk": ("-p", "grr", "-e", 1, "--domain", 4),
    "spec check": ("--only", "grr", "--reports", "in/none.txt"),
    "trajectory evaluate": ("in/walks.csv", *SPACE, "-p", "tracs_c"),
    "trajectory heatmap": ("in/walks.csv", *SPACE, "-p", "oue", "--columns", 2, "--rows", 2, "--seed", 1),
    "trajectory recommend": (*SPACE,),
}  # fmt: skip
FAILING = {"audit", "collection diff", "plan budget", "spec check"}
"""Those whose answer is no, which the exit code says as well when it goes to a file."""

ANOTHER_FILE = {"bench", "optimal", "plan survey", "reproduce", "trajectory privatize"}
"""Those whose --output is not, or not only, what they print."""


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    oracle = GRR(4, epsilon=1)
    with ReportWriter(folder / "reports.ldp", oracle) as writer:
        writer.write(oracle.privatize([0, 1, 1, 3]))
    (folder / "values.txt").write_text("a\nb\nb\n")
    (folder / "ages.txt").write_text("3\n70\n")
    (folder / "walks.csv").write_text("id,x,y\n1,0.1,0.2\n1,0.3,0.4\n2,0.9,0.8\n")
    (folder / "town.toml").write_bytes(TOWN)
    (folder / "next.toml").write_bytes(TOWN.replace(b"epsilon = 0.3", b"epsilon = 0.4"))
    (folder / "none.txt").write_text("")
    (folder / "data").mkdir()
    database = open_database(str(folder / "data"))
    connection = database.connect_writer()
    database.prepare(connection)
    new_token(connection, "weekly", ANALYST)
    connection.close()
    return folder


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    oracle = GRR(4, epsilon=1)
    found = oracle.tally(oracle.privatize([0, 1, 1, 3])).estimate()
    collector = SimpleNamespace(estimate=lambda *_, **__: found)
    monkeypatch.setattr("ldpkit.cli.collector._remote", lambda *_: collector)
    return tmp_path


@pytest.mark.parametrize("name", CASES)
def test_the_result_goes_to_a_file_whose_ending_says_how(run, folder, inputs, name):
    """Every command runs twice, which costs some seconds, most of them for what the commands import."""
    words, code = (*name.split(), *CASES[name]), int(name in FAILING)
    (folder / "old.csv").write_text("precious")
    # There are no inputs yet: what is refused is refused before they are looked for.
    assert "written as .csv, .json or .txt, got 'a.xlsx'" in run(*words, "-o", "a.xlsx", code=2).error_line
    assert "'old.csv' exists: choose another" in run(*words, "-o", "old.csv", code=2).error_line
    (folder / "in").symlink_to(inputs)
    told = run(*words, "-o", "new.json", code=code)
    assert told.out == ""
    assert told.err.splitlines().count("wrote new.json") == 1
    found = json.loads((folder / "new.json").read_text())
    assert list(found)[: len(ENVELOPE)] == list(ENVELOPE)
    assert run(*words, "-o", "old.csv", "--force", code=code).out == ""
    with (folder / "old.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert len(rows) == len(found["rows"]) > 0
    assert header == list(found["rows"][0])
    assert {each.name for each in folder.iterdir()} == {"in", "new.json", "old.csv"}


def test_no_command_is_forgotten():
    shown = {" ".join(path) for path, command in EVERY.items() if "--format" in options(command)}
    assert shown == {*CASES, *ANOTHER_FILE, "plan classifier"}  # it needs a model and has its own tests
    assert all({"--output", "-o", "--force"} <= options(EVERY[tuple(name.split())]) for name in shown)


@pytest.mark.parametrize("name", ["risk", "audit", "inspect", "collection show", "datasets show"])
def test_a_text_and_a_dash_have_what_is_printed(run, folder, inputs, name):
    words, code = (*name.split(), *CASES[name]), int(name in FAILING)
    (folder / "in").symlink_to(inputs)
    printed = run(*words, code=code)
    assert run(*words, "-o", "-", code=code) == printed
    run(*words, "-o", "a.txt", code=code)
    assert (folder / "a.txt").read_text() == printed.out
    run(*words, "--format", "json", "-o", "a.txt", "--force", code=code)
    assert json.loads((folder / "a.txt").read_text())


def test_warnings_stand_in_the_text_and_are_told(run, folder):
    large = TOWN.replace(b"epsilon = 0.3", b"epsilon = 9")
    (folder / "town.toml").write_bytes(large)
    told = run("collection", "check", "town.toml", "-o", "a.txt").err
    assert "warning: " in told
    written = " ".join((folder / "a.txt").read_text().split())  # in lines of 160 columns
    assert all(line in written for line in told.splitlines() if line != "wrote a.txt")


@pytest.mark.parametrize("file", ["a.json", "a.csv", "a.txt"])
def test_a_verdict_is_seen_where_the_result_goes_to_a_file(run, folder, inputs, file):
    (folder / "in").symlink_to(inputs)
    told = run("audit", *CASES["audit"], "-o", file, code=1).err
    assert "GRR(4, epsilon=1): FAILED: its epsilon, 1, is above the limit of 0.5" in told.splitlines()
    told = run("collection", "check", "in/town.toml", "--at-most", 0.5, "-o", file, "--force", code=1).err
    assert "FAILED: its epsilon in all" in told


def test_what_a_command_reads_is_never_its_output(run, folder, inputs):
    (folder / "a.csv").write_text("value,count\nx,3\ny,1\n")
    (folder / "b.csv").write_text("x\n")
    before = (folder / "a.csv").read_bytes()
    for words in (
        ("risk", "-p", "grr", "-e", 1, "-d", "a.csv"),
        ("risk", "-p", "grr", "-e", 1, "--domain", "x,y", "--prior", "a.csv"),
        ("risk", "-p", "grr", "-e", 1, "--domain", "@a.csv:value"),
        ("audit", "-p", "grr", "-e", 1, "--domain", "@a.csv:value"),
        ("recommend", "-e", 1, "--n", 10, "--domain", "@a.csv:value"),
        ("mechanisms", "--domain", "@a.csv:value"),
        ("longitudinal", "--domain", "@a.csv:value"),
        ("plan", "cluster", "--people", 9, "-p", "grr", "-e", 1, "--domain", "@a.csv:value"),
        ("datasets", "show", "a.csv"),
        ("inspect", "a.csv"),
        ("privatize", "b.csv", "-p", "grr", "-e", 1, "--domain", "@a.csv:value"),
        ("privatize", "b.csv", "-p", "@a.csv"),
    ):
        assert "is also the input" in run(*words, "-o", "a.csv", "--force", code=2).error_line
    assert (folder / "a.csv").read_bytes() == before


def test_what_would_be_lost_is_refused(run):
    assert (
        "list of tokens: leave out --output"
        in run("collector", "tokens", "--new", "me", "-o", "a.csv", code=2).error_line
    )
    line = run("datasets", "-o", "a.csv", "show", "zipf:k=2,n=3", code=2).error_line
    assert "write options after the whole command: 'ldpkit datasets show" in line
