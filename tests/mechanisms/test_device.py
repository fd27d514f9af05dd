"""The device: permanent reports that hold for ever, and what a sequence of reports costs."""

from __future__ import annotations

import hashlib
import json
import os
import stat

import numpy as np
import pytest

import ldpkit
from contract.checks import SAID, z_limit
from ldpkit.core.errors import FileFormatError, InvalidParameterError, OutOfDomainError
from ldpkit.mechanisms.device import Device, FileMemo

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
