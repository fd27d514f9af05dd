"""Randomised response, pairs and joint counts compared, each with its privacy towards everybody."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from ldpkit.core.results import TOP, Result, finite
from ldpkit.core.tables import Table
from ldpkit.mechanisms.categorical.grr import GRR
from ldpkit.mechanisms.joint.group_count import GroupCount
from ldpkit.mechanisms.joint.matchings import hidden_epsilon
from ldpkit.mechanisms.joint.table import PairTable
from ldpkit.planning.pairs.question import PairQuestion
from ldpkit.planning.pairs.search import MOST_SEARCHED, best_table, gain_ends

__all__ = ["PairChoice", "PairPlan", "pairs"]

_SHARES = 33  # of the assumed range, at which a group's variance is looked at


@dataclass(frozen=True)
class PairChoice:
    """One way to ask, with its privacy towards all and its worst variance in the assumed range."""

    name: str
    how: str
    epsilon_stated: float
    """Towards the stated adversary, exactly."""
    epsilon_partner: float
    """Towards anyone, including the partner."""
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

    def answer(self, unit: str = "") -> str:
        """Return what is best within the limits, as a sentence."""
        best = self.best
        asked = self.question
        gain = f"{best.ratio:.1%} of the variance of randomised response at epsilon {asked.epsilon_alone:g}"
        return f"Within these limits {best.how} is best for {asked.n:,} people: it has {gain}."

    @property
    def title(self) -> str:
        """The title above the table."""
        return f"Pairs for {self.question.n:,} people"

    @property
    def caption(self) -> str:
        """The caption below the table."""
        low, high = self.question.range
        limit = "no limit" if self.question.epsilon is None else f"at most {self.question.epsilon:g}"
        return (
            f"epsilon stated: against {self.question.adversary.words}, at most "
            f"{self.question.epsilon_alone:g}; epsilon partner: against anyone, including the partner, "
            f"{limit}; ratio: the largest variance for {low:,} to {high:,} ones, divided by the one of "
            "randomised response"
        )

    def notes(self) -> list[str]:
        """Return what a reader should know of the answer."""
        told = [f"best within the limits: {self.best.name} ({self.best.how})"]
        if self.gain_ends == 0:
            told.append("JRR gains nothing over randomised response within these limits")
        elif self.gain_ends is not None:
            told.append(
                f"JRR gains nothing over randomised response once the values of {self._about}"
                f"{self.gain_ends:,} people ({self.gain_ends / self.question.n:.1%}) are known"
            )
        return told

    @property
    def _about(self) -> str:
        return "about " if self.question.n > MOST_SEARCHED else ""

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
            "gain_ends_exact": not self._about,
        }

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return one record for each choice."""
        return [dict(each.__dict__) for each in self.choices[:top]]

    def tables(self, top: int | None = TOP) -> list[Table]:
        """Return the choices without their statements, which are the notes and warnings."""
        kept = ("name", "how", "epsilon_stated", "epsilon_partner", "ratio", "allowed")
        shown = [{name: finite(row[name]) for name in kept} for row in self.rows(top)]
        for row in shown:
            row["allowed"] = "yes" if row["allowed"] else "no"
        return [Table.of(shown, title=self.title, caption=self.caption)]


def pairs(
    n: int,
    epsilon_alone: float,
    epsilon: float | None = None,
    *,
    known: int = 0,
    ones: tuple[int, int] | None = None,
    gain: bool = True,
) -> PairPlan:
    """Compare randomised response, JRR chosen in several ways, and the joint count of two.

    Parameters
    ----------
    n : int
        How many people, two or more.
    epsilon_alone : float
        What a report may tell a collector who knows the values of `known` people and not the pairing.
    epsilon : float, optional
        What it may tell anyone, the partner included; by default there is no limit.
    known : int
        How many people's values the collector knows.
    ones : pair of int, optional
        The least and the largest number of ones that is assumed; by default nothing is.
    gain : bool
        Whether to look for the number of known people from which JRR no longer gains.

    Examples
    --------
    >>> import ldpkit
    >>> plan = ldpkit.plan.pairs(20_000, 1.0, 2.0, ones=(659, 659), gain=False)
    >>> round(plan["safe"].ratio, 6), round(plan["thesis"].ratio, 6), round(plan["group"].ratio, 6)
    (0.821283, 0.679012, 0.59431)
    >>> plan["thesis"].allowed, plan["thesis"].epsilon_partner
    (False, inf)
    >>> plan.best.name
    'group'
    """
    question = PairQuestion(n, epsilon_alone, epsilon, known, ones)
    base = question.response_variance(question.epsilon_alone)
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


def _response(question: PairQuestion, name: str, epsilon: float, base: float) -> PairChoice:
    oracle = GRR(2, epsilon=epsilon)
    exact, variance = oracle.exact_epsilon(), question.response_variance(epsilon)
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
            f"{name}: a partner who knows that their own report is false learns the value for certain; "
            f"epsilon {said} holds only against {question.adversary.words}"
        )
    else:
        how = f"JRR(2, epsilon_alone={alone:.6g}, epsilon={partner:.6g})"
        statement = (
            f"{name}: epsilon {partner:.6f} towards anyone, including the partner; exactly {stated:.6f} "
            f"against {question.adversary.words}"
        )
    limit = math.inf if question.epsilon is None else question.epsilon
    return PairChoice(
        *(name, how, stated, partner, float(table.truthful), float(table.rho), variance, variance / base),
        stated <= question.epsilon_alone and partner <= limit,
        statement,
    )
