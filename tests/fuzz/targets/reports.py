"""Report files: header, blocks and end, with checksums that fit or do not."""

from __future__ import annotations

import json
import random
import struct
import zlib
from pathlib import Path

from fuzz.mutate import change_bytes, change_json_text
from fuzz.target import Target, require
from fuzz.targets.examples import KEYS, examples, two_values
from ldpkit.core.provenance import Provenance
from ldpkit.files.reportfile import ReportFile
from ldpkit.files.reportparts import block, end, header
from ldpkit.mechanisms.tally import Tally

__all__ = ["REPORTS", "assemble", "take_apart"]

_HEAD = struct.Struct("<4sHI")
_NUMBERS = (0, 1, 2, 3, 255, 1 << 16, 1 << 24, (1 << 24) + 1, (1 << 31) - 1, 1 << 31, (1 << 32) - 1)
_MAKERS = (lambda rng, n: bytes(n), lambda rng, n: rng.randbytes(n), lambda rng, n: b"\xff" * n)

Parts = tuple[int, bytes, list[tuple[int, bytes]], int]


def _seeds() -> list[bytes]:
    made = []
    for each in examples():
        reports = each.first_reports(two_values(each))
        data = each.encode(reports)
        parts = block(data, each) if len(data) else b""
        if len(header(each, Provenance(), "0" * 32)) + len(parts) < 3000:
            made.append(header(each, Provenance(), "0" * 32) + parts + end(len(reports)))
    return made


def assemble(parts: Parts, *, magic: bytes = b"LDPR") -> bytes:
    """Return the file of some parts, with checksums that fit."""
    version, text, blocks, n = parts
    head = _HEAD.pack(magic, version, len(text)) + text
    made = head + struct.pack("<I", zlib.crc32(head))
    for count, data in blocks:
        made += struct.pack("<II", count % (1 << 32), zlib.crc32(data)) + data
    last = struct.pack("<IQ", 0, n % (1 << 64))
    return made + last + struct.pack("<I", zlib.crc32(last))


def take_apart(data: bytes) -> Parts | None:
    """Return the parts of a file whose checksums all fit, or None; written without a look at the reader."""
    try:
        magic, version, length = _HEAD.unpack_from(data)
        at = _HEAD.size + length
        text = data[_HEAD.size : at]
        width = json.loads(text)["record_length"]
        if magic != b"LDPR" or struct.unpack_from("<I", data, at)[0] != zlib.crc32(data[:at]):
            return None
        at, blocks = at + 4, list[tuple[int, bytes]]()
        while count := struct.unpack_from("<I", data, at)[0]:
            content = data[at + 8 : at + 8 + count * width]
            if len(content) < count * width or struct.unpack_from("<I", data, at + 4)[0] != zlib.crc32(
                content
            ):
                return None
            blocks.append((count, content))
            at += 8 + len(content)
        last, (checksum,) = data[at : at + 12], struct.unpack("<I", data[at + 12 :])
        (n,) = struct.unpack("<Q", last[4:])
        return (version, text, blocks, n) if zlib.crc32(last) == checksum else None
    except (ValueError, KeyError, TypeError, struct.error, RecursionError, OverflowError):
        return None


def _mutate(rng: random.Random, data: bytes) -> bytes:
    parts = take_apart(data)
    if parts is None or rng.random() < 0.2:
        return change_bytes(rng, data)
    version, text, blocks, n = parts
    kind = rng.randrange(10)
    if kind < 5:
        text = change_json_text(
            rng, json.loads(text), (*KEYS, "batch", "randomness", "spans", "devices", "outside")
        )
    elif kind == 5:
        version = rng.choice((0, 1, 2, 65535))
    elif kind == 6:
        n = rng.choice((*_NUMBERS, (1 << 64) - 1, n + 1))
    elif kind == 7 and blocks:
        at = rng.randrange(len(blocks))
        count, content = blocks[at]
        blocks[at] = (rng.choice((*_NUMBERS, count + 1)), content)
    elif kind == 8 and blocks:  # the same bytes in many blocks, or one of another length
        count, content = rng.choice(blocks)
        width = len(content) // count if count else 1
        more = rng.choice((1, 2, 50))
        blocks += [(count, rng.choice(_MAKERS)(rng, width * count)) for _ in range(more)]
        n += more * count
    elif blocks:
        at = rng.randrange(len(blocks))
        blocks[at] = (blocks[at][0], change_bytes(rng, blocks[at][1]))
    return assemble((version, text, blocks, n))


def _check(data: bytes, folder: Path) -> None:
    path = folder / "a.ldp"
    path.write_bytes(data)
    file = ReportFile.open(path)
    tally = file.tally()
    parts = take_apart(data)
    require(parts is not None, "a report file is accepted whose checksums do not fit")
    assert parts is not None
    require(parts[3] == file.n == tally.n, "the numbers of reports differ")
    content = b"".join(each for _, each in parts[2])
    require(content == b"".join(map(file.mechanism.encode, file.reports())), "reports change when written")
    require(Tally.from_bytes(tally.to_bytes()) == tally, "the tally does not come back from its bytes")
    require(file.mechanism.name == json.loads(parts[1])["mechanism"].lower(), "another mechanism is read")


REPORTS = Target("reports", _seeds, _mutate, _check)
