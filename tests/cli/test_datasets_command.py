"""`ldpkit datasets`: list, show, prepare."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from typing import NamedTuple

import pytest

from ldpkit.cli.app import make_app
from ldpkit.core.errors import InvalidInputError, InvalidParameterError, OutOfDomainError
from ldpkit.simulation.datasets import KNOWN, KNOWN_NUMBERS, load, load_known_numbers


@pytest.fixture
def run(capsys, monkeypatch):
    """Run a command, and let its refusals pass as exceptions."""

    def call(*arguments: str, stdin: str = ""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        capsys.readouterr()
        make_app(["datasets"])(["datasets", *arguments], standalone_mode=False)
        return Printed(*capsys.readouterr())

    return call


class Printed(NamedTuple):
    stdout: str
    stderr: str


@pytest.fixture(autouse=True)
def places(request, tmp_path, monkeypatch):
    """A machine without data sets, but for tests that ask for real ones."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    if "real" not in request.node.name:
        monkeypatch.delenv("LDPKIT_DATA", raising=False)


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_the_list_is_the_default(run):
    output = run().stdout
    assert output == run("list").stdout
    assert "kosarak" in output
    assert "no" in output
    assert "Looked in" in output
    records = json.loads(run("--format", "json").stdout)["rows"]
    assert [record["name"] for record in records] == [*KNOWN, *KNOWN_NUMBERS]
    assert not any(record["found"] for record in records)
    assert [row["name"] for row in rows(run("list", "--format", "csv").stdout)] == [*KNOWN, *KNOWN_NUMBERS]


@pytest.mark.skipif(not os.environ.get("LDPKIT_DATA"), reason="LDPKIT_DATA names no directory of data sets")
def test_real_sets_are_found_and_shown(run):
    assert "yes, LDPKIT_DATA" in run().stdout
    record = json.loads(run("show", "kosarak", "--top", "2", "--format", "json").stdout)
    record |= record["about"]
    assert (record["n"], record["k"]) == (929_669, 128)
    assert record["sha256"] == KNOWN["kosarak"].files[0].sha256
    assert len(record["rows"]) == 2
    assert record["rows"][0]["count"] == load("kosarak").counts.max()
    table = run("show", "bms_pos").stdout
    assert "sha256" in table
    assert "cpearce/HARM" in table


@pytest.mark.skipif(not os.environ.get("LDPKIT_DATA"), reason="LDPKIT_DATA names no directory of data sets")
def test_real_sets_of_numbers_are_shown_and_written(run, tmp_path):
    for name, known in KNOWN_NUMBERS.items():
        assert load_known_numbers(name).n == known.n
    record = json.loads(run("show", "motionsense_roll", "--top", "4", "--format", "json").stdout)
    assert record["about"]["range"] == "-3.14159 to 3.14159, a circle"
    assert sum(row["count"] for row in record["rows"]) == record["about"]["n"] == 6159
    run("prepare", "numbers", "motionsense_roll", "-o", str(tmp_path / "roll.csv"))
    written = [float(row["value"]) for row in rows((tmp_path / "roll.csv").read_text())]
    assert written == load_known_numbers("motionsense-roll").values.tolist()


def test_a_set_of_numbers_is_not_taken_for_categories(run):
    with pytest.raises(InvalidParameterError, match="'ldpkit datasets prepare numbers bank_age' writes it"):
        load("bank_age")
    with pytest.raises(InvalidInputError, match=r"looked for bank_normalized\.csv in"):
        run("show", "bank_age")
    with pytest.raises(InvalidParameterError, match="leave out --column"):
        run("prepare", "numbers", "bank_age", "--column", "Age")
    assert run("prepare", "numbers", "-", stdin="1\n2.5\n").stdout == "value\n1.0\n2.5\n"
    with pytest.raises(OutOfDomainError, match="value 'red' is not a number: remove it"):
        run("prepare", "numbers", "-", stdin="1\nred\n")


@pytest.mark.skipif(not os.environ.get("LDPKIT_DATA"), reason="LDPKIT_DATA names no directory of data sets")
def test_real_values_give_the_counts_file_byte_for_byte(run, tmp_path):
    pytest.importorskip("pyarrow", reason="the values are a Parquet file")
    counts, values = KNOWN["adult_age"].files
    place = KNOWN["adult_age"].locate()[1].parent
    run("prepare", "values", str(place / values.name), "-o", str(tmp_path / counts.name))
    counts.verify(tmp_path / counts.name)


def test_show_a_population(run):
    output = run("show", "zipf:k=8,n=1000", "--top", "3").stdout
    assert "The 3 most common of 8 values" in " ".join(output.split())
    top = rows(run("show", "zipf:k=8,n=1000", "--format", "csv").stdout)
    assert [int(row["count"]) for row in top] == load("zipf:k=8,n=1000").counts.tolist()


def test_show_a_file(run, tmp_path):
    file = tmp_path / "people.csv"
    file.write_text("city,age\n[Oslo],1\nRome,2\n[Oslo],3\n")
    record = json.loads(run("show", str(file), "--column", "city", "--format", "json").stdout)
    record |= record["about"]
    assert record["rows"][0] == {"value": "[Oslo]", "count": 2, "frequency": pytest.approx(2 / 3)}
    assert record["licence"] == "not stated"
    assert "[Oslo]" in run("show", str(file), "--column", "city").stdout


def test_show_a_set_that_is_not_here(run):
    with pytest.raises(InvalidInputError, match="'kosarak' is not here"):
        run("show", "kosarak")


def test_prepare_transactions(run, tmp_path):
    file, out = tmp_path / "clicks.dat", tmp_path / "out.csv"
    file.write_text("1 2 2\n1\n9\n1 7\n")
    result = run("prepare", "transactions", str(file), "--top", "2", "-o", str(out))
    assert out.read_text() == "value,count\n1,2\n2,1\n"
    assert f"3 people, 2 values, 1 left out: wrote {out}" in result.stderr
    assert load(out).n == 3
    with pytest.raises(InvalidInputError, match="exists: choose another name or add --force"):
        run("prepare", "transactions", str(file), "--top", "2", "-o", str(out))
    run("prepare", "transactions", str(file), "--top", "2", "-o", str(out), "--force")
    with pytest.raises(InvalidParameterError, match="is written as"):
        run("prepare", "transactions", str(file), "--top", "2", "-o", str(file), "--force")
    assert file.read_text() == "1 2 2\n1\n9\n1 7\n"
    printed = run("prepare", "transactions", "-", "--top", "2", "--delimiter", "|", stdin="a|b|a\nb\n")
    assert printed.stdout == "value,count\na,1\nb,1\n"


def test_prepare_grid(run, tmp_path):
    file, out = tmp_path / "trips.csv", tmp_path / "cells.csv"
    file.write_text("lon,lat\n0,0\n10,10\n9,1\n50,50\n")
    grid = ["prepare", "grid", str(file), "--x", "lon", "--y", "lat", "--rows", "2", "--columns", "2"]
    run(*grid, "-o", str(out))
    assert [int(row["count"]) for row in rows(out.read_text())] == [3, 0, 0, 1]
    with pytest.raises(InvalidInputError, match="1 points lie outside"):
        run(*grid, "--bounds", "0,0,10,10")
    result = run(*grid, "--bounds", "0,0,10,10", "--drop-outside")
    assert [int(row["count"]) for row in rows(result.stdout)] == [1, 1, 0, 1]
    assert "1 left out" in result.stderr
    with pytest.raises(InvalidParameterError, match="--bounds is four numbers"):
        run(*grid, "--bounds", "0,0,10")


def test_prepare_values(run, tmp_path):
    file = tmp_path / "people.csv"
    file.write_text('city,age\n"a,b",1\nc,2\nc,2\n')
    assert run("prepare", "values", str(file), "--column", "city").stdout == 'value,count\n"a,b",1\nc,2\n'
    with pytest.raises(InvalidInputError, match=r"cannot write .*: No such file or directory"):
        run("prepare", "values", str(file), "--column", "age", "-o", str(tmp_path / "no" / "out.csv"))


@pytest.mark.parametrize(
    "command",
    [[], ["show"], ["prepare", "transactions"], ["prepare", "grid"], ["prepare", "values"]],
    ids=" ".join,
)
def test_help_has_an_example(run, command):
    output = run(*command, "--help").stdout
    assert "Example" in output
    assert "ldpkit datasets" in output
