"""What devices answer and what it costs: a list of steps as JSON, on a store or a secret, and a ledger.

A step is a question with a person and a value. Every answer must be refused, or be charged
and come from the same permanent report as before; the ledger must add up to no less than
the dearest of its parts.
"""

from __future__ import annotations

import functools
import json
import math
import random
from pathlib import Path
from typing import Any

from fuzz.mutate import change_json_text
from fuzz.target import Target, refused_if, require
from ldpkit.client.store import DeviceStore
from ldpkit.core.errors import LdpkitError
from ldpkit.core.random import seeded
from ldpkit.mechanisms.base import MECHANISMS, from_spec
from ldpkit.mechanisms.kinds import is_memoized
from ldpkit.mechanisms.lookup import list_mechanisms
from ldpkit.protocols.device import Device
from ldpkit.protocols.history import sequence_epsilon
from ldpkit.protocols.ledger import Ledger, Promise, Questions, Record, Report, Rounds, Shares
from ldpkit.testing import example

__all__ = ["HISTORIES"]

_MOST = 12  # steps: each is a transaction
_KEYS = ("mechanism", "secret", "fixed", "collection", "steps", "ledger", "cap", "rounds", "sample")
_RECORDS = (
    {"promise": 0.5},
    {"rounds": [{"promise": 1.0}, 3]},
    {"questions": [[{"promise": 0.5}, {"promise": 1.0}], 1]},
    {"shares": [{"promise": 0.5}, {"device": 0}]},
    {"device": 0},
    {"report": {"mechanism": "grr", "domain": 4, "parameters": {"epsilon": 1.0}}},
)


@functools.cache
def _mechanisms() -> tuple[dict[str, Any], ...]:
    names = [name for name in list_mechanisms() if is_memoized(MECHANISMS.get(name))]
    return tuple(example(name, 5, 1.0).spec() for name in names)


def _seeds() -> list[bytes]:
    steps = [["page", None, 1], ["page", None, 1], ["page", "ann", 2], ["visits", 7, 0]]
    asked = [
        {"mechanism": spec, "secret": secret, "fixed": index % 2 == 0, "steps": steps, "ledger": _RECORDS}
        for index, spec in enumerate(_mechanisms())
        for secret in ("", "0123456789abcdef0123")
    ]
    return [json.dumps(each).encode() for each in asked]


def _mutate(rng: random.Random, data: bytes) -> bytes:
    asked = json.loads(data)
    if rng.random() < 0.1:
        asked["mechanism"] = rng.choice(_mechanisms())
    return change_json_text(rng, asked, _KEYS)


def _record(form: Any, devices: list[Device]) -> Record:
    """Return a record of the ledger, from JSON that may be anything."""
    refused_if(not isinstance(form, dict) or len(form) != 1, "not a record")
    [(name, told)] = form.items()
    if name == "promise":
        return Promise(told)
    if name == "report":
        return Report(from_spec(told))
    if name == "device":
        refused_if(type(told) is not int or not 0 <= told < len(devices), "no such device")
        found: Record = devices[told].record()
        return found
    refused_if(not isinstance(told, list) or not told, "not a record")
    if name == "shares":
        return Shares(tuple(_record(each, devices) for each in told[:9]))
    refused_if(len(told) != 2, "not a record")
    if name == "rounds":
        return Rounds(_record(told[0], devices), told[1])
    refused_if(name != "questions" or not isinstance(told[0], list), "not a record")
    return Questions(tuple(_record(each, devices) for each in told[0][:9]), told[1])


def _check(data: bytes, folder: Path) -> None:
    try:
        asked = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise LdpkitError(str(error)) from None
    refused_if(not isinstance(asked, dict) or not isinstance(asked.get("steps"), list), "no steps")
    mechanism: Any = from_spec(asked.get("mechanism"))
    refused_if(len(getattr(mechanism.domain, "labels", ())) > 300, "a large domain, as asked for")
    secret, devices, told = asked.get("secret"), dict[Any, Device](), dict[Any, bytes]()
    store = DeviceStore(folder / "device.db")
    for step in asked["steps"][:_MOST]:
        refused_if(not isinstance(step, list) or len(step) != 3, "not a step")
        question, person, value = step
        memo: Any = secret.encode("utf-8", "surrogatepass") if isinstance(secret, str) and secret else store
        options: dict[str, Any] = {"store": store} if memo is not store else {}
        device = Device(
            mechanism, memo, question=question, person=person, fixed=bool(asked.get("fixed")), **options
        )
        device = devices.setdefault(json.dumps([question, person]), device)
        before = device.privacy_loss().reports
        device.report(value, rng=seeded(1))
        permanent = device.permanent(value).tobytes()
        key = json.dumps([question, person, None if asked.get("fixed") else value])
        require(told.setdefault(key, permanent) == permanent, "a permanent report was drawn again")
        loss = device.privacy_loss()
        require(loss.reports == before + 1, "a report was not charged")
        require(loss.epsilon >= 0 and not math.isnan(loss.epsilon), f"epsilon is {loss.epsilon}")
        str(loss)
    values = [step[2] for step in asked["steps"][:_MOST]]
    if values:
        require(sequence_epsilon(mechanism, values, fixed=bool(asked.get("fixed"))).epsilon >= 0, "epsilon")
    forms = asked.get("ledger", [])
    refused_if(not isinstance(forms, (list, tuple)), "no ledger")
    ledger, most = Ledger(), 0.0
    for form in forms[:9]:
        record = _record(form, list(devices.values()))
        ledger = ledger.add(record)
        alone = Ledger((record,)).cost()
        if alone is None:
            require(not ledger.supports(), "a cost is known of which a part is not")
            return
        most = max(most, alone.epsilon)
    cost = ledger.cost()
    require(cost is not None and cost.epsilon >= most, "a sum is less than its parts")
    str(cost)


HISTORIES = Target("histories", _seeds, _mutate, _check)
