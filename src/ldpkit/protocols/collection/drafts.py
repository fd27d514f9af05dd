"""A collection that is not finished: questions whose mechanism is still to be chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ldpkit.core.domains.base import Domain
from ldpkit.core.errors import InvalidParameterError
from ldpkit.protocols.collection.domains import DOMAIN_KEYS, written_domain
from ldpkit.protocols.collection.written import Written

__all__ = ["Draft", "read_drafts"]


@dataclass(frozen=True)
class Draft:
    """A question without a mechanism.

    Parameters
    ----------
    id : str
        Its name.
    domain : Domain
        What can be answered.
    within : float or None
        How far off the answer may be.
    table : mapping
        What is written of it, without mechanism and parameters.
    """

    id: str
    domain: Domain
    within: float | None
    table: Mapping[str, Any]


def read_drafts(written: Written) -> list[Draft]:
    r"""Return the questions of a TOML text, whether or not they have mechanisms.

    Examples
    --------
    >>> from ldpkit.protocols.collection.written import read_toml
    >>> text = b'[[questions]]\nid = "age"\ntext = "How old?"\nlow = 0\nhigh = 120\nwithin = 0.5\n'
    >>> read_drafts(read_toml(text, "a.toml"))[0].domain
    IntervalDomain(0, 120)
    """
    items = written.data.get("questions")
    if not isinstance(items, list) or not items:
        written.refuse(("questions",), "there are no questions: give each a [[questions]]")
    found: dict[str, Draft] = {}
    for number, item in enumerate(items):
        path = ("questions", number)
        if not isinstance(item, dict) or not isinstance(item.get("id"), str):
            written.refuse(path, "a question needs an id")
        if item["id"] in found:
            written.refuse((*path, "id"), f"two questions have the id {item['id'][:50]!r}: give each its own")
        with written.at(*path, next((key for key in DOMAIN_KEYS if key in item), "id")):
            domain, _ = written_domain(item)
        within = item.get("within")
        with written.at(*path, "within"):
            if within is not None and (isinstance(within, bool) or not isinstance(within, (int, float))):
                raise InvalidParameterError(f"within is a number, got {str(within)[:50]!r}")
        kept = {key: item[key] for key in ("id", "text", *DOMAIN_KEYS, "within") if key in item}
        found[item["id"]] = Draft(item["id"], domain, within, kept)
    return list(found.values())
