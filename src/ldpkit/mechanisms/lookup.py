"""Mechanisms by name: a type checker learns the kind of those that come with the package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.typing import DomainLike
from ldpkit.mechanisms.base import MECHANISMS, Mechanism

if TYPE_CHECKING:
    from ldpkit.core.domains.circle import CircleLike
    from ldpkit.core.domains.interval import IntervalLike
    from ldpkit.core.domains.plane import PlaneLike
    from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
    from ldpkit.mechanisms.circular.mechanism import CircularMechanism
    from ldpkit.mechanisms.longitudinal.memoized import MemoizedOracle
    from ldpkit.mechanisms.numeric.mechanism import NumericMechanism
    from ldpkit.mechanisms.spatial.mechanism import SpatialMechanism

__all__ = ["get", "list_mechanisms"]

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

    A type checker knows the kind of the house's own; `ldpkit.mechanisms.kinds` asks for the
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
