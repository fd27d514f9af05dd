"""The service over HTTP: what devices, analysts and administrators meet."""

from __future__ import annotations

import datetime
import json
import urllib.error
import urllib.request

import numpy as np
import pytest

import ldpkit
from client.collecting import collection_file
from collector.inside import inside, opened
from collector.serving import serving
from ldpkit.client.client import Client
from ldpkit.client.collection import Collection
from ldpkit.client.upload import UploadHeader, encode_upload
from ldpkit.collector.database import open_database
from ldpkit.collector.first_tokens import give_first_tokens
from ldpkit.collector.remote import Collector
from ldpkit.collector.serve import ServeSettings, serve
from ldpkit.collector.tokens import check_token, has_tokens, revoke_token
from ldpkit.core.errors import InvalidParameterError, LdpkitError
from ldpkit.protocols.collection.building import mechanism_of

START = datetime.datetime.now(datetime.UTC).date() - datetime.timedelta(days=3)
PEOPLE = 3000


@pytest.fixture(scope="module")
def envelope():
    return collection_file(start=START.isoformat())


@pytest.fixture(scope="module")
def running(tmp_path_factory, envelope):
    folder = tmp_path_factory.mktemp("service")
    (folder / "survey.json").write_bytes(envelope)
    with serving(str(folder / "survey.json"), data=folder / "data") as service:
        service.folder = folder
        yield service


@pytest.fixture(scope="module")
def collection(envelope):
    return Collection.read(envelope)


@pytest.fixture(scope="module")
def answered(running, collection):
    """Reports of 3,000 people to one question in two rounds, one upload each."""
    question = collection.question("commute")
    oracle = mechanism_of(question)
    truth = np.repeat(["walk", "bike", "bus", "car"], [300, 600, 900, 1200])
    for number in (0, 1):
        reports = oracle.encode(oracle.privatize(truth, rng=ldpkit.random.seeded(number)))
        upload = _upload(collection, "commute", number, range(PEOPLE), reports)
        assert _post(running.url, upload) == (200, {"accepted": PEOPLE, "duplicate": 0, "refused": 0})
    return truth


def _upload(collection, name, number, ids, reports, **changed):
    question = collection.question(name)
    header = {
        "version": collection.version,
        "question": question.number,
        "round": number,
        "fingerprint": question.fingerprint,
    }
    length = question.report_bytes
    records = [(identity, reports[i * length : (i + 1) * length]) for i, identity in enumerate(ids)]
    return encode_upload(UploadHeader(**{**header, **changed}), records)


def _post(url, body, name="survey"):
    request = urllib.request.Request(
        f"{url}/v1/collections/{name}/reports", body, {"Content-Type": "text/plain"}
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status, json.loads(response.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def _problem(answer):
    return answer[0], answer[1]["type"].rsplit(":", 1)[-1]


def test_a_device_answers_and_is_counted_once(running, tmp_path):
    client = Client.fetch(running.url, "survey", tmp_path / "device.db")
    for question, value in (("commute", "bike"), ("age", 33.5), ("app", 7)):
        client.answer(question, value)
    assert client.flush(patience=60).accepted == 3
    analyst = Collector(running.url, running.tokens["analyst"])
    before = analyst.progress("survey")
    for answer in client.answers():  # a device that never heard back sends it again
        body = encode_upload(answer.header, [(answer.id, answer.report)])
        assert _post(running.url, body) == (200, {"accepted": 0, "duplicate": 1, "refused": 0})
    assert analyst.progress("survey") == before


def test_estimates_are_the_records_of_everywhere(running, answered):
    analyst = Collector(running.url, running.tokens["analyst"])
    made = analyst.estimate("survey", "commute")
    assert made.n == PEOPLE
    shares = np.array([0.1, 0.2, 0.3, 0.4])
    assert (np.abs(made.values - shares) < 5 * made.stderr).all()  # 4 values: false alarm below 1e-5
    likely = analyst.estimate("survey", "commute", estimator="mle")
    assert likely.values.sum() == pytest.approx(1)
    assert analyst.estimate("survey", "commute", consistency="norm_sub").values.min() >= 0
    change = analyst.change("survey", "commute", 0, 1).rows()
    assert all(row["low"] < 0 < row["high"] for row in change)  # nothing changed; false alarm below 1e-4
    both = analyst.together("survey", "commute", [0, 1])
    assert both.about()["answers"] == 2 * PEOPLE


def test_the_service_gives_the_same_numbers_as_json(running, answered):
    request = urllib.request.Request(
        f"{running.url}/v1/collections/survey/estimates?question=commute&round=0",
        headers={"Authorization": f"Bearer {running.tokens['analyst']}"},
    )
    with urllib.request.urlopen(request) as response:
        form = json.loads(response.read())
    mine = Collector(running.url, running.tokens["analyst"]).estimate("survey", "commute").to_dict()
    assert form == mine


@pytest.mark.parametrize("ending", ["ldp", "csv", "parquet"])
def test_exports_are_read_by_the_file_tools(running, answered, collection, tmp_path, ending):
    analyst = Collector(running.url, running.tokens["analyst"])
    path = analyst.export("survey", "commute", tmp_path / f"commute.{ending}")
    counts = analyst.tally("survey", "commute").counts.tolist()
    oracle = mechanism_of(collection.question("commute"))
    if ending == "ldp":
        file = ldpkit.ReportFile.open(path)
        assert file.tally().counts.tolist() == counts
        assert file.provenance.randomness == "secure"
        return
    if ending == "csv":
        rows = path.read_text().splitlines()[1:]
        data = b"".join(bytes.fromhex(row.split(",")[-1]) for row in rows)
    else:
        import pyarrow.parquet as pq

        data = b"".join(pq.read_table(path)["report"].to_pylist())
    assert oracle.tally(oracle.decode(data)).counts.tolist() == counts


def test_too_few_reports_are_not_shown(running, collection):
    oracle = mechanism_of(collection.question("age"))
    reports = oracle.encode(oracle.privatize([30.0] * 99))
    assert _post(running.url, _upload(collection, "age", 2, range(99), reports))[1]["accepted"] == 99
    analyst = Collector(running.url, running.tokens["analyst"])
    for call in (analyst.tally, analyst.estimate):
        with pytest.raises(LdpkitError, match="fewer than 100 reports in round 2"):
            call("survey", "age", number=2)


def test_bad_uploads_have_their_own_problem(running, collection):
    oracle = mechanism_of(collection.question("commute"))
    reports = oracle.encode(oracle.privatize(["bike"]))
    good = _upload(collection, "commute", 0, [10**15], reports)
    bad = {
        (400, "malformed-upload"): [b"", b"x" * 40, good[:-1], good[:22], good[:4] + b"\x02" + good[5:]],
        (400, "foreign-reports"): [
            _upload(collection, "commute", 0, [1], reports, fingerprint=1),
            _upload(collection, "commute", 0, [1], reports, version=2),
            _upload(collection, "commute", 0, [1], reports, question=3),
            _upload(collection, "commute", 1000, [1], reports),
            _upload(collection, "commute", 0, [1], reports, seeded=True),
        ],
        (425, "round-not-open"): [_upload(collection, "commute", 50, [1], reports)],
        (413, "too-large"): [good + bytes(5 << 20)],
    }
    for wanted, uploads in bad.items():
        for upload in uploads:
            assert _problem(_post(running.url, upload)) == wanted
    assert _problem(_post(running.url, good, "other")) == (404, "unknown-collection")


def test_reports_that_cannot_be_are_refused_one_by_one(running, collection):
    oracle = mechanism_of(collection.question("commute"))
    reports = bytearray(oracle.encode(oracle.privatize(["bike"] * 3)))
    reports[8] = 200  # the bucket of the first
    upload = _upload(collection, "commute", 2, [10**16 + i for i in range(3)], bytes(reports))
    assert _post(running.url, upload) == (200, {"accepted": 2, "duplicate": 0, "refused": 1})


def test_tokens_are_asked_for_and_roles_differ(running):
    with pytest.raises(LdpkitError, match="unknown or was revoked"):
        Collector(running.url, "ldpkit_no").collections()
    with pytest.raises(LdpkitError, match="needs a token of the role admin"):
        Collector(running.url, running.tokens["analyst"]).close("survey", 90)
    with pytest.raises(InvalidParameterError, match="LDPKIT_TOKEN"):
        Collector(running.url)


def test_a_second_service_on_the_same_database_refuses(running):
    with (
        pytest.raises(RuntimeError, match="another service writes to"),
        serving(data=running.folder / "data"),
    ):
        pass


def test_a_port_that_is_taken_is_refused_before_tokens_are_shown(running, tmp_path):
    port = int(running.url.rpartition(":")[2])
    told = []
    with pytest.raises(LdpkitError, match=rf"cannot listen on 127.0.0.1:{port} \(Address already in use\)"):
        serve(open_database(tmp_path), [], ServeSettings(port=port), told.append)
    assert told == []
    assert list(tmp_path.iterdir()) == []


def test_no_token_is_in_a_log(running):
    folder = running.folder / "data"
    assert "ldpkit_" not in "\n".join(running.printed)
    for name in ("token", "admin-token"):
        assert (folder / name).stat().st_mode & 0o777 == 0o600
        assert (folder / name).read_text().startswith("ldpkit_")


def test_first_tokens_are_told_in_private_and_else_written(tmp_path):
    database = open_database(tmp_path)
    told = []
    (tmp_path / "token").write_text("of another database")
    (tmp_path / "token").chmod(0o644)
    (tmp_path / "admin-token").mkdir()
    with inside(database) as service, service.service.connection() as connection:
        with pytest.raises(LdpkitError, match=r"cannot write the token to '.*admin-token'"):
            give_first_tokens(connection, database, told.append, is_private=False)
        assert told == []
        assert not has_tokens(connection)  # none that nobody knows
        (tmp_path / "admin-token").rmdir()
        give_first_tokens(connection, database, told.append, is_private=False)
        assert (tmp_path / "token").stat().st_mode & 0o777 == 0o600
        assert check_token(connection, f"Bearer {(tmp_path / 'token').read_text()}", "analyst")
        assert not any("ldpkit_" in line for line in told)
        give_first_tokens(connection, database, told.append, is_private=True)
        assert len(told) == 2  # there are tokens
        for name in ("first analyst", "first admin"):
            revoke_token(connection, name)
        give_first_tokens(connection, database, told.append, is_private=True)
        assert all("token, shown only now: ldpkit_" in line for line in told[2:])


def test_the_page_says_what_is_asked_and_nothing_of_anybody(running, answered):
    with urllib.request.urlopen(f"{running.url}/c/survey") as response:
        page, policy = response.read().decode(), response.headers["content-security-policy"]
    assert "How do you travel to work?" in page
    assert "<svg" in page
    assert "default-src 'none'" in policy
    assert "http" not in page.replace(running.url, "")  # nothing is asked of anybody else


def test_health_metrics_and_openapi(running):
    for path, wanted in (
        ("healthz", "ok"),
        ("readyz", "ok"),
        ("metrics", "ldpkit_reports_total"),
        ("openapi.json", "3.1"),
    ):
        with urllib.request.urlopen(f"{running.url}/{path}") as response:
            assert wanted in response.read().decode()


def test_nothing_about_a_person_is_at_rest(running, answered, collection):
    """No address, no user agent, no time finer than a day; the control finds what is planted."""
    request = urllib.request.Request(
        f"{running.url}/v1/collections/survey/reports", b"junk", {"User-Agent": "telltale-agent/7"}
    )
    with pytest.raises(urllib.error.HTTPError):
        urllib.request.urlopen(request)
    now = datetime.datetime.now(datetime.UTC)
    traces = [
        b"127.0.0.1",
        b"telltale-agent",
        now.strftime("%H:%M").encode(),
        str(int(now.timestamp()))[:7].encode(),
    ]
    files = {path.name: path.read_bytes() for path in (running.folder / "data").glob("collector.db*")}
    assert {(name, trace) for name, data in files.items() for trace in traces if trace in data} == set()
    with opened(running.folder / "data" / "collector.db") as planted:
        planted.execute("INSERT INTO audit VALUES (99, '2026-01-01', 'from 127.0.0.1', 'x')")
    files = [path.read_bytes() for path in (running.folder / "data").glob("collector.db*")]
    assert any(traces[0] in data for data in files)


def test_a_closed_round_forgets_ids_and_takes_nothing_more(running, answered, collection):
    admin = Collector(running.url, running.tokens["admin"])
    before = admin.tally("survey", "commute", number=1)
    assert 1 in admin.close("survey", 1)["closed_rounds"]
    oracle = mechanism_of(collection.question("commute"))
    late = _upload(collection, "commute", 1, [5], oracle.encode(oracle.privatize(["bike"])))
    assert _problem(_post(running.url, late)) == (410, "round-closed")
    assert admin.tally("survey", "commute", number=1) == before
    with opened(running.folder / "data" / "collector.db") as database:
        rows = database.execute(
            "SELECT length(ids), n FROM chunks WHERE round=1 AND question='commute'"
        ).fetchall()
    assert rows == [(0, PEOPLE)]


def test_versions_stand_side_by_side_and_frozen_ones_do_not_change(running, answered, collection):
    admin = Collector(running.url, running.tokens["admin"])
    with pytest.raises(LdpkitError, match="give a change version 2"):
        admin.put_up(collection_file(start=START.isoformat(), count=99))
    admin.put_up(collection_file(start=START.isoformat(), version=2))
    newer = Collection.read(collection_file(start=START.isoformat(), version=2))
    oracle = mechanism_of(collection.question("commute"))
    reports = oracle.encode(oracle.privatize(["bike"]))
    for asked in (collection, newer):  # the same device under both versions counts once
        answer = _post(running.url, _upload(asked, "commute", 3, [77], reports))
        assert answer[1]["accepted"] == (1 if asked is collection else 0)
    admin.put_up(collection_file(start=START.isoformat(), version=3))
    assert _problem(_post(running.url, _upload(collection, "commute", 3, [78], reports))) == (
        409,
        "outdated-collection",
    )
    assert admin.collections()[0]["versions"] == [1, 2, 3]
