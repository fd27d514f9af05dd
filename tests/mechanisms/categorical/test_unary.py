"""Unary encoding: every bit is an exact Bernoulli draw with a 64-bit threshold."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import ldpkit
from contract.scripted import ScriptedSource
from ldpkit.core.errors import FileFormatError
from ldpkit.core.exact import WORD, exp_bounds
from ldpkit.mechanisms.kernels.columns import count_columns
from slow import slow

both = pytest.mark.parametrize("kind", [ldpkit.SUE, ldpkit.OUE])


def reference(noise, spare, values, oracle):
    """Return the bits: a word that begins with the noise byte and goes on with the spare's first 56 bits."""
    own, other = oracle.thresholds
    rows = []
    for row, value in zip(noise.tolist(), values.tolist(), strict=True):
        words = [(byte << 56) | (spare >> 8) for byte in row]
        rows.append([int(word < (own if bit == value else other)) for bit, word in enumerate(words)])
    return np.array(rows, np.uint8)


def sample(oracle, noise, spare, values):
    source = ScriptedSource(noise, spare, spare)  # the second for more ties than are expected
    reports = oracle._randomise(values, source)
    assert reports.shape == (len(values), (oracle.size + 7) // 8)
    bits = np.unpackbits(reports, axis=1, bitorder="little")
    assert not bits[:, oracle.size :].any(), "padding is not zero"
    return bits[:, : oracle.size]


@both
@pytest.mark.parametrize("size", [2, 9, 64, *slow(7, 8, 16, 61, 130)])
@pytest.mark.parametrize("epsilon", [1.0, 20.0, *slow(0.001, 4.0)])
def test_bits_follow_the_thresholds_with_ties_and_without(kind, size, epsilon):
    oracle = kind(size, epsilon)
    own, other = oracle.thresholds
    generator = np.random.default_rng(size)
    edge = [own >> 56, other >> 56]
    near = [byte for middle in edge for byte in (middle - 1, middle, middle + 1) if 0 <= byte < 256] + [
        0,
        255,
    ]
    rest = (1 << 56) - 1
    tails = {0, rest} | {
        max(0, min(rest, (each & rest) + step)) for each in (own, other) for step in (-1, 0, 1)
    }
    for tail in tails:
        for low_byte in (0, 255):  # the last byte of a spare word is not used
            noise = generator.choice(np.array(near, np.uint8), (40, size))
            values = generator.integers(0, size, 40).astype(np.uint32)
            spare = tail << 8 | low_byte
            assert (sample(oracle, noise, spare, values) == reference(noise, spare, values, oracle)).all()


@both
def test_a_chunk_of_nothing_but_ties_is_right(kind):
    """Far more ties than one in 256, so that the spare words drawn at first are too few."""
    oracle = kind(67, 1.0)
    own, other = oracle.thresholds
    values = (np.arange(300) % 67).astype(np.uint32)
    noise = np.full((300, 67), other >> 56, np.uint8)
    noise[np.arange(300), values] = own >> 56
    for spare in (0, WORD - 1, (other & ((1 << 56) - 1)) << 8):
        assert (sample(oracle, noise, spare, values) == reference(noise, spare, values, oracle)).all()


@both
def test_each_tie_gets_a_spare_word_of_its_own(kind):
    """Two ties decided by the same word would be dependent bits."""
    oracle = kind(40, 1.0)
    own, other = oracle.thresholds
    values = np.zeros(64, np.uint32)
    noise = np.full((64, 40), other >> 56, np.uint8)
    noise[:, 0] = own >> 56
    ties = noise.size
    words = ldpkit.random.seeded(1).words(ties)
    expected = 64 + ties // 200
    source = ScriptedSource(noise, words[:expected], words[expected:])  # refuses to give fewer or more
    reports = oracle._randomise(values, source)
    bits = np.unpackbits(reports, axis=1, count=40, bitorder="little")[:, 1:]
    chance = (
        ((other & ((1 << 56) - 1)) / (1 << 56)) if kind is ldpkit.SUE else (other % (1 << 56)) / (1 << 56)
    )
    spread = np.sqrt(chance * (1 - chance) / bits.size)
    assert abs(bits.mean() - chance) < 6.2 * spread + 1e-12, "false-alarm rate 1e-9"
    assert len({row.tobytes() for row in bits}) > 32, "rows repeat: ties share their words"


def test_sue_and_oue_thresholds_are_rounded_towards_privacy():
    for epsilon in (0.001, 0.1, 1.0, 3.0, 20.0):
        low, high = exp_bounds(epsilon)
        own, other = ldpkit.SUE(4, epsilon).thresholds
        assert own + other == WORD
        assert Fraction(own, other) ** 2 <= low
        assert Fraction(own + 1, other - 1) ** 2 > high, "one step more would still be private"
        own, other = ldpkit.OUE(4, epsilon).thresholds
        assert own == WORD // 2
        assert Fraction(WORD - other, other) <= low
        assert Fraction(WORD - other + 1, other - 1) > high, "one step more would still be private"


@both
def test_padding_bits_are_refused(kind):
    oracle = kind(11, 1.0)
    good = oracle.encode(oracle.privatize([0, 5, 10]))
    for bit in range(3, 8):
        for position in range(3):
            damaged = bytearray(good)
            damaged[2 * position + 1] |= 1 << bit
            with pytest.raises(FileFormatError, match=f"report {position} ") as caught:
                oracle.decode(bytes(damaged))
            assert caught.value.offset == 2 * position
    for bit in range(3):
        oracle.decode(bytes([0, 1 << bit]))


@pytest.mark.parametrize("n", [0, 1, 255, 256, 511, *slow(3, 254, 510, 1000)])
@pytest.mark.parametrize("width", [1, 9, *slow(2, 3)])
def test_columns_are_counted_as_numpy_counts_them(n, width):
    rows = ldpkit.random.seeded(n).bytes(n * width).reshape(n, width)
    expected = np.unpackbits(rows, axis=1, bitorder="little").sum(axis=0)
    assert (count_columns(rows) == expected).all()
    full = np.full((n, width), 255, np.uint8)
    assert (count_columns(full) == n).all()


@both
@pytest.mark.parametrize("size", [2, 9, 64, 4097])
def test_tallies_count_bits(kind, size):
    oracle = kind(size, 1.0)
    reports = oracle.privatize(np.arange(300) % size, rng=ldpkit.random.seeded(3))
    bits = np.unpackbits(reports, axis=1, count=size, bitorder="little")
    assert (oracle.tally(reports).counts == bits.sum(axis=0)).all()
