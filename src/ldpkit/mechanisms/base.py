"""What every mechanism is: frozen, hashable, printable, exact about its epsilon, and strict about reports."""

from __future__ import annotations

import abc
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ldpkit.core.domains.base import Domain
from ldpkit.core.errors import FileFormatError, InvalidInputError, InvalidParameterError
from ldpkit.core.frozen import Frozen
from ldpkit.core.numbertext import epsilon_text
from ldpkit.core.parameters import EPSILON, Parameter, ParameterValue
from ldpkit.core.typing import Counts, Reports, Values
from ldpkit.mechanisms.lookup import CAPABILITIES, MECHANISMS, from_spec, register

if TYPE_CHECKING:
    from ldpkit.core.random import RandomSource
    from ldpkit.mechanisms.channel import Channel
    from ldpkit.mechanisms.tally import Tally

__all__ = ["CAPABILITIES", "MECHANISMS", "Mechanism", "from_spec", "register"]

_BEYOND = 1 << 63  # what no signed integer of 64 bits reaches


class Mechanism(Frozen, abc.ABC):
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

    frozen = "a mechanism does not change: make a new one"

    domain: Domain
    epsilon: float

    def _freeze(self, **fields: object) -> None:
        self.__dict__.update(fields)

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
                    f"{capability!r} is not a capability: choose from {', '.join(CAPABILITIES)}"
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

    def why_first(self) -> str:
        """Return the rule by which this mechanism suits its domain and epsilon; empty where there is none."""
        return ""

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
                f"{self!r} cannot be run on a device: {self.not_for_devices}: use one with the capability "
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
        return f"exact epsilon {epsilon_text(self.exact_epsilon())}"

    def describe(self) -> dict[str, Any]:
        """Return what made some reports, for the reader of a result."""
        return {"mechanism": self.name, "parameters": self.parameters(), **self.epsilons()}

    def read_by(self, method: str) -> dict[str, Any]:
        """Return mechanism, parameters and the method that read its reports, as estimates carry them."""
        promise = {"promise": self.promise()} if self.can("joint") else {}  # it depends on who reads it
        return {"mechanism": self.name, **self.parameters(), "method": method, **promise}

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
        """How many integers a tally has."""
        raise NotImplementedError(f"{type(self).__name__} must say how many integers its tally has")

    def check_counts(self, n: int, counts: Counts) -> None:
        """Refuse the integers of a tally that n reports cannot give."""
        least, greatest = self.count_range(n)
        if least < -_BEYOND or greatest >= _BEYOND:  # else a sum could wrap around to something plausible
            raise InvalidInputError(f"{n} reports of {self!r} sum to more than integers of 64 bits hold")
        if n < 0 or (counts < least).any() or (counts > greatest).any():
            raise InvalidInputError(f"counts of {n} reports must lie between {least} and {greatest}")

    # --- reports on the wire -----------------------------------------------------------

    @property
    @abc.abstractmethod
    def report_dtype(self) -> np.dtype[Any]:
        """The little-endian layout of one report."""

    @abc.abstractmethod
    def _is_valid(self, reports: Reports) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return for each report whether the mechanism can have made it."""

    @property
    def report_bytes(self) -> int:
        """The length of one report on the wire."""
        return int(self.report_dtype.itemsize)

    @property
    def _layout(self) -> tuple[np.dtype[Any], tuple[int, ...]]:
        """The type of a report's entries, and its shape."""
        return self.report_dtype.subdtype or (self.report_dtype, ())

    def encode(self, reports: Reports) -> bytes:
        """Return the wire form: fixed-length records, little-endian, nothing between them."""
        return self.check_reports(reports).tobytes()

    def decode(self, data: bytes) -> Reports:
        """Return the reports of a wire form; refuse what the mechanism cannot have made."""
        size = self.report_bytes
        if len(data) % size:
            raise FileFormatError(
                f"{len(data)} bytes are not a whole number of {self.name} reports of {size} bytes",
                offset=len(data) - len(data) % size,
            )
        reports = self._read(data)
        position = self._first_invalid(reports)
        if position is not None:
            raise FileFormatError(
                f"report {position} cannot come from {self!r}: the reports are from another mechanism or "
                "damaged",
                offset=position * size,
            )
        return reports

    def valid_mask(self, data: bytes) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return for each report of a wire form whether the mechanism can have made it.

        Where `decode` refuses all for one, this says which: reports of many devices stand in one
        array, and one bad device must not cost the others their answer.
        """
        reports = self._read(data)
        return self._is_valid(reports) if len(reports) else np.zeros(0, np.bool_)

    def _read(self, data: bytes) -> Reports:
        base, shape = self._layout
        return np.frombuffer(data, base).reshape((-1, *shape))

    def check_reports(self, reports: Reports) -> Reports:
        """Return a copy of the reports in the mechanism's own layout, or refuse them."""
        array = self._report_array(reports)
        return self._own_reports(array, 0, len(array))

    def report_chunks(self, reports: Reports, size: int) -> Iterator[Reports]:
        """Yield checked copies of some reports, `size` at a time.

        What is counted must be what was checked: another thread may change an array in
        between, and a kernel trusts what it is given. Chunks keep the copies small.
        """
        array = self._report_array(reports)
        for start in range(0, len(array), size):
            yield self._own_reports(array, start, start + size)

    def _report_array(self, reports: Reports) -> Reports:
        """Return reports as one array of the right shape and kind, not yet checked."""
        base, shape = self._layout
        try:
            array = np.asarray(reports)
        except ValueError:
            raise InvalidInputError(f"reports of {self!r} are one array: these differ in length") from None
        if array.shape[1:] != shape or array.ndim != 1 + len(shape):
            raise InvalidInputError(
                f"reports of {self!r} have shape (n{''.join(f', {size}' for size in shape)}), "
                f"got {array.shape}: they come from another mechanism"
            )
        if array.dtype != base and not (array.dtype.kind in "iu" and base.kind in "iu"):
            raise self._wrong_type(array)
        return array

    def _own_reports(self, array: Reports, start: int, stop: int) -> Reports:
        """Return a checked copy of some reports."""
        given = array[start:stop]
        own = given.astype(self._layout[0], order="C")
        if array.dtype != own.dtype and not (own == given).all():
            raise self._wrong_type(array)
        position = self._first_invalid(own)
        if position is not None:
            raise InvalidInputError(
                f"report {start + position} cannot come from {self!r}: it is from another mechanism "
                "or damaged"
            )
        return own

    def _wrong_type(self, array: Reports) -> InvalidInputError:
        return InvalidInputError(
            f"reports of {self!r} have type {self._layout[0]}, got {array.dtype}: "
            "they come from another mechanism"
        )

    def _first_invalid(self, reports: Reports) -> int | None:
        if len(reports) == 0:
            return None
        valid = self._is_valid(reports)
        return None if valid.all() else int(np.argmin(valid))

    # --- equality ----------------------------------------------------------------------

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
