"""Ids of people: which of them are the same person, whatever column they were read from."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ldpkit.core.errors import InvalidInputError
from ldpkit.core.parameters import as_array

if TYPE_CHECKING:
    from ldpkit.core.typing import Values

__all__ = ["person_keys"]

_LARGEST_ID = 10**1000


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
