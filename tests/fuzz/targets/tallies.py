"""Tallies: the JSON of the header, the counts and the checksum; what is accepted is estimated."""

from __future__ import annotations

import json
import random
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.mutate import change_bytes, change_json_text
from fuzz.target import Target, require
from fuzz.targets.estimates import check_estimate
from fuzz.targets.examples import KEYS, examples, two_values
from ldpkit.mechanisms.tally import Tally

__all__ = ["TALLIES", "assemble"]

_HEAD = struct.Struct("<4sHI")
_COUNTS = (0, 1, 2, 3, -1, 1 << 31, 1 << 53, 1 << 62, (1 << 63) - 1, -(1 << 63))


def _seeds() -> list[bytes]:
    made = []
    for each in examples():
        data = each.tally(each.first_reports(two_values(each))).to_bytes()
        if len(data) < 10_000:
            made.append(data)
    return made


def assemble(text: bytes, counts: bytes, version: int = 1) -> bytes:
    """Return the bytes of a tally, with a checksum that fits."""
    body = _HEAD.pack(b"LDPT", version, len(text)) + text + counts
    return body + struct.pack("<I", zlib.crc32(body))


def _mutate(rng: random.Random, data: bytes) -> bytes:
    try:
        _, version, length = _HEAD.unpack_from(data)
        text, counts = data[_HEAD.size : _HEAD.size + length], data[_HEAD.size + length : -4]
        described = json.loads(text)
    except (ValueError, struct.error, RecursionError):
        return change_bytes(rng, data)
    kind = rng.randrange(10)
    if kind < 2:
        return change_bytes(rng, data)
    if kind < 6:
        text = change_json_text(rng, described, (*KEYS, "n", "provenance", "spans"))
    elif kind < 9 and len(counts) >= 8:
        numbers = np.frombuffer(counts[: len(counts) // 8 * 8], "<i8").copy()
        _change_counts(rng, numbers)
        counts = numbers.tobytes()
        if isinstance(described, dict) and rng.random() < 0.6:  # so that it may still be a tally
            total = sum(numbers.tolist()[:-1]) if rng.random() < 0.5 else sum(numbers.tolist())
            text = json.dumps({**described, "n": rng.choice((total, abs(total) % (1 << 63)))}).encode()
    else:
        counts = change_bytes(rng, counts)
    return assemble(text, counts, rng.choice((0, 2, 65535)) if rng.random() < 0.02 else version)


def _change_counts(rng: random.Random, numbers: Any) -> None:
    for _ in range(rng.choice((1, 1, 2, 5))):
        at, other = rng.randrange(len(numbers)), rng.randrange(len(numbers))
        kind = rng.randrange(3)
        if kind == 0:
            numbers[at] = rng.choice(_COUNTS)
        elif kind == 1:  # the sum stays
            step = int(min(abs(int(numbers[at])), rng.choice((1, 2, 1 << 40))))
            numbers[at] = max(-(1 << 63), int(numbers[at]) - step)
            numbers[other] = min((1 << 63) - 1, int(numbers[other]) + step)
        else:
            numbers[at], numbers[other] = numbers[other], numbers[at]


def _check(data: bytes, folder: Path) -> None:
    tally = Tally.from_bytes(data)
    require(zlib.crc32(data[:-4]) == struct.unpack("<I", data[-4:])[0], "a checksum that does not fit passes")
    again = Tally.from_bytes(tally.to_bytes())
    require(
        again == tally and again.provenance == tally.provenance, "a tally does not come back from its bytes"
    )
    require(again.mechanism.spec() == tally.mechanism.spec(), "another mechanism comes back")
    if len(data) % 4 == 0:  # the target "estimates" has more of these
        check_estimate(tally, None, None)


TALLIES = Target("tallies", _seeds, _mutate, _check)
