"""Every command that has a result writes a figure and a page: whole, valid, alone, and true to the record.

The cases of all commands cost more than a second together: each draws its figure three times. Those that
draw what another one does are slow tests.
"""

from __future__ import annotations

import base64
import datetime
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import html5lib
import pytest

from cli import page_cases
from ldpkit import __version__
from slow import slow

QUICK = ("estimate", "mean", "density", "risk-bars", "audit", "plan-survey", "recommend-mean")


REST = (*(name for name in page_cases.cases(Path()) if name not in QUICK), "plan-classifier")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("inputs")


@pytest.fixture
def words(run, folder):
    if not (folder / "ways.ldp").exists():
        page_cases.make_inputs(folder, run)

    def words(name):
        if name == "plan-classifier":
            pytest.importorskip("skops.io")
            page_cases.make_model(folder)
            return page_cases.model_case(folder)
        return page_cases.cases(folder)[name]

    return words


def embedded(page, ending):
    """Return what a page carries for download."""
    found = re.search(rf'download="[^"]*\.{ending}" href="data:[^;]*;base64,([^"]*)"', page)
    return base64.b64decode(found[1]).decode()


@pytest.mark.parametrize("name", [*QUICK, *slow(*REST)])
def test_every_command_writes_a_figure_and_a_page(run, words, tmp_path, name):
    page, figure = tmp_path / "page.html", tmp_path / "figure.svg"
    asked = (*words(name), "--report", page, "--figure", figure)
    told = run(*asked, *(["--force"] if name == "trajectory-privatize" else []))
    assert f"wrote {page}" in told.err
    text = page.read_text()
    html5lib.HTMLParser(strict=True).parse(text)
    assert not re.search(r"""(src|href|url\()\s*=?\s*["']?\s*(https?:)?//""", text)
    assert "default-src 'none'" in text
    assert text.count('role="img"') == text.count("<svg") == 2
    record = json.loads(embedded(text, "json"))
    assert record["ldpkit"] == __version__
    assert embedded(text, "csv").splitlines()[0].split(",")[0] in record["rows"][0]
    assert "ldpkit " + str(asked[0]) in text
    shown = ElementTree.fromstring(figure.read_text())
    assert shown.attrib["role"] == "img"
    answer = re.search(r'<p id="answer">(.*?)</p>', text)[1]
    assert answer.endswith(".")
    assert "prefers-color-scheme: dark" in figure.read_text()
    line = run(*asked, code=2).error_line  # nothing is written over, and nothing is computed for nothing
    assert "exists: choose another name or add --force" in line


@pytest.mark.parametrize("name", ["estimate", *slow(*QUICK[1:], *REST)])
def test_the_same_command_writes_the_same_bytes(run, words, tmp_path, monkeypatch, name):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    files = [tmp_path / "page.html", tmp_path / "figure.pdf"]
    asked = (*words(name), "--report", files[0], "--figure", files[1])
    found = []
    for _ in range(2):
        run(*asked, *(["--force"] if name == "trajectory-privatize" else []))
        found.append([file.read_bytes() for file in files])
        for file in files:
            file.unlink()
    assert found[0] == found[1]
    assert b"2023-11-14 22:13 UTC" in found[0][0]


@pytest.mark.parametrize("ending", ["html", "pdf"])
def test_a_moment_that_is_none_is_refused_before_the_work(run, words, tmp_path, monkeypatch, ending):
    option = "--report" if ending == "html" else "--figure"
    for nonsense in ("yesterday", "-1", "1.5", "1e9", "9" * 12, "9" * 400, "²"):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", nonsense)
        asked = ("estimate", tmp_path / "no-such.ldp", option, tmp_path / f"a.{ending}")
        assert "SOURCE_DATE_EPOCH is a number of whole seconds" in run(*asked, code=2).error_line


def test_without_a_moment_a_page_states_the_present(run, words, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "")
    before = datetime.datetime.now(datetime.UTC).replace(second=0, microsecond=0)
    run(*words("risk-bars"), "--report", tmp_path / "page.html")
    told = re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", (tmp_path / "page.html").read_text())[0]
    made = datetime.datetime.strptime(told, "%Y-%m-%d %H:%M UTC").replace(tzinfo=datetime.UTC)
    assert before <= made <= datetime.datetime.now(datetime.UTC)


def test_a_page_needs_the_extra_before_the_work(run, words, tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    line = run("estimate", tmp_path / "no-such.ldp", "--report", tmp_path / "a.html", code=2).error_line
    assert "needs matplotlib" in line or "plots" in line


def test_two_options_cannot_name_one_file(run, words, tmp_path):
    asked = (*words("estimate"), "--report", tmp_path / "a.html", "--save-tally", tmp_path / "a.html")
    assert "is both --report and --save-tally" in run(*asked, code=2).error_line


def test_titles_units_and_labels_are_text(run, words, folder, tmp_path):
    page, nasty = tmp_path / "page.html", "</script><b>$x$</b>"
    reports = tmp_path / "nasty.ldp"
    (tmp_path / "values.csv").write_text("v\n" + "\n".join([nasty, "b", "c"] * 40) + "\n")
    (tmp_path / "labels.txt").write_text(f"{nasty}\nb\nc\n")
    run("privatize", tmp_path / "values.csv", "-p", "oue", "--domain", f"@{tmp_path / 'labels.txt'}", "-e", 3,
        "--seed", 1, "-o", reports)  # fmt: skip
    run("estimate", reports, "--report", page, "--title", "<i>Mine</i>")
    text = page.read_text()
    html5lib.HTMLParser(strict=True).parse(text)
    assert "<b>$x$" not in text
    assert "<h1>&lt;i&gt;Mine&lt;/i&gt;</h1>" in text
