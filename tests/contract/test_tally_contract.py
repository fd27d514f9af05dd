"""The contract of the tallies of every mechanism: additive, frozen, safe to send."""

from __future__ import annotations

import copy
import functools
import itertools
import json
import operator
import pickle
import struct
import zlib

import numpy as np
import pytest

import ldpkit
from contract.subjects import ORACLE_NAMES
from ldpkit.core.errors import FileFormatError, FrozenError, InvalidInputError, MismatchError


def test_tallies_add_in_any_order_and_grouping(case, reports):
    whole = case.mechanism.tally(reports)
    cuts = [0, 1, 7, 50, 50, len(reports)]
    parts = [case.mechanism.tally(reports[start:end]) for start, end in itertools.pairwise(cuts)]
    for order in itertools.permutations(parts):
        assert functools.reduce(operator.add, order) == whole
    a, b, c, d, e = parts
    assert (a + b) + (c + (d + e)) == a + (b + (c + d)) + e == whole
    assert sum(parts) == ldpkit.Tally.merge(iter(parts)) == whole
    assert hash(sum(parts)) == hash(whole)
    assert whole.n == len(reports)
    assert ldpkit.Tally.merge([whole]) == whole


def test_an_empty_tally_is_the_zero(case, reports):
    whole = case.mechanism.tally(reports)
    assert whole + case.mechanism.tally(reports[:0]) == whole
    with pytest.raises(InvalidInputError, match="at least one"):
        ldpkit.Tally.merge([])


def test_tallies_of_different_mechanisms_do_not_mix(case, reports):
    tally = case.mechanism.tally(reports)
    for relative in case.relatives:
        other = ldpkit.Tally(relative, 0, np.zeros(relative.tally_size, int))
        with pytest.raises(MismatchError, match="do not mix"):
            tally + other
        with pytest.raises(MismatchError):
            ldpkit.Tally.merge([tally, other])
        assert tally != other
    for other in (1, 0.0, None, "tally", tally.counts.tolist()):
        with pytest.raises(TypeError):
            tally + other


def test_tallies_do_not_change(case, reports):
    tally = case.mechanism.tally(reports)
    for name in ("n", "counts", "mechanism", "anything"):
        with pytest.raises(FrozenError):
            setattr(tally, name, 0)
    with pytest.raises(ValueError, match="read-only"):
        tally.counts[0] = 5


def test_a_tally_keeps_its_own_counts(case):
    counts = case.mechanism.tally(case.mechanism.first_reports(case.values[:3])).counts.copy()
    before = counts[0]
    tally = ldpkit.Tally(case.mechanism, 3, counts)
    counts[0] += 1
    assert tally.counts[0] == before


def test_impossible_counts_are_refused(case):
    mechanism, size = case.mechanism, case.mechanism.tally_size
    good = mechanism.tally(mechanism.first_reports(case.values[:3])).counts
    huge = np.iinfo(np.int64).max
    for n, counts in [
        (3, np.append(good, 0)),
        (3, good[:, None]),
        (3, good[:-1]),
        (3, np.full(size, huge)),
        (3, np.full(size, -huge)),
        (-1, np.zeros(size, int)),
        (0, np.full(size, 1)),
    ]:
        with pytest.raises(InvalidInputError):
            ldpkit.Tally(mechanism, n, counts)
    if mechanism.name in ORACLE_NAMES:
        least, greatest = mechanism.count_range(3)
        for count in (least - 1, greatest + 1):
            with pytest.raises(InvalidInputError):
                ldpkit.Tally(mechanism, 3, np.full(size, count))


def test_a_tally_goes_into_bytes_and_back(case, reports):
    tally = case.mechanism.tally(reports)
    for back in (
        ldpkit.Tally.from_bytes(tally.to_bytes()),
        pickle.loads(pickle.dumps(tally)),
        copy.deepcopy(tally),
    ):
        assert back == tally
        assert back.mechanism == tally.mechanism
        assert back.to_bytes() == tally.to_bytes()
        assert not back.counts.flags.writeable


def test_every_damage_to_a_tally_is_noticed(case, reports):
    data = case.mechanism.tally(reports).to_bytes()
    for position in range(len(data)):
        for flip in (0x01, 0x80, 0xFF):
            damaged = bytearray(data)
            damaged[position] ^= flip
            with pytest.raises(FileFormatError):
                ldpkit.Tally.from_bytes(bytes(damaged))


def test_truncated_and_lengthened_tallies_are_refused(case, reports):
    data = case.mechanism.tally(reports).to_bytes()
    for length in range(len(data)):
        with pytest.raises(FileFormatError):
            ldpkit.Tally.from_bytes(data[:length])
    for more in (data + b"\0", data + data, b"\0" + data):
        with pytest.raises(FileFormatError):
            ldpkit.Tally.from_bytes(more)


def _sealed(header: bytes, counts: bytes, version: int = 1, magic: bytes = b"LDPT") -> bytes:
    body = struct.pack("<4sHI", magic, version, len(header)) + header + counts
    return body + struct.pack("<I", zlib.crc32(body))


def test_well_sealed_nonsense_is_refused(case, reports):
    """The checksum is no seal against a hostile sender: what is inside is checked as well."""
    tally = case.mechanism.tally(reports)
    spec = {**tally.mechanism.spec(), "n": tally.n}
    counts = tally.counts.astype("<i8").tobytes()
    good = json.dumps(spec).encode()
    assert ldpkit.Tally.from_bytes(_sealed(good, counts)) == tally

    def with_fields(**fields):
        return json.dumps({**spec, **fields}).encode()

    for data in (
        _sealed(good, counts, version=2),
        _sealed(good, counts, version=0),
        _sealed(good, counts, magic=b"LDPR"),
        _sealed(good, counts[:-8]),
        _sealed(good, counts + bytes(8)),
        _sealed(good, counts[:-1]),
        _sealed(good, b"\x7f" * len(counts)),
        _sealed(b"", counts),
        _sealed(b"null", counts),
        _sealed(b"[1]", counts),
        _sealed(b"\xff\xff", counts),
        _sealed(with_fields(n=0), counts),
        _sealed(with_fields(n=-5), counts),
        _sealed(with_fields(mechanism="none such"), counts),
        _sealed(with_fields(parameters={}), counts),
        _sealed(with_fields(parameters=dict.fromkeys(spec["parameters"], float("nan"))), counts),
        _sealed(with_fields(domain=1), counts),
        _sealed(with_fields(domain=2**31), counts),
    ):
        with pytest.raises(FileFormatError):
            ldpkit.Tally.from_bytes(data)


def test_other_files_are_no_tallies():
    for data in (b"", b"L", b"LDPT", b"PK\x03\x04" * 20, bytes(100), b"LDPT" + bytes(200)):
        with pytest.raises(FileFormatError):
            ldpkit.Tally.from_bytes(data)
