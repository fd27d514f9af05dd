"""How partners get their coins: the law of each way, and what each party gets to see."""

from __future__ import annotations

import importlib.util
import itertools
import math
import subprocess
from collections import Counter, defaultdict

import numpy as np
import pytest
from scipy.stats import chi2

import ldpkit
from ldpkit.core.errors import InvalidInputError, InvalidParameterError, LdpkitError
from ldpkit.mechanisms.joint.table import PairTable
from ldpkit.protocols.pairs import mpc
from ldpkit.protocols.pairs.mpc import run_locally
from ldpkit.protocols.pairs.samplers import Dealer, OpenCoins, answer
from ldpkit.protocols.pairs.specification import (
    draw_below,
    group_by_keys,
    share_coins,
    sorting_network,
)

FALSE_ALARM = 1e-6
TABLE = PairTable.of_epsilons(2, 1.0, 2.0)


def surprise(coins, table):
    law = np.array([table.both, table.one, table.one, table.neither], float)
    observed = np.bincount(2 * coins[:, 0].astype(int) + coins[:, 1], minlength=4)
    expected = law * len(coins)
    return chi2.sf(((observed - expected) ** 2 / expected).sum(), 3)


@pytest.mark.parametrize("way", [OpenCoins, Dealer])
def test_flipped_coins_have_the_stated_law_and_cap(way):
    sampler = way(epsilon_alone=1, cap=2)
    coins = sampler.draw(40_000, rng=ldpkit.random.seeded(1))
    assert surprise(coins, sampler.table) > FALSE_ALARM
    assert surprise(coins, TABLE) < FALSE_ALARM, "another table is seen"
    assert 1 + float(sampler.table.correlation) == pytest.approx(0.886, abs=5e-4)
    assert 1 + float(TABLE.correlation) == pytest.approx(0.795, abs=5e-4)
    assert all(most <= 2 for most in sampler.learned().values())
    assert 1 - 1e-9 < sampler.learned()["collector"] <= 1
    assert "2" in sampler.statement


def test_the_cap_holds_whatever_is_known_of_the_coins():
    """Given both coins, a report still is randomised response with the local flip."""
    sampler = OpenCoins(1, 2)
    flip = sampler.flip / 2**64
    assert math.log((1 - flip) / flip) <= 2 + 1e-12
    source, other = ldpkit.random.seeded(2), ldpkit.random.seeded(2)
    coins, seen = sampler.draw(40_000, rng=source), sampler.coins(40_000, other)
    assert (coins != seen).mean() == pytest.approx(flip, abs=5 * math.sqrt(flip / 80_000))
    assert not (~seen[:, 0] & ~seen[:, 1]).any(), "coins never lie both; flips may"


def test_samplers_refuse():
    for alone, cap in ((1, 1), (2, 1), (0, 1)):
        with pytest.raises(InvalidParameterError):
            Dealer(alone, cap)
    with pytest.raises(InvalidInputError, match="for bits"):
        answer([0, 2], np.array([True, False]))
    with pytest.raises(InvalidInputError, match="one coin for each value"):
        answer([0, 1], np.array([True]))


def test_reports_from_coins_are_estimated_by_jrr():
    oracle, source = ldpkit.JRR(2, 1, 2), ldpkit.random.seeded(3)
    values = (np.arange(20_000) < 6000).astype(int)
    coins = OpenCoins(1, 2).draw(10_000, rng=source).ravel()
    estimate = oracle.tally(answer(values, coins)).estimate()
    assert abs(estimate[1] - 0.3) < 5 * estimate.stderr[1]


# --- theorem 5, by all numbers and all shares ----------------------------------------------


def everything(thresholds, modulus):
    """Run the coin protocol on every number of both and every share."""
    for drawn in itertools.product(range(modulus), repeat=5):
        stream = iter(drawn)
        yield share_coins(thresholds, lambda: next(stream), modulus=modulus)  # noqa: B023 - called at once


def test_theorem_5_exactly_and_what_each_partner_sees():
    modulus, thresholds = 4, (1, 2, 3)
    coins, views = Counter(), defaultdict(Counter)
    for first, second in everything(thresholds, modulus):
        coins[first.coin, second.coin] += 1
        for name, me, other in (("first", first, second), ("second", second, first)):
            view = (me.number, tuple(me.shares), me.received)
            views[name, me.coin, other.coin][view] += 1
    total = modulus**5
    assert coins == {(1, 1): total // 4, (1, 0): total // 4, (0, 1): total // 4, (0, 0): total // 4}
    for name, own in itertools.product(("first", "second"), (0, 1)):
        assert views[name, own, 0] == views[name, own, 1], "a view tells nothing of the other's coin"


def test_a_leaking_protocol_would_be_seen():
    """Negative control: with the sum of both numbers in the view, the other's coin shows."""
    views = defaultdict(Counter)
    for first, second in everything((1, 2, 3), 4):
        views[first.coin, second.coin][(first.number, (first.number + second.number) % 4)] += 1
    assert views[1, 0] != views[1, 1]


def test_coins_of_a_real_table():
    source = draw_below(ldpkit.random.seeded(4))
    drawn = [share_coins(TABLE.thresholds, source) for _ in range(3000)]
    coins = np.array([[first.coin, second.coin] for first, second in drawn], bool)
    assert surprise(coins, TABLE) > FALSE_ALARM


# --- grouping --------------------------------------------------------------------------------


def test_the_network_sorts_whatever_comes():
    for n in (2, 3, 5, 6):
        for keys in itertools.product((0, 1), repeat=n):  # the 0-1 principle
            line = list(keys)
            for i, j in sorting_network(n):
                line[i], line[j] = min(line[i], line[j]), max(line[i], line[j])
            assert line == sorted(keys)


def test_grouping_is_uniform_and_ties_are_drawn_again():
    source, partners = draw_below(ldpkit.random.seeded(5), 8), Counter()
    for _ in range(300):  # of eight keys, four people tie in more than half of the runs
        people = group_by_keys(4, source, modulus=8)
        partners[people[0].partner] += 1
        assert sorted(each.partner for each in people) == [0, 1, 2, 3]
    statistic = sum((partners[each] - 100) ** 2 / 100 for each in (1, 2, 3))
    assert chi2.sf(statistic, 2) > FALSE_ALARM


def test_an_odd_one_is_left_and_views_are_shares():
    people = group_by_keys(5, draw_below(ldpkit.random.seeded(6)))
    assert sum(each.partner is None for each in people) == 1
    for each in people:
        assert set(vars(each)) == {"name", "key", "shares", "partner"}
        assert len(each.shares) == 5
    one_less = [sum(each.shares[0][0] for each in people[1:]) % 2**64]
    assert one_less[0] not in {each.key for each in people}, "all but one share tell no key"
    with pytest.raises(InvalidParameterError):
        group_by_keys(1, draw_below(ldpkit.random.seeded(6)))


# --- the real run ----------------------------------------------------------------------------


def test_two_parties_are_refused():
    with pytest.raises(InvalidParameterError, match="one share is the secret itself"):
        run_locally(TABLE, 1, parties=2)


def test_the_comparison_of_bits_is_exact_next_to_every_threshold():
    source = ldpkit.random.seeded(7)
    thresholds = [1, 2**63, 2**64 - 1, *TABLE.thresholds, *map(int, source.words(10))]
    for threshold in thresholds:
        near = [threshold - 1, threshold, (threshold + 1) % 2**64, 0, 2**64 - 1, *map(int, source.words(5))]
        words = np.array([mpc._bits(each) for each in near])
        assert mpc.less_than(words, mpc._bits(threshold)).tolist() == [each < threshold for each in near]


@pytest.mark.skipif(importlib.util.find_spec("mpyc") is None, reason="needs the extra mpc")
def test_three_processes_draw_coins_of_the_table():
    coins, seconds = run_locally(TABLE, 150)
    assert coins.shape == (150, 2)
    assert seconds > 0
    assert surprise(coins, TABLE) > FALSE_ALARM
    assert surprise(coins, PairTable(2, TABLE.untruthful, TABLE.neither)) < FALSE_ALARM, "lies for truths"


@pytest.mark.skipif(importlib.util.find_spec("mpyc") is None, reason="needs the extra mpc")
def test_at_the_strongest_correlation_three_processes_never_let_both_be_untruthful():
    coins, _ = run_locally(PairTable.of_epsilons(2, 1.0, math.inf), 60)
    assert (coins[:, 0] | coins[:, 1]).all(), "the third threshold is 2**64, which has no bits of its own"


def test_a_party_that_fails_or_hangs_is_told(monkeypatch):
    def instead(code):
        real = subprocess.Popen
        monkeypatch.setattr(mpc.importlib.util, "find_spec", lambda name: name)
        monkeypatch.setattr(
            mpc.subprocess, "Popen", lambda command, **rest: real([command[0], "-c", code], **rest)
        )

    instead("import sys; sys.exit('no such host')")
    with pytest.raises(LdpkitError, match="a party ended with 1: no such host"):
        run_locally(TABLE, 1)
    monkeypatch.undo()
    instead("import time; time.sleep(60)")
    monkeypatch.setattr(mpc, "_PATIENCE", 0.2)
    with pytest.raises(LdpkitError, match="did not finish within"):
        run_locally(TABLE, 1)
