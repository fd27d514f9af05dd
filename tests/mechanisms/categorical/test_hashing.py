"""Local hashing: an exactly pairwise independent hash, and supports counted as it says."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import ldpkit
from contract.hash_checks import check_hash_pairs
from contract.scripted import ScriptedSource
from ldpkit.core.errors import InvalidParameterError
from ldpkit.mechanisms.base import from_spec
from ldpkit.mechanisms.kernels.hashing import count_supports
from slow import slow

both = pytest.mark.parametrize("kind", [ldpkit.BLH, ldpkit.OLH])


def scramble(value: int, bits: int) -> int:
    """The finaliser of MurmurHash3 or SplitMix64 on value + 1, in Python's integers."""
    mask = (1 << bits) - 1
    rounds = {
        32: ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)),
        64: ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)),
    }[bits]
    word = (value + 1) & mask
    for shift, factor in rounds:
        word = (word ^ (word >> shift)) * factor & mask
    return word


def bucket(a: int, b: int, value: int, buckets: int, bits: int) -> int:
    """The hash as the docstring has it: (a c(v) + b mod 2^w) div 2^(w/2), cut into even buckets."""
    half = bits // 2
    low = (1 << (half + 1)) - 1
    constant = (scramble(value, bits) & ~low) | value
    cell = ((a * constant + b) & ((1 << bits) - 1)) >> half
    return cell * buckets >> half


CASES = [
    (ldpkit.BLH, 10, 0.5, 32),
    (ldpkit.OLH, 10, 1.0, 32),
    (ldpkit.OLH, 1 << 17, 3.0, 32),
    (ldpkit.OLH, (1 << 17) + 1, 3.0, 64),
    (ldpkit.OLH, 10, 5.54, 32),  # 256 buckets, the most that a 32-bit word serves
    (ldpkit.OLH, 10, 5.55, 64),
    (ldpkit.OLH, 10, 20.0, 64),
    (ldpkit.BLH, 10**6, 1.0, 64),
]


@pytest.mark.parametrize(("kind", "size", "epsilon", "bits"), CASES)
def test_the_hash_is_the_one_documented(kind, size, epsilon, bits):
    oracle = kind(size, epsilon)
    assert 8 * oracle.word.itemsize == bits
    generator = np.random.default_rng(1)
    values = np.unique(np.append(generator.integers(0, size, 50), [0, 1, size - 1])).astype(np.uint32)
    top = (1 << bits) - 1
    edges = [0, 1, top, top >> 1, *generator.integers(0, top, 5, np.uint64, endpoint=True).tolist()]
    for a in edges:
        for b in edges:
            made = oracle.hash(np.array([a], oracle.word), np.array([b], oracle.word), values)
            assert made.tolist() == [bucket(a, b, value, oracle.buckets, bits) for value in values.tolist()]


@pytest.mark.parametrize(("kind", "size", "epsilon", "bits"), CASES)
def test_buckets_tile_the_words(kind, size, epsilon, bits):
    oracle = kind(size, epsilon)
    half, g = bits // 2, oracle.buckets
    some = sorted({0, 1, g // 2, g - 2, g - 1} & set(range(min(g, 10**6)))) or [0]
    starts = oracle.bucket_start(np.array(some, np.uint64)).tolist()
    for y, start in zip(some, starts, strict=True):
        first = -(-(y << half) // g) << half
        assert start == first
        assert (first >> half) * g >> half == y
        if first:
            assert (first - 1 >> half) * g >> half == y - 1
    assert oracle.bucket_start(np.array([g], np.uint64)).tolist() == [0], "the end wraps around"


@pytest.mark.parametrize(("buckets", "cells_bits"), [(2, 4), (3, 4), (5, 4), (16, 4)])
def test_pairwise_independence_by_enumeration_in_a_small_word(buckets, cells_bits):
    """With a word of 8 bits, all 65,536 hash functions: any two values meet as independent ones do.

    The proof does not depend on the word size: constants that differ in their low w/2 + 1
    bits have a difference of 2^s times an odd number with s <= w/2, so a times it is
    uniform on what the upper half sees. High bits, scrambled or not, do not matter.
    """
    w, half = 8, cells_bits
    word = np.arange(1 << w, dtype=np.uint32)
    a, b = word[:, None], word[None, :]
    generator = np.random.default_rng(3)
    low_bits = half + 1
    constants = [
        low | int(high) << low_bits for low, high in enumerate(generator.integers(0, 8, 1 << low_bits))
    ]
    cells = [(((a * c + b) & 0xFF) >> half).ravel() for c in constants]
    law = np.bincount((np.arange(1 << half) * buckets) >> half, minlength=buckets)
    expected = np.outer(law, law) * (1 << (2 * w - 2 * half))
    hashed = [(cell * np.uint32(buckets)) >> np.uint32(half) for cell in cells]
    for x, y in combinations(range(len(constants)), 2):
        joint = np.bincount(hashed[x] * buckets + hashed[y], minlength=buckets**2).reshape(buckets, buckets)
        assert (joint == expected).all(), f"constants {constants[x]} and {constants[y]} are not independent"


def test_the_enumeration_sees_constants_that_are_too_close():
    """Negative control: constants that agree in their low w/2 + 1 bits are not independent."""
    word = np.arange(256, dtype=np.uint32)
    first, second = ((((word[:, None] * c + word) & 0xFF) >> 4).ravel() for c in (3, 3 + 32))
    joint = np.bincount(first * 16 + second, minlength=256)
    assert (joint != 256).any()


@both
@pytest.mark.parametrize("size", [5, 1000, 1 << 17, (1 << 17) + 1, 1 << 24])
def test_low_bits_of_constants_tell_values_apart(kind, size):
    """The premise of the proof, on the real constants."""
    oracle = kind(size, 1.0)
    half = 4 * oracle.word.itemsize
    values = np.unique(np.append(np.arange(0, size, max(1, size // 5000)), size - 1)).astype(np.uint32)
    low = oracle.constants(values) & oracle.word.type((1 << (half + 1)) - 1)
    assert (low == values).all()


@pytest.mark.parametrize(("kind", "size", "epsilon", "bits"), CASES[:4] + CASES[-1:])
def test_pairs_of_values_are_hashed_independently(kind, size, epsilon, bits):
    pairs = [(0, 1), (0, size - 1), (size // 2, size // 2 + 1), (1, 2), (2, 4), (size - 2, size - 1)]
    pairs += [(0, 1 << shift) for shift in (8, 15, 16) if 1 << shift < size]
    check_hash_pairs(kind(size, epsilon), pairs, draws=100_000)


@pytest.mark.parametrize(("kind", "size", "epsilon", "bits"), CASES)
def test_p_and_q_follow_from_pairwise_independence(kind, size, epsilon, bits):
    """q = P(another value falls into the reported bucket), summed over buckets with their exact widths."""
    oracle = kind(size, epsilon)
    cells, g = 1 << (bits // 2), oracle.buckets
    width, wider = divmod(cells, g)
    p, q = oracle.support_probabilities
    lie = (1 - p) / (g - 1)
    meet = Fraction(wider * (width + 1) ** 2 + (g - wider) * width**2, cells**2)
    if g <= 300:
        widths = [(-(-(y + 1) * cells // g)) - (-(-y * cells // g)) for y in range(g)]
        assert sum(widths) == cells
        meet = sum(Fraction(each, cells) ** 2 for each in widths)
    assert q == meet * p + (1 - meet) * lie
    assert p == Fraction(oracle.response.keep, 1 << 64)


EPSILONS = (0.001, 0.1, 0.34, 0.35, 0.4, 0.41, 0.5, 0.9, 0.92, 1.0, 1.5, 1.7, 2.0, 3.0, 4.0, 5.0)


def rare_variance(oracle: ldpkit.OLH) -> Fraction:
    p, q = oracle.support_probabilities
    return q * (1 - q) / (p - q) ** 2


def with_buckets(size: int, epsilon: float, buckets: int) -> ldpkit.OLH:
    made = ldpkit.OLH(size, epsilon)
    made._freeze(buckets=buckets)
    return made


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_other_number_of_buckets_has_less_variance(epsilon):
    """The exact variance from the sampler's own integers, hash included."""
    chosen = ldpkit.OLH(9, epsilon).buckets
    others = {2, chosen // 2, chosen - 2, chosen - 1, chosen + 1, chosen + 2, 2 * chosen} - {chosen, 0, 1}
    least = rare_variance(ldpkit.OLH(9, epsilon))
    assert all(least < rare_variance(with_buckets(9, epsilon, other)) for other in others)


def test_the_number_of_buckets():
    assert [ldpkit.OLH(9, epsilon).buckets for epsilon in (0.1, 0.4, 1.0, 1.5, 2.0, 4.0)] == [
        2,
        3,
        4,
        6,
        8,
        56,
    ]
    assert ldpkit.get("lolh", 9, epsilon_inf=3, epsilon_1=1.5).buckets == 6
    assert {ldpkit.BLH(9, epsilon).buckets for epsilon in (0.1, 1.0, 8.0)} == {2}


@pytest.mark.parametrize(
    ("name", "budget", "earlier"),
    [("olh", {"epsilon": 0.4}, 2), ("lolh", {"epsilon_inf": 3.0, "epsilon_1": 1.5}, 5)],
)
def test_a_description_without_buckets_means_what_it_always_did(name, budget, earlier):
    """Files of earlier versions do not state g, and must not be read with another one."""
    new = ldpkit.get(name, 9, **budget)
    old = from_spec({"mechanism": name, "parameters": budget, "domain": 9})
    assert (old.buckets, new.buckets) == (earlier, earlier + 1)
    assert old.spec()["parameters"] == budget
    assert new.spec()["parameters"] == {**budget, "buckets": earlier + 1}
    assert (
        from_spec(new.spec())
        == new
        != old
        == from_spec(old.spec())
        == ldpkit.get(name, 9, **budget, buckets=earlier)
    )
    assert repr(old).endswith(f"buckets={earlier})")
    assert "buckets" not in repr(new)
    tally = old.tally(old.first_reports([1, 2, 3], rng=ldpkit.random.seeded(1)))
    assert ldpkit.Tally.from_bytes(tally.to_bytes()).mechanism == old
    with pytest.raises(ldpkit.LdpkitError, match="do not mix"):
        tally + new.tally(new.first_reports([1]))
    for bad in (1, 7, 10**30, 2.0, "2", True):
        with pytest.raises(InvalidParameterError, match="buckets"):
            from_spec({"mechanism": name, "parameters": {**budget, "buckets": bad}, "domain": 9})


# --- supports --------------------------------------------------------------------------


@pytest.mark.parametrize("word", [np.uint32, np.uint64])
@pytest.mark.parametrize("n", [0, 1, 4, 7, *slow(2, 3, 5, 255, 256, 300)])
@pytest.mark.parametrize("size", [2, 4097, *slow(9, 4095, 4096)])
def test_supports_are_counted_as_numpy_counts_them(word, n, size):
    if n > 7 and size < 4097:
        n //= 2
    source = ldpkit.random.seeded(n * size)
    bits = 8 * np.dtype(word).itemsize
    a, b, width = (source.words(n).astype(word) for _ in range(3))
    if n:
        a[0], b[0], width[0] = word((1 << bits) - 1), word((1 << bits) - 1), word((1 << bits) - 1)
        width[-1] = 0
    constants = source.words(size).astype(word)
    expected = ((a[:, None] * constants + b[:, None]) < width[:, None]).sum(axis=0)
    edges, slots = np.stack([np.zeros(n, word), width], axis=1).ravel(), np.arange(0, 2 * n, 2)
    assert (count_supports(a, b, edges, slots, constants) == expected).all()


@pytest.mark.parametrize(("kind", "size", "epsilon", "bits"), [case for case in CASES if case[1] < 100])
def test_tallies_count_the_values_in_the_bucket(kind, size, epsilon, bits):
    oracle = kind(size, epsilon)
    reports = oracle.privatize(np.arange(150) % size, rng=ldpkit.random.seeded(5))
    expected = [
        sum(bucket(int(a), int(b), value, oracle.buckets, bits) == int(y) for a, b, y in reports.tolist())
        for value in range(size)
    ]
    assert oracle.tally(reports).counts.tolist() == expected


def test_first_and_last_bucket_are_counted():
    """The last bucket ends where words wrap around: y = g - 1 must not be lost."""
    for oracle in (ldpkit.OLH(50, 1.2), ldpkit.OLH(50, 8.0), ldpkit.BLH(50, 1.0)):
        reports = np.zeros(oracle.buckets, oracle.report_dtype)
        reports["a"], reports["b"] = 12_345_677, 999_999_937
        reports["y"] = np.arange(oracle.buckets)
        assert (oracle.tally(reports).counts == 1).all(), "each value lies in exactly one bucket"


@both
def test_the_response_is_on_the_own_bucket(kind):
    """With scripted words: below `keep` the report names the bucket of the own value."""
    oracle = kind(30, 1.0)
    coins = ldpkit.random.seeded(8).bytes(2 * 30 * 4)
    values = np.arange(30, dtype=np.uint32)
    keep, width = oracle.response.keep, oracle.response.width
    for word, shift in (
        (0, 0),
        (keep - 1, 0),
        (keep, 1),
        (keep + width - 1, 1),
        ((1 << 64) - 1, oracle.buckets - 1),
    ):
        reports = oracle._randomise(values, ScriptedSource(coins, np.full(30, word, np.uint64)))
        own = oracle.hash(reports["a"], reports["b"], values).tolist()
        others = [[y for y in range(oracle.buckets) if y != mine] for mine in own]
        expected = own if shift == 0 else [rest[shift - 1] for rest in others]
        assert reports["y"].tolist() == expected


@both
def test_coins_are_those_of_the_source(kind):
    oracle = kind(30, 1.0)
    coins = ldpkit.random.seeded(8).bytes(2 * 10 * 4)
    reports = oracle._randomise(np.zeros(10, np.uint32), ScriptedSource(coins, 0))
    assert reports["a"].tobytes() + reports["b"].tobytes() == coins.tobytes()
