"""Processes of Spark that die for good: the driver of a stream, an executor. Each run starts Java anew."""

from __future__ import annotations

import signal
from pathlib import Path

import numpy as np
import pytest

from engines import lakes
from engines.lakes import OLH
from engines.running import run
from ldpkit.mechanisms.tally import Tally
from slow import slow

pytest.importorskip("pyspark", reason="the extra spark is not installed")


def make_files(folder: Path, number: int) -> Tally:
    parts = [OLH.privatize(lakes.values(500, 64, seed)) for seed in range(number)]
    for place, reports in enumerate(parts):
        lakes.write_table(folder / f"{place}.parquet", OLH, reports, "binary")
    return OLH.tally(np.concatenate(parts))


@pytest.mark.parametrize("deaths", slow(5))
def test_a_stream_whose_driver_is_killed_counts_every_report_once(tmp_path, deaths):
    """Each death is a process of Spark, so this is for --slow only."""
    whole = make_files(tmp_path / "incoming", deaths + 1)
    for _ in range(deaths):
        assert run("stream", tmp_path).returncode == -signal.SIGKILL
    done = run("stream", tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(list(tmp_path.glob("died-*"))) == deaths
    assert Tally.from_bytes((tmp_path / "result.tally").read_bytes()) == whole


@pytest.mark.parametrize("kills", slow(10))
def test_an_executor_that_is_killed_changes_no_tally(tmp_path, kills):
    """A cluster of two Java processes, one of which dies in each job, so this is for --slow only."""
    whole = make_files(tmp_path / "files", 6)
    done = run("executor", tmp_path, str(kills))
    assert done.returncode == 0, done.stderr[-2000:]
    for kill in range(kills):
        assert (tmp_path / str(kill) / "killed").exists()
        assert Tally.from_bytes((tmp_path / str(kill) / "result.tally").read_bytes()) == whole


@pytest.mark.slow
def test_an_accumulator_counts_twice_what_a_lost_executor_had_done(tmp_path):
    """The negative control: in the same job, which loses an executor, returned values are exact."""
    whole = make_files(tmp_path / "files", 6)
    done = run("accumulator", tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    returned, accumulated = (
        Tally.from_bytes((tmp_path / f"{name}.tally").read_bytes()) for name in ("result", "accumulated")
    )
    assert returned == whole
    assert accumulated.n > whole.n
    assert accumulated != whole
