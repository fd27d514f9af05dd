"""Sequential search: simulate until a confidence bound decides, and no longer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.parameters import check_fraction, check_whole
from ldpkit.planning.plan import Trial
from ldpkit.planning.searches import ChosenEpsilon, Search, check_tolerance, search
from ldpkit.planning.searches.roots import find_root

if TYPE_CHECKING:
    from ldpkit.planning.searches import TrialRunner

__all__ = ["ConfidenceSequence", "SequentialSearch"]

_FIRST = 16  # runs before the first look


@dataclass(frozen=True)
class ConfidenceSequence:
    """Intervals for a probability that hold at all times at once, however often one looks.

    If p is the probability, the likelihood of all runs under a beta mixture over that
    under p is a martingale that starts at 1. By Ville's inequality it ever reaches
    1/error with probability at most `error`. The interval is where it has not.

    Parameters
    ----------
    centre : float
        Where the probability is expected; only the width depends on it.
    error : float
        The probability that any of the intervals ever fails to cover.

    Examples
    --------
    >>> sequence = ConfidenceSequence(0.9, error=0.05)
    >>> [round(end, 3) for end in sequence.interval(900, 1000)]
    [0.863, 0.931]
    >>> sequence.excludes(0.9, 980, 1000), sequence.excludes(0.9, 910, 1000)
    (True, False)
    """

    centre: float
    error: float

    def evidence(self, p: float, successes: int, runs: int) -> float:
        """Return the logarithm of the martingale of a probability p."""
        from scipy.special import betaln, xlog1py, xlogy

        a, b = 2 * self.centre, 2 * (1 - self.centre)
        failures = runs - successes
        mixture = betaln(a + successes, b + failures) - betaln(a, b)
        return float(mixture - xlogy(successes, p) - xlog1py(failures, -p))

    def excludes(self, p: float, successes: int, runs: int) -> bool:
        """Whether p is outside the interval."""
        return self.evidence(p, successes, runs) >= -math.log(self.error)

    def interval(self, successes: int, runs: int) -> tuple[float, float]:
        """Return the ends of the interval; the martingale is convex in p, so there are two."""

        def excess(p: float) -> float:
            return self.evidence(p, successes, runs) + math.log(self.error)

        best = successes / runs
        low = find_root(excess, 1e-300, best, 1e-18) if successes else 0.0
        high = find_root(excess, best, 1 - 1e-16, 1e-12) if successes < runs else 1.0
        return low, high


@search("sequential", "seq")
@dataclass(frozen=True)
class SequentialSearch(Search):
    """Binary search in which every comparison ends as soon as it is decided.

    The range is halved on the logarithmic scale. At each epsilon, collections are
    simulated until a confidence sequence for the probability lies wholly on one side of
    what is wanted. Far from the answer that takes a few dozen, near it some hundred.
    What is not decided after `most` runs counts as not shown, and the search goes up. So
    the answer is shown to satisfy the constraint, and the probability that any of the
    comparisons was decided wrongly is at most `error`.

    Parameters
    ----------
    error : float
        The probability of any wrong decision; each comparison takes an equal share.
    tolerance : float
        The width of the range at which to stop: absolute above epsilon 1, relative below.
    most : int
        The largest number of runs at one epsilon. More runs bring the answer closer to
        the smallest epsilon; they are never needed for it to hold.
    """

    title = "Sequential search"
    error: float = 0.05
    tolerance: float = 0.01
    most: int = 1000

    def __post_init__(self) -> None:
        check_fraction(self.error, "error")
        check_tolerance(self.tolerance)
        if self.tolerance >= 1:
            raise InvalidParameterError(f"the tolerance must be below 1, got {self.tolerance!r}")
        check_whole(self.most, "most")

    def select(self, runner: TrialRunner) -> ChosenEpsilon:
        """Return the smallest epsilon that is shown to satisfy the constraint."""
        question = runner.question
        low, high = question.epsilon_min, question.epsilon_max
        share = self.error / (1 + self._most_comparisons(low, high))
        sequence = ConfidenceSequence(question.constraint.probability, share)
        shown = self._compare(runner, sequence, high)
        if not shown.passed:
            undecided = (
                "" if shown.passed is False else f"undecided after {self.most} runs: give a larger most="
            )
            return ChosenEpsilon(None, shown.probability, _interval(sequence, shown), note=undecided)
        while high - low >= self.tolerance * min(1.0, high):
            middle = math.sqrt(low * high)
            trial = self._compare(runner, sequence, middle)
            if trial.passed:
                shown, high = trial, middle
            else:
                low = middle
        open_ones = sum(trial.passed is None for trial in runner.trace)
        several = "" if open_ones == 1 else "s"
        return ChosenEpsilon(
            high,
            shown.probability,
            _interval(sequence, shown),
            1 - self.error,
            f"{open_ones} smaller epsilon{several} undecided after {self.most} runs" if open_ones else "",
        )

    def _most_comparisons(self, low: float, high: float) -> int:
        """Return how often a range can be halved on the logarithmic scale before it is narrow enough."""
        narrowest = -math.log1p(-self.tolerance / max(1.0, high))
        return max(0, math.ceil(math.log2(math.log(high / low) / narrowest)))

    def _compare(self, runner: TrialRunner, sequence: ConfidenceSequence, epsilon: float) -> Trial:
        constraint = runner.question.constraint
        values = runner.draw(epsilon, min(_FIRST, self.most))
        while True:
            runs, successes = len(values), int(constraint.holds(values).sum())
            decided = sequence.excludes(constraint.probability, successes, runs)
            if decided or runs >= self.most:
                break
            # A fifth more each time: few looks, and little is simulated in vain.
            more = min(max(_FIRST, runs // 5), self.most - runs)
            values = np.concatenate([values, runner.draw(epsilon, more)])
        share = successes / runs
        passed = share > constraint.probability if decided else None
        return runner.record(Trial(epsilon, share, runs, passed, float(values.mean())))


def _interval(sequence: ConfidenceSequence, trial: Trial) -> tuple[float, float]:
    return sequence.interval(round(trial.probability * trial.runs), trial.runs)
