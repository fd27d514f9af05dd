"""Randomised response, JRR and joint counts beside each other, for one question about pairs."""

from __future__ import annotations

import math

from ldpkit.mechanisms.categorical.grr import GRR
from ldpkit.mechanisms.joint.group_count import GroupCount
from ldpkit.mechanisms.joint.matchings import hidden_epsilon
from ldpkit.mechanisms.joint.table import PairTable
from ldpkit.planning.pairs.choices import PairChoice, PairPlan
from ldpkit.planning.pairs.question import PairQuestion
from ldpkit.planning.pairs.search import best_table, gain_ends, response_variance

__all__ = ["plan_pairs"]

_SHARES = 33  # of the assumed range, at which a group's variance is looked at


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
    base = response_variance(question, question.epsilon_alone)
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
    exact, variance = oracle.exact_epsilon(), response_variance(question, epsilon)
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
