"""The Python client: it stores before it sends, never spends twice, and refuses what was tampered with."""

from __future__ import annotations

import datetime
import itertools
import json
import math
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import ldpkit
from client.collecting import SmallCollector, collection_file, running, survey
from ldpkit.client.client import Client
from ldpkit.client.collection import Collection
from ldpkit.client.http import request
from ldpkit.client.samplers import read_sampler
from ldpkit.client.sending import Delivery
from ldpkit.client.signing import SigningKey
from ldpkit.client.spending import Charge, Spending
from ldpkit.client.upload import UploadHeader
from ldpkit.core.errors import FileFormatError, InvalidInputError, LdpkitError, MismatchError
from ldpkit.protocols.collection.building import compile_toml
from ldpkit.protocols.collection.files import seal
from slow import slow

DAY = datetime.datetime(2026, 11, 5, 12, tzinfo=datetime.UTC)


def later(days: int) -> datetime.datetime:
    return DAY + datetime.timedelta(days=days)


def test_a_second_answer_is_the_first_one_and_costs_nothing(tmp_path):
    client = Client(survey(), tmp_path / "device.db")
    first = client.answer("commute", "bike", at=DAY)
    assert client.answer("commute", "car", at=DAY) == first
    again = Client(survey(), tmp_path / "device.db")  # after a restart
    assert again.answer("commute", "walk", at=DAY) == first
    assert again.ledger().total == first.micro == 1_000_000
    assert again.answer("commute", "walk", at=later(1)).report != first.report


def test_reports_are_what_the_mechanism_makes_and_are_counted(tmp_path):
    oracle = ldpkit.OLH(["walk", "bike", "bus", "car"], epsilon=1)
    asked = survey()
    reports = b"".join(
        Client(asked, tmp_path / f"{number}.db").answer("commute", "bike", at=DAY).report
        for number in range(40)
    )
    tally = oracle.tally(oracle.decode(reports))
    # Support of the own value is binomial(40, p = 0.475); beyond 34 it is 1e-6 in a run.
    assert 4 <= tally.counts[1] <= 34


def test_a_fixed_value_pays_once_and_its_permanent_report_stays(tmp_path):
    client = Client(survey(), tmp_path / "device.db")
    answers = [client.answer("app", value, at=later(day)) for day, value in enumerate([7, 7, 9, 30])]
    assert [each.micro for each in answers] == [2_000_000, 0, 0, 0]
    assert len({each.report[:8] for each in answers}) == 1  # one hash function for ever


@pytest.fixture
def noiseless(monkeypatch):
    """Words of zeros are below every threshold to keep: what is sent is the permanent report itself."""
    monkeypatch.setattr("ldpkit.client.client.secure_bytes", bytes)


@pytest.mark.parametrize("value", ["fixed", "changing"])
def test_only_a_fixed_device_reports_its_first_value_for_ever(tmp_path, noiseless, value):
    """Among 50 values and at most 8 buckets, some value has another permanent report than value 3."""
    client = Client(survey(value=value, count=60), tmp_path / "device.db")
    sent = [client.answer("app", each, at=later(day)).report for day, each in enumerate([3, *range(50)])]
    assert (len(set(sent)) == 1) == (value == "fixed")


def test_a_changing_value_pays_for_every_report(tmp_path):
    client = Client(survey(value="changing", count=3), tmp_path / "device.db")
    costs = [
        client.answer("app", 7, at=datetime.datetime(2026, 11, day, tzinfo=datetime.UTC)).micro
        for day in (1, 2, 3)
    ]
    mechanism = ldpkit.get("lolh", 50, epsilon_inf=2, epsilon_1=1)
    assert costs[0] == 1_000_000
    assert costs[1] == costs[2] > costs[0]
    loss = ldpkit.device_loss(mechanism, {1: 3}, fixed=False)
    assert sum(costs) >= 1e6 * loss.epsilon  # what was charged covers what was given away


def _asked(version, value, first="walk"):
    text = f"""
id = "town"
version = {version}
purpose = "How people travel."
rounds = {{every = "daily", start = 2026-11-01, count = 9}}
[[questions]]
id = "way"
text = "How, and when?"
product = [["{first}", "bike"], ["day", "night"]]
mechanism = "lgrr"
epsilon_inf = 2
epsilon_1 = 1
value = "{value}"
"""
    promise = dict.fromkeys(("report", "round", "lifetime"), "infinite")  # so that nothing is refused
    return Collection.from_form({**compile_toml(text.encode()).form, "promise": promise})


def _loss(modes, rounds):
    """Return the exact loss of a device whose value may change where a mode says so, by enumeration."""
    size = rounds.first.size
    kept, instant = (
        np.where(np.eye(size, dtype=bool), each.keep / 2**64, each.width / 2**64)
        for each in (rounds.first, rounds.second)
    )
    laws = []
    for fixed, *changing in itertools.product(range(size), repeat=1 + modes.count("changing")):
        values = iter(changing)
        history = [fixed if mode == "fixed" else next(values) for mode in modes]
        law = np.ones((size,) * len(modes))
        for state in set(history):  # all reports about one state come from one permanent report
            mixture = 0
            for permanent in range(size):
                part = kept[state, permanent]
                for place, held in enumerate(history):
                    row = instant[permanent] if held == state else np.ones(size)
                    part = part * row.reshape([-1 if axis == place else 1 for axis in range(len(modes))])
                mixture = mixture + part
            law = law * mixture
        laws.append(np.log(law))
    return max((one - other).max() for one in laws for other in laws)


@pytest.mark.parametrize(
    "modes",
    [
        ["changing"] * 3,
        ["fixed"] * 4,
        ["fixed", "fixed", "fixed", "changing"],
        ["fixed", "changing", "fixed", "fixed"],
        ["changing", "fixed", "fixed", "fixed"],
        ["changing", "changing", "fixed"],
    ],
    ids="-".join,
)
def test_charges_cover_what_is_given_away_whatever_versions_ask(tmp_path, modes):
    """Versions that make a value fixed, or let it change again, share permanent reports."""
    charged = [
        Client(_asked(day + 1, mode), tmp_path / "d.db").answer("way", ("walk", "day"), at=later(day)).micro
        for day, mode in enumerate(modes)
    ]
    loss = _loss(modes, read_sampler(_asked(1, "fixed").questions[0].sampler).rounds)
    assert None in charged or sum(charged) >= 1e6 * loss
    bounds = {"fixed": 2_000_000, "changing": 1_000_000}
    assert charged[0] == bounds[modes[0]]
    # A value that could change and is then to stay: both charges together are too small, so there is none.
    assert (None in charged) == (modes[0] == "changing" and "fixed" in modes)


def test_a_promise_is_kept_where_a_value_that_could_change_is_to_stay(tmp_path):
    """By enumeration one report and then seven cost 3.3, not 1, as the ledger had, nor the promised 2."""
    Client(survey(value="changing", count=3), tmp_path / "d.db").answer("app", 7, at=later(-3))
    client = Client(survey(version=2), tmp_path / "d.db")
    with pytest.raises(InvalidInputError, match="costs epsilon infinite"):
        client.answer("app", 7, at=DAY)
    new = Client(survey(version=2), tmp_path / "other.db")  # a device that never answered the first version
    assert [new.answer("app", 7, at=later(day)).micro for day in range(3)] == [2_000_000, 0, 0]


def test_a_product_with_other_names_has_the_same_permanent_reports_and_is_charged_so(tmp_path, noiseless):
    """Labels know a product by its size, so both answers are made from one permanent report."""
    before, after = (
        Client(_asked(version, "changing", name), tmp_path / "d.db").answer(
            "way", (name, "day"), at=later(version)
        )
        for version, name in ((1, "walk"), (2, "on foot"))
    )
    assert before.report == after.report
    mechanism = ldpkit.get("lgrr", 4, epsilon_inf=2, epsilon_1=1)
    assert after.micro == math.ceil(1e6 * mechanism.exact_instant_epsilon()) > before.micro


def test_permanent_reports_are_those_of_the_library(tmp_path, noiseless):
    """The same secret and question give the same permanent report in both."""
    device = Client(survey(), tmp_path / "device.db")
    mechanism = ldpkit.get("lolh", 50, epsilon_inf=2, epsilon_1=1)
    library = ldpkit.Device(mechanism, device._secret, question="app", collection="survey")
    sent = device.answer("app", 7, at=DAY).report
    assert sent == mechanism.encode(library.permanent(7))


@pytest.mark.parametrize(
    ("question", "value", "message"),
    [
        ("commute", "train", "train"),
        ("age", 121, "121"),
        ("age", float("nan"), "nan"),
        ("age", "forty", "forty"),
        ("app", 50, "50"),
        ("app", True, "True"),
        ("where", 1, "where"),
    ],
)
def test_a_value_that_cannot_be_is_refused_before_anything_is_drawn(tmp_path, question, value, message):
    client = Client(survey(), tmp_path / "device.db")
    with pytest.raises(LdpkitError, match=message):
        client.answer(question, value, at=DAY)
    assert client.answers() == []
    assert client.ledger().total == 0


def test_caps_hold_over_collections_and_rounds(tmp_path):
    client = Client(survey(), tmp_path / "device.db", cap=1_700_000)
    client.answer("commute", "bike", at=DAY)
    client.answer("age", 30, at=DAY)
    with pytest.raises(
        InvalidInputError, match=r"epsilon 1 and 1.5 is spent: together more than the cap .* 1.7"
    ):
        client.answer("commute", "bike", at=later(1))
    assert client.ledger().total == 1_500_000


def test_the_promise_for_a_lifetime_holds_although_the_clock_goes_mad(tmp_path):
    client = Client(survey(every="once", count=1), tmp_path / "device.db")
    client.answer("commute", "bike", at=DAY)
    assert client.answer("commute", "car", at=later(4000)).round == 0


def test_rounds_before_the_start_and_after_the_end_are_refused(tmp_path):
    client = Client(survey(count=3), tmp_path / "device.db")
    for when in (later(-30), later(30)):
        with pytest.raises(InvalidInputError, match=r"starts on|ended with"):
            client.answer("commute", "bike", at=when)


def test_a_device_answers_the_questions_that_it_was_drawn_for(tmp_path):
    drawn = [Client(survey(ask=1), tmp_path / f"{number}.db").drawn for number in range(60)]
    assert all(len(each) == 1 for each in drawn)
    counts = [drawn.count((name,)) for name in ("commute", "age", "app")]
    assert min(counts) >= 5  # binomial(60, 1/3) is below 5 once in 1e6
    client = Client(survey(ask=1), tmp_path / "0.db")
    for name, value in {"commute": "bike", "age": 30, "app": 3}.items():
        if name not in client.drawn:
            with pytest.raises(InvalidInputError, match="was not drawn for question"):
                client.answer(name, value, at=DAY)


def test_an_older_version_and_a_changed_one_are_noticed(tmp_path):
    Client(survey(version=2), tmp_path / "device.db")
    with pytest.raises(MismatchError, match="has seen version 2"):
        Client(survey(version=1), tmp_path / "device.db")
    with pytest.raises(MismatchError, match="without a new version"):
        Client(survey(version=2, count=99), tmp_path / "device.db")
    Client(survey(version=3), tmp_path / "device.db")


def test_a_pinned_key_or_digest_decides_what_a_device_takes(tmp_path):
    key, other = SigningKey.new(), SigningKey.new()
    signed = seal(survey(), key)

    def fetch(envelope, **pinned):
        with running(SmallCollector(envelope)) as collector:
            return Client.fetch(collector.url, "survey", tmp_path / "device.db", **pinned).collection

    assert fetch(signed, public_key=str(key.public)).is_expected  # as keygen prints it
    assert fetch(signed, digest=survey().digest).digest == survey().digest
    unpinned = fetch(signed)
    assert not unpinned.is_expected
    assert "an unknown key" in unpinned.checked
    assert (
        fetch(collection_file()).checked == "only the epsilon arithmetic was checked: the file is not signed"
    )
    for envelope, pinned, said in (
        (collection_file(), {"public_key": str(key.public)}, "is not signed"),
        (seal(survey(), other), {"public_key": str(key.public)}, "signed with another key"),
        (collection_file(version=2), {"digest": survey().digest}, "what is asked was changed"),
    ):
        with pytest.raises(MismatchError, match=said):
            fetch(envelope, **pinned)


def test_answers_arrive_once_through_lost_responses_and_busy_collectors(tmp_path):
    with running(SmallCollector(collection_file())) as collector:
        client = Client.fetch(collector.url, "survey", tmp_path / "device.db")
        client.answer("commute", "bike", at=DAY)
        client.answer("age", 30, at=DAY)
        collector.failures = [(-1, b"", {}), (429, b"{}", {"Retry-After": "0"}), (503, b"{}", {})]
        first = client.flush()
        assert (first.accepted, first.waiting) == (0, 2)
        assert client.flush(patience=5) == client.flush().__class__(2, 0, {})
        assert client.flush().accepted == 0
        assert len(collector.counted) == 2
        assert collector.uploads == 3  # one was lost on its way back, and is a duplicate


@pytest.mark.parametrize(
    ("status", "problem"),
    [
        (410, "round-closed"),
        (409, "outdated-collection"),
        (400, "foreign-reports"),
        (404, "unknown-collection"),
    ],
)
def test_what_the_collector_will_never_take_is_kept_and_not_sent_again(tmp_path, status, problem):
    body = json.dumps({"type": f"urn:ldpkit:problem:{problem}"}).encode()
    with running(SmallCollector(collection_file())) as collector:
        client = Client.fetch(collector.url, "survey", tmp_path / "device.db")
        made = client.answer("commute", "bike", at=DAY)
        collector.failures = [(status, body, {})]
        assert client.flush().refused == {problem: 1}
        assert client.flush().accepted == 0
        assert [each.outcome for each in client.answers()] == [problem]
        assert client.answer("commute", "bike", at=DAY).report == made.report
        assert client.ledger().total == 1_000_000


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, b"<html>Welcome to the hotel</html>"),
        (302, b""),
        (307, b""),
        (308, b""),
        (401, b""),
        (403, b"<html>blocked</html>"),
        (403, b'{"message": "Forbidden"}'),
        (404, b'{"type": "https://example.org/gone", "status": 404}'),
        (405, b"null"),
    ],
)
def test_what_somebody_in_between_says_settles_nothing(tmp_path, status, body):
    with running(SmallCollector(collection_file())) as collector:
        client = Client.fetch(collector.url, "survey", tmp_path / "device.db")
        client.answer("commute", "bike", at=DAY)
        collector.failures = [(status, body, {"Location": "/portal"})]
        assert client.flush() == Delivery(accepted=0, waiting=1, refused={})
        assert client.flush().accepted == 1


def test_a_request_goes_nowhere_else():
    """A redirected upload would lose its body, and a redirected token reach another host."""
    with running(SmallCollector(b"")) as other, running(SmallCollector(b"")) as collector:
        collector.failures = [(302, b"", {"Location": other.url})]
        found = request(f"{collector.url}/v1/plan", b"{}", headers={"Authorization": "Bearer secret"})
        assert found.status == 302
        assert f"is now at {other.url}: give that address" in found.reason
        assert other.gets == 0


def test_nobody_listens(tmp_path):
    client = Client(survey(), tmp_path / "device.db", url="http://127.0.0.1:9")
    client.answer("commute", "bike", at=DAY)
    assert client.flush().waiting == 1


def test_addresses_that_others_could_read_are_refused(tmp_path):
    for url in ("http://example.org", "ftp://localhost", "localhost:8000", "https://", "http://local host"):
        with pytest.raises(LdpkitError, match="is not the address"):
            Client(survey(), tmp_path / "device.db", url=url)


_RACER = """
import sys, datetime, pathlib
from ldpkit.client.client import Client
from ldpkit.client.signing import SigningKey
from ldpkit.client.collection import Collection
folder = pathlib.Path(sys.argv[1])
client = Client(Collection.read((folder / "survey.json").read_bytes()), folder / "device.db")
when = datetime.datetime(2026, 11, 5, tzinfo=datetime.UTC)
for day in range(int(sys.argv[2])):
    at = when + datetime.timedelta(days=day)
    made = client.answer("commute", "bike", at=at), client.answer("app", day % 5, at=at)
    print(*(each.report.hex() for each in made), flush=True)
"""


def racer(folder, days):
    """Start a device of its own that answers day after day."""
    (folder / "survey.json").write_bytes(collection_file())
    words = [sys.executable, "-c", _RACER, str(folder), str(days)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def test_two_processes_never_draw_an_answer_twice(tmp_path):
    """A real race: it costs two processes."""
    racers = [racer(tmp_path, 8) for _ in range(2)]
    first, second = (each.communicate()[0] for each in racers)
    assert first == second
    assert len(first.splitlines()) == 8
    client = Client(survey(), tmp_path / "device.db")
    assert client.ledger().total == 8 * 1_000_000 + 2_000_000


@pytest.mark.parametrize("kills", [4, *slow(200)])
def test_a_killed_device_loses_no_answer_and_redraws_none(tmp_path, kills):
    """Killed at random moments: what it printed is what the store has. It costs real processes."""
    generator = np.random.default_rng(5)
    told: dict[int, str] = {}
    for _ in range(kills):
        process = racer(tmp_path, 90)
        time.sleep(0.2 + generator.random() * 0.3)
        os.kill(process.pid, signal.SIGKILL)
        for day, line in enumerate(process.communicate()[0].splitlines()):
            if len(line) == 18 + 1 + 18:
                assert told.setdefault(day, line) == line
    client = Client(survey(), tmp_path / "device.db")
    kept = {each.round: each.report.hex() for each in client.answers() if each.question == "commute"}
    for day, line in told.items():
        assert kept[day + 4] == line.split()[0]
    ledger = client.ledger()
    assert ledger.total == sum(each.micro for each in client.answers())
    assert ledger.total >= 1_000_000 * len(told)


def test_it_loads_no_numerical_library_and_little_else(tmp_path):
    """A device has no room for them. It costs a process."""
    (tmp_path / "survey.json").write_bytes(collection_file())
    script = (
        "import sys, pathlib, datetime\n"
        "from ldpkit.client.client import Client\n"
        "from ldpkit.client.collection import Collection\n"
        f"collection = Collection.read(pathlib.Path({str(tmp_path / 'survey.json')!r}).read_bytes())\n"
        f"client = Client(collection, {str(tmp_path / 'device.db')!r})\n"
        "at = datetime.datetime(2026, 11, 5, tzinfo=datetime.UTC)\n"
        "for question, value in (('commute', 'bike'), ('age', 30.5), ('app', 3)):\n"
        "    client.answer(question, value, at=at)\n"
        "print(*sorted({'numpy', 'scipy', 'numba', 'typer', 'rich'} & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert out.strip() == ""


def test_spending_is_portable_and_refuses_what_is_not():
    spent = Spending((Charge("b", "q", 0, None), Charge("a", "q", 3, 5), Charge("a", "q", 1, 7)), cap=10)
    text = spent.to_json()
    assert [row["round"] for row in json.loads(text)["charges"]] == [1, 3, 0]
    assert Spending.from_json(text) == spent
    assert spent.total is None
    assert spent.of("a").total == 12
    for damaged in (
        "[]",
        "{",
        text.replace("ldpkit-ledger-1", "ldpkit-ledger-2"),
        text.replace("7", "-7"),
        text.replace("7", "7.5"),
        text.replace('"infinite"', '"much"'),
        text.replace('"round": 1', '"round": 3'),
        text.replace('"cap": 10', '"cap": true'),
    ):
        with pytest.raises(FileFormatError):
            Spending.from_json(damaged)


def test_every_damaged_header_of_an_upload_is_refused_or_differs():
    header = UploadHeader(version=3, question=2, round=9, fingerprint=2**63 + 5)
    data = header.encode()
    for bit in range(8 * len(data)):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << (bit % 8)
        try:
            assert UploadHeader.decode(bytes(flipped)) != header
        except FileFormatError:
            assert bit < 48
    with pytest.raises(FileFormatError, match="22 bytes, got 21"):
        UploadHeader.decode(data[:-1])
