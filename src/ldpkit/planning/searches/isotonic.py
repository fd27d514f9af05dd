"""The smallest epsilon that passes among many noisy trials, without the luck of the smallest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ldpkit.planning.constraint import Constraint
    from ldpkit.planning.plan import Trial

__all__ = ["smallest_passing"]


def smallest_passing(trials: Sequence[Trial], constraint: Constraint, *, average: bool) -> float | None:
    """Return the smallest epsilon whose probability is large enough, by all trials together.

    The smallest that happened to pass is too small on average. So trials of the same
    epsilon are pooled, and the probabilities are made to rise with epsilon (isotonic
    regression).

    Parameters
    ----------
    trials : sequence of Trial
        Simulated trials in any order.
    constraint : Constraint
        What must hold.
    average : bool
        Whether the mean of the metric, too, must be on the good side of omega.

    Examples
    --------
    >>> from ldpkit.planning.constraint import Constraint
    >>> from ldpkit.planning.plan import Trial
    >>> trials = [Trial(1.0, 0.91, 100, True), Trial(1.1, 0.83, 100, False), Trial(1.2, 0.95, 100, True)]
    >>> smallest_passing(trials, Constraint("mae", "at most", 0.1, 0.9), average=False)
    1.2
    """
    from scipy.optimize import isotonic_regression

    epsilons, place = np.unique([trial.epsilon for trial in trials], return_inverse=True)
    runs = np.bincount(place, [trial.runs for trial in trials])
    shares = np.bincount(place, [trial.runs * trial.probability for trial in trials]) / runs
    passing = isotonic_regression(shares, weights=runs).x >= constraint.probability - 1e-12
    if average:
        means = np.bincount(place, [trial.runs * (trial.mean or 0.0) for trial in trials]) / runs
        passing &= constraint.holds(means)
    return float(epsilons[np.argmax(passing)]) if passing.any() else None
