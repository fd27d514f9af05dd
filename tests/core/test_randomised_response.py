"""Randomised response at its thresholds: every boundary word, against integers of Python."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldpkit
from contract.scripted import ScriptedSource
from ldpkit.core.exact import WORD, RandomisedResponse, exp_bounds
from slow import slow


def reference(word: int, value: int, response: RandomisedResponse) -> int:
    """Randomised response as the docstring has it, in Python's integers."""
    if word < response.keep:
        return value
    piece = (word - response.keep) // response.width
    return piece + (piece >= value)


def boundary_words(response: RandomisedResponse) -> list[int]:
    last = response.size - 2
    words = [0, 1, response.keep - 1, WORD - 1]
    for piece in sorted({0, min(1, last), last // 2, max(0, last - 1), last}):
        start = response.keep + piece * response.width
        words += [start - 1, start, start + 1, start + response.width - 1]
    return [word for word in words if 0 <= word < WORD]


@pytest.mark.parametrize("epsilon", [0.001, 1.0, 20.0, *slow(0.7, 5.0)])
@pytest.mark.parametrize("size", [2, 3, 256, 257, 65_537, *slow(4, 255, 1000, 65_536, 10**6, 10**7)])
def test_grr_follows_the_integers_at_every_boundary(size, epsilon):
    oracle = ldpkit.GRR(size, epsilon)
    words = boundary_words(oracle.response)
    for value in {0, 1, size // 2, size - 2, size - 1}:
        values = np.full(len(words), value, np.uint32)
        reports = oracle._randomise(values, ScriptedSource(np.array(words, np.uint64)))
        assert reports.tolist() == [reference(word, value, oracle.response) for word in words]


@given(
    size=st.integers(2, 10**7),
    epsilon=st.floats(0.001, 20.0),
    draws=st.lists(st.tuples(st.integers(0, WORD - 1), st.integers(0, 10**7)), min_size=1, max_size=30),
    offsets=st.lists(st.tuples(st.integers(0, 10**7), st.integers(-2, 2)), max_size=30),
)
def test_grr_follows_the_integers_anywhere(size, epsilon, draws, offsets):
    oracle = ldpkit.GRR(size, epsilon)
    response = oracle.response
    words = [word for word, _ in draws]
    words += [
        min(max(response.keep + piece % size * response.width + off, 0), WORD - 1) for piece, off in offsets
    ]
    values = [value % size for _, value in draws] + [piece % size for piece, _ in offsets]
    reports = oracle._randomise(np.array(values, np.uint32), ScriptedSource(np.array(words, np.uint64)))
    assert reports.tolist() == [reference(w, v, response) for w, v in zip(words, values, strict=True)]


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 8.0])
def test_every_other_value_gets_the_same_number_of_words(epsilon):
    """The pieces tile the range: first and last word of each piece give the same other value."""
    oracle = ldpkit.GRR(50, epsilon)
    keep, width = oracle.response.keep, oracle.response.width
    assert keep + 49 * width == WORD
    starts = [keep + piece * width for piece in range(49)]
    words = np.array([*starts, *(start + width - 1 for start in starts)], np.uint64)
    reports = oracle._randomise(np.full(98, 17, np.uint32), ScriptedSource(words)).tolist()
    assert reports[:49] == reports[49:] == [value for value in range(50) if value != 17]


@given(size=st.integers(2, 1 << 24), epsilon=st.floats(0.001, 20.0))
def test_integers_are_rounded_towards_privacy_by_less_than_one(size, epsilon):
    response = RandomisedResponse(size, epsilon)
    low, high = exp_bounds(epsilon)
    assert response.keep + (size - 1) * response.width == WORD
    assert Fraction(response.keep, response.width) <= low, "the ratio exceeds e^epsilon"
    assert response.width - WORD / (high + size - 1) < 1 + Fraction(1, 10**9), "rounded up by more than one"
    assert 0 < response.width <= response.keep, "the true value is less likely than another"
    assert 0 <= response.epsilon() <= epsilon
    row = response.row(size - 1)[-2:] if size < 1000 else [response.q, response.p]
    assert row == [response.q, response.p]


@pytest.mark.parametrize(("size", "epsilon"), [(3 * 10**8, 0.001), (10**9, 0.01), (4 * 10**9, 0.1)])
def test_gigantic_domains_keep_epsilon_or_are_refused(size, epsilon):
    """keep < width is a ratio too, the other way round: epsilon is the logarithm of the larger one."""
    try:
        oracle = ldpkit.GRR(size, epsilon)
        response = oracle.response
    except ldpkit.LdpkitError:
        return
    low, _ = exp_bounds(epsilon)
    assert max(Fraction(response.keep, response.width), Fraction(response.width, response.keep)) <= low
    assert oracle.exact_epsilon() >= 0
