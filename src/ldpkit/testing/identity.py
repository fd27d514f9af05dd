"""A mechanism says what it is, never changes, and survives every way of copying it."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

from ldpkit.core.errors import FrozenError, InvalidParameterError, LdpkitError
from ldpkit.core.random import seeded
from ldpkit.mechanisms.base import MECHANISMS, from_spec
from ldpkit.mechanisms.kinds import CIRCULAR, FREQUENCY, NUMERIC, SPATIAL, is_numeric
from ldpkit.testing.examples import good_values, relatives, small
from ldpkit.testing.expect import refuses, require

__all__ = ["CHECKS"]


def check_description(mechanism: Any) -> None:
    """It is registered under its names, and has a title, a citation, a docstring and a readable repr."""
    kind = type(mechanism)
    for name in (mechanism.name, *kind.aliases):
        try:
            found: Any = MECHANISMS.get(name)
        except LdpkitError:
            found = None
        require(
            found is kind,
            f"expected {kind.__name__} registered as {name!r} (@ldpkit.register), found {found}",
        )
    for told in ("title", "citation", "__doc__"):
        require(getattr(kind, told, ""), f"expected a {told} of {kind.__name__}, found none")
    text = repr(mechanism)
    require(text.startswith(f"{kind.__name__}("), f"expected {kind.__name__}(...) as repr, found {text}")
    for name, value in mechanism.parameters().items():
        told = f"{name}={value!r}".removesuffix(".0")
        require(told in text, f"expected {told} in the repr, found {text}")


def check_declaration(mechanism: Any) -> None:
    """Kind, parameters and capabilities are declared, and the declaration is true."""
    kind = type(mechanism)
    told, declared = mechanism.parameters(), {each.name for each in kind.declared}
    require(set(told) <= declared, f"expected declared parameters {sorted(declared)}, found {sorted(told)}")
    twin = kind.make(mechanism.domain, **kind.check_parameters(told))
    require(
        mechanism.can("fitted") or twin == mechanism,
        f"expected its parameters to make {mechanism!r}, found {twin!r}",
    )
    known = (FREQUENCY, NUMERIC, CIRCULAR, SPATIAL)
    require(mechanism.kind in known, f"expected a known kind, found {mechanism.kind!r}")
    can = {"memoized": "exact_permanent_epsilon" in mechanism.epsilons()}
    if is_numeric(mechanism):
        line: Any = mechanism.line
        can |= {"unbiased": line == (0, 1), "linear": line is not None}
    for capability, found in can.items():
        require(
            mechanism.can(capability) == found,
            f"expected {capability!r} {'' if found else 'not '}among its capabilities, as it behaves",
        )


def check_frozen(mechanism: Any) -> None:
    """No attribute can be set or removed."""
    before = mechanism.spec()
    for name in ("epsilon", "domain", "p", "name", "anything"):
        refuses(FrozenError, setattr, mechanism, name, 3.0)
        refuses(FrozenError, delattr, mechanism, name)
    mechanism.exact_epsilon()  # what is computed late and kept does not count as a change
    require(mechanism.spec() == before, f"expected the spec {before}, found {mechanism.spec()} after setattr")


def check_equality(mechanism: Any) -> None:
    """Equal means same class, domain and parameters; equal mechanisms have one hash and one repr."""
    subject = small(mechanism)
    twin, others = from_spec(subject.spec()), relatives(subject)
    require(twin == subject, f"expected from_spec(spec()) to be equal, found {twin!r}")
    require(hash(twin) == hash(subject), "expected one hash for equal mechanisms, found two")
    require(repr(twin) == repr(subject), f"expected {subject!r}, found {twin!r}")
    for other in others:
        require(other != subject, f"expected {subject!r} to differ from {other!r}, found them equal")
    require(subject != subject.spec(), "expected a mechanism to differ from its spec, found them equal")
    distinct = len({subject, twin, *others})
    require(distinct == 1 + len(others), f"expected {1 + len(others)} members of a set, found {distinct}")


def check_copies(mechanism: Any) -> None:
    """Copies, pickles and what was read from JSON report alike."""
    subject = small(mechanism)
    exact = subject.exact_epsilon()
    copies = [pickle.loads(pickle.dumps(subject, protocol)) for protocol in (0, pickle.HIGHEST_PROTOCOL)]
    copies += [copy.copy(subject), copy.deepcopy(subject), from_spec(json.loads(json.dumps(subject.spec())))]
    values = good_values(subject)
    expected = subject.encode(subject.first_reports(values, rng=seeded(2)))
    for other in copies:
        require(other == subject, f"expected a copy equal to {subject!r}, found {other!r}")
        require(other.exact_epsilon() == exact, f"expected {exact!r}, found {other.exact_epsilon()!r}")
        found = other.encode(other.first_reports(values, rng=seeded(2)))
        require(found == expected, "expected a copy to make the same reports from a seed, found others")


def check_foreign_specs(mechanism: Any) -> None:
    """A spec with parameters that are missing, foreign or senseless is refused."""
    spec = mechanism.spec()
    good = spec["parameters"]
    bad: list[Any] = [{}, 3, None, {**good, "nonsense": 1.0}]
    bad += [
        {**good, name: value} for name in good if "epsilon" in name for value in (-1.0, "much", float("nan"))
    ]
    for parameters in bad:
        refuses(InvalidParameterError, from_spec, {**spec, "parameters": parameters})


CHECKS = (
    check_description,
    check_declaration,
    check_frozen,
    check_equality,
    check_copies,
    check_foreign_specs,
)
