"""The question: whose values, which protocol, what accuracy, which budgets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.parameters import check_counts, check_epsilon
from ldpkit.estimation.consistency import CONSISTENCY, batch_estimates
from ldpkit.mechanisms.kinds import frequency_class, frequency_oracle
from ldpkit.planning.constraint import Constraint
from ldpkit.planning.plan import EPSILON_MAX, EPSILON_MIN
from ldpkit.simulation.datasets import Dataset

if TYPE_CHECKING:
    from collections.abc import Callable

    from ldpkit.core.random import RandomSource
    from ldpkit.core.typing import Counts, Floats
    from ldpkit.mechanisms.categorical.oracle import FrequencyOracle

__all__ = ["FrequencyQuestion"]


@dataclass(frozen=True, eq=False)
class FrequencyQuestion:
    """What is asked: the smallest epsilon that satisfies a constraint.

    Parameters
    ----------
    counts : array of int or Dataset
        How many people hold each value: a stand-in for the people who will be asked.
    protocol : str
        A frequency oracle that needs no more than a domain and an epsilon.
    constraint : Constraint
        The accuracy that is wanted.
    consistency : str or None
        The post-processing method that is part of the collection.
    epsilon_min, epsilon_max : float
        The budgets that are allowed. The defaults are those of the thesis.

    Examples
    --------
    >>> wanted = Constraint("mae", "at most", 0.01, probability=0.9)
    >>> FrequencyQuestion([600, 300, 100], "rappor", wanted).protocol
    'sue'
    """

    counts: Counts
    protocol: str
    constraint: Constraint
    consistency: str | None = None
    epsilon_min: float = EPSILON_MIN
    epsilon_max: float = EPSILON_MAX

    def __post_init__(self) -> None:
        given = self.counts.counts if isinstance(self.counts, Dataset) else self.counts
        low = check_epsilon(self.epsilon_min, "the smallest epsilon")
        high = check_epsilon(self.epsilon_max, "the largest epsilon")
        if low >= high:
            raise InvalidParameterError(
                f"the smallest epsilon must be below the largest, got {low:g} and {high:g}"
            )
        if self.consistency is not None:
            CONSISTENCY.get(self.consistency)
        settings = {
            "counts": check_counts(given, np.size(given)),
            "protocol": frequency_class(self.protocol, single_epsilon=True).name,
            "epsilon_min": low,
            "epsilon_max": high,
        }
        for name, value in settings.items():
            object.__setattr__(self, name, value)
        self.oracle(high)  # refuses a domain that is too small before anything is simulated
        self.measure(self.truth[None, :])  # and a metric that does not fit the domain

    @property
    def n(self) -> int:
        """The number of people."""
        return int(self.counts.sum())

    @cached_property
    def truth(self) -> Floats:
        """The true frequencies."""
        return np.asarray(self.counts / self.n)

    def oracle(self, epsilon: float) -> FrequencyOracle:
        """Return the protocol with a budget."""
        return frequency_oracle(self.protocol, len(self.counts), epsilon=epsilon)

    def estimates(self, oracle: FrequencyOracle, runs: int, source: RandomSource) -> Floats:
        """Return the estimates of simulated collections, shape (runs, k)."""
        supports = oracle.simulate(self.counts, rng=source, repeats=runs)
        return batch_estimates(oracle, supports, self.n, self.consistency)

    def measure(self, estimates: Floats) -> Floats:
        """Return the metric of each estimate."""
        return self._meter(estimates)

    @cached_property
    def _meter(self) -> Callable[[Floats], Floats]:
        return self.constraint.meter(self.truth)
