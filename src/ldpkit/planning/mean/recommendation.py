"""Which mechanism for a mean: ranked, with an answer that asks nobody among them."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from ldpkit.assurance.adversary import epsilon_warnings
from ldpkit.core.domains.interval import IntervalDomain, IntervalLike, as_interval
from ldpkit.core.numbertext import number_text
from ldpkit.core.results import TOP, Result
from ldpkit.core.tables import Table
from ldpkit.core.text import and_text
from ldpkit.planning.mean.mechanisms import (
    MeanOption,
    mean_options,
    mean_warnings,
    smallest_epsilon,
    tied_options,
)
from ldpkit.planning.mean.variance import surpassed

__all__ = ["MeanRecommendation", "recommend_mean"]


@dataclass(frozen=True, repr=False)
class MeanRecommendation(Result):
    """Mechanisms for a mean, best first.

    Parameters
    ----------
    domain : IntervalDomain
        Where the numbers lie.
    people : int
        How many are asked.
    probability : float
        With which probability the mean is not further off than `within`.
    options : tuple of MeanOption
        The best first.
    by_epsilon : bool
        Whether an error was given and the smallest epsilon wins, or the other way round.
    warnings : tuple of str
        What a user must know before collecting.

    Examples
    --------
    >>> import ldpkit
    >>> found = ldpkit.recommend_mean((0, 100), n=100_000, epsilon=1.0)
    >>> isinstance(found, MeanRecommendation)
    True
    """

    domain: IntervalDomain
    people: int
    probability: float
    options: tuple[MeanOption, ...]
    by_epsilon: bool
    warnings: tuple[str, ...] = ()

    kind: ClassVar[str] = "mean recommendation"

    @property
    def best(self) -> MeanOption:
        """The first option."""
        return self.options[0]

    @property
    def ties(self) -> tuple[MeanOption, ...]:
        """The options that cannot be told from the best, itself included."""
        return tuple(tied_options(self.options, by_epsilon=self.by_epsilon))

    @property
    def nothing(self) -> MeanOption:
        """What the middle of the interval gives, which asks nobody."""
        return MeanOption("nothing", 0.0, math.nan, self.domain.width / 2, 0)

    @property
    def teaches(self) -> bool:
        """Whether the best is better than an answer without any reports."""
        return self.by_epsilon or self.best.within < self.nothing.within

    def ranked(self) -> tuple[MeanOption, ...]:
        """Return the options with learning nothing in its place among them."""
        return (*self.options, self.nothing) if self.teaches else (self.nothing, *self.options)

    def answer(self, unit: str = "") -> str:
        """Return which mechanism is best, or which tie, as a sentence."""
        return self.notes()[0]

    @property
    def title(self) -> str:
        """The title above the table."""
        return f"Mean of {self.people:,} numbers from {self.domain.low:g} to {self.domain.high:g}"

    @property
    def caption(self) -> str:
        """What the columns and the star mean."""
        return (
            f"within: how far off the mean is at most, with probability {self.probability:g}, for any "
            "numbers; nothing: the middle of the interval; "
            f"* {'best' if len(self.ties) == 1 else 'best: these tie'}"
        )

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return one record for each mechanism, and one for learning nothing."""
        rows = [asdict(option) for option in self.ranked()]
        return [row | {"stderr": None if math.isnan(row["stderr"]) else row["stderr"]} for row in rows][:top]

    def about(self) -> dict[str, Any]:
        """Return what was asked, and which mechanisms are best."""
        return {
            "people": self.people,
            "interval": self.domain.to_json(),
            "probability": self.probability,
            "teaches": self.teaches,
            "best": [option.mechanism for option in self.ties],
        }

    def tables(self, top: int | None = TOP) -> list[Table]:
        """Return the mechanisms, those that are best marked."""
        column, names = "epsilon" if self.by_epsilon else "stderr", [each.mechanism for each in self.ties]
        rows = self.rows(top)
        best = {place: column for place, row in enumerate(rows) if row["mechanism"] in names}
        return [Table.of(rows, title=self.title, caption=self.caption, best=best)]

    def notes(self) -> list[str]:
        """Return which mechanism is best, and what would be enough where none teaches anything."""
        best, names = self.best, [option.mechanism for option in self.ties]
        lead = f"{names[0]} {'needs' if self.by_epsilon else 'has'}"
        if len(names) > 1:
            lead = f"{and_text(names)} tie for"
        reach = f"within {number_text(best.within, 3)} with probability {self.probability:g}"
        if self.by_epsilon:
            told = f"{lead} the smallest epsilon, {best.epsilon:.3g}, for a mean {reach}."
        else:
            told = f"{lead} the smallest error at epsilon {best.epsilon:.3g}: the mean is {reach}."
        hint = (
            "Where values are concentrated and epsilon is large, AdaptiveMean (ldpkit mean -p auto) may do "
            "better."
        )
        worse = filter(None, (surpassed(each.mechanism, best.epsilon) for each in self.options))
        notes = [f"{sentence}." for sentence in worse]
        return [*([] if self.teaches else self._useless()), told, *notes, hint]

    def _useless(self) -> list[str]:
        """Return that this collection is for nothing, and what would not be."""
        best, half = self.best, self.nothing.within
        more = math.ceil(self.people * (best.within / half) ** 2)
        needed = smallest_epsilon(best.mechanism, self.domain, self.people, half, self.probability)
        other = "" if needed is None else f", or about epsilon {number_text(needed, 2)} for these people"
        useless = (
            f"This collection cannot teach anything: its mean may be off by {number_text(best.within)}, "
            f"and the middle of the interval is never off by more than {number_text(half)}."
        )
        return [useless, f"You would need about {more:,} people at this epsilon{other}."]


def recommend_mean(
    domain: IntervalLike,
    n: int,
    *,
    epsilon: float | None = None,
    within: float | None = None,
    probability: float = 0.95,
) -> MeanRecommendation:
    """Rank the mechanisms for a mean of numbers.

    Parameters
    ----------
    domain : IntervalDomain or pair of float
        The public interval of the numbers.
    n : int
        The number of people.
    epsilon : float, optional
        The budget. Give this or `within`.
    within : float, optional
        How far off the mean may be, in the unit of the numbers.
    probability : float
        With which probability it must not be further off.

    Examples
    --------
    >>> import ldpkit
    >>> ldpkit.recommend_mean((0, 100), 100_000, within=0.5).notes()[0]
    'hm needs the smallest epsilon, 1.28, for a mean within 0.5 with probability 0.95.'
    """
    interval = as_interval(domain)
    options = mean_options(interval, n, epsilon=epsilon, within=within, probability=probability)
    told = mean_warnings(interval, within)
    told += epsilon_warnings(options[0].epsilon, subject=options[0].mechanism)
    return MeanRecommendation(interval, n, probability, tuple(options), within is not None, tuple(told))
