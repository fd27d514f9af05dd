"""Mutators: small changes of bytes, of text and of JSON, with a liking for what breaks parsers."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["HOSTILE_TEXTS", "NUMBERS", "change_bytes", "change_json", "change_json_text", "change_text"]

NUMBERS: tuple[Any, ...] = (
    *(0, 1, 2, 3, 5, 7, 8, 16, 100, 1000, 255, 256, 257, 65535, 65536, -1, -2, -(2**31), 2**31 - 1, 2**31),
    *(2**32 - 1, 2**32, 2**53, 2**62, 2**63 - 1, 2**63, 2**64, -(2**63), -(2**63) - 1, 10**30, 10**400),
    *(1 << 20, 1 << 24, 1 << 26, (1 << 26) + 1, 10**9),
    *(0.0, -0.0, 0.5, 1.0, 2.5, 1e-3, 9.99e-4, 20.0, 20.1, 1e16, 1e200, -1e200, 1e308, 1.7e308, 5e-324),
    *(float("nan"), float("inf"), float("-inf"), 0.1, 1 / 3, 1.0000000000000002),
)
HOSTILE_TEXTS = (
    *(
        "",
        " ",
        "\0",
        "a\0b",
        "\ud800",
        "\udcff",
        "\u202e",
        "\x1b[2J",
        "=cmd()",
        "'=1",
        "-",
        "--",
        "@",
        "@/dev/zero",
    ),
    *(
        "nan",
        "inf",
        "-inf",
        "infinity",
        "1e400",
        "1_000",
        "0x10",
        "٣",
        "\uff11\uff12",
        "²",
        "1e5",
        "1e-400",
        "+1",
        "-0",
    ),
    *("9" * 400, "9" * 5000, "1" + "0" * 400, "true", "null", "None", "[]", "{}", "../../etc/passwd", "a/b"),
    *(
        "/dev/full",
        "x" * 300,
        "a" * 70000,
        "é",
        "ﬁ",
        "İ",
        "ß",
        "\u2028",
        "\ufeff",
        "%s",
        "{0}",
        "{0.__class__}",
    ),
    *("__class__", "cache", "time_limit", "descriptor", "noise_range", "intervals", "grid", "epsilon", "rng"),
    *("[/b]", "\\", '"', "'", ",", ";", "\t", "\r", "\n", "\r\n", "=", ":", "a=b", "k=2", "seed=1", "n=1"),
)
_BYTES = (0, 1, 0x7F, 0x80, 0xFF, 0x0A, 0x0D, 0x22, 0x2C, 0x3B, 0x5B, 0x7B)
_MOST_BYTES = 1 << 16


def change_bytes(rng: random.Random, data: bytes) -> bytes:
    """Return bytes with one or a few places changed, cut, doubled or moved."""
    made = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        rng.choice(_BYTE_CHANGES)(rng, made)
    return bytes(made[:_MOST_BYTES])


def _place(rng: random.Random, data: bytearray) -> int:
    return rng.randrange(len(data) + 1)


def _flip(rng: random.Random, data: bytearray) -> None:
    if data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _set(rng: random.Random, data: bytearray) -> None:
    if data:
        data[rng.randrange(len(data))] = rng.choice(_BYTES) if rng.random() < 0.5 else rng.randrange(256)


def _set_integer(rng: random.Random, data: bytearray) -> None:
    width = rng.choice((2, 4, 8))
    number = rng.choice(
        (0, 1, 2, 255, 1 << 16, 1 << 24, (1 << 31) - 1, 1 << 31, (1 << 63) - 1, -1, rng.getrandbits(63))
    )
    at = _place(rng, data)
    data[at : at + width] = (number % (1 << 8 * width)).to_bytes(width, rng.choice(("little", "big")))


def _cut(rng: random.Random, data: bytearray) -> None:
    at = _place(rng, data)
    del data[at : at + rng.choice((1, 1, 2, 4, 8, rng.randrange(1, 64)))]


def _truncate(rng: random.Random, data: bytearray) -> None:
    del data[_place(rng, data) :]


def _insert(rng: random.Random, data: bytearray) -> None:
    at = _place(rng, data)
    data[at:at] = rng.choice((b"\0", b"\xff", b"\n", rng.randbytes(rng.choice((1, 2, 4, 8, 16)))))


def _double(rng: random.Random, data: bytearray) -> None:
    start = _place(rng, data)
    piece = data[start : start + rng.choice((1, 4, 8, 16, 64, 256))]
    at = _place(rng, data)
    data[at:at] = piece * rng.choice((1, 1, 2, 8))


def _overwrite(rng: random.Random, data: bytearray) -> None:
    start, at = _place(rng, data), _place(rng, data)
    piece = data[start : start + rng.choice((4, 8, 16, 64))]
    data[at : at + len(piece)] = piece


_BYTE_CHANGES: tuple[Callable[[random.Random, bytearray], None], ...] = (
    *(_flip, _set, _set_integer, _cut, _truncate, _insert, _double, _overwrite),
)


def change_text(rng: random.Random, text: str, words: Sequence[str] = ()) -> str:
    """Return a text with a piece replaced by something hostile or by one of some words."""
    kind = rng.randrange(7)
    start = rng.randrange(len(text) + 1)
    stop = min(len(text), start + rng.choice((0, 1, 1, 2, 4, 16)))
    if kind == 0:
        return text[:start] + text[stop:]
    if kind == 1:
        return text[:start] + text[start:stop] * rng.choice((2, 3, 50)) + text[stop:]
    if kind == 2:
        return text[:start] + chr(rng.choice((rng.randrange(32, 127), rng.randrange(0x110000)))) + text[stop:]
    if kind == 3:
        return text[:start] + str(rng.choice(NUMBERS)) + text[stop:]
    if kind == 4 and words:
        return text[:start] + rng.choice(words) + text[stop:]
    if kind == 5 and words:
        return rng.choice(words)
    return text[:start] + rng.choice(HOSTILE_TEXTS) + text[stop:]


def change_json(rng: random.Random, value: Any, keys: Sequence[str] = ()) -> Any:
    """Return a JSON value in which one node somewhere is other than it was."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        key = rng.choice(list(value))
        kind = rng.random()
        if kind < 0.1:
            return {name: each for name, each in value.items() if name != key}
        if kind < 0.25:
            return {**value, rng.choice((*keys, *HOSTILE_TEXTS)): hostile(rng)}
        return {**value, key: change_json(rng, value[key], keys)}
    if isinstance(value, list) and value and rng.random() < 0.85:
        made = list(value)
        at = rng.randrange(len(made))
        kind = rng.random()
        if kind < 0.1:
            del made[at]
        elif kind < 0.2:
            made.insert(at, made[rng.randrange(len(made))])
        elif kind < 0.25:
            made = made[:64] * rng.choice((2, 3, 10))
        else:
            made[at] = change_json(rng, made[at], keys)
        return made
    if isinstance(value, str) and rng.random() < 0.6:
        return change_text(rng, value)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and rng.random() < 0.85:
        return _near(rng, value)
    return hostile(rng)


def _near(rng: random.Random, number: float) -> Any:
    if rng.random() < 0.5:
        return rng.choice(NUMBERS)
    change = rng.choice((1, -1, 2, 10, 1000))
    try:
        return rng.choice(
            (number + change, number * change, number - change, -number, float(number), int(number))
        )
    except (OverflowError, ValueError):
        return 0


def hostile(rng: random.Random) -> Any:
    """Return a JSON value that nobody expects."""
    kind = rng.randrange(9)
    if kind < 3:
        return rng.choice(NUMBERS)
    if kind < 5:
        return rng.choice(HOSTILE_TEXTS)
    simple: tuple[Any, ...] = (
        None,
        True,
        False,
        [],
        {},
        [[]],
        [{}],
        {"a": []},
        [0, 1],
        [0.0, 1e308],
        ["a", "b"],
    )
    if kind < 8:
        return rng.choice(simple)
    return [rng.choice(NUMBERS) for _ in range(rng.choice((1, 2, 3, 17)))]


def change_json_text(rng: random.Random, value: Any, keys: Sequence[str] = ()) -> bytes:
    """Return the text of a JSON value with one node changed, seldom with what only a parser sees."""
    changed = value
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        changed = change_json(rng, changed, keys)
    text = json.dumps(changed, ensure_ascii=rng.random() < 0.9).encode("utf-8", "surrogatepass")
    kind = rng.randrange(40)
    if kind == 0:
        return change_bytes(rng, text)
    if kind == 1:  # deeper than any stack
        depth = rng.choice((10, 900, 2000, 50_000))
        return text.replace(b":", b":" + b"[" * depth + b"]" * rng.choice((0, depth)), 1)
    if kind == 2 and text.startswith(b"{") and len(text) > 2:  # the same key twice
        return b'{"mechanism":"grr","domain":2,"n":1,' + text[1:]
    if kind == 3:
        return rng.choice(
            (b"\xef\xbb\xbf" + text, text.decode("utf-8", "replace").encode("utf-16"), b" " * 999 + text)
        )
    return text
