"""`ldpkit inspect`."""

from __future__ import annotations

import csv
import io
import json

import pytest

import ldpkit
from ldpkit.files.reportfile import ReportFile, ReportWriter

CSV = ("--format", "csv")


@pytest.fixture
def file(tmp_path):
    oracle = ldpkit.OLH(["no", "yes", "maybe", "never"], epsilon=1.0)
    with ReportWriter(tmp_path / "a.ldp", oracle) as writer:
        writer.write(oracle.privatize(["yes"] * 100))
    return tmp_path / "a.ldp"


def test_every_fact_is_there(run, file):
    (facts,) = json.loads(run("inspect", file, "--format", "json").out)["rows"]
    assert facts == {
        "file": str(file),
        "kind": "reports",
        "format_version": 1,
        "written_by": f"ldpkit {ldpkit.__version__}",
        "mechanism": "olh",
        "title": "Optimised local hashing",
        "parameters": {"epsilon": 1.0},
        "details": {"g": 4},
        "exact_epsilon": ldpkit.OLH(4, epsilon=1.0).exact_epsilon(),
        "domain_size": 4,
        "domain": ["no", "yes", "maybe", "never"],
        "reports": 100,
        "record_length": 9,
        "file_bytes": file.stat().st_size,
        "checksums": "verified",
        "randomness": "unknown",
        "domain_source": "unknown",
        "devices": None,
        "batches": [ReportFile.open(file).batch],
        "warnings": [],
    }


def test_table_and_csv(run, file):
    table = run("inspect", file).out
    for fact in ("olh", "epsilon=1.0", "g=4", "{no, yes, maybe, ... 4 labels}", "100", "verified"):
        assert fact in table
    (row,) = csv.DictReader(io.StringIO(run("inspect", file, "--format", "csv").out))
    assert (row["reports"], row["parameters"]) == ("100", "epsilon=1.0")


def test_several_files_and_tallies(run, file):
    run("estimate", file, "--save-tally", file.with_suffix(".tally"))
    facts = json.loads(run("inspect", file, file.with_suffix(".tally"), "--format", "json").out)["rows"]
    assert [each["kind"] for each in facts] == ["reports", "tally"]
    assert [each["reports"] for each in facts] == [100, 100]
    assert facts[0]["batches"] == facts[1]["batches"]
    rows = list(csv.DictReader(io.StringIO(run("inspect", file, file.with_suffix(".tally"), *CSV).out)))
    assert [row["randomness"] for row in rows] == ["unknown", "unknown"]


def test_a_damaged_report_is_found(run, file):
    data = bytearray(file.read_bytes())
    data[-40] ^= 1
    file.write_bytes(data)
    line = run("inspect", file, code=2).error_line
    assert "is damaged: the checksum of a block does not fit (at byte " in line
