"""The device: permanent reports that hold for ever, and what a sequence of reports costs."""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat

import numpy as np
import pytest

import ldpkit
from contract.checks import SAID, z_limit
from ldpkit.core.errors import FileFormatError, InvalidParameterError, OutOfDomainError
from ldpkit.mechanisms.device import Device, FileMemo, sequence_epsilon

NAMES = ["lgrr", "lsue", "loue", "lsoue", "losue", "lblh", "lolh", "dbitflip"]
SECRET = bytes(range(32))
every_name = pytest.mark.parametrize("name", NAMES)
seeded = ldpkit.random.seeded


def make(name, size=16):
    if name == "dbitflip":
        return ldpkit.get(name, size, epsilon=2, d=3)
    return ldpkit.get(name, size, epsilon_inf=2, epsilon_1=1)


@every_name
def test_the_same_value_has_the_same_permanent_report_for_ever(name):
    mechanism = make(name)
    one, same, other = Device(mechanism, SECRET), Device(mechanism, SECRET), Device(mechanism, SECRET[::-1])
    reports = [one.permanent(value).tobytes() for value in range(16)]
    one.report(3)
    assert [same.permanent(value).tobytes() for value in reversed(range(16))] == reports[::-1]
    assert [other.permanent(value).tobytes() for value in range(16)] != reports


GOLDEN = {
    "lgrr": "c7de26ab0140f2de",
    "lsue": "6a1ba32600329e50",
    "loue": "00877fc56eaeb7d1",
    "lsoue": "11e0b748af888eb1",
    "losue": "ee0a3e1279f0b59b",
    "lblh": "35c22efb4eb5baba",
    "lolh": "c74ffa5b10093236",
    "dbitflip": "b903c34d8c61bcb2",
}


@every_name
def test_permanent_reports_do_not_change_between_versions(name):
    """A device that updates ldpkit must not make new permanent reports: that would cost it epsilon_inf again.

    So what this pins may change before the first release, and never after it.
    """
    device = Device(make(name), SECRET)
    reports = b"".join(device.permanent(value).tobytes() for value in range(16))
    assert hashlib.sha256(reports).hexdigest()[:16] == GOLDEN[name]


@every_name
def test_reports_can_be_tallied_and_are_fresh(name):
    mechanism = make(name)
    device = Device(mechanism, SECRET)
    reports = np.concatenate([device.report(5) for _ in range(40)])
    assert mechanism.tally(reports).n == 40
    different = len({report.tobytes() for report in reports})
    assert different == 1 if name == "dbitflip" else different > 1
    again = [Device(mechanism, SECRET).report(5, rng=seeded(1)).tobytes() for _ in range(2)]
    assert again[0] == again[1]


@pytest.mark.parametrize("name", ["lblh", "lolh"])
def test_hashed_values_that_meet_share_their_permanent_report(name):
    mechanism = make(name, 100)
    device = Device(mechanism, SECRET)
    permanent = np.concatenate([device.permanent(value) for value in range(100)])
    assert len(np.unique(permanent[["a", "b"]])) == 1
    buckets = mechanism.hash(permanent["a"], permanent["b"], np.arange(100, dtype=np.uint32))
    for bucket in range(mechanism.buckets):
        assert len(set(permanent["y"][buckets == bucket].tolist())) <= 1


def test_permanent_reports_of_many_devices_have_the_law_of_the_first_round():
    mechanism = make("lgrr", 4)
    draws = 4000
    found = [int(Device(mechanism, bytes(28) + i.to_bytes(4, "big")).permanent(2)[0]) for i in range(draws)]
    exact = np.array([float(chance) for chance in mechanism.response.first.row(2)])
    z = (np.bincount(found, minlength=4) / draws - exact) / np.sqrt(exact * (1 - exact) / draws)
    assert np.abs(z).max() < z_limit(4), f"z-scores {z} ({SAID})"


def test_one_secret_serves_several_questions_independently():
    sizes = range(16, 116)
    first = [int(Device(make("lgrr", size), SECRET).permanent(0)[0]) == 0 for size in sizes]
    assert 0 < sum(first) < 100, "false-alarm rate below 1e-9: truth and lie must both occur"


# --- secrets and files ------------------------------------------------------------------


@pytest.mark.parametrize("secret", [b"", b"short", bytes(15)])
def test_short_secrets_are_refused_with_the_remedy(secret):
    with pytest.raises(InvalidParameterError, match=r"at least 16 bytes, got \d+: .*token_bytes"):
        Device(make("lgrr"), secret)


@pytest.mark.parametrize("secret", ["a text of more than sixteen letters", None, 7])
def test_secrets_that_are_not_bytes_are_refused(secret):
    with pytest.raises(InvalidParameterError, match="is bytes"):
        Device(make("lgrr"), secret)


def test_one_time_mechanisms_have_nothing_to_keep():
    with pytest.raises(InvalidParameterError, match="longitudinal"):
        Device(ldpkit.GRR(4, epsilon=1), SECRET)


def test_new_devices_differ_and_do_not_show_their_secret():
    mechanism = make("lsue")
    assert Device.new(mechanism).permanent(0).tobytes() != Device.new(mechanism).permanent(0).tobytes()
    assert repr(Device(mechanism, SECRET)) == "<Device LSUE(16, epsilon_inf=2, epsilon_1=1), 0 reports>"


def test_values_outside_the_domain_are_refused_and_cost_nothing():
    device = Device(make("lgrr"), SECRET)
    with pytest.raises(OutOfDomainError):
        device.report(16)
    assert device.privacy_loss().reports == 0
    assert device.privacy_loss().epsilon == 0


@every_name
def test_a_file_keeps_permanent_reports(name, tmp_path):
    mechanism, memo = make(name), FileMemo(tmp_path / "memo.json")
    reports = [Device(mechanism, memo).permanent(value).tobytes() for value in range(8)]
    assert [
        Device(mechanism, FileMemo(memo.path)).permanent(value).tobytes() for value in range(8)
    ] == reports
    assert [file.name for file in tmp_path.iterdir()] == ["memo.json"]
    if os.name == "posix":
        assert stat.S_IMODE(memo.path.stat().st_mode) == 0o600


def test_one_file_serves_several_mechanisms(tmp_path):
    memo = FileMemo(tmp_path / "memo.json")
    first, second = Device(make("lgrr"), memo), Device(make("lsue"), memo)
    kept = first.permanent(1).tobytes(), second.permanent(1).tobytes()
    assert kept == (first.permanent(1).tobytes(), second.permanent(1).tobytes())


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"a": 1}', b'{"a": "zz"}', b"\xff\xfe"])
def test_a_damaged_file_is_refused_and_left_alone(content, tmp_path):
    path = tmp_path / "memo.json"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match="not a memo"):
        Device(make("lgrr"), FileMemo(path)).report(1)
    assert path.read_bytes() == content


def test_a_file_with_reports_of_another_kind_is_refused(tmp_path):
    memo = FileMemo(tmp_path / "memo.json")
    Device(make("lgrr"), memo).permanent(1)
    memo.path.write_text(json.dumps(dict.fromkeys(json.loads(memo.path.read_text()), "ff")))
    with pytest.raises(FileFormatError, match="none that"):
        Device(make("lgrr"), memo)


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InvalidParameterError, match="cannot be written"):
        Device(make("lgrr"), FileMemo(tmp_path / "missing" / "memo.json"))
    with pytest.raises(InvalidParameterError, match="cannot be read"):
        Device(make("lgrr"), FileMemo(tmp_path))


def test_a_crash_while_writing_leaves_the_old_file(tmp_path, monkeypatch):
    memo = FileMemo(tmp_path / "memo.json")
    Device(make("lgrr"), memo).permanent(1)
    before = memo.path.read_bytes()
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError("power is gone")))
    with pytest.raises(OSError, match="power"):
        Device(make("lgrr"), memo).permanent(2)
    assert memo.path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["memo.json"]


# --- what it costs ----------------------------------------------------------------------


@every_name
def test_a_thousand_reports_of_one_value_cost_epsilon_inf(name):
    mechanism = make(name)
    loss = sequence_epsilon(mechanism, [3] * 1000)
    assert loss.is_exact
    assert (loss.reports, loss.states) == (1000, 1)
    assert loss.epsilon <= mechanism.exact_permanent_epsilon()
    assert loss.epsilon == pytest.approx(2, abs=1e-3)
    assert loss.without_memo == pytest.approx(1000 * mechanism.exact_epsilon())


@pytest.mark.parametrize("name", ["lgrr", "lsue", "loue", "lsoue", "losue"])
def test_a_changing_value_costs_the_sum_over_its_values(name):
    mechanism = make(name)
    loss = sequence_epsilon(mechanism, [0, 1, 0, 2, 0, 1])
    parts = [mechanism.repeated_epsilon(times) for times in (3, 2, 1)]
    assert loss.is_exact
    assert loss.epsilon == pytest.approx(sum(parts), rel=1e-12)
    assert loss.epsilon >= math.fsum(parts)
    assert loss.epsilon <= loss.permanent_bound <= loss.ceiling
    assert loss.permanent_bound == pytest.approx(6, abs=1e-5)
    assert loss.ceiling == pytest.approx(32, abs=1e-5)


def test_hashing_bounds_what_many_values_cost():
    mechanism = make("lblh", 100)
    loss = sequence_epsilon(mechanism, range(100))
    assert not loss.is_exact
    assert loss.states == 2
    assert loss.epsilon == pytest.approx(4, abs=1e-5)
    device = Device(mechanism, SECRET)
    for value in range(100):
        device.report(value)
    realised = device.privacy_loss()
    assert realised.is_exact
    assert realised.epsilon <= loss.epsilon


def test_dbitflip_is_exact_until_every_state_was_used():
    mechanism = ldpkit.get("dbitflip", 6, epsilon=1, d=2)
    device = Device(mechanism, SECRET)
    chosen = device._coins["buckets"][0].tolist()
    for value in chosen:
        device.report(value)
    assert device.privacy_loss().is_exact
    assert device.privacy_loss().epsilon == pytest.approx(2, abs=1e-6)
    device.report(next(value for value in range(6) if value not in chosen))
    assert not device.privacy_loss().is_exact
    assert device.privacy_loss().ceiling == pytest.approx(3, abs=1e-6)


def test_changes_are_not_hidden_and_the_loss_says_so():
    loss = sequence_epsilon(make("lgrr"), [3] * 10)
    assert loss.with_changes == pytest.approx(10 * make("lgrr").exact_instant_epsilon())
    assert loss.with_changes > loss.epsilon
    assert sequence_epsilon(make("lgrr"), [3]).with_changes == make("lgrr").exact_epsilon()
    assert sequence_epsilon(make("dbitflip"), [3, 3]).with_changes == math.inf


def test_the_device_counts_what_it_sends():
    device = Device(make("lgrr"), SECRET)
    for value in (1, 1, 2):
        device.report(value)
    assert device.privacy_loss() == sequence_epsilon(make("lgrr"), [1, 1, 2])
    assert "exactly" in str(device.privacy_loss())
