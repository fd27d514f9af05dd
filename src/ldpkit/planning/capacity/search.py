"""The searches of the thesis: CAPRI, CAPRI-R and Bayesian optimisation, made total.

Each simulates collections at some epsilons and counts right decisions. The thesis'
algorithms return the largest epsilon untested; here it is tested first, and if even it
fails the constraint is infeasible. The relaxed search of the thesis does not end if its
relaxation is at least half the precision; here a step never gives back more than half of
what halving took.
"""

from __future__ import annotations

import importlib
import math
import time
import warnings
from collections.abc import Callable, Iterator
from statistics import NormalDist
from typing import Any

from ldpkit.core.binomial import binomial_interval
from ldpkit.core.errors import InvalidParameterError, MissingDependencyError
from ldpkit.core.parameters import check_whole
from ldpkit.core.random import RandomSource, resolve
from ldpkit.core.watching import Watch, unwatched, watching
from ldpkit.planning.capacity.exact import EPSILON_MAX, EPSILON_MIN
from ldpkit.planning.capacity.question import CapacityQuestion
from ldpkit.planning.capacity.totals import Sampler, from_collections, from_law
from ldpkit.planning.plan import Plan, Trial, check_range

__all__ = ["RUNS", "bayesian", "capri", "capri_r"]

RUNS = 50_000
"""How many collections are simulated at every epsilon: enough for a stable answer (figure 5.8)."""

_FLATTEST = 0.01  # a normal quantile; below it nothing is told from one half
_FEW_HALVINGS = 4  # about how many a Bayesian search ends with

_ENGINES: dict[str, Callable[[CapacityQuestion, str, RandomSource | None], Sampler]] = {
    "collections": from_collections,
    "law": from_law,
}


def capri(
    question: CapacityQuestion,
    protocol: str,
    *,
    runs: int = RUNS,
    epsilon_min: float = EPSILON_MIN,
    epsilon_max: float = EPSILON_MAX,
    precision: float = 0.01,
    engine: str = "collections",
    rng: RandomSource | None = None,
    watch: Watch = unwatched,
) -> Plan:
    """Halve the range of epsilon until it is narrower than the precision (algorithm 7).

    Parameters
    ----------
    question : CapacityQuestion
        What is asked.
    protocol : str
        A frequency oracle.
    runs : int
        How many collections to simulate at every epsilon.
    epsilon_min, epsilon_max, precision : float
        The range, and when to stop.
    engine : {"collections", "law"}
        Draw every collection, or only how many of them decide rightly, which is binomial
        with the exact probability: the same law, at no cost.
    rng : RandomSource, optional
        Secure by default.
    watch : Watch
        Sees the trials as they come.

    Examples
    --------
    >>> import ldpkit
    >>> question = CapacityQuestion(range(41), [100] * 41, 70_000, "fn", at_most=0.05)
    >>> plan = capri(question, "grr", runs=2000, rng=ldpkit.random.seeded(1))
    >>> round(plan.epsilon, 3), plan.simulations
    (1.749, 22000)
    """
    low, high = check_range(epsilon_min, epsilon_max)
    search = _Search("capri", question, protocol, runs, engine, rng)

    def steps() -> Iterator[Trial]:
        below, above = low, high
        yield search.test(above)
        while above - below > precision:
            middle = (below + above) / 2
            yield (trial := search.test(middle))
            below, above = (below, middle) if trial.passed else (middle, above)

    total = 1 + math.ceil(math.log2(max(2.0, (high - low) / _check_precision(precision))))
    return search.conclude(steps, total, watch, last=True)


def capri_r(
    question: CapacityQuestion,
    protocol: str,
    *,
    delta: float = 0.05,
    runs: int = RUNS,
    epsilon_min: float = EPSILON_MIN,
    epsilon_max: float = EPSILON_MAX,
    precision: float = 0.01,
    engine: str = "collections",
    rng: RandomSource | None = None,
    watch: Watch = unwatched,
) -> Plan:
    """Halve the range less boldly: go back by `delta` each time, so that a wrong turn can be mended.

    The epsilon that is left is tested at the end, and raised by the precision until it passes.

    Parameters
    ----------
    question, protocol, runs, epsilon_min, epsilon_max, precision, engine, rng, watch
        As in `capri`.
    delta : float
        How far to go back, at most a quarter of the range that was halved.
    """
    low, high = check_range(epsilon_min, epsilon_max)
    if isinstance(delta, bool) or not isinstance(delta, (int, float)) or not 0 < delta < math.inf:
        raise InvalidParameterError(f"delta must be positive, got {delta!r}")
    search = _Search("capri_r", question, protocol, runs, engine, rng)

    def steps() -> Iterator[Trial]:
        below, above = low, high
        yield search.test(above)
        while above - below > precision:
            middle, back = (below + above) / 2, min(delta, (above - below) / 4)
            yield (trial := search.test(middle))
            below, above = (below, min(middle + back, high)) if trial.passed else (middle - back, above)
        while above < high:
            yield (trial := search.test(above))
            if trial.passed:
                return
            above = min(above + precision, high)
        yield search.test(high)

    halvings = math.ceil(math.log(max(2.0, (high - low) / _check_precision(precision)), 4 / 3))
    return search.conclude(steps, 2 + halvings, watch, last=True)


def bayesian(
    question: CapacityQuestion,
    protocol: str,
    *,
    init_points: int = 8,
    iterations: int = 16,
    precision: float = 0.01,
    runs: int = RUNS,
    epsilon_min: float = EPSILON_MIN,
    epsilon_max: float = EPSILON_MAX,
    engine: str = "collections",
    rng: RandomSource | None = None,
    watch: Watch = unwatched,
) -> Plan:
    """Let a Gaussian process say where the probability of a right decision is the wanted one.

    It models the distance between the two, in normal quantiles, over the logarithm of
    epsilon. The model is rough where it matters, so at last the gap between the least
    epsilon that passed, which is the answer, and the next below that failed is halved.

    Parameters
    ----------
    question, protocol, runs, epsilon_min, epsilon_max, engine, rng, watch
        As in `capri`.
    init_points, iterations : int
        How many epsilons are drawn at random, and how many are then chosen.
    precision : float
        How narrow that gap must be.
    """
    narrow = _check_precision(precision)
    low, high = check_range(epsilon_min, epsilon_max)
    first, more = check_whole(init_points, "init_points"), check_whole(iterations, "iterations", least=0)
    library = _library()
    source = resolve(rng)
    search = _Search("bayesian", question, protocol, runs, engine, source)
    optimizer = library.BayesianOptimization(
        None,
        {"log_epsilon": (math.log(low), math.log(high))},
        acquisition_function=library.acquisition.ExpectedImprovement(xi=0.0),
        random_state=int(source.words(1)[0] >> 33),
        verbose=0,
        allow_duplicate_points=True,
    )
    # Probabilities are simulated, so the process must not follow each of them exactly.
    optimizer.set_gp_params(alpha=1e-3, n_restarts_optimizer=1)

    seen: list[Trial] = []

    def tell(log_epsilon: float) -> Trial:
        trial = search.test(min(max(math.exp(log_epsilon), low), high))
        seen.append(trial)
        optimizer.register({"log_epsilon": log_epsilon}, -abs(_distance(trial, question.wanted)))
        return trial

    def steps() -> Iterator[Trial]:
        yield tell(math.log(high))
        for _ in range(first):
            yield tell(float(optimizer.space.random_sample()[0]))
        for _ in range(more):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of a fit that has not converged: it is a guess anyway
                wanted = optimizer.suggest()
            yield tell(float(wanted["log_epsilon"]))
        while (gap := _gap(seen, low))[1] - gap[0] > narrow:
            yield tell(math.log(gap[0] * gap[1]) / 2)

    return search.conclude(steps, 1 + first + more + _FEW_HALVINGS, watch, last=False)


def _gap(trials: list[Trial], low: float) -> tuple[float, float]:
    """Return the least epsilon that passed, and before it the greatest below that did not."""
    passed = min(trial.epsilon for trial in trials if trial.passed)
    failed = (trial.epsilon for trial in trials if not trial.passed and trial.epsilon < passed)
    return max(failed, default=low), passed


class _Search:
    """What the searches share: a sampler, and the way from trials to a plan."""

    def __init__(
        self,
        method: str,
        question: CapacityQuestion,
        protocol: str,
        runs: int,
        engine: str,
        rng: RandomSource | None,
    ) -> None:
        if engine not in _ENGINES:
            raise InvalidParameterError(f"the engine is collections or law, got {engine!r}")
        self.method, self.question, self.protocol = method, question, protocol
        self.runs = check_whole(runs, "runs")
        self.simulations = 0 if engine == "law" else self.runs
        self._draw = _ENGINES[engine](question, protocol, rng)
        self._begin = time.perf_counter()

    def test(self, epsilon: float) -> Trial:
        share = self._draw(epsilon, self.runs) / self.runs
        return Trial(epsilon, share, self.runs, self.question.satisfied(share))

    def conclude(self, steps: Callable[[], Iterator[Trial]], total: int, watch: Watch, *, last: bool) -> Plan:
        """Run the steps unless the first of them, the largest epsilon, fails; return the plan."""
        trials: list[Trial] = []
        with watching(steps(), total, f"simulating {self.protocol}", watch) as watched:
            for trial in watched:
                trials.append(trial)
                if not trials[0].passed:
                    break
        passed = [trial for trial in trials if trial.passed]
        chosen = trials[0]
        if passed:
            chosen = passed[-1] if last else min(passed, key=lambda trial: trial.epsilon)
        successes = round(chosen.probability * chosen.runs)
        return Plan(
            self.method,
            self.protocol,
            str(self.question),
            self.question.wanted,
            chosen.epsilon if passed else None,
            chosen.probability,
            binomial_interval(successes, chosen.runs),
            _confidence(successes, chosen.runs, self.question.wanted),
            tuple(trials),
            self.simulations * len(trials),
            time.perf_counter() - self._begin,
        )


def _confidence(successes: int, runs: int, wanted: float) -> float:
    """Return one minus the chance of so many successes where each has just the wanted probability."""
    from scipy.special import betainc

    return 1 - float(betainc(successes, runs - successes + 1, wanted)) if successes else 0.0


def _distance(trial: Trial, wanted: float) -> float:
    """Return how far a share of right decisions is from the wanted one.

    Normal quantiles of probabilities above one half are about proportional to epsilon, so
    their logarithms make an even slope over the logarithm of epsilon.
    """
    normal, edge = NormalDist(), 0.5 / trial.runs
    found, goal = normal.inv_cdf(min(max(trial.probability, edge), 1 - edge)), normal.inv_cdf(wanted)
    return math.log(max(found, _FLATTEST) / goal) if goal > _FLATTEST else found - goal


def _check_precision(precision: float) -> float:
    if (
        isinstance(precision, bool)
        or not isinstance(precision, (int, float))
        or not 1e-6 <= precision < math.inf
    ):
        raise InvalidParameterError(f"the precision must be a number of at least 1e-06, got {precision!r}")
    return float(precision)


def _library() -> Any:
    try:
        return importlib.import_module("bayes_opt")
    except ImportError:
        raise MissingDependencyError("bayesian-optimization", "the method bayes", "optimisation") from None
