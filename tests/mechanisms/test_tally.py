"""Tallies: forged bytes of a hostile sender, and where a tally is not what it seems."""

from __future__ import annotations

import json
import struct
import zlib

import numpy as np
import pytest

import ldpkit
from ldpkit.core.errors import FileFormatError, FrozenError, InvalidInputError, UnknownNameError

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
