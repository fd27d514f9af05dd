"""Mechanisms to make inputs of: every registered one, small, with ordinary and extreme parameters."""

from __future__ import annotations

import contextlib
import functools
from typing import Any

import numpy as np

from ldpkit.core.domains.plane import PlaneDomain
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.random import seeded
from ldpkit.mechanisms.base import MECHANISMS, Mechanism
from ldpkit.mechanisms.kinds import CIRCULAR, NUMERIC, SPATIAL, is_spatial
from ldpkit.mechanisms.lookup import list_mechanisms
from ldpkit.testing import example

__all__ = ["KEYS", "examples", "planes", "specs", "two_values"]

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

_CATEGORIES: tuple[tuple[Any, float], ...] = ((2, 0.001), (5, 1.0), (["a", "b", "é"], 10.0), (300, 1.0))
_SETTINGS: dict[str, tuple[tuple[Any, float], ...]] = {
    NUMERIC: (((0, 10), 1.0), ((-4e59, 4e59), 4.0)),
    CIRCULAR: ((360, 1.0), (1e-9, 4.0)),
    SPATIAL: (
        (PlaneDomain.rectangle((0, 0), (1, 2), places=[(0, 0), (1, 1), (0.5, 2)]), 1.0),
        (PlaneDomain.disc((1, 2), 3), 4.0),
        (PlaneDomain.polygon([(0, 0), (2, 0), (2, 2), (1, 3), (0, 2)]), 4.0),
        (PlaneDomain.parallelogram((0, 0), (2, 1), (0, 1)), 0.5),
        (PlaneDomain.degrees(-87.9, 41.6, -87.5, 42.0), 4.0),
        (PlaneDomain.globe(), 4.0),
    ),
}


@functools.cache
def examples() -> tuple[Mechanism, ...]:
    """Return mechanisms of every name."""
    made: list[Mechanism] = []
    for name in list_mechanisms():
        kind = MECHANISMS.get(name)
        for domain, epsilon in _SETTINGS.get(kind.kind, _CATEGORIES):
            with contextlib.suppress(InvalidParameterError):  # two rounds cannot keep every epsilon
                made.append(example(name, domain, epsilon))
    return tuple(made)


def planes() -> tuple[PlaneDomain, ...]:
    """Return regions of all shapes."""
    return tuple(plane for plane, _ in _SETTINGS[SPATIAL])


@functools.cache
def specs() -> tuple[dict[str, Any], ...]:
    """Return the descriptions of the examples."""
    return tuple(each.spec() for each in examples())


def two_values(mechanism: Any) -> Any:
    """Return two values of the domain: its ends, its first, or a centre and a corner."""
    domain = mechanism.domain
    if is_spatial(mechanism):
        return domain.examples(4, seeded(1))[:2]
    return [domain.low, domain.high] if hasattr(domain, "low") else np.arange(2)
