"""Which frequency oracles can stand side by side: those that need no more than a domain and an epsilon."""

from __future__ import annotations

import inspect

from ldpkit.core.errors import InvalidParameterError
from ldpkit.mechanisms.base import MECHANISMS, Mechanism
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle

__all__ = ["comparable_protocol", "comparable_protocols"]


def comparable_protocols() -> list[str]:
    """Return the names of the frequency oracles that need no more than a domain and an epsilon.

    Examples
    --------
    >>> {"grr", "oue", "olh"} <= set(comparable_protocols())
    True
    """
    return [name for name, mechanism in MECHANISMS.items() if _is_comparable(mechanism)]


def comparable_protocol(name: str) -> type[FrequencyOracle]:
    """Return the frequency oracle of that name, or refuse it if it needs further parameters."""
    mechanism = MECHANISMS.get(name)
    if not (issubclass(mechanism, FrequencyOracle) and _is_comparable(mechanism)):
        raise InvalidParameterError(
            f"{name} cannot be compared here: choose from {', '.join(comparable_protocols())}"
        )
    return mechanism


def _is_comparable(mechanism: type[Mechanism]) -> bool:
    if not issubclass(mechanism, FrequencyOracle):
        return False
    parameters = inspect.signature(mechanism).parameters
    return "epsilon" in parameters and all(
        parameter.default is not parameter.empty
        for name, parameter in parameters.items()
        if name not in ("domain", "epsilon")
    )
