"""What the contract suite runs over: every registered mechanism, with values to feed it."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import ldpkit
from ldpkit.core.domains.interval import IntervalDomain
from ldpkit.core.errors import InvalidParameterError
from ldpkit.mechanisms.base import MECHANISMS, list_mechanisms

__all__ = [
    "MECHANISM_NAMES",
    "ORACLE_NAMES",
    "PURE_NAMES",
    "UNLISTED",
    "Subject",
    "epsilon_parameter",
    "every_oracle",
    "every_pure_oracle",
    "is_of_the_house",
    "oracle",
    "subject",
]

LARGEST_EPSILON, SMALLEST_EPSILON = 20.0, 0.001


@dataclass(frozen=True)
class Subject:
    """A mechanism, values it accepts, values it must refuse, and relatives that are not equal to it."""

    mechanism: Any
    values: np.ndarray[Any, Any]
    refused: tuple[Any, ...]
    relatives: tuple[Any, ...]


# A group has one report for several values, so the suite of one report for one value is not about it.
MECHANISM_NAMES = [name for name in list_mechanisms() if MECHANISMS.get(name).kind != "group"]
ORACLE_NAMES = list_mechanisms("frequency")
PURE_NAMES = [name for name in ORACLE_NAMES if MECHANISMS.get(name).can("pure")]
every_oracle = pytest.mark.parametrize("name", ORACLE_NAMES)
every_pure_oracle = pytest.mark.parametrize("name", PURE_NAMES)

# Whose reports cannot be listed even for two values, with the reason. Keep this short: for
# all others epsilon is proved by looking at every report.
UNLISTED = {"she": "a report is a vector of thousands of levels; its tests enumerate one coordinate"}


def is_of_the_house(name: str) -> bool:
    """Whether a mechanism is ldpkit's own, not a plugin's."""
    return MECHANISMS.get(name).__module__.startswith("ldpkit.")


def epsilon_parameter(name: str) -> str:
    """Return what a mechanism calls the epsilon of one report: mechanisms in two rounds have two."""
    return "epsilon_1" if "epsilon_1" in MECHANISMS.get(name).required() else "epsilon"


def oracle(name: str, domain: Any = 5, epsilon: float = 1.0) -> Any:
    """Return the frequency oracle of that name whose reports have that epsilon.

    Where two rounds of randomisation cannot keep so large an epsilon, or the mechanism
    declares that so many values are too many, the test is skipped.
    """
    kind: Any = MECHANISMS.get(name)
    size = domain if isinstance(domain, int) else len(domain)
    if kind.largest_domain is not None and size > kind.largest_domain:
        with pytest.raises(InvalidParameterError, match="at most"):
            ldpkit.get(name, domain, epsilon=epsilon)
        pytest.skip(f"{name} declares that it has at most {kind.largest_domain} values")
    if kind.can("joint"):
        if epsilon <= SMALLEST_EPSILON:
            pytest.skip("a report on its own has less than what is told to a partner")
        return ldpkit.get(name, domain, epsilon_alone=max(epsilon / 2, SMALLEST_EPSILON), epsilon=epsilon)
    if epsilon_parameter(name) == "epsilon":
        return ldpkit.get(name, domain, epsilon=epsilon)
    for_ever = min(2 * epsilon, LARGEST_EPSILON)
    try:
        return ldpkit.get(name, domain, epsilon_inf=for_ever, epsilon_1=epsilon)
    except InvalidParameterError as error:
        if "feasible" in str(error):
            pytest.skip(str(error))
        raise


@functools.cache
def subject(name: str) -> Subject:
    """Return an example of a mechanism; a new kind of mechanism gets its branch here."""
    if name in ORACLE_NAMES:
        return _oracle_subject(name)
    if isinstance(ldpkit.get(name, (-1.0, 1.0), epsilon=1.0).domain, IntervalDomain):
        return _numeric_subject(name)
    raise NotImplementedError(f"{name} is of a kind that the contract suite has no example of: add one here")


def _oracle_subject(name: str) -> Subject:
    refused = (
        [0, 13],
        [0, -1],
        [-(2**63)],
        [2**40],
        [10**30],
        np.array([0.0, np.nan]),
        [float("inf")],
        [0, None],
        [None],
        [],
        np.empty(0),
        [0.5],
        [1e300],
        ["0"],
        ["red", "green"],
        [0, "1"],
        [b"0"],
        "0",
        b"0",
        0,
        None,
        [[0, 1], [2, 3]],
        np.zeros((3, 2), int),
        np.zeros((3, 1), int),
        np.array(3),
        np.array([1 + 0j]),
        np.array(["2020-01-01"], "M8[D]"),
        np.ma.masked_array([0, 1], [False, True]),
        [object()],
        [{}],
    )
    relatives = (
        oracle(name, 14, 1.0),
        oracle(name, 13, 1.25),
        oracle(name, 13, float(np.nextafter(1.0, 2.0))),
        oracle(name, [f"label {index}" for index in range(13)], 1.0),
        oracle("oue" if name != "oue" else "sue", 13, 1.0),
    )
    values = ldpkit.random.seeded(4).words(200) % np.uint64(13)
    return Subject(oracle(name, 13, 1.0), values, refused, relatives)


def _numeric_subject(name: str) -> Subject:
    values = np.linspace(-1, 1, 200)
    refused = (
        [0.0, 1.0000001],
        [-1.5],
        [1e300],
        [float("nan")],
        [0.5, float("inf")],
        [-float("inf")],
        [0.5, None],
        [],
        np.empty(0),
        ["0.5"],
        [0.5, "a"],
        "0.5",
        b"0",
        0.5,
        None,
        [[0.5], [0.1]],
        np.zeros((2, 2)),
        np.array(0.5),
        np.array([1j]),
        np.array(["2020-01-01"], "M8[D]"),
        np.ma.masked_array([0.1, 0.2], [False, True]),
        [object()],
    )
    relatives = (
        ldpkit.get(name, (-1.0, 2.0), epsilon=1.0),
        ldpkit.get(name, (-1.0, 1.0), epsilon=1.25),
        ldpkit.get("duchi" if name != "duchi" else "pm", (-1.0, 1.0), epsilon=1.0),
    )
    return Subject(ldpkit.get(name, (-1.0, 1.0), epsilon=1.0), values, refused, relatives)
