"""A page of another origin, in Chromium, answers through the client that the service hands out."""

from __future__ import annotations

import datetime
import os
from pathlib import Path

import pytest

from client.collecting import collection_file
from clients.node import prepare, run_node
from collector.serving import serving
from ldpkit.collector.remote import Collector

CHROMIUM = Path(os.environ.get("LDPKIT_CHROMIUM", "/usr/bin/chromium"))


@pytest.mark.skipif(not CHROMIUM.exists(), reason="there is no Chromium here")
def test_a_page_answers_and_is_counted_once(tmp_path):
    """A real browser and a real service: two processes, several seconds."""
    prepare()
    start = datetime.datetime.now(datetime.UTC).date().isoformat()
    (tmp_path / "survey.json").write_bytes(collection_file(start=start))
    with serving(str(tmp_path / "survey.json"), data=tmp_path / "data") as service:
        analyst = Collector(service.url, service.tokens["analyst"])
        run_node("test/collector.mjs", service.url, str(tmp_path / "profile"))  # which opens the page twice
        counted = {each["question"]: each["n"] for each in analyst.progress("survey")}
        assert counted == {"age": 1, "app": 1, "commute": 1}
        assert service.stop() == 0


def test_the_service_runs_on_postgresql_and_ends_when_told(new_postgres, tmp_path):
    """A real service and a real PostgreSQL."""
    from ldpkit.client.client import Client

    start = datetime.datetime.now(datetime.UTC).date().isoformat()
    (tmp_path / "survey.json").write_bytes(collection_file(start=start))
    address = new_postgres()
    with serving(str(tmp_path / "survey.json"), data=address) as service:
        client = Client.fetch(service.url, "survey", tmp_path / "device.db")
        client.answer("commute", "bike")
        assert client.flush(patience=60).accepted == 1
        with pytest.raises(RuntimeError, match="another service writes to"), serving(data=address):
            pass
        assert service.stop() == 0
    with serving(data=address) as service:
        client = Client.fetch(service.url, "survey", tmp_path / "device.db")
        answer = client.answer("commute", "bike")
        assert answer.outcome == "accepted"
