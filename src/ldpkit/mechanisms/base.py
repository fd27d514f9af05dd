"""What every mechanism is: frozen, hashable, printable, and exact about its epsilon."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from ldpkit.core.domains.base import Domain
from ldpkit.core.errors import FrozenError, InvalidInputError, InvalidParameterError
from ldpkit.core.parameters import EPSILON, Parameter, ParameterValue
from ldpkit.core.registry import Registry
from ldpkit.core.typing import Counts, Reports, Values

if TYPE_CHECKING:
    from ldpkit.core.random import RandomSource
    from ldpkit.mechanisms.channel import Channel
    from ldpkit.mechanisms.tally import Tally

from ldpkit.mechanisms.wire import WireForm

__all__ = ["CAPABILITIES", "MECHANISMS", "Mechanism", "from_spec", "register"]

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
_BEYOND = 1 << 63  # what no signed integer of 64 bits reaches

MECHANISMS: Registry[type[Mechanism]] = Registry("mechanism", "ldpkit.mechanisms")


class Mechanism(WireForm):
    """A randomiser with its privacy promise and its wire form.

    A subclass states `name`, `title` and `citation`, stores its parameters in the
    constructor with `_freeze`, and gives the randomiser, the exact epsilon and the
    layout of one report. Everything else follows from these.

    Examples
    --------
    >>> import ldpkit
    >>> mechanism = ldpkit.get("olh", 16, epsilon=1.0)
    >>> isinstance(mechanism, Mechanism), mechanism.name, mechanism.exact_epsilon() <= 1.0
    (True, 'olh', True)
    """

    name: ClassVar[str]
    """The name in the registry, on the command line and in files."""
    aliases: ClassVar[tuple[str, ...]] = ()
    title: ClassVar[str]
    """The full name, as the literature spells it."""
    citation: ClassVar[str]
    tight: ClassVar[bool] = True
    """Whether the realised epsilon comes within 1e-6 of the stated one; post-processing can lose some."""
    kind: ClassVar[str]
    """The data it is for: "frequency" (categories), "numeric" (an interval), "circular" (a circle),
    "spatial" (a region of the plane), "trajectory" (locations there, one after the other).
    """
    declared: ClassVar[tuple[Parameter, ...]] = (EPSILON,)
    """The parameters other than the domain, each an attribute and an argument of the constructor.

    They are what `parameters` and `spec` tell, and all that a file, a message or the
    command line may set.
    """
    capabilities: ClassVar[frozenset[str]] = frozenset({"tallied"})
    """What it can do, in words of `CAPABILITIES`."""
    domain_type: ClassVar[type[Domain]]
    """What its values are elements of."""
    not_for_devices: ClassVar[str] = "it does not say how its reports are made from a few integers"
    """Why it has not the capability "client", where it has not."""
    default_estimator: ClassVar[str] = "mi"
    """What a tally is estimated with unless the user says otherwise."""

    domain: Domain
    epsilon: float

    def _freeze(self, **fields: object) -> None:
        self.__dict__.update(fields)

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenError(
            f"a mechanism does not change: make a new {type(self).__name__} with another {name}"
        )

    def __delattr__(self, name: str) -> None:
        raise FrozenError(f"a mechanism does not change: {name} cannot be removed")

    @classmethod
    def can(cls, *capabilities: str) -> bool:
        """Whether it has declared all of some capabilities.

        Examples
        --------
        >>> MECHANISMS.get("grr").can("pure", "likelihood"), MECHANISMS.get("she").can("pure")
        (True, False)
        """
        for capability in capabilities:
            if capability not in CAPABILITIES:
                raise InvalidParameterError(
                    f"{capability!r} is no capability: choose from {', '.join(CAPABILITIES)}"
                )
        return cls.capabilities.issuperset(capabilities)

    @classmethod
    def required(cls) -> tuple[str, ...]:
        """Return the names of the parameters that have no default.

        Examples
        --------
        >>> MECHANISMS.get("olh").required(), MECHANISMS.get("lolh").required()
        (('epsilon',), ('epsilon_inf', 'epsilon_1'))
        """
        return tuple(each.name for each in cls.declared if each.required)

    def parameters(self) -> dict[str, ParameterValue]:
        """Return the constructor's parameters other than the domain."""
        return {each.name: getattr(self, each.name) for each in self.declared}

    def details(self) -> dict[str, float]:
        """Return what was derived from the parameters and is worth a look, such as g of OLH."""
        return {}

    def spec(self) -> dict[str, Any]:
        """Return a JSON-ready description from which `from_spec` makes an equal mechanism."""
        return {"mechanism": self.name, "parameters": self.parameters(), "domain": self.domain.to_json()}

    @classmethod
    def from_parameters(cls, domain: Any, parameters: Mapping[str, Any]) -> Self:
        """Return the mechanism of a description that may come from anywhere.

        Only declared parameters are taken, of their declared types: whoever wrote the
        description must not reach further arguments of the constructor. The constructor
        itself keeps each within its limits.
        """
        return cls.make(domain, **cls.read_parameters(cls.check_parameters(parameters)))

    @classmethod
    def read_parameters(cls, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the constructor's parameters for those of a `spec`, which an earlier version may have made.

        A mechanism whose defaults have changed says here what they were.
        """
        return parameters

    @classmethod
    def check_parameters(cls, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return parameters from outside in their declared types, or refuse them.

        Examples
        --------
        >>> MECHANISMS.get("grr").check_parameters({"epsilon": 1, "d": 3})
        Traceback (most recent call last):
        ...
        ldpkit.core.errors.InvalidParameterError: grr has no parameter 'd': it takes epsilon
        """
        known = {each.name: each for each in cls.declared}
        for name in parameters:
            if name not in known:
                raise InvalidParameterError(
                    f"{cls.name} has no parameter {str(name)[:50]!r}: it takes {', '.join(known)}"
                )
        return {name: known[name].check(value) for name, value in parameters.items()}

    @classmethod
    def make(cls, domain: Any, /, **arguments: Any) -> Self:
        """Return the mechanism; arguments that the constructor does not know are refused as parameters."""
        make: Any = cls
        try:
            made: Self = make(domain, **arguments)
        except TypeError as error:
            known = [each.name for each in cls.declared]
            strange = [repr(name) for name in arguments if name not in known]
            lacking = [name for name in cls.required() if name not in arguments]
            what = f"has no parameter {strange[0]}" if strange else f"needs {lacking[0]}" if lacking else ""
            what = f"{what}: it takes {', '.join(known)}" if what else f"cannot be made: {error}"
            raise InvalidParameterError(f"{cls.name} {what}") from None
        return made

    @abc.abstractmethod
    def sibling(self, size: int) -> Self:
        """Return the same mechanism with so many values, or so many steps of its grid, for listing."""

    @abc.abstractmethod
    def exact_epsilon(self) -> float:
        """Return the realised epsilon, computed from the sampler's own integers and rounded up."""

    def sampler(self) -> dict[str, Any]:
        """Return the form of its sampler and the integers from which a device makes a report, ready for JSON.

        `ldpkit.client.samplers.read_sampler` makes reports from it, without this mechanism and
        without numerical libraries.

        Examples
        --------
        >>> MECHANISMS.get("duchi").make((0, 1), epsilon=1.0, grid=2).sampler()
        {'form': 'coin', 'grid': 2, 'base': '4961093570831980854', 'slope': '4262278466022794954'}
        """
        if not self.can("client"):
            raise InvalidParameterError(
                f"{self!r} cannot be run on a device: {self.not_for_devices}: take one with the capability "
                "client"
            )
        return self._form()

    def _form(self) -> dict[str, Any]:
        """Return what `sampler` does, for a mechanism that declares "client"."""
        raise NotImplementedError(f"{type(self).__name__} declares the capability client: give it a _form")

    def epsilons(self) -> dict[str, float]:
        """Return every epsilon that the mechanism promises, by name; those with memory have two."""
        return {"exact_epsilon": self.exact_epsilon()}

    def promise(self) -> str:
        """Return what the mechanism promises in a phrase, as commands print it."""
        return f"exact epsilon {self.exact_epsilon()!r}"

    def describe(self) -> dict[str, Any]:
        """Return what made some reports, for the reader of a result."""
        return {"mechanism": self.name, "parameters": self.parameters(), **self.epsilons()}

    @abc.abstractmethod
    def channel(self, rng: RandomSource | None = None) -> Channel:
        """Return every report with its exact probability under each value, for small domains.

        Where a report carries public coins (the hash function of OLH), they are drawn
        from `rng` and the channel is the one given these coins.
        """

    @abc.abstractmethod
    def privatize(self, values: Values, *, rng: RandomSource | None = None) -> Reports:
        """Return one report for each value, with secure randomness unless a seeded source is given."""

    def first_reports(self, values: Values, *, rng: RandomSource | None = None) -> Reports:
        """Return the reports of people who answer for the first time, one for each value.

        Simulations use this: it is `privatize` for mechanisms without memory, and asks
        nothing about memory of the others.
        """
        return self.privatize(values, rng=rng)

    @abc.abstractmethod
    def tally(self, reports: Reports) -> Tally:
        """Return the additive statistic of some reports."""

    def count_range(self, n: int) -> tuple[int, int]:
        """Return the least and the greatest count that n reports can give a value."""
        return 0, n

    @property
    def tally_size(self) -> int:
        """How many integers a tally has: one for each value, unless the mechanism says otherwise."""
        if self.domain.size is None:
            raise NotImplementedError(f"{type(self).__name__} must say how many integers its tally has")
        return self.domain.size

    def check_counts(self, n: int, counts: Counts) -> None:
        """Refuse the integers of a tally that n reports cannot give."""
        least, greatest = self.count_range(n)
        if least < -_BEYOND or greatest >= _BEYOND:  # else a sum could wrap around to something plausible
            raise InvalidInputError(f"{n} reports of {self!r} sum to more than integers of 64 bits hold")
        if n < 0 or (counts < least).any() or (counts > greatest).any():
            raise InvalidInputError(f"counts of {n} reports must lie between {least} and {greatest}")

    def _identity(self) -> tuple[object, ...]:
        """Return what two equal mechanisms of one class have in common."""
        return (self.name, self.domain, *self.parameters().items())

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        assert isinstance(other, type(self))
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __repr__(self) -> str:
        values = ", ".join(
            f"{name}={value!r}".removesuffix(".0") for name, value in self.parameters().items()
        )
        return f"{type(self).__name__}({self.domain.short}, {values})"

    def __reduce__(self) -> Any:
        return from_spec, (self.spec(),)


AnyMechanism = TypeVar("AnyMechanism", bound=Mechanism)


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
            f"{mechanism.__name__} declares the capability {unknown!r}, which is none of "
            f"{', '.join(CAPABILITIES)}"
        )
    MECHANISMS.register(mechanism.name, *mechanism.aliases)(mechanism)
    return mechanism


def from_spec(spec: Mapping[str, Any]) -> Mechanism:
    """Return the mechanism that a `spec` describes, taking no more from it than `spec` tells."""
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
