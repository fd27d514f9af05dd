"""The law of SHE's reports, from the integers of its sampler, and that of its simulated sums."""

from __future__ import annotations

import math
from bisect import bisect_right
from fractions import Fraction
from functools import cached_property
from itertools import accumulate

import numpy as np
import pytest

import ldpkit
from contract.scripted import ScriptedSource
from ldpkit.core.exact import WORD, log_up
from ldpkit.mechanisms.categorical.grid_laplace import GridLaplace
from ldpkit.mechanisms.categorical.histogram import SHE
from ldpkit.testing.false_alarms import FALSE_ALARM, SAID
from slow import slow

GUIDE_CELLS = 1 << 12

# --- one report, exactly ----------------------------------------------------------------


def pieces(law):
    """Return the first word of each piece of the words, on which the sampler must be constant.

    A piece ends where the next outcome begins, and where the sampler begins to look
    elsewhere in its table. In between it walks up the bounds until one is larger than
    the word, so it is constant on a piece if it is the same at both ends.
    """
    outcomes = accumulate(law.weights[:-1], initial=0)
    cells = range(0, WORD, WORD // GUIDE_CELLS)
    return sorted({*outcomes, *cells})


def coordinate_laws(mechanism):
    """Return how many of the 2**64 words lead to each outcome: of the own coordinate, of the others."""
    starts = pieces(mechanism.law)
    ends = [*(start - 1 for start in starts[1:]), WORD - 1]
    words = np.array([starts, ends], np.uint64).T.reshape(-1)
    value, size = 1, mechanism.size
    source = ScriptedSource(np.repeat(words, size))  # every coordinate of a report gets the same word
    reports = mechanism._randomise(np.full(len(words), value, np.uint32), source).astype(int)
    assert source.is_spent
    laws = []
    for column in reports.T:
        at_start, at_end = column[::2].tolist(), column[1::2].tolist()
        is_even = at_start == at_end  # apart, or pytest spends minutes on telling two long lists apart
        assert is_even, "the outcome changes within a piece"
        law = {}
        for outcome, start, end in zip(at_start, starts, ends, strict=True):
            law[outcome] = law.get(outcome, 0) + end - start + 1
        laws.append(law)
    own = laws.pop(value)
    assert all(law == laws[0] for law in laws), "coordinates of other values differ"
    return own, laws[0]


def check_law(mechanism):
    """Each coordinate has exactly the stated law, and the epsilon of the vector is the exact one."""
    own, other = coordinate_laws(mechanism)
    low, high = mechanism.count_range(1)
    is_table = other == dict(zip(range(low, high + 1), mechanism.law.weights, strict=True))
    assert is_table, "not the table"
    is_mirrored = own == {mechanism.grid - outcome: weight for outcome, weight in other.items()}
    assert is_mirrored, "no mirror image"
    # Between two values one coordinate falls from 1 to 0, and another one rises.
    fall = max(Fraction(own[outcome], other[outcome]) for outcome in own)
    rise = max(Fraction(other[outcome], own[outcome]) for outcome in own)
    assert log_up(fall * rise) == mechanism.exact_epsilon() <= mechanism.epsilon, "not the exact epsilon"


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 2.0, 7.3, 20.0])
def test_every_word_leads_to_the_outcome_of_the_table(epsilon):
    check_law(SHE(3, epsilon))


class OneWordOff(SHE):
    """A single word of 2**64 leads to the neighbour of its outcome."""

    @cached_property
    def _table(self):
        bounds, guide = super()._table
        bounds = bounds.copy()
        bounds[len(bounds) // 3] += np.uint64(1)
        return bounds, guide


class LateGuide(SHE):
    """Begins to look one bound too late in one cell of the guide."""

    @cached_property
    def _table(self):
        bounds, guide = super()._table
        guide = guide.copy()
        guide[GUIDE_CELLS // 2] += 1
        return bounds, guide


class NotMirrored(SHE):
    """Shifts the own coordinate to 1 where it must mirror it: the clamped tails are not alike."""

    def _randomise(self, indices, source):
        reports = super()._randomise(indices, source)
        own = np.arange(len(indices)), indices
        reports[own] = 2 * self.grid - reports[own]
        return reports


@pytest.mark.parametrize(
    ("broken", "message"),
    [(OneWordOff, "within a piece"), (LateGuide, "not the table|within"), (NotMirrored, "no mirror image")],
)
def test_a_broken_sampler_is_caught(broken, message):
    """The negative controls."""
    with pytest.raises(AssertionError, match=message):
        check_law(broken(3, 1.0))


def test_every_coordinate_looks_its_own_word_up():
    """Against a bisection in Python's integers, word by word."""
    mechanism, rows = SHE(3, 1.0), 20_000
    bounds = list(accumulate(mechanism.law.weights[:-1]))
    words = ldpkit.random.seeded(1).words(3 * rows).reshape(rows, 3)
    expected = np.array([[bisect_right(bounds, word) for word in row] for row in words.tolist()])
    expected -= mechanism.law.reach
    values = (np.arange(rows) % 3).astype(np.uint32)
    own = np.arange(rows), values
    expected[own] = mechanism.grid - expected[own]
    assert (mechanism._randomise(values, ldpkit.random.seeded(1)) == expected).all()


# --- simulated sums, nearly so -----------------------------------------------------------


def distance(sums, law, own, others):
    """Return the largest gap between the distribution of some sums and that of so many coordinates."""
    other = np.array(law.weights, float) / WORD
    chances = np.ones(1)
    for _ in range(own):
        chances = np.convolve(chances, other[::-1])
    for _ in range(others):
        chances = np.convolve(chances, other)
    least = -(own + others) * law.reach  # mirrored or not, an outcome lies between -reach and grid + reach
    places = np.clip(np.asarray(sums) - least, 0, len(chances) - 1)
    observed = np.bincount(places, minlength=len(chances)) / len(sums)
    return np.abs(np.cumsum(observed) - np.cumsum(chances)).max()


@pytest.mark.parametrize(("own", "others"), [(1, 0), (1, 3), *slow((0, 1), (2, 1))])
def test_simulated_sums_have_the_law_of_added_reports(own, others):
    """Dvoretzky, Kiefer, Wolfowitz, Massart: a gap above the limit has the stated probability at most."""
    mechanism, draws = SHE(2, 2.0), 50_000
    limit = math.sqrt(math.log(2 / FALSE_ALARM) / (2 * draws))
    sums = mechanism.simulate([own, others], rng=ldpkit.random.seeded(2), repeats=draws)[:, 0]
    gap = distance(sums, mechanism.law, own, others)
    assert gap < limit, f"the distribution is off by {gap:.2g}, above {limit:.2g} ({SAID})"
    people = [0] * own + [1] * others
    reports = mechanism.privatize(np.tile(people, draws), rng=ldpkit.random.seeded(3))
    added = reports[:, 0].reshape(draws, -1).sum(axis=1, dtype=np.int64)
    gap = distance(added, mechanism.law, own, others)
    assert gap < limit, f"real reports are off by {gap:.2g}, above {limit:.2g} ({SAID})"
    # The negative control: noise that is a tenth narrower.
    narrower = GridLaplace(2.0 / 0.9)
    assert narrower.grid == mechanism.grid
    assert distance(sums, narrower, own, others) > limit, "the negative control must fail"
