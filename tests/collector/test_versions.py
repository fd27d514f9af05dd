"""Versions of a collection: which add, what they promised before anything is shown, and what may change."""

from __future__ import annotations

import datetime
from urllib.parse import urlsplit

import numpy as np
import pytest

import ldpkit
from client.collecting import collection_file
from collector.inside import call, inside
from ldpkit.client.collection import Collection
from ldpkit.client.http import Response
from ldpkit.client.signing import SigningKey
from ldpkit.collector.analysis import Analyst
from ldpkit.collector.app import make_app
from ldpkit.collector.asked import LATE_ROUNDS
from ldpkit.collector.database import SqliteDatabase
from ldpkit.collector.problems import HttpProblem
from ldpkit.collector.remote import Collector
from ldpkit.collector.serve import tell_collections
from ldpkit.collector.tokens import ANALYST, new_token
from ldpkit.collector.uploads import Limits, Uploads
from ldpkit.protocols.collection.building import compile_toml
from ldpkit.protocols.collection.files import seal

_TOML = """
id = "survey"
version = {version}
purpose = "How people travel."
least_reports = {least}
rounds = {{every = "daily", start = 2026-11-01, count = 9}}
[[questions]]
id = "way"
text = "How, and when?"
product = {product}
{made_by}
"""
_GRR, _FIXED = (
    'mechanism = "grr"\nepsilon = 2',
    'mechanism = "lgrr"\nepsilon_inf = 2\nepsilon_1 = 1\nvalue = "fixed"',
)
_CELLS, _TURNED = '[["walk", "car"], ["day", "night"]]', '[["day", "night"], ["walk", "car"]]'

_SAMPLED = b"""
id = "survey"
version = 1
purpose = "How people travel."
least_reports = 1
rounds = {every = "daily", start = 2026-11-01, count = 100}
spend = {ask = 1}
questions = [
  {id = "commute", text = "How?", domain = ["walk", "bike"], mechanism = "grr", epsilon = 5},
  {id = "age", text = "How old?", low = 0, high = 1, mechanism = "pm", epsilon = 6},
]
"""


def _file(version=1, least=1, product=_CELLS, made_by=_GRR):
    text = _TOML.format(version=version, least=least, product=product, made_by=made_by)
    return seal(compile_toml(text.encode()))


def _send(service, ids, version, cell):
    asked = service.asked("way", version)
    reports = asked.mechanism.encode(np.full(len(ids), cell, np.uint8))
    assert service.send(ids, question="way", version=version, reports=reports).accepted == len(ids)


def test_cells_that_have_other_names_do_not_add(tmp_path):
    """The second cell is (walk, night) in the first version and (day, car) in the second."""
    with inside(SqliteDatabase(tmp_path / "collector.db"), _file(), _file(2, product=_TURNED)) as service:
        _send(service, range(60), 1, 1)
        _send(service, range(100, 140), 2, 1)
        with service.service.connection() as connection:
            analyst = Analyst(connection, service.service.shelf.get("survey"))
            found = [analyst.estimate("way", 0, version=version) for version in (None, 1, 2)]
    assert [each.n for each in found] == [40, 60, 40]
    assert [each.labels[1] for each in found] == ["day, car", "walk, night", "day, car"]


def test_a_later_version_does_not_lower_what_was_promised_to_earlier_answers(tmp_path):
    with inside(SqliteDatabase(tmp_path / "collector.db"), _file(least=50), _file(2, least=5)) as service:
        _send(service, range(10), 1, 0)
        with service.service.connection() as connection:
            analyst = Analyst(connection, service.service.shelf.get("survey"))
            with pytest.raises(HttpProblem, match="fewer than 50"):
                analyst.estimate("way", 0)
            _send(service, range(100, 140), 2, 0)
            assert analyst.estimate("way", 0).n == 40
            _send(service, range(10, 50), 1, 0)
            assert analyst.estimate("way", 0).n == 90


def test_a_version_is_added_when_it_has_enough_reports_of_its_own(tmp_path):
    """Else the first answer to a new version would be the difference between two results."""
    with inside(SqliteDatabase(tmp_path / "collector.db"), _file(least=5), _file(2, least=5)) as service:
        _send(service, range(4), 1, 0)
        with service.service.connection() as connection:
            analyst = Analyst(connection, service.service.shelf.get("survey"))
            _send(service, range(100, 104), 2, 1)
            with pytest.raises(HttpProblem, match="fewer than 5 reports in round 0 in each version"):
                analyst.estimate("way", 0)
            _send(service, [4], 1, 0)
            for estimator in (None, "mle"):
                assert analyst.estimate("way", 0, estimator=estimator).n == 5
            assert analyst.reports("way", 0).tolist() == [0] * 5
            _send(service, [104], 2, 1)
            assert analyst.estimate("way", 0).n == 10
            assert sorted(analyst.reports("way", 0).tolist()) == [0] * 5 + [1] * 5


def test_a_new_version_may_wait_for_more_reports_in_all(tmp_path):
    with inside(SqliteDatabase(tmp_path / "collector.db"), _file(least=5), _file(2, least=9)) as service:
        _send(service, range(8), 1, 0)
        with service.service.connection() as connection:
            analyst = Analyst(connection, service.service.shelf.get("survey"))
            with pytest.raises(HttpProblem, match="fewer than 9 reports in round 0: wait"):
                analyst.estimate("way", 0)
            _send(service, [8], 1, 0)
            assert analyst.estimate("way", 0).n == 9


def test_a_fixed_answer_keeps_its_meaning(tmp_path):
    with inside(SqliteDatabase(tmp_path / "collector.db"), _file(made_by=_FIXED)) as service:
        for renamed in (
            _file(2, product=_TURNED, made_by=_FIXED),
            _file(2, product="[2, 2]", made_by=_FIXED),
        ):
            with pytest.raises(HttpProblem, match="first answer to 'way'"):
                service.service.add(renamed)
        service.service.add(_file(2, least=7, made_by=_FIXED))


def test_rounds_are_those_of_the_first_version_also_where_a_version_is_replaced(tmp_path):
    with inside(SqliteDatabase(tmp_path / "collector.db"), collection_file()) as service:
        service.send(range(3))
        service.service.add(collection_file(version=2))
        with pytest.raises(HttpProblem, match="daily from 2026-11-01 on"):
            service.service.add(collection_file(version=2, start="2026-11-03"))
        service.service.add(collection_file(version=2, count=50))  # without reports, it may be mended


def test_a_round_that_a_newer_version_has_no_more_is_closed_like_others(tmp_path):
    with inside(SqliteDatabase(tmp_path / "collector.db"), collection_file()) as service:
        service.send(range(3), number=3)
        service.service.add(collection_file(version=2, count=2))
        late = datetime.datetime(2026, 11, 4 + LATE_ROUNDS + 1, tzinfo=datetime.UTC)
        assert service.service.shelf.get("survey").overdue(late) == [0, 1, 2, 3]
        service.service.close_round("survey", 3)
        assert 3 in service.service.shelf.get("survey").closed


def test_a_collection_that_has_reports_can_still_be_signed(tmp_path):
    """Devices that know the key would refuse it for ever; the unsigned file takes nothing back."""
    key = SigningKey.new()
    plain = collection_file()
    signed = seal(Collection.read(plain), key)
    with inside(SqliteDatabase(tmp_path / "collector.db"), plain) as service:
        app = make_app(service.service, Uploads(Limits()))
        service.send(range(3))
        tag = call(app, "GET", "/v1/collections/survey")[1]["etag"]
        service.service.add(signed)
        service.service.add(plain)
        status, headers, body = call(app, "GET", "/v1/collections/survey", headers={"if-none-match": tag})
        assert (status, body) == (200, signed)  # the tag is that of the bytes
        for known in (headers["etag"], f'"x", W/{headers["etag"]}', "*"):
            assert call(app, "GET", "/v1/collections/survey", headers={"if-none-match": known})[0] == 304
        assert service.send(range(3, 5)).accepted == 2
        service.service.retire("survey")
        service.service.add(seal(Collection.read(plain), SigningKey.new()))
        assert service.service.shelf.get("survey").retired
    with inside(SqliteDatabase(tmp_path / "collector.db"), plain) as service:
        assert service.service.shelf.get("survey").newest.is_signed
        assert service.service.shelf.get("survey").retired
        told: list[str] = []
        tell_collections(service.service, ["survey"], "http://here", told.append)
        assert told[0].startswith("'survey' version 1 is closed and takes no answers: ")
        assert told[1:] == ["  results page     http://here/c/survey"]  # and nothing to put on a page
        assert service.verified() == 5


@pytest.mark.parametrize("question", ["commute", "age"])
def test_intervals_hold_for_all_devices_where_each_answers_some_questions(tmp_path, question):
    """Half of the devices answer each question. Their own frequencies are known to 1%, all devices' to 2%.

    200 collections of 1,000 devices; 95% intervals miss more than 20 times with a chance of 0.1%.
    The same intervals for those who answered miss a fifth to a half of the time.
    """
    values = {"commute": np.array(["walk", "bike"]), "age": np.array([0.0, 1.0])}[question]
    missed = {"all": 0, "those who answered": 0}
    with inside(SqliteDatabase(tmp_path / "collector.db"), seal(compile_toml(_SAMPLED))) as service:
        asked = service.asked(question)
        with service.service.connection() as connection:
            analyst = Analyst(connection, service.service.shelf.get("survey"))
            for number in range(200):
                rng = np.random.default_rng(number)
                drawn = np.repeat([0, 1], 500)[rng.permutation(1000) < 500]
                made = asked.mechanism.privatize(values[drawn], rng=ldpkit.random.seeded(number))
                ids = np.arange(len(drawn)) + 1000 * number
                service.send(ids, question=question, number=number, reports=asked.mechanism.encode(made))
                alone = asked.mechanism.tally(made).estimate()
                for name, found in (
                    ("all", analyst.estimate(question, number)),
                    ("those who answered", alone),
                ):
                    low, high = (np.ravel(each)[0] for each in found.interval())
                    missed[name] += not low <= 0.5 <= high
    assert missed["all"] <= 20
    assert missed["those who answered"] > 35  # the negative control


@pytest.mark.parametrize("estimator", [None, "ibu", "mle"])
def test_an_analyst_elsewhere_has_the_same_intervals(tmp_path, monkeypatch, estimator):
    with inside(SqliteDatabase(tmp_path / "collector.db"), seal(compile_toml(_SAMPLED))) as service:
        service.send(range(300), reports=bytes([0, 1, 1] * 100))
        app = make_app(service.service, Uploads(Limits()))
        with service.service.connection() as connection:
            token = new_token(connection, "analyst", ANALYST)
            here = Analyst(connection, service.service.shelf.get("survey")).estimate(
                "commute", 0, estimator=estimator
            )

        def asked(address, data=None, *, method=None, headers=None, most=0):
            parts = urlsplit(address)
            status, _, body = call(app, method, parts.path, data or b"", headers, parts.query)
            return Response(status, body)

        monkeypatch.setattr("ldpkit.collector.remote.request", asked)
        there = Collector("https://localhost", token).estimate("survey", "commute", estimator=estimator)
    assert there.rows() == here.rows()
    assert "of the population they were drawn from" in there.caption
