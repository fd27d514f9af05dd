"""Vectors of everything around a report: places, labels, streams, ids, choices, charges, ledgers, uploads."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from ldpkit.client.epsilon import covers
from ldpkit.client.labels import COINS, PERMANENT, derive, drawn_questions, pack, question_label, upload_id
from ldpkit.client.places import place_of
from ldpkit.client.randomness import key_stream
from ldpkit.core.exact import exp_bounds
from ldpkit.core.random import seeded

__all__ = ["rules"]

_LABELS = ["walk", "bike", "bus", "car"]


def rules() -> dict[str, list[Any]]:
    """Return the vectors by the name of their file."""
    return {
        "places": list(_places()),
        "labels": list(_labels()),
        "streams": [_stream(number) for number in range(4)],
        "ids": list(_ids()),
        "choices": list(_choices()),
        "charges": list(_charges()),
        "ledgers": list(_ledgers()),
        "uploads": list(_uploads()),
        "canonical": list(_canonical()),
    }


def _places() -> Iterator[dict[str, Any]]:
    def made(kind: str, domain: Any, sampler: dict[str, Any], value: Any) -> dict[str, Any]:
        place = place_of(kind, domain, sampler, value)
        shown = list(place) if isinstance(place, tuple) else place
        return {"kind": kind, "domain": domain, "sampler": sampler, "value": value, "place": shown}

    for index, label in enumerate(_LABELS):
        yield made("frequency", _LABELS, {"form": "response"}, label)
        yield made("frequency", 4, {"form": "response"}, index)
    yield made("frequency", {"product": [_LABELS, 3, ["no", "yes"]]}, {"form": "response"}, ["car", 2, "no"])
    random = seeded(7).generator()
    fine, coarse = {"form": "coin", "grid": 1 << 20}, {"form": "coin", "grid": 8}
    for low, high in ((0.0, 1.0), (-2.0, 6.0), (0.1, 0.7), (-1e-3, 1e6), (1e9, 1e9 + 1), (-273.15, 56.7)):
        shares = (
            0.0,
            1.0,
            0.5,
            1 / 16,
            3 / 16,
            5 / 16,
            15 / 16,
            *random.random(6).tolist(),
        )  # some are halves
        for share in shares:
            value = min(max(low + share * (high - low), low), high)
            yield from (made("numeric", [low, high], sampler, value) for sampler in (fine, coarse))
    for period, low in ((360.0, 0.0), (24.0, -6.0), (6.283185307179586, -3.141592653589793)):
        circle, around = {"period": period, "low": low}, {"form": "window", "stand": "wrap", "grid": 8}
        for share in (0.0, 1.0, 0.5, 1 / 16, 15 / 16, 31 / 32, *random.random(6).tolist()):
            value = min(max(low + share * period, low), low + period)
            yield made("circular", circle, around, value)
            yield made("circular", circle, {**around, "grid": 1 << 20}, value)
    plane = {"shape": "rectangle", "low": [-2, 1], "high": [6, 5], "places": [[-1, 1.5], [0.5, 4], [5, 1.25]]}
    line = {"form": "window", "stand": "clamp", "grid": 8}
    for x, y in ((-2, 1), (6, 5), (0, 3), (2.5, 1.25), (5.999, 1.001)):
        yield made("spatial", plane, {"form": "sites", "shape": [3, 5]}, [x, y])
        yield made("spatial", plane, {"form": "sites", "shape": [3]}, [x, y])
        yield made("spatial", plane, {"form": "planar", "grid": 16}, [x, y])
        yield made("spatial", plane, {"form": "pair", "first": line, "second": line}, [x, y])


def _labels() -> Iterator[dict[str, Any]]:
    cases: tuple[tuple[str, str, str, Any, tuple[int, ...]], ...] = (
        ("", "q", "lgrr", 4, (4, 2**63, 2**61)),
        ("commute-2026", "commute", "lolh", _LABELS, (32, 4, 1, 2, 3, 4)),
        ("straße", "ü", "lsue", ["", "a b", "\U0001f6b2"], (5, 6, 7, 8)),
        ("c", "q", "dbitflip", [1, 2.0, 0.5, -7, 1e20], (3, 2**64 - 1, 1)),
        ("c", "q", "dbitflip", [True, False], (1, 3, 1)),
    )
    for number, (collection, question, mechanism, domain, integers) in enumerate(cases):
        secret = seeded(number).bytes((16, 32, 32, 64, 100)[number]).tobytes()
        label = question_label(collection, question, mechanism, domain, integers)
        for use, state in ((COINS, ()), (PERMANENT, (b"0",)), (PERMANENT, (b"12",))):
            packed = pack(use) + label + pack(*state)
            yield {
                "secret": secret.hex(),
                "use": use.decode(),
                "collection": collection,
                "question": question,
                "mechanism": mechanism,
                "domain": domain,
                "integers": [str(each) for each in integers],
                "state": state[0].decode() if state else None,
                "packed": packed.hex(),
                "key": derive(secret, packed).hex(),
            }


def _stream(number: int) -> dict[str, str]:
    key = seeded(number).bytes(32).tobytes()
    return {"key": key.hex(), "bytes": key_stream(key)(100).hex()}


def _ids() -> Iterator[dict[str, Any]]:
    for number, (collection, question, which) in enumerate(
        (
            ("commute-2026", "commute", 0),
            ("commute-2026", "commute", 1),
            ("c", "q", 4294967295),
            ("ü", "ß", 7),
        )
    ):
        secret = seeded(number // 2).bytes(32).tobytes()
        found = upload_id(secret, collection, question, which)
        told = {"secret": secret.hex(), "collection": collection, "question": question, "round": which}
        yield {**told, "id": str(found), "bytes": found.to_bytes(8, "little").hex()}


def _choices() -> Iterator[dict[str, Any]]:
    questions = ["a", "b", "c", "commute", "ü", "q6"]
    for number in range(8):
        secret, ask = seeded(number).bytes(32).tobytes(), number % 6 + 1
        found = drawn_questions(secret, "commute-2026", questions, ask)
        told = {"secret": secret.hex(), "collection": "commute-2026", "questions": questions, "ask": ask}
        yield {**told, "drawn": found}


def _charges() -> Iterator[dict[str, Any]]:
    for micro in (0, 1, 2, 1000, 500_000, 693_147, 693_148, 1_000_000, 2_000_001, 20_000_000, 178_000_000):
        for times in (1, 2, 9):
            low = exp_bounds(Fraction(micro, 10**6 * times))[0]
            for bits in (10, 64):  # the fraction just below e^x, and the one just above
                num = (low.numerator << bits) // low.denominator
                for each in (num, num + 1):
                    found = covers(micro, max(each, 1), 1 << bits, times)
                    told = {"micro": micro, "num": str(max(each, 1)), "den": str(1 << bits), "times": times}
                    yield {**told, "covers": found}


def _ledgers() -> Iterator[dict[str, Any]]:
    for cap, spent, tried in (
        (None, [500_000, 1], [(10**9, True), ("infinite", True)]),
        (2_000_000, [333_333] * 6, [(2, True), (3, False), ("infinite", False)]),
        (1_000_000, [1_000_000], [(0, True), (1, False)]),
        (None, [500_000, "infinite"], [(1, True)]),
    ):
        charges = [
            {"collection": "c", "question": f"q{index}", "round": 0, "micro": micro}
            for index, micro in enumerate(spent)
        ]
        finite = [micro for micro in spent if isinstance(micro, int)]
        yield {
            "ledger": {"format": "ldpkit-ledger-1", "cap": cap, "charges": charges},
            "total": sum(finite) if len(finite) == len(spent) else "infinite",
            "tries": [{"micro": micro, "fits": fits} for micro, fits in tried],
        }


def _uploads() -> Iterator[dict[str, Any]]:
    for flags, version, question, number, fingerprint, records in (
        (0, 1, 0, 0, 0x0123456789ABCDEF, [(1, "00")]),
        (1, 65535, 7, 4294967295, 2**64 - 1, [(2**64 - 1, "0aff"), (0, "b00b")]),
        (0, 2, 300, 12, 5, []),
    ):
        header = struct.pack("<4sBBHHIQ", b"LDPU", 1, flags, version, question, number, fingerprint)
        body = b"".join(struct.pack("<Q", each) + bytes.fromhex(report) for each, report in records)
        yield {
            "is_seeded": bool(flags),
            "version": version,
            "question": question,
            "round": number,
            "fingerprint": str(fingerprint),
            "records": [{"id": str(each), "report": report} for each, report in records],
            "bytes": (header + body).hex(),
        }


def _canonical() -> Iterator[dict[str, Any]]:
    """Yield JSON as anybody may write it, and its one canonical spelling (RFC 8785), both as text."""
    for given, expected in (
        ('{"b": 1, "a": [ 1.0, -0.0, 0.5 ]}', '{"a":[1,0,0.5],"b":1}'),
        (
            "[1e21, 1e20, 1e-6, 1e-7]",
            "[1e+21,100000000000000000000,0.000001,1e-7]",
        ),
        (
            "[333333333.33333329, 4.50, 2e-3, 5e-324, 1.7976931348623157e308]",
            "[333333333.3333333,4.5,0.002,5e-324,1.7976931348623157e+308]",
        ),
        (
            '"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/"',
            '"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"',
        ),
        (
            '{"\\u20ac": 1, "\\r": 2, "\\ufb33": 3, "1": 4, "\\ud83d\\ude00": 5, "\\u0080": 6, "\\u00f6": 7}',
            '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\U0001f600":5,"\ufb33":3}',
        ),
        ("[true, false, null, {}, []]", "[true,false,null,{},[]]"),
        ('{"keep": "18446744073709551557"}', '{"keep":"18446744073709551557"}'),
    ):
        yield {"json": given, "canonical": expected}
