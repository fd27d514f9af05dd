"""The command line starts without the heavy libraries."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ldpkit.cli.app import COMMANDS

SCRIPT = """
import sys
sys.argv = ["ldpkit", *sys.argv[1:]]
from ldpkit.cli.main import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
heavy = {"numba", "scipy", "matplotlib", "pyarrow", "pandas", "polars"}
heavy &= sys.modules.keys()
sys.exit(f"imported {heavy}" if heavy else 0)
"""


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["mechanisms"], ["privatize", "--help"]])
def test_nothing_heavy_is_imported(arguments):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_check_itself_notices_a_heavy_import():
    script = SCRIPT.replace("import sys\n", "import sys, scipy\n", 1)
    done = subprocess.run(
        [sys.executable, "-c", script, "--help"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "'scipy'" in done.stderr


def test_an_option_is_still_converted_and_refused(run):
    assert run("mechanisms", "--epsilon", "2", "--n", "50", "--kind", "numeric", "--format", "csv").out
    refusal = run("mechanisms", "--epsilon", "much", code=2)
    assert "--epsilon" in refusal.err


def test_help_lists_the_commands_in_their_order_with_whole_sentences(run):
    listed = run("--help").out.split("Commands:\n")[1].split("\n\n")[0].splitlines()
    assert tuple(line.split()[0] for line in listed) == COMMANDS
    assert all(line.endswith(".") and not line.endswith("...") for line in listed)


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "plan"])
def test_every_command_has_help_with_examples(run, command):
    out = run(command, "--help").out
    assert "Examples:" in out
    assert f"    ldpkit {command}" in out
    assert "[bold]" not in out
