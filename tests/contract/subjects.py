"""What the contract suite runs over: every registered mechanism, and those of a plugin."""

from __future__ import annotations

from typing import Any

import pytest

from ldpkit.core.errors import InvalidParameterError
from ldpkit.mechanisms.base import MECHANISMS
from ldpkit.mechanisms.lookup import list_mechanisms
from ldpkit.testing import example
from ldpkit.testing.examples import SMALLEST_EPSILON

__all__ = ["MECHANISM_NAMES", "ORACLE_NAMES", "is_of_the_house", "oracle"]

# A group has one report for several values, and the reports of a trajectory depend on one another, so the
# suite of one report for one value is not about these.
MECHANISM_NAMES = [
    name for name in list_mechanisms() if MECHANISMS.get(name).kind not in ("group", "trajectory")
]
ORACLE_NAMES = list_mechanisms("frequency")


def is_of_the_house(name: str) -> bool:
    """Whether a mechanism is ldpkit's own, not a plugin's."""
    return MECHANISMS.get(name).__module__.startswith("ldpkit.")


def oracle(name: str, domain: Any = 5, epsilon: float = 1.0) -> Any:
    """Return the frequency oracle of that name whose reports have that epsilon.

    Where two rounds of randomisation cannot keep so large an epsilon, no smaller epsilon is
    left for a report on its own, or the mechanism declares that so many values are too many,
    the test is skipped.
    """
    kind: Any = MECHANISMS.get(name)
    size = domain if isinstance(domain, int) else len(domain)
    if kind.largest_domain is not None and size > kind.largest_domain:
        with pytest.raises(InvalidParameterError, match="at most"):
            example(name, domain, epsilon)
        pytest.skip(f"{name} declares that it has at most {kind.largest_domain} values")
    if size < kind.smallest_domain:
        with pytest.raises(InvalidParameterError, match="at least"):
            example(name, domain, epsilon)
        pytest.skip(f"{name} declares that it has at least {kind.smallest_domain} values")
    try:
        return example(name, domain, epsilon)
    except InvalidParameterError as error:
        if "feasible" in str(error) or (kind.can("joint") and epsilon == SMALLEST_EPSILON):
            pytest.skip(str(error))
        raise
