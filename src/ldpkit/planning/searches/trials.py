"""The runner: simulates collections for one question and keeps the record."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ldpkit.core.random import RandomSource, resolve
from ldpkit.planning.plan import Trial

if TYPE_CHECKING:
    from ldpkit.core.typing import Floats
    from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
    from ldpkit.planning.frequencies.question import FrequencyQuestion

__all__ = ["TrialRunner"]

_BATCH = 1 << 16
"""How many numbers are simulated at a time: small enough to stay in the cache."""


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
        batch = max(1, _BATCH // oracle.size)
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
