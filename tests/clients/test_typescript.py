"""The TypeScript client, built and run with node and Chromium.

Each test is a process of its own (node, a compiler, a browser), which costs more than a second: what they
check needs the real thing, and one process runs many cases.
"""

from __future__ import annotations

import gzip
import json
import os
import re
from pathlib import Path

import pytest

import ldpkit
from clients import fixture, law
from clients.node import CLIENT, prepare, run_node
from ldpkit.client.collection import Collection
from ldpkit.client.spending import Spending
from ldpkit.client.upload import HEADER_BYTES, ID_BYTES, UploadHeader
from ldpkit.protocols.collection.building import mechanism_of

WEB = Path(ldpkit.__file__).parent / "client" / "web"
CHROMIUM = Path(os.environ.get("LDPKIT_CHROMIUM", "/usr/bin/chromium"))


@pytest.fixture(scope="module", autouse=True)
def _node() -> None:
    prepare()


def test_the_fixture_of_the_client_is_what_python_makes_today() -> None:
    assert json.loads(fixture.PATH.read_text()) == json.loads(json.dumps(fixture.make())), (
        "run PYTHONPATH=tests python -m clients.fixture"
    )


def test_the_files_that_ship_are_what_the_sources_give() -> None:
    """A real build."""
    run_node("build.mjs", "--check")


def test_the_core_is_small_and_the_readme_says_how_small() -> None:
    """A test of `vectors.test.mjs` says what it carries; compressors differ by a few dozen bytes."""
    told = (CLIENT / "README.md").read_text()
    for name, most in (("ldpkit.js", 10_000), ("ldpkit-all.js", 12_500)):
        contents = (WEB / name).read_bytes()
        size = len(gzip.compress(contents, 9))
        assert size <= most
        row = re.search(rf"\| `{name}` \| ([\d,]+) \| ([\d,]+) \|", told)
        assert row is not None
        assert int(row[1].replace(",", "")) == len(contents)
        assert abs(int(row[2].replace(",", "")) - size) < 50


def test_the_lock_file_names_no_registry() -> None:
    packages = json.loads((CLIENT / "package-lock.json").read_text())["packages"]
    assert not [name for name, package in packages.items() if "resolved" in package]
    assert json.loads((CLIENT / "package.json").read_text()).get("dependencies") is None


def test_types() -> None:
    """A real compiler, on all sources."""
    run_node("node_modules/typescript/bin/tsc", "--noEmit")


def test_the_client_in_node() -> None:
    """Real processes: three that race for a store, a collector that fails, and every golden vector twice."""
    run_node("--test", "test/client.test.mjs", "test/vectors.test.mjs")


def test_the_client_in_chromium() -> None:
    """A real browser: nothing else has its storage, its locks and its beacons."""
    if not CHROMIUM.exists():
        pytest.skip(f"no Chromium at {CHROMIUM}: run script/browser as root, or set LDPKIT_CHROMIUM")
    run_node("--test", "test/browser.test.mjs")


def test_python_reads_what_typescript_answers() -> None:
    told = json.loads(run_node("test/answers.mjs"))
    town = Collection.from_form(json.loads(fixture.PATH.read_text())["collection"])
    for (name, report), upload in zip(told["reports"], map(bytes.fromhex, told["uploads"]), strict=True):
        question = town.question(name)
        header = UploadHeader.decode(upload)
        assert (header.version, header.question) == (town.version, question.number)
        assert header.fingerprint == question.fingerprint
        assert upload[HEADER_BYTES + ID_BYTES :].hex() == report
        assert len(mechanism_of(question).decode(bytes.fromhex(report))) == 1
    spent = Spending.from_json(json.dumps(told["ledger"]))
    assert spent.total == sum(question.first or 0 for question in town.questions)
    assert json.loads(spent.to_json()) == told["ledger"]


def test_reports_from_node_follow_their_law() -> None:
    """False-alarm rate: 7e-6 for each of some forty z-scores, and 1e-9 for each p-value."""
    mechanism = law.subject("grr")
    score, surprise, _ = law.law_of(mechanism, 20_000)
    assert score < law.Z
    assert surprise > law.FALSE_ALARM
    score, surprise, _ = law.law_of(mechanism, 20_000, damage=100)  # a report in ten is stuck
    assert score > law.Z
    assert surprise < law.FALSE_ALARM


@pytest.mark.slow
@pytest.mark.parametrize("name", law.names())
def test_200_000_reports_from_node_follow_their_law(name: str) -> None:
    """Some eight thousand z-scores in all: a false alarm in one run of twenty."""
    score, surprise, _ = law.law_of(law.subject(name), 200_000)
    assert score < law.Z
    assert surprise > law.FALSE_ALARM


@pytest.mark.slow
def test_the_api_pages_are_what_the_sources_give(tmp_path: Path) -> None:
    run_node("node_modules/typedoc/bin/typedoc", "--out", str(tmp_path / "api"))
    for page in sorted((tmp_path / "api").iterdir()):
        assert page.read_text() == (CLIENT / "api" / page.name).read_text(), f"{page.name}: run npm run docs"


@pytest.mark.slow
def test_nothing_is_lost_or_drawn_twice_by_kills_and_closed_pages() -> None:
    """Five hundred kills of node, closed pages and kills of Chromium."""
    if not CHROMIUM.exists():
        pytest.skip(f"no Chromium at {CHROMIUM}: run script/browser as root, or set LDPKIT_CHROMIUM")
    run_node("test/kill.mjs", "250", "240", "10", timeout=3600)
