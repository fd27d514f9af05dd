"""Mechanisms by name, from options: what is missing or too much is refused with the option that helps."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldpkit.cli.parsing import parse_circle, parse_domain, parse_interval
from ldpkit.core.errors import FileFormatError, InvalidParameterError
from ldpkit.core.text import decimal_comma

if TYPE_CHECKING:
    from ldpkit.core.domains.base import Domain
    from ldpkit.core.domains.categorical import CategoricalDomain
    from ldpkit.core.domains.circle import CircleDomain
    from ldpkit.core.domains.interval import IntervalDomain
    from ldpkit.mechanisms.base import Mechanism
    from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
    from ldpkit.mechanisms.circular.mechanism import CircularMechanism
    from ldpkit.mechanisms.longitudinal.memoized import MemoizedOracle
    from ldpkit.mechanisms.numeric.mechanism import NumericMechanism

__all__ = [
    "check_named",
    "is_for_numbers",
    "make_circular",
    "make_mechanism",
    "make_memoized",
    "make_numeric",
    "make_oracle",
    "parsed_parameters",
    "read_mechanism",
    "refuse_circular",
    "space_of",
]

_LONGEST_DESCRIPTION = 1 << 26  # bytes; the largest table has a quarter of that


def is_for_numbers(name: str) -> bool:
    """Whether a mechanism takes numbers of an interval."""
    from ldpkit.mechanisms.base import MECHANISMS
    from ldpkit.mechanisms.kinds import is_numeric

    return is_numeric(MECHANISMS.get(name))


def make_oracle(
    name: str, domain: CategoricalDomain, epsilon: float | None, parameters: Mapping[str, str]
) -> FrequencyOracle:
    """Return the frequency oracle that the user named, or say what it needs."""
    from ldpkit.mechanisms.kinds import frequency_class

    if is_for_numbers(name):
        raise InvalidParameterError(f"{name} is for numbers: give the interval with --low and --high")
    refuse_circular(name)
    kind = frequency_class(name)
    return kind.make(domain, **parsed_parameters(kind, epsilon, parameters))


def make_numeric(
    name: str, domain: IntervalDomain, epsilon: float | None, parameters: Mapping[str, str]
) -> NumericMechanism:
    """Return the numeric mechanism that the user named, or say what it needs."""
    from ldpkit.mechanisms.kinds import numeric_class

    refuse_circular(name)
    kind = numeric_class(name)
    return kind.make(domain, **parsed_parameters(kind, epsilon, parameters))


def make_circular(
    name: str, domain: CircleDomain, epsilon: float | None, parameters: Mapping[str, str]
) -> CircularMechanism:
    """Return the circular mechanism that the user named, or say what it needs."""
    from ldpkit.mechanisms.kinds import circular_class

    kind = circular_class(name)
    return kind.make(domain, **parsed_parameters(kind, epsilon, parameters))


def refuse_circular(name: str) -> None:
    """Refuse a mechanism for values on a circle where no circle was given."""
    from ldpkit.mechanisms.base import MECHANISMS
    from ldpkit.mechanisms.kinds import is_circular

    if is_circular(MECHANISMS.get(name)):
        raise InvalidParameterError(
            f"{name} is for values on a circle: give --period, and --low if the turn does not begin at 0"
        )


def make_memoized(
    kind: type[MemoizedOracle], domain: CategoricalDomain, parameters: Mapping[str, str]
) -> MemoizedOracle:
    """Return a longitudinal mechanism with the parameters that the user gave."""
    return kind.make(domain, **parsed_parameters(kind, None, parameters))


def make_mechanism(
    name: str, space: Domain, epsilon: float | None, parameters: Mapping[str, str]
) -> Mechanism:
    """Return the mechanism that the user named, of whatever kind it is."""
    from ldpkit.mechanisms.base import MECHANISMS

    kind = MECHANISMS.get(name)
    return kind.make(space, **parsed_parameters(kind, epsilon, parameters))


def check_named(name: str, epsilon: float | None, parameters: Mapping[str, str]) -> None:
    """Refuse a mechanism that lacks a parameter or does not know one, with the option that helps."""
    from ldpkit.mechanisms.base import MECHANISMS

    parsed_parameters(MECHANISMS.get(name), epsilon, parameters)


def space_of(
    name: str, domain: str | None, low: float | None, high: float | None, period: float | None = None
) -> Domain:
    """Return where the values of a mechanism lie, as its kind asks for."""
    from ldpkit.mechanisms.base import MECHANISMS
    from ldpkit.mechanisms.kinds import is_circular, is_spatial, is_whole_trajectory

    if is_spatial(MECHANISMS.get(name)) or is_whole_trajectory(MECHANISMS.get(name)):
        raise InvalidParameterError(
            f"{name} is for locations, which have no option here: use 'ldpkit trajectory', or in Python "
            f'ldpkit.get("{name}", ((0, 0), (1, 1)), epsilon=...)'
        )
    circle = parse_circle(low, high, period)
    if is_circular(MECHANISMS.get(name)):
        if circle is None or domain is not None:
            raise InvalidParameterError(
                f"{name} is for values on a circle: give --period"
                + ("" if domain is None else ", and leave out --domain")
            )
        return circle
    if circle is not None:
        raise InvalidParameterError(f"{name} is not for values on a circle: leave out --period")
    if is_for_numbers(name):
        interval = parse_interval(low, high)
        if interval is None or domain is not None:
            raise InvalidParameterError(
                f"{name} is for numbers: give the interval with --low and --high"
                + ("" if domain is None else ", and leave out --domain")
            )
        return interval
    if low is not None or high is not None:
        raise InvalidParameterError(
            f"{name} is for categories: give --domain, and leave out --low and --high"
        )
    if domain is None:
        raise InvalidParameterError(f"{name} needs the list of values: give it with --domain")
    return parse_domain(domain)


def read_mechanism(file: Path) -> Mechanism:
    """Return the mechanism that a file describes in JSON; what is read is checked, and nothing is solved."""
    from ldpkit.core.smallfile import read_small_file
    from ldpkit.mechanisms.base import from_spec

    data = read_small_file(file, "the description of a mechanism", _LONGEST_DESCRIPTION)
    try:
        return from_spec(json.loads(data))
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{str(file)!r} describes no mechanism: {error}") from None


def parsed_parameters(
    kind: type[Mechanism], epsilon: float | None, texts: Mapping[str, str]
) -> dict[str, Any]:
    """Return the parameters of a mechanism, or say which is missing, unknown or wrong."""
    known = {each.name: each for each in kind.declared}
    given: dict[str, Any] = {}
    if epsilon is not None:
        if "epsilon" in texts:
            raise InvalidParameterError("epsilon is given twice: give --epsilon or --parameter epsilon=...")
        if "epsilon" not in known and kind.required():
            options = " ".join(f"--parameter {name}=..." for name in kind.required())
            needed = " and ".join(kind.required())
            raise InvalidParameterError(f"{kind.name} takes {needed} instead of epsilon: give {options}")
        given["epsilon"] = epsilon
    for name in (*given, *texts):
        if name not in known:
            raise InvalidParameterError(f"{kind.name} has no parameter {name!r}: it takes {', '.join(known)}")
    for name, text in texts.items():
        try:
            given[name] = known[name].parse(text)
        except InvalidParameterError as refusal:
            raise InvalidParameterError(f"{refusal}{decimal_comma(text)}") from None
    for name in kind.required():
        if name not in given:
            option = "--epsilon" if name == "epsilon" else f"--parameter {name}=..."
            raise InvalidParameterError(f"{kind.name} needs {name}: give it with {option}")
    return given
