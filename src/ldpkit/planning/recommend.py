"""Recommend: which protocol, estimator and post-processing, ranked, with what each costs.

Every protocol is simulated on the same people, and every estimator and method sees the
same simulated collections, so that their differences are not luck. Where an accuracy is
wanted instead of an epsilon, each combination gets the smallest epsilon that gives it,
and the smallest wins.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ldpkit.assurance.adversary import risk
from ldpkit.core.checks import check_counts, check_epsilon, check_whole
from ldpkit.core.errors import InvalidInputError
from ldpkit.core.random import RandomSource, resolve
from ldpkit.core.typing import Counts
from ldpkit.mechanisms.categorical.comparable import comparable_protocol, comparable_protocols
from ldpkit.planning.constraint import Constraint
from ldpkit.planning.study import BUDGETS, NO_METHOD, Outcome, Study
from ldpkit.simulation.metrics import Metric, metric_for

__all__ = ["Option", "Recommendation", "recommend"]

_ATTACKED_VALUES = 2000  # the adversary's exact sums grow with the square of the domain


@dataclass(frozen=True)
class Option:
    """One combination, with what it gives and what it costs.

    Parameters
    ----------
    protocol, estimator, method : str
        The mechanism, "mi" or "ibu_limit", and the post-processing or "none".
    epsilon : float
        The budget: the given one, or the smallest that gives the wanted accuracy.
    error, stderr : float
        The expected metric and the standard error of the simulation.
    low, high : float
        Between these the metric of a single collection lies in 95 of 100 cases.
    report_bytes : int
        What a device sends.
    device_bytes : int
        The random bytes that a device draws: its work grows with them.
    server_steps : int
        How many values the collector touches for each report.
    attack : float or None
        How often the best guess from one report is right, on these people.
    """

    protocol: str
    estimator: str
    method: str
    epsilon: float
    error: float
    stderr: float
    low: float
    high: float
    report_bytes: int
    device_bytes: int
    server_steps: int
    attack: float | None

    @property
    def name(self) -> str:
        """Protocol and what follows it, as it is spoken of."""
        return _label(self.protocol, self.estimator, self.method)

    def row(self) -> dict[str, Any]:
        """Return the record for a table or a file."""
        return dict(self.__dict__)


@dataclass(frozen=True)
class Recommendation:
    """Options, best first, and why the first is first."""

    metric: Metric
    options: tuple[Option, ...]
    wanted: Constraint | None
    infeasible: tuple[str, ...]

    @property
    def best(self) -> Option:
        """The first option."""
        return self.options[0]

    def reasons(self) -> Iterator[str]:
        """Yield in plain words why the best is the best, and what else to look at."""
        best = self.best
        if self.wanted is None:
            yield (
                f"{best.name} has the {'largest' if self.metric.larger_is_better else 'smallest'} expected "
                f"{self.metric.name}: {best.error:.4g} ± {best.stderr:.2g}."
            )
        else:
            yield f"{best.name} needs the smallest epsilon for {self.wanted}: {best.epsilon:.3g}."
        other = next((each for each in self.options if each.protocol != best.protocol), None)
        if other is not None:
            yield f"The best of another protocol is {other.name}: {self._compared(other)}."
        plain = next(
            (each for each in self.options if _is_plain(each) and each.protocol == best.protocol), None
        )
        if plain is not None and plain != best:
            yield f"Without post-processing {best.protocol} has {self._compared(plain)}."
        short = min(self.options, key=lambda each: (each.report_bytes, self.options.index(each)))
        if short.report_bytes < best.report_bytes:
            yield (
                f"Where bytes count, {short.name} sends {short.report_bytes} instead of "
                f"{best.report_bytes}: {self._compared(short)}."
            )
        for each in self.infeasible:
            yield f"{each} does not reach the wanted accuracy at any epsilon up to {BUDGETS[-1]:g}."

    def _compared(self, other: Option) -> str:
        if self.wanted is not None:
            return f"epsilon {other.epsilon:.3g}, {_percent(other.epsilon, self.best.epsilon)} more"
        change = abs(other.error - self.best.error) / max(abs(self.best.error), 1e-300)
        return f"{other.error:.4g}, {100 * change:.3g}% worse"


def recommend(
    counts: Counts | Sequence[int],
    metric: str = "mae",
    *,
    epsilon: float | None = None,
    wanted: Constraint | None = None,
    protocols: Sequence[str] | None = None,
    repeats: int = 200,
    rng: RandomSource | None = None,
    watch: Callable[[Sequence[str]], Iterator[str]] = iter,
) -> Recommendation:
    """Rank protocol, estimator and post-processing for some people and a metric.

    Parameters
    ----------
    counts : array of int
        How many people hold each value: a stand-in for those who will be asked.
    metric : str
        What to be good at; the metric of `wanted` wins.
    epsilon : float, optional
        The budget. Give this or `wanted`.
    wanted : Constraint, optional
        The accuracy that is wanted; the smallest epsilon wins.
    protocols : sequence of str, optional
        By default all frequency oracles that need no more than an epsilon.
    repeats : int
        Simulated collections for each protocol and epsilon.
    rng : RandomSource, optional
        Secure by default.
    watch : callable
        Wraps the list of protocols, to show progress.

    Examples
    --------
    >>> import ldpkit
    >>> found = recommend([600, 300, 80, 20], epsilon=1.0, protocols=["grr", "oue"],
    ...                   rng=ldpkit.random.seeded(1))
    >>> found.best.protocol
    'grr'
    """
    people = check_counts(counts, np.size(counts))
    if (epsilon is None) == (wanted is None):
        raise InvalidInputError("give either an epsilon or a wanted accuracy: one follows from the other")
    if len(people) < 2:
        raise InvalidInputError("there is one value only, so there is nothing to estimate: give two or more")
    measure = wanted.measure if wanted is not None else metric_for(metric)
    names = [comparable_protocol(name).name for name in protocols or comparable_protocols()]
    runs, source = check_whole(repeats, "repeats", least=2), resolve(rng)
    options: list[Option] = []
    infeasible: list[str] = []
    for name in watch(names):
        make = partial(comparable_protocol(name), len(people))
        study = Study(make, people, measure, runs, source.derive(name))
        for outcome in study.smallest(wanted) if wanted else study.at(check_epsilon(epsilon or 0.0)):
            if outcome.epsilon is None:
                infeasible.append(_label(name, *outcome.combination))
            else:
                options.append(_option(study, outcome, outcome.epsilon))
    if not options:
        raise InvalidInputError(
            f"no combination reaches {wanted} at any epsilon up to {BUDGETS[-1]:g}: "
            "ask more people or want less"
        )
    sign = -1.0 if measure.larger_is_better else 1.0
    order = sorted(options, key=lambda each: (each.epsilon, sign * each.error))
    return Recommendation(measure, tuple(order), wanted, tuple(infeasible))


def _option(study: Study, outcome: Outcome, epsilon: float) -> Option:
    oracle, values = study.make(epsilon=epsilon), outcome.values
    low, high = np.quantile(values, [0.025, 0.975])
    attacked = len(study.counts) <= _ATTACKED_VALUES and oracle.pure
    people = study.counts / study.counts.sum()
    return Option(
        protocol=oracle.name,
        estimator=outcome.combination.estimator,
        method=outcome.combination.method,
        epsilon=epsilon,
        error=float(values.mean()),
        stderr=float(values.std(ddof=1)) / math.sqrt(len(values)),
        low=float(low),
        high=float(high),
        report_bytes=oracle.report_bytes,
        device_bytes=oracle.random_bytes_per_report,
        server_steps=oracle.support_size or oracle.size,
        attack=risk(oracle, people, people=people).success if attacked else None,
    )


def _is_plain(option: Option) -> bool:
    return option.estimator == "mi" and option.method == NO_METHOD


def _label(protocol: str, estimator: str, method: str) -> str:
    return f"{protocol} + {estimator if method == NO_METHOD else method}"


def _percent(larger: float, smaller: float) -> str:
    return f"{100 * (larger / smaller - 1):.3g}%"
