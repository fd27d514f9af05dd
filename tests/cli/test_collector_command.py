"""`ldpkit collector`: what it says to somebody who forgot something."""

from __future__ import annotations

import shlex
import socket

import pytest

ESTIMATES = ("collector", "estimates", "town", "--question", "commute")


def test_a_token_that_is_missing_is_asked_for_as_an_option(run, monkeypatch):
    monkeypatch.delenv("LDPKIT_TOKEN", raising=False)
    assert "set LDPKIT_TOKEN, or give --token" in run(*ESTIMATES, code=2).error_line


def test_a_collector_that_does_not_run_has_not_refused(run):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))  # and does not listen
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        line = run(*ESTIMATES, "--url", url, "--token", "t", code=2).error_line
    assert f"no answer from {url}" in line
    assert "(Connection refused): check that the collector is running, and its address" in line
    assert "refused:" not in line
    assert "urlopen" not in line


@pytest.mark.parametrize("command", [("backup", "copy.db"), ("verify",), ("tokens",)])
def test_another_folder_is_named_whole(run, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    line = run("collector", *command, code=2).error_line
    assert f"no database in '{tmp_path}/ldpkit-data': run this where 'ldpkit serve' runs" in line


def test_a_backup_is_not_taken_for_a_folder(run, tmp_path):
    kept = tmp_path / "monday.db"
    kept.write_bytes(b"SQLite format 3")
    line = run("collector", "verify", "--data", kept, code=2).error_line
    assert "is a file, not the folder of a service" in line
    assert "restore it into a new folder" in line


def test_restore_says_where_the_old_database_is(run, tmp_path):
    from ldpkit.collector.database import open_database

    data, kept = tmp_path / "data", tmp_path / "monday.db"
    data.mkdir()
    database = open_database(str(data))
    connection = database.connect_writer()
    database.prepare(connection)
    connection.close()
    run("collector", "backup", kept, "--data", data)
    assert "give --force" in run("collector", "restore", kept, "--data", data, code=2).error_line
    told = run("collector", "restore", kept, "--data", data, "--force").err
    assert f"what it replaced is in {data / 'collector.db.replaced'}" in told.replace("\n", " ")


def test_each_command_has_examples_of_its_own_that_can_be_called():
    from typer.main import get_command

    from ldpkit.cli.app import make_app

    group = get_command(make_app(["collector"])).commands["collector"]
    assert {"estimates", "erase", "restore"} < set(group.commands)
    for name, command in group.commands.items():
        _, _, text = command.epilog.partition("Examples:\n")
        examples = [shlex.split(line) for line in text.replace("\\\n", " ").strip().split("\n")]
        assert examples, name
        for words in examples:
            assert words[:3] == ["ldpkit", "collector", name]
            command.make_context(name, words[3:])  # refuses options that it does not have
