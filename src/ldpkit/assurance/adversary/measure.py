"""What an epsilon means for a person: how often, and how closely, an adversary guesses the value."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ldpkit.assurance.adversary.closed_form import guesses_of
from ldpkit.assurance.adversary.listed import knows_ratio, listed_chances, listed_confusion
from ldpkit.assurance.adversary.numeric import cell_middles, numeric_confusion
from ldpkit.assurance.adversary.pairs import pair_confusion
from ldpkit.assurance.adversary.risk_record import (
    Risk,
    are_numbers,
    blind_guess,
    check_amounts,
    check_eta,
    check_prior,
)
from ldpkit.assurance.adversary.simulated import guesses
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.parameters import check_whole
from ldpkit.core.random import RandomSource, resolve
from ldpkit.core.typing import Floats
from ldpkit.mechanisms.base import Mechanism
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
from ldpkit.mechanisms.circular.mechanism import CircularMechanism
from ldpkit.mechanisms.kinds import is_circular, is_frequency, is_memoized, is_on_grid, is_paired
from ldpkit.mechanisms.numeric.mechanism import NumericMechanism

__all__ = ["risk"]

DEVICES = 10_000

MOST_SCORES = 1 << 33
"""How many scores a simulated attack may compute: a few minutes' work."""


@dataclass(frozen=True)
class _Totals:
    """Sums over people of what their guesses achieve."""

    success: float = 0.0
    success_squares: float = 0.0
    squared_error: float = 0.0
    hits: float = 0.0
    alarms: float = 0.0

    def __add__(self, other: _Totals) -> _Totals:
        return _Totals(*(mine + theirs for mine, theirs in zip(self._all(), other._all(), strict=True)))

    def _all(self) -> tuple[float, ...]:
        return self.success, self.success_squares, self.squared_error, self.hits, self.alarms


def risk(
    mechanism: Mechanism,
    prior: object = None,
    *,
    people: object = None,
    amounts: object = None,
    eta: float | None = None,
    reports: int = 1,
    devices: int = DEVICES,
    rng: RandomSource | None = None,
) -> Risk:
    """Return what a Bayesian adversary achieves.

    Exact for one report of any pure protocol (with ideal hashing for BLH and OLH), of a mechanism
    whose reports can be listed, or of a numeric or circular one; by simulation for several reports
    and other mechanisms. One-time mechanisms make a new report each time, longitudinal ones keep
    their permanent report. Against pairs the adversary knows the partner's value and report.

    Parameters
    ----------
    mechanism : FrequencyOracle, NumericMechanism or CircularMechanism
        What makes the reports.
    prior : array, optional
        What the adversary believes before: frequencies or counts. Uniform by default.
    people : array, optional
        The true frequencies or counts; by default the prior is right.
    amounts : array, optional
        The number that each value stands for: by default its label, or else its place. Of a
        numeric or circular mechanism, the numbers that the adversary tells apart: by default
        the middles of 16 equally wide cells of the interval or the circle.
    eta : float, optional
        Also say how well the adversary knows whether the amount is at most this.
    reports : int
        How many reports about the same value the adversary sees.
    devices : int
        How many people are attacked where it takes a simulation.
    rng : RandomSource, optional
        For the simulation; secure by default.

    Examples
    --------
    >>> import ldpkit
    >>> found = risk(ldpkit.OUE(["no", "yes"], epsilon=1.0), [90, 10])
    >>> found.success, found.gain                    # too rare a value for one report to reveal
    (0.9, 1.0)
    >>> risk(ldpkit.GRR(41, epsilon=2.0), eta=5).f_score.__round__(3)
    0.261
    >>> round(risk(ldpkit.PM((0, 100), epsilon=2.0)).success, 3)
    0.163
    """
    if is_on_grid(mechanism):
        return _numeric_risk(mechanism, prior, people, amounts, eta, reports)
    if not is_frequency(mechanism):
        raise InvalidInputError(f"ldpkit cannot compute what an adversary learns from {mechanism!r}")
    oracle = mechanism
    belief = check_prior(prior, oracle.size, "prior")
    truth = belief if people is None else check_prior(people, oracle.size, "people")
    numbers = check_amounts(amounts, oracle.domain)
    count = check_whole(reports, "reports")
    limit = check_eta(eta)
    has_distances = amounts is not None or are_numbers(oracle.domain)
    shown = (oracle.p, oracle.q) if oracle.can("pure") else (None, None)
    if is_paired(oracle):
        _refuse_several(oracle, count, "person")
        table, more = pair_confusion(oracle, belief), {"shown": shown, "knows_partner": True}
        return _exact_risk(oracle, table, belief, truth, numbers, limit, has_distances, **more)
    if count == 1 and not _has_closed_form(oracle, count):
        chances = listed_chances(oracle)
        if chances is not None:
            guessed, more = listed_confusion(chances, belief), {"shown": shown}
            return _exact_risk(oracle, guessed, belief, truth, numbers, limit, has_distances, **more)
    is_exact = _has_closed_form(oracle, count)
    if is_exact:
        told = guesses_of(oracle, belief)
        totals = _achieved(truth, told.right, told.expected, numbers, numbers, limit)
        stderr, low = 0.0, float(truth[numbers <= limit].sum())
    else:
        size = check_whole(devices, "devices", least=2)
        _check_work(size, oracle.size, count)
        totals, low = _attack(oracle, belief, truth, numbers, limit, count, size, resolve(rng))
        stderr = math.sqrt(max(0.0, totals.success_squares - totals.success**2) / (size - 1))
    return _told(
        oracle,
        totals,
        blind_guess(belief, truth, numbers),
        epsilon=_cost(oracle, count),
        low=low,
        limit=limit,
        reports=count,
        stderr=stderr,
        how="exact" if is_exact else "simulated",
        shown=shown,
        has_distances=has_distances,
        uniform=_is_uniform(belief, truth),
    )


def _is_uniform(belief: Floats, truth: Floats) -> bool:
    """Whether all values are equally likely, to the adversary and among people."""
    return bool(np.ptp(belief) == 0 == np.ptp(truth))


def _numeric_risk(
    mechanism: NumericMechanism | CircularMechanism,
    prior: object,
    people: object,
    amounts: object,
    eta: float | None,
    reports: int,
) -> Risk:
    """Return what the adversary achieves with one noisy number, exactly."""
    _refuse_several(mechanism, check_whole(reports, "reports"), "number")
    if is_circular(mechanism) and eta is not None:
        raise InvalidParameterError(
            f"eta={eta!r} makes no sense on a circle, where nothing is below it: leave it out"
        )
    points = cell_middles(mechanism) if amounts is None else mechanism.domain.check(np.asarray(amounts))
    belief = check_prior(prior, len(points), "prior")
    truth = belief if people is None else check_prior(people, len(points), "people")
    table = numeric_confusion(mechanism, belief, points)
    has_distances = not is_circular(mechanism)  # differences are no distances there
    return _exact_risk(mechanism, table, belief, truth, points, check_eta(eta), has_distances)


def _refuse_several(mechanism: Mechanism, reports: int, of: str) -> None:
    """Refuse several reports where the attack is worked out for one."""
    if reports != 1:
        raise InvalidParameterError(
            f"the attack on {mechanism!r} is on one report, got reports={reports}: several reports of a "
            f"{of} cost their epsilons together"
        )


def _exact_risk(
    mechanism: Mechanism,
    table: Floats,
    belief: Floats,
    truth: Floats,
    numbers: Floats,
    limit: float,
    has_distances: bool,
    **more: Any,
) -> Risk:
    """Return what one report gives away, from the probability of each guess for each true value."""
    return _told(
        mechanism,
        _achieved(truth, np.diag(table), table.__matmul__, numbers, numbers, limit),
        blind_guess(belief, truth, numbers),
        epsilon=mechanism.exact_epsilon(),
        low=float(truth[numbers <= limit].sum()),
        limit=limit,
        has_distances=has_distances,
        uniform=_is_uniform(belief, truth),
        **more,
    )


def _told(
    mechanism: Mechanism,
    totals: _Totals,
    blind: tuple[float, float],
    *,
    epsilon: float,
    low: float,
    limit: float,
    has_distances: bool,
    uniform: bool,
    reports: int = 1,
    stderr: float = 0.0,
    how: Literal["exact", "simulated"] = "exact",
    shown: tuple[float | None, float | None] = (None, None),
    knows_partner: bool = False,
) -> Risk:
    """Return the record of an attack; `low` is the share of people at most at the limit, if there is one."""
    eta = None if limit == -math.inf else limit
    precision = totals.hits / totals.alarms if totals.alarms > 0 else None
    recall = totals.hits / low if low > 0 else None
    return Risk(
        mechanism=repr(mechanism),
        name=mechanism.name,
        epsilon=epsilon,
        reports=reports,
        success=totals.success,
        success_stderr=stderr,
        blind=blind[0],
        squared_error=totals.squared_error if has_distances else None,
        blind_squared_error=blind[1] if has_distances else None,
        eta=eta,
        precision=None if eta is None else precision,
        recall=None if eta is None else recall,
        f_score=None if eta is None else _f_score(precision, recall),
        how=how,
        truthful=shown[0],
        otherwise=shown[1],
        knows_partner=knows_partner,
        uniform=uniform,
        hashed=is_frequency(mechanism) and mechanism.joins_values,
    )


def _has_closed_form(oracle: FrequencyOracle, reports: int) -> bool:
    return reports == 1 and knows_ratio(oracle)


def _check_work(devices: int, values: int, reports: int) -> None:
    """Refuse a simulation that would take hours, before it draws anything."""
    if devices * values * reports > MOST_SCORES:
        few = MOST_SCORES // (values * reports)
        remedy = f"attack {few:,} devices or fewer" if few >= 2 else "look at fewer reports, or group values"
        raise InvalidParameterError(
            f"{devices:,} devices with {reports:,} reports about {values:,} values take "
            f"{devices * values * reports:,} scores to simulate, and the limit is {MOST_SCORES:,}: {remedy}"
        )


def _achieved(
    weight: Floats,
    right: Floats,
    expected: Callable[[Floats], Floats],
    own: Floats,
    amounts: Floats,
    eta: float,
) -> _Totals:
    """Return sums over people, each with a weight, how often the guess is right, and the own amount.

    `expected` tells what a guess is worth to each of them, from the worth of each value.
    """
    # E (a - g)^2 = a^2 - 2 a E g + E g^2, but centred, so that nothing cancels.
    centre = amounts.mean()
    mean, square = expected(amounts - centre), expected((amounts - centre) ** 2)
    error = (own - centre) ** 2 - 2 * (own - centre) * mean + square
    says_low = expected((amounts <= eta).astype(float)) if eta > -math.inf else np.zeros(len(own))
    return _Totals(
        float(weight @ right),
        float(weight @ right**2),
        float(weight @ error),
        float(weight @ (says_low * (own <= eta))),
        float(weight @ says_low),
    )


def _attack(
    oracle: FrequencyOracle,
    prior: Floats,
    people: Floats,
    amounts: Floats,
    eta: float,
    reports: int,
    devices: int,
    source: RandomSource,
) -> tuple[_Totals, float]:
    truth = source.generator().choice(oracle.size, devices, p=people).astype(np.uint32)
    totals = _Totals()
    for held, guess in guesses(oracle, prior, truth, reports, source):
        right = guess[np.arange(len(held)), held]
        totals += _achieved(
            np.full(len(held), 1 / devices), right, guess.__matmul__, amounts[held], amounts, eta
        )
    return totals, float((amounts[truth] <= eta).mean())


def _cost(oracle: FrequencyOracle, reports: int) -> float:
    if is_memoized(oracle):
        return oracle.repeated_epsilon(reports)
    return reports * oracle.exact_epsilon()


def _f_score(precision: float | None, recall: float | None) -> float | None:
    if precision is None or recall is None:
        return None
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
