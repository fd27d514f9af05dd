"""Bayesian optimisation, as algorithms 5 and 6 of the thesis, with the probability in the objective."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ldpkit.core.errors import MissingDependencyError
from ldpkit.core.parameters import check_whole
from ldpkit.planning.searches import ChosenEpsilon, check_tolerance, search
from ldpkit.planning.searches.binary import SimulatedSearch
from ldpkit.planning.searches.isotonic import smallest_passing

if TYPE_CHECKING:
    from ldpkit.core.typing import Floats
    from ldpkit.planning.constraint import Constraint
    from ldpkit.planning.frequencies.question import FrequencyQuestion
    from ldpkit.planning.searches import TrialRunner

__all__ = ["BayesianOptimisation"]


@search("bayes", "bayesian")
@dataclass(frozen=True)
class BayesianOptimisation(SimulatedSearch):
    """Model the distance between metric and omega by a Gaussian process, and look where it may be least.

    The thesis takes the distance of the mean, so that its answer satisfies the
    constraint half of the time, whatever probability was wanted. Here it is the
    distance of the quantile that the wanted probability names. The process lives on the
    logarithm of epsilon: on a range from 0.001 to 20, what matters may lie below 1. The
    answer is the smallest that passes by all trials together; where nothing close below
    it was tried, the gap is halved until it is narrow.

    Parameters
    ----------
    runs, average
        As in `SimulatedSearch`.
    tolerance : float
        How wide the gap below the answer may be.
    init_points : int
        How many epsilons are drawn at random first; the thesis advises 20 or more.
    iter_num : int
        How many are then chosen by expected improvement; the thesis advises 15 or more.
    """

    title = "Bayesian optimisation"
    tolerance: float = 0.01
    init_points: int = 20
    iter_num: int = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        check_tolerance(self.tolerance)
        check_whole(self.init_points, "init_points")
        check_whole(self.iter_num, "iter_num", least=0)

    def check(self, question: FrequencyQuestion) -> None:
        """Refuse where the library is missing."""
        _library()
        super().check(question)

    def select(self, runner: TrialRunner) -> ChosenEpsilon:
        """Return the smallest epsilon that passes, by all that was tried together."""
        question = runner.question
        constraint = question.constraint
        low, high = math.log(question.epsilon_min), math.log(question.epsilon_max)

        def evaluate(log_epsilon: float) -> tuple[float, float]:
            """Return minus the distance of the quantile from omega, and the variance of the quantile."""
            epsilon = min(max(math.exp(log_epsilon), question.epsilon_min), question.epsilon_max)
            values = runner.draw(epsilon, self.runs)
            runner.judge(epsilon, values, average=self.average)
            distance = abs(constraint.quantile(values) - constraint.omega)
            return -distance, _quantile_variance(values, constraint)

        at_largest = evaluate(high)
        if not runner.trace[-1].passed:
            return ChosenEpsilon(None)
        library = _library()
        generator = runner.source.generator()
        optimizer = library.BayesianOptimization(
            None,
            {"log_epsilon": (low, high)},
            acquisition_function=library.acquisition.ExpectedImprovement(xi=0.0),
            random_state=int(generator.integers(1 << 31)),
            verbose=0,
            allow_duplicate_points=True,
        )
        found = [at_largest]
        optimizer.register({"log_epsilon": high}, at_largest[0])
        with _one_thread():
            for step in range(self.init_points + self.iter_num):
                if step < self.init_points:
                    point = float(generator.uniform(low, high))
                else:
                    optimizer.set_gp_params(alpha=_relative_noise(found), n_restarts_optimizer=1)
                    point = float(optimizer.suggest()["log_epsilon"])
                found.append(evaluate(point))
                optimizer.register({"log_epsilon": point}, found[-1][0])
        return ChosenEpsilon(self._close_gap(runner))

    def _close_gap(self, runner: TrialRunner) -> float:
        """Return the smallest epsilon that passes, after halving the gap below it to the tolerance."""
        question = runner.question
        while True:
            found = smallest_passing(runner.trace, question.constraint, average=self.average)
            chosen = question.epsilon_max if found is None else found
            tried = [trial.epsilon for trial in runner.trace if trial.epsilon < chosen]
            below = max(tried, default=question.epsilon_min)
            if chosen - below >= self.tolerance:
                self.test(runner, (below + chosen) / 2)
            elif sum(trial.epsilon == chosen for trial in runner.trace) < 2:
                self.test(runner, chosen)  # one lucky trial among few must not decide alone
            else:
                return chosen


def _quantile_variance(values: Floats, constraint: Constraint) -> float:
    """Return the variance of the quantile, from the values one standard error of rank beside it."""
    share, runs = constraint.probability, len(values)
    if constraint.direction == "at least":
        share = 1 - share
    reach = math.sqrt(share * (1 - share) / runs)
    low, high = np.quantile(values, [max(share - reach, 0.0), min(share + reach, 1.0)])
    return float((high - low) ** 2 / 4)


def _relative_noise(found: Sequence[tuple[float, float]]) -> float:
    """Return the variance of the error of the best point as a share of the variance of all points.

    The process must not follow the error of the simulations, nor smooth away what is more.
    """
    targets = np.array([target for target, _ in found])
    _, variance = max(found)
    spread = float(targets.var())
    return min(max(variance / spread, 1e-8), 1.0) if spread > 0 else 1.0


def _one_thread() -> AbstractContextManager[object]:
    """Return a context in which matrices of forty rows are not spread over all cores."""
    limits: Callable[[int], AbstractContextManager[object]]
    limits = importlib.import_module("threadpoolctl").threadpool_limits  # scikit-learn needs it anyway
    return limits(1)


def _library() -> Any:
    try:
        return importlib.import_module("bayes_opt")
    except ImportError:
        raise MissingDependencyError(
            "bayesian-optimization", "the search method bayes", "optimisation"
        ) from None
