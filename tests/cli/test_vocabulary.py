"""One vocabulary: the same word means the same everywhere, and old words are refused with the new one."""

from __future__ import annotations

import pytest
from typer.main import get_command

from ldpkit.cli.app import make_app
from ldpkit.cli.retired import RETIRED

# What an option with one of these spellings must be called in full, in every command.
VOCABULARY = {
    "-p": "--mechanism",
    "-d": "--data",
    "-e": "--epsilon",
    "-o": "--output",
    "-u": "--metric",
    "-r": "--repeat",
}


def commands(command=None, path=()):
    """Yield every command with the words that call it."""
    command = command or get_command(make_app())
    if hasattr(command, "commands"):
        for name, inner in command.commands.items():
            yield from commands(inner, (*path, name))
    else:
        yield path, command


EVERY = dict(commands())


def options(command):
    return {spelling for parameter in command.params for spelling in parameter.opts}


@pytest.mark.parametrize("path", EVERY, ids=" ".join)
def test_short_options_mean_the_same_everywhere_and_only_bench_has_m(path):
    for parameter in EVERY[path].params:
        for short, full in VOCABULARY.items():
            if short in parameter.opts or full in parameter.opts:
                assert full in parameter.opts, parameter.opts
    has_m = "-m" in options(EVERY[path])
    assert has_m == (path == ("bench",))


@pytest.mark.parametrize("name", RETIRED)
def test_no_command_has_a_word_that_it_refuses_and_all_have_the_new_one(run, name):
    spoken = [options(command) for path, command in EVERY.items() if path[0] == name]
    for old, new in RETIRED[name].items():
        assert not any(old in words for words in spoken)
        assert any(new in words for words in spoken)
        line = run(name, old, "x", code=2).error_line
        assert f"{old} is now called {new}" in line


def test_a_value_behind_two_dashes_is_no_option(run):
    assert "is now called" not in run("audit", "--", "-n", code=2).error_line


@pytest.mark.parametrize("path", EVERY, ids=" ".join)
def test_help_is_no_wider_than_80_columns(run, path):
    lines = run(*path, "--help").out.splitlines()
    assert [line for line in lines if len(line) > 80] == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("mean", "x", "--low", "0,5"), "a decimal has a point: write 0.5"),
        (("risk", "-e", "0,5", "--domain", 3), "a decimal has a point: write 0.5"),
        (("plan", "budget", "--at-most", 1, "--parameter", "g=2,5"), "a decimal has a point: write 2.5"),
        (("audit", "-p", "grr", "--domain", 3, "--parameter", "epsilon=0,5"), "write 0.5"),
        (
            ("plan", "capacity", "water.csv", "--capacity", 3, "--constraint", "fn"),
            "give them with -d water.csv",
        ),
        (("audit", "grr", "--domain", 3), "grr' is a mechanism, not a file: write -p grr"),
        (("risk", "-p", "pm"), "pm is for numbers: give the interval with --low and --high"),
        (("nonsense",), "No such command 'nonsense'"),
    ],
)
def test_refusals_are_one_line_with_the_remedy(run, words, said):
    line = run(*words, code=2).error_line
    assert said in line
    assert "0,5" not in words or "'0,5'" in line, "it names the value, whatever Typer says of it"


def test_groups_show_their_commands(run):
    result = run("plan", code=2)
    assert "budget" in result.out
    assert "capacity" in result.out
    assert "privatize" in run(code=2).out
