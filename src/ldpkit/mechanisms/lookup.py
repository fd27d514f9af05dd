"""Mechanisms by name: how one is registered, found and made again from its description.

A type checker learns the kind of those that come with the package.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.registry import Registry
from ldpkit.core.typing import DomainLike

if TYPE_CHECKING:
    from ldpkit.core.domains.circle import CircleLike
    from ldpkit.core.domains.interval import IntervalLike
    from ldpkit.core.domains.plane import PlaneLike
    from ldpkit.mechanisms.base import Mechanism
    from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
    from ldpkit.mechanisms.circular.mechanism import CircularMechanism
    from ldpkit.mechanisms.longitudinal.memoized import MemoizedOracle
    from ldpkit.mechanisms.numeric.mechanism import NumericMechanism
    from ldpkit.mechanisms.spatial.mechanism import SpatialMechanism

__all__ = ["CAPABILITIES", "MECHANISMS", "from_spec", "get", "list_mechanisms", "register"]

CAPABILITIES = {
    "pure": "a report supports its own value with probability p and any other one with q",
    "linear": "the mean of what is counted, or of a report, is a straight line in the truth, to be inverted",
    "unbiased": "the mean report is the value itself",
    "likelihood": "it says how likely a report is under each value, so maximum likelihood can be used",
    "memoized": "a device keeps a permanent report and sends copies of it",
    "tallied": "reports add up to a tally, from which its default estimator works",
    "fitted": "its table is made for given data",
    "tabled": "it is a table of weights, which a solver makes and its description holds",
    "additive": "the noise does not depend on the value",
    "joint": "people report in pairs that share randomness, so what a report tells depends on who reads it",
    "valued": "a report is a value of the domain, so who works with values can take it for one",
    "chained": "it reports locations from a reference, which may be the report before",
    "spherical": "it takes longitudes and latitudes of the whole globe",
    "hashed": "a report names a hash function, which closed formulas take as ideal",
    "client": "a device can make its report from the integers of a collection file, in any language",
}
"""What a mechanism may declare that it can do, and what each word means."""

_LONGEST_NAME = 100
AnyMechanism = TypeVar("AnyMechanism", bound="Mechanism")

MECHANISMS: Registry[type[Mechanism]] = Registry("mechanism", "ldpkit.mechanisms")

_Frequency = Literal["blh", "grr", "olh", "oue", "she", "ss", "sue", "the"]
_Memoized = Literal["dbitflip", "lblh", "lgrr", "lolh", "losue", "loue", "lsoue", "lsue"]
_Numeric = Literal[
    "aaa",
    "bounded_laplace",
    "compressed_duchi",
    "compressed_pm",
    "compressed_sw",
    "duchi",
    "hm",
    "laplace",
    "ogpm",
    "ogpm_at",
    "ogpm_prior",
    "ogpm_unbiased",
    "optimal",
    "pm",
    "staircase",
    "sw",
    "truncated_laplace",
    "truncated_pm",
    "truncated_sw",
]
_Circular = Literal["circular_ogpm", "circular_sw", "purkayastha", "von_mises"]
_Spatial = Literal[
    "grid_exponential",
    "grid_response",
    "place_exponential",
    "place_response",
    "planar_laplace",
    "planar_window",
    "tracs_c",
    "tracs_d",
]


@overload
def get(name: _Frequency, domain: DomainLike, **parameters: Any) -> FrequencyOracle: ...


@overload
def get(name: _Memoized, domain: DomainLike, **parameters: Any) -> MemoizedOracle: ...


@overload
def get(name: _Numeric, domain: IntervalLike, **parameters: Any) -> NumericMechanism: ...


@overload
def get(name: _Circular, domain: CircleLike, **parameters: Any) -> CircularMechanism: ...


@overload
def get(name: _Spatial, domain: PlaneLike, **parameters: Any) -> SpatialMechanism: ...


@overload
def get(
    name: str, domain: DomainLike | IntervalLike | CircleLike | PlaneLike, **parameters: Any
) -> Mechanism: ...


def get(name: str, domain: Any, **parameters: Any) -> Mechanism:
    """Return the mechanism of that name.

    Type checkers know the kind of the built-in mechanisms; `ldpkit.mechanisms.kinds` asks for the
    kind of others.

    Examples
    --------
    >>> get("olh", 128, epsilon=1.0)
    OLH(128, epsilon=1)
    """
    return MECHANISMS.get(name).make(domain, **parameters)


def list_mechanisms(kind: str | None = None) -> list[str]:
    """Return the names of all registered mechanisms, or of those of one kind.

    Examples
    --------
    >>> "grr" in list_mechanisms("frequency"), "grr" in list_mechanisms("numeric")
    (True, False)
    """
    found = [name for name, mechanism in MECHANISMS.items() if kind in (None, mechanism.kind)]
    if not found:
        kinds = sorted({mechanism.kind for _, mechanism in MECHANISMS.items()})
        raise InvalidParameterError(
            f"there are no mechanisms of kind {kind!r}: choose from {', '.join(kinds)}"
        )
    return found


def register(mechanism: type[AnyMechanism]) -> type[AnyMechanism]:
    """Add a mechanism to the registry under its `name` and `aliases`; use as a decorator.

    Examples
    --------
    >>> import ldpkit
    >>> @ldpkit.register
    ... class Nameless(ldpkit.MatrixMechanism):
    ...     title, citation = "Keeps the value mostly", "an example"
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: Nameless needs a class attribute 'name'
    """
    for attribute in ("name", "title", "citation", "kind"):
        if not isinstance(getattr(mechanism, attribute, None), str):
            raise InvalidParameterError(f"{mechanism.__name__} needs a class attribute {attribute!r}")
    for unknown in sorted(set(mechanism.capabilities) - CAPABILITIES.keys()):
        raise InvalidParameterError(
            f"{mechanism.__name__} declares the capability {unknown!r}, which is not one of "
            f"{', '.join(CAPABILITIES)}"
        )
    MECHANISMS.register(mechanism.name, *mechanism.aliases)(mechanism)
    return mechanism


def from_spec(spec: Mapping[str, Any]) -> Mechanism:
    """Return the mechanism that a `spec` describes, taking no more from it than `spec` returns."""
    try:
        name, parameters, domain = spec["mechanism"], spec["parameters"], spec["domain"]
    except (KeyError, TypeError) as error:
        raise InvalidParameterError(f"not the description of a mechanism: {error}") from None
    if not isinstance(name, str) or len(name) > _LONGEST_NAME:
        raise InvalidParameterError(f"not the description of a mechanism: no name, got {str(name)[:50]!r}")
    if not isinstance(parameters, Mapping):
        raise InvalidParameterError("not the description of a mechanism: parameters are an object")
    kind = MECHANISMS.get(name)
    return kind.from_parameters(kind.domain_type.from_json(domain), parameters)
