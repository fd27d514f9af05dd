"""What a command reads is never written over, whatever option names it."""

from __future__ import annotations

import inspect
import os
import re
import sys
from pathlib import Path
from typing import Annotated, get_args

import pytest
from typer.main import get_command

from ldpkit.cli.app import make_app
from ldpkit.cli.options import spread
from ldpkit.cli.reading import Reads, Writes, begin, file_behind_at, how_read, refuse_input, remember
from ldpkit.core.errors import InvalidInputError

ENDINGS = (".csv", ".json", ".ldp", ".html", ".svg", ".toml")
NO_FILE = {
    "estimate by": "keys of rows, which folders may give",
    "plan classifier columns": "names of columns",
    "serve data": "it writes nothing else",
}
"""Options of text that speak of files and name none that is read, and why."""

NO_OVERWRITING = {
    **dict.fromkeys(
        (f"trajectory privatize {each} memo" for each in ("points", "space", "places")),
        "a file that is no store of a device is refused, never overwritten",
    ),
    "spec vectors folder output": "new vectors are added to a folder of vectors",
}
"""Pairs of options that may name the same file, and why."""
NEEDS = {
    "plan cluster domain": {"mechanism": "grr"},
    "collection sign file": {"unsigned": True},
    "spec check folder": {"reports": Path("x")},
    **{
        f"trajectory privatize {each}": {"output": Path("x.csv")}
        for each in ("points", "space", "places", "memo")
    },
}
"""What a command must be told beside what it reads, before it looks at what it writes."""


def leaves(command, path=()):
    for name, each in getattr(command, "commands", {}).items():
        yield from leaves(each, (*path, name))
    if path and not hasattr(command, "commands"):
        yield " ".join(path), command.callback.__wrapped__, command.params


def marks(hint):
    return getattr(hint, "__metadata__", ())


def is_written(hint):
    return any(isinstance(mark, Writes) for mark in marks(hint))


def parameters():
    """Yield every parameter of every command, with what its help says."""
    for name, command, params in leaves(get_command(make_app())):
        told = {each.name: f"{getattr(each, 'help', '')} {each.metavar}" for each in params}
        for part, each in inspect.signature(command).parameters.items():
            yield f"{name} {part}", each.annotation, told[part]


def undeclared():
    """Yield options that may name a file, and say neither that they read it nor that they write it."""
    for name, hint, told in parameters():
        if "Path" in str(get_args(hint)[:1]):
            if how_read(hint) is None and not is_written(hint):
                yield name
        elif (
            "str" in str(get_args(hint)[:1])
            and re.search("file|FILE|folder|table with|TABLE", told)
            and how_read(hint) is None
        ):
            yield name


def test_every_option_that_names_a_file_says_what_happens_to_it():
    def nothing() -> None:
        pass

    code = spread(nothing).__code__
    assert [
        name for name, command, _ in leaves(get_command(make_app())) if command.__code__ is not code
    ] == []
    assert set(undeclared()) == NO_FILE.keys()


def test_an_option_that_is_not_declared_is_seen(monkeypatch):
    every = [*parameters(), ("new file", Annotated[str, "--file"], "A file to read.")]
    monkeypatch.setattr(sys.modules[__name__], "parameters", lambda: iter(every))
    assert set(undeclared()) - NO_FILE.keys() == {"new file"}


def called(command, reads, writes, name, needs):
    """Call a command that writes to what it reads, with a file of some name."""
    given = {}
    for part, each in inspect.signature(command).parameters.items():
        kind = str(get_args(each.annotation)[0])
        usual = 1.0 if "float" in kind else Path("x") if "Path" in kind else "x"
        given[part] = needs.get(part, usual if each.default is inspect.Parameter.empty else each.default)
        if part == reads:
            at = "@" if how_read(each.annotation) == Reads(file_behind_at) else ""
            file = "same.py" if part == "plugin" else name
            value = f"{at}{file}" if "str" in kind else Path(file)
            given[part] = [value] if "list" in kind else value
        if part == writes:
            given[part] = Path(name)
    if "force" in given:
        given["force"] = True
    command(**given)


def test_no_command_writes_to_what_it_reads(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "same.py").write_text("precious = 1")
    for ending in ENDINGS:
        (tmp_path / f"same{ending}").hardlink_to(tmp_path / "same.py")
    tried = 0
    for name, command, _ in leaves(get_command(make_app())):
        hints = {part: each.annotation for part, each in inspect.signature(command).parameters.items()}
        for reads in (part for part, hint in hints.items() if how_read(hint) is not None):
            for writes in (part for part, hint in hints.items() if is_written(hint) and part != reads):
                said = []
                for ending in ENDINGS:
                    begin()
                    try:
                        called(command, reads, writes, f"same{ending}", NEEDS.get(f"{name} {reads}", {}))
                    except Exception as error:
                        said.append(str(error))
                is_refused = any("is also the input" in each for each in said)
                assert is_refused != (f"{name} {reads} {writes}" in NO_OVERWRITING), (name, reads, said)
                tried += 1
    assert tried > 80
    files = [path for path in tmp_path.iterdir() if path.is_file()]  # beside what Python keeps of plugins
    assert {path.read_text() for path in files} == {"precious = 1"}


def test_links_and_what_is_not_there_yet_are_known(tmp_path):
    file, link, new = (tmp_path / name for name in ("a", "b", "c"))
    file.write_text("precious")
    link.hardlink_to(file)
    for read, written in ((file, link), (new, new), (f"@{file}:x", link)):
        begin()
        remember(read, Reads(file_behind_at) if str(read)[0] == "@" else Reads())
        with pytest.raises(InvalidInputError, match="is also the input"):
            refuse_input("shown", Path(os.path.realpath(written)))
    begin()
    refuse_input("shown", file)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ages.csv").write_text("1\n5\n")
    return tmp_path


AGES = ("--low", 0, "--high", 120, "-e", 1)


def test_the_descriptor_and_a_plugin_stay(run, folder):
    run("privatize", "ages.csv", *AGES, "--bins", 4, "-p", "grr", "-o", "first.ldp")
    first = Path("first.ldp").read_bytes()
    words = ("privatize", "ages.csv", *AGES, "-p", "auto", "--descriptor", "first.ldp")
    assert "is also the input" in run(*words, "-o", "first.ldp", "--force", code=2).error_line
    assert Path("first.ldp").read_bytes() == first
    for name in ("plug.py", "log.py"):
        Path(name).write_text("x = 1\n")
    Path("plug.csv").hardlink_to("plug.py")
    Path("out.csv.run").hardlink_to("log.py")
    bench = ("bench", "-d", "zipf:k=4,n=90", "-r", 2, "-p", "grr", "-m", "none", "--force")
    for words in (
        ("--plugin", "plug.py", "privatize", "ages.csv", *AGES, "-p", "pm", "-o", "plug.py", "--force"),
        (*bench, "--plugin", "plug.py", "-o", "plug.csv"),
        (*bench, "--plugin", "plug.py", "-o", "plug.csv", "--resume"),
        (*bench, "--plugin", "log.py", "-o", "out.csv"),
    ):
        assert "is also the input" in run(*words, code=2).error_line
    assert {Path(name).read_text() for name in ("plug.py", "log.py")} == {"x = 1\n"}


@pytest.mark.parametrize("name", ["lake/*/*.parquet", "lake", "lake/day=1/part-0.parquet", "file"])
def test_files_of_a_pattern_or_a_folder_stay(run, folder, name):
    Path("lake/day=1").mkdir(parents=True)
    part = Path("lake/day=1/part-0.parquet")
    part.write_bytes(b"precious")
    name = f"file://{part.absolute()}" if name == "file" else name
    line = run("estimate", name, "--save-tally", part, "--force", code=2).error_line
    assert f"'{part}' is also the input" in line
    assert part.read_bytes() == b"precious"
    beside = Path("lake/day=1/all.tally")
    beside.write_bytes(b"old")  # not what the command reads
    assert "is also the input" not in run("estimate", name, "--save-tally", beside, "--force", code=2).err


def test_what_standard_input_is_stays(run, folder):
    usual = os.dup(0)
    try:
        with Path("ages.csv").open("rb") as stream:
            os.dup2(stream.fileno(), 0)
        words = ("privatize", "-", "-p", "grr", "-e", 1, "--domain", 9, "-o", "ages.csv", "--force")
        assert "'ages.csv' is also the input" in run(*words, code=2).error_line
    finally:
        os.dup2(usual, 0)
        os.close(usual)
    assert Path("ages.csv").read_text() == "1\n5\n"


@pytest.mark.parametrize(
    ("name", "folder_name"),
    [("local://{}/lake", "lake"), ("file://{}/l%61ke", "lake"), ("file://{}/my%20lake/*.parquet", "my lake")],
)
def test_files_stay_however_they_are_addressed(run, folder, name, folder_name):
    part = Path(folder_name, "part-0.parquet")
    part.parent.mkdir()
    part.write_bytes(b"precious")
    line = run("estimate", name.format(folder), "--save-tally", part, "--force", code=2).error_line
    assert f"'{part}' is also the input" in line


@pytest.mark.parametrize("data", ["a.csv,b.csv", "a.csv ", "uniform, a.csv"])
def test_each_of_several_files_of_numbers_stays(run, folder, data):
    for name in ("a.csv", "b.csv"):
        Path(name).write_text("0.5\n0.25\n")
    words = ("bench", "--task", "mean", "-d", data, "--low", 0, "--high", 1, "-p", "duchi", "-r", 2)
    assert "'a.csv' is also the input" in run(*words, "-o", "a.csv", "--force", code=2).error_line
    assert Path("a.csv").read_text() == "0.5\n0.25\n"


def test_the_database_of_a_service_stays(run, folder):
    for name in ("collector.db", "collector.db.lock", "token"):
        file = folder / "data" / name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(b"precious")
        link = folder / f"{name}.json"
        link.symlink_to(file)
        words = ("collector", "verify", "--data", "data", "-o", link, "--force")
        assert "is also the input" in run(*words, code=2).error_line
        assert file.read_bytes() == b"precious"


def test_golden_vectors_stay(run, folder):
    Path("vectors").mkdir()
    Path("vectors/grr.json").write_text("[]")
    words = ("spec", "vectors", "--lines", "--vectors", "vectors", "-o", "vectors/grr.json", "--force")
    assert "is also the input" in run(*words, code=2).error_line
    assert Path("vectors/grr.json").read_text() == "[]"


def test_answers_from_a_file_stay(run, folder):
    Path("town.toml").write_text("How do people live?\n")
    usual = os.dup(0)
    try:
        with Path("town.toml").open("rb") as stream:
            os.dup2(stream.fileno(), 0)
        assert "is also the input" in run("collection", "new", "town.toml", "--force", code=2).error_line
    finally:
        os.dup2(usual, 0)
        os.close(usual)
