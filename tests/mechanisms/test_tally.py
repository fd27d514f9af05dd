"""Tallies: forged bytes of a hostile sender, and where a tally is not what it seems."""

from __future__ import annotations

import json
import pickle
import struct
import zlib

import numpy as np
import pytest

import ldpkit
from ldpkit.core.errors import (
    FileFormatError,
    FrozenError,
    InvalidInputError,
    MismatchError,
    UnknownNameError,
)
from ldpkit.core.provenance import Provenance, Span

GOOD = {"mechanism": "grr", "parameters": {"epsilon": 1.0}, "domain": 3, "n": 4}
COUNTS = np.array([1, 2, 1], "<i8").tobytes()


def sealed(header, counts=COUNTS):
    header = header if isinstance(header, bytes) else json.dumps(header).encode()
    body = struct.pack("<4sHI", b"LDPT", 1, len(header)) + header + counts
    return body + struct.pack("<I", zlib.crc32(body))


def test_the_layout_is_the_documented_one():
    tally = ldpkit.GRR(3, 1.0).tally([0, 1, 1, 2])
    assert ldpkit.Tally.from_bytes(sealed(GOOD)) == tally
    data = tally.to_bytes()
    magic, version, length = struct.unpack_from("<4sHI", data)
    assert (magic, version) == (b"LDPT", 1)
    assert json.loads(data[10 : 10 + length]) == GOOD
    assert data[10 + length : -4] == COUNTS


@pytest.mark.parametrize(
    "header",
    [
        {**GOOD, "n": [4]},
        {**GOOD, "n": None},
        {**GOOD, "n": float("inf")},
        {**GOOD, "n": 4.5},
        {**GOOD, "n": "4"},
        b"[" * 100_000,
        {**GOOD, "n": float("nan")},
        {**GOOD, "n": 1},
        {**GOOD, "n": 10**400},
        {**GOOD, "parameters": {"epsilon": 1.0, "cache": "x"}},
        {**GOOD, "provenance": 5},
        {**GOOD, "provenance": {"randomness": "best"}},
        {**GOOD, "provenance": {"spans": [["0" * 32, 0]]}},
        {**GOOD, "provenance": {"spans": [["0" * 32, 0, 5]]}},
        {**GOOD, "provenance": {"spans": [["0" * 32, 0, 2], ["0" * 32, 1, 3]]}},
        {**GOOD, "domain": None},
        {**GOOD, "domain": {}},
        {**GOOD, "domain": [[1], [2], [3]]},
        {**GOOD, "domain": ["a", "b"]},
        {**GOOD, "domain": -3},
        {**GOOD, "mechanism": None},
        {**GOOD, "mechanism": "../grr"},
        {**GOOD, "mechanism": ["grr"]},
        {**GOOD, "parameters": None},
        {**GOOD, "parameters": [1.0]},
        {**GOOD, "parameters": {"name": "olh"}},
        {**GOOD, "parameters": {"domain": 3}},
        {**GOOD, "parameters": {"epsilon": None}},
        {**GOOD, "parameters": {"epsilon": {}}},
        {**GOOD, "parameters": {"epsilon": 1e308}},
        {key: GOOD[key] for key in ("mechanism", "parameters", "domain")},
        b"",
        b"{",
        b"nul",
        b"\xff",
    ],
    ids=lambda header: repr(header)[:60],
)
def test_forged_headers_are_refused(header):
    with pytest.raises(FileFormatError) as caught:
        ldpkit.Tally.from_bytes(sealed(header))
    assert caught.value.offset is not None


def test_forged_counts_cannot_overflow():
    """Two tallies whose counts exceed 63 bits together must not wrap around to something plausible."""
    huge = ldpkit.Tally(ldpkit.GRR(2, 1.0), 2**62, np.array([2**62, 0]))
    with pytest.raises(InvalidInputError):
        _ = huge + huge


def test_sums_of_histograms_cannot_wrap():
    """21 tallies of 2**50 reports of SHE wrapped around to a plausible sum."""
    oracle = ldpkit.SHE(2, epsilon=1.0)
    n = 2**50
    tally = ldpkit.Tally(oracle, n, np.full(2, n * oracle.grid))
    with pytest.raises(InvalidInputError, match="more than integers of 64 bits hold"):
        sum([tally] * 21)
    with pytest.raises(InvalidInputError, match="2\\*\\*63 - 1 reports"):
        ldpkit.Tally(ldpkit.OUE(2, 1.0), 2**63, np.zeros(2, int))


@pytest.mark.parametrize(
    ("oracle", "n", "good", "bad"),
    [
        (ldpkit.GRR(2, 1.0), 10, [4, 6], [10, 10]),
        (ldpkit.GRR(2, 1.0), 3, [3, 0], [3, 3]),
        (ldpkit.get("lgrr", 3, epsilon_inf=2, epsilon_1=1), 2, [0, 1, 1], [1, 1, 1]),
        (ldpkit.SS(16, 2.0), 2, [2, 2] + 14 * [0], [2, 1] + 14 * [0]),
        (ldpkit.DBitFlip(2, 2.0), 1, [1024 - 275, -275], [1024 - 275, -274]),
        (ldpkit.DBitFlip(3, 2.0, d=1), 1, [-122, 0, 0], [-122, -122, 0]),
        (ldpkit.PM((0, 1), 1.0), 1, None, 1),
    ],
    ids=repr,
)
def test_counts_that_reports_cannot_give_are_refused(oracle, n, good, bad):
    if good is None:  # one report in the last bin, which is cut short: a place beyond its end
        good = np.zeros(oracle.tally_size, int)
        good[oracle.bins - 1] = 1
        good[-1] = oracle.cells - 1 - oracle.bin_edges[-2]
        bad = good.copy()
        bad[-1] += 1
    assert ldpkit.Tally(oracle, n, np.array(good)).n == n
    with pytest.raises(InvalidInputError):
        ldpkit.Tally(oracle, n, np.array(bad))


def test_a_tally_that_hardly_any_collection_gives_has_finite_numbers():
    """It ended in a LinAlgError."""
    mechanism = ldpkit.TruncatedPM((0, 1), epsilon=1.0, grid=4)
    counts = np.zeros(mechanism.tally_size, int)
    counts[0] = 2**62
    estimate = ldpkit.Tally(mechanism, 2**62, counts).estimate()
    assert np.isfinite([estimate.mean, estimate.stderr, *estimate.interval()]).all()


def test_provenance_stays_with_a_tally_and_adds():
    oracle = ldpkit.GRR(3, 1.0)
    batch, other = "0" * 32, "1" * 32
    first = ldpkit.Tally(oracle, 2, [1, 1, 0], Provenance("secure", "stated", None, (Span(batch, 0, 2),)))
    rest = ldpkit.Tally(oracle, 1, [0, 0, 1], Provenance("seeded", "stated", None, (Span(batch, 2, 3),)))
    both = first + rest
    assert both.provenance == Provenance("seeded", "stated", None, (Span(batch, 0, 3),))
    for back in (ldpkit.Tally.from_bytes(both.to_bytes()), pickle.loads(pickle.dumps(both)), 0 + both):
        assert (back, back.provenance) == (both, both.provenance)
    bare = oracle.tally([0, 1, 2])
    assert bare == both  # equality is about mechanism, n and counts
    assert hash(bare) == hash(both)
    assert bare.provenance == Provenance()
    assert "provenance" not in bare.to_bytes().decode("latin-1")  # bytes as in the first version
    assert (first + oracle.tally(oracle.decode(b""))).provenance == first.provenance
    assert (first + bare).provenance == Provenance("unknown", "unknown", None, (Span(batch, 0, 2),))
    with pytest.raises(MismatchError, match="reports 0 to 1 of batch 00000000 are there twice"):
        _ = both + first
    elsewhere = ldpkit.Tally(oracle, 2, [1, 1, 0], Provenance("secure", "stated", None, (Span(other, 0, 2),)))
    assert (both + elsewhere).provenance.batches == (batch, other)
    with pytest.raises(FrozenError):
        both.provenance = Provenance()


def test_a_tally_cannot_lose_its_fields():
    tally = ldpkit.GRR(2, 1.0).tally([0, 1])
    for name in ("n", "counts", "mechanism"):
        with pytest.raises(FrozenError):
            delattr(tally, name)


@pytest.mark.parametrize(("n", "counts"), [(3, [1.7, 1.2]), (3.5, [1, 1]), (3, ["1", "2"])])
def test_counts_that_are_not_whole_are_refused(n, counts):
    with pytest.raises(InvalidInputError):
        ldpkit.Tally(ldpkit.GRR(2, 1.0), n, counts)


def test_equal_needs_everything_equal():
    oracle = ldpkit.GRR(3, 1.0)
    tally = oracle.tally([0, 1])
    assert tally == oracle.tally([1, 0])
    assert tally != oracle.tally([0, 1, 1])
    assert tally != oracle.tally([0, 2])
    assert tally != "Tally(GRR(3, epsilon=1), n=2)"
    assert repr(tally) == "Tally(GRR(3, epsilon=1), n=2)"


def test_unknown_estimators_name_near_ones():
    tally = ldpkit.GRR(3, 1.0).tally([0, 1])
    with pytest.raises(UnknownNameError, match="unknown estimator 'mii': did you mean mi"):
        tally.estimate("mii")
    with pytest.raises(UnknownNameError, match="norm_sub"):
        tally.estimate(consistency="normsub")
