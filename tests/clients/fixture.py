"""What the TypeScript tests start from: a signed collection, and what Python makes of the same secret.

`PYTHONPATH=tests python -m clients.fixture` writes it anew to clients/typescript/test/fixture.json; a test
says when that is out of date.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ldpkit
from ldpkit.client.canonical import canonical
from ldpkit.client.epsilon import covers
from ldpkit.client.labels import drawn_questions, upload_id
from ldpkit.client.places import place_of
from ldpkit.protocols.collection.building import compile_toml
from ldpkit.protocols.permanent import PermanentReports
from questions import commute

__all__ = ["PATH", "TOWN", "make"]

PATH = Path(__file__).parents[2] / "clients" / "typescript" / "test" / "fixture.json"
SECRET = bytes(range(32))

# Rounds begin long ago and end in centuries, so that one is open whenever a test runs.
TOWN = f"""
id = "town"
version = 3
purpose = "How people in town live."
rounds = {{every = "daily", start = 2020-01-01, count = 100000}}
{commute("grr", 0.5)}[[questions]]
id = "colour"
text = "Which colour do you like best?"
domain = 11
mechanism = "oue"
epsilon = 1
[[questions]]
id = "page"
text = "Which page did you open?"
domain = 1000
mechanism = "olh"
epsilon = 1
[[questions]]
id = "tags"
text = "What do you read?"
domain = 16
mechanism = "ss"
epsilon = 1
[[questions]]
id = "hours"
text = "How long did you sleep?"
low = 0
high = 24
mechanism = "pm"
epsilon = 1
[[questions]]
id = "wind"
text = "Where does the wind come from?"
period = 360
mechanism = "circular_ogpm"
epsilon = 1
[[questions]]
id = "mood"
text = "How are you?"
domain = ["well", "so so", "ill"]
mechanism = "lgrr"
epsilon_inf = 2
epsilon_1 = 1
[[questions]]
id = "shop"
text = "Where do you shop?"
domain = 100
mechanism = "lolh"
value = "fixed"
epsilon_inf = 2
epsilon_1 = 1
[[questions]]
id = "pet"
text = "Which pet do you have?"
domain = 20
mechanism = "losue"
value = "fixed"
epsilon_inf = 2
epsilon_1 = 1
[[questions]]
id = "phone"
text = "Which phone do you use, and how old are you?"
product = [["old", "new"], 4]
mechanism = "dbitflip"
value = "fixed"
epsilon = 1
parameters = {{d = 3}}
[[questions]]
id = "home"
text = "Where do you live?"
corners = [[0, 0], [10, 5]]
mechanism = "grid_response"
epsilon = 2
""".encode()

_VALUES = {
    "hours": [0, 24, 7.5, 12, 1 / 3, 24 * (0.5 / 2**20), 24 * (1.5 / 2**20)],
    "wind": [0, 360, 359.9999999, 90, 0.1],
    "home": [[0, 0], [10, 5], [3.3, 4.9]],
    "phone": [["old", 0], ["new", 3]],
    "commute": ["walk", "car"],
}
_NUMBERS = [
    0,
    -0.0,
    1,
    0.5,
    1e21,
    1e-7,
    1.2345678901234568e20,
    5e-324,
    1.7976931348623157e308,
    0.1 + 0.2,
    -1e-6,
]


def make() -> dict[str, Any]:
    """Return the fixture."""
    town = compile_toml(TOWN)
    permanent = []
    for question in town.questions:
        if question.id not in ("mood", "shop", "pet", "phone"):
            continue
        domain = 8 if question.id == "phone" else question.domain
        mechanism = ldpkit.get(question.mechanism, domain, **question.parameters)
        kept = PermanentReports(mechanism, question.id, "town", SECRET)
        with kept.records.transaction() as records:
            reports = [mechanism.encode(kept.recall(records, value)[1]).hex() for value in range(3)]
        permanent.append({"question": question.id, "reports": reports})
    ids = [question.id for question in town.questions]
    return {
        "collection": town.form,
        "digest": town.digest,
        "fingerprints": {each.id: f"{each.fingerprint:016x}" for each in town.questions},
        "secret": SECRET.hex(),
        "permanent": permanent,
        "uploads": [
            [each, n, f"{upload_id(SECRET, 'town', each, n):016x}"] for each in ids[:2] for n in (0, 7)
        ],
        "drawn": [[ask, drawn_questions(SECRET, "town", ids, ask)] for ask in (1, 3, len(ids))],
        "places": [
            [
                name,
                value,
                place_of(
                    town.question(name).kind, town.question(name).domain, town.question(name).sampler, value
                ),
            ]
            for name, values in _VALUES.items()
            for value in values
        ],
        "canonical": [[json.dumps(each), canonical(each).decode()] for each in _documents()],
        "covers": _covers(),
    }


def _documents() -> list[Any]:
    return [
        *_NUMBERS,
        {
            "\u20ac": "Euro",
            "\r": "\n",
            "\ufb33": 1,
            "1": "\u0080",
            "\U0001f600": "Smiley",
            "\u00f6": '\x0f\\"/',
        },
        [[], {}, None, True, {"b": [1.0, 2.5], "a": "x"}],
    ]


def _covers() -> list[list[Any]]:
    """Return charges and ratios on both sides of equality."""
    cases: list[list[Any]] = []
    for micro in (0, 1, 500_000, 1_000_000, 2_718_281, 40_000_000):
        for times in (1, 3, 1000):
            low, high = 1 << 128, 1 << 400
            while high - low > 1:  # the largest numerator over 2**128 that is covered
                middle = (low + high) // 2
                if covers(micro, middle, 1 << 128, times):
                    low = middle
                else:
                    high = middle
            cases += [
                [micro, str(n), str(1 << 128), times, n <= low] for n in (1 << 128, low, low + 1, 2 * low)
            ]
    return cases


if __name__ == "__main__":
    PATH.write_text(json.dumps(make(), ensure_ascii=True, indent=1) + "\n")
