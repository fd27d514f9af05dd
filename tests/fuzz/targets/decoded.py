"""Reports on the wire: any bytes, decoded by every mechanism, counted and estimated."""

from __future__ import annotations

import contextlib
import random
from pathlib import Path

import numpy as np

from fuzz.mutate import change_bytes
from fuzz.target import Target, refused_if, require
from fuzz.targets.estimates import check_estimate
from fuzz.targets.examples import examples, two_values
from ldpkit.core.errors import LdpkitError
from ldpkit.mechanisms.tally import Tally

__all__ = ["DECODED"]


def _seeds() -> list[bytes]:
    made = []
    for index, each in enumerate(examples()):
        made.append(b"%d\n" % index + each.encode(each.first_reports(two_values(each))))
    return made


def _mutate(rng: random.Random, data: bytes) -> bytes:
    first, _, rest = data.partition(b"\n")
    kind = rng.randrange(6)
    try:
        mechanism = examples()[int(first)]
    except (ValueError, IndexError):
        return rng.choice(_seeds())
    width = mechanism.report_bytes
    if kind == 0:
        rest = rng.choice((bytes(width), b"\xff" * width, rng.randbytes(width))) * rng.choice((0, 1, 2, 30))
    elif kind == 1:
        rest = rest * rng.choice((2, 10))
    elif kind == 2:  # a whole record goes or comes
        at = rng.randrange(len(rest) // width + 1) * width
        rest = rest[:at] + rng.randbytes(width) + rest[at + rng.choice((0, width)) :]
    elif kind == 3 and rng.random() < 0.2:
        first = b"%d" % rng.randrange(len(examples()))
    else:
        rest = change_bytes(rng, rest)
    return first + b"\n" + rest[:4000]


def _check(data: bytes, folder: Path) -> None:
    first, _, rest = data.partition(b"\n")
    refused_if(not first.isdigit() or int(first[:9]) >= len(examples()), "no mechanism of that number")
    mechanism = examples()[int(first[:9])]
    reports = mechanism.decode(rest)
    require(mechanism.encode(reports) == rest, "reports change when written")
    tally = mechanism.tally(reports)
    require(Tally.from_bytes(tally.to_bytes()) == tally, "a tally does not come back from its bytes")
    require(tally.n == len(rest) // mechanism.report_bytes, "reports are lost")
    halves = mechanism.tally(reports[:1]) + mechanism.tally(reports[1:])
    require(halves == tally, "the parts do not add to the whole")
    if len(data) % 8 == 0:  # the target "estimates" has more of these
        check_estimate(tally, None, None)
    for wrong in (np.full(len(rest) % 7, 0.5), [[0.5, 1], [None]], reports.tolist(), "text", None, [2**70]):
        with contextlib.suppress(LdpkitError):
            mechanism.check_reports(wrong)  # type: ignore[arg-type]  # wrong, as it says


DECODED = Target("decoded", _seeds, _mutate, _check)
