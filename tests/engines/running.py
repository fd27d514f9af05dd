"""Runs a program of Spark in a process of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

__all__ = ["check_java", "run"]

PROGRAMS = Path(__file__).with_name("spark_programs.py")


def check_java() -> None:
    """Skip a test where nothing can run Spark."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java 17: on Debian openjdk-17-jre-headless")


def run(program: str, *words: Path | str) -> subprocess.CompletedProcess[str]:
    """Run one of the programs in `spark_programs.py` to its end, or to its death."""
    check_java()
    roots = [str(Path(__file__).parents[1]), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(roots), "PYSPARK_PYTHON": sys.executable}
    command = [sys.executable, str(PROGRAMS), program, *map(str, words)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
