"""Tallies: what some reports are worth, as a small statistic that adds.

A thread, a server or a cluster node makes a tally of the reports it has seen, and
tallies add, in any order and grouping. Nothing else of the reports is needed for
estimation.
"""

from __future__ import annotations

import functools
import json
import operator
import struct
import zlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias, overload

import numpy as np

from ldpkit.core.errors import (
    FileFormatError,
    InvalidInputError,
    LdpkitError,
    MismatchError,
)
from ldpkit.core.frozen import Frozen
from ldpkit.core.hooks import MethodAbove
from ldpkit.core.provenance import UNKNOWN, Provenance
from ldpkit.core.typing import Counts
from ldpkit.mechanisms.base import Mechanism, from_spec

if TYPE_CHECKING:
    from ldpkit.estimation.circular_density import CircularDensity
    from ldpkit.estimation.density import Density
    from ldpkit.estimation.direction import DirectionEstimate
    from ldpkit.estimation.estimate import Estimate
    from ldpkit.estimation.heatmap import HeatMap
    from ldpkit.estimation.numeric import NumericEstimate
    from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
    from ldpkit.mechanisms.circular.mechanism import CircularMechanism
    from ldpkit.mechanisms.numeric.mechanism import NumericMechanism
    from ldpkit.mechanisms.spatial.mechanism import SpatialMechanism

__all__ = ["MAGIC", "AnyEstimate", "CircularTally", "FrequencyTally", "NumericTally", "SpatialTally", "Tally"]

AnyEstimate: TypeAlias = (
    "Estimate | NumericEstimate | Density | DirectionEstimate | CircularDensity | HeatMap"
)

MAGIC = b"LDPT"
"""How the bytes of a tally begin."""
_VERSION = 1
_HEAD = struct.Struct("<4sHI")  # magic, version, length of the JSON header
_TAIL = struct.Struct("<I")  # CRC-32 of all before it


class Tally(Frozen):
    """Additive sufficient counts of reports, with the mechanism they belong to.

    Parameters
    ----------
    mechanism : Mechanism
        What made the reports.
    n : int
        How many reports there are.
    counts : array of int
        How many reports support each value, or what else adds up in the mechanism.
    provenance : Provenance
        How the reports were made and which they are, as far as it is recorded. It stays
        with the tally, and adds with it; two tallies that hold the same reports of a file
        do not add. Equality is about mechanism, n and counts alone.

    Examples
    --------
    >>> from ldpkit.mechanisms.categorical.grr import GRR
    >>> oracle = GRR(["no", "yes"], epsilon=2)
    >>> tally = oracle.tally([0, 1, 1]) + oracle.tally([1])
    >>> tally
    Tally(GRR(2, epsilon=2), n=4)
    >>> tally.counts.tolist()
    [1, 3]
    """

    __slots__ = ("counts", "mechanism", "n", "provenance")
    mechanism: Mechanism
    n: int
    counts: Counts
    provenance: Provenance

    kind: ClassVar[str | None] = None
    """The kind of mechanism whose tallies are of this class."""
    frozen = "a tally does not change: add tallies"

    def __new__(cls, mechanism: Mechanism, *_: object, **__: object) -> Self:
        """Return a tally of the class for the mechanism's kind."""
        chosen = next((each for each in cls.__subclasses__() if each.kind == mechanism.kind), cls)
        return object.__new__(chosen)

    def __init__(
        self, mechanism: Mechanism, n: int, counts: Counts, provenance: Provenance = UNKNOWN
    ) -> None:
        if (
            isinstance(n, bool)
            or not isinstance(n, (int, np.integer))
            or np.asarray(counts).dtype.kind not in "iu"
        ):
            raise InvalidInputError(f"a tally has whole numbers, got n={n!r} and {np.asarray(counts).dtype}")
        if not 0 <= n < 1 << 63:
            raise InvalidInputError(f"a tally has 0 to 2**63 - 1 reports, got {str(n)[:30]}")
        if provenance.spans and provenance.known > n:
            raise InvalidInputError(f"a tally of {n} reports cannot hold {provenance.known} of known batches")
        frozen = np.array(counts, np.int64)
        if frozen.shape != (mechanism.tally_size,):
            raise InvalidInputError(
                f"a tally of {mechanism!r} has {mechanism.tally_size} counts, got shape {frozen.shape}"
            )
        mechanism.check_counts(n, frozen)
        frozen.setflags(write=False)
        object.__setattr__(self, "mechanism", mechanism)
        object.__setattr__(self, "n", int(n))
        object.__setattr__(self, "counts", frozen)
        object.__setattr__(self, "provenance", provenance)

    def __add__(self, other: Tally | Literal[0]) -> Self:
        if isinstance(other, int) and other == 0:  # the start of sum()
            return self
        if not isinstance(other, Tally):
            return NotImplemented
        if self.mechanism != other.mechanism:
            raise MismatchError(
                f"a tally of {self.mechanism!r} cannot be added to one of {other.mechanism!r}: "
                "reports of different mechanisms do not mix"
            )
        # Without reports there is nothing that could be unknown about them.
        provenance = Provenance.merge(each.provenance for each in (self, other) if each.n)
        return type(self)(self.mechanism, self.n + other.n, self.counts + other.counts, provenance)

    __radd__ = __add__

    @classmethod
    def merge(cls, tallies: Iterable[Self]) -> Self:
        """Return the sum of some tallies, at least one."""
        every = list(tallies)
        if not every:
            raise InvalidInputError("there are no tallies to merge: give at least one")
        return functools.reduce(operator.add, every)

    if TYPE_CHECKING:

        @overload
        def estimate(
            self, method: Literal["mi", "ibu", "ibu_limit"], *, consistency: str | None = None, **options: Any
        ) -> Estimate: ...
        @overload
        def estimate(
            self, method: Literal["mean", "table_mean"], *, consistency: None = None, **options: Any
        ) -> NumericEstimate: ...
        @overload
        def estimate(
            self, method: Literal["density"], *, consistency: None = None, **options: Any
        ) -> Density: ...
        @overload
        def estimate(
            self, method: str | None = None, *, consistency: str | None = None, **options: Any
        ) -> AnyEstimate: ...
        def estimate(
            self, method: str | None = None, *, consistency: str | None = None, **options: Any
        ) -> AnyEstimate:
            """Return what the reports tell, with error bars; see `ldpkit.estimation.from_reports`."""

    else:
        estimate = MethodAbove("estimate")

    def to_bytes(self) -> bytes:
        """Return a portable form with a version and a checksum."""
        made = {} if self.provenance == UNKNOWN else {"provenance": self.provenance.to_json()}
        header = json.dumps({**self.mechanism.spec(), "n": self.n, **made}).encode()
        body = _HEAD.pack(MAGIC, _VERSION, len(header)) + header + self.counts.astype("<i8").tobytes()
        return body + _TAIL.pack(zlib.crc32(body))

    @classmethod
    def from_bytes(cls, data: bytes) -> Tally:
        """Return the tally of a portable form; refuse damaged or foreign bytes."""
        if len(data) < _HEAD.size + _TAIL.size or data[:4] != MAGIC:
            raise FileFormatError("not a tally: it does not begin with LDPT", offset=0)
        _, version, length = _HEAD.unpack_from(data)
        if version != _VERSION:
            raise FileFormatError(
                f"the tally has version {version}, this ldpkit reads version {_VERSION}", offset=4
            )
        if zlib.crc32(data[: -_TAIL.size]) != _TAIL.unpack(data[-_TAIL.size :])[0]:
            raise FileFormatError("the tally is damaged: its checksum does not fit", offset=len(data) - 4)
        start = _HEAD.size + length
        try:
            header = json.loads(data[_HEAD.size : start])
            counts = np.frombuffer(data[start : -_TAIL.size], "<i8")
            mechanism = from_spec(header)
            return cls(mechanism, header["n"], counts, Provenance.from_json(header.get("provenance", {})))
        except (ValueError, TypeError, KeyError, RecursionError, ArithmeticError, LdpkitError) as error:
            raise FileFormatError(f"the tally cannot be read: {error}", offset=_HEAD.size) from error

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tally):
            return NotImplemented
        return (
            self.mechanism == other.mechanism
            and self.n == other.n
            and bool((self.counts == other.counts).all())
        )

    def __hash__(self) -> int:
        return hash((self.mechanism, self.n, self.counts.tobytes()))

    def __repr__(self) -> str:
        return f"Tally({self.mechanism!r}, n={self.n})"

    def __reduce__(self) -> Any:
        return type(self), (self.mechanism, self.n, self.counts, self.provenance)


class FrequencyTally(Tally):
    """The tally of a frequency oracle: what is estimated from it are frequencies."""

    __slots__ = ()
    kind = "frequency"
    mechanism: FrequencyOracle

    if TYPE_CHECKING:

        def estimate(  # type: ignore[override]  # its methods give frequencies only
            self, method: str | None = None, *, consistency: str | None = None, **options: Any
        ) -> Estimate:
            """Return the frequencies of values."""


class NumericTally(Tally):
    """The tally of a numeric mechanism: what is estimated from it is a mean, or a density."""

    __slots__ = ()
    kind = "numeric"
    mechanism: NumericMechanism

    if TYPE_CHECKING:

        @overload  # type: ignore[override]  # of numbers there are no frequencies
        def estimate(self, method: Literal["density"], **options: Any) -> Density: ...
        @overload
        def estimate(self, method: str | None = None, **options: Any) -> NumericEstimate: ...
        def estimate(self, method: str | None = None, **options: Any) -> NumericEstimate | Density:
            """Return the mean of numbers with its error, or their density."""


class CircularTally(Tally):
    """The tally of a circular mechanism: what is estimated from it is a direction, or a density."""

    __slots__ = ()
    kind = "circular"
    mechanism: CircularMechanism

    if TYPE_CHECKING:

        @overload  # type: ignore[override]  # on a circle there are no frequencies
        def estimate(self, method: Literal["circular_density"], **options: Any) -> CircularDensity: ...
        @overload
        def estimate(
            self, method: Literal["direction"] | None = None, **options: Any
        ) -> DirectionEstimate: ...
        def estimate(self, method: str | None = None, **options: Any) -> DirectionEstimate | CircularDensity:
            """Return the mean direction with its error, or the density."""


class SpatialTally(Tally):
    """The tally of a spatial mechanism: joint counts of cells, from which a map is estimated."""

    __slots__ = ()
    kind = "spatial"
    mechanism: SpatialMechanism

    if TYPE_CHECKING:

        def estimate(  # type: ignore[override]  # of locations there is a map
            self, method: str | None = None, **options: Any
        ) -> HeatMap:
            """Return the share of people in each cell of the region."""
