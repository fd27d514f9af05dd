"""Golden vectors: reports and tallies that must never change, so that another language can speak them.

`golden.json` states for each mechanism the values fed to it with
`ldpkit.random.seeded(2026)`, the wire form of the reports in hex, the counts that these
reports add up to, and the portable tally. `digest` is the SHA-256 of the wire form of a
larger seeded run.

Layouts, all little-endian: GRR an index of 1, 2 or 4 bytes; SUE and OUE one bit for each
value, bit v%8 of byte v//8; BLH and OLH the multiplier a and the shift b in words of 4
(or 8) bytes, then the bucket; SS a bitmap as SUE, or its values in ascending order where
that is shorter.

Run this file to add the vectors of new mechanisms; those that are there are never touched.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import ldpkit

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from contract.subjects import ORACLE_NAMES, is_of_the_house, oracle

__all__ = ["load", "observe"]

FILE = Path(__file__).with_name("golden.json")
SIZE, EPSILON, SEED = 11, 1.0, 2026
VALUES = [0, 1, 2, 3, 10, 10]


def load() -> dict[str, dict[str, Any]]:
    """Return the golden vectors by mechanism."""
    known: dict[str, dict[str, Any]] = json.loads(FILE.read_text())
    return known


def observe(name: str) -> dict[str, Any]:
    """Return what the code makes today."""
    mechanism = oracle(name, SIZE, EPSILON)
    reports = mechanism.first_reports(VALUES, rng=ldpkit.random.seeded(SEED))
    tally = mechanism.tally(reports)
    larger = oracle(name, 1000, 2.0)
    run = larger.first_reports(np.arange(10_000) % 1000, rng=ldpkit.random.seeded(SEED))
    return {
        "spec": mechanism.spec(),
        "values": VALUES,
        "reports": mechanism.encode(reports).hex(),
        "counts": tally.counts.tolist(),
        "tally": tally.to_bytes().hex(),
        "digest": hashlib.sha256(larger.encode(run)).hexdigest(),
    }


if __name__ == "__main__":
    entries = load() if FILE.exists() else {}
    for each in ORACLE_NAMES:
        if each not in entries and is_of_the_house(each):
            entries[each] = observe(each)
    FILE.write_text(json.dumps(entries, indent=1, sort_keys=True) + "\n")
