"""How one column is privatized: a mechanism, and what its reports become before the model sees them.

A numeric mechanism's report is its number, clipped to the domain if that is asked. A
mechanism on a declared grid, such as k-RR on 0, 0.01, ..., 1, reports a point of it.
Categories are numbers of the model's own coding, and their labels are these numbers.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ldpkit.assurance.classifier.outputs import Outputs, ReportCells, merged
from ldpkit.core.cached import cached_property
from ldpkit.core.errors import InvalidParameterError, MismatchError, OutOfDomainError
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Floats
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
from ldpkit.mechanisms.kinds import is_frequency, is_numeric
from ldpkit.mechanisms.numeric.mechanism import NumericMechanism
from ldpkit.mechanisms.numeric.noise import BlockNoise

__all__ = [
    "PIECES",
    "UNMERGED",
    "Clipped",
    "NearestPoint",
    "PrivateColumn",
    "Withheld",
    "as_private_column",
    "laws_around",
]

PIECES = 1024
"""A law with more pieces than this is merged; the error of that is in the interval of a result."""


UNMERGED = 1 << 62
"""More pieces than any law has: where densities themselves are asked for."""


class PrivateColumn(abc.ABC):
    """A column whose values are privatized, one by one, before the model sees them."""

    @property
    @abc.abstractmethod
    def mechanism(self) -> Any:
        """The mechanism on the device."""

    @abc.abstractmethod
    def outside(self, values: Floats) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return which values the mechanism cannot take."""

    @abc.abstractmethod
    def outputs(self, values: Floats, pieces: int = PIECES) -> Outputs:
        """Return the law of the number that the model sees, a row for each value."""

    @abc.abstractmethod
    def draw(self, values: Floats, rng: RandomSource | None = None) -> Floats:
        """Return one privatized number for each value."""

    def candidates(self, most: int) -> Floats:
        """Return values all over the range, not more than some number of them."""
        return np.linspace(self.mechanism.domain.low, self.mechanism.domain.high, most)

    @property
    def range(self) -> str:
        """What values are allowed, in words."""
        return str(self.mechanism.domain)

    def check(self, values: Floats, column: object) -> None:
        """Refuse values that the mechanism cannot take, and say in which rows they are."""
        bad = np.flatnonzero(self.outside(values))
        if len(bad):
            shown = ", ".join(str(row) for row in bad[:20]) + (", ..." if len(bad) > 20 else "")
            raise OutOfDomainError(
                f"column {column!r} has {len(bad)} {'value' if len(bad) == 1 else 'values'} outside "
                f"{self.range}, such as {values[bad[0]]:g} in row {bad[0]} (rows {shown}): clip or remove "
                "them, or declare a wider range",
                int(bad[0]),
            )


@dataclass(frozen=True)
class _Numbers(PrivateColumn):
    """A numeric mechanism, whose reports are numbers."""

    numeric: NumericMechanism
    clip: bool = False

    @property
    def mechanism(self) -> NumericMechanism:
        return self.numeric

    def outside(self, values: Floats) -> np.ndarray[Any, np.dtype[np.bool_]]:
        domain = self.numeric.domain
        return ~((values >= domain.low) & (values <= domain.high))

    def outputs(self, values: Floats, pieces: int = PIECES) -> Outputs:
        distinct, which = np.unique(values, return_inverse=True)
        found = self._shifted(distinct, pieces) if self.numeric.noise else self._each(distinct, pieces)
        domain = self.numeric.domain
        return (found.clipped(domain.low, domain.high) if self.clip else found).take(which.astype(np.int64))

    @property
    def _lattice(self) -> ReportCells:
        origin, step = (float(part) for part in self.numeric.placement)
        return ReportCells(self.numeric.domain.low, self.numeric.domain.width, origin, step)

    def _each(self, values: Floats, pieces: int) -> Outputs:
        mechanism, lattice = self.numeric, self._lattice
        places = mechanism.domain.encode(values, steps=mechanism.grid).tolist()
        laws = [mechanism.law(place) for place in places]
        width, slack = max(len(law.weights) for law in laws), 0.0
        alike = all(len(law.weights) == width for law in laws)
        edges = np.array([law.edges if alike else _padded(law.edges, width + 1) for law in laws])
        heights = np.array([law.weights if alike else _padded(law.weights, width) for law in laws])
        heights = (heights / np.array([law.total for law in laws], object)[:, None]).astype(np.float64)
        masses, at = heights * np.diff(edges, axis=1), lattice.at(edges.astype(np.float64))
        if width > pieces:
            fewer = [merged(*each, pieces) for each in zip(at, masses, strict=True)]
            width = max(len(each[1]) for each in fewer)
            at = np.stack([_padded(each[0], width + 1) for each in fewer])
            masses = np.stack([np.append(each[1], np.zeros(width - len(each[1]))) for each in fewer])
            slack = max(each[2] for each in fewer)
        atoms = np.array([float(point) for point in mechanism.atom_points])
        chances = np.zeros((len(values), len(atoms)))
        if len(atoms):
            chances[:] = [law.atom_masses for law in laws]
        order = np.argsort(atoms, kind="stable")
        points = mechanism.domain.low + mechanism.domain.width * atoms[order]
        grain = float(heights.max(initial=0.0)) / 2
        return Outputs(at, masses, points, chances[:, order], slack, grain, lattice)

    def _shifted(self, values: Floats, pieces: int) -> Outputs:
        """Return the laws of value plus noise: one law of the noise, moved and cut to the output range."""
        mechanism = self.numeric
        domain = mechanism.domain
        assert mechanism.noise is not None
        reduce = _few_pieces if pieces <= PIECES else _merged_noise  # what is large is not kept
        edges, masses, slack, grain = reduce(mechanism.noise, pieces)
        places = mechanism.domain.encode(values, steps=mechanism.grid).astype(np.float64)
        moved = domain.low + domain.width * (edges + places[:, None]) / mechanism.grid
        spread = np.broadcast_to(masses, (len(values), len(masses))).copy()
        none = np.zeros((len(values), 0))
        whole = Outputs(moved, spread, np.zeros(0), none, slack, grain, self._lattice)
        return whole.clipped(*mechanism.output_range)

    def draw(self, values: Floats, rng: RandomSource | None = None) -> Floats:
        drawn = self.numeric.values_of(self.numeric.privatize(values, rng=rng))
        domain = self.numeric.domain
        return np.clip(drawn, domain.low, domain.high) if self.clip else drawn


def _padded(row: Any, width: int) -> Any:
    """Return a row of one length: empty pieces at its end are repeated edges, or weights of none."""
    missing = width - len(row)
    return np.concatenate([row, np.repeat(row[-1:], missing)]) if missing else row


@lru_cache(maxsize=128)
def _few_pieces(noise: BlockNoise, pieces: int) -> tuple[Floats, Floats, float, float]:
    """Return the law of the noise in few pieces; columns, blocks and mechanisms ask for the same one."""
    return _merged_noise(noise, pieces)


def _merged_noise(noise: BlockNoise, pieces: int) -> tuple[Floats, Floats, float, float]:
    law = noise.law
    # Each weight rounded by itself: dividing hundreds of thousands of large integers takes ten times longer.
    heights = law.weights.astype(np.float64) / float(law.total)
    grain = float(heights.max(initial=0.0)) / 2
    return *merged(law.edges.astype(np.float64), heights * np.diff(law.edges), pieces), grain


@lru_cache(maxsize=16)
def _chances(oracle: FrequencyOracle) -> Floats:
    """Return the probability of each point for each value; both columns of a grid ask for the same."""
    if oracle.can("pure"):  # a report supports its own value alone
        found = np.full((oracle.size, oracle.size), float(oracle.q))
        np.fill_diagonal(found, float(oracle.p))
        return found
    exact = [chance.as_integer_ratio() for row in oracle.channel().probabilities for chance in row]
    return np.array([above / below for above, below in exact]).reshape(oracle.size, -1)


@dataclass(frozen=True)
class _Points(PrivateColumn):
    """A mechanism that reports a value of its own finite domain."""

    oracle: FrequencyOracle
    nearest: bool = False

    @property
    def mechanism(self) -> FrequencyOracle:
        return self.oracle

    @property
    def range(self) -> str:
        points = self.points
        if self.nearest:
            return f"[{points.min():g}, {points.max():g}]"
        return f"the {len(points)} points of the grid"

    @cached_property
    def points(self) -> Floats:
        """The points in the order of the domain."""
        try:
            points = np.array([float(label) for label in self.oracle.domain.labels])
        except (TypeError, ValueError):
            raise InvalidParameterError(
                f"the labels of {self.oracle!r} must be the numbers that the model is given: code them first"
            ) from None
        return points

    def _indices(self, values: Floats) -> Any:
        """Return the nearest point of each value, the lower one of two."""
        order = np.argsort(self.points)
        ascending = self.points[order]
        right = np.clip(np.searchsorted(ascending, values), 1, len(ascending) - 1)
        left = right - 1
        nearer = np.where(values - ascending[left] <= ascending[right] - values, left, right)
        return order[nearer]

    def outside(self, values: Floats) -> np.ndarray[Any, np.dtype[np.bool_]]:
        inside = (values >= self.points.min()) & (values <= self.points.max())
        if self.nearest:
            return np.asarray(~inside)
        off = np.abs(self.points[self._indices(values)] - values)
        close = off <= 1e-9 * max(float(np.abs(self.points).max()), 1e-300)
        return np.asarray(~(inside & close))

    def candidates(self, most: int) -> Floats:
        places = np.unique(np.linspace(0, len(self.points) - 1, min(most, len(self.points))).round())
        return np.asarray(np.sort(self.points)[places.astype(int)])

    def outputs(self, values: Floats, pieces: int = PIECES) -> Outputs:
        order = np.argsort(self.points)
        chances = _chances(self.oracle)[self._indices(values)][:, order]
        empty = np.zeros((len(values), 1))
        return Outputs(empty, empty[:, :0], self.points[order], chances)

    def draw(self, values: Floats, rng: RandomSource | None = None) -> Floats:
        labels = [self.oracle.domain.labels[index] for index in self._indices(values).tolist()]
        return self.points[self.oracle.privatize(labels, rng=rng).astype(np.int64)]


@dataclass(frozen=True)
class Clipped:
    """A numeric mechanism whose reports are moved into its domain before the model sees them.

    Clipping is post-processing: epsilon is that of the mechanism.

    Examples
    --------
    >>> import ldpkit
    >>> column = as_private_column(Clipped(ldpkit.get("laplace", (0, 1), epsilon=1)))
    >>> law = column.outputs(np.array([0.0]))
    >>> law.points.tolist(), law.chances.round(4).tolist()
    ([0.0, 1.0], [[0.5, 0.1839]])
    """

    mechanism: Any


@dataclass(frozen=True)
class NearestPoint:
    """A mechanism on a declared grid of numbers; values are first moved to the nearest point.

    Examples
    --------
    >>> import ldpkit
    >>> grid = [step / 100 for step in range(101)]
    >>> column = as_private_column(NearestPoint(ldpkit.GRR(grid, epsilon=2)))
    >>> law = column.outputs(np.array([0.5]))
    >>> round(float(law.between(np.array([0.2]), np.array([0.8]))[0]), 6)
    0.627523
    """

    mechanism: Any


@dataclass(frozen=True)
class Withheld(PrivateColumn):
    """A column that is not sent: the model sees a public number in its place, whatever the value.

    Parameters
    ----------
    value : float
        The number; take it from public knowledge, not from the record.

    Examples
    --------
    >>> Withheld(0.5).exact_epsilon(), Withheld(0.5).outputs(np.array([0.1, 0.9])).points.tolist()
    (0.0, [0.5])
    """

    value: float

    @property
    def mechanism(self) -> Withheld:
        """Itself: nothing leaves the device."""
        return self

    @staticmethod
    def exact_epsilon() -> float:
        """Return 0: the number says nothing of the value."""
        return 0.0

    def outside(self, values: Floats) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return that every value will do."""
        return np.zeros(len(values), bool)

    def outputs(self, values: Floats, pieces: int = PIECES) -> Outputs:
        """Return the law that has all its probability in one point."""
        empty = np.zeros((len(values), 1))
        return Outputs(empty, empty[:, :0], np.array([self.value]), empty + 1.0)

    def candidates(self, most: int) -> Floats:
        """Return the number, since nothing else can be told from it."""
        return np.array([float(self.value)])

    def draw(self, values: Floats, rng: RandomSource | None = None) -> Floats:
        """Return the number, once for each value."""
        return np.full(len(values), float(self.value))


def as_private_column(given: object) -> PrivateColumn:
    """Return how a column is privatized, from a mechanism or what wraps one.

    Examples
    --------
    >>> import ldpkit
    >>> as_private_column(ldpkit.OLH(4, epsilon=1))
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: the reports of OLH(4, epsilon=1) are not values of its domain, \
so a model cannot take them: use grr, Exponential or a numeric mechanism
    """
    clip, nearest = isinstance(given, Clipped), isinstance(given, NearestPoint)
    mechanism = given.mechanism if isinstance(given, (Clipped, NearestPoint)) else given
    if isinstance(given, PrivateColumn):
        return given
    if is_numeric(mechanism) and not nearest:
        return _Numbers(mechanism, clip)
    if is_frequency(mechanism) and not clip:
        if not mechanism.can("valued"):
            raise InvalidParameterError(
                f"the reports of {mechanism!r} are not values of its domain, so a model cannot take them: "
                "use grr, Exponential or a numeric mechanism"
            )
        return _Points(mechanism, nearest)
    raise InvalidParameterError(
        f"a column is privatized by a numeric mechanism or one on a grid of numbers, got {given!r}"
    )


def laws_around(
    names: tuple[str | int, ...], record: Sequence[float], mechanisms: Mapping[Any, Any], pieces: int = PIECES
) -> list[Outputs]:
    """Return the law of the reports of each sensitive column of a record around which a box was found."""
    if tuple(mechanisms) != names:
        raise MismatchError(
            f"the box is one of {names}, got mechanisms for {tuple(mechanisms)}: give them in order"
        )
    return [
        as_private_column(mechanism).outputs(np.array([value]), pieces)
        for mechanism, value in zip(mechanisms.values(), record, strict=True)
    ]
