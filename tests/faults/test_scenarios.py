"""The commands of `script/faults`, `script/fuzz` and the benchmark of domains are ones that ldpkit knows."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from faults.scenarios import SCENARIOS
from fuzz.targets.commands import READING, VALUES, WALKS
from ldpkit.cli.app import make_app
from ldpkit.cli.retired import refuse_retired

COMMANDS = [*(each.words + each.overwrite for each in SCENARIOS), *map(tuple, (*READING, *VALUES, *WALKS))]


def parse(words):
    """Read a command as the command line does, and run nothing."""
    refuse_retired(words[0], words[1:])
    command, rest = get_command(make_app(words)), list(words)
    while hasattr(command, "commands"):
        command = command.commands[rest.pop(0)]
    return command.make_context(words[0], rest)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_the_command_is_known(words):
    parse(words)


def test_the_commands_that_are_timed_as_domains_grow_are_known(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "path", [*sys.path, str(Path(__file__).parents[2] / "benchmarks")])
    timed = importlib.import_module("bench_domain_size").COMMANDS
    commands = [command(tmp_path, 10) for command in timed.values()]
    words = [command for command in commands if not callable(command)]
    assert len(words) >= 30
    for command in words:
        parse(tuple(command))


def test_an_old_spelling_is_seen():
    with pytest.raises(Exception, match="-m is now called -p"):
        parse(("privatize", "FILE", "-m", "grr", "-o", "out.ldp"))
    with pytest.raises(Exception, match="--nonsense"):
        parse(("privatize", "FILE", "--nonsense"))
