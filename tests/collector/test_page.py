"""The page of a collection: hostile words stay words, and every kind of question is shown."""

from __future__ import annotations

import asyncio
import gzip
import html.parser
import json
import re
import tempfile

import numpy as np
import pytest

import ldpkit
from client.collecting import collection_file
from collector.inside import call, inside
from ldpkit.collector.analysis import Analyst
from ldpkit.collector.app import make_app
from ldpkit.collector.database import SqliteDatabase
from ldpkit.collector.influence import influence
from ldpkit.collector.page import _row, page_html, results_html
from ldpkit.collector.pictures import bars, line
from ldpkit.collector.serve import Front
from ldpkit.collector.tokens import ADMIN, ANALYST, new_token
from ldpkit.collector.uploads import Limits, Uploads
from ldpkit.protocols.collection.building import compile_toml
from ldpkit.protocols.collection.files import seal

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\\\"'&"
TOML = f"""
id = "kinds"
version = 1
purpose = "{HOSTILE}"
least_reports = 20
rounds = {{every = "once", start = 2026-11-01}}
[[questions]]
id = "word"
text = "{HOSTILE}"
domain = ["{HOSTILE}", "b", "c"]
mechanism = "grr"
epsilon = 1
[[questions]]
id = "pair"
text = "Both?"
product = [["walk", "car"], ["young", "old"]]
mechanism = "oue"
epsilon = 1
[[questions]]
id = "age"
text = "How old?"
low = 0
high = 120
mechanism = "pm"
epsilon = 1
[[questions]]
id = "bed"
text = "When do you go to bed?"
period = 24
mechanism = "circular_ogpm"
epsilon = 1
[[questions]]
id = "home"
text = "Where?"
corners = [[0, 0], [10, 10]]
mechanism = "planar_window"
epsilon = 2
[[questions]]
id = "many"
text = "Which of fifty?"
domain = 50
mechanism = "olh"
epsilon = 3
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """An application with 60 answers to every question, and an analyst's token."""
    database = SqliteDatabase(tmp_path_factory.mktemp("site") / "collector.db")
    with inside(database, seal(compile_toml(TOML.encode())), collection_file()) as service:
        uploads = Uploads(Limits())
        uploads.attach(service.service)
        _, questions = service.service.shelf.get("kinds").versions[1]
        one = service.asked
        service.asked = lambda question, version=None: one(question, version, "kinds")
        values = {"age": 30.0, "bed": 23.0, "home": (2.0, 7.0), "word": "b", "pair": 3, "many": 7}
        rng = ldpkit.random.seeded(1)
        for asked in questions:
            data = [values[asked.question.id]] * 60
            made = asked.mechanism.encode(asked.mechanism.privatize(np.array(data), rng=rng))
            assert service.send(range(60), question=asked.question.id, reports=made).accepted == 60
        with service.service.connection() as connection:
            tokens = {role: new_token(connection, role, role) for role in (ANALYST, ADMIN)}
        app = Front(uploads, make_app(service.service, uploads))
        app.tokens, app.service = tokens, service.service
        yield app


class Tags(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen, self.attributes = [], set()

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        self.attributes |= {name for name, _ in attributes}


@pytest.mark.parametrize("host", ["localhost:8000", 'x"><script>alert(3)</script>'])
def test_the_page_has_no_script_whatever_the_words_are(site, host):
    status, headers, body = call(site, "GET", "/c/kinds", headers={"host": host})
    assert status == 200
    tags = Tags()
    tags.feed(body.decode())
    assert not {"script", "img", "iframe", "link", "object"} & set(tags.seen)
    assert not {name for name in tags.attributes if name.startswith("on")}
    assert b"alert(1)" in body  # it is there, as a word
    assert "default-src 'none'" in headers["content-security-policy"]
    assert call(site, "GET", "/c/other")[0] == 404


@pytest.mark.parametrize("path", ["/client.js", "/client-all.js"])
def test_the_client_travels_compressed_where_that_is_taken(site, path):
    status, plain_headers, plain = call(site, "GET", path)
    assert (status, plain_headers["vary"]) == (200, "accept-encoding")
    assert "content-encoding" not in plain_headers
    for accepts in ("gzip", "br, GZIP;q=0.5, *;q=0"):
        _, headers, packed = call(site, "GET", path, headers={"accept-encoding": accepts})
        assert (headers["content-encoding"], headers["vary"]) == ("gzip", "accept-encoding")
        assert gzip.decompress(packed) == plain
        assert len(packed) < len(plain) / 2
    for accepts in ("", "br", "gzip;q=0", "gzip; q=0.000", "identity", ";;,=,"):
        assert call(site, "GET", path, headers={"accept-encoding": accepts})[2] == plain


def test_a_closed_collection_is_called_closed_and_asks_nobody(tmp_path):
    with inside(SqliteDatabase(tmp_path / "collector.db"), collection_file(count=2)) as service:

        def page():
            entry = service.service.shelf.get("survey")
            with service.service.connection() as connection:
                return page_html(entry, results_html(Analyst(connection, entry), entry), "http://localhost")

        service.send(range(100))
        for number, shown in ((0, "100 answers in round 0, epsilon"), (1, "round 0 (closed), epsilon")):
            text = page()
            assert shown in text
            assert "Answer from a web page" in text
            assert "It is closed" not in text
            assert text.count("No results yet: they appear once 100 devices have answered.") == 2
            service.service.close_round("survey", number)
        text = page()
        assert "It is closed and takes no further answers." in text
        assert text.count("No results: fewer than 100 devices answered.") == 2
        assert "Answer from a web page" not in text
        assert "client.js" not in text


def test_every_kind_of_question_is_shown(site):
    body = call(site, "GET", "/c/kinds")[2].decode()
    for words in (
        "walk, young",
        "mean",
        "direction",
        "fullest of 256 cells",
        "30 most frequent of 50",
        "If one device in a hundred",
    ):
        assert words in body, words
    assert body.count("60 answers") == 6


def test_every_picture_has_a_scale_and_numbers_have_the_digits_of_their_intervals(site):
    body = call(site, "GET", "/c/kinds")[2].decode()
    assert body.count('<div class="scale"><span>0%</span>') == 3  # three questions with named answers
    assert body.count('class="bars line"') == 2  # the mean and the direction
    assert "From left to right 0 to 10, from bottom to top 0 to 10." in body
    age = re.search(r'>mean</th><td class="n">(.*?)</td><td class="n">(.*?) to (.*?)</td>', body)
    assert age is not None
    assert len({len(each.partition(".")[2]) for each in age.groups()}) == 1


def test_shares_that_do_not_add_up_are_explained_and_bars_at_zero_are_pale(site):
    body = call(site, "GET", "/c/kinds")[2].decode()
    assert "All estimates together are" in body  # sixty people at epsilon 1
    assert 'class="pale"' in body
    sure = bars([("a", 0.4, 0.3, 0.5)])
    assert "pale" not in sure
    assert "Pale" not in sure
    assert "<span>25%</span><span>50%</span>" in sure


def test_an_interval_over_the_end_of_a_turn_is_drawn_in_two_pieces():
    over, plain = line("direction", 23.9, (22.7, 1.1), 0, 24), line("mean", 12.0, (11.0, 13.0), 0, 24)
    assert "M94.58 9H100M0 9H4.58M94.58 4v10M4.58 4v10" in over
    assert "M45.83 9H54.17M45.83 4v10M54.17 4v10" in plain
    name, value, ends = _row(
        {"statistic": "direction", "value": 23.87, "low": 22.7, "high": 1.056}, ldpkit.CircleDomain(24)
    )
    assert (name, value, ends) == ("direction", "23.9", "22.7 to 1.1")


def test_estimates_of_every_kind_are_json(site):
    token = {"authorization": f"Bearer {site.tokens[ANALYST]}"}
    for name in ("word", "pair", "age", "bed", "home", "many"):
        status, _, body = call(
            site, "GET", "/v1/collections/kinds/estimates", headers=token, query=f"question={name}"
        )
        assert status == 200, body
    body = call(site, "GET", "/v1/collections/kinds/estimates", headers=token, query="question=pair")[2]
    assert b"car, old" in body


@pytest.mark.parametrize(
    ("name", "estimator"),
    [("age", "density"), ("bed", "circular_density"), ("home", "heatmap"), ("word", "ibu")],
)
def test_every_estimator_can_be_asked_for(site, name, estimator):
    token = {"authorization": f"Bearer {site.tokens[ANALYST]}"}
    query = f"question={name}&estimator={estimator}&level=0.9"
    status, _, body = call(site, "GET", "/v1/collections/kinds/estimates", headers=token, query=query)
    assert status == 200, body


def test_intervals_of_a_map_have_the_level_that_they_say(site):
    """The fullest cell of 60 people in one place; half of the intervals at 50% are narrower."""
    token = {"authorization": f"Bearer {site.tokens[ANALYST]}"}
    widths = {}
    for level in (0.5, 0.99):
        path, query = "/v1/collections/kinds/estimates", f"question=home&level={level}"
        found = json.loads(call(site, "GET", path, headers=token, query=query)[2])
        assert str(level) in json.dumps(found)
        widths[level] = sum(row["high"] - row["low"] for row in found["rows"])
    assert widths[0.5] < widths[0.99]


@pytest.mark.parametrize("wanted", ["bytes=0-3", "bytes=9999999-", "bytes=a-b", "lines=1-2"])
def test_no_export_is_left_behind(site, tmp_path, monkeypatch, wanted):
    """Whatever part of it is asked for: reports on a disk would outlive the collection."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    headers = {"authorization": f"Bearer {site.tokens[ANALYST]}", "range": wanted}
    path = "/v1/collections/kinds/export.csv"
    status, told, body = call(site, "GET", path, headers=headers, query="question=word")
    assert (status, len(body)) == (200, int(told["content-length"]))
    assert told["content-disposition"] == 'attachment; filename="kinds-word-0.csv"'
    assert body.count(b"kinds,word,0,") == 60
    assert list(tmp_path.iterdir()) == []


def test_a_collection_may_be_called_reports(site):
    text = TOML.replace('id = "kinds"', 'id = "reports"')
    site.service.add(seal(compile_toml(text.encode())))
    try:
        status, _, body = call(site, "GET", "/v1/collections/reports")
        assert (status, json.loads(body)["collection"]["id"]) == (200, "reports")
        status, _, body = call(site, "POST", "/v1/collections/reports/reports", b"LDPU")
        assert (status, json.loads(body)["type"]) == (400, "urn:ldpkit:problem:malformed-upload")
    finally:
        site.service.erase("reports")


def test_a_plan_is_made_on_request(site):
    token = {"authorization": f"Bearer {site.tokens[ANALYST]}"}
    asked = b'[{"id": "a", "domain": 4}, {"id": "b", "low": 0, "high": 9}]'
    body = b'{"questions": %s, "epsilon": 1, "people": 9000}' % asked
    status, _, made = call(site, "POST", "/v1/plan", body, token)
    assert status == 200
    assert b'"best":' in made
    assert call(site, "POST", "/v1/plan", body)[0] == 401
    for bad in (
        b"",
        b"{}",
        b"[1]",
        body.replace(b"9000", b"0"),
        body.replace(b": 4", b": -4"),
        body.replace(b"9000", b"1e400"),
    ):
        assert call(site, "POST", "/v1/plan", bad, token)[0] == 400, bad


def test_methods_and_preflights(site):
    token = {"authorization": f"Bearer {site.tokens[ADMIN]}"}
    status, headers, _ = call(site, "HEAD", "/v1/collections/kinds")  # the server drops the body
    assert (status, headers["access-control-allow-origin"]) == (200, "*")
    assert call(site, "GET", "/v1/collections/kinds", headers={"if-none-match": headers["etag"]})[0] == 304
    for path in ("/v1/collections/kinds/reports", "/v1/collections/kinds"):
        status, headers, _ = call(site, "OPTIONS", path, headers={"origin": "https://elsewhere.example"})
        assert (status, headers["access-control-allow-origin"]) == (204, "*")
    assert call(site, "GET", "/v1/collections/kinds/reports")[0] == 405
    assert (
        call(
            site,
            "DELETE",
            "/v1/collections/kinds",
            headers={"authorization": f"Bearer {site.tokens[ANALYST]}"},
        )[0]
        == 403
    )
    assert call(site, "DELETE", "/v1/collections/survey", headers=token)[0] == 200
    assert call(site, "GET", "/v1/collections/survey")[0] == 404


@pytest.mark.parametrize(
    "query",
    [
        "question=../../x",
        "question=%00",
        "question=word&round=99999999999999999999",
        "question=word&round=4294967296",
        "question=word&round=4294967295",
        "question=word&version=7",
    ],
)
def test_odd_requests_are_refused(site, query):
    token = {"authorization": f"Bearer {site.tokens[ANALYST]}"}
    for path in ("estimates", "tally", "export.csv", "export.xyz"):
        status, headers, _ = call(site, "GET", f"/v1/collections/kinds/{path}", headers=token, query=query)
        assert 400 <= status < 500
        assert headers["content-type"] == "application/problem+json"


def test_limits_hold_for_an_address_and_for_all(monkeypatch):
    from ldpkit.collector import uploads
    from ldpkit.collector.problems import HttpProblem

    clock = [0.0]
    monkeypatch.setattr(uploads.time, "monotonic", lambda: clock[0])
    limits = Limits(per_address=3)
    for _ in range(3):
        limits.check("10.0.0.1")
    with pytest.raises(HttpProblem, match="more than 3 requests in a minute"):
        limits.check("10.0.0.1")
    limits.check("10.0.0.2")
    for last in range(3):
        limits.check(f"2001:db8::{last}")
    with pytest.raises(HttpProblem):  # the same half of an address
        limits.check("2001:db8::99")
    clock[0] = 60.0
    limits.check("10.0.0.1")
    assert not any(b"10.0.0.1" in key for key in limits._seen)
    total = Limits(in_all=2)
    for address in ("a", "b"):
        total.check(address)
    with pytest.raises(HttpProblem, match="in a second"):
        total.check("c")
    clock[0] = 61.0
    total.check("c")


@pytest.mark.parametrize(
    "make",
    [lambda: ldpkit.GRR(4, epsilon=1), lambda: ldpkit.OUE(8, epsilon=0.5), lambda: ldpkit.OLH(6, epsilon=2)],
)
def test_no_fakes_move_a_frequency_further_than_is_said(make):
    """All that invented devices can send is tried on frequencies 0 and 1; the best of it is what is said."""
    oracle, share = make(), 0.05
    p, q = map(float, oracle.support_probabilities)
    moved = []
    for frequency in (0.0, 1.0):
        for fake in (0.0, 1.0):  # each fake supports the value, or does not
            support = (1 - share) * (q + frequency * (p - q)) + share * fake
            moved.append(abs((support - q) / (p - q) - frequency))
    assert influence(oracle, share) == f"{100 * max(moved):.1f} percentage points"


def test_no_fakes_move_a_mean_further_than_is_said():
    mechanism, share = ldpkit.PM((0, 100), epsilon=1), 0.05
    start, slope = map(float, mechanism.line)
    moved = []
    for value in np.linspace(0, 1, 5):
        honest = start + slope * value
        for fake in mechanism.output_range:
            mean = ((1 - share) * honest + share * fake / 100 - start) / slope
            moved.append(abs(mean - value))
    said = influence(mechanism, share)
    assert said == f"{100 * max(moved):.2g} ({100 * max(moved):.1f}% of the range)"


def test_a_body_that_does_not_arrive_is_cut(site):
    """One that arrives in pieces is taken, and one that hangs is told so after the time that it has."""
    uploads = Uploads(Limits(seconds=0.5))
    uploads.attach(site.service)
    scope = {"type": "http", "method": "POST", "path": "/v1/collections/kinds/reports", "client": None}

    async def send_slowly(pieces):
        sent = []

        async def receive():
            if not pieces:
                await asyncio.sleep(3600)
            return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

        async def send(message):
            sent.append(message)

        await uploads(scope, receive, send)
        return sent[0]["status"]

    async def both():
        return await asyncio.gather(send_slowly([]), send_slowly([b"LD", b"PU"]))

    assert asyncio.run(both()) == [408, 400]
    assert uploads.problems == {"too-slow": 1, "malformed-upload": 1}


def test_who_is_sent_away_hears_when_to_return(site):
    """A page of another origin may read it, and so may one that is sent away at the door."""
    front = Front(Uploads(Limits()), site, most_connections=1)  # nobody has attached a writer
    status, headers, _ = call(front, "POST", "/v1/collections/kinds/reports")
    assert (status, headers["retry-after"]) == (503, "2")
    assert headers["access-control-expose-headers"] == "retry-after"
    front.connections = {1, 2}
    for path in ("/v1/collections/kinds/reports", "/healthz"):
        status, headers, body = call(front, "POST", path)
        assert (status, headers["retry-after"], headers["connection"]) == (503, "2", "close")
        assert headers["access-control-allow-origin"] == "*"
        assert b"too many connections" in body


def test_metrics_are_whole_numbers(site, monkeypatch):
    monkeypatch.setattr(site.service.writer, "reports", 1_234_567)
    body = call(site, "GET", "/metrics")[2].decode()
    assert "\nldpkit_reports_total 1234567\n" in body
    assert "\nldpkit_writer_alive 1\n" in body
