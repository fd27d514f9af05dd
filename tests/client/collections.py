"""Collections that tests damage."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from ldpkit.client.signing import SigningKey
from ldpkit.protocols.collection.building import compile_toml
from ldpkit.protocols.collection.files import seal
from questions import age, commute

__all__ = ["KEY", "TOWN", "envelope", "town", "with_question"]

TOWN = f"""
id = "town-2026"
version = 2
purpose = "How people in town live."
people = 20000

[rounds]
every = "weekly"
start = 2026-12-01
count = 4

[spend]
ask = 2

{commute("grr", 0.5)}
{age("hm", 1)}
[[questions]]
id = "bedtime"
text = "When do you go to bed?"
period = 24
mechanism = "circular_ogpm"
epsilon = 0.3

[[questions]]
id = "page"
text = "Which page do you read?"
domain = 20
mechanism = "lolh"
epsilon_inf = 2
epsilon_1 = 1
value = "fixed"

[[questions]]
id = "cross"
text = "How do you travel, and how old are you?"
product = [["walk", "car"], ["young", "old", "very old"]]
mechanism = "oue"
epsilon = 0.7
""".encode()
"""Categories, numbers, angles, a question that is asked again and a cross-tabulation."""

KEY = SigningKey.new()


@cache
def _sealed(signed: bool) -> bytes:
    return seal(compile_toml(TOWN), KEY if signed else None)


def envelope(*, signed: bool = False) -> dict[str, Any]:
    """Return the file as devices get it, to be changed."""
    found: dict[str, Any] = json.loads(_sealed(signed))
    return found


def town() -> dict[str, Any]:
    """Return the collection in it."""
    found: dict[str, Any] = envelope()["collection"]
    return found


def with_question(text: str) -> bytes:
    """Return a TOML file with one question."""
    head = (
        'id = "a"\nversion = 1\npurpose = "p"\nrounds = {every = "once", start = 2026-12-01}\n[[questions]]\n'
    )
    return f'{head}id = "q"\ntext = "t"\n{text}\n'.encode()
