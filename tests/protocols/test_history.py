"""What a history costs: every claim against an enumeration of all histories and all reports."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

import ldpkit
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.exact import log_up
from ldpkit.mechanisms.base import MECHANISMS
from ldpkit.mechanisms.longitudinal.histories import sequences
from ldpkit.mechanisms.longitudinal.memoized import MemoizedOracle
from ldpkit.protocols.history import device_loss, sequence_epsilon
from mechanisms.longitudinal.chained import products

NAMES = [name for name, kind in MECHANISMS.items() if issubclass(kind, MemoizedOracle)]
LENGTHS = (1, 2, 3, 4)
ULP = 1e-15  # of a sum of logarithms, each rounded up


def make(name, size, epsilon_inf=2.0, epsilon_1=1.0, d=None):
    if name == "dbitflip":
        return ldpkit.get(name, size, epsilon=epsilon_inf, d=d)
    return ldpkit.get(name, size, epsilon_inf=epsilon_inf, epsilon_1=epsilon_1)


def subjects():
    """Every longitudinal mechanism that is registered, on two and three values."""
    for name, size in itertools.product(NAMES, (2, 3)):
        for d in range(1, size + 1) if name == "dbitflip" else (None,):
            yield pytest.param(make(name, size, d=d), id=f"{name}-{size}" + (f"-d{d}" if d else ""))
    yield pytest.param(make("lgrr", 3, 2.0, 1.9), id="lgrr-3-1.9")
    yield pytest.param(make("lblh", 3, 1.0, 0.99), id="lblh-3-0.99")


every_subject = pytest.mark.parametrize("mechanism", list(subjects()))


def rounds(mechanism):
    """Return both rounds as matrices: P(permanent report | state) and P(report | permanent report)."""
    if mechanism.name != "dbitflip":
        return products(mechanism)
    reports = list(itertools.product((0, 1), repeat=mechanism.d))
    permanent = [mechanism._row(state, reports) for state in range(mechanism.state_count)]
    return permanent, [[Fraction(x == y) for y in range(len(reports))] for x in range(len(reports))]


def induced_maps(mechanism):
    """Yield coins, and the state of each value under them, once for each number of states in use.

    The numbers of the states do not matter, since a report treats them alike; for dBitFlipPM
    all sets of buckets are alike.
    """
    values = np.arange(mechanism.size, dtype=np.uint32)
    drawn = mechanism.public_coins(300, ldpkit.random.seeded(1))
    seen = set()
    for row in range(len(drawn)):
        coins = drawn[row : row + 1]
        states = mechanism.states(np.repeat(coins, mechanism.size, axis=0), values).tolist()
        if len(set(states)) not in seen:
            seen.add(len(set(states)))
            yield coins, tuple(states)


class Enumeration:
    """All histories of one length over some states, and all reports.

    Whoever reorders a history, another one and the reports alike changes nothing. So reports are
    taken in one order only, and histories in every order.
    """

    def __init__(self, mechanism, states, length):
        permanent, instant = rounds(mechanism)
        scale = math.lcm(*(chance.denominator for row in permanent + instant for chance in row))
        permanent, instant = (
            [[int(scale * chance) for chance in row] for row in each] for each in (permanent, instant)
        )

        @cache
        def block(state, sent):
            return sum(
                kept * math.prod(instant[x][y] for y in sent) for x, kept in enumerate(permanent[state])
            )

        self.histories = list(itertools.product(sorted(set(states)), repeat=length))
        blocks = {
            history: [(state, [t for t in range(length) if history[t] == state]) for state in set(history)]
            for history in self.histories
        }
        self.tables = []  # probabilities over one common denominator
        for sent in itertools.combinations_with_replacement(range(len(instant[0])), length):
            table = {
                history: scale ** (length - len(parts))
                * math.prod(block(state, tuple(sent[t] for t in times)) for state, times in parts)
                for history, parts in blocks.items()
            }
            self.tables.append((table, max(table.values()), min(table.values())))

    def against_every(self, times):
        """Return the exact epsilon of a history with these times against every history."""
        mine = [history for history in self.histories if Counter(history) == times]
        worst = Fraction(1)
        for table, most, least in self.tables:
            chances = [table[history] for history in mine]
            if (least == 0 < max(chances)) or (min(chances) == 0 < most):
                return math.inf
            worst = max(worst, Fraction(max(chances), least), Fraction(most, min(chances)))
        return log_up(worst)

    def against(self, times, are_compared):
        """Return the exact epsilon of a history with these times against some that never refute it."""
        worst = Fraction(1)
        for history, other in itertools.product(self.histories, repeat=2):
            if Counter(history) == times and are_compared(history, other):
                for table, *_ in self.tables:
                    low, high = sorted((table[history], table[other]))
                    worst = max(worst, Fraction(high, low)) if high > low * worst else worst
        return log_up(worst)


enumerate_all = cache(lambda mechanism, states, length: Enumeration(mechanism, states, length))


def histories(mechanism, states, length):
    """Yield the reports from each state of every history, once for those that differ only in names."""
    found = {}
    for history in itertools.product(sorted(set(states)), repeat=length):
        times = Counter(history)
        found[tuple(sorted((mechanism.is_worst(state), count) for state, count in times.items()))] = times
    return found.values()


def same_pattern(history, other):
    return len({*zip(history, other, strict=True)}) == len(set(history)) == len(set(other))


@every_subject
def test_every_claim_holds_against_all_histories(mechanism):
    for coins, states in induced_maps(mechanism):
        for length in LENGTHS:
            enumeration = enumerate_all(mechanism, states, length)
            for times in histories(mechanism, states, length):
                truth, loss = enumeration.against_every(times), device_loss(mechanism, times, coins=coins)
                assert loss.epsilon >= truth
                assert loss.epsilon == truth or not loss.is_exact
                assert loss.is_exact or not all(map(mechanism.is_worst, times))  # short ones are known
                blind = device_loss(mechanism, times)
                assert blind.epsilon >= loss.epsilon
                assert blind.is_exact <= (mechanism.states_are_values or length == 1 or math.isinf(truth))
                assert mechanism.history_bound(length) >= truth


@every_subject
def test_fixed_devices_and_same_patterns_cost_what_they_say(mechanism):
    for coins, states in induced_maps(mechanism):
        for length in (1, 2, 3):
            enumeration = enumerate_all(mechanism, states, length)
            for times in histories(mechanism, states, length):
                truth, loss = (
                    enumeration.against(times, same_pattern),
                    device_loss(mechanism, times, coins=coins),
                )
                assert truth <= loss.same_pattern
                assert loss.same_pattern == pytest.approx(truth, rel=ULP) or not loss.same_pattern_is_exact
                if len(times) == 1:  # the same pattern as a value that never changes has another such value
                    fixed = device_loss(mechanism, times, fixed=True, coins=coins)
                    assert truth <= fixed.epsilon <= mechanism.exact_permanent_epsilon()
                    assert fixed.epsilon == pytest.approx(truth, rel=ULP) or not fixed.is_exact
                    assert fixed.is_exact or not mechanism.is_worst(*times)


@every_subject
def test_before_the_coins_are_drawn_the_claim_holds_for_all_of_them(mechanism):
    for length in (1, 2, 3):
        kinds = list(sequences(length, range(mechanism.size)))  # one of each that differ only in names
        reached = dict.fromkeys(kinds, 0.0)
        for _, states in induced_maps(mechanism):
            enumeration = enumerate_all(mechanism, states, length)
            for values, given in itertools.product(kinds, set(itertools.permutations(states))):
                truth = enumeration.against_every(Counter(given[value] for value in values))
                reached[values] = max(reached[values], truth)
        for values, truth in reached.items():
            loss = sequence_epsilon(mechanism, values)
            assert loss.epsilon >= truth
            assert loss.epsilon >= loss.same_pattern
            assert loss.epsilon == truth or not loss.is_exact
            assert loss.is_exact or not mechanism.states_are_values


def old_formula(mechanism, times):
    """What was called exact: a sum over states, as if every history had the same pattern."""
    return math.fsum(map(mechanism.repeated_epsilon, times.values()))


@pytest.mark.parametrize(
    ("name", "epsilon_inf", "epsilon_1", "values", "least"),
    [
        ("lgrr", 2, 1.9, (0, 1, 0), 7.27),
        ("lblh", 1, 0.99, (0, 1), 4.82),
        ("dbitflip", 2, None, (0, 1), math.inf),
    ],
)
def test_what_was_understated(name, epsilon_inf, epsilon_1, values, least):
    """The negative control too: the same enumeration refutes the sum over states."""
    mechanism = make(name, 3, epsilon_inf, epsilon_1, d=1)
    loss = sequence_epsilon(mechanism, values)
    assert loss.epsilon >= least
    truths = []
    for _, states in induced_maps(mechanism):
        times = Counter(states[value] for value in values)
        truths.append(
            (Enumeration(mechanism, states, len(values)).against_every(times), old_formula(mechanism, times))
        )
    assert max(truth for truth, _ in truths) >= least
    assert any(old < truth - 0.8 for truth, old in truths)


# --- longer histories -------------------------------------------------------------------


@pytest.mark.parametrize("name", ["lgrr", "lsue", "loue", "lsoue", "losue", "lblh"])
def test_the_bound_on_longer_histories_holds(name):
    mechanism = make(name, 2)
    enumeration = Enumeration(mechanism, range(2), 6)
    truths = [enumeration.against_every(Counter({0: ones, 1: 6 - ones})) for ones in range(1, 7)]
    loss = device_loss(mechanism, {0: 3, 1: 3})
    assert not loss.is_exact
    assert max(truths) <= loss.epsilon < 6 * mechanism.exact_instant_epsilon()


def response_logarithm(mechanism, history, sent):
    """Return ln P(sent | history) of randomised responses, in floats."""
    first, second = mechanism.response.first, mechanism.response.second
    letters, total = np.arange(first.size), 0.0
    for state in set(history):
        counts = (sent[history == state][:, None] == letters).sum(axis=0)
        own = np.where(letters == state, float(first.p), float(first.q))
        logs = np.log(own) + counts * math.log(second.p) + (counts.sum() - counts) * math.log(second.q)
        total += np.logaddexp.reduce(logs)
    return total


def test_a_thousand_reports_of_a_changing_value_cost_hundreds():
    """The example of the guide: a history that agrees with every report is told from it almost surely."""
    mechanism = make("lgrr", 16)
    history = np.array([3] * 500 + [5] * 300 + [3] * 200)
    loss = sequence_epsilon(mechanism, history.tolist())
    assert loss.same_pattern == pytest.approx(4)
    sent = np.arange(1000) % 16
    reached = response_logarithm(mechanism, sent, sent) - response_logarithm(mechanism, history, sent)
    assert 443.5 < reached <= loss.epsilon < 1.02 * reached


def test_the_bound_of_unary_reports_is_nearly_reached():
    mechanism, reports = make("lsoue", 3), 20_000
    first, second = (
        [threshold / 2**64 for threshold in each]
        for each in (mechanism._chain.first, mechanism._chain.second)
    )

    def logarithm(own, ones, count):
        one, zero = (ones * math.log(said) + (count - ones) * math.log(1 - said) for said in second)
        held = first[0 if own else 1]
        return np.logaddexp(math.log(held) + one, math.log(1 - held) + zero)

    # The other history is in state 0 and sends ones for a while, then in state 1 and sends zeros.
    odds = math.log((1 - second[1]) / (1 - second[0])), math.log(second[0] / second[1])
    ones = round(reports * odds[0] / sum(odds))
    zeros = reports - ones
    reached = sum(
        logarithm(bit == 0, ones, ones) + logarithm(bit == 1, 0, zeros) - logarithm(bit == 0, ones, reports)
        for bit in range(3)
    )
    assert reached <= mechanism.history_bound(reports) < 1.001 * reached


# --- devices, and what they say ---------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_thousand_reports_of_a_fixed_value_cost_epsilon_inf(name):
    mechanism = make(name, 16, d=3)
    loss = sequence_epsilon(mechanism, [3] * 1000, fixed=True)
    assert loss.is_exact
    assert (loss.reports, loss.permanent_reports) == (1000, 1)
    assert loss.epsilon <= loss.fixed_ceiling == mechanism.exact_permanent_epsilon()
    assert loss.epsilon == pytest.approx(2, abs=1e-3)
    assert loss.without_memo == pytest.approx(1000 * mechanism.exact_epsilon())
    assert sequence_epsilon(mechanism, [3, 5, 7], fixed=True) == sequence_epsilon(
        mechanism, [3] * 3, fixed=True
    )
    assert sequence_epsilon(mechanism, [3] * 1000).epsilon > 100


def test_the_device_knows_its_states_and_its_coins():
    mechanism = make("lolh", 100)
    device = ldpkit.Device.new(mechanism, question="page")
    for value in (1, 1, 2):
        device.report(value)
    loss = device.privacy_loss()
    assert loss.is_exact  # all buckets are in use by a hundred values, false-alarm rate below 1e-10
    assert loss.epsilon <= sequence_epsilon(mechanism, [1, 1, 2]).epsilon


def test_a_hash_that_tells_nothing_costs_nothing():
    mechanism = make("lblh", 2)
    coins = next(coins for coins, states in induced_maps(mechanism) if len(set(states)) == 1)
    state = int(mechanism.states(coins, np.zeros(1, np.uint32))[0])
    loss = device_loss(mechanism, {state: 5}, coins=coins)
    assert (loss.epsilon, loss.same_pattern, loss.is_exact) == (0, 0, True)


def test_only_counts_matter_and_the_order_must_agree_with_them():
    mechanism = make("lgrr", 4)
    loss = device_loss(mechanism, {0: 2, 1: 1, 3: 0})
    assert loss == device_loss(mechanism, {2: 1, 3: 2}, order=[3, 2, 3])
    assert loss.permanent_reports == 2
    with pytest.raises(InvalidParameterError, match="order has 2 reports that do not match the 3"):
        device_loss(mechanism, {0: 2, 1: 1}, order=[0, 1])
    with pytest.raises(InvalidParameterError, match="reports from 2 states cannot come from a fixed device"):
        device_loss(mechanism, {0: 2, 1: 1}, fixed=True)
    with pytest.raises(InvalidParameterError, match="keeps no permanent report"):
        sequence_epsilon(ldpkit.GRR(4, epsilon=1), [0])
    for times in ({4: 1}, {0: -1}):
        with pytest.raises(InvalidParameterError, match="are impossible"):
            device_loss(mechanism, times)
    assert str(device_loss(mechanism, {})) == "no reports, no loss"
    assert device_loss(mechanism, {}).epsilon == 0


def test_the_words_say_what_is_compared():
    dbitflip, lgrr = make("dbitflip", 8, d=4), make("lgrr", 16)
    infinite = str(sequence_epsilon(dbitflip, [1, 1]))
    assert "epsilon infinite against every history of the same length" in infinite
    assert "exactly 2 against histories with the same pattern of states" in infinite
    assert "epsilon at most 2087.59 against every history" in str(sequence_epsilon(lgrr, [3] * 1000))
    fixed = str(sequence_epsilon(lgrr, [3] * 1000, fixed=True))
    assert "epsilon exactly 2 against any other fixed value" in fixed
    assert "history" not in fixed
