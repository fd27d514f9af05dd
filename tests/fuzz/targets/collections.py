"""Collection files: what a device reads, and what a person writes."""

from __future__ import annotations

import json
import math
import random
import re
from functools import cache
from pathlib import Path

from client.collections import TOWN
from fuzz.mutate import change_bytes, change_json_text, change_text
from fuzz.target import Target, require
from ldpkit.client.canonical import canonical, read_json
from ldpkit.client.collection import Collection
from ldpkit.client.promises import exceeds, promised
from ldpkit.client.samplers import MemorySampler, read_sampler
from ldpkit.client.signing import SigningKey
from ldpkit.core.errors import LdpkitError
from ldpkit.protocols.collection.building import check_collection, compile_toml
from ldpkit.protocols.collection.files import seal

__all__ = ["COLLECTION_FILES", "COLLECTION_TEXTS", "TEXT"]

TEXT = (
    TOWN.decode()
    .replace("people = 20000\n", "people = 20000\nleast_reports = 50\n")
    .replace("[[questions]]", "[promise]\nlifetime = 9.5\n\n[[questions]]", 1)
    .replace("epsilon = 0.7", "parameters = {epsilon = 0.7}")
)
"""A collection with a question of every kind that devices answer without a map."""
_KEYS = (
    *("id", "version", "purpose", "rounds", "every", "start", "count", "spend", "ask", "promise", "lifetime"),
    *("questions", "text", "domain", "product", "low", "high", "period", "corners", "places", "mechanism"),
    *("epsilon", "epsilon_inf", "epsilon_1", "value", "parameters", "report", "charge", "first", "next"),
    *("sampler", "form", "keep", "width", "size", "signature", "algorithm", "key", "collection", "format"),
)
_WORDS = (
    *(
        "[[questions]]",
        "[questions.parameters]",
        "[a.b.c]",
        '"',
        "'''",
        '"""',
        "=",
        "{",
        "}",
        "[",
        "]",
        "#",
        "\n",
    ),
    *(
        '"fixed"',
        '"infinite"',
        '"all"',
        "2026-12-01",
        "1979-05-27T07:32:00Z",
        "inf",
        "nan",
        "-1",
        "0x10",
        "1e400",
    ),
    *('"olh"', '"ss"', '"dbitflip"', '"planar_window"', '"aaa"', '"jrr"', "9" * 400, "true", "1_000", *_KEYS),
)


@cache
def _key() -> SigningKey:
    return SigningKey.new()


def _files() -> list[bytes]:
    made = compile_toml(TEXT.encode())
    return [seal(made), seal(made, _key())]


def _change_file(rng: random.Random, data: bytes) -> bytes:
    """Change a node of the document, and sign most of those that were signed anew."""
    try:
        value = json.loads(data)
    except ValueError:
        return change_bytes(rng, data)
    text = change_json_text(rng, value, _KEYS)
    if rng.random() < 0.2:
        return text
    try:
        changed = json.loads(text)
        return canonical({"collection": changed["collection"]})
    except Exception:  # whatever it is now, it goes as it is
        return text


def _check_file(data: bytes, folder: Path) -> None:
    """What is accepted keeps its promise, whatever else it says: that is computed here in another way."""
    found = Collection.read(data)
    for question in found.questions:
        sampler = read_sampler(question.sampler)
        ratio = sampler.ratio()
        if isinstance(sampler, MemorySampler) and question.value == "fixed":
            ratio = sampler.ratios()[1]
        cost = ratio.times * (math.log(ratio.num) - math.log(ratio.den))
        charged = math.inf if question.first is None else question.first / 1e6
        require(charged >= cost - 1e-9, f"{question.id} is charged {charged} and gives away {cost}")
    costs = promised((each.charges for each in found.questions), found.ask, found.rounds.count)
    for name, cost_of in vars(costs).items():
        require(not exceeds(cost_of, found.promise[name]), f"the promise of a {name} is too small")
    again = Collection.from_form(read_json(canonical(found.form)))
    require(again.digest == found.digest, "the digest changes on the way")


def _change_text(rng: random.Random, data: bytes) -> bytes:
    text = data.decode("utf-8", "surrogateescape")
    lines = text.split("\n")
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        kind, at = rng.randrange(6), rng.randrange(len(lines))
        if kind == 0:
            del lines[at : at + 1]
        elif kind == 1:
            lines.insert(at, rng.choice(lines) if lines else "")
        elif kind == 2 and "=" in lines[at]:
            lines[at] = f"{lines[at].partition('=')[0]}= {rng.choice(_WORDS)}"
        else:
            lines[at] = change_text(rng, lines[at], _WORDS)
        lines = lines or [""]
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def _check_text(data: bytes, folder: Path) -> None:
    """What is accepted passes every other check; what is refused names a line that there is."""
    try:
        found = compile_toml(data, "a.toml")
    except LdpkitError as refusal:
        named = re.match(r"a\.toml, line (\d+): ", str(refusal))
        last = data.replace(b"\r\n", b"\n").count(b"\n") + 1
        require(named is None or 1 <= int(named.group(1)) <= last, f"there is no such line: {refusal}")
        raise
    again = Collection.read(seal(found))
    require(again.digest == found.digest, "the digest changes on the way")
    check_collection(again)


COLLECTION_FILES = Target("collection files", _files, _change_file, _check_file)
COLLECTION_TEXTS = Target("collection texts", lambda: [TEXT.encode()], _change_text, _check_text)
