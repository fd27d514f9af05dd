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

import numpy as np

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.random import RandomSource, resolve, seeded
from ldpkit.core.registry import Registry
from ldpkit.planning.plan import Trial

if TYPE_CHECKING:
    from ldpkit.core.typing import Floats
    from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
    from ldpkit.planning.frequencies.question import FrequencyQuestion

__all__ = ["SEARCHES", "ChosenEpsilon", "Search", "TrialRunner", "check_tolerance", "search"]

_BATCH = 1 << 16
"""How many numbers are simulated at a time: small enough to stay in the cache."""
_FINEST = 1e-6


class TrialRunner:
    """Simulations for one question, and the trace of what was tried.

    Parameters
    ----------
    question : FrequencyQuestion
        What is asked.
    rng : RandomSource, optional
        Secure by default; seeded for a repeatable search.

    Examples
    --------
    >>> import ldpkit
    >>> from ldpkit.planning.constraint import Constraint
    >>> from ldpkit.planning.frequencies.question import FrequencyQuestion
    >>> question = FrequencyQuestion([600, 300, 100], "oue", Constraint("mae", "at most", 0.1))
    >>> runner = TrialRunner(question, ldpkit.random.seeded(1))
    >>> runner.test(4.0, 50).passed, runner.test(0.01, 50).passed, runner.simulations
    (True, False, 100)
    """

    def __init__(self, question: FrequencyQuestion, rng: RandomSource | None = None) -> None:
        self.question = question
        self.source = resolve(rng)
        self.simulations = 0
        self.trace: list[Trial] = []
        self._oracles: dict[float, FrequencyOracle] = {}

    def oracle(self, epsilon: float) -> FrequencyOracle:
        """Return the protocol with a budget, made once."""
        if epsilon not in self._oracles:
            self._oracles[epsilon] = self.question.oracle(epsilon)
        return self._oracles[epsilon]

    def draw(self, epsilon: float, runs: int) -> Floats:
        """Simulate collections and return the metric of each."""
        oracle = self.oracle(epsilon)
        batch = max(1, _BATCH // len(self.question.counts))
        values = np.empty(runs)
        for start in range(0, runs, batch):
            size = min(batch, runs - start)
            estimates = self.question.estimates(oracle, size, self.source)
            values[start : start + size] = self.question.measure(estimates)
        self.simulations += runs
        return values

    def judge(self, epsilon: float, values: Floats, *, average: bool = False) -> Trial:
        """Record what some simulations say of an epsilon, by their share that satisfies the constraint.

        Parameters
        ----------
        epsilon : float
            The budget.
        values : array
            The metric of each simulation.
        average : bool
            Whether the mean of the metric, too, must be on the good side of omega.
        """
        constraint = self.question.constraint
        share, mean = float(constraint.holds(values).mean()), float(values.mean())
        passed = share >= constraint.probability and (not average or bool(constraint.holds(np.array(mean))))
        return self.record(Trial(epsilon, share, len(values), passed, mean))

    def test(self, epsilon: float, runs: int, *, average: bool = False) -> Trial:
        """Simulate collections and judge them."""
        return self.judge(epsilon, self.draw(epsilon, runs), average=average)

    def record(self, trial: Trial) -> Trial:
        """Add a trial to the trace."""
        self.trace.append(trial)
        return trial


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
        question.estimates(question.oracle(question.epsilon_max), 1, seeded(0))

    @abc.abstractmethod
    def select(self, runner: TrialRunner) -> ChosenEpsilon:
        """Return the smallest epsilon that satisfies the runner's question."""


SEARCHES: Registry[type[Search]] = Registry("search method", "ldpkit.planning.searches")
"""Search methods by name."""

search = SEARCHES.register
"""The decorator that registers a method: `@search("my_method")`."""


def check_tolerance(tolerance: float) -> None:
    """Refuse a tolerance that no search over epsilon can meet."""
    if isinstance(tolerance, bool) or not isinstance(tolerance, (int, float)) or not tolerance >= _FINEST:
        raise InvalidParameterError(
            f"the tolerance must be a number of at least {_FINEST:g}, got {tolerance!r}"
        )
