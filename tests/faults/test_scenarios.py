"""The commands of `script/faults`, `script/fuzz` and the benchmark of domains are ones that ldpkit knows."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from faults.scenarios import LEFT_OUT, SCENARIOS
from fuzz.targets.commands import READING, VALUES, WALKS
from ldpkit.cli.app import make_app
from ldpkit.cli.retired import refuse_retired

COMMANDS = [*(each.words + each.overwrite for each in SCENARIOS), *map(tuple, (*READING, *VALUES, *WALKS))]

WRITING = {"--output", "--figure", "--report", "--save-tally", "--memo"}
"""Options that name a file to write."""


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


def leaves(command, path=()):
    """Yield every command with the words that call it."""
    for name, each in getattr(command, "commands", {}).items():
        yield from leaves(each, (*path, name))
    if path and not hasattr(command, "commands"):
        yield " ".join(path), command


def tried(name):
    """Return the words of all scenarios of a command."""
    asked = [each.words for each in SCENARIOS if " ".join(each.words).startswith(f"{name} ")]
    return {word for words in asked for word in words}


def missing():
    """Yield what may write a file, and is neither tried nor left out with a reason."""
    for name, command in leaves(get_command(make_app())):
        options = [{*each.opts} for each in command.params if WRITING & {*each.opts}]
        for names in options:
            option = f"{name} {max(names, key=len)}"
            if not names & tried(name) and not {name, option} & LEFT_OUT.keys():
                yield option
        if (
            any("--force" in each.opts for each in command.params)
            and not tried(name)
            and name not in LEFT_OUT
        ):
            yield name


def test_everything_that_writes_is_tried_or_has_a_reason(monkeypatch):
    assert list(missing()) == []
    for command in ("risk", "collection new", "plan survey"):
        rest = tuple(each for each in SCENARIOS if not " ".join(each.words).startswith(command))
        with monkeypatch.context() as patch:
            patch.setattr(sys.modules[__name__], "SCENARIOS", rest)
            assert command in " ".join(missing())


def test_what_is_left_out_exists():
    known = dict(leaves(get_command(make_app())))
    for each in LEFT_OUT:
        name, _, option = each.partition(" --")
        assert not option or any(f"--{option}" in param.opts for param in known[name].params)
        assert name in known


def test_an_old_spelling_is_seen():
    with pytest.raises(Exception, match="-m is now called -p"):
        parse(("privatize", "FILE", "-m", "grr", "-o", "out.ldp"))
    with pytest.raises(Exception, match="--nonsense"):
        parse(("privatize", "FILE", "--nonsense"))
