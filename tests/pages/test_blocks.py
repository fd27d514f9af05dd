"""Every code block of the pages is executed, parsed, or named here with the reason why it cannot be.

`python` and `console` blocks are run by the docs examples (see conftest.py), outputs compared. The others
are held to what can be checked: TOML, JSON and INI parse, and commands and options exist.
"""

from __future__ import annotations

import configparser
import json
import re
import shlex
import tomllib
from typing import Any

import pytest
import typer

from ldpkit.cli.app import make_app
from pages.blocks import ROOT, Block, blocks, pages

RUN = ("python", "console")
PARSED = {
    "toml": tomllib.loads,
    "json": json.loads,
    "ini": lambda text: configparser.RawConfigParser(strict=False).read_string(text),
}
TESTED_ELSEWHERE = {"html": "clients/typescript/test/browser.test.mjs"}

NOT_RUN = {
    "CONTRIBUTING.md": {"src/ldpkit/": "a picture of the folders"},
    "README.md": {'pip install ".[plots]"': "installs"},
    "docs/guide/add-protocol.md": {"[project.entry-points": "parsed below"},
    "docs/guide/classifier.md": {
        "ldpkit plan classifier model.skops": "needs the stroke data",
        "mechanism   ": "the output of it",
    },
    "docs/guide/cluster.md": {
        'pip install ".[spark]"': "installs",
        "ldpkit estimate 's3://": "needs a cluster",
        "from ldpkit.engines import spark": "needs Java and a bucket",
        "stream = spark.readStream": "needs Java and a bucket",
        "import itertools": "needs Beam; the page says that it is not tested",
    },
    "docs/guide/collector.md": {'pip install ".[serve]"': "installs"},
    "docs/guide/intervals.md": {"python benchmarks/bench_coverage.py": "28 minutes"},
    "docs/guide/operations.md": {
        "server {": "a configuration of nginx",
        "FROM python:": "builds a container",
        "ldpkit collector backup monday.db": "needs a service in /var/lib",
    },
    "docs/guide/own-client.md": {
        "cc -O2": "needs a compiler; tests/cli/test_spec_command.py builds it",
        "ldpkit spec vectors --lines -o": "needs the reader's own client",
        "open(file, public_key):": "pseudo-code for any language",
        "answer(question, value):": "pseudo-code for any language",
        "flush():": "pseudo-code for any language",
    },
    "docs/guide/web-page.md": {
        "$ mkdir page": "needs the snippet saved; tests/clients/test_guide_page.py runs it"
    },
    "docs/index.md": {'pip install ".[plots]"': "installs"},
    "docs/reference/comparison.md": {
        "pip install -e": "installs other packages",
        "n=2,000, k=128": "times, with the command that measures them",
        "package   ": "needs the other packages; the command is said",
    },
}
"""Blocks that nothing runs, by page and how they begin, with the reason."""


def _all() -> list[Block]:
    return [block for path in pages() for block in blocks(path.read_text(), str(path.relative_to(ROOT)))]


def _is_covered(block: Block) -> bool:
    if re.match(r"(LDPKIT_DATA=\S+ )?ldpkit (reproduce|bench --task mean) .*$", block.text.strip()):
        return block.page.startswith("docs/papers/")  # a paper's whole run takes minutes; see tests/papers
    return (block.language in RUN and not block.is_skipped) or block.language in (*PARSED, *TESTED_ELSEWHERE)


def test_every_block_is_run_or_named_with_a_reason():
    left = [block for block in _all() if not _is_covered(block)]
    known = {(page, start) for page, starts in NOT_RUN.items() for start in starts}
    found = {}
    for block in left:
        begins = [start for start in NOT_RUN.get(block.page, ()) if block.text.strip().startswith(start)]
        found |= {(block.page, start): block for start in begins}
    named = found.values()
    unnamed = [
        f"{block.page}, line {block.line}: {block.text[:60]!r}" for block in left if block not in named
    ]
    assert unnamed == [], "run it as console or python, or say in NOT_RUN why not"
    assert known - found.keys() == set(), "these are gone, or run now: take them off the list"


def test_what_is_not_run_parses():
    for block in _all():
        if block.language in PARSED:
            PARSED[block.language](block.text)
    assert tomllib.loads('[project.entry-points."ldpkit.plugins"]\nmirror = "my_package.mirror"')


def test_commands_in_blocks_that_are_not_run_exist():
    seen = 0
    for block in _all():
        if block.language == "text" or (block.language in RUN and not block.is_skipped):
            continue
        for line in block.text.replace("\\\n", " ").splitlines():
            if command := re.match(r"\s*(?:LDPKIT_DATA=\S+ )?(ldpkit .*?)(?: #.*)?$", line):
                problem = unknown_words(command.group(1))
                assert problem is None, f"{block.page}, line {block.line}: {problem}"
                seen += 1
    assert seen >= 15


def unknown_words(line: str) -> str | None:
    """Return what a command line names that the program does not have."""
    command: Any = typer.main.get_command(make_app())  # no class is named: Typer may bring its own Click
    words = shlex.split(re.split(r"[|<>&;]", line)[0])[1:]
    while words and not words[0].startswith("-") and (further := getattr(command, "commands", None)):
        if words[0] not in further:
            return f"there is no command {words[0]!r}"
        command, words = further[words[0]], words[1:]
    options = {
        option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)
    }
    for word in words:
        if word.startswith("-") and word.partition("=")[0] not in options | {"--help"}:
            return f"{command.name} has no option {word}"
    return None


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("ldpkit estimat reports.ldp", "there is no command 'estimat'"),
        ("ldpkit estimate reports.ldp --colour red", "estimate has no option --colour"),
        ("ldpkit plan budget -d a.csv --at-most 0.1", None),
    ],
)
def test_a_wrong_command_is_found(line, told):
    assert unknown_words(line) == told


def test_a_block_that_escapes_is_found():
    page = "Text.\n\n```pycon\n>>> 1 + 1\n3\n```\n\n    ldpkit fly\n\n- a list\n\n    of two paragraphs\n"
    found = list(blocks(page, "page.md"))
    assert [(block.language, block.text.strip()) for block in found] == [
        ("pycon", ">>> 1 + 1\n3"),
        ("indented", "ldpkit fly"),
    ]
    assert not any(map(_is_covered, found))
