"""What stands around a report: charges, uploads, ledgers and canonical JSON are as the vectors say."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from ldpkit.client.epsilon import Ratio, covers, larger
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.exact import exp_bounds
from ldpkit.testing.vectors.files import read_files

FILES = read_files(Path(__file__).parents[2] / "spec" / "vectors")


def test_charges_cover_what_the_vectors_say_and_no_more_than_is_true():
    accepted = 0
    for case in FILES["charges"]:
        num, den, times = int(case["num"]), int(case["den"]), case["times"]
        found = covers(case["micro"], num, den, times)
        assert found == case["covers"]
        accepted += found
        low, high = exp_bounds(Fraction(case["micro"], 10**6 * times))
        assert Fraction(num, den) <= high if found else Fraction(num, den) > low * (1 - Fraction(1, 2**110))
    assert 40 < accepted < len(FILES["charges"]) - 40  # both answers, next to each other


@pytest.mark.parametrize("micro", [0, 1, 999_999, 1_000_000, 12_345_678, 20_000_000])
def test_a_charge_covers_up_to_its_power_and_not_beyond(micro):
    low, high = exp_bounds(Fraction(micro, 10**6))
    for bits in (40, 64, 80):  # the power is known to some 118 bits
        below, above = (
            low.numerator * 2**bits // low.denominator,
            high.numerator * 2**bits // high.denominator + 1,
        )
        assert covers(micro, below if micro else 2**bits, 2**bits)
        assert not covers(micro, above, 2**bits)


def test_powers_go_to_the_exponent():
    assert covers(2_000_000, *Ratio(2718281828, 10**9, 2))
    assert not covers(1_999_999, *Ratio(2718281828, 10**9, 2))
    assert covers(693_148 * 1000, *Ratio(2, 1, 1000))
    assert not covers(693_147 * 1000, *Ratio(2, 1, 1000))
    assert larger(Ratio(1, 1), Ratio(2, 1)) == Ratio(2, 1)


@pytest.mark.parametrize(
    "bad",
    [(-1, 1, 1), (1.0, 1, 1), (True, 1, 1), (1, 0, 1), (1, 1, 0), (1, 1, 1, 0), (2**54, 1, 1), ("1", 1, 1)],
)
def test_what_is_no_charge_is_refused(bad):
    with pytest.raises(InvalidParameterError):
        covers(*bad)


def test_uploads_are_packed_as_the_vectors_say():
    upload = pytest.importorskip("ldpkit.client.upload")
    for case in FILES["uploads"]:
        header = upload.UploadHeader(
            version=case["version"],
            question=case["question"],
            round=case["round"],
            fingerprint=int(case["fingerprint"]),
            seeded=case["is_seeded"],
        )
        records = [(int(each["id"]), bytes.fromhex(each["report"])) for each in case["records"]]
        assert upload.encode_upload(header, records).hex() == case["bytes"]


def test_ledgers_add_up_as_the_vectors_say():
    spending = pytest.importorskip("ldpkit.client.spending")
    for case in FILES["ledgers"]:
        spent = spending.Spending.from_json(json.dumps(case["ledger"]))
        assert json.loads(spent.to_json()) == case["ledger"]
        assert spent.total == (None if case["total"] == "infinite" else case["total"])
        for each in case["tries"]:
            assert spent.fits(spending.read_micro(each["micro"], "a charge")) == each["fits"]


def test_json_has_one_canonical_spelling():
    canonical = pytest.importorskip("ldpkit.client.canonical")
    for case in FILES["canonical"]:
        assert canonical.canonical(canonical.read_json(case["json"].encode())).decode() == case["canonical"]
