"""The analytic search: the law of the metric instead of simulations, and root finding."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

from ldpkit.core.errors import InvalidParameterError
from ldpkit.planning.laws.errors import absolutes_score, largest_error_score, squares_score
from ldpkit.planning.laws.noise import NoiseLaw
from ldpkit.planning.laws.order import TauLaw
from ldpkit.planning.plan import Trial
from ldpkit.planning.searches import ChosenEpsilon, Search, check_tolerance, search
from ldpkit.planning.searches.roots import find_root

if TYPE_CHECKING:
    from ldpkit.planning.frequencies.question import FrequencyQuestion
    from ldpkit.planning.searches import TrialRunner

__all__ = ["AnalyticSearch", "MetricLaw", "law_of"]

_FEW = 25.0
"""Below this variance of a support count, the normal law is rough."""

_NEAR = 0.01
"""How exactly, as a fraction of epsilon, the guide says where to look."""


class MetricLaw(NamedTuple):
    """The law of a metric: from the noise to the normal score of the constraint.

    `guide` is a quick stand-in that says where to look.
    """

    score: Callable[[NoiseLaw], float]
    guide: Callable[[NoiseLaw], float]


def law_of(question: FrequencyQuestion) -> MetricLaw:
    """Return the law of a question's metric, or say why there is none."""
    metric, omega, k = question.constraint.metric, question.constraint.omega, len(question.counts)
    laws: dict[str, Callable[[NoiseLaw], float]] = {
        "l1": lambda noise: absolutes_score(noise, omega),
        "mae": lambda noise: absolutes_score(noise, omega * k),
        "l2": lambda noise: squares_score(noise, omega * abs(omega)),
        "mse": lambda noise: squares_score(noise, omega * k),
        "rmse": lambda noise: squares_score(noise, omega * abs(omega) * k),
        "max_error": lambda noise: largest_error_score(noise, omega),
    }
    if metric not in laws and metric != "kendall_tau":
        raise InvalidParameterError(
            f"the law of {metric} is not known, so the search method analytic does not apply: "
            f"use sequential, or one of the metrics {', '.join(laws)}, kendall_tau"
        )
    # A shift of all estimates leaves their order as it is.
    if question.consistency is not None and (metric, question.consistency) != ("kendall_tau", "norm"):
        raise InvalidParameterError(
            f"the law of {metric} after {question.consistency} is not known, so the search method "
            "analytic does not apply: use sequential, or leave the consistency method out"
        )
    if metric == "kendall_tau":
        order = TauLaw(question.truth, omega)
        return MetricLaw(order.score, order.guide)
    return MetricLaw(laws[metric], laws[metric])


@search("analytic", "exact")
@dataclass(frozen=True)
class AnalyticSearch(Search):
    """Find the epsilon at which the computed probability is the wanted one.

    Errors of the estimates are normal with exact variances and covariances. From these
    follow the sums of squares and of absolute errors (saddle point), the largest error,
    and mean and variance of Kendall's tau (beta law). With support counts in the
    hundreds, probabilities are right to about 0.01 for tau on few values and to 0.003
    otherwise. It applies to pure protocols without post-processing.

    Parameters
    ----------
    tolerance : float
        How exactly the root is found: absolutely above epsilon 1, relatively below.
    """

    title = "Analytic"
    tolerance: float = 1e-3

    def __post_init__(self) -> None:
        check_tolerance(self.tolerance)

    def check(self, question: FrequencyQuestion) -> None:
        """Refuse a metric, or a protocol, whose law is not known."""
        law_of(question)
        NoiseLaw.of(question.oracle(question.epsilon_max), question.counts)

    def select(self, runner: TrialRunner) -> ChosenEpsilon:
        """Return the smallest epsilon by the law of the metric."""
        question = runner.question
        law, normal = law_of(question), NormalDist()
        wanted = normal.inv_cdf(question.constraint.probability)
        known: dict[float, float] = {}

        def noise(log_epsilon: float) -> NoiseLaw:
            return NoiseLaw.of(runner.oracle(_within(question, log_epsilon)), question.counts)

        def margin(log_epsilon: float) -> float:
            if log_epsilon not in known:
                score = law.score(noise(log_epsilon))
                known[log_epsilon] = score - wanted
                runner.record(Trial(_within(question, log_epsilon), normal.cdf(score), 0, score >= wanted))
            return known[log_epsilon]

        low, high = math.log(question.epsilon_min), math.log(question.epsilon_max)
        guess = _root(lambda point: law.guide(noise(point)) - wanted, low, high, _NEAR)
        low, high = _bracket(margin, guess, low, high)
        if margin(high) < 0:  # the bracket then ends at the largest epsilon
            return self._selection(runner, None, margin(high) + wanted)
        step = self.tolerance / max(1.0, math.exp(guess)) / 2
        root = _root(margin, low, high, step)
        while margin(root) < 0:  # the root is known up to a step: stand on its good side
            root = min(root + step, high)
        return self._selection(runner, _within(question, root), margin(root) + wanted)

    def _selection(self, runner: TrialRunner, epsilon: float | None, score: float) -> ChosenEpsilon:
        question = runner.question
        note, rough = "computed, not simulated", False
        at = runner.oracle(question.epsilon_max if epsilon is None else epsilon)
        if NoiseLaw.of(at, question.counts).smallest_count < _FEW and epsilon is not None:
            note, rough = "rough: some support counts are small here, use sequential", True
        return ChosenEpsilon(epsilon, NormalDist().cdf(score), None, None, note, rough)


def _within(question: FrequencyQuestion, log_epsilon: float) -> float:
    return min(max(math.exp(log_epsilon), question.epsilon_min), question.epsilon_max)


def _root(function: Callable[[float], float], low: float, high: float, precision: float) -> float:
    """Return where a rising function crosses zero, or the end that is nearer to it."""
    if function(low) >= 0:
        return low
    if function(high) < 0:
        return high
    return find_root(function, low, high, precision)


def _bracket(
    function: Callable[[float], float], guess: float, low: float, high: float
) -> tuple[float, float]:
    """Return a range around a guess at whose ends a rising function has different signs, if there is one."""
    reach = 2 * _NEAR
    if function(guess) >= 0:
        upper, lower = guess, max(guess - reach, low)
        while lower > low and function(lower) >= 0:
            reach *= 2
            upper, lower = lower, max(lower - reach, low)
        return lower, upper
    lower, upper = guess, min(guess + reach, high)
    while upper < high and function(upper) < 0:
        reach *= 2
        lower, upper = upper, min(upper + reach, high)
    return lower, upper
