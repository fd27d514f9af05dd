"""Optimus: the smallest epsilon that gives a wanted accuracy, an idea a file.

A search takes a `TrialRunner`, which simulates collections for one question, and selects
an epsilon. The five of the thesis, made total, and two of our own:

===========  ==============================================================================
name         how
===========  ==============================================================================
bs           binary search
rbs          binary search that keeps a margin beyond the middle
dbs          binary search with more runs where it is close
mpass        passes with ever smaller steps
bayes        Bayesian optimisation of the distance between quantile and omega
analytic     no simulation: the law of the metric, and root finding
sequential   binary search that simulates until a confidence bound decides, and no longer
===========  ==============================================================================

Register another one with the decorator, in a file of your own::

    @search("mine")
    @dataclass(frozen=True)
    class Mine(Search):
        title = "My search"
        def select(self, runner): ...

>>> from ldpkit.planning.searches import SEARCHES
>>> list(SEARCHES)
['analytic', 'bayes', 'bs', 'dbs', 'mpass', 'rbs', 'sequential']
"""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ldpkit.core.random import seeded
from ldpkit.core.registry import Registry

if TYPE_CHECKING:
    from ldpkit.planning.frequencies.question import FrequencyQuestion
    from ldpkit.planning.searches.trials import TrialRunner

__all__ = ["SEARCHES", "Search", "ChosenEpsilon", "search"]


@dataclass(frozen=True)
class ChosenEpsilon:
    """What a search found.

    Parameters
    ----------
    epsilon : float or None
        The budget, or None if none that was allowed satisfies the constraint.
    probability, interval, confidence : optional
        What the search itself knows of the probability at epsilon. Where it says
        nothing, the answer is judged by new simulations.
    note : str
        What else is to be known.
    rough : bool
        Whether the probability was computed by a law that is not good here.
    """

    epsilon: float | None
    probability: float | None = None
    interval: tuple[float, float] | None = None
    confidence: float | None = None
    note: str = ""
    rough: bool = False


class Search(abc.ABC):
    """A way to find the smallest epsilon; its fields are its parameters."""

    title: ClassVar[str]

    def check(self, question: FrequencyQuestion) -> None:
        """Refuse a question that the method cannot answer, such as people that cannot be simulated."""
        question.oracle(question.epsilon_max).simulate(question.counts, rng=seeded(0), repeats=1)

    @abc.abstractmethod
    def select(self, runner: TrialRunner) -> ChosenEpsilon:
        """Return the smallest epsilon that satisfies the runner's question."""


SEARCHES: Registry[type[Search]] = Registry("search method", "ldpkit.planning.searches")
"""Search methods by name."""

search = SEARCHES.register
"""The decorator that registers a method: `@search("my_method")`."""
