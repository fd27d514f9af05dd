"""Labels: what a device secret is used for, so that no two uses ever share randomness.

Everything a device derives from its secret is keyed by HMAC-SHA256 over a list of fields.
The first field names the use, so that a public hash function, a permanent report and an
upload id have nothing in common; each field carries its length, so that no two lists of
fields look alike. A label is made of what decides the report: the question and the
integers of the sampler. Versions, texts and the way a number is printed are not in it, for
mending a typo must not draw permanent reports anew.

A label is `pack(use, collection, question, mechanism, domain, integers)`, and for a
permanent report the state behind it. Text is UTF-8, an integer is its decimal digits, the
domain is the SHA-256 of its packed form, and the integers are packed in one field.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ldpkit.core.domains.categorical import as_array
from ldpkit.core.errors import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from ldpkit.core.domains.categorical import CategoricalDomain
    from ldpkit.core.typing import Label, Values

__all__ = [
    "CHECK",
    "COINS",
    "PERMANENT",
    "PERSON",
    "check_name",
    "check_secret",
    "derive",
    "domain_field",
    "pack",
    "person_keys",
]

PERMANENT = b"ldpkit-permanent-v1"
COINS = b"ldpkit-coins-v1"
PERSON = b"ldpkit-person-v1"
CHECK = b"ldpkit-check-v1"
# `ldpkit-id-v1` is reserved for the ids of uploads.

_LEAST_SECRET = 16
_REMEDY = "make one with secrets.token_bytes(32) and keep it on the device"
_LONGEST_NAME = 1024
_LARGEST_ID = 10**1000


def pack(*fields: bytes) -> bytes:
    """Return fields one after the other, each behind its length in eight bytes, big-endian.

    Examples
    --------
    >>> pack(b"ab", b"c") == pack(b"a", b"bc")
    False
    """
    return b"".join(len(field).to_bytes(8, "big") + field for field in fields)


def derive(secret: bytes, packed: bytes) -> bytes:
    """Return the 32 bytes that belong to packed fields, of which the first names the use."""
    return hmac.digest(secret, packed, "sha256")


def domain_field(domain: CategoricalDomain) -> bytes:
    """Return what stands for a domain in a label.

    Numbers that are equal are the same label, as in Python and in JavaScript.

    Examples
    --------
    >>> from ldpkit import CategoricalDomain
    >>> domain_field(CategoricalDomain([1, 2])) == domain_field(CategoricalDomain([1.0, 2.0]))
    True
    """
    if not domain.has_labels:
        return hashlib.sha256(pack(b"size", b"%d" % len(domain))).digest()
    return hashlib.sha256(pack(b"labels", *map(_label_field, domain.labels))).digest()


def _label_field(label: Label) -> bytes:
    if isinstance(label, str):
        return b"text " + label.encode("utf-8", "surrogatepass")
    if label == int(label):
        return b"integer %d" % int(label)
    return b"float " + struct.pack(">d", label)


def check_secret(secret: object) -> bytes:
    """Return a device secret, or refuse what is too short to be one."""
    if not isinstance(secret, (bytes, bytearray)):
        raise InvalidParameterError(f"a device secret is bytes, got {type(secret).__name__}: {_REMEDY}")
    if len(secret) < _LEAST_SECRET:
        raise InvalidParameterError(
            f"a device secret needs at least {_LEAST_SECRET} bytes, got {len(secret)}: {_REMEDY}"
        )
    return bytes(secret)


def check_name(name: object, what: str) -> str:
    """Return a name that the user chose, spelled one way, or refuse it."""
    if not isinstance(name, str) or not name.strip():
        raise InvalidParameterError(
            f"{what} needs a name, got {name!r}: permanent reports of two questions must not be the same, "
            'so give each its own, such as "page"'
        )
    if len(name) > _LONGEST_NAME:
        raise InvalidParameterError(
            f"{what} has a name of {len(name)} characters: take at most {_LONGEST_NAME}"
        )
    try:
        name.encode()
    except UnicodeEncodeError:
        raise InvalidParameterError(f"{what} has a name that is not Unicode text: {name!r}") from None
    return unicodedata.normalize("NFC", name.strip())


def person_keys(people: Values) -> list[bytes]:
    """Return a key for each person's id, which is text or a whole number.

    `7`, `"7"` and `"007"` are the same person: whether a column of ids is read as numbers
    or as text depends on the other ids in it, and must not make anybody a new person.

    Examples
    --------
    >>> person_keys([7, 12]) == person_keys(["007", "12"])
    True
    >>> person_keys(["ann", "bob", "ann"])
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidInputError: the id 'ann' at position 2 is also at position 0: people who \
share an id would share their noise, so give each their own
    """
    ids: Sequence[object] = people if isinstance(people, (list, tuple)) else as_array(people).tolist()
    keys: dict[bytes, int] = {}
    for position, person in enumerate(ids):
        key = _person_key(person, position)
        if key in keys:
            raise InvalidInputError(
                f"the id {person!r} at position {position} is also at position {keys[key]}: "
                "people who share an id would share their noise, so give each their own"
            )
        keys[key] = position
    return list(keys)


def _person_key(person: object, position: int) -> bytes:
    if isinstance(person, (int, np.integer)) and not isinstance(person, bool):
        if abs(int(person)) >= _LARGEST_ID:
            raise InvalidInputError(f"the id at position {position} has more than 1,000 digits: shorten it")
        return b"%d" % int(person)
    if not isinstance(person, str) or not person.strip():
        raise InvalidInputError(
            f"the id {person!r} at position {position} is neither text nor a whole number: "
            "give each person an id that stays the same for ever"
        )
    text = unicodedata.normalize("NFC", person.strip())
    if text.isascii() and text.lstrip("+-").isdigit() and len(text) - len(text.lstrip("+-")) <= 1:
        digits = text.lstrip("+-0") or "0"
        return f"-{digits}".encode() if text.startswith("-") and digits != "0" else digits.encode()
    return text.encode("utf-8", "surrogatepass")
