"""The ledger against enumeration: the worst ratio of all answers and all reports, looked at one by one."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest

import ldpkit
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.exact import log_up
from ldpkit.protocols.history import sequence_epsilon
from ldpkit.protocols.ledger import (
    MICRO,
    Cost,
    History,
    Ledger,
    Promise,
    Questions,
    Record,
    Report,
    Rounds,
    Shares,
    allot,
    micro_epsilon,
)

GRR, SUE, THE = ldpkit.GRR(3, 0.7), ldpkit.SUE(2, 1.1), ldpkit.get("the", 2, epsilon=0.9)


def cost(*records: Record) -> Cost:
    found = Ledger(records).cost()
    assert found is not None
    return found


def enumerated(*mechanisms) -> float:
    """The epsilon of independent reports, from all answers before and after and all reports."""
    worst = Fraction(1)
    rows = [mechanism.channel().probabilities for mechanism in mechanisms]
    for one, other in itertools.product(itertools.product(*rows), repeat=2):
        ratios = [max(a / b for a, b in zip(x, y, strict=True)) for x, y in zip(one, other, strict=True)]
        worst = max(worst, math.prod(ratios))
    return log_up(worst)


@pytest.mark.parametrize("mechanisms", [(GRR, SUE), (GRR, GRR, GRR), (SUE, THE, GRR)])
def test_a_sum_is_the_worst_ratio_of_all_answers_and_reports(mechanisms):
    found = cost(*map(Report, mechanisms))
    assert found.is_exact
    exact = enumerated(*mechanisms)
    assert exact <= found.epsilon <= exact * (1 + 1e-15)  # each part was rounded up before
    assert found == cost(Questions(tuple(map(Report, mechanisms))))


def test_rounds_are_repeated_questions():
    once = Questions((Report(GRR), Report(SUE)))
    assert cost(Rounds(once, 3)).epsilon == pytest.approx(cost(once, once, once).epsilon, rel=1e-15)
    assert cost(Rounds(once, 3)).micro == cost(once, once, once).micro
    assert cost(Rounds(once, 0)) == cost() == Cost(0.0, True, 0)


def test_a_sample_of_questions_costs_the_dearest():
    records = tuple(map(Report, (GRR, SUE, THE)))
    worst = max(cost(*some).epsilon for some in itertools.combinations(records, 2))
    assert cost(Questions(records, 2)).epsilon == worst
    assert cost(Questions(records, 3)) == cost(*records)


def test_shares_cost_the_dearest_share_and_a_promise_is_a_bound():
    assert cost(Shares((Report(GRR), Report(SUE)))) == cost(Report(SUE))
    assert not cost(Shares((Report(GRR), Promise(2.0)))).is_exact
    assert cost(Shares((Report(GRR), Promise(0.001)))).is_exact


def test_a_history_costs_what_its_enumeration_says():
    oracle = ldpkit.get("lgrr", 4, epsilon_inf=2, epsilon_1=1)
    found = cost(History(oracle, ((1, 2), (3, 1))))
    loss = sequence_epsilon(oracle, [1, 1, 3])
    assert (found.epsilon, found.is_exact) == (loss.epsilon, loss.is_exact)
    device = ldpkit.Device(oracle, b"0123456789abcdef", question="page")
    for value in (1, 1, 3):
        device.report(value, rng=ldpkit.random.seeded(1))
    assert cost(device.record()) == found
    assert cost(device.record(), Promise(0.5)).epsilon == pytest.approx(found.epsilon + 0.5)


def test_infinite_stays_infinite_and_no_cap_admits_it():
    oracle = ldpkit.DBitFlip(4, 1.0)
    once, twice = History(oracle, ((0, 1),)), History(oracle, ((0, 1), (1, 1)))
    assert cost(once).micro is not None
    assert cost(twice, Report(GRR)) == Cost(math.inf, True, None)
    assert (cost(twice).text, str(cost(twice))) == ("infinite", "epsilon infinite")
    assert cost(Shares((Report(GRR), twice))).micro is None
    assert Ledger().fits(twice)
    assert not Ledger(cap=10**12).fits(twice)


def test_millionths_are_rounded_up_each_and_never_below_the_exact_sum():
    third = Promise(1 / 3)
    found = cost(*[third] * 6)
    assert found.micro == 6 * 333_334
    assert found.micro >= Fraction(found.epsilon) * MICRO - 1
    assert found.micro >= sum(Fraction(1 / 3) * MICRO for _ in range(6))
    assert (micro_epsilon(2.0), micro_epsilon(math.nextafter(2.0, 3))) == (2 * MICRO, 2 * MICRO + 1)


@pytest.mark.parametrize("parts", [1, 3, 6, 7, 49])
@pytest.mark.parametrize("epsilon", [1.0, 0.1, math.pi])
def test_what_is_allotted_fits(epsilon, parts):
    part = allot(epsilon, parts)
    assert Fraction(part) * parts <= Fraction(epsilon)
    assert Fraction(math.nextafter(math.nextafter(part, 9), 9)) * parts > Fraction(epsilon)


def test_a_cap_admits_what_fits_and_no_more():
    ledger = Ledger(cap=6 * MICRO)
    for _ in range(6):
        assert ledger.fits(Promise(1.0))
        ledger = ledger.add(Promise(1.0))
    assert not ledger.fits(Promise(0.001))


class Gossip(Record):
    """Something that the ledger cannot know."""


@pytest.mark.parametrize(
    "record",
    [Gossip(), Rounds(Gossip(), 2), Questions((Promise(1.0), Gossip())), Shares(()), History(GRR, ())],
)
def test_what_is_unsupported_has_no_cost(record):
    ledger = Ledger((Promise(1.0),))
    assert ledger.supports()
    assert not ledger.supports(record)
    assert ledger.add(record).cost() is None
    assert not ledger.fits(record)


def test_senseless_records_are_refused():
    with pytest.raises(InvalidParameterError, match="more than the 1 questions"):
        Questions((Promise(1.0),), 2)
    with pytest.raises(InvalidParameterError, match="count"):
        Rounds(Promise(1.0), -1)
    with pytest.raises(InvalidParameterError, match="epsilon"):
        Promise(-1.0)
