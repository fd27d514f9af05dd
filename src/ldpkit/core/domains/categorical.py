"""Categorical domains: the public list of values a person may hold.

A domain is a size (values 0..k-1) or labels in order. Values are turned into indices
here and nowhere else, and everything that does not belong is refused here, before any
randomness is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.domains.base import Domain
from ldpkit.core.errors import InvalidInputError, InvalidParameterError, OutOfDomainError
from ldpkit.core.parameters import as_array
from ldpkit.core.text import visible
from ldpkit.core.typing import DomainLike, Indices, Label, Values

if TYPE_CHECKING:
    from ldpkit.core.random import RandomSource

__all__ = ["CategoricalDomain", "as_domain"]

_LONGEST_SHOWN = 60  # characters of a label, where a domain is named
_LARGEST = 1 << 26  # beyond, integers over 2**64 are too coarse for the smallest epsilon


class CategoricalDomain(Domain):
    """The values 0..size-1, or labels in order.

    Parameters
    ----------
    values : int or sequence of labels
        The size, at least 2, or distinct strings, numbers or booleans.

    Examples
    --------
    >>> colours = CategoricalDomain(["red", "green", "blue"])
    >>> colours.encode(["blue", "red"]).tolist()
    [2, 0]
    >>> colours.encode([2, 0]).tolist()          # indices do as well
    [2, 0]
    >>> CategoricalDomain(3).encode([0, 3])
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.OutOfDomainError: value 3 at position 1 is not in the domain 0..2: \
remove it or enlarge the domain
    """

    __slots__ = ("_labels", "_size")
    _size: int
    _labels: tuple[Label, ...] | None

    def __init__(self, values: int | Sequence[Label]) -> None:
        labels: tuple[Label, ...] | None = None
        if isinstance(values, (bool, np.bool_)):
            raise InvalidParameterError(f"a domain is a size or labels, got {values!r}")
        if isinstance(values, (int, np.integer)):
            size = int(values)
        elif isinstance(values, float):
            raise InvalidParameterError(f"a domain size must be a whole number, got {values!r}")
        else:
            labels = _check_labels(values)
            size = len(labels)
        if not 2 <= size <= _LARGEST:
            raise InvalidParameterError(f"a domain needs at least 2 values and at most 2**26, got {size}")
        object.__setattr__(self, "_size", size)
        object.__setattr__(self, "_labels", labels)

    @property
    def size(self) -> int:
        """The number of values."""
        return self._size

    @property
    def labels(self) -> Sequence[Label]:
        """The labels in order; indices where the domain was given as a size."""
        return range(self._size) if self._labels is None else self._labels

    @property
    def has_labels(self) -> bool:
        """Whether the domain was given as labels."""
        return self._labels is not None

    def encode(self, values: Values) -> Indices:
        """Return the index of every value; refuse what is not in the domain.

        Labels win over indices where integers could be either.
        """
        array = as_array(values)
        if array.size == 0:
            raise InvalidInputError("there are no values: give at least one")
        if self._labels is None or (self._labels_are_text and array.dtype.kind in "iu"):
            return self._encode_indices(array)
        return self._encode_labels(array)

    @cached_property
    def _labels_are_text(self) -> bool:
        return self._labels is not None and isinstance(self._labels[0], str)

    @cached_property
    def _index_of(self) -> dict[Label, int]:
        return {label: index for index, label in enumerate(self.labels)}

    def _encode_indices(self, array: np.ndarray[Any, Any]) -> Indices:
        numbers = _whole_numbers(array)
        if numbers.min() < 0 or numbers.max() >= self._size:
            self._refuse(array, int(np.argmax((numbers < 0) | (numbers >= self._size))))
        indices = numbers.astype(np.uint32)
        if indices.max() >= self._size:  # once more: kernels trust the copy, not what was copied
            raise OutOfDomainError(
                f"values changed while they were read, to some outside the domain {self}: "
                "do not write to an array that is being privatized"
            )
        return indices

    def _encode_labels(self, array: np.ndarray[Any, Any]) -> Indices:
        unique, inverse = np.unique(array, return_inverse=True)
        codes = np.fromiter(
            (self._index_of.get(value, -1) for value in unique.tolist()), np.int64, len(unique)
        )
        encoded = codes[inverse]
        if (encoded < 0).any():
            self._refuse(array, int(np.argmax(encoded < 0)))
        return encoded.astype(np.uint32)

    def _refuse(self, array: np.ndarray[Any, Any], position: int) -> None:
        value = array[position].item() if hasattr(array[position], "item") else array[position]
        if isinstance(value, float) and math.isnan(value):
            what, remedy = "value nan", "is missing: drop missing values or give them a label"
        else:
            what = f"value {value!r}"
            remedy = f"is not in the domain {self}: remove it or enlarge the domain"
        raise OutOfDomainError(f"{what} at position {position} {remedy}", position, f"{what} {remedy}")

    def to_json(self) -> int | list[Label]:
        """Return the JSON form: the size, or the list of labels."""
        return self._size if self._labels is None else list(self._labels)

    @classmethod
    def from_json(cls, form: Any) -> Self:
        """Return the domain of a JSON form, or refuse it."""
        if not isinstance(form, (int, list)):
            raise InvalidParameterError(f"a domain is a size or an array of labels, got {str(form)[:50]!r}")
        return cls(form)

    @property
    def short(self) -> str:
        """The domain in the `repr` of a mechanism."""
        return str(self._size)

    def values(self, places: Any) -> Any:
        """Return the labels at some indices; the indices themselves where the domain has no labels."""
        labels = self._labels
        return places if labels is None else [labels[place] for place in np.asarray(places).tolist()]

    def examples(self, most: int, source: RandomSource) -> list[int]:
        """Return indices to try: all of a small domain, else both ends and some at random."""
        if self._size <= most:
            return list(range(self._size))
        others = source.generator().choice(self._size - 2, most // 4, replace=False) + 1
        return sorted({0, self._size - 1, *map(int, others)})

    def __len__(self) -> int:
        return self._size

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CategoricalDomain):
            return NotImplemented
        if self._labels is None or other._labels is None:
            return self._labels is other._labels and self._size == other._size
        return self.digest == other.digest  # Python holds 1, 1.0 and True for equal, labels do not

    def __hash__(self) -> int:
        return hash((self._size, self._labels))

    def __reduce__(self) -> Any:
        return CategoricalDomain, (self.to_json(),)

    def __str__(self) -> str:
        if self._labels is None:
            return f"0..{self._size - 1}"
        shown = ", ".join(visible(str(label)[:_LONGEST_SHOWN]) for label in self._labels[:3])
        return f"{{{shown}}}" if self._size <= 3 else f"{{{shown}, ... {self._size} labels}}"

    def __repr__(self) -> str:
        return f"CategoricalDomain({self.to_json() if self._size <= 8 or not self.has_labels else str(self)})"


def as_domain(domain: DomainLike) -> CategoricalDomain:
    """Return the domain for a size, a sequence of labels or a domain."""
    return domain if isinstance(domain, CategoricalDomain) else CategoricalDomain(domain)


def _whole_numbers(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if array.dtype.kind in "iub":
        return array if array.dtype.kind != "b" else array.astype(np.int64)
    if array.dtype.kind == "f":
        array = array.astype(np.float64)
        whole = np.isfinite(array) & (array == np.floor(array))
        if not whole.all():
            position = int(np.argmin(whole))
            raise OutOfDomainError(
                f"value {array[position].item()!r} at position {position} is not a whole number: "
                "the domain 0..k-1 has indices only"
            )
        return array
    first = array[0].item() if hasattr(array[0], "item") else array[0]
    raise OutOfDomainError(
        f"value {first!r} at position 0 is text, but the domain has indices only: "
        "make the mechanism with the list of labels"
    )


def _check_labels(values: Iterable[Label]) -> tuple[Label, ...]:
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InvalidParameterError(f"a domain is a size or a sequence of labels, got {values!r}")
    labels = tuple(value.item() if isinstance(value, np.generic) else value for value in values)
    for label in labels:
        if not isinstance(label, (str, int, float, bool)):
            raise InvalidParameterError(f"a label must be text, a number or a boolean, got {label!r}")
        if isinstance(label, str) and "\0" in label:
            raise InvalidParameterError(f"a label must not hold a NUL, got {label!r}")
        if isinstance(label, int) and not -(1 << 63) <= label < 1 << 64:
            # Larger ones can all be given the same hash, and then looking them up takes hours.
            raise InvalidParameterError(
                f"a whole number as a label has at most 64 bits, got one of {label.bit_length()}: use text"
            )
        if isinstance(label, float) and not math.isfinite(label):
            raise InvalidParameterError(f"a label must be finite, got {label!r}")
    if len({isinstance(label, str) for label in labels}) > 1:
        raise InvalidParameterError("labels mix text and numbers: make them all text")
    if len(set(labels)) < len(labels):
        raise InvalidParameterError(
            f"label {_first_twice(labels)!r} appears twice in the domain: labels must differ"
        )
    return labels


def _first_twice(labels: Iterable[Label]) -> Label | None:
    """Return the first label that stood before, looked up in a set: a domain may have millions."""
    seen: set[Label] = set()
    for label in labels:
        if label in seen:
            return label
        seen.add(label)
    return None
