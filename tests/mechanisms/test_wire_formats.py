"""The wire formats, read by a second implementation in plain Python from the golden bytes.

It shares no code with ldpkit, so it is also what another language has to write.
"""

from __future__ import annotations

import struct

import pytest

from contract import golden

SIZE = golden.SIZE


def read_grr(data: bytes) -> list[set[int]]:
    return [{byte} for byte in data]


def read_bits(data: bytes) -> list[set[int]]:
    numbers = [int.from_bytes(data[i : i + 2], "little") for i in range(0, len(data), 2)]
    return [{value for value in range(16) if number >> value & 1} for number in numbers]


def read_hashed(data: bytes, buckets: int) -> list[set[int]]:
    supports = []
    for a, b, y in struct.iter_unpack("<IIB", data):
        held = set()
        for value in range(SIZE):
            word = value + 1
            word = (word ^ word >> 16) * 0x85EBCA6B & 0xFFFFFFFF
            word = (word ^ word >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
            word ^= word >> 16
            constant = word & ~0x1FFFF & 0xFFFFFFFF | value
            cell = (a * constant + b & 0xFFFFFFFF) >> 16
            if cell * buckets >> 16 == y:
                held.add(value)
        supports.append(held)
    return supports


READERS = {
    "grr": read_grr,
    "sue": read_bits,
    "oue": read_bits,
    "ss": read_bits,
    "blh": lambda data: read_hashed(data, 2),
    "olh": lambda data: read_hashed(data, 4),
}


@pytest.mark.parametrize("name", READERS)
def test_golden_reports_mean_what_they_say(name):
    known = golden.load()[name]
    supports = READERS[name](bytes.fromhex(known["reports"]))
    assert len(supports) == len(known["values"])
    assert [sum(value in held for held in supports) for value in range(SIZE)] == known["counts"]
    if name == "ss":
        assert {len(held) for held in supports} == {3}


@pytest.mark.parametrize("name", READERS)
def test_golden_tallies_can_be_read_without_ldpkit(name):
    known = golden.load()[name]
    data = bytes.fromhex(known["tally"])
    magic, version, length = struct.unpack_from("<4sHI", data)
    assert (magic, version) == (b"LDPT", 1)
    counts = [number for (number,) in struct.iter_unpack("<q", data[10 + length : -4])]
    assert counts == known["counts"]
