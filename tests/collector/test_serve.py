"""What a service says to the person who starts it."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
import urllib.request

import pytest

import ldpkit.collector.serve
from client.collecting import collection_file
from collector.inside import inside
from collector.serving import free_port
from forked import run_forked
from ldpkit.client.collection import Collection
from ldpkit.client.signing import SigningKey
from ldpkit.collector.database import SqliteDatabase
from ldpkit.collector.serve import tell_collections
from ldpkit.protocols.collection.files import seal


def test_a_collection_that_is_not_signed_is_told(tmp_path):
    warning = "  not signed: devices cannot tell who asks; see ldpkit collection sign"
    with inside(SqliteDatabase(tmp_path / "collector.db"), collection_file()) as service:
        plain, signed = list[str](), list[str]()
        tell_collections(service.service, [], "http://localhost:8000", plain.append)
        service.service.add(seal(Collection.read(collection_file()), SigningKey.new()))
        tell_collections(service.service, [], "http://localhost:8000", signed.append)
    assert [each for each in plain if each != warning] == signed
    assert plain.count(warning) == 1


@pytest.fixture
def heard():
    """Let SIGHUP be heard in children, also under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


def test_a_hang_up_stops_a_service_as_sigterm_does(tmp_path, monkeypatch, heard):
    """A service in a process of its own, whose event loop is what is interrupted."""
    (tmp_path / "town.json").write_bytes(collection_file())
    port = free_port()

    def told(*_):
        threading.Thread(target=hang_up_when_ready, args=(port,), daemon=True).start()

    monkeypatch.setattr(ldpkit.collector.serve, "tell_collections", told)
    found = run_forked(("serve", "town.json", "--data", "data", "--port", port), tmp_path)
    assert found.returncode == 0
    assert found.stderr == "stopped; what was received is written\n"


def hang_up_when_ready(port):
    """Send SIGHUP to this process when it serves; kill it where that does nothing."""
    with contextlib.suppress(OSError):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=60).close()
    os.kill(os.getpid(), signal.SIGHUP)
    time.sleep(60)
    os.kill(os.getpid(), signal.SIGKILL)
