"""What every domain is: a public set of values, frozen, with a JSON form and a fingerprint."""

from __future__ import annotations

import abc
import hashlib
import json
from typing import TYPE_CHECKING, Any, Self

from ldpkit.core.cached import cached_property
from ldpkit.core.frozen import Frozen

if TYPE_CHECKING:
    from ldpkit.core.random import RandomSource
    from ldpkit.core.typing import Indices, Values

__all__ = ["Domain"]


class Domain(Frozen, abc.ABC):
    """The values that a person may hold.

    A new one gives its JSON form and back, its `size`, a `short` text, and `encode`, which
    refuses everything that does not belong before any randomness is drawn.
    """

    __slots__ = ("__dict__",)
    frozen = "a domain does not change: make a new one"

    @property
    @abc.abstractmethod
    def size(self) -> int | None:
        """The number of values; None where they are not counted, as on an interval."""

    @property
    @abc.abstractmethod
    def short(self) -> str:
        """The domain in the `repr` of a mechanism."""

    @abc.abstractmethod
    def encode(self, values: Values) -> Indices:
        """Return the place of every value; refuse what is not in the domain."""

    @abc.abstractmethod
    def values(self, places: Any) -> Any:
        """Return the values that places of `examples` stand for, as people would give them."""

    @abc.abstractmethod
    def examples(self, most: int, source: RandomSource) -> list[Any]:
        """Return places to try: all of a small domain, else its ends and some at random."""

    @abc.abstractmethod
    def to_json(self) -> Any:
        """Return the JSON form."""

    @classmethod
    @abc.abstractmethod
    def from_json(cls, form: Any) -> Self:
        """Return the domain of a JSON form, or refuse it."""

    @cached_property
    def digest(self) -> str:
        """A short fingerprint, equal for equal domains."""
        return hashlib.sha256(json.dumps(self.to_json()).encode()).hexdigest()[:16]
