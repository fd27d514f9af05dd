"""What a sampler is: a place and random bytes go in, the bytes of one report come out."""

from __future__ import annotations

import abc
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import ClassVar, Self, TypeAlias

from ldpkit.client.epsilon import Ratio
from ldpkit.client.randomness import Take
from ldpkit.client.samplers.fields import Fields
from ldpkit.core.errors import OutOfDomainError

__all__ = ["MemorySampler", "Place", "Sampler", "choose_range", "ends_of", "u32", "u64"]

Place: TypeAlias = int | tuple[int, ...]
"""An index, or a pair of them in the plane."""


class Sampler(abc.ABC):
    """One form with its integers, checked.

    A new form is a subclass with `read`, which refuses integers for which `ratio` would not be
    true, `places`, `report_bytes`, `ratio` and `_draw`.

    Examples
    --------
    >>> import ldpkit
    >>> from ldpkit.client.samplers import read_sampler
    >>> sampler = read_sampler(ldpkit.GRR(["no", "yes"], epsilon=1).sampler())
    >>> sampler.form, sampler.places, sampler.report_bytes
    ('response', (2,), 1)
    """

    form: ClassVar[str]
    has_memory: ClassVar[bool] = False
    """Whether a device keeps coins and a permanent report, from which it makes what it sends."""

    @classmethod
    @abc.abstractmethod
    def read(cls, fields: Fields) -> Self:
        """Return the sampler of some fields, or refuse them."""

    @property
    @abc.abstractmethod
    def places(self) -> tuple[int, ...]:
        """How many places there are: one number, or one for each coordinate."""

    @property
    @abc.abstractmethod
    def report_bytes(self) -> int:
        """The length of a report."""

    @abc.abstractmethod
    def ratio(self) -> Ratio:
        """Return the worst ratio of the chances of one report under two places."""

    @abc.abstractmethod
    def _draw(self, place: tuple[int, ...], take: Take) -> bytes:
        """Return a report for a place that was checked."""

    def draw(self, place: Place, take: Take) -> bytes:
        """Return one report for a place; a place that there is not is refused before a byte is taken."""
        return self._draw(self.check_place(place), take)

    def check_place(self, place: Place) -> tuple[int, ...]:
        """Return the coordinates of a place, or refuse it."""
        given = (place,) if isinstance(place, int) else tuple(place)
        sizes = self.places
        if len(given) != len(sizes) or any(
            type(each) is not int or not 0 <= each < size for each, size in zip(given, sizes, strict=True)
        ):
            told = " and ".join(f"0..{size - 1}" for size in sizes)
            raise OutOfDomainError(f"the sampler {self.form!r} has the places {told}, got {str(place)[:50]}")
        return given


class MemorySampler(Sampler):
    """A form in which a device keeps something: public coins, and a permanent report for each state.

    Both have the layout of a report. A new device draws them; one that answers again finds them.

    Examples
    --------
    >>> import ldpkit
    >>> from ldpkit.client.samplers import read_sampler
    >>> sampler = read_sampler(ldpkit.LGRR(4, epsilon_inf=2, epsilon_1=1).sampler())
    >>> sampler.form, sampler.has_memory
    ('chained_response', True)
    """

    has_memory = True

    @abc.abstractmethod
    def integers(self) -> tuple[int, ...]:
        """Return the integers that are part of the label of a permanent report."""

    @abc.abstractmethod
    def ratios(self) -> tuple[Ratio, Ratio, Ratio | None]:
        """Return the ratio of one report, of all about one value, and of the second round; None: infinite."""

    def ratio(self) -> Ratio:
        return self.ratios()[0]

    def coins(self, take: Take) -> bytes:
        """Return the public coins of a new device."""
        return bytes(self.report_bytes)

    def state(self, coins: bytes, place: Place) -> int:
        """Return the state of a device with these coins and this place."""
        return self.check_place(place)[0]

    @property
    @abc.abstractmethod
    def states(self) -> int:
        """How many states there are."""

    def permanent(self, coins: bytes, state: int, take: Take) -> bytes:
        """Return the permanent report of a state."""
        self._check_kept(coins, "coins")
        if type(state) is not int or not 0 <= state < self.states:
            raise OutOfDomainError(
                f"the sampler {self.form!r} has the states 0..{self.states - 1}, got {state!r}"
            )
        return self._permanent(coins, state, take)

    def instant(self, permanent: bytes, take: Take) -> bytes:
        """Return a report to send, made from the permanent one."""
        self._check_kept(permanent, "permanent report")
        return self._instant(permanent, take)

    @abc.abstractmethod
    def _permanent(self, coins: bytes, state: int, take: Take) -> bytes: ...

    @abc.abstractmethod
    def _instant(self, permanent: bytes, take: Take) -> bytes: ...

    def _draw(self, place: tuple[int, ...], take: Take) -> bytes:
        coins = self.coins(take)
        return self.instant(self.permanent(coins, self.state(coins, place), take), take)

    def check_kept_answer(self, answer: int) -> int:
        """Return the answer in a permanent report, or refuse one that there is not."""
        if answer >= self.states:
            raise OutOfDomainError(
                f"a permanent report of the sampler {self.form!r} answers 0..{self.states - 1}, got "
                f"{answer}: the store is damaged or of another question"
            )
        return answer

    def _check_kept(self, kept: bytes, what: str) -> None:
        if len(kept) != self.report_bytes:
            raise OutOfDomainError(
                f"the {what} of the sampler {self.form!r} must have {self.report_bytes} bytes, got "
                f"{len(kept)}: the store is damaged or of another question"
            )


def u64(take: Take) -> int:
    """Return the next random word of 64 bits."""
    return int.from_bytes(take(8), "little")


def u32(take: Take) -> int:
    """Return the next random word of 32 bits."""
    return int.from_bytes(take(4), "little")


def ends_of(weights: Sequence[int]) -> list[int]:
    """Return where consecutive ranges of these lengths end."""
    return list(accumulate(weights))


def choose_range(ends: Sequence[int], word: int) -> tuple[int, int]:
    """Return the range that a word falls in, and how far it is from its start.

    Examples
    --------
    >>> choose_range(ends_of([3, 4, 5]), 3), choose_range([3, 7, 12], 2)
    ((1, 0), (0, 2))
    """
    found = bisect_right(ends, word)
    return found, word - (ends[found - 1] if found else 0)
