"""Descriptions of mechanisms, as headers and messages carry them, and the tables in them."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

from fuzz.mutate import change_bytes, change_json, change_json_text
from fuzz.target import Broken, Target, refused_if, require
from fuzz.targets.examples import KEYS, specs
from ldpkit.core.errors import LdpkitError
from ldpkit.mechanisms.adaptive.mechanism import AAA
from ldpkit.mechanisms.adaptive.solve import _read
from ldpkit.mechanisms.base import from_spec
from ldpkit.mechanisms.optimal.mechanism import Optimal

__all__ = ["CACHES", "SPECS", "TABLES"]

_TABLED = (AAA.name, Optimal.name)


def _seeds() -> list[bytes]:
    return [json.dumps(each).encode() for each in specs() if "weights" not in each["parameters"]]


def _loaded(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise LdpkitError(str(error)) from None


def _mutate(rng: random.Random, data: bytes) -> bytes:
    try:
        return change_json_text(rng, json.loads(data), KEYS)
    except (ValueError, RecursionError):
        return change_bytes(rng, data)


def _check(data: bytes, folder: Path) -> None:
    given = _loaded(data)
    mechanism = from_spec(given)
    spec = json.loads(json.dumps(mechanism.spec()))
    again = from_spec(spec)
    require(again == mechanism and hash(again) == hash(mechanism), "another mechanism comes back")
    require(again.spec() == mechanism.spec(), "a description changes on its way")
    for name, epsilon in mechanism.epsilons().items():
        require(epsilon >= 0 and math.isfinite(epsilon), f"{name} is {epsilon}")
    require(mechanism.report_bytes > 0 and mechanism.tally_size > 0, "reports or tallies are empty")
    repr(mechanism)
    if given["parameters"].get("cache") is not None or given["parameters"].get("time_limit") is not None:
        raise Broken("a description reaches an argument that is not told by spec")


def _table_seeds() -> list[bytes]:
    tables = (
        AAA((0, 1), epsilon=epsilon, intervals=size) for epsilon, size in ((1.0, 2), (4.0, 1), (1.0, 5))
    )
    best = Optimal((0, 1), epsilon=1.0, intervals=2)
    return [json.dumps(each.spec()).encode() for each in (*tables, best)]


def _mutate_table(rng: random.Random, data: bytes) -> bytes:
    try:
        spec = json.loads(data)
        parameters = spec["parameters"]
        outputs, weights = list(parameters["outputs"]), [*str(parameters["weights"])]
    except (ValueError, KeyError, TypeError, RecursionError):
        return change_bytes(rng, data)
    kind, count = rng.randrange(8), max(1, len(outputs))
    rows = [weights[at : at + 16 * count] for at in range(0, len(weights), 16 * count)]
    if kind == 0 and weights:
        weights[rng.randrange(len(weights))] = rng.choice("0123456789abcdefABx٣ ")
    elif kind == 1:
        outputs = change_json(rng, outputs)
    elif kind == 2:  # one more output, which nobody gets
        outputs = [*outputs, rng.choice((1 << 31, -(1 << 31), 7))]
        weights = [digit for row in rows for digit in (*row, *("0" * 16))]
    elif kind == 3 and set(weights) <= set("0123456789abcdef") and rows:  # weight moves: the sum stays
        row = rng.randrange(len(rows))
        numbers = [int("".join(rows[row][at : at + 16]) or "0", 16) for at in range(0, len(rows[row]), 16)]
        one, other, step = (
            rng.randrange(len(numbers)),
            rng.randrange(len(numbers)),
            rng.choice((1, 1 << 32, 1 << 60)),
        )
        numbers[one], numbers[other] = (numbers[one] - step) % (1 << 64), (numbers[other] + step) % (1 << 64)
        rows[row] = [*"".join(f"{number:016x}" for number in numbers)]
        weights = [digit for each in rows for digit in each]
    elif kind == 4 and rows:
        rng.shuffle(rows)
        weights = [digit for row in rows[: rng.randrange(len(rows) + 1)] for digit in row]
    elif kind == 5:
        weights = weights * rng.choice((2, 20))
    else:
        return change_json_text(rng, spec, KEYS)
    table = {"outputs": outputs, "weights": "".join(weights)}
    return json.dumps({**spec, "parameters": {**parameters, **table}}).encode()


def _check_table(data: bytes, folder: Path) -> None:
    given = _loaded(data)
    refused_if(not isinstance(given, dict) or given.get("mechanism") not in _TABLED, "not of a table")
    _check(data, folder)
    mechanism: Any = from_spec(given)
    require(mechanism.exact_epsilon() <= mechanism.epsilon, "a table keeps less than it promises")
    reports = mechanism.privatize([mechanism.domain.low, mechanism.domain.high])
    require(mechanism.tally(reports).n == 2, "reports of a table are not counted")


def _cache_seeds() -> list[bytes]:
    table = json.loads(_table_seeds()[0])["parameters"]
    return [json.dumps({name: table[name] for name in ("outputs", "weights")}).encode()]


def _check_cache(data: bytes, folder: Path) -> None:
    file = folder / "aaa.json"
    file.write_bytes(data)
    table = _read(file, 1.0)
    assert table is not None
    table.check(1.0)


SPECS = Target("specs", _seeds, _mutate, _check)
TABLES = Target("aaa tables", _table_seeds, _mutate_table, _check_table)
CACHES = Target("aaa caches", _cache_seeds, _mutate, _check_cache)
