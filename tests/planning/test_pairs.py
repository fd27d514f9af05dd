"""Planning with pairs: the right constraint, the numbers of the issue, and what Theorem 3 would allow."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import ldpkit
from ldpkit.core.errors import InvalidParameterError
from ldpkit.mechanisms.joint.matchings import hidden_epsilon
from ldpkit.mechanisms.joint.table import PairTable
from ldpkit.planning.pairs.question import PairQuestion
from ldpkit.planning.pairs.search import best_table, gain_ends, hidden_constraint


def theorem_3(n):
    """The constraint of the thesis, as a function of p and 'both'."""

    def known(m):
        def towards(p, both):
            u = 1 - p
            rho = (both - u * u) / (p * u)
            least = m * (u + rho * p) + (n - m - 1) * u
            return math.log((m * (1 - rho) * p + (n - m - 1) * p) / least) if least > 0 else math.inf

        return towards

    return known


def test_the_best_pairs_keep_the_exact_limit_and_those_of_theorem_3_do_not():
    """Negative control: under the thesis' constraint, the exact epsilon exceeds what was asked for."""
    question = PairQuestion(1000, 1.0, known=100, ones=(0, 50))
    right, wrong = best_table(question), best_table(question, theorem_3(1000)(100))
    assert 1 - 1e-6 < hidden_epsilon(right, 1000, 100) <= 1
    assert hidden_epsilon(wrong, 1000, 100) > 1.005
    assert question.variance(wrong) < question.variance(right), "that is why it looks better"


def test_where_the_gain_ends():
    question = PairQuestion(10_000, 1.0, ones=(1000, 1000))
    assert gain_ends(question) == pytest.approx(854, abs=5)  # 8.5 per cent
    assert gain_ends(question, theorem_3(10_000)) == pytest.approx(933, abs=5)  # 9.3 by the thesis
    table = PairTable.of_epsilons(2, 1, 2)
    mirrored = PairQuestion(10_000, 1.0, ones=(9000, 9000))
    assert mirrored.variance(table) == question.variance(table), (
        "so it ends at the same number for 9,000 ones"
    )


def test_the_search_constraint_is_the_exact_one():
    for n, m in ((10, 3), (11, 4), (400, 150), (400, 250), (20_000, 9000), (20_000, 19_990)):
        for p, both in ((0.75, 0.02), (0.6, 0.1), (0.75, 0.0)):
            table = PairTable(2, Fraction(p), Fraction(both))
            assert hidden_constraint(n, m)(p, both) == pytest.approx(hidden_epsilon(table, n, m), rel=1e-9)


def test_all_choices_and_their_statements():
    plan = ldpkit.plan.pairs(20_000, 1.0, 2.0, ones=(659, 659), gain=False)
    assert [each.name for each in plan.choices] == ["rr", "best", "thesis", "safe", "rr at epsilon", "group"]
    assert plan["rr at epsilon"].ratio < plan["safe"].ratio, "at equal epsilon towards a partner RR is better"
    assert not plan["thesis"].allowed
    assert math.isinf(plan["thesis"].epsilon_partner)
    assert plan.best.name == "group"
    assert any("learns the value for certain" in note for note in plan.warnings)
    assert all(each.statement for each in plan.choices)
    assert plan["best"].ratio == pytest.approx(plan["safe"].ratio, abs=1e-6), "with nobody known they agree"


def test_many_people_are_planned_for_as_fast_as_few():
    """The search for the end of the gain looks at 50,000 people, and says that it did."""
    plan = ldpkit.plan.pairs(10**12, 1.0, ones=(10**11, 10**11))
    assert plan.gain_ends / 10**12 == pytest.approx(0.0854, abs=1e-4)
    assert "about 85,3" in " ".join(plan.notes())
    assert plan.about()["gain_ends_exact"] is False
    with pytest.raises(InvalidParameterError, match="sums over all pairings take too long"):
        PairQuestion(10**12, 1.0, known=10**9)


def test_one_epsilon_leaves_nothing_for_pairs():
    plan = ldpkit.plan.pairs(1000, 1.0, 1.0, ones=(0, 10))
    assert [each.name for each in plan.choices] == ["rr", "thesis", "group"]
    assert plan.gain_ends == 0
    assert "gains nothing" in " ".join(plan.notes())


@pytest.mark.parametrize(
    "asked",
    [
        {"n": 1, "epsilon_alone": 1.0},
        {"n": 0, "epsilon_alone": 1.0},
        {"n": 10, "epsilon_alone": 1.0, "ones": (0, 11)},
        {"n": 10, "epsilon_alone": 1.0, "ones": (5, 4)},
        {"n": 10, "epsilon_alone": 2.0, "epsilon": 1.0},
        {"n": 10, "epsilon_alone": 1.0, "known": 10},
        {"n": 10, "epsilon_alone": -1.0},
    ],
)
def test_refused(asked):
    with pytest.raises(InvalidParameterError):
        PairQuestion(**asked)
