"""`ldpkit.testing` on what no author would write: names, domains and budgets, and which checks apply."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from fuzz.mutate import NUMBERS, change_json_text
from fuzz.target import Target, refused_if, require
from ldpkit.core.errors import ContractError, LdpkitError
from ldpkit.mechanisms.base import MECHANISMS
from ldpkit.mechanisms.lookup import list_mechanisms
from ldpkit.testing import check_mechanism, checks_for, example

__all__ = ["CONTRACTS"]

_CHECKS = ("description", "declaration", "frozen")  # those that draw nothing


def _seeds() -> list[bytes]:
    made = [{"name": name, "domain": None, "epsilon": 1.0} for name in list_mechanisms() if name != "aaa"]
    return [json.dumps({**each, "only": list(_CHECKS)}).encode() for each in made]


def _mutate(rng: random.Random, data: bytes) -> bytes:
    asked = json.loads(data)
    kind = rng.randrange(5)
    if kind == 0:
        asked["name"] = rng.choice(list_mechanisms())
    elif kind == 1:
        asked["epsilon"] = rng.choice(NUMBERS)
    elif kind == 2:
        asked["domain"] = rng.choice((*NUMBERS, [0, 1], ["a", "b"], [-1.5, 1e300], [1, 0], ["a", "a"]))
    else:
        return change_json_text(rng, asked, ("name", "domain", "epsilon", "only"))
    return json.dumps(asked).encode()


def _check(data: bytes, folder: Path) -> None:
    try:
        asked = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise LdpkitError(str(error)) from None
    refused_if(not isinstance(asked, dict) or not isinstance(asked.get("name"), str), "no name")
    name, only = asked["name"], asked.get("only")
    refused_if(name.lower() == "aaa", "which solves, and has targets of its own")
    refused_if(
        not isinstance(only, list) or not only or not all(isinstance(each, str) for each in only), "no checks"
    )
    refused_if(
        MECHANISMS.get(name).kind in ("group", "trajectory"), "which has no report for each value alone"
    )
    names = [each.name for each in checks_for(name)]
    require(len(set(names)) == len(names) >= len(_CHECKS), "two checks have one name")
    mechanism: Any = example(name, asked.get("domain"), asked.get("epsilon"))
    require(mechanism.epsilons(), "no epsilon is stated")
    refused_if(not set(only) <= set(_CHECKS) and set(only) <= set(names), "checks that take their time")
    try:
        report = check_mechanism(mechanism, only=tuple(only))
    except ContractError as error:
        require(False, f"a mechanism of ldpkit breaks the contract: {error}")
    require(
        {*report.passed, *(each for each, _ in report.skipped)} == set(only or names), "checks are missing"
    )
    repr(report)


CONTRACTS = Target("contracts", _seeds, _mutate, _check)
