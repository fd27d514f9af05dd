"""Trajectories: the locations of people one after the other, in one frozen ragged array."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from ldpkit.core.domains.plane import Locations, as_points
from ldpkit.core.errors import InvalidInputError, OutOfDomainError
from ldpkit.core.frozen import Frozen
from ldpkit.core.parameters import as_array

if TYPE_CHECKING:
    from ldpkit.core.typing import Counts, Floats

__all__ = ["Identifier", "Trajectories"]

Identifier: TypeAlias = str | int
"""What a trajectory is called."""


class Trajectories(Frozen):
    """Points of several trajectories, all in one array.

    Parameters
    ----------
    points : array, shape (n, 2)
        The locations of all trajectories, one after the other.
    offsets : array of int, length m + 1
        Where each trajectory begins in `points`, and at last how many points there are.
    ids : sequence of str or int, optional
        What each trajectory is called; 0 to m - 1 by default.
    times : array, optional
        When each point was recorded: numbers or datetimes, never falling within a trajectory.

    Examples
    --------
    >>> walks = Trajectories.from_list([[(0, 0), (0.5, 0.5)], [(1, 1)]], ids=["ann", "bob"])
    >>> len(walks), walks.lengths.tolist(), walks["ann"].tolist()
    (2, [2, 1], [[0.0, 0.0], [0.5, 0.5]])
    >>> Trajectories.from_list([[(0, 0)], []])
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidInputError: trajectory 1 has no points: leave it out
    """

    __slots__ = ("ids", "offsets", "points", "times")
    frozen = "trajectories do not change: make new ones"
    points: Floats
    offsets: Counts
    ids: tuple[Identifier, ...]
    times: np.ndarray[Any, Any] | None

    def __init__(
        self, points: Locations, offsets: Any, ids: Sequence[Identifier] | None = None, times: Any = None
    ) -> None:
        own, starts = np.array(as_points(points)), _as_offsets(offsets)
        if starts[-1] != len(own):
            raise InvalidInputError(f"the last offset is the number of points, {len(own)}, got {starts[-1]}")
        names: tuple[Identifier, ...] = tuple(range(len(starts) - 1) if ids is None else ids)
        if len(names) != len(starts) - 1:
            raise InvalidInputError(f"there are {len(names)} ids for {len(starts) - 1} trajectories")
        if len(set(names)) < len(names):
            again = next(name for name, count in Counter(names).items() if count > 1)
            raise InvalidInputError(f"the id {again!r} is there twice: join its points in one trajectory")
        empty = np.flatnonzero(np.diff(starts) == 0)
        if len(empty):
            raise InvalidInputError(f"trajectory {names[int(empty[0])]!r} has no points: leave it out")
        stamps = None if times is None else _as_times(times, len(own))
        for name, value in (("points", own), ("offsets", starts), ("ids", names), ("times", stamps)):
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, name, value)
        self._refuse_nonsense()

    def _refuse_nonsense(self) -> None:
        finite = np.isfinite(self.points).all(axis=1)
        if not finite.all():
            raise OutOfDomainError(
                f"{self._where(int(np.argmin(finite)))} is not finite: drop missing values"
            )
        if self.times is not None:
            falls = np.flatnonzero(self.times[1:] < self.times[:-1]) + 1
            falls = falls[~np.isin(falls, self.offsets)]
            if len(falls):
                raise InvalidInputError(
                    f"{self._where(int(falls[0]))} is earlier than the one before: sort by time, as "
                    "from_rows does"
                )

    def _where(self, position: int) -> str:
        """Return a point in words."""
        owner = int(np.searchsorted(self.offsets, position, "right")) - 1
        return f"point {position - self.offsets[owner]} of trajectory {self.ids[owner]!r}"

    # --- ways to make some -----------------------------------------------------------------

    @classmethod
    def from_list(
        cls, trajectories: Sequence[Locations], ids: Sequence[Identifier] | None = None, times: Any = None
    ) -> Self:
        """Return trajectories from one list of locations for each.

        Parameters
        ----------
        trajectories : sequence of locations
            The points of each.
        ids : sequence of str or int, optional
            What each is called.
        times : sequence of arrays, optional
            The times of each.
        """
        every = list(trajectories)
        if not every:
            raise InvalidInputError("there are no trajectories: give at least one")
        names = tuple(range(len(every))) if ids is None else tuple(ids)
        for name, each in zip(names, every, strict=False):
            if hasattr(each, "__len__") and len(each) == 0:
                raise InvalidInputError(f"trajectory {name!r} has no points: leave it out")
        arrays = [as_points(each) for each in every]
        stamps = None if times is None else np.concatenate([np.asarray(each) for each in times])
        offsets = np.cumsum([0, *map(len, arrays)])
        return cls(np.concatenate(arrays), offsets, names, stamps)

    @classmethod
    def from_rows(cls, ids: Any, points: Locations, times: Any = None) -> Self:
        """Return trajectories from rows of a table: whose, where, and when.

        Rows of one id are one trajectory, in the order of their times, or as they come where
        there are none. Trajectories come in the order in which their ids first appear.

        Examples
        --------
        >>> walks = Trajectories.from_rows(["b", "a", "b"], [(0, 0), (1, 1), (0, 1)], times=[5, 1, 2])
        >>> walks.ids, walks["b"].tolist()
        (('b', 'a'), [[0.0, 1.0], [0.0, 0.0]])
        """
        rows, owners = as_points(points), as_array(ids)
        if len(owners) != len(rows):
            raise InvalidInputError(f"there are {len(owners)} ids for {len(rows)} points")
        names, first, group = np.unique(owners, return_index=True, return_inverse=True)
        rank = np.argsort(np.argsort(first))
        order = np.arange(len(rows))
        stamps = None if times is None else _as_times(times, len(rows))
        if stamps is not None:
            order = order[np.argsort(stamps, kind="stable")]
        order = order[np.argsort(rank[group[order]], kind="stable")]
        offsets = np.concatenate([[0], np.cumsum(np.bincount(rank[group]))])
        called = [each.item() for each in names[np.argsort(first)]]
        return cls(rows[order], offsets, called, None if stamps is None else stamps[order])

    def with_points(self, points: Locations) -> Self:
        """Return trajectories of the same lengths, ids and times with other points."""
        return type(self)(points, self.offsets, self.ids, self.times)

    def select(self, chosen: Any) -> Self:
        """Return some trajectories, by their positions."""
        which = np.arange(len(self))[chosen]
        starts, stops = self.offsets[which], self.offsets[which + 1]
        rows = np.concatenate([np.arange(*ends) for ends in zip(starts, stops, strict=True)])
        offsets = np.cumsum([0, *(stops - starts)])
        times = None if self.times is None else self.times[rows]
        return type(self)(self.points[rows], offsets, [self.ids[each] for each in which], times)

    # --- what they are ---------------------------------------------------------------------

    @property
    def lengths(self) -> Counts:
        """How many points each trajectory has."""
        return np.diff(self.offsets)

    @property
    def owners(self) -> Counts:
        """The position of the trajectory that each point belongs to."""
        return np.repeat(np.arange(len(self), dtype=np.int64), self.lengths)

    @property
    def positions(self) -> Counts:
        """The position of each point in its trajectory."""
        return np.arange(len(self.points), dtype=np.int64) - np.repeat(self.offsets[:-1], self.lengths)

    def columns(self) -> dict[str, Any]:
        """Return a table: id, position, x, y, and time where there are times."""
        found: dict[str, Any] = {
            "id": np.array(self.ids, object)[self.owners],
            "position": self.positions,
            "x": self.points[:, 0],
            "y": self.points[:, 1],
        }
        return found if self.times is None else {**found, "time": self.times}

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, name: Identifier) -> Floats:
        """Return the points of the trajectory of an id."""
        if name not in self.ids:
            raise InvalidInputError(f"there is no trajectory {name!r} among {len(self)}")
        return self._points_of(self.ids.index(name))

    def __iter__(self) -> Iterator[Floats]:
        return (self._points_of(each) for each in range(len(self)))

    def _points_of(self, position: int) -> Floats:
        return self.points[self.offsets[position] : self.offsets[position + 1]]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Trajectories):
            return NotImplemented
        if self.times is None or other.times is None:
            same_times = self.times is other.times
        else:
            same_times = bool(np.array_equal(self.times, other.times))
        return (
            self.ids == other.ids
            and np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.points, other.points)
            and same_times
        )

    def __hash__(self) -> int:
        return hash((self.ids, self.points.tobytes()))

    def __repr__(self) -> str:
        timed = "" if self.times is None else ", timed"
        return f"<{len(self)} trajectories with {len(self.points)} points{timed}>"

    def __reduce__(self) -> Any:
        return type(self), (self.points, self.offsets, self.ids, self.times)


def _as_offsets(offsets: Any) -> Counts:
    starts = np.array(offsets)
    if starts.ndim != 1 or len(starts) < 2 or starts.dtype.kind not in "iu":
        raise InvalidInputError("offsets are whole numbers, one more than there are trajectories")
    if starts[0] != 0 or (np.diff(starts) < 0).any():
        raise InvalidInputError("offsets begin with 0 and never fall")
    return starts.astype(np.int64)


def _as_times(times: Any, count: int) -> np.ndarray[Any, Any]:
    stamps = np.array(times)
    if stamps.shape != (count,):
        raise InvalidInputError(f"there is one time for each of {count} points, got shape {stamps.shape}")
    if stamps.dtype.kind == "M":
        stamps = stamps.astype("M8[ms]")
        missing = np.isnat(stamps)
    elif stamps.dtype.kind in "iuf":
        stamps = stamps.astype(np.float64)
        missing = ~np.isfinite(stamps)
    else:
        raise InvalidInputError(f"times are numbers or datetimes, got {stamps.dtype}")
    if missing.any():
        raise InvalidInputError(f"the time at position {int(np.argmax(missing))} is missing: drop the point")
    return stamps
