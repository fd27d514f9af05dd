"""The iterative Bayesian update on support counts, and its limit.

The update is EM for a stand-in of the likelihood, in which every supported value is an
independent draw from the channel with rows p, q, q, ... scaled to sum to one. It is
consistent, and for GRR it is the likelihood itself; for other mechanisms it is not,
because supports that came in one report belong together. `mle` has the real one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Unpack

import numpy as np

from ldpkit.core.errors import InvalidInputError
from ldpkit.core.typing import Counts
from ldpkit.estimation.bayes.bootstrap import simulate
from ldpkit.estimation.bayes.climb import Climb, Rules, check_start, climb
from ldpkit.estimation.bayes.errors import ErrorOptions, ErrorRules, Errors, by_delta
from ldpkit.estimation.bayes.limit import limit
from ldpkit.estimation.bayes.loglikelihood import Surrogate
from ldpkit.estimation.consistency import Noise
from ldpkit.estimation.estimate import Estimate
from ldpkit.estimation.from_reports import estimator
from ldpkit.estimation.intervals import CountRegion
from ldpkit.mechanisms.tally import FrequencyTally

__all__ = ["ibu", "ibu_limit", "update"]


def update(
    counts: Counts, p: float, q: float, *, rules: Rules | None = None, start: object = None
) -> list[Climb]:
    """Run the iterative Bayesian update on support counts, a batch at a time.

    Parameters
    ----------
    counts : array, shape (batch, k)
        How many reports support each value.
    p, q : float
        The support probabilities.
    rules : Rules, optional
        As published by default: at most 10,000 iterations, until no frequency changes
        by more than 1e-12.
    start : array, optional
        Where to begin; uniform by default.

    Examples
    --------
    >>> [run] = update(np.array([[30, 20, 10]]), 0.5, 1 / (np.e + 1))
    >>> run.frequencies.round(4).tolist(), run.converged
    ([0.8328, 0.1672, 0.0], True)
    """
    from ldpkit.estimation.bayes.kernels import iterate

    rules = rules or Rules(largest_change=1e-12)
    counts = np.asarray(counts)
    if not (counts.sum(axis=1) > 0).all():
        raise InvalidInputError("no report supports any value: there is nothing to update on")
    objectives = [Surrogate(row, p, q) for row in counts]
    begin = check_start(start, counts.shape[1])
    if rules.accelerate:
        return [climb(objective, begin, rules) for objective in objectives]
    frequencies, iterations, changes = iterate(
        np.array([objective.histogram for objective in objectives]),
        np.tile(begin, (len(counts), 1)),
        objectives[0].floor,
        objectives[0].lift,
        rules.max_iterations,
        rules.largest_change,
    )
    views = [objective(row) for objective, row in zip(objectives, frequencies, strict=True)]
    return [
        Climb(row, int(steps), bool(change <= rules.largest_change), view.log_likelihood, view.gap)
        for row, steps, change, view in zip(frequencies, iterations, changes, views, strict=True)
    ]


@estimator("ibu", FrequencyTally)
def ibu(
    tally: FrequencyTally,
    *,
    max_iterations: int = 10_000,
    tolerance: float = 1e-12,
    start: object = None,
    accelerate: bool | str = False,
    **error_options: Unpack[ErrorOptions],
) -> Estimate:
    """Return frequencies by the iterative Bayesian update, with the published stopping rule.

    Parameters
    ----------
    tally : FrequencyTally
        Support counts of a frequency oracle.
    max_iterations : int
        The largest number of iterations. For large domains 10,000 are far from
        convergence, and stopping there smooths the result; `diagnostics` says so.
    tolerance : float
        Stop when no frequency changes by more than this in one iteration.
    start : array, optional
        A distribution without zeros; uniform by default.
    accelerate : bool or {"squarem", "scoring"}
        True (SQUAREM) gets to the limit in far fewer iterations.
    **error_options
        `errors`, `repeats`, `rng` and `population` as in `ErrorRules`. Closed forms are
        those of the limit; the bootstrap simulates collections in which the estimate is
        the truth, and estimates each in the same way.
    """
    rules = Rules(max_iterations, accelerate, largest_change=tolerance)
    oracle = tally.mechanism

    def run(counts: Counts) -> list[Climb]:
        return update(counts, oracle.p, oracle.q, rules=rules, start=start)

    return _estimate(tally, "ibu", run, tolerance, ErrorRules(**error_options))


@estimator("ibu_limit", FrequencyTally)
def ibu_limit(tally: FrequencyTally, **error_options: Unpack[ErrorOptions]) -> Estimate:
    """Return the frequencies that the iterative Bayesian update converges to, without iterating.

    Parameters
    ----------
    tally : FrequencyTally
        Support counts of a frequency oracle.
    **error_options
        As for `ibu`.

    Examples
    --------
    >>> import ldpkit
    >>> tally = ldpkit.Tally(ldpkit.OUE(3, epsilon=1), 40, [30, 20, 10])
    >>> tally.estimate("ibu_limit").values.round(4).tolist()
    [0.8328, 0.1672, 0.0]
    """
    oracle = tally.mechanism

    def run(counts: Counts) -> list[Climb]:
        tops = limit(counts, oracle.p, oracle.q)
        views = [Surrogate(row, oracle.p, oracle.q)(top) for row, top in zip(counts, tops, strict=True)]
        return [
            Climb(top, 0, True, view.log_likelihood, view.gap) for top, view in zip(tops, views, strict=True)
        ]

    return _estimate(tally, "ibu_limit", run, 0.0, ErrorRules(**error_options))


def _estimate(
    tally: FrequencyTally,
    method: str,
    run: Callable[[Counts], list[Climb]],
    tolerance: float,
    rules: ErrorRules,
) -> Estimate:
    oracle = tally.mechanism
    [made] = run(tally.counts[None, :])
    errors = by_delta(oracle, tally.counts, tally.n, population=rules.population)
    if rules.errors == "bootstrap":
        drawn = run(simulate(oracle, made.frequencies, tally.n, rules))
        errors = Errors(np.std([again.frequencies for again in drawn], axis=0, ddof=1), "bootstrap")
    return Estimate(
        values=made.frequencies,
        stderr=errors.stderr,
        n=tally.n,
        domain=oracle.domain,
        made_by=oracle.read_by(method),
        raw=made.frequencies,
        unbiased=oracle.unbiased(tally.counts, tally.n),
        noise=Noise.of(oracle, tally.n),
        region=CountRegion([tally]),
        mechanisms=(oracle,),
        population=rules.population,
        diagnostics=made.diagnostics(tolerance=tolerance, errors=errors.method),
    )
