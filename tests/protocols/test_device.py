"""The device: permanent reports that hold for ever, and what a sequence of reports costs."""

from __future__ import annotations

import hashlib
import hmac
import math
import struct

import numpy as np
import pytest

import ldpkit
from ldpkit.client.store import DeviceStore
from ldpkit.core.errors import InvalidParameterError, MismatchError, OutOfDomainError
from ldpkit.protocols.device import Device
from ldpkit.protocols.people import person_keys
from ldpkit.protocols.permanent import PermanentReports
from ldpkit.testing.false_alarms import SAID, z_limit

NAMES = ["lgrr", "lsue", "loue", "lsoue", "losue", "lblh", "lolh", "dbitflip"]
SECRET = bytes(range(32))
every_name = pytest.mark.parametrize("name", NAMES)
seeded = ldpkit.random.seeded


def make(name, size=16):
    if name == "dbitflip":
        return ldpkit.get(name, size, epsilon=2, d=3)
    return ldpkit.get(name, size, epsilon_inf=2, epsilon_1=1)


def device_of(mechanism, memo=SECRET, question="page", **options):
    return Device(mechanism, memo, question=question, **options)


@every_name
def test_the_same_value_has_the_same_permanent_report_for_ever(name):
    mechanism = make(name)
    one, same, other = device_of(mechanism), device_of(mechanism), device_of(mechanism, SECRET[::-1])
    reports = [one.permanent(value).tobytes() for value in range(16)]
    one.report(3)
    assert [same.permanent(value).tobytes() for value in reversed(range(16))] == reports[::-1]
    assert [other.permanent(value).tobytes() for value in range(16)] != reports


GOLDEN = {
    "lgrr": "833399a7c7e1ddfb",
    "lsue": "603125175d5c6898",
    "loue": "54db90df72ac7b7b",
    "lsoue": "0465d364edbcfd8a",
    "losue": "fef2a1f71ce88743",
    "lblh": "ed45cca5c163dd9a",
    "lolh": "fb85037fd1100329",
    "dbitflip": "1aff456f11ced8ab",
}


@every_name
def test_permanent_reports_do_not_change_between_versions(name):
    """A device that updates ldpkit must not make new permanent reports: that would cost it epsilon_inf again.

    So what this pins may change before the first release, and never after it.
    """
    device = device_of(make(name))
    reports = b"".join(device.permanent(value).tobytes() for value in range(16))
    assert hashlib.sha256(reports).hexdigest()[:16] == GOLDEN[name]


@every_name
def test_reports_can_be_tallied_and_are_fresh(name):
    mechanism = make(name)
    device = device_of(mechanism)
    reports = np.concatenate([device.report(5) for _ in range(40)])
    assert mechanism.tally(reports).n == 40
    different = len({report.tobytes() for report in reports})
    assert different == 1 if name == "dbitflip" else different > 1
    again = [device_of(mechanism).report(5, rng=seeded(1)).tobytes() for _ in range(2)]
    assert again[0] == again[1]


@pytest.mark.parametrize("name", ["lblh", "lolh"])
def test_hashed_values_that_meet_share_their_permanent_report(name):
    mechanism = make(name, 100)
    device = device_of(mechanism)
    permanent = np.concatenate([device.permanent(value) for value in range(100)])
    assert len(np.unique(permanent[["a", "b"]])) == 1
    buckets = mechanism.hash(permanent["a"], permanent["b"], np.arange(100, dtype=np.uint32))
    for bucket in range(mechanism.buckets):
        assert len(set(permanent["y"][buckets == bucket].tolist())) <= 1


def test_permanent_reports_of_many_devices_have_the_law_of_the_first_round():
    mechanism = make("lgrr", 4)
    draws = 4000
    found = [
        int(device_of(mechanism, bytes(28) + i.to_bytes(4, "big")).permanent(2)[0]) for i in range(draws)
    ]
    exact = np.array([float(chance) for chance in mechanism.response.first.row(2)])
    z = (np.bincount(found, minlength=4) / draws - exact) / np.sqrt(exact * (1 - exact) / draws)
    assert np.abs(z).max() < z_limit(4), f"z-scores {z} ({SAID})"


# --- one secret, many questions ---------------------------------------------------------


@pytest.mark.parametrize("name", ["lgrr", "dbitflip"])
def test_two_questions_have_independent_permanent_reports(name):
    """Equal permanent reports would tell whether two answers agree, whatever epsilon is."""
    mechanism, equal, devices = ldpkit.get(name, 2, **_two(name)), 0, 300
    for i in range(devices):
        secret = i.to_bytes(32, "big")
        first, second = (device_of(mechanism, secret, question) for question in ("page", "game"))
        equal += first.permanent(0).tobytes() == second.permanent(0).tobytes()
        assert first.permanent(0).tobytes() == device_of(mechanism, secret).permanent(0).tobytes()
    chance = _agreement(mechanism)
    z = (equal / devices - chance) / math.sqrt(chance * (1 - chance) / devices)
    assert abs(z) < z_limit(1), f"{equal} of {devices} are equal, {chance:.2f} of them by chance ({SAID})"


def _two(name):
    return {"epsilon": 2, "d": 1} if name == "dbitflip" else {"epsilon_inf": 2, "epsilon_1": 1}


def _agreement(mechanism):
    """The chance that two independent permanent reports about value 0 are equal."""
    p, q = (float(each) for each in getattr(mechanism, "bit_probabilities", (0, 0)))
    if p == 0:
        return sum(float(each) ** 2 for each in mechanism.response.first.row(0))
    # Half of all devices ask for bucket 0, and only equal buckets make equal reports.
    return 0.25 * (p**2 + (1 - p) ** 2) + 0.25 * (q**2 + (1 - q) ** 2)


def test_labels_are_what_the_specification_says():
    """A client in another language derives the same permanent report from the same secret."""

    def packed(*fields):
        return b"".join(struct.pack(">Q", len(field)) + field for field in fields)

    mechanism = make("lgrr", 4)
    first, second = mechanism.response.first, mechanism.response.second
    integers = [4, first.keep, first.width, second.keep, second.width]
    key = hmac.digest(
        SECRET,
        packed(
            b"ldpkit-permanent-v1",
            b"trial",
            b"page",
            b"lgrr",
            hashlib.sha256(packed(b"size", b"4")).digest(),
            packed(*(str(integer).encode() for integer in integers)),
            b"2",
        ),
        "sha256",
    )
    word = int.from_bytes(ldpkit.random.RandomSource(key, is_secure=False).bytes(8).tobytes(), "little")
    keep, width = first.keep, first.width
    answer = 2 if word < keep else [0, 1, 3][min((word - keep) // width, 2)]
    assert device_of(mechanism, collection="trial").permanent(2).tolist() == [answer]


def test_what_decides_the_report_is_in_the_label_and_nothing_else():
    def label(size=16, question="page", collection="", **parameters):
        mechanism = ldpkit.get("lgrr", size, **{"epsilon_inf": 2, "epsilon_1": 1} | parameters)
        return PermanentReports(mechanism, question, collection, SECRET).owner(b"")

    others = [
        label(17),
        label(question="game"),
        label(collection="page"),
        label(question="pag", collection="e"),
        label(epsilon_inf=2.5),
        label(epsilon_1=0.5),
        label([f"label {i}" for i in range(16)]),
        label([f"label {i}" for i in reversed(range(16))]),
    ]
    assert len({label(), *others}) == 9
    assert label([1, 2, 3]) == label([1.0, 2.0, 3.0]) != label(["1", "2", "3"])
    lolh, lblh = (ldpkit.get(name, 16, epsilon_inf=0.2, epsilon_1=0.1) for name in ("lolh", "lblh"))
    assert lolh.sampler_integers() == lblh.sampler_integers()
    assert PermanentReports(lolh, "page", "", SECRET).owner(b"") != PermanentReports(
        lblh, "page", "", SECRET
    ).owner(b"")


@pytest.mark.parametrize("question", ["", "  ", None, 7, b"page", "\ud800", "x" * 2000])
def test_a_question_needs_a_name(question):
    with pytest.raises(InvalidParameterError, match=r"a question (needs|has) a name"):
        device_of(make("lgrr"), question=question)
    with pytest.raises(TypeError):
        Device(make("lgrr"), SECRET)


# --- secrets ----------------------------------------------------------------------------


@pytest.mark.parametrize("secret", [b"", b"short", bytes(15)])
def test_short_secrets_are_refused_with_the_remedy(secret):
    with pytest.raises(InvalidParameterError, match=r"at least 16 bytes, got \d+: .*token_bytes"):
        device_of(make("lgrr"), secret)


@pytest.mark.parametrize("secret", ["a text of more than sixteen letters", None, 7])
def test_secrets_that_are_not_bytes_are_refused(secret):
    with pytest.raises(InvalidParameterError, match="is bytes"):
        device_of(make("lgrr"), secret)


def test_one_time_mechanisms_have_nothing_to_keep():
    with pytest.raises(InvalidParameterError, match="longitudinal"):
        device_of(ldpkit.GRR(4, epsilon=1))


def test_new_devices_differ_and_do_not_show_their_secret():
    mechanism = make("lsue")
    one, other = (Device.new(mechanism, question="page") for _ in range(2))
    assert one.permanent(0).tobytes() != other.permanent(0).tobytes()
    assert (
        repr(device_of(mechanism))
        == "<Device LSUE(16, epsilon_inf=2, epsilon_1=1), question 'page', a secret>"
    )
    assert SECRET.hex() not in repr(device_of(mechanism)._kept)


def test_values_outside_the_domain_are_refused_and_cost_nothing(tmp_path):
    for memo in (SECRET, DeviceStore(tmp_path / "device.db")):
        device = device_of(make("lgrr"), memo)
        with pytest.raises(OutOfDomainError):
            device.report(16)
        assert device.privacy_loss().reports == 0
        assert device.privacy_loss().epsilon == 0


# --- with a store -----------------------------------------------------------------------


@every_name
def test_a_store_keeps_permanent_reports_and_what_was_spent(name, tmp_path):
    mechanism, path = make(name), tmp_path / "device.db"
    first = device_of(mechanism, DeviceStore(path))
    reports = [first.permanent(value).tobytes() for value in range(4)]
    for value in (1, 1, 2):
        first.report(value)
    again = device_of(mechanism, DeviceStore(path))
    assert [again.permanent(value).tobytes() for value in range(4)] == reports
    assert again.privacy_loss() == first.privacy_loss()
    assert again.privacy_loss().reports == 3
    assert [file.name for file in tmp_path.iterdir()] == ["device.db"]
    other = device_of(mechanism, DeviceStore(path), "game")
    assert other.privacy_loss().reports == 0


def test_charges_beside_a_secret_survive_a_restart(tmp_path):
    mechanism, store = make("lgrr"), DeviceStore(tmp_path / "device.db")
    device_of(mechanism, store=store).report(3)
    device_of(mechanism, store=store).report(3)
    again = device_of(mechanism, store=store)
    assert again.privacy_loss().reports == 2
    assert again.permanent(3) == device_of(mechanism).permanent(3), "the secret decides, not the store"
    assert device_of(mechanism).privacy_loss().reports == 0, "without a store only this object's count"


def test_a_new_secret_beside_an_old_store_is_refused(tmp_path):
    mechanism, store = make("lsue"), DeviceStore(tmp_path / "device.db")
    device_of(mechanism, store=store).report(3)
    with pytest.raises(MismatchError, match="with another secret"):
        device_of(mechanism, SECRET[::-1], store=store).report(3)
    assert device_of(mechanism, store=store).privacy_loss().reports == 1
    with pytest.raises(InvalidParameterError, match="store already"):
        device_of(mechanism, store, store=store)
    with pytest.raises(InvalidParameterError, match="DeviceStore"):
        device_of(mechanism, store="device.db")


def test_a_fixed_device_goes_on_reporting_its_first_value(tmp_path):
    mechanism, store = make("lgrr"), DeviceStore(tmp_path / "device.db")
    for value in (5, 3, 3, 7, 5):
        device = device_of(mechanism, DeviceStore(store.path), fixed=True)
        device.report(value)
    loss = device.privacy_loss()
    assert (loss.reports, loss.permanent_reports) == (5, 1)
    assert loss.epsilon <= mechanism.exact_permanent_epsilon()
    assert device.permanent(9) == device.permanent(5)
    with pytest.raises(OutOfDomainError):
        device.report(16)
    with pytest.raises(InvalidParameterError, match=r"answered with fixed=True before"):
        device_of(mechanism, store).report(5)
    device_of(mechanism, store, "game").report(5)
    with pytest.raises(InvalidParameterError, match=r"answered with fixed=False before"):
        device_of(mechanism, store, "game", fixed=True).report(5)
    with pytest.raises(InvalidParameterError, match="must remember it: give store"):
        device_of(mechanism, fixed=True)


def test_people_and_a_fixed_device_of_one_question_do_not_mix(tmp_path):
    """A second value went out although the device was fixed to its first."""
    mechanism, store = make("lgrr"), DeviceStore(tmp_path / "device.db")
    device_of(mechanism, store, person="ann", fixed=True).report(3)
    with pytest.raises(InvalidParameterError, match="answered with fixed=True before"):
        mechanism.privatize([5], people=["ann"], question="page", store=store)


def test_a_store_that_began_with_a_secret_is_not_used_without_it(tmp_path):
    mechanism, store = make("lgrr"), DeviceStore(tmp_path / "device.db")
    device_of(mechanism, store=store).report(3)
    with pytest.raises(MismatchError, match="another secret, or without one"):
        device_of(mechanism, store).report(5)


def test_names_and_ids_have_one_spelling():
    mechanism = make("lgrr")
    composed, apart = "Jos\u00e9", "Jose\u0301"
    labels = {PermanentReports(mechanism, f"{name} ", "", SECRET).owner(b"") for name in (composed, apart)}
    assert len(labels) == 1
    assert person_keys([composed]) == person_keys([apart])
