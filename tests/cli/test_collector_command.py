"""`ldpkit collector`: what it says to somebody who forgot something."""

from __future__ import annotations

import shlex
import socket
from urllib.parse import urlsplit

import pytest

from client.collecting import collection_file
from collector.inside import call, inside
from ldpkit.client.http import Response
from ldpkit.collector.app import make_app
from ldpkit.collector.database import open_database
from ldpkit.collector.tokens import ADMIN, new_token
from ldpkit.collector.uploads import Limits, Uploads
from ldpkit.protocols.collection.building import compile_toml
from ldpkit.protocols.collection.files import seal
from questions import commute

ESTIMATES = ("collector", "estimates", "town", "--question", "commute")
ONE_QUESTION = """
id = "survey"
version = 1
purpose = "How people travel."
least_reports = 1
rounds = {every = "daily", start = 2026-11-01, count = 9}
""" + commute("grr", 1)


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
    data, kept = tmp_path / "data", tmp_path / "monday.db"
    data.mkdir()
    database = open_database(str(data))
    connection = database.connect_writer()
    database.prepare(connection)
    connection.close()
    assert f"wrote {kept} (" in run("collector", "backup", kept, "--data", data).err
    hostile = tmp_path / "mon\x1b[31mday.db"  # a name reaches the terminal as text
    assert "mon\\x1b[31mday.db (" in run("collector", "backup", hostile, "--data", data).err
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


@pytest.fixture
def service(tmp_path, monkeypatch):
    """A service in this process, which the commands reach with an admin token."""
    yield from _served(collection_file(), tmp_path, monkeypatch)


@pytest.fixture
def service_of_one(tmp_path, monkeypatch):
    """The same with a collection of one question."""
    yield from _served(seal(compile_toml(ONE_QUESTION.encode())), tmp_path, monkeypatch)


def _served(envelope, folder, monkeypatch):
    with inside(open_database(str(folder)), envelope) as found:
        app = make_app(found.service, Uploads(Limits()))
        with found.service.connection() as connection:
            monkeypatch.setenv("LDPKIT_TOKEN", new_token(connection, "admin", ADMIN))

        def asked(address, data=None, *, method=None, headers=None, most=0):
            parts = urlsplit(address)
            status, _, body = call(app, method, parts.path, data or b"", headers, parts.query)
            return Response(status, body)

        monkeypatch.setattr("ldpkit.collector.remote.request", asked)
        yield found


def test_what_is_closed_already_is_told_and_not_closed_again(run, service):
    service.send(range(3))
    close = ("collector", "close", "survey")
    assert run(*close, "--round", 0).err == "closed round 0 of survey\n"
    assert run(*close, "--round", 0).err == "round 0 of survey was already closed\n"
    assert run(*close, "--retire").err == "closed all rounds of survey\n"
    assert run(*close, "--retire").err == "all rounds of survey were already closed\n"
    assert run(*close, "--round", 1).err == "round 1 of survey was already closed\n"
    with service.service.connection() as connection:
        notes = [what for (what,) in connection.execute("SELECT what FROM audit WHERE what LIKE '%ed'")]
    assert sorted(notes) == ["collection survey retired", "round 0 of survey closed"]


def test_erase_names_the_copy_that_it_leaves(run, service, tmp_path):
    erase = ("collector", "erase", "survey", "--force")
    assert run(*erase).err == "erased survey; backups and other copies are not touched\n"
    service.service.add(collection_file())
    (tmp_path / "collector.db.replaced").write_bytes(b"")
    assert "collector.db.replaced in the data folder, which a restore kept" in run(*erase).err


def test_the_only_question_need_not_be_named(run, service_of_one, tmp_path):
    for number in (0, 1):
        service_of_one.send(range(30), number=number)
    for words in ((), ("--round", "0,1"), ("--round", "0,1", "--change")):
        told = run("collector", "estimates", "survey", *words)
        assert "bike" in told.out
        assert told == run("collector", "estimates", "survey", "--question", "commute", *words)
    kept = tmp_path / "reports.csv"
    run("collector", "export", "survey", kept)
    assert len(kept.read_text().splitlines()) == 31


def test_of_several_questions_none_is_chosen(run, service, tmp_path):
    for command in (("estimates", "survey"), ("export", "survey", tmp_path / "reports.csv")):
        line = run("collector", *command, code=2).error_line
        assert "'survey' asks 3 questions: choose one with --question" in line
        assert line.endswith("commute, age, app")
    assert not (tmp_path / "reports.csv").exists()
