"""Mechanisms to make inputs of: every registered one, small, with ordinary and extreme parameters."""

from __future__ import annotations

import contextlib
import functools
from typing import Any

from ldpkit.core.errors import InvalidParameterError
from ldpkit.mechanisms.base import MECHANISMS, Mechanism, list_mechanisms
from ldpkit.mechanisms.kinds import NUMERIC

__all__ = ["KEYS", "examples", "specs"]

KEYS = (
    "cache",
    "time_limit",
    "descriptor",
    "noise_range",
    "intervals",
    "outputs",
    "weights",
    "grid",
    "epsilon",
)
"""Arguments that a description must not reach, and some that it may."""

_SETTINGS: tuple[tuple[Any, float], ...] = ((2, 0.001), (5, 1.0), (["a", "b", "é"], 10.0), (300, 1.0))


@functools.cache
def examples() -> tuple[Mechanism, ...]:
    """Return mechanisms of every name."""
    made: list[Mechanism] = []
    for name in list_mechanisms():
        kind: Any = MECHANISMS.get(name)
        if kind.kind == NUMERIC:
            made += [kind((0, 10), epsilon=1.0, grid=16), kind((-4e59, 4e59), epsilon=4.0)]
            continue
        for domain, epsilon in _SETTINGS:
            budget = {"epsilon": epsilon}
            if "epsilon_1" in kind.required():
                budget = {"epsilon_inf": min(20.0, 2 * epsilon), "epsilon_1": epsilon}
            with contextlib.suppress(InvalidParameterError):  # two rounds cannot keep every epsilon
                made.append(kind(domain, **budget))
    return tuple(made)


@functools.cache
def specs() -> tuple[dict[str, Any], ...]:
    """Return the descriptions of the examples."""
    return tuple(each.spec() for each in examples())
