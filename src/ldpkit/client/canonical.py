"""JSON in its canonical form (RFC 8785), and a reader that refuses what parsers may read in two ways.

A signature covers bytes, so a document must have one spelling: keys in the order of their
UTF-16 code units, numbers as JavaScript prints them, no space. A document that names a key
twice, or a number that a double cannot hold, means one thing here and another there: it is
refused.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from typing import Any, NoReturn

from ldpkit.core.errors import FileFormatError, InvalidInputError, InvalidParameterError

__all__ = ["LARGEST_INTEGER", "MOST_BYTES", "canonical", "read_json"]

LARGEST_INTEGER = (1 << 53) - 1
"""The largest whole number that every JSON parser reads alike; larger ones are decimal strings."""

MOST_BYTES = 1 << 22
"""The longest document that is read."""

_DEEPEST = 32
_PLAIN = 21  # digits before JavaScript turns to an exponent


def canonical(value: Any) -> bytes:
    r"""Return a JSON value in its canonical form.

    Examples
    --------
    >>> canonical({"size": 4, "epsilon": 0.5, "big": 1e21, "\u20ac": [True, None, 1.0]})
    b'{"big":1e+21,"epsilon":0.5,"size":4,"\xe2\x82\xac":[true,null,1]}'
    >>> canonical(1 << 53)
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: 9007199254740992 is beyond the whole numbers that ...
    """
    try:
        return _text(value, 0).encode()
    except UnicodeEncodeError as error:
        raise InvalidParameterError(
            f"there is an unpaired surrogate, half of a character, in {error.object[:50]!r}"
        ) from None


def _text(value: Any, depth: int) -> str:
    if depth > _DEEPEST:
        raise InvalidParameterError(f"a JSON value is nested more than {_DEEPEST} deep")
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)  # escapes exactly what RFC 8785 does
    if isinstance(value, int):
        if abs(value) > LARGEST_INTEGER:
            shown = str(value) if abs(value) < 10**40 else "an integer of more than 40 digits"
            raise InvalidParameterError(
                f"{shown} is beyond the whole numbers that JSON keeps exactly: write it as a decimal string"
            )
        return str(int(value))
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise InvalidParameterError(f"a key of a JSON object is text, got {key!r}")
        keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
        return "{" + ",".join(f"{_text(key, 0)}:{_text(value[key], depth + 1)}" for key in keys) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(_text(each, depth + 1) for each in value) + "]"
    raise InvalidParameterError(f"JSON has no form for {type(value).__name__}")


def _number(number: float) -> str:
    """Return a double as JavaScript prints it: the shortest digits, which Python finds too, set its way."""
    if not math.isfinite(number):
        raise InvalidParameterError(f"JSON has no number {number}: give a finite one")
    if number == 0:
        return "0"  # and so is -0
    sign = "-" if number < 0 else ""
    mantissa, _, power = repr(abs(number)).partition("e")
    before, _, after = mantissa.partition(".")
    written = (before + after).lstrip("0")
    # The number is 0.DIGITS times ten to the power of `point`.
    point = len(before) + int(power or 0) - (len(before + after) - len(written))
    digits = written.rstrip("0")
    if len(digits) <= point <= _PLAIN:
        return sign + digits + "0" * (point - len(digits))
    if 0 < point <= _PLAIN:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{point - 1:+d}"


def read_json(data: bytes | str, what: str = "the document") -> Any:
    """Return the value of a JSON document, or refuse one that is damaged, huge or read in two ways.

    Parameters
    ----------
    data : bytes or str
        The document, in UTF-8 or as text.
    what : str
        What messages call it.

    Examples
    --------
    >>> read_json(b'{"ask": 1, "ask": 6}')
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.FileFormatError: the document has the key 'ask' twice in one object: remove one
    """
    if isinstance(data, str):
        data = data.encode(errors="surrogatepass")  # half a character is refused below
    if not isinstance(data, (bytes, bytearray)):
        kind = type(data).__name__
        raise InvalidInputError(f"{what} must be bytes or text, got {kind}: read the file first")
    if len(data) > MOST_BYTES:
        raise FileFormatError(f"{what} has {len(data):,} bytes, more than the {MOST_BYTES:,} that are read")

    def refuse(reason: str) -> NoReturn:
        raise FileFormatError(f"{what} {reason}")

    def once(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                refuse(f"has the key {key[:50]!r} twice in one object: remove one")
            found[key] = value
        return found

    def whole(digits: str) -> int | float:
        if len(digits) <= 17 and abs(int(digits)) <= LARGEST_INTEGER:
            return int(digits)
        if len(digits) <= _PLAIN + 1 and _number(float(digits)) == digits:
            return float(digits)  # as a large double is written, such as 1e20; nobody rounds it
        refuse(f"has the number {digits[:24]}, which parsers round: write it as a decimal string")

    def double(digits: str) -> float:
        if not math.isfinite(number := float(digits)):
            refuse(f"has the number {digits[:24]}, which no double holds")
        return number

    def constant(name: str) -> NoReturn:
        refuse(f"has {name}, which is no number of JSON")

    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{what} is not UTF-8 text", offset=error.start) from None
    if _depth(text) > _DEEPEST:
        refuse(f"is nested more than {_DEEPEST} deep")
    try:
        value = json.loads(
            text, object_pairs_hook=once, parse_int=whole, parse_float=double, parse_constant=constant
        )
    except json.JSONDecodeError as error:
        raise FileFormatError(f"{what} is not JSON: {error.msg} at line {error.lineno}") from None
    try:
        canonical(value)
    except InvalidParameterError as error:  # half a character, which json lets through
        refuse(f"has text that is not Unicode: {error}")
    return value


def _depth(text: str) -> int:
    """Return how deep brackets are nested: a parser that recurses must not find out by itself."""
    deepest = depth = 0
    outside = True
    for piece in _pieces(text):
        if piece == '"':
            outside = not outside
        elif outside and piece in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif outside:
            depth -= 1
    return deepest


def _pieces(text: str) -> list[str]:
    """Return the quotes and brackets of a text, without quotes that a backslash makes part of a string."""
    return re.findall(r'["{}\[\]]', re.sub(r"\\.", "", text, flags=re.DOTALL))
