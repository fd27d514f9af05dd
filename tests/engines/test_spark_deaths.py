"""Processes of Spark that die for good: the driver of a stream, an executor. Each run starts Java anew."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from engines import lakes
from engines.lakes import OLH
from ldpkit.mechanisms.tally import Tally
from slow import slow

pytest.importorskip("pyspark", reason="the extra spark is not installed")
PROGRAMS = Path(__file__).with_name("spark_programs.py")


def run(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java 17: on Debian openjdk-17-jre-headless")
    roots = [str(Path(__file__).parents[1]), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(roots), "PYSPARK_PYTHON": sys.executable}
    command = [sys.executable, str(PROGRAMS), program, str(folder)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


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


@pytest.mark.parametrize("repeat", slow(*range(10)))
def test_an_executor_that_is_killed_changes_no_tally(tmp_path, repeat):
    """A cluster of two Java processes, one of which dies, so this is for --slow only."""
    whole = make_files(tmp_path / "files", 6)
    done = run("executor", tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    assert (tmp_path / "killed").exists()
    assert Tally.from_bytes((tmp_path / "result.tally").read_bytes()) == whole
