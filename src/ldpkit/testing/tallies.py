"""Tallies add in any order, never change, never mix, and are safe to send."""

from __future__ import annotations

import copy
import json
import pickle
import struct
import zlib
from typing import Any

import numpy as np

from ldpkit.core.errors import FileFormatError, FrozenError, InvalidInputError, MismatchError
from ldpkit.files import reportparts
from ldpkit.mechanisms.tally import MAGIC, Tally
from ldpkit.testing.examples import good_values, relatives, small
from ldpkit.testing.expect import refuses, require
from ldpkit.testing.wire import example_reports

__all__ = ["CHECKS"]


def check_tally_addition(mechanism: Any) -> None:
    """Parts add up to the whole in any order and grouping; an empty tally is the zero."""
    subject = small(mechanism)
    reports = example_reports(subject)
    whole = subject.tally(reports)
    a, b, c, d = (subject.tally(part) for part in np.split(reports, [1, 50, 50]))
    sums = [(a + b) + (c + d), a + (b + (c + d)), d + c + b + a, sum([c, a, d, b]), Tally.merge([d, a, c, b])]
    require(all(each == whole for each in sums), "expected parts to add up to the whole in any order")
    require(hash(sums[0]) == hash(whole), "expected one hash for equal tallies, found two")
    require(whole.n == len(reports), f"expected n={len(reports)}, found {whole.n}")
    require(whole + subject.tally(reports[:0]) == whole, "expected an empty tally to add nothing")
    refuses(InvalidInputError, Tally.merge, [], says="at least one")


def check_tally_mixing(mechanism: Any) -> None:
    """Tallies of different mechanisms do not add, nor do a tally and anything else."""
    subject = small(mechanism)
    tally = subject.tally(example_reports(subject))
    for relative in relatives(subject):
        other = Tally(relative, 0, np.zeros(relative.tally_size, int))
        refuses(MismatchError, tally.__add__, other, says="do not mix")
        refuses(MismatchError, Tally.merge, [tally, other])
        require(tally != other, f"expected tallies of {subject!r} and {relative!r} to differ")
    for foreign in (1, 0.0, None, "tally", tally.counts.tolist()):
        refuses(TypeError, lambda thing: tally + thing, foreign)


def check_tally_frozen(mechanism: Any) -> None:
    """A tally keeps counts of its own, which do not change."""
    subject = small(mechanism)
    tally = subject.tally(example_reports(subject))
    for name in ("n", "counts", "mechanism", "anything"):
        refuses(FrozenError, setattr, tally, name, 0)
    refuses(ValueError, tally.counts.__setitem__, 0, 5, says="read-only")
    counts = tally.counts.copy()
    own = Tally(subject, tally.n, counts)
    counts[0] += 1
    require(own == tally, "expected a tally to keep its own counts, found them changed from outside")


def check_impossible_counts(mechanism: Any) -> None:
    """Counts that so many reports cannot give are refused."""
    subject = small(mechanism)
    size, huge = subject.tally_size, np.iinfo(np.int64).max
    good = subject.tally(subject.first_reports(good_values(subject)[:3])).counts
    impossible = [
        (3, np.append(good, 0)),
        (3, good[:, None]),
        (3, good[:-1]),
        (3, np.full(size, huge)),
        (3, np.full(size, -huge)),
        (-1, np.zeros(size, int)),
        (0, np.full(size, 1)),
    ]
    if size == getattr(subject, "size", None):  # a count for each value
        least, greatest = subject.count_range(3)
        impossible += [(3, np.full(size, count)) for count in (least - 1, greatest + 1)]
    for n, counts in impossible:
        refuses(InvalidInputError, Tally, subject, n, counts)


def check_tally_bytes(mechanism: Any) -> None:
    """Bytes, pickles and copies of a tally come back equal."""
    subject = small(mechanism)
    tally = subject.tally(example_reports(subject))
    data = tally.to_bytes()
    for back in (Tally.from_bytes(data), pickle.loads(pickle.dumps(tally)), copy.deepcopy(tally)):
        require(back == tally and back.mechanism == subject, f"expected {tally!r} back, found {back!r}")
        require(back.to_bytes() == data, "expected the same bytes from a copy, found others")
        require(not back.counts.flags.writeable, "expected counts that do not change, found them writeable")


def check_tally_damage(mechanism: Any) -> None:
    """Every flipped, missing or added byte of a tally is noticed."""
    subject = small(mechanism)
    data = subject.tally(example_reports(subject)).to_bytes()
    places = range(0, len(data), max(1, len(data) // 300))  # the checksum sees all places alike
    for place in (*places, len(data) - 1):
        damaged = bytearray(data)
        damaged[place] ^= 1 << place % 8
        refuses(FileFormatError, Tally.from_bytes, bytes(damaged))
        refuses(FileFormatError, Tally.from_bytes, data[:place])
    for more in (data + b"\0", data + data, b"\0" + data):
        refuses(FileFormatError, Tally.from_bytes, more)


def check_forged_tallies(mechanism: Any) -> None:
    """The checksum is no seal against a hostile sender: what is inside is checked as well."""
    subject = small(mechanism)
    tally = subject.tally(example_reports(subject))
    spec = {**subject.spec(), "n": tally.n}
    counts, good = tally.counts.astype("<i8").tobytes(), json.dumps(spec).encode()
    require(
        Tally.from_bytes(_sealed(good, counts)) == tally, "expected a tally from its parts, found another"
    )
    forged = [
        _sealed(good, counts, version=2),
        _sealed(good, counts, magic=reportparts.MAGIC),
        _sealed(good, counts[:-8]),
        _sealed(good, counts + bytes(8)),
        _sealed(good, counts[:-1]),
        _sealed(good, b"\x7f" * len(counts)),
    ]
    forged += [_sealed(header, counts) for header in (b"", b"null", b"[1]", b"\xff\xff")]
    changed: tuple[dict[str, Any], ...] = (
        {"n": 0},
        {"n": -5},
        {"mechanism": "none such"},
        {"parameters": {}},
        {"parameters": dict.fromkeys(spec["parameters"], float("nan"))},
        {"domain": 1},
        {"domain": 2**31},
    )
    forged += [_sealed(json.dumps({**spec, **fields}).encode(), counts) for fields in changed]
    for data in forged:
        refuses(FileFormatError, Tally.from_bytes, data)


def _sealed(header: bytes, counts: bytes, version: int = 1, magic: bytes = MAGIC) -> bytes:
    body = struct.pack("<4sHI", magic, version, len(header)) + header + counts
    return body + struct.pack("<I", zlib.crc32(body))


CHECKS = (
    check_tally_addition,
    check_tally_mixing,
    check_tally_frozen,
    check_impossible_counts,
    check_tally_bytes,
    check_tally_damage,
    check_forged_tallies,
)
