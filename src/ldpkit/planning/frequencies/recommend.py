"""Recommend: which protocol, estimator and post-processing, ranked, with what each costs.

Every protocol is simulated on the same people, and every estimator and method sees the
same simulated collections, so that their differences are not luck. Where an accuracy is
wanted instead of an epsilon, each combination gets the smallest epsilon that gives it,
and the smallest wins. An answer that asks nobody is ranked with them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

from ldpkit.assurance.adversary import Risk, attack_on, epsilon_warnings
from ldpkit.core.errors import InvalidInputError, LdpkitError
from ldpkit.core.limits import check_request
from ldpkit.core.parameters import check_epsilon, check_repeats
from ldpkit.core.random import RandomSource, seeded
from ldpkit.core.typing import Counts, Floats
from ldpkit.core.watching import Watch, unwatched, watching
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
from ldpkit.mechanisms.kinds import ALL, FREQUENCY, frequency_class, listed, select
from ldpkit.planning.constraint import Constraint
from ldpkit.planning.frequencies.enough import beats, find_enough
from ldpkit.planning.frequencies.nothing import learn_nothing
from ldpkit.planning.frequencies.recommendation import NOTHING, Option, Recommendation, option_name
from ldpkit.planning.frequencies.study import BUDGETS, NO_METHOD, Combination, OracleStudy, StudyOutcome
from ldpkit.planning.ties import difference_noise, independent_noise, is_tie
from ldpkit.simulation.datasets import as_dataset
from ldpkit.simulation.metrics import Metric, metric_for

__all__ = ["Option", "Recommendation", "recommend"]

_LARGE_DOMAIN = 100_000
_REPEATS = 200
_FOR_A_RUN = 100  # bytes: what every combination with a protocol gave
_FOR_A_VALUE = 64  # bytes for a value of a collection, as it is drawn and estimated
"""Beyond this many values, what would be enough is looked for with the best combination, and norm_sub."""


def recommend(
    data: Any,
    metric: str = "mae",
    *,
    epsilon: float | None = None,
    at_most: float | None = None,
    at_least: float | None = None,
    probability: float = 0.9,
    wanted: Constraint | None = None,
    protocols: str | Sequence[str] = ALL,
    repeats: int = _REPEATS,
    column: str | None = None,
    rng: RandomSource | None = None,
    watch: Watch = unwatched,
) -> Recommendation:
    """Rank protocol, estimator and post-processing for some people and a metric.

    Parameters
    ----------
    data : str, path, Dataset, mapping or sequence of int
        A stand-in for those who will be asked, as in `ldpkit.simulation.datasets.as_dataset`,
        such as "zipf:k=64,n=100000" where nothing is known of them.
    metric : str
        What to be good at; the metric of `wanted` wins.
    epsilon : float, optional
        The budget. Give this, or the accuracy that is wanted.
    at_most, at_least : float, optional
        The error that is allowed, or the agreement that is wanted; the smallest epsilon wins.
    probability : float
        How often that must hold.
    wanted : Constraint, optional
        The same as a constraint.
    protocols : str or sequence of str
        "all" are all frequency oracles that need no more than an epsilon.
    repeats : int
        Simulated collections for each protocol and epsilon.
    column : str, optional
        The column of a table to read.
    rng : RandomSource, optional
        By default `seeded(0)`, so that the answer is the same every time: nobody's value
        is protected by a simulation.
    watch : Watch
        Shows progress.

    Examples
    --------
    >>> import ldpkit
    >>> found = recommend([600, 300, 80, 20], epsilon=1.0, protocols=["grr", "oue"],
    ...                   rng=ldpkit.random.seeded(1))
    >>> found.best.protocol
    'grr'
    """
    stand_in = as_dataset(data, column=column)
    people = stand_in.counts
    wanted = wanted or Constraint.bounded(metric, at_most, at_least, probability)
    if (epsilon is None) == (wanted is None):
        raise InvalidInputError("give either an epsilon or a wanted accuracy: one follows from the other")
    measure = wanted.measure if wanted is not None else metric_for(metric)
    asked, reasons = select(FREQUENCY, single_epsilon=True).among(protocols, FREQUENCY)
    every = listed(protocols) == [ALL]
    names = [frequency_class(name, single_epsilon=True).name for name in asked]
    runs, source = check_repeats(repeats, least=2), seeded(0) if rng is None else rng
    if runs > _REPEATS:
        needed = runs * (_FOR_A_RUN * len(names) + _FOR_A_VALUE * len(people))
        check_request(needed, f"simulating {runs:,} collections of each of {len(names)} protocols")
    found: list[tuple[Option, Floats]] = []
    infeasible: list[str] = []
    left_out = list(reasons)
    if epsilon is not None:
        check_epsilon(epsilon)
    with watching(names, len(names), "simulating", watch) as watched:
        for name in watched:
            make = partial(frequency_class(name, single_epsilon=True).make, len(people))
            attack = cache(partial(_attacked, make, people))
            study = OracleStudy(make, people, measure, runs, source.derive(name))
            try:
                outcomes = list(study.smallest(wanted) if wanted else study.at(check_epsilon(epsilon or 0.0)))
            except LdpkitError as refusal:
                if not every:  # what was asked for by name is refused
                    raise
                left_out.append(f"{name}: {refusal}")
                continue
            for outcome in outcomes:
                if outcome.epsilon is None:
                    infeasible.append(option_name(name, *outcome.combination))
                else:
                    found.append((_option(study, outcome, outcome.epsilon, attack), outcome.values))
    if every and not found and not infeasible:
        raise InvalidInputError(f"no protocol can be simulated: {'; '.join(left_out)}")
    if not found:
        raise InvalidInputError(
            f"no combination reaches {wanted} at any epsilon up to {BUDGETS[-1]:g}: "
            "ask more people or accept a larger error"
        )
    sign = -1.0 if measure.larger_is_better else 1.0
    found.sort(key=lambda each: (each[0].epsilon, sign * each[0].error))
    options = tuple(
        replace(option, tied=_tie(found[0], (option, values), wanted, among=len(found)))
        for option, values in found
    )
    nothing = _nothing(people, measure)
    enough = None
    best = options[0]
    if epsilon is not None and not beats(
        found[0][1], nothing.error, larger_is_better=measure.larger_is_better
    ):
        trying, ways = list(dict.fromkeys(option.protocol for option in options)), None
        if len(people) > _LARGE_DOMAIN:
            trying = [best.protocol]
            ways = [Combination(best.estimator, best.method), Combination("mi", "norm_sub")]
        enough = find_enough(people, measure, trying, best.epsilon, source.derive("enough"), ways=ways)
    make = partial(frequency_class(best.protocol, single_epsilon=True).make, len(people))
    told = epsilon_warnings(
        best.epsilon, subject=best.protocol, attack=partial(_attacked, make, people, best.epsilon)
    )
    return Recommendation(
        measure,
        options,
        nothing,
        wanted,
        tuple(infeasible),
        enough,
        tuple(told),
        tuple(left_out),
        data=stand_in.name,
        people=stand_in.n,
        values=stand_in.k,
    )


def _tie(
    best: tuple[Option, Floats], other: tuple[Option, Floats], wanted: Constraint | None, *, among: int
) -> bool:
    """Whether an option cannot be told from the best; what follows one protocol saw the same collections."""
    (first, these), (second, those) = best, other
    if first is second:
        return True
    if wanted is not None:
        noise = independent_noise(first.epsilon_stderr, len(these), second.epsilon_stderr, len(those))
        return is_tie(first.epsilon, second.epsilon, *noise, among=among)
    noise = difference_noise(these, those, paired=first.protocol == second.protocol)
    return is_tie(first.error, second.error, *noise, among=among)


def _nothing(people: Counts, metric: Metric) -> Option:
    """Return what an answer gives that asks nobody."""
    known = learn_nothing(people, metric)
    return Option(
        protocol=NOTHING,
        estimator=known.answer,
        method=NO_METHOD,
        epsilon=0.0,
        epsilon_stderr=0.0,
        error=known.error,
        stderr=0.0,
        low=known.error,
        high=known.error,
        report_bytes=0,
        device_bytes=0,
        server_steps=0,
        attack=float(people.max() / people.sum()),
    )


def _attacked(make: Callable[..., FrequencyOracle], people: Counts, epsilon: float) -> Risk | None:
    return attack_on(make(epsilon=epsilon), people)


def _option(
    study: OracleStudy, outcome: StudyOutcome, epsilon: float, attack: Callable[[float], Risk | None]
) -> Option:
    oracle, values = study.make(epsilon=epsilon), outcome.values
    low, high = np.quantile(values, [0.025, 0.975])
    attacked = attack(epsilon)
    return Option(
        protocol=oracle.name,
        estimator=outcome.combination.estimator,
        method=outcome.combination.method,
        epsilon=epsilon,
        epsilon_stderr=outcome.stderr,
        error=float(values.mean()),
        stderr=float(values.std(ddof=1)) / math.sqrt(len(values)),
        low=float(low),
        high=float(high),
        report_bytes=oracle.report_bytes,
        device_bytes=oracle.random_bytes_per_report,
        server_steps=oracle.support_size or oracle.size,
        attack=None if attacked is None else attacked.success,
    )
