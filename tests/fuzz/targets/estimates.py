"""Estimates of valid but extreme tallies: finite numbers or a refusal, never a traceback."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.mutate import change_json
from fuzz.target import Target, refused_if, require
from fuzz.targets.examples import examples, specs
from ldpkit.core.errors import InvalidInputError
from ldpkit.core.results import ENVELOPE
from ldpkit.estimation.consistency import CONSISTENCY
from ldpkit.estimation.from_reports import ESTIMATORS
from ldpkit.mechanisms.base import from_spec
from ldpkit.mechanisms.tally import Tally

__all__ = ["ESTIMATES", "check_estimate"]

_PEOPLE = (0, 1, 2, 3, 10, 1000, 1 << 31, 1 << 53, (1 << 53) + 1, 1 << 62, (1 << 63) - 1)
_SHAPES = ("first", "last", "even", "all", "none", "random", "exact")


def check_estimate(tally: Tally, estimator: str | None, consistency: str | None) -> None:
    """Estimate, and fail unless all numbers are finite; an empty tally must be refused."""
    try:
        estimate = tally.estimate(estimator, consistency=consistency)
    except InvalidInputError:
        return  # too few, or too extreme
    require(tally.n > 0, "a tally without reports is estimated")
    for name in ("values", "stderr", "unbiased", "value", "mean", "counts"):
        numbers = getattr(estimate, name, None)
        if numbers is not None and not callable(numbers):
            require(np.isfinite(np.asarray(numbers, float)).all(), f"{name} of an estimate is not finite")
    if hasattr(estimate, "interval"):
        low, high = estimate.interval(0.95)
        require(np.all(np.asarray(low) <= np.asarray(high)), "an interval has its ends the wrong way round")
    repr(estimate)
    told = json.loads(estimate.to_json(top=3))
    require(list(told) == list(ENVELOPE) and told["rows"], "a result is not told in its envelope")
    estimate._repr_html_()


def _seeds() -> list[bytes]:
    asked = {"n": 100, "shape": "even", "estimator": None, "consistency": None}
    return [_as_long({"spec": index, **asked}) for index in range(len(specs()))]


def _as_long(asked: dict[str, Any]) -> bytes:
    """Return the JSON of a question, as long as the tally that it is about: limits go by that."""
    spec = asked.get("spec")
    if not isinstance(spec, int) or not 0 <= spec < len(specs()):
        return json.dumps(asked).encode()
    return json.dumps(asked).encode().ljust(8 * examples()[spec].tally_size)


def _mutate(rng: random.Random, data: bytes) -> bytes:
    try:
        asked = json.loads(data)
        assert isinstance(asked, dict)
    except (ValueError, AssertionError, RecursionError):
        return _seeds()[0]
    kind = rng.randrange(6)
    if kind == 0:
        asked["spec"] = rng.randrange(len(specs()))
    elif kind == 1:
        asked["n"] = rng.choice(_PEOPLE)
    elif kind == 2:
        asked["shape"] = rng.choice(_SHAPES)
    elif kind == 3:
        asked["estimator"] = rng.choice((None, *ESTIMATORS, "nonsense"))
    elif kind == 4:
        asked["consistency"] = rng.choice((None, *CONSISTENCY, "nonsense"))
    else:
        asked["counts"] = change_json(rng, asked.get("counts", [1, 2, 3, 4, 5]))
        asked["shape"] = rng.choice(("exact", "last"))
    return _as_long({**asked, "seed": rng.getrandbits(20)})


def _counts(asked: dict[str, Any], size: int, n: int) -> Any:
    shape, counts = asked.get("shape"), np.zeros(size, np.int64)
    if shape == "first":
        counts[0] = n
    elif shape == "last":
        counts[-2:][0] = n
    elif shape == "even":
        counts += n // size
        counts[0] += n % size
    elif shape == "all":
        counts += n
    elif shape == "random":
        counts[:] = np.random.default_rng(asked.get("seed", 0)).integers(0, n, size, endpoint=True)
    elif shape == "exact":
        return np.asarray(asked.get("counts", []), np.int64)
    return counts


def _check(data: bytes, folder: Path) -> None:
    try:
        asked = json.loads(data)
        spec, n = specs()[asked["spec"]], int(asked["n"])
        counts = _counts(asked, examples()[asked["spec"]].tally_size, n)
    except (ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError):
        refused_if(True, "not a question of this target")
        return
    tally = Tally(from_spec(spec), n, counts)
    check_estimate(tally, asked.get("estimator"), asked.get("consistency"))


ESTIMATES = Target("estimates", _seeds, _mutate, _check)
