"""`ldpkit audit`: exit code, formats, page."""

from __future__ import annotations

import hashlib
import json

import pytest

import ldpkit
from ldpkit.files.reportfile import ReportWriter
from ldpkit.mechanisms.base import MECHANISMS

_BROKEN = '''
from ldpkit import GRR, register


@register
class Broken(GRR):
    """Declares epsilon and realises 2% more."""

    name, aliases, title, citation = "broken", (), "Broken", "none"

    def _randomise(self, indices, source):
        return GRR(self.domain, 1.02 * self.epsilon)._randomise(indices, source)
'''


@pytest.fixture
def broken(tmp_path):
    """Return the file of a plugin that breaks its promise; it is forgotten afterwards."""
    plugin = tmp_path / "broken.py"
    plugin.write_text(_BROKEN)
    yield plugin
    MECHANISMS._members.pop("broken", None)


def test_a_sound_mechanism_passes_with_a_page(run, tmp_path):
    page = tmp_path / "audit.html"
    small = (
        "audit",
        "-p",
        "grr",
        "--domain",
        "4",
        "-e",
        "1",
        "--reports",
        "50000",
        "--seed",
        "1",
        "--report",
        page,
    )
    done = run(*small)
    assert "PASSED" in done.out
    assert "What is not promised" in done.out
    text = page.read_text()
    assert "PASSED" in text
    assert "https:" not in text  # nothing is fetched
    assert "http:" not in text.replace("http://www.w3.org", "")  # but for the names of XML
    assert "--force" in run(*small, code=2).error_line


def test_a_broken_plugin_fails_with_exit_code_1(run, broken):
    words = ("audit", "-p", "broken", "--domain", "4", "-e", "1", "--seed", "1", "--format", "json")
    found = json.loads(run("--plugin", broken, *words, code=1).out)
    found |= found["about"]
    assert found["passed"] is False
    assert [row["outcome"] for row in found["rows"]] == ["pass", "pass", "fail"]


@pytest.mark.parametrize(
    ("words", "checks"),
    [
        (["jrr", "--parameter", "epsilon_alone=0.5"], {"attack by the partner"}),
        (["group_count", "--parameter", "size=3"], {"attack"}),
    ],
)
def test_reports_that_are_made_together_are_audited_by_name(run, words, checks):
    small = ("--domain", "2", "-e", "1", "--reports", "5000", "--seed", "1", "--format", "json")
    rows = json.loads(run("audit", "-p", *words, *small).out)["rows"]
    assert checks <= {row["check"] for row in rows if row["outcome"] == "pass"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-p", "grrr", "--domain", "4", "-e", "1"], "did you mean grr"),
        (["-p", "grr", "-e", "1"], "--domain"),
        (["-p", "pm", "-e", "1"], "--low and --high"),
        (["grr", "--domain", "4"], "is a mechanism, not a file: write -p grr"),
        ([], "give a report file, or a mechanism with -p"),
        (["nothing.ldp"], "nothing.ldp"),
    ],
)
def test_refusals_name_the_remedy(run, words, said):
    assert said in run("audit", *words, code=2).error_line


@pytest.fixture
def collected(run, tmp_path):
    """Return a function that makes a report file of three values out of four."""

    def make(name, *options):
        values = tmp_path / "values.txt"
        values.write_text("".join(f"{each % 3}\n" for each in range(2000)))
        file = tmp_path / name
        run("privatize", values, "-p", "grr", "-e", "2", "--domain", "4", "-o", file, *options)
        return file

    return make


def test_a_file_says_what_was_tested_and_what_was_not(run, collected, tmp_path):
    file, page = collected("sound.ldp"), tmp_path / "sound.html"
    words = ("audit", file, "--reports", "2000", "--at-most", "2")
    found = json.loads(run(*words, "--report", page, "--format", "json").out)
    assert {row["check"]: row["outcome"] for row in found["rows"]} == {
        **dict.fromkeys(("integers", "channel", "attack", "at most", "reports"), "pass"),
        **dict.fromkeys(("randomness", "domain"), "pass"),
        "batch": "info",
    }
    tested = found["about"]["tested"]
    assert "the mechanism that the file names, as it is in this copy of ldpkit" in tested
    assert "the file itself says that they were made with secure randomness" in tested
    assert found["about"]["reports"] == 2000
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert found["about"]["sha256"] == digest
    text = page.read_text()
    for shown in (tested, digest, "GRR(4, epsilon=2)", "<dt>Reports</dt><dd>2,000</dd>", 'class="checks"'):
        assert shown in text
    assert "{&#x27;" not in text.split("<script>")[0], "no Python dictionary on a page"


def test_a_seeded_file_fails_without_a_promise(run, collected, tmp_path):
    file, page = collected("seeded.ldp", "--seed", "1"), tmp_path / "seeded.html"
    shown = run("audit", file, "--reports", "2000", "--report", page, code=1).out
    headline = "FAILED: its reports were made with a seed: whoever knows it can undo them"
    assert f"GRR(4, epsilon=2): {headline}" in shown
    for text in (shown, page.read_text()):
        assert "a suspicion of 50%" not in text
        assert "does not hold for this file: it was made with a seed, and whoever knows the seed" in text


def test_an_epsilon_above_the_one_that_was_stated_fails(run, collected):
    file = collected("large.ldp")
    shown = run("audit", file, "--reports", "2000", "--at-most", "1.5", code=1).out
    assert "FAILED: its epsilon, 2, is above the limit of 1.5" in shown
    assert "a suspicion of 50% grows" in shown, "the promise of the file itself is kept"
    assert "write --at-most 1" in run("audit", file, "-e", "1", code=2).error_line


def test_a_file_that_is_held_to_no_limit_says_so(run, collected, tmp_path):
    file, page, told = collected("free.ldp"), tmp_path / "free.html", "No limit was given (--at-most)"
    assert told in run("audit", file, "--reports", "2000", "--report", page).out
    assert told in page.read_text()
    assert told not in run("audit", file, "--reports", "2000", "--at-most", "2").out
    by_name = run("audit", "-p", "grr", "-e", "1", "--domain", "4", "--reports", "2000")
    assert told not in by_name.out, "who names an epsilon has seen it"


def test_reports_of_another_epsilon_fail(run, tmp_path):
    stated, used = ldpkit.GRR(4, 2.0), ldpkit.GRR(4, 12.0)
    file, made = tmp_path / "loud.ldp", ldpkit.Provenance.of(ldpkit.random.secure(), domain="stated")
    with ReportWriter(file, stated, provenance=made) as writer:
        writer.write(used.privatize([each % 3 for each in range(2000)]))
    shown = run("audit", file, "--reports", "2000", code=1).out
    assert "FAILED: no people could have made its counts with this mechanism" in shown
    assert "does not hold for this file" in shown
    told = run("estimate", file)
    assert "warning: no people could have made these counts with this mechanism" in told.err


def test_randomness_that_is_not_recorded_shows_in_the_headline(run, tmp_path):
    oracle, file = ldpkit.GRR(4, 2.0), tmp_path / "unknown.ldp"
    with ReportWriter(file, oracle) as writer:
        writer.write(oracle.privatize([0, 1, 2, 3]))
    shown = run("audit", file, "--reports", "2000").out
    assert "PASSED, with warnings: what randomness made its reports is not recorded" in shown


def test_another_file_is_not_a_report_file(run, tmp_path):
    file = tmp_path / "values.txt"
    file.write_text("1\n2\n")
    assert f"{str(file)!r} is not a report file" in run("audit", file, code=2).error_line


@pytest.mark.parametrize("options", [(), ("-e", "1")])
def test_a_collection_is_sent_to_its_own_check(run, tmp_path, options):
    file = tmp_path / "town.toml"
    file.write_text('id = "town"\n')
    assert f"'ldpkit collection check {file}'" in run("audit", file, *options, code=2).error_line
