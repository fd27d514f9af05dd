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
from collections.abc import Iterable
from typing import Any

from ldpkit.core.errors import InvalidParameterError

__all__ = [
    "CHECK",
    "COINS",
    "PERMANENT",
    "PERSON",
    "check_name",
    "check_secret",
    "derive",
    "domain_field",
    "drawn_questions",
    "pack",
    "question_label",
    "upload_id",
]

PERMANENT = b"ldpkit-permanent-v1"
COINS = b"ldpkit-coins-v1"
PERSON = b"ldpkit-person-v1"
CHECK = b"ldpkit-check-v1"
UPLOAD = b"ldpkit-id-v1"
CHOICE = b"ldpkit-choice-v1"

_LEAST_SECRET = 16
_REMEDY = "make one with secrets.token_bytes(32) and keep it on the device"
_LONGEST_NAME = 1024


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


def question_label(
    collection: str, question: str, mechanism: str, domain: int | list[Any], integers: Iterable[int]
) -> bytes:
    """Return what decides the permanent reports about a question, packed.

    Parameters
    ----------
    collection, question : str
        Their ids.
    mechanism : str
        Its name.
    domain : int or list
        The JSON form of the categories.
    integers : iterable of int
        The integers of the sampler's two rounds.
    """
    return pack(
        collection.encode(),
        question.encode(),
        mechanism.encode(),
        domain_field(domain),
        pack(*(b"%d" % integer for integer in integers)),
    )


def domain_field(domain: int | list[Any]) -> bytes:
    """Return what stands for categories in a label, from their JSON form.

    Numbers that are equal are the same label, as in Python and in JavaScript.

    Examples
    --------
    >>> domain_field([1, 2]) == domain_field([1.0, 2.0])
    True
    """
    if isinstance(domain, int):
        return hashlib.sha256(pack(b"size", b"%d" % domain)).digest()
    return hashlib.sha256(pack(b"labels", *map(_label_field, domain))).digest()


def _label_field(label: str | float) -> bytes:
    if isinstance(label, str):
        return b"text " + label.encode("utf-8", "surrogatepass")
    if label == int(label):
        return b"integer %d" % int(label)
    return b"float " + struct.pack(">d", label)


def upload_id(secret: bytes, collection: str, question: str, round_number: int) -> int:
    """Return the id under which an answer is counted once: the same in every retry, linked to no other.

    Examples
    --------
    >>> f"{upload_id(bytes(32), 'commute-2026', 'commute', 0):016x}"
    '857418541abe0622'
    """
    packed = pack(UPLOAD, collection.encode(), question.encode(), b"%d" % round_number)
    return int.from_bytes(derive(secret, packed)[:8], "little")


def drawn_questions(secret: bytes, collection: str, questions: Iterable[str], ask: int) -> list[str]:
    """Return the questions that a device answers: the `ask` whose HMACs are smallest, in the order given.

    Which these are depends on the device's secret alone, so it stays the same over rounds,
    versions and restarts, and says nothing about any answer.

    Examples
    --------
    >>> len(drawn_questions(bytes(32), "commute-2026", ["a", "b", "c"], 2))
    2
    """
    known = list(questions)
    ranks = {each: derive(secret, pack(CHOICE, collection.encode(), each.encode())) for each in known}
    drawn = sorted(known, key=lambda each: ranks[each])[:ask]
    return [each for each in known if each in drawn]


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
            f"{what} has a name of {len(name)} characters: use at most {_LONGEST_NAME}"
        )
    try:
        name.encode()
    except UnicodeEncodeError:
        raise InvalidParameterError(f"{what} has a name that is not Unicode text: {name!r}") from None
    return unicodedata.normalize("NFC", name.strip())
