"""A data set: a domain and how many people hold each of its values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ldpkit.core.domains.categorical import CategoricalDomain, as_domain
from ldpkit.core.errors import InvalidInputError
from ldpkit.core.parameters import as_array, check_counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ldpkit.core.typing import Counts, DomainLike, Indices, Label, Values

__all__ = ["Dataset"]

LARGEST_LISTED = 1 << 28
"""More people than this are not listed one by one: a gigabyte of indices."""

LARGEST_NUMBERED = 1 << 20
"""Integers beyond are identifiers, not positions: their domain is those that occur."""


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """True values of people, for experiments.

    Parameters
    ----------
    name : str
        What tables and figures call it.
    domain : CategoricalDomain
        The values a person may hold.
    counts : array
        The number of people for each value.
    source, licence : str
        Where the data come from and on what terms.
    indices : array, optional
        The value of each person in the order of the file, where it was read.
    dropped : int
        How many people were left out because their value is missing.

    Examples
    --------
    >>> votes = Dataset.from_values(["no", "yes", "yes"], name="votes")
    >>> votes.counts.tolist(), votes.values().tolist(), list(votes.domain.labels)
    ([1, 2], [0, 1, 1], ['no', 'yes'])
    """

    name: str
    domain: CategoricalDomain
    counts: Counts
    source: str = ""
    licence: str = ""
    indices: Indices | None = field(default=None, repr=False)
    dropped: int = 0

    def __post_init__(self) -> None:
        counts = check_counts(self.counts, len(self.domain))
        counts.setflags(write=False)
        object.__setattr__(self, "counts", counts)

    @classmethod
    def from_values(
        cls,
        values: Values,
        *,
        name: str,
        domain: DomainLike | None = None,
        source: str = "",
        licence: str = "",
    ) -> Dataset:
        """Return the data set of people's values.

        Without a domain, non-negative integers mean 0..max, and anything else the
        distinct values in sorted order.
        """
        array = as_array(values)
        chosen = _observed_domain(array, name) if domain is None else as_domain(domain)
        indices = chosen.encode(array)
        return cls(name, chosen, np.bincount(indices, minlength=len(chosen)), source, licence, indices)

    @classmethod
    def from_pieces(
        cls, distinct: np.ndarray[Any, Any], pieces: Iterable[Values], *, name: str, source: str = ""
    ) -> Dataset:
        """Return what `from_values` does of a long column: its distinct values, and all, some at a time.

        Examples
        --------
        >>> Dataset.from_pieces(np.array(["b", "a"]), [["b", "a"], ["b"]], name="letters").counts.tolist()
        [1, 2]
        """
        domain = _observed_domain(distinct, name)
        indices = np.concatenate([domain.encode(piece) for piece in pieces])
        return cls(name, domain, np.bincount(indices, minlength=len(domain)), source, "", indices)

    @classmethod
    def from_counts(
        cls,
        labels: Sequence[Label],
        counts: Counts,
        *,
        name: str,
        domain: DomainLike | None = None,
        source: str = "",
        licence: str = "",
    ) -> Dataset:
        """Return the data set of a table of counts; without a domain, its labels are the domain."""
        if domain is not None:
            chosen = as_domain(domain)
        elif len(labels) < 2:
            raise InvalidInputError(_too_few(name, labels))
        else:
            numbered = set(labels) == set(range(len(labels)))
            chosen = CategoricalDomain(len(labels) if numbered else labels)
        placed = np.zeros(len(chosen), np.int64)
        placed[chosen.encode(labels)] = counts
        return cls(name, chosen, placed, source, licence)

    @property
    def n(self) -> int:
        """The number of people."""
        return int(self.counts.sum())

    @property
    def k(self) -> int:
        """The size of the domain."""
        return len(self.domain)

    def values(self) -> Indices:
        """Return the index of each person's value: as read, or else sorted, rebuilt from the counts."""
        if self.indices is not None:
            return self.indices
        if self.n > LARGEST_LISTED:
            raise InvalidInputError(
                f"the data set {self.name!r} has {self.n} people, too many to list one by one: "
                "simulate from its counts"
            )
        return np.repeat(np.arange(self.k, dtype=np.uint32), self.counts)

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}, n={self.n}, k={self.k})"


def _observed_domain(array: np.ndarray[Any, Any], name: str) -> CategoricalDomain:
    distinct = np.unique(array)
    if len(distinct) < 2:
        raise InvalidInputError(_too_few(name, distinct.tolist()))
    if distinct.dtype.kind in "iuf":
        smallest, largest = distinct[0], distinct[-1]
        if smallest >= 0 and largest < LARGEST_NUMBERED and (distinct == np.floor(distinct)).all():
            return CategoricalDomain(int(largest) + 1)
    return CategoricalDomain(distinct.tolist())


def _too_few(name: str, labels: Sequence[Label]) -> str:
    what = f"only the value {labels[0]!r}" if labels else "no values"
    return (
        f"the data set {name!r} has {what}, and a domain needs at least 2 values: add those that nobody has, "
        "as rows of a table with the columns value and count, with the count 0 (domain= in Python)"
    )
