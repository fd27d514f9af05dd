"""Pairs or not: what correlated reports gain, for which privacy, beside what gives nothing away.

The question has two epsilons. `epsilon_alone` is what a report may tell a collector who
knows some people's values, but not who is paired with whom. `epsilon` is what it may tell
anyone, also the partner. The thesis optimises under a theorem that is too weak for the
first and silent on the second; here both constraints are the exact ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from ldpkit.core.checks import check_epsilon, check_whole
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.results import TOP, Result, finite
from ldpkit.core.tables import Table
from ldpkit.core.typing import Floats
from ldpkit.mechanisms.categorical.grr import GRR
from ldpkit.mechanisms.joint.adversary import Adversary
from ldpkit.mechanisms.joint.group_count import GroupCount
from ldpkit.mechanisms.joint.matchings import hidden_epsilon
from ldpkit.mechanisms.joint.table import PairTable

__all__ = ["PairChoice", "PairPlan", "PairQuestion", "hidden_constraint", "plan_pairs"]

_GRID = 12  # epsilons of one report that are tried, before the best is refined
_HALVINGS = 36
_THIRDS = 12
_NEARLY = 1e-9  # by which a search stays on the safe side of its constraint
_SHARES = 33  # of the assumed range, at which a group's variance is looked at

Constraint = Callable[[float, float], float]
"""The epsilon towards the stated adversary, from p and the probability that both are untruthful."""


@dataclass(frozen=True)
class PairQuestion:
    """What pairs are asked to do.

    Parameters
    ----------
    n : int
        How many people, two or more.
    epsilon_alone : float
        What a report may tell a collector who knows the values of `known` people and not the pairing.
    epsilon : float or None
        What it may tell anyone, also the partner; None sets no limit.
    known : int
        How many people's values are known.
    ones : pair of int or None
        The least and the largest number of ones that is assumed; None assumes nothing.
    """

    n: int
    epsilon_alone: float
    epsilon: float | None = None
    known: int = 0
    ones: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        check_whole(self.n, "n", least=2)
        check_epsilon(self.epsilon_alone, "epsilon_alone")
        if self.epsilon is not None and check_epsilon(self.epsilon) < self.epsilon_alone:
            raise InvalidParameterError(
                f"epsilon={self.epsilon:g} towards anyone cannot be less than epsilon_alone="
                f"{self.epsilon_alone:g} towards somebody"
            )
        if check_whole(self.known, "known", least=0) >= self.n:
            raise InvalidParameterError(f"of {self.n} people at most {self.n - 1} others are known")
        if self.ones is not None:
            low, high = self.ones
            if not 0 <= low <= high <= self.n:
                raise InvalidParameterError(
                    f"the number of ones lies between 0 and n={self.n}, the least first, got {low} and {high}"
                )

    @property
    def range(self) -> tuple[int, int]:
        """The assumed range of the number of ones."""
        return self.ones or (0, self.n)

    @property
    def hardest(self) -> int:
        """The number of ones in the range at which negative correlation helps least."""
        low, high = self.range
        return min(max(self.n // 2, low), high)

    @property
    def adversary(self) -> Adversary:
        """Whom `epsilon_alone` is stated against."""
        return Adversary(known=self.known)

    def variance(self, table: PairTable) -> float:
        """Return the largest variance of the estimated share within the assumed range."""
        p, q, covariance = (float(each) for each in (table.truthful, table.untruthful, table.covariance))
        low, high = self.range
        shares = {low, high, self.hardest, min(self.hardest + 1, high)}
        meet = 1 / (self.n - 1 + self.n % 2)
        together = [(2 * ones - self.n) ** 2 - self.n for ones in shares]
        count = max(self.n * p * q + covariance * meet * each for each in together)
        return count / (self.n * (p - q)) ** 2


@dataclass(frozen=True)
class PairChoice:
    """One way to ask, with its privacy towards all and its worst variance in the assumed range."""

    name: str
    how: str
    epsilon_stated: float
    """Towards the stated adversary, exactly."""
    epsilon_partner: float
    """Towards anyone, also the partner."""
    p: float | None
    rho: float | None
    variance: float
    ratio: float
    """The variance over that of randomised response at `epsilon_alone`."""
    allowed: bool
    """Whether it keeps both limits of the question."""
    statement: str


@dataclass(frozen=True, repr=False)
class PairPlan(Result):
    """All choices beside each other, and how many known people it takes to undo the gain."""

    kind: ClassVar[str] = "plan pairs"

    question: PairQuestion
    choices: tuple[PairChoice, ...]
    gain_ends: int | None
    """The number of known people from which the best pairs no longer beat randomised response."""

    @property
    def best(self) -> PairChoice:
        """The choice of the least variance among those that keep both limits."""
        return min((each for each in self.choices if each.allowed), key=lambda each: each.variance)

    def __getitem__(self, name: str) -> PairChoice:
        return next(each for each in self.choices if each.name == name)

    @property
    def title(self) -> str:
        """What stands above the table."""
        return f"Pairs for {self.question.n:,} people"

    @property
    def caption(self) -> str:
        """What stands below the table."""
        low, high = self.question.range
        limit = "no limit" if self.question.epsilon is None else f"at most {self.question.epsilon:g}"
        return (
            f"epsilon stated: against {self.question.adversary.words}, at most "
            f"{self.question.epsilon_alone:g}; towards anyone, also the partner: {limit}; "
            f"variance: the worst for {low:,} to {high:,} ones, over that of randomised response"
        )

    def notes(self) -> list[str]:
        """Return what a reader should know of the answer."""
        told = [f"best within the limits: {self.best.name} ({self.best.how})"]
        if self.gain_ends == 0:
            told.append("JRR gains nothing over randomised response within these limits")
        elif self.gain_ends is not None:
            told.append(
                f"JRR gains nothing over randomised response once the values of {self.gain_ends:,} people "
                f"({self.gain_ends / self.question.n:.1%}) are known"
            )
        return told

    @property
    def warnings(self) -> tuple[str, ...]:
        """What choices without an epsilon towards a partner give away."""
        return tuple(each.statement for each in self.choices if math.isinf(each.epsilon_partner))

    def about(self) -> dict[str, Any]:
        """Return the question, and where the gain ends."""
        asked = self.question
        return {
            "n": asked.n,
            "epsilon_alone": asked.epsilon_alone,
            "epsilon": asked.epsilon,
            "known": asked.known,
            "ones": list(asked.range),
            "gain_ends": self.gain_ends,
        }

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return one record for each choice."""
        return [dict(each.__dict__) for each in self.choices[:top]]

    def tables(self, top: int | None = TOP) -> list[Table]:
        """Return the choices without their statements, which are the notes and warnings."""
        kept = ("name", "how", "epsilon_stated", "epsilon_partner", "ratio", "allowed")
        shown = [{name: finite(row[name]) for name in kept} for row in self.rows(top)]
        return [Table.of(shown, title=self.title, caption=self.caption)]


def plan_pairs(question: PairQuestion, *, gain: bool = True) -> PairPlan:
    """Return randomised response, JRR in four ways and joint counts beside each other.

    Parameters
    ----------
    question : PairQuestion
        How many people, and what may be learned by whom.
    gain : bool
        Whether to look for the number of known people from which JRR no longer gains.

    Examples
    --------
    >>> plan = plan_pairs(PairQuestion(20_000, 1.0, 2.0, ones=(659, 659)), gain=False)
    >>> round(plan["safe"].ratio, 6), round(plan["thesis"].ratio, 6), round(plan["group"].ratio, 6)
    (0.821283, 0.679012, 0.59431)
    >>> plan["thesis"].allowed, plan["thesis"].epsilon_partner
    (False, inf)
    """
    base = _response_variance(question, question.epsilon_alone)
    choices = [_response(question, "rr", question.epsilon_alone, base)]
    found = best_table(question)
    if found is not None:
        choices.append(_pairs(question, "best", found, base))
    choices.append(
        _pairs(question, "thesis", PairTable.of_epsilons(2, question.epsilon_alone, math.inf), base)
    )
    if question.epsilon is not None and question.epsilon > question.epsilon_alone:
        safe = PairTable.of_epsilons(2, question.epsilon_alone, question.epsilon)
        choices.append(_pairs(question, "safe", safe, base))
        choices.append(_response(question, "rr at epsilon", question.epsilon, base))
    choices.append(_group(question, base))
    return PairPlan(question, tuple(choices), gain_ends(question) if gain else None)


def _response_variance(question: PairQuestion, epsilon: float) -> float:
    return GRR(2, epsilon=epsilon).variance(0.5, question.n)


def _response(question: PairQuestion, name: str, epsilon: float, base: float) -> PairChoice:
    oracle = GRR(2, epsilon=epsilon)
    exact, variance = oracle.exact_epsilon(), _response_variance(question, epsilon)
    allowed = exact <= question.epsilon_alone or name == "rr"
    return PairChoice(
        *(name, f"GRR(2, epsilon={epsilon:g})", exact, exact, oracle.p, 0.0, variance, variance / base),
        allowed,
        f"randomised response: epsilon {exact:g} towards everybody",
    )


def _group(question: PairQuestion, base: float) -> PairChoice:
    mechanism = GroupCount(2, question.epsilon_alone)
    even = question.n - question.n % 2
    low, high = (min(each, even) for each in question.range)
    shares = {round(low + (high - low) * step / (_SHARES - 1)) for step in range(_SHARES)}
    shares |= {min(question.hardest, even)}
    variance = max(mechanism.variance(ones / even, even) for ones in shares)
    exact = mechanism.exact_epsilon()
    return PairChoice(
        *("group", repr(mechanism), exact, exact, None, None, variance, variance / base, True),
        f"{mechanism!r}: {mechanism.promise()}",
    )


def _pairs(question: PairQuestion, name: str, table: PairTable, base: float) -> PairChoice:
    stated = hidden_epsilon(table, question.n, question.known)
    assert stated is not None, "correlations are negative here"
    partner, alone = table.epsilon(), table.epsilon_alone()
    variance = question.variance(table)
    if math.isinf(partner):
        how = f"JRR(2, epsilon_alone={alone:.6g}, adversary={question.adversary})"
        said = "infinite" if math.isinf(stated) else f"exactly {stated:.6f}"
        statement = (
            f"{name}: a partner who knows the own report to be untrue learns the value for certain; "
            f"epsilon {said} holds only against {question.adversary.words}"
        )
    else:
        how = f"JRR(2, epsilon_alone={alone:.6g}, epsilon={partner:.6g})"
        statement = (
            f"{name}: epsilon {partner:.6f} towards anyone, also the partner; exactly {stated:.6f} against "
            f"{question.adversary.words}"
        )
    limit = math.inf if question.epsilon is None else question.epsilon
    return PairChoice(
        *(name, how, stated, partner, float(table.truthful), float(table.rho), variance, variance / base),
        stated <= question.epsilon_alone and partner <= limit,
        statement,
    )


# --- the best pair -----------------------------------------------------------------------


def best_table(
    question: PairQuestion, constraint: Constraint | None = None, *, only_whether: bool = False
) -> PairTable | None:
    """Return the law of a pair with the least worst variance under the question's limits.

    Parameters
    ----------
    question : PairQuestion
        The limits and the assumed range.
    constraint : callable, optional
        Another epsilon towards the stated adversary, such as the theorem of the thesis;
        by default the exact one.
    only_whether : bool
        Whether any law that beats randomised response will do.

    Returns
    -------
    PairTable or None
        None where no pairs beat randomised response.
    """
    towards = constraint or hidden_constraint(question.n, question.known)

    def least(p: float) -> float:
        """Return the least 'both' that the partner's limit allows."""
        return 0.0 if question.epsilon is None else (1 - p) / (1 + math.exp(question.epsilon))

    def at(alone: float) -> tuple[float, float, float]:
        """Return the variance, p and the least allowed 'both' for one report of some epsilon."""
        p = 1 / (1 + math.exp(-alone))
        u = 1 - p
        low, high = least(p), u * u
        if low >= high:
            return math.inf, p, high
        if towards(p, low) > question.epsilon_alone - _NEARLY:
            for _ in range(_HALVINGS):
                middle = (low + high) / 2
                if towards(p, middle) > question.epsilon_alone - _NEARLY:
                    low = middle
                else:
                    high = middle
            low = high
        table = PairTable(2, Fraction(p), min(Fraction(low), Fraction(u) ** 2))
        return question.variance(table), p, low

    wanted = _response_variance(question, question.epsilon_alone)
    highest = question.epsilon_alone - _NEARLY
    # The strongest correlation that is allowed at all, with as much truth as it leaves, is mostly best.
    corner, past = 0.0, highest
    for _ in range(_HALVINGS):
        middle = (corner + past) / 2
        p = 1 / (1 + math.exp(-middle))
        corner, past = (middle, past) if towards(p, least(p)) <= highest else (corner, middle)
    found = at(corner) if corner > 0 else (math.inf, 0.5, 0.0)
    if not (only_whether and found[0] < wanted):
        tried = np.linspace(max(corner, highest / 4), highest, _GRID)
        values = [at(float(alone))[0] for alone in tried]
        place = int(np.argmin(values))
        left, right = float(tried[max(place - 1, 0)]), float(tried[min(place + 1, _GRID - 1)])
        for _ in range(_THIRDS):
            first, second = left + (right - left) / 3, right - (right - left) / 3
            left, right = (left, second) if at(first)[0] <= at(second)[0] else (first, right)
        found = min(found, at(float(tried[place])), at((left + right) / 2))
    variance, p, both = found
    return PairTable(2, Fraction(p), Fraction(both)) if variance < wanted else None


def gain_ends(question: PairQuestion, constraint: Callable[[int], Constraint] | None = None) -> int | None:
    """Return the least number of known people at which no pairs beat randomised response; None if none."""

    def gains(known: int) -> bool:
        asked = PairQuestion(question.n, question.epsilon_alone, question.epsilon, known, question.ones)
        return best_table(asked, constraint(known) if constraint else None, only_whether=True) is not None

    low, high = 0, question.n - 1
    if not gains(low):
        return 0
    if gains(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if gains(middle) else (low, middle)
    return high


def hidden_constraint(n: int, known: int) -> Constraint:
    """Return the epsilon with a hidden pairing in floating point, for searches; `hidden_epsilon` is exact.

    Examples
    --------
    >>> round(hidden_constraint(6, 2)(0.75, 0.025), 6)
    1.504077
    """
    paired, group = n + n % 2, known + 1

    def ratio(u: float, one: float, both: float) -> float:
        inner, weights = _inner_weights(paired, group)
        p = 1 - u
        if both <= 0:  # only without inner pairs, or with one that is mixed
            one_inner = 0.0 if len(inner) < 2 else 2 * math.exp(weights[1]) * one / u**2 / group
            return p / u + one_inner if inner[0] == 0 else math.inf
        inside = math.log(both / u**2)
        powers, before = inner * inside + weights, (inner - 1) * inside + weights
        top = max(powers.max(), before.max())
        every = np.exp(powers - top)
        mixed = 2 * inner * np.exp(before - top) * one / u**2
        total = float(every.sum())
        rest = float((mixed + (group - 2 * inner) * every * p / u).sum()) / group
        return rest / total if total > 0 else math.inf

    def towards(p: float, both: float) -> float:
        u = 1 - p
        if known == 0:
            return math.log(p / u)
        one, neither = u - both, 1 - 2 * u + both
        truthful, untruthful = ratio(u, one, both), ratio(p, one, neither)
        return max(
            abs(math.log(each)) if 0 < each < math.inf else math.inf for each in (truthful, untruthful)
        )

    return towards


@lru_cache(maxsize=8)
def _inner_weights(paired: int, group: int) -> tuple[Floats, Floats]:
    """Return the possible numbers of pairs inside a group and the logarithms of their chances."""
    outside = paired - group
    first = max(0, (group - outside + 1) // 2)
    inner = np.arange(first, group // 2 + 1, dtype=float)
    alone = group - 2 * inner[:-1]
    steps = np.log(alone * (alone - 1)) - np.log(2 * inner[1:] * (outside - alone + 2))
    return inner, np.concatenate([[0.0], np.cumsum(steps)])
