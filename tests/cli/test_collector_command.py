"""`ldpkit collector`: what it says to somebody who forgot something."""

from __future__ import annotations

import shlex
import socket
from urllib.parse import urlsplit

import pytest

from cli.moving import moving_away
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


def make_database(folder):
    folder.mkdir(exist_ok=True)
    database = open_database(str(folder))
    connection = database.connect_writer()
    database.prepare(connection)
    connection.close()


def test_restore_says_where_the_old_database_is(run, tmp_path):
    data, kept = tmp_path / "data", tmp_path / "monday.db"
    make_database(data)
    assert f"wrote {kept} (" in run("collector", "backup", kept, "--data", data).err
    hostile = tmp_path / "mon\x1b[31mday.db"  # a name reaches the terminal as text
    assert "mon\\x1b[31mday.db (" in run("collector", "backup", hostile, "--data", data).err
    assert "give --force" in run("collector", "restore", kept, "--data", data, code=2).error_line
    told = run("collector", "restore", kept, "--data", data, "--force").err
    assert f"what it replaced is in {data / 'collector.db.replaced'}" in told.replace("\n", " ")
    left = kept.rename(data / ".ldpkit-restore.part")  # which a stopped restore leaves, and the next removes
    told = run("collector", "restore", left, "--data", data, "--force", code=2).error_line
    assert "is what a stopped restore left" in told
    assert left.exists()


SERVICE = (
    "collector.db",
    "collector.db-wal",
    "collector.db-shm",
    "collector.db.lock",
    "token",
    "admin-token",
)


def test_a_backup_never_takes_the_place_of_a_file_of_the_service(run, tmp_path):
    data = tmp_path / "data"
    make_database(data)
    (data / "token").write_text("secret")
    (tmp_path / "link.db").hardlink_to(data / "collector.db")
    before = (data / "collector.db").read_bytes()
    for target in (*(data / name for name in SERVICE), tmp_path / "link.db"):
        for force in ((), ("--force",)):
            line = run("collector", "backup", target, "--data", data, *force, code=2).error_line
            assert f"'{target}' is a file that the service uses: choose another name" in line
    assert (data / "collector.db").read_bytes() == before
    assert (data / "token").read_text() == "secret"
    run("collector", "backup", data / "copy.db", "--data", data)


def test_a_backup_that_somebody_moves_at_once_was_written(run, tmp_path, monkeypatch):
    make_database(tmp_path)
    moved = moving_away(monkeypatch, tmp_path)
    assert "wrote" in run("collector", "backup", tmp_path / "copy.db", "--data", tmp_path).err
    assert moved() == ["copy.db"]


def test_a_restore_says_what_is_no_folder_and_leaves_none(run, tmp_path):
    backup, new = tmp_path / "bk.db", tmp_path / "new" / "data"
    backup.write_bytes(b"no database")
    line = run("collector", "restore", backup, "--data", backup, code=2).error_line
    assert f"'{backup}' is not a folder: name another one with --data" in line
    assert "is not a backup" in run("collector", "restore", backup, "--data", new, code=2).error_line
    assert [each.name for each in tmp_path.iterdir()] == ["bk.db"]
    new.mkdir(parents=True)
    run("collector", "restore", backup, "--data", new, code=2)
    assert new.exists()  # which it did not make


@pytest.mark.parametrize("words", [("serve",), ("collector", "verify"), ("collector", "restore", "bk.db")])
def test_a_data_folder_without_a_name_is_refused(run, tmp_path, monkeypatch, words):
    monkeypatch.setattr("ldpkit.collector.serve.serve", lambda *_, **__: None)  # it would not end
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bk.db").write_bytes(b"")
    assert "--data is empty: name a folder" in run(*words, "--data", "", code=2).error_line
    assert [each.name for each in tmp_path.iterdir()] == ["bk.db"]


@pytest.mark.parametrize("address", ["javascript:alert(1)", "collect.example.org", "https://", "http://[::1"])
def test_the_public_address_is_one_of_the_web(run, tmp_path, monkeypatch, address):
    monkeypatch.setattr("ldpkit.collector.serve.serve", lambda *_, **__: None)  # it would not end
    line = run("serve", "--data", tmp_path / "data", "--public-url", address, code=2).error_line
    assert f"such as https://collect.example.org, got {address!r}" in line
    assert not (tmp_path / "data").exists()


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
