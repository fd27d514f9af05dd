"""`ldpkit audit`: exit code, formats, page."""

from __future__ import annotations

import json

import pytest

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
