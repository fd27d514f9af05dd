"""LDP3's tables against the real data, cell by cell."""

import os

import pytest

from ldpkit.papers import REPRODUCTIONS, Settings, Verdict, save
from ldpkit.papers.ldp3 import COLUMNS, POWER, PROTOCOLS, TABLES, times

needs_data = pytest.mark.skipif("LDPKIT_DATA" not in os.environ, reason="LDPKIT_DATA names no data folder")

LOW_IN_THE_PAPER = {("I", "oue"), ("II", "ss")}
"""Rows that sit about three standard errors low in the paper itself."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("ldp3")


@pytest.fixture(scope="module", autouse=True)
def few_people():
    """Times are told of so few people that telling them costs nothing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(times, "SIZES", {name: (n // 40, k) for name, (n, k) in times.SIZES.items()})
        yield


@pytest.fixture(scope="module")
def claims(folder):
    return list(REPRODUCTIONS.get("ldp3").run(Settings(quick=True, seed=1, folder=folder)))


def test_execution_times_are_told_and_drawn_for_every_data_set(claims, folder):
    told = [claim for claim in claims if claim.claim.endswith("more threads take less time")]
    assert len(told) == 3 * len(PROTOCOLS)
    assert all("s with 1" in claim.note and "s with 8" in claim.note for claim in told)
    for name in ("figure-3-kosarak", "figure-4-bms_pos", "figure-5-porto"):
        assert (folder / f"{name}.png").stat().st_size > 10_000


def test_times_that_are_too_short_to_measure_are_no_verdict(claims):
    told = [claim for claim in claims if claim.claim.endswith("more threads take less time")]
    assert Verdict.TOO_SHORT in {claim.verdict for claim in told}, "a few hundredths of a second"
    assert times._verdict(0.07, 0.9, 2) is times._verdict(0.49, 3.0, 2) is Verdict.TOO_SHORT
    assert times._verdict(2.0, 1.9, 2) is Verdict.REPRODUCED
    assert times._verdict(2.0, 1.0, 2) is Verdict.NOT_REPRODUCED


@needs_data
def test_all_cells_but_those_of_power_reproduce(claims):
    cells = {claim.claim: claim for claim in claims}
    for table in TABLES[:2]:
        for protocol in PROTOCOLS:
            for column in COLUMNS:
                claim = cells[f"table {table.number} {table.dataset}: {protocol}, {column}, MAE x1e3"]
                if column in (*POWER, "avg with PP"):
                    assert claim.verdict is Verdict.CORRECTED
                    assert claim.ours < claim.published
                elif (table.number, protocol) not in LOW_IN_THE_PAPER:
                    assert claim.verdict is Verdict.REPRODUCED, f"{claim}; the seed is fixed"


@needs_data
def test_power_with_the_right_variance_is_much_better(claims):
    cells = {claim.claim: claim.ours for claim in claims}
    assert cells["table I kosarak: olh, power_ns, MAE x1e3"] == pytest.approx(0.90, abs=0.05)
    assert cells["table II bms_pos: olh, power_ns, MAE x1e3"] == pytest.approx(1.28, abs=0.07)


def test_what_needs_no_data_is_answered_without(monkeypatch, tmp_path):
    monkeypatch.setenv("LDPKIT_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    claims = list(REPRODUCTIONS.get("ldp3").run(Settings(quick=True)))
    porto = {claim.claim: claim for claim in claims if "porto" in claim.claim}
    assert porto["table III porto: oue, none, MAE x1e3"].ours == pytest.approx(1.204, abs=0.001)
    assert porto["table III porto: grr, none, MAE x1e3"].ours == pytest.approx(5.50, abs=0.01)
    assert porto["table III porto: all other columns"].verdict is Verdict.NO_DATA


def test_claims_are_saved_with_the_documented_keys(tmp_path, claims):
    save(claims, tmp_path)
    header = (tmp_path / "claims.csv").read_text().splitlines()[0]
    assert header == "claim,published,ours,stderr,verdict,note"
    assert (tmp_path / "claims.json").exists()
