"""Subset selection: Floyd's algorithm with exact draws, and the joint law of its supports."""

from __future__ import annotations

from itertools import pairwise
from math import comb

import numpy as np
import pytest

import ldpkit
from contract.scripted import ScriptedSource
from ldpkit.core.errors import FileFormatError
from ldpkit.core.exact import exp_bounds
from ldpkit.testing.false_alarms import fits

SPARE = 1024


def reference(oracle, coins, draws, spare, values):
    """Return the sets: Floyd's algorithm on the others, with Lemire's exact draws, in Python's integers."""
    spare = iter(spare)
    size, omega = oracle.size, oracle.omega
    sets = []
    for coin, row, value in zip(coins, draws, values, strict=True):
        others = [other for other in range(size) if other != value]
        held = coin < oracle.threshold
        chosen: set[int] = set()
        for step, draw in enumerate(row):
            bound = size - omega + step
            while draw * bound % 2**32 < 2**32 % bound:
                draw = next(spare)
            if step == 0 and held:
                continue
            pick = draw * bound >> 32
            chosen.add(others[pick] if others[pick] not in chosen else others[bound - 1])
        sets.append(sorted(chosen | ({value} if held else set())))
    return sets


def as_sets(oracle, reports):
    if oracle.is_bitmap:
        bits = np.unpackbits(reports, axis=1, count=oracle.size, bitorder="little")
        return [np.flatnonzero(row).tolist() for row in bits]
    return reports.tolist()


def run(oracle, coins, draws, spare, values):
    source = ScriptedSource(
        np.array(coins, "<u8"), np.array(draws, "<u4").reshape(len(coins), -1), np.array(spare, "<u4")
    )
    reports = oracle._randomise(np.array(values, np.uint32), source)
    assert source.is_spent
    return as_sets(oracle, reports)


@pytest.mark.parametrize(
    ("size", "epsilon"),
    [(2, 1.0), (3, 0.001), (5, 0.5), (11, 1.0), (40, 0.1), (100, 3.0), (1000, 1.0), (300, 20.0)],
)
def test_sets_are_those_of_the_algorithm(size, epsilon):
    oracle = ldpkit.SS(size, epsilon)
    generator = np.random.default_rng(size)
    n, omega = 60, oracle.omega
    values = generator.integers(0, size, n).tolist()
    edges = [0, oracle.threshold - 1, oracle.threshold, oracle.threshold + 1, 2**64 - 1]
    coins = [edges[i % len(edges)] for i in range(n)]
    draws = generator.integers(0, 2**32, (n, omega))
    edge = [0, 1, 2**32 - 1, 2**31, 2**32 // size]
    draws[::30] = generator.choice(edge, draws[::30].shape)
    draws[7::30] = 1  # collides at almost every step
    spare = generator.integers(0, 2**32, SPARE)
    made = run(oracle, coins, draws.tolist(), spare.tolist(), values)
    assert made == reference(oracle, coins, draws.tolist(), spare.tolist(), values)
    for chosen, value, coin in zip(made, values, coins, strict=True):
        assert len(chosen) == omega
        assert all(a < b for a, b in pairwise(chosen))
        assert (value in chosen) == (coin < oracle.threshold), "the coin alone decides on the own value"


def test_uneven_draws_are_rejected_exactly():
    """A bound that does not divide 2^32: low halves below 2^32 mod bound go to the spare words."""
    oracle = ldpkit.SS(7, 20.0)
    assert oracle.omega == 1
    bound, uneven = 6, 2**32 % 6
    coins = [2**64 - 1] * 4
    rejected = [draw for draw in range(0, 2**32, 2**32 // 6) if draw * bound % 2**32 < uneven]
    assert rejected
    spare = [rejected[0], 5, *([12_345] * (SPARE - 2))]
    made = run(oracle, coins, [rejected[0], 2**31 + 7, rejected[-1], 1], spare, [3, 3, 3, 3])
    assert made == reference(oracle, coins, [[rejected[0]], [2**31 + 7], [rejected[-1]], [1]], spare, [3] * 4)


def test_running_out_of_spare_words_starts_anew():
    """If every draw must be rejected, all randomness is drawn again; nothing of the first try remains."""
    oracle = ldpkit.SS(7, 20.0)
    none = np.zeros(SPARE, "<u4")  # zero is always rejected for a bound of 6
    first = [np.zeros(2, "<u8"), np.zeros((2, 1), "<u4"), none]
    second = [np.full(2, 2**64 - 1, "<u8"), np.full((2, 1), 2**31 + 5, "<u4"), none]
    source = ScriptedSource(*first, *second)
    sets = as_sets(oracle, oracle._randomise(np.array([2, 5], np.uint32), source))
    assert source.is_spent
    assert sets == reference(oracle, [2**64 - 1] * 2, [[2**31 + 5]] * 2, [], [2, 5])


def test_all_sets_are_equally_likely():
    oracle = ldpkit.SS(8, 0.3)
    draws = 150_000
    reports = oracle.privatize(np.full(draws, 5), rng=ldpkit.random.seeded(2))
    patterns = oracle.channel().reports[:, 0]
    table = np.bincount(reports[:, 0], minlength=256)[patterns]
    exact = [float(entry) for entry in oracle.channel().probabilities[5]]
    assert table.sum() == draws
    assert len(patterns) == comb(8, oracle.omega)
    assert fits(table, exact) > 1e-9, "sets are not uniform (false-alarm rate 1e-9)"


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.0, 4.0, 8.0])
def test_omega_is_the_best_integer(epsilon):
    exp = float(exp_bounds(epsilon)[0])

    def noise(omega, size):
        p = omega * exp / (omega * exp + size - omega)
        q = (omega - p) / (size - 1)
        return q * (1 - q) / (p - q) ** 2

    for size in (2, 3, 16, 100, 1024):
        best = min(noise(omega, size) for omega in range(1, size))
        assert noise(ldpkit.SS(size, epsilon).omega, size) <= best * (1 + 1e-12)


def test_reports_are_the_shorter_of_bitmap_and_list():
    assert ldpkit.SS(16, 2.0).is_bitmap
    assert not ldpkit.SS(1000, 5.0).is_bitmap
    for size in (10, 100, 300, 1000):
        for epsilon in (0.5, 3.0, 6.0):
            oracle = ldpkit.SS(size, epsilon)
            index = 1 if size <= 256 else 2
            assert oracle.report_bytes == min(-(-size // 8), oracle.omega * index)


def test_lists_in_disorder_are_refused():
    oracle = ldpkit.SS(1000, 5.0)
    assert oracle.omega >= 2
    good = list(range(5, 5 + oracle.omega))
    for bad in (good[::-1], [5, *good[:-1]], [*good[:-1], 1000], [*good[:-1], 65_535]):
        with pytest.raises(FileFormatError):
            oracle.decode(np.array(good + bad, "<u2").tobytes())
    assert oracle.decode(np.array(good, "<u2").tobytes()).tolist() == [good]


def test_sets_of_another_size_are_refused():
    oracle = ldpkit.SS(11, 1.0)
    assert oracle.omega == 3
    for bits, valid in (
        (0b111, True),
        (0b11, False),
        (0b1111, False),
        (0, False),
        (1 << 10 | 3, True),
        (1 << 11 | 3, False),
    ):
        data = bits.to_bytes(2, "little")
        if valid:
            oracle.decode(data)
        else:
            with pytest.raises(FileFormatError):
                oracle.decode(data)


@pytest.mark.parametrize("epsilon", [0.5, 4.0, 6.0])
def test_tallies_count_members(epsilon):
    oracle = ldpkit.SS(260, epsilon)
    reports = oracle.privatize(np.arange(700) % 260, rng=ldpkit.random.seeded(3))
    members = [value for chosen in as_sets(oracle, reports) for value in chosen]
    assert (oracle.tally(reports).counts == np.bincount(members, minlength=260)).all()


def test_simulated_sets_have_omega_members_each():
    oracle = ldpkit.SS(30, 1.0)
    counts = np.arange(30) * 7
    supports = oracle.simulate(counts, rng=ldpkit.random.seeded(1), repeats=200)
    assert (supports.sum(axis=1) == counts.sum() * oracle.omega).all()
    assert (supports <= counts.sum()).all()
