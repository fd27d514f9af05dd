"""Result files and the log of a run: written whole, gone on with, and never mixed with another experiment."""

import hashlib
import io
import json
import random

import numpy as np
import pytest

from ldpkit.bench.benchmark import Benchmark
from ldpkit.bench.experiment import Cell, Experiment
from ldpkit.bench.numeric_benchmark import NumericBenchmark
from ldpkit.bench.numeric_data import draw
from ldpkit.bench.numeric_experiment import NumericExperiment
from ldpkit.bench.results import format_of, save, write_text
from ldpkit.bench.runlog import RunLog
from ldpkit.core.errors import (
    FileFormatError,
    InvalidInputError,
    InvalidParameterError,
    LdpkitError,
    MismatchError,
)
from ldpkit.simulation.metrics import METRICS, metric


def make(**changes):
    settings = {
        "counts": np.array([5, 3, 2]),
        "epsilons": [1.0],
        "protocols": ["grr", "oue"],
        "methods": ["none"],
        "metrics": ["mae"],
        "repeats": 2,
    }
    return Experiment(**{**settings, **changes})


@pytest.fixture
def rows():
    return [row for result in make().run() for row in result.rows]


@pytest.fixture
def path(tmp_path):
    """A result file with two finished cells and its log."""
    path = tmp_path / "results.csv"
    finish(path, make())
    return path


def found(rows, experiment=None):
    return Benchmark(experiment or make(), tuple(rows), "people")


def finish(path, experiment):
    with RunLog.open(path, experiment) as log:
        for result in experiment.run():
            log.add(result)
        save(path, found((row for cell in log.cells.values() for row in cell), experiment), log)


def resumed(path, experiment):
    with RunLog.open(path, experiment, resume=True) as log:
        return [row for cell in log.cells.values() for row in cell]


@pytest.mark.parametrize("suffix", ["csv", "json", "parquet"])
def test_rows_come_back_as_they_were(tmp_path, rows, suffix):
    path = tmp_path / f"results.{suffix}"
    finish(path, make())
    assert resumed(path, make()) == rows
    assert sorted(each.name for each in tmp_path.iterdir()) == [path.name, f"{path.name}.run"]


def as_text(result, kind):
    text = io.StringIO()
    write_text(result, kind, text)
    return text.getvalue()


def test_the_tidy_columns_are_the_documented_ones(rows):
    assert as_text(found(rows), "csv").splitlines()[0] == "epsilon,protocol,method,metric,repeat,value"
    assert json.loads(as_text(found(rows), "json"))["rows"][0].keys() == {
        "epsilon", "protocol", "method", "metric", "repeat", "value",
    }  # fmt: skip


@pytest.mark.parametrize(
    "changes",
    [{"seed": 1}, {"repeats": 3}, {"counts": np.array([5, 3, 3])}, {"metrics": ["l1"]}, {"engine": "users"}],
)
def test_rows_of_another_experiment_are_refused(path, changes):
    with pytest.raises(MismatchError, match=next(iter(changes)).replace("counts", "counts_sha256")):
        resumed(path, make(**changes))


def test_more_protocols_and_budgets_may_join(path, rows):
    assert resumed(path, make(protocols=["ss", "grr"], epsilons=[1.0, 2.0])) == rows


def test_a_cell_is_kept_as_soon_as_it_is_finished(tmp_path, rows):
    path = tmp_path / "results.csv"
    with pytest.raises(KeyboardInterrupt), RunLog.open(path, make()) as log:  # noqa: PT012 - both lines are the work
        log.add(make().run_cell(Cell(1.0, "grr")))
        raise KeyboardInterrupt
    assert not path.exists()
    assert resumed(path, make()) == rows[:2]
    with pytest.raises(
        InvalidInputError, match=r"holds a run: continue it with --resume, or start again with --force"
    ):
        finish(path, make())


def test_a_run_without_a_finished_cell_leaves_nothing(tmp_path):
    with pytest.raises(KeyboardInterrupt), RunLog.open(tmp_path / "results.csv", make()):
        raise KeyboardInterrupt
    assert not list(tmp_path.iterdir())


def test_a_line_that_a_killed_process_began_is_written_anew(path, rows):
    log = path.with_name("results.csv.run")
    whole = log.read_bytes()
    lines = whole.splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:2]) + lines[2][:-9])
    path.unlink()
    with RunLog.open(path, make(), resume=True) as going:
        assert list(going.cells) == [Cell(1.0, "grr")]
        going.add(make().run_cell(Cell(1.0, "oue")))
        save(path, found(row for cell in going.cells.values() for row in cell), going)
    assert log.read_bytes() == whole
    assert path.read_text() == as_text(found(rows), "csv")


def test_an_interrupted_line_is_not_followed_by_a_broken_chain(tmp_path, rows, monkeypatch):
    path = tmp_path / "results.csv"
    with RunLog.open(path, make()) as log:
        log.add(make().run_cell(Cell(1.0, "grr")))
        with monkeypatch.context() as patch:
            patch.setattr("ldpkit.bench.runlog.os.fsync", lambda _: 1 / 0)  # as a signal between two steps
            with pytest.raises(ZeroDivisionError):
                log.add(make().run_cell(Cell(1.0, "oue")))
        log.will_write("0" * 64)
    assert resumed(path, make()) == rows[:2]


def test_no_damage_is_taken_for_a_run(path, rows, monkeypatch):
    """Bits flip, bytes go, come or move, lines go, come or move: refused, or only cells that were whole."""
    monkeypatch.setattr("ldpkit.bench.runlog.os.fsync", lambda _: None)
    log, chance, experiment = path.with_name("results.csv.run"), random.Random(0), make()
    whole = log.read_bytes()
    lines = whole.splitlines(keepends=True)
    path.unlink()
    outcomes = {"refused": 0, "less": 0}
    for _ in range(1500):
        data = bytearray(whole)
        place, other = chance.randrange(len(data)), chance.randrange(len(data))
        match chance.randrange(6):
            case 0:
                data[place] ^= 1 << chance.randrange(8)
            case 1:
                del data[place : place + chance.randrange(1, 50)]
            case 2:
                data[place:place] = chance.randbytes(chance.randrange(1, 50))
            case 3:
                data[place : place + 20] = data[other : other + 20]
            case 4:
                data = data[:place]
            case 5:
                moved = chance.sample(lines, chance.randrange(len(lines) + 1))
                data = bytearray(b"".join(moved))
        log.write_bytes(bytes(data))
        try:
            found = resumed(path, experiment)
        except LdpkitError:
            outcomes["refused"] += 1
            continue
        assert found == rows[: len(found)]
        assert len(found) < len(rows) or bytes(data).startswith(b"".join(lines[:3]))
        outcomes["less"] += 1
    assert min(outcomes.values()) > 100, outcomes


@pytest.mark.parametrize(
    "record",
    [
        [],
        {},
        {"cell": [1.0, "grr"], "values": [0.1, 0.2]},  # twice
        {"cell": [1.0, "ss"], "values": [0.1]},
        {"cell": [1, "ss"], "values": [0.1, 0.2]},
        {"cell": [1.0, ["ss"]], "values": [0.1, 0.2]},
        {"cell": [1.0, "ss"], "values": ["0.1", "0.2"]},
        {"cell": [1.0, "ss"], "values": "12"},
        {"cell": 5, "values": [0.1, 0.2]},
        json.loads("[" * 900 + "]" * 900),
    ],
    ids=str,
)
def test_a_line_with_a_good_checksum_and_bad_content_is_refused(path, record):
    log = path.with_name("results.csv.run")
    appended(log, json.dumps(record).encode())
    with pytest.raises(FileFormatError, match="line 5"):
        resumed(path, make())


def appended(log, data):
    """Put a record behind a log, with the checksum that it must have."""
    last = log.read_bytes().splitlines()[-1][:64]
    with log.open("ab") as stream:
        stream.write(hashlib.sha256(last + data).hexdigest().encode() + b" " + data + b"\n")


def test_a_value_that_no_run_gives_is_refused(path):
    log = path.with_name("results.csv.run")
    whole = log.read_bytes()
    for value in (b"1e999", b"-1e999", b"Infinity", b"NaN", b"1e-1"):
        log.write_bytes(whole)
        appended(log, b'{"cell": [1.0, "ss"], "values": [0.1, %s]}' % value)
        with pytest.raises(FileFormatError, match="line 5"):
            resumed(path, make())
    log.write_bytes(whole)
    appended(log, b'{"cell": [1.0, "ss"], "values": [0.1, 0.2]}')
    assert [row.value for row in resumed(path, make())][-2:] == [0.1, 0.2]


def test_a_metric_of_the_users_own_may_be_infinite(tmp_path):
    @metric("test_endless")
    def endless(truth, estimates):
        return np.full(len(estimates), np.inf)

    try:
        experiment = Experiment(np.array([6, 4]), [1.0], ["grr"], ["none"], ["test_endless"], repeats=2)
        with RunLog.open(tmp_path / "results.csv", experiment) as log:
            log.add(experiment.run_cell(experiment.cells()[0]))
        assert [row.value for row in resumed(tmp_path / "results.csv", experiment)] == [np.inf, np.inf]
    finally:
        METRICS.forget("test_endless")


def test_results_that_somebody_changed_are_not_overwritten(path):
    path.write_text("my notes\n")
    with pytest.raises(FileFormatError, match="was changed since it was written"):
        resumed(path, make())
    path.with_name("results.csv.run").unlink()
    with pytest.raises(FileFormatError, match=r"has no log 'results\.csv\.run' next to it"):
        resumed(path, make())
    assert path.read_text() == "my notes\n"


def test_a_foreign_file_in_the_place_of_the_log_stays(tmp_path):
    log = tmp_path / "results.csv.run"
    for content in (b"my notes", b"my notes\n", b"0" * 300_000):
        log.write_bytes(content)
        for resume in (False, True):
            with (
                pytest.raises(FileFormatError, match="not a log of"),
                RunLog.open(tmp_path / "results.csv", make(), resume=resume),
            ):
                pass
        assert log.read_bytes() == content


def test_two_runs_at_once_do_not_share_a_log(path):
    with RunLog.open(path, make(), resume=True):
        for options in ({"resume": True}, {"force": True}):
            with pytest.raises(InvalidInputError, match="another process is writing"):
                RunLog.open(path, make(), **options).__enter__()


def test_files_that_are_no_results_are_refused(tmp_path):
    with pytest.raises(InvalidParameterError, match=r"\.csv, \.json or \.parquet"):
        format_of(tmp_path / "results.xls")


def test_experiments_about_numbers_go_on_in_the_same_way(tmp_path):
    people, results = draw("uniform", 60), tmp_path / "results.json"
    experiment = NumericExperiment([people], [1.0], ["pm", "sw"], repeats=2)
    first = experiment.cells()[0]
    with RunLog.open(results, experiment) as log:
        log.add(experiment.run_cell(first))
    with RunLog.open(results, experiment, resume=True) as log:
        assert list(log.cells) == [first]
        for result in experiment.run([first]):
            log.add(result)
        rows = [row for cell in log.cells.values() for row in cell]
        save(results, NumericBenchmark(experiment, tuple(rows), ("mse",)), log)
    assert rows == [row for cell in experiment.run() for row in cell.rows]
    assert [row["mechanism"] for row in json.loads(results.read_text())["rows"]] == ["pm", "pm", "sw", "sw"]
    other = NumericExperiment([draw("uniform", 61)], [1.0], ["pm"], repeats=2)
    with pytest.raises(MismatchError, match="data_sha256"):
        resumed(results, other)
    lines = results.with_name("results.json.run").read_bytes().splitlines(keepends=True)
    data = json.dumps({"cell": ["normal", 1.0, "pm"], "values": [0.1] * 6}).encode()
    digest = hashlib.sha256(lines[-1][:64] + data).hexdigest().encode()
    results.with_name("results.json.run").write_bytes(b"".join([*lines, digest, b" ", data, b"\n"]))
    with pytest.raises(FileFormatError, match="line 5"):
        resumed(results, experiment)
