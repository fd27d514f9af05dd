"""Oracles, reports and files that the tests of report files share."""

from __future__ import annotations

import json
import struct
import zlib
from pathlib import Path

import numpy as np

import ldpkit
from ldpkit.files.reportfile import ReportWriter

__all__ = ["ORACLES", "described", "made", "sealed", "write"]

ORACLES = [
    ldpkit.GRR(["no", "yes"], epsilon=2.0),
    ldpkit.OLH(10, epsilon=1.0),
    ldpkit.BLH(10, epsilon=1.0),
    ldpkit.OUE(11, epsilon=1.0),
    ldpkit.SUE(9, epsilon=1.0),
    ldpkit.SS(20, epsilon=1.0),
]


def write(path: Path, oracle: ldpkit.FrequencyOracle, *parts: np.ndarray) -> bytes:
    with ReportWriter(path, oracle) as writer:
        for part in parts:
            writer.write(part)
    return path.read_bytes()


def made(oracle: ldpkit.FrequencyOracle, n: int, seed: int = 1) -> np.ndarray:
    return oracle.privatize(np.arange(n) % len(oracle.domain), rng=ldpkit.random.seeded(seed))


def sealed(description: bytes, *, version: int = 1, blocks: bytes = b"", n: int = 0) -> bytes:
    """A file with right checksums, as another program would write it from the documentation."""
    head = b"LDPR" + struct.pack("<HI", version, len(description)) + description
    end = struct.pack("<IQ", 0, n)
    return b"".join(
        [head, struct.pack("<I", zlib.crc32(head)), blocks, end, struct.pack("<I", zlib.crc32(end))]
    )


def described(**changes: object) -> bytes:
    plain = {"mechanism": "grr", "parameters": {"epsilon": 1.0}, "domain": 4}
    plain |= {"record_length": 1, "ldpkit": "0.1.0"}
    return json.dumps(plain | changes).encode()
