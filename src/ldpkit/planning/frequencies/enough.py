"""How much would be enough: the people, or the epsilon, from which a collection teaches anything.

It is looked for by doubling the people, and along the list of budgets, with few simulated
collections: the answer says where to go, not more.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from ldpkit.core.errors import LdpkitError
from ldpkit.core.numbertext import number_text
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Counts, Floats
from ldpkit.mechanisms.kinds import frequency_class
from ldpkit.planning.frequencies.nothing import learn_nothing
from ldpkit.planning.frequencies.study import BUDGETS, Combination, OracleStudy
from ldpkit.planning.ties import is_tie
from ldpkit.simulation.metrics import Metric

__all__ = ["Enough", "beats", "find_enough"]

_RUNS = 24
_DOUBLINGS = 24
_MOST_NUMBERS = 1 << 22  # estimates at a time, so that a large domain does not take minutes


@dataclass(frozen=True)
class Enough:
    """What would make a collection better than an answer without any reports.

    Parameters
    ----------
    people : int
        How many people were asked.
    epsilon : float
        With which budget.
    more_people : int or None
        About how many would be enough at that epsilon; None if no number that was tried.
    more_epsilon : float or None
        About which epsilon would be enough for these people; None if none.
    """

    people: int
    epsilon: float
    more_people: int | None
    more_epsilon: float | None

    @property
    def words(self) -> str:
        """What would be enough, as a sentence."""
        at = f"with {self.people:,} people at epsilon {number_text(self.epsilon)}"
        ways = []
        if self.more_people is not None:
            ways.append(f"about {self.more_people:,} people at this epsilon")
        if self.more_epsilon is not None:
            ways.append(f"about epsilon {number_text(self.more_epsilon, 2)} for these people")
        if not ways:
            return f"You cannot learn anything {at}, nor with more people or a larger epsilon."
        return f"You cannot learn anything {at}; you would need {', or '.join(ways)}."


def beats(values: Floats, nothing: float, *, larger_is_better: bool) -> bool:
    """Return whether the mean over some runs is better than a known number, and not by luck.

    Examples
    --------
    >>> import numpy as np
    >>> runs = np.array([0.9, 1.0, 1.1])
    >>> beats(runs, 2.0, larger_is_better=False), beats(runs, 1.01, larger_is_better=False)
    (True, False)
    """
    mean, stderr = float(values.mean()), float(values.std(ddof=1)) / len(values) ** 0.5
    better = mean > nothing if larger_is_better else mean < nothing
    return better and not is_tie(mean, nothing, stderr, len(values) - 1)


def find_enough(
    counts: Counts,
    metric: Metric,
    protocols: Sequence[str],
    epsilon: float,
    source: RandomSource,
    *,
    ways: Sequence[Combination] | None = None,
) -> Enough:
    """Return about how many people, and about which epsilon, would teach something.

    Parameters
    ----------
    counts : array of int
        How many people hold each value; more of them hold the values in the same proportions.
    metric : Metric
        What is measured.
    protocols : sequence of str
        What may be used.
    epsilon : float
        The budget that is not enough.
    source : RandomSource
        What the collections are simulated with.
    ways : sequence of Combination, optional
        What may follow a protocol; by default everything.

    Examples
    --------
    >>> import ldpkit, numpy as np
    >>> from ldpkit.simulation.metrics import metric_for
    >>> people, mae = np.array([6, 3, 1, 0]), metric_for("mae")
    >>> found = find_enough(people, mae, ["grr"], 0.1, ldpkit.random.seeded(1))
    >>> found.people, found.more_people > 100, found.more_epsilon > 0.5
    (10, True, True)
    """
    runs = max(2, min(_RUNS, _MOST_NUMBERS // len(counts)))
    nothing = learn_nothing(counts, metric).error

    def teaches(people: Counts, budget: float) -> bool:
        for name in protocols:
            make = partial(frequency_class(name, single_epsilon=True).make, len(people))
            study = OracleStudy(
                make, people, metric, runs, source.derive(f"{name} {people.sum()} {budget!r}")
            )
            for outcome in study.at(budget, ways):
                if beats(outcome.values, nothing, larger_is_better=metric.larger_is_better):
                    return True
        return False

    def with_factor(doublings: int) -> bool:
        try:
            return teaches(counts << doublings, epsilon)
        except LdpkitError:  # more people than a mechanism can count
            return False

    doublings = bisect_left(range(1, _DOUBLINGS + 1), True, key=with_factor) + 1
    budgets = [budget for budget in BUDGETS if budget > epsilon]
    place = bisect_left(budgets, True, key=partial(teaches, counts))
    n = int(counts.sum())
    return Enough(
        people=n,
        epsilon=epsilon,
        more_people=n << doublings if doublings <= _DOUBLINGS else None,
        more_epsilon=budgets[place] if place < len(budgets) else None,
    )
