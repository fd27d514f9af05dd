"""One file is enough: a plugin's mechanism goes through the whole contract suite."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from contract.subjects import MECHANISM_NAMES

ROOT = Path(__file__).parents[2]
PLUGIN = Path(__file__).with_name("example_plugin.py")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--no-header", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def test_a_plugin_mechanism_passes_the_contract():
    done = run("tests/contract", "--plugin", str(PLUGIN), "-k", "example_hadamard")
    assert done.returncode == 0, done.stdout + done.stderr
    passed = int(done.stdout.strip().splitlines()[-1].split(" passed")[0].split()[-1])
    assert passed > 100, done.stdout


def test_workers_of_xdist_load_the_plugin_too():
    pytest.importorskip("xdist")
    chosen = "example_hadamard and (says_what or variance_follows)"
    done = run("tests/contract", "--plugin", str(PLUGIN), "-k", chosen, "-n", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout


def test_without_the_option_there_is_no_plugin(request):
    if not request.config.getoption("plugin"):
        assert "example_hadamard" not in MECHANISM_NAMES


def test_a_plugin_that_is_not_there_stops_the_run():
    done = run("tests/contract/test_mechanism_contract.py", "--plugin", "no_such_plugin.py", "--collect-only")
    assert done.returncode != 0
    assert "does not exist" in done.stdout + done.stderr
