"""Guarantees of joint mechanisms: every number against all pairings, and what must never happen."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest

import ldpkit
from ldpkit.assurance.joint import Adversary, guarantee
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.exact import exp_bounds
from ldpkit.mechanisms.base import from_spec
from ldpkit.mechanisms.joint.matchings import hidden_epsilon
from ldpkit.mechanisms.joint.table import PairTable
from mechanisms.matchings import pattern_chance

P = Fraction(3, 4)
STATED = Adversary(known=5)


def thesis(table: PairTable, n: int, m: int) -> float:
    """Theorem 3 of the thesis."""
    p, q, rho = table.truthful, table.untruthful, table.correlation
    largest, least = max((1 - rho) * p, p + rho * q), min((1 - rho) * q, q + rho * p)
    return math.log((m * largest + (n - m - 1) * p) / (m * least + (n - m - 1) * q))


def enumerated(table: PairTable, n: int, m: int) -> float:
    """The definition: the worst over everything that can be known of m people, over all pairings."""
    worst = 0.0
    for known in product([False, True], repeat=m):
        patterns = [pattern_chance(table, n, {0: own, **dict(enumerate(known, 1))}) for own in (True, False)]
        truthful, untruthful = patterns[0], patterns[1] / (table.size - 1)
        if truthful != untruthful:
            if not truthful or not untruthful:
                return math.inf
            worst = max(worst, abs(math.log(truthful / untruthful)))
    return worst


def tables() -> list[PairTable]:
    made = [PairTable.correlated(2, P, rho) for rho in (Fraction(-1, 3), Fraction(-1, 5), Fraction(1, 2))]
    made.append(PairTable.correlated(2, Fraction(11, 20), Fraction(-1, 10)))
    return [*made, PairTable.correlated(3, Fraction(2, 5), Fraction(-3, 5))]


@pytest.mark.parametrize("n", [2, 4, 6])
def test_hidden_pairing_is_exact_for_every_number_of_known_people(n):
    for table in tables():
        for m in range(n):
            assert hidden_epsilon(table, n, m) == pytest.approx(enumerated(table, n, m), abs=1e-12), (
                table,
                m,
            )


def test_hidden_pairing_of_eight_people():
    table = PairTable.correlated(2, P, Fraction(-1, 4))
    for m in (3, 4):  # below and from where the strongest correlation tells everything
        assert hidden_epsilon(table, 8, m) == pytest.approx(enumerated(table, 8, m), abs=1e-12)


def test_published_numbers_and_where_the_theorem_of_the_thesis_fails():
    table = PairTable.correlated(2, P, Fraction(-1, 5))
    assert hidden_epsilon(table, 4, 2) == pytest.approx(1.945910, abs=5e-7)
    assert thesis(table, 4, 2) == pytest.approx(1.734601, abs=5e-7)
    assert hidden_epsilon(table, 6, 2) == pytest.approx(1.504077, abs=5e-7)
    for m in (1, 3):  # with one and with all known it is exact
        assert hidden_epsilon(table, 4, m) == pytest.approx(thesis(table, 4, m), abs=1e-12)
    strongest = PairTable.correlated(2, P, Fraction(-1, 3))
    assert hidden_epsilon(strongest, 6, 3) == math.inf
    assert thesis(strongest, 6, 3) < 4


def test_a_large_collection_and_the_closed_form_of_the_strongest_correlation():
    strongest = ldpkit.JRR(2, 1, adversary=Adversary(known=500))
    p, q, r = strongest.p, strongest.q, 500 / 9500
    closed = math.log((p + r * q) / (q * (1 - r)))
    assert guarantee(strongest, Adversary(known=500), 10_000).epsilon == pytest.approx(closed, abs=1e-12)
    assert math.isfinite(guarantee(strongest, Adversary(known=4999), 10_000).epsilon)
    assert guarantee(strongest, Adversary(known=5000), 10_000).epsilon == math.inf


def test_too_many_known_to_sum_over_is_a_bound_and_says_so():
    found = guarantee(ldpkit.JRR(2, 1, 2), Adversary(known=10**9), 10**12)
    assert (found.epsilon, found.exact) == (2.0, False)
    assert "at most 2.000000" in found.statement


def test_an_odd_one_out_is_as_a_stranger():
    table = PairTable.correlated(2, P, Fraction(-1, 5))
    # Five people and nobody: the sixth of six whose truthfulness is never known.
    assert hidden_epsilon(table, 5, 2) == hidden_epsilon(table, 6, 2)
    assert hidden_epsilon(table, 5, 4) == pytest.approx(enumerated(table, 6, 4), abs=1e-12)


def test_without_correlation_it_is_randomised_response():
    table = PairTable.correlated(2, P, Fraction(0))
    assert {hidden_epsilon(table, n, m) for n, m in ((4, 3), (10_000, 500))} == {table.epsilon_alone()}
    assert table.epsilon() == table.epsilon_alone() == pytest.approx(math.log(3))


def test_who_knows_what():
    oracle = ldpkit.JRR(2, 1, 2)
    alone = guarantee(oracle, Adversary(), 100)
    assert (alone.epsilon, alone.exact) == (oracle.exact_epsilon_alone(), True)
    partner = guarantee(oracle, Adversary(known=1, knows_grouping=True), 100)
    assert (partner.epsilon, partner.exact) == (oracle.exact_epsilon(), True)
    assert alone.epsilon < guarantee(oracle, Adversary(known=20), 100).epsilon < partner.epsilon
    mixed = guarantee(oracle, Adversary(known=20, share=0.1), 100)
    assert (mixed.epsilon, mixed.exact) == (oracle.exact_epsilon(), False), "a bound is called a bound"
    assert "at most" in mixed.statement
    assert guarantee(ldpkit.GRR(2, epsilon=1), Adversary(known=99), 100).epsilon <= 1


def test_a_collector_who_made_the_pairs_and_knows_the_share():
    strongest = ldpkit.JRR(2, 1, adversary=STATED)
    found = guarantee(strongest, Adversary(knows_grouping=True, share=659 / 20_000), 20_000)
    assert found.epsilon == pytest.approx(3.436156, abs=5e-7)
    assert found.exact
    with pytest.raises(InvalidParameterError, match="share of ones is about two values"):
        guarantee(ldpkit.JRR(3, 1, 2), Adversary(knows_grouping=True, share=0.1), 100)


def test_infinite_is_said_as_infinite():
    strongest = ldpkit.JRR(2, 1, adversary=STATED)
    assert strongest.both == 0
    assert strongest.exact_epsilon() == math.inf
    found = guarantee(strongest, Adversary(known=1, knows_grouping=True), 100)
    assert found.to_dict()["epsilon"] == "infinite"
    assert "learned for certain" in found.statement
    assert "inf" in strongest.promise()


def test_thresholds_of_the_thesis_would_turn_infinity_into_43():
    """Negative control: rounded down, they leave a little for 'both untruthful' and shift the marginals."""
    exact = ldpkit.JRR(2, 1, adversary=STATED).table
    e = exp_bounds(1.0)[0]
    p = e / (1 + e)
    word, q = 2**64, 1 - p
    rho = 1 - 1 / p
    first = math.floor((p * p + rho * p * q) * word)
    second = first + math.floor((1 - rho) * p * q * word)
    third = second + math.floor((1 - rho) * p * q * word)
    both = word - third
    assert 0 < both <= 3, "the rounding goes to what must be zero"
    assert 42 < math.log((second - first) / both) < 45, "and looks like a finite epsilon"
    assert second != word - ldpkit.GRR(2, epsilon=1).response.width, "and a report is no longer that of GRR"
    with pytest.raises(InvalidParameterError, match="not one over"):
        _ = PairTable.correlated(2, P, Fraction(-1, 5)).thresholds
    assert exact.thresholds[2] == word, "ours leaves exactly nothing"


def test_an_infinite_guarantee_needs_a_stated_adversary():
    for epsilon in (None, math.inf):
        with pytest.raises(InvalidParameterError, match="promises nothing against whoever knows a partner"):
            ldpkit.JRR(2, 1, epsilon)
    with pytest.raises(InvalidParameterError, match="by name needs an epsilon"):
        ldpkit.get("jrr", 2, epsilon_alone=1, adversary=STATED)
    with pytest.raises(InvalidParameterError, match="leave out epsilon or adversary"):
        ldpkit.JRR(2, 1, 2, adversary=STATED)
    with pytest.raises(InvalidParameterError):
        ldpkit.get("jrr", 2, epsilon_alone=1)
    with pytest.raises(InvalidParameterError, match="known to whoever made them"):
        ldpkit.JRR(2, 1, adversary=STATED).privatize([0, 1] * 10, pairs=[[0, 1]])
    with pytest.raises(InvalidInputError, match="learn a value for certain"):
        ldpkit.JRR(2, 1, adversary=STATED).privatize([0, 1] * 5)  # five of ten are known


def test_the_statement_stays_with_files_tallies_and_estimates():
    strongest = ldpkit.JRR(2, 1, adversary=STATED)
    assert from_spec(strongest.spec()) == strongest != ldpkit.JRR(2, 1, adversary=Adversary(known=6))
    tally = strongest.tally(strongest.privatize([0, 1] * 50, rng=ldpkit.random.seeded(1)))
    again = ldpkit.Tally.from_bytes(tally.to_bytes())
    assert again.mechanism.adversary == STATED
    made_by = again.estimate().made_by
    assert "NO epsilon towards whoever knows a partner" in made_by["promise"]
    assert "5 other people" in made_by["promise"]
    with pytest.raises(InvalidParameterError, match="not a stated adversary"):
        from_spec({**strongest.spec(), "parameters": {"epsilon_alone": 1.0, "adversary": "nobody"}})
    for edited in ({"epsilon_alone": 1.0}, {"epsilon_alone": 1.0, "adversary": STATED.text, "rho": -0.1}):
        with pytest.raises(InvalidParameterError, match=r"promises nothing|no parameter 'rho'"):
            from_spec({**strongest.spec(), "parameters": edited})
    both = {**strongest.spec()["parameters"], "epsilon": 1.5}
    with pytest.raises(InvalidParameterError, match="and no epsilon"):
        from_spec({**strongest.spec(), "parameters": both})


@pytest.mark.parametrize("n", [0, 1])
def test_pairs_need_two_people(n):
    with pytest.raises(InvalidParameterError, match="n must be at least 2"):
        guarantee(ldpkit.JRR(2, 1, 2), Adversary(), n)


def test_refused_adversaries():
    for bad in ({"known": -1}, {"known": 1.5}, {"share": 2.0}, {"knows_grouping": 1}):
        with pytest.raises(InvalidParameterError):
            Adversary(**bad)
    with pytest.raises(InvalidParameterError, match="at most 3 others are known"):
        guarantee(ldpkit.JRR(2, 1, 2), Adversary(known=4), 4)


def test_bits_pay_twice_and_buckets_once():
    bits = ldpkit.get("joint_sue", 4, epsilon_alone=1, epsilon=3)
    assert bits.exact_epsilon() == pytest.approx(2 * bits.table.epsilon(), abs=1e-12)
    assert guarantee(bits, Adversary(known=2), 100).exact is False
    assert guarantee(bits, Adversary(), 100).epsilon == pytest.approx(1, abs=1e-9)
    buckets = ldpkit.get("joint_olh", 40, epsilon_alone=1, epsilon=3)
    assert guarantee(buckets, Adversary(known=2), 100).exact
    groups = ldpkit.GroupCount(2, epsilon=1)
    assert guarantee(groups, Adversary(known=99, knows_grouping=True), 100).epsilon <= 1
