"""What a mechanism is, asked of its declaration: its kind, what it can do, what it needs.

The rest of the package asks here instead of looking at classes, so a plugin is treated
as the house's own mechanisms are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

from ldpkit.core.errors import InvalidParameterError
from ldpkit.mechanisms.base import CAPABILITIES, MECHANISMS, Mechanism

if TYPE_CHECKING:
    from ldpkit.core.typing import DomainLike
    from ldpkit.mechanisms.adaptive.mechanism import AAA
    from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
    from ldpkit.mechanisms.circular.mechanism import CircularMechanism
    from ldpkit.mechanisms.joint.group_count import GroupCount
    from ldpkit.mechanisms.joint.oracle import PairedOracle
    from ldpkit.mechanisms.longitudinal.memoized import MemoizedOracle
    from ldpkit.mechanisms.numeric.mechanism import NumericMechanism
    from ldpkit.mechanisms.spatial.mechanism import SpatialMechanism
    from ldpkit.mechanisms.spatial.sequence import TrajectoryMechanism
    from ldpkit.mechanisms.tables.mechanism import TableMechanism

__all__ = [
    "ALL",
    "CIRCULAR",
    "FREQUENCY",
    "GROUP",
    "NUMERIC",
    "SPATIAL",
    "TRAJECTORY",
    "Selection",
    "circular_class",
    "frequency_class",
    "frequency_oracle",
    "is_circular",
    "is_fitted",
    "is_frequency",
    "is_group",
    "is_memoized",
    "is_numeric",
    "is_on_grid",
    "is_paired",
    "is_spatial",
    "is_tabled",
    "is_whole_trajectory",
    "listed",
    "memoized_class",
    "numeric_class",
    "select",
    "single_epsilon_class",
    "spatial_class",
    "walk_class",
]

FREQUENCY, NUMERIC, CIRCULAR, SPATIAL = "frequency", "numeric", "circular", "spatial"
TRAJECTORY, GROUP = "trajectory", "group"
_DATA = {
    FREQUENCY: "categories",
    NUMERIC: "numbers",
    CIRCULAR: "values on a circle",
    SPATIAL: "locations",
    TRAJECTORY: "whole trajectories",
    GROUP: "groups of people",
}

ALL = "all"
"""Everything that can do the job; what cannot is left out, and said."""


def is_frequency(mechanism: object) -> TypeGuard[FrequencyOracle]:
    """Whether something is a mechanism that estimates how many people hold each value.

    Examples
    --------
    >>> import ldpkit
    >>> is_frequency(ldpkit.GRR(4, epsilon=1)), is_frequency(ldpkit.PM((0, 1), epsilon=1)), is_frequency(4)
    (True, False, False)
    """
    return _is_of(mechanism, FREQUENCY)


def is_numeric(mechanism: object) -> TypeGuard[NumericMechanism]:
    """Whether something is a mechanism that reports noisy numbers of an interval."""
    return _is_of(mechanism, NUMERIC)


def is_circular(mechanism: object) -> TypeGuard[CircularMechanism]:
    """Whether something is a mechanism that reports noisy places on a circle."""
    return _is_of(mechanism, CIRCULAR)


def is_on_grid(mechanism: object) -> TypeGuard[NumericMechanism | CircularMechanism]:
    """Whether something is a mechanism whose reports are cells of a grid, on a line or a circle."""
    return is_numeric(mechanism) or is_circular(mechanism)


def is_spatial(mechanism: object) -> TypeGuard[SpatialMechanism]:
    """Whether something is a mechanism that reports noisy locations."""
    return _is_of(mechanism, SPATIAL)


def is_whole_trajectory(mechanism: object) -> TypeGuard[TrajectoryMechanism]:
    """Whether something is a mechanism that reports the locations of a trajectory from one another."""
    return _is_of(mechanism, TRAJECTORY)


def is_memoized(mechanism: object) -> TypeGuard[MemoizedOracle]:
    """Whether something is a frequency oracle whose devices keep a permanent report."""
    return is_frequency(mechanism) and mechanism.can("memoized")


def is_paired(mechanism: object) -> TypeGuard[PairedOracle]:
    """Whether something is a frequency oracle whose people report in pairs."""
    return is_frequency(mechanism) and mechanism.can("joint")


def is_group(mechanism: object) -> TypeGuard[GroupCount]:
    """Whether something is a mechanism that makes one report for a group of people."""
    return _is_of(mechanism, GROUP)


def is_tabled(mechanism: object) -> TypeGuard[TableMechanism]:
    """Whether something is a numeric mechanism that is a table of weights."""
    return is_numeric(mechanism) and mechanism.can("tabled")


def is_fitted(mechanism: object) -> TypeGuard[AAA]:
    """Whether something is a numeric mechanism with a table made for given data."""
    return is_numeric(mechanism) and mechanism.can("fitted")


def _is_of(mechanism: object, kind: str) -> bool:
    return bool(getattr(mechanism, "kind", None) == kind)


def frequency_class(name: str, *, single_epsilon: bool = False) -> type[FrequencyOracle]:
    """Return the frequency oracle of that name, or refuse another mechanism.

    Examples
    --------
    >>> frequency_class("rappor").name
    'sue'
    >>> frequency_class("pm")
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: pm is for numbers, not for categories: choose from blh, ...
    """
    kind: Any = _class(name, FREQUENCY, single_epsilon=single_epsilon)
    found: type[FrequencyOracle] = kind
    return found


def frequency_oracle(name: str, domain: DomainLike, **parameters: Any) -> FrequencyOracle:
    """Make the frequency oracle of that name, or refuse another mechanism.

    Examples
    --------
    >>> frequency_oracle("grr", 4, epsilon=1)
    GRR(4, epsilon=1)
    """
    return frequency_class(name).make(domain, **parameters)


def numeric_class(name: str, *, single_epsilon: bool = False) -> type[NumericMechanism]:
    """Return the numeric mechanism of that name, or refuse another one."""
    kind: Any = _class(name, NUMERIC, single_epsilon=single_epsilon)
    found: type[NumericMechanism] = kind
    return found


def circular_class(name: str, *, single_epsilon: bool = False) -> type[CircularMechanism]:
    """Return the circular mechanism of that name, or refuse another one.

    Examples
    --------
    >>> circular_class("pm")
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: pm is for numbers, not for values on a circle: choose from \
circular_ogpm, circular_sw, purkayastha, von_mises
    """
    kind: Any = _class(name, CIRCULAR, single_epsilon=single_epsilon)
    found: type[CircularMechanism] = kind
    return found


def spatial_class(name: str, *, single_epsilon: bool = False) -> type[SpatialMechanism]:
    """Return the spatial mechanism of that name, or refuse another one.

    Examples
    --------
    >>> spatial_class("pm")
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: pm is for numbers, not for locations: choose from \
grid_exponential, ...
    """
    kind: Any = _class(name, SPATIAL, single_epsilon=single_epsilon)
    found: type[SpatialMechanism] = kind
    return found


def walk_class(name: str) -> type[SpatialMechanism] | type[TrajectoryMechanism]:
    """Return the mechanism of that name for the locations of trajectories, on their own or as a whole.

    Examples
    --------
    >>> walk_class("tracs_c").kind, walk_class("ngram").kind
    ('spatial', 'trajectory')
    """
    kind: Any = MECHANISMS.get(name)
    if is_whole_trajectory(kind):
        whole: Any = kind
        found: type[TrajectoryMechanism] = whole
        return found
    return spatial_class(name)


def memoized_class(name: str) -> type[MemoizedOracle]:
    """Return the longitudinal mechanism of that name, or refuse one without memory.

    Examples
    --------
    >>> memoized_class("grr")
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: grr keeps no permanent report: choose from dbitflip, ...
    """
    kind: Any = _class(name, FREQUENCY, "memoized")
    found: type[MemoizedOracle] = kind
    return found


def single_epsilon_class(name: str) -> type[Mechanism]:
    """Return the mechanism of that name, or refuse one that needs more than an epsilon.

    Examples
    --------
    >>> single_epsilon_class("lgrr")
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: planning looks for one epsilon, and lgrr takes epsilon_inf \
and epsilon_1: plan a one-time mechanism, such as grr
    """
    kind = MECHANISMS.get(name)
    if kind.required() != ("epsilon",):
        takes = " and ".join(kind.required()) or "no epsilon"
        raise InvalidParameterError(
            f"planning looks for one epsilon, and {name} takes {takes}: "
            "plan a one-time mechanism, such as grr"
        )
    return kind


def listed(names: str | Iterable[str]) -> list[str]:
    """Return one name or several as a list.

    Examples
    --------
    >>> listed("oue"), listed(["oue", "grr"])
    (['oue'], ['oue', 'grr'])
    """
    return [names] if isinstance(names, str) else list(names)


class Selection(NamedTuple):
    """The mechanisms that can do a job, and why the others cannot."""

    names: list[str]
    left_out: dict[str, str]
    """For each that was left out, the reason."""

    def among(self, asked: str | Iterable[str], kind: str | None = None) -> tuple[list[str], tuple[str, ...]]:
        """Return the names that are asked for, and what "all" leaves out and why.

        Examples
        --------
        >>> select(FREQUENCY, "pure", single_epsilon=True).among("oue")
        (['oue'], ())
        """
        names = listed(asked)
        return (self.names, self.reasons(kind)) if names == [ALL] else (names, ())

    def reasons(self, kind: str | None = None) -> tuple[str, ...]:
        """Return in words why mechanisms were left out: those of a kind, since nobody expects others, or all.

        Examples
        --------
        >>> select(FREQUENCY, "pure", single_epsilon=True).reasons(FREQUENCY)[0]
        'dbitflip, she (is no pure protocol)'
        """
        named: dict[str, list[str]] = {}
        for name, why in self.left_out.items():
            if kind in (None, MECHANISMS.get(name).kind):
                named.setdefault(why, []).append(name)
        return tuple(f"{', '.join(names)} ({why})" for why, names in named.items())


def select(
    kind: str | None = None,
    *capabilities: str,
    single_epsilon: bool = False,
    without: Collection[str] = (),
) -> Selection:
    """Return the names of the mechanisms that can do a job, and the reason for each that is left out.

    Parameters
    ----------
    kind : str, optional
        The data it must be for. Mechanisms of other kinds are left out like all others.
    capabilities : str
        What it must be able to do.
    single_epsilon : bool
        Whether it must need no parameter but epsilon.
    without : collection of str
        Capabilities that it must not have.

    Examples
    --------
    >>> chosen = select("frequency", "memoized", single_epsilon=True)
    >>> chosen.names, chosen.left_out["lgrr"]
    (['dbitflip'], 'needs epsilon_inf and epsilon_1')
    """
    names, left_out = list[str](), dict[str, str]()
    for name, mechanism in MECHANISMS.items():
        reason = _reason(mechanism, kind, capabilities, single_epsilon, without)
        if reason is None:
            names.append(name)
        else:
            left_out[name] = reason
    return Selection(names, left_out)


def _class(name: str, kind: str, *capabilities: str, single_epsilon: bool = False) -> type[Mechanism]:
    mechanism = MECHANISMS.get(name)
    reason = _reason(mechanism, kind, capabilities, single_epsilon, ())
    if reason is not None:
        names = ", ".join(select(kind, *capabilities, single_epsilon=single_epsilon).names)
        raise InvalidParameterError(f"{name} {reason}: choose from {names}")
    return mechanism


_LACKS = {
    "memoized": "keeps no permanent report",
    "likelihood": "does not say how likely a report is",
    "pure": "is no pure protocol",
    "unbiased": "makes biased reports",
    "linear": "makes reports that are biased, and not along a line",
}


_HAS = {"fitted": "is fitted to data that is not there yet"}


def _reason(
    mechanism: type[Mechanism],
    kind: str | None,
    capabilities: Collection[str],
    single_epsilon: bool,
    without: Collection[str],
) -> str | None:
    """Return why a mechanism cannot do a job, as what follows its name in a sentence; None if it can."""
    if kind is not None and mechanism.kind != kind:
        its, wanted = (_DATA.get(each, each) for each in (mechanism.kind, kind))
        return f"is for {its}, not for {wanted}"
    for capability in capabilities:
        if not mechanism.can(capability):
            return _LACKS.get(capability, f"does not say that {CAPABILITIES[capability]}")
    for capability in without:
        if mechanism.can(capability):
            return _HAS.get(capability, f"does not do: {CAPABILITIES[capability]}")
    if single_epsilon and mechanism.required() != ("epsilon",):
        return f"needs {' and '.join(mechanism.required()) or 'no epsilon'}"
    return None
