"""Points in polar coordinates: the description of `PolarOGPM`, and the bytes of its two reports.

The first line of an input is the description; then four bytes with the length of the
distances on the wire, the distances, and the angles.
"""

from __future__ import annotations

import json
import math
import random
import struct
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.mutate import change_bytes, change_json_text
from fuzz.target import Target, require
from fuzz.targets.estimates import check_estimate
from ldpkit.core.errors import LdpkitError
from ldpkit.core.random import seeded
from ldpkit.mechanisms.circular.polar import PolarOGPM, PolarReports
from ldpkit.mechanisms.tally import Tally

__all__ = ["POLAR", "framed"]

_KEYS = ("reach", "circle", "epsilon", "power", "distance_epsilon", "window", "period", "low")


def framed(text: bytes, distances: bytes, angles: bytes) -> bytes:
    """Return an input of this target."""
    return text.replace(b"\n", b" ") + b"\n" + struct.pack("<I", len(distances)) + distances + angles


def _seeds() -> list[bytes]:
    made = []
    for reach, circle, epsilon, power in ((1.0, 360, 2.0, 1.0), (1e6, 2 * math.pi, 7.0, 2.0)):
        polar = PolarOGPM(reach, circle, epsilon, power=power)
        reports = polar.privatize([[0.0, 0.0], [reach, 1.0]], rng=seeded(1))
        parts = polar.distance.encode(reports.distance), polar.angle.encode(reports.angle)
        made.append(framed(json.dumps(polar.spec()).encode(), *parts))
    return made


def _mutate(rng: random.Random, data: bytes) -> bytes:
    text, _, rest = data.partition(b"\n")
    if rng.random() < 0.6:
        return change_json_text(rng, json.loads(text), _KEYS).replace(b"\n", b" ") + b"\n" + rest
    (length,) = struct.unpack_from("<I", rest)
    parts = [rest[4 : 4 + length], rest[4 + length :]]
    at = rng.randrange(2)
    parts[at] = rng.choice((change_bytes(rng, parts[at]), parts[at] * 2, b"", parts[1 - at]))[:4000]
    return framed(text, *parts)


def _check(data: bytes, folder: Path) -> None:
    text, _, rest = data.partition(b"\n")
    try:
        spec: Any = json.loads(text)
        (length,) = struct.unpack_from("<I", rest)
    except (ValueError, RecursionError, struct.error) as error:
        raise LdpkitError(str(error)) from None
    polar = PolarOGPM.from_spec(spec)
    require(
        PolarOGPM.from_spec(json.loads(json.dumps(polar.spec()))) == polar, "another mechanism comes back"
    )
    require(0 < polar.exact_epsilon() <= polar.epsilon, f"{polar} keeps less than it promises")
    repr(polar)
    reports = PolarReports(
        polar.distance.decode(rest[4 : 4 + length]), polar.angle.decode(rest[4 + length :])
    )
    tally = polar.tally(reports)
    values = polar.values_of(reports)
    require(values.shape == (len(reports.distance), 2) and np.isfinite(values).all(), "points are not finite")
    for part in tally:
        require(Tally.from_bytes(part.to_bytes()) == part, "a tally does not come back from its bytes")
        if len(data) % 4 == 0:  # the target "estimates" has more of these
            check_estimate(part, None, None)


POLAR = Target("polar", _seeds, _mutate, _check)
