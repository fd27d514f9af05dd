"""Many reports from one permanent one: what they cost, and what they say."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import ldpkit
from ldpkit.core.errors import InvalidInputError
from ldpkit.core.exact import log_up
from ldpkit.mechanisms.longitudinal.lhashing import LongitudinalHashing
from ldpkit.mechanisms.longitudinal.lunary import LongitudinalUnary
from mechanisms.longitudinal.chained import PAIRS, every_name, make, multiply, products

seeded = ldpkit.random.seeded


def sequence_probabilities(mechanism, times):
    """Return P(every sequence of reports | every value), exactly, by summing over permanent reports."""
    permanent, instant = products(mechanism)
    outputs = range(len(instant))
    table = []
    for row in permanent:
        chances = [
            sum(kept * math.prod(instant[x][y] for y in sequence) for x, kept in enumerate(row))
            for sequence in itertools.product(outputs, repeat=times)
        ]
        table.append(chances)
    return table


@pytest.mark.parametrize(
    ("name", "size", "times"),
    [
        ("lgrr", 3, 1),
        ("lgrr", 3, 4),
        ("lgrr", 2, 5),
        ("lsue", 2, 3),
        ("loue", 2, 3),
        ("losue", 3, 2),
        ("lsoue", 3, 2),
        ("lblh", 9, 5),
        ("lolh", 9, 3),
    ],
)
def test_repeated_epsilon_is_that_of_all_sequences(name, size, times):
    mechanism = make(name, size)
    table = sequence_probabilities(mechanism, times)
    worst = max(max(column) / min(column) for column in zip(*table, strict=True))
    stated = mechanism.repeated_epsilon(times)
    assert stated >= log_up(worst) - 1e-15
    assert stated == pytest.approx(log_up(worst), rel=1e-14)


@every_name
def test_repeated_epsilon_grows_from_epsilon_1_to_epsilon_inf(name):
    for epsilon_inf, epsilon_1 in PAIRS:
        mechanism = make(name, 16, epsilon_inf, epsilon_1)
        losses = [mechanism.repeated_epsilon(times) for times in (1, 2, 3, 5, 10, 100, 1000, 10**6, 10**12)]
        assert losses == sorted(losses)
        assert losses[0] == pytest.approx(epsilon_1, abs=1e-6)
        assert losses[-1] == mechanism.exact_permanent_epsilon()
        assert losses[6] == pytest.approx(epsilon_inf, abs=1e-3)


def test_two_memoized_reports_can_cost_more_than_two_fresh_ones():
    """Why both epsilons matter: the second round alone is weaker than the two together."""
    mechanism = make("lgrr", 1000, 4.0, 0.5)
    assert mechanism.repeated_epsilon(2) > 2 * mechanism.exact_epsilon()


@pytest.mark.parametrize(("name", "size"), [("lgrr", 3), ("lsue", 3), ("loue", 3), ("lblh", 3), ("lolh", 3)])
@pytest.mark.parametrize("memoized", [True, False])
def test_log_likelihood_is_that_of_the_exact_rounds(name, size, memoized):
    mechanism = make(name, size)
    permanent, instant = products(mechanism)
    chained = multiply(permanent, instant)
    source = seeded(13)
    one = mechanism.permanent(np.array([1], np.uint32), source)
    reports = mechanism.instant(np.repeat(one, 4, axis=0), source)
    states = list(range(size))
    if isinstance(mechanism, LongitudinalHashing):
        outputs = reports["y"].tolist()
        states = mechanism.hash(reports["a"][0], reports["b"][0], np.arange(size, dtype=np.uint32)).tolist()
    elif isinstance(mechanism, LongitudinalUnary):
        order = {report: index for index, report in enumerate(itertools.product((0, 1), repeat=size))}
        bits = np.unpackbits(reports, axis=1, count=size, bitorder="little").tolist()
        outputs = [order[tuple(report)] for report in bits]
    else:
        outputs = reports.tolist()
    found = mechanism.log_likelihood(reports, memoized=memoized)
    for upto in range(1, 5):
        seen = outputs[:upto]
        exact = [
            sum(kept * math.prod(instant[x][y] for y in seen) for x, kept in enumerate(permanent[state]))
            if memoized
            else math.prod(chained[state][y] for y in seen)
            for state in states
        ]
        exact = np.log(np.array([float(chance) for chance in exact]))
        assert np.allclose(found[upto - 1] - found[upto - 1].max(), exact - exact.max(), atol=1e-12)


def test_log_likelihood_refuses_what_no_device_sends():
    mechanism = make("lolh", 9)
    with pytest.raises(InvalidInputError, match="hash functions"):
        mechanism.log_likelihood(mechanism.first_reports([0, 0, 0], rng=seeded(14)))
    with pytest.raises(InvalidInputError, match="no reports"):
        make("lgrr", 9).log_likelihood(np.empty(0, np.uint8))
