"""What the checks are run on: a mechanism, its relatives, and values it must take or refuse."""

from __future__ import annotations

from typing import Any

import numpy as np

from ldpkit.core import random
from ldpkit.core.domains.circle import CircleDomain
from ldpkit.core.domains.plane import PlaneDomain
from ldpkit.core.errors import ContractError, InvalidParameterError
from ldpkit.core.parameters import check_epsilon
from ldpkit.mechanisms.base import MECHANISMS
from ldpkit.mechanisms.kinds import (
    CIRCULAR,
    NUMERIC,
    SPATIAL,
    TRAJECTORY,
    is_circular,
    is_frequency,
    is_group,
    is_numeric,
    is_on_grid,
    is_spatial,
)
from ldpkit.mechanisms.lookup import get
from ldpkit.testing.expect import NotApplicableError

__all__ = [
    "allowed_size",
    "bad_values",
    "cases",
    "epsilon_parameter",
    "example",
    "good_values",
    "relatives",
    "small",
    "spread_points",
    "variant",
]

LARGEST_EPSILON, SMALLEST_EPSILON = 20.0, 0.001
_SMALL = 13  # values of a domain: more than a byte of bits, and no power of two
_PLACES = ((-1.0, 1.5), (0.5, 4.0), (2.0, 2.0), (3.5, 4.5), (5.0, 1.25), (5.5, 3.0))
_PLANE = PlaneDomain.rectangle((-2, 1), (6, 5), places=_PLACES)
_USUAL: dict[str, Any] = {
    NUMERIC: (-2.0, 6.0),
    CIRCULAR: CircleDomain(24, -6),
    SPATIAL: _PLANE,
    TRAJECTORY: _PLANE,
}


def epsilon_parameter(mechanism: Any) -> str:
    """Return what a mechanism calls the epsilon of one report: mechanisms in two rounds have two."""
    return "epsilon_1" if "epsilon_1" in mechanism.required() else "epsilon"


def example(name: str, domain: Any = None, epsilon: float = 1.0) -> Any:
    """Return the mechanism of that name whose reports have that epsilon.

    Examples
    --------
    >>> example("lgrr"), example("pm")
    (LGRR(13, epsilon_inf=2, epsilon_1=1), PM((-2, 6), epsilon=1))
    >>> example("ogpm_prior"), example("circular_sw")
    (OGPMPrior((-2, 6), epsilon=1, width=0.3), CircularSW(CircleDomain(24, low=-6), epsilon=1))
    """
    kind, epsilon = MECHANISMS.get(name), check_epsilon(epsilon)
    if domain is None:
        domain = _USUAL.get(kind.kind, 2 if is_group(kind) else allowed_size(kind, _SMALL))
    if kind.can("joint"):
        return get(name, domain, epsilon_alone=max(epsilon / 2, SMALLEST_EPSILON), epsilon=epsilon)
    if epsilon_parameter(kind) == "epsilon":
        others = {each.name: each.example for each in kind.declared if each.example is not None}
        return get(name, domain, epsilon=epsilon, **others)
    return get(name, domain, epsilon_inf=min(2 * epsilon, LARGEST_EPSILON), epsilon_1=epsilon)


def allowed_size(mechanism: Any, size: int) -> int:
    """Return a number of values, or the nearest one that a frequency oracle declares it can have.

    Examples
    --------
    >>> import ldpkit
    >>> class Seven(ldpkit.GRR):
    ...     smallest_domain = largest_domain = 7
    >>> allowed_size(Seven, 2), allowed_size(Seven, 13), allowed_size(ldpkit.GRR, 13)
    (7, 7, 13)
    """
    if not is_frequency(mechanism):
        return size
    most = mechanism.largest_domain
    return max(mechanism.smallest_domain, size if most is None else min(size, most))


def variant(mechanism: Any, domain: Any = None, **changed: float) -> Any:
    """Return the same mechanism with another domain or epsilon, or None where there is none such."""
    if isinstance(domain, int):  # a sibling knows what else changes with the number of values
        try:
            mechanism, domain = mechanism.sibling(domain), None
        except InvalidParameterError:
            return None
    parameters = mechanism.parameters()
    if "epsilon" in changed and "epsilon_1" in parameters:
        epsilon = changed.pop("epsilon")
        both = parameters["epsilon_inf"] / parameters["epsilon_1"] * epsilon
        changed |= {"epsilon_1": epsilon, "epsilon_inf": min(both, LARGEST_EPSILON)}
    if "epsilon" in changed and "epsilon_alone" in parameters:
        changed["epsilon_alone"] = parameters["epsilon_alone"] / parameters["epsilon"] * changed["epsilon"]
    try:
        return type(mechanism)(mechanism.domain if domain is None else domain, **{**parameters, **changed})
    except InvalidParameterError:
        return None


def cases(mechanism: Any, *wanted: tuple[Any, float]) -> list[Any]:
    """Return the same mechanism with other domains and epsilons, those that there are.

    A mechanism that declares that it needs more than a few values, or takes fewer, has as many as it can.
    What is wanted with many values is left out where these are too many: their table may take seconds.
    """
    few = ((_few_allowed(mechanism, domain), epsilon) for domain, epsilon in wanted)
    made = [variant(mechanism, domain, epsilon=epsilon) for domain, epsilon in dict.fromkeys(few)]
    found = [each for each in made if each is not None]
    if not found:
        asked = (
            f"epsilon {epsilon:g}" if domain is None else f"{domain:,} values at epsilon {epsilon:g}"
            for domain, epsilon in wanted
        )
        raise NotApplicableError(f"{type(mechanism).__name__} cannot be made with {' or '.join(asked)}")
    return found


def _few_allowed(mechanism: Any, domain: Any) -> Any:
    return allowed_size(mechanism, domain) if isinstance(domain, int) and domain <= _SMALL else domain


def small(mechanism: Any) -> Any:
    """Return the mechanism itself, or its sibling with few values and no labels."""
    if not is_frequency(mechanism) or (len(mechanism.domain) <= _SMALL and not mechanism.domain.has_labels):
        return mechanism
    size = allowed_size(mechanism, min(_SMALL, len(mechanism.domain)))
    try:
        return mechanism.sibling(size)
    except InvalidParameterError as error:
        raise ContractError(f"expected sibling({size}) of {mechanism!r}, found {error}") from error


def good_values(mechanism: Any) -> np.ndarray[Any, Any]:
    """Return 200 values of the domain."""
    if is_on_grid(mechanism):
        return np.linspace(mechanism.domain.low, mechanism.domain.high, 200)
    if is_spatial(mechanism):
        return mechanism.domain.locations(spread_points(mechanism.domain.region, 200))
    return random.seeded(4).words(200) % np.uint64(len(mechanism.domain))


def spread_points(region: Any, count: int) -> np.ndarray[Any, Any]:
    """Return points of a region: its centre, its corners, and others in a pattern that never repeats."""
    steps = np.arange(count)[:, None] * np.array([0.7548776662466927, 0.5698402909980532])
    points = region.project(region.from_shares(steps % 1.0))
    special = np.array([region.centre, *region.corners])[:count]
    points[: len(special)] = special
    return np.asarray(points)


def bad_values(mechanism: Any) -> tuple[Any, ...]:
    """Return what a mechanism must refuse as values."""
    own: tuple[Any, ...]
    if is_on_grid(mechanism):
        low, high = mechanism.domain.low, mechanism.domain.high
        own = ([low, np.nextafter(high, np.inf)], [low - mechanism.domain.width], [low, np.nan], [low, None])
        own = (*own, [-np.inf], [low, "a"], [str(low)], str(low), low, [[low], [high]], np.full((2, 2), low))
        own = (*own, np.array(low))
    elif is_spatial(mechanism):
        below, above = (end + step for end, step in zip(mechanism.domain.region.box, (-1, 1), strict=True))
        inside = tuple(mechanism.domain.region.centre)
        own = ([inside, tuple(above)], [tuple(below)], [inside, (inside[0], np.nan)], [inside, None])
        own = (*own, [(inside[0], np.inf)], [inside, (inside[0],)], [(*inside, 0.0)], [inside, "ab"])
        own = (*own, [("0", "1")], inside, np.array(inside), np.full((2, 3), inside[0]), [(inside[0], None)])
        own = (*own, (np.zeros(3), np.zeros(2)), np.array([[True, False]]), {"x": [1.0], "y": [2.0]})
    else:
        size = len(mechanism.domain)
        own = ([0, size], [0, -1], [-(2**63)], [2**40], [0.5], [0, None], [0, "1"], ["0"], "0", 0)
        own = (*own, [[0, 1], [1, 0]], np.zeros((3, 2), int), np.zeros((3, 1), int), np.array(1), [b"0"])
    return (
        *own,
        [10**30],
        [1e300],
        [np.nan],
        [np.inf],
        [None],
        [],
        np.empty(0),
        ["red", "green"],
        b"0",
        None,
        np.array([1j]),
        np.array(["2020-01-01"], "M8[D]"),
        np.ma.masked_array([0, 1], [False, True]),
        [object()],
        [{}],
    )


def relatives(mechanism: Any) -> list[Any]:
    """Return mechanisms that are nearly the same, and not equal."""
    epsilon = mechanism.epsilon
    if is_numeric(mechanism):
        domain: Any = (mechanism.domain.low, mechanism.domain.high + 1)
        others = [variant(mechanism, domain), variant(mechanism, epsilon=1.25 * epsilon)]
        strangers = ("duchi", "pm")
    elif is_circular(mechanism):
        wider = CircleDomain(mechanism.domain.period + 1, mechanism.domain.low)
        shifted = CircleDomain(mechanism.domain.period, mechanism.domain.low + 1)
        others = [variant(mechanism, wider), variant(mechanism, shifted)]
        others.append(variant(mechanism, epsilon=1.25 * epsilon))
        strangers = ("circular_sw", "von_mises")
    elif is_spatial(mechanism):
        plane = mechanism.domain
        larger = PlaneDomain.rectangle(plane.region.box[0], plane.region.box[1] + 1, places=plane.places)
        others = [variant(mechanism, larger), variant(mechanism, epsilon=1.25 * epsilon)]
        strangers = ("planar_window", "grid_response")
    else:
        size = len(mechanism.domain)
        others = [
            variant(mechanism, size + 1),
            variant(mechanism, epsilon=1.25 * epsilon),
            variant(mechanism, epsilon=float(np.nextafter(epsilon, 2 * epsilon))),
            variant(mechanism, [f"label {index}" for index in range(size)]),
        ]
        strangers = ("oue", "sue")
    unlike = [get(name, mechanism.domain, epsilon=epsilon) for name in strangers]
    others.append(next(each for each in unlike if type(each) is not type(mechanism)))
    return [each for each in others if each is not None]
