"""The integers behind numeric mechanisms: weights that sum to a word, laws that add up."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.exact import WORD, exp_bounds, two_levels
from ldpkit.mechanisms.cells.law import Law
from ldpkit.mechanisms.cells.window import Window
from ldpkit.mechanisms.numeric.duchi import Coin
from ldpkit.mechanisms.numeric.laplace import laplace_noise
from slow import slow

EPSILONS = [0.001, 0.1, 0.5, 1, 2, 4, 8, 20]


@pytest.mark.parametrize("epsilon", [0.001, 1, 20, *slow(0.1, 0.5, 2, 4, 8)])
@pytest.mark.parametrize(
    ("inside", "outside"), [(2, 2), (635994, 1 << 20), *slow((6, 8), (2, 1 << 20), (3, 5))]
)
def test_two_levels_share_all_words_and_keep_epsilon(inside, outside, epsilon):
    a, b = two_levels(inside, outside, epsilon)
    assert inside * a + outside * b == WORD
    assert b <= a <= exp_bounds(epsilon)[0] * b


def test_two_levels_follow_epsilon():
    ratios = [Fraction(*two_levels(635994, 1 << 20, epsilon)) for epsilon in np.linspace(0.1, 8, 20)]
    assert sorted(ratios) == ratios


def test_two_levels_refuse_what_cannot_be_shared():
    with pytest.raises(InvalidParameterError, match="multiples of 3"):
        two_levels(3, 6, 1.0)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_window_has_even_halves_and_exact_mean(epsilon):
    window = Window(16, Fraction(2, 3), epsilon)
    assert window.width % 4 == 2
    origin, step = window.unbiased
    for place in range(17):
        row = window.law(place).row(window.cells)
        assert sum(row) == 1
        mean = sum(chance * (origin + step * (cell + Fraction(1, 2))) for cell, chance in enumerate(row))
        assert mean == Fraction(place, 16)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_coin_is_symmetric(epsilon):
    coin = Coin(1 << 20, epsilon)
    assert coin.weights(0) == coin.weights(1 << 20)[::-1]
    low, high = coin.points
    assert low + high == 1


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_blocks_and_runs_do_not_increase(epsilon):
    noise = laplace_noise(1 << 20, epsilon)
    assert sum(noise.blocks) == WORD
    assert all(weight % 2 == 0 for weight in noise.blocks)  # the last bit of a word is the sign
    assert sorted(noise.blocks[:-1], reverse=True) == noise.blocks[:-1]
    assert sorted(noise.weights, reverse=True) == list(noise.weights)
    assert sum(length * weight for length, weight in zip(noise.lengths, noise.weights, strict=True)) == WORD
    beyond = Fraction(sum(noise.blocks[-2:]), WORD)
    assert beyond < Fraction(1, 10**9) * Fraction(1 / min(1, epsilon)) / 10**6


def test_a_law_reads_the_same_integers_everywhere():
    law = Law(np.array([0, 2, 5, 6]), np.array([1, 3, 5], object), 20, (2, 2))
    assert sum(law.row(6)) == 1
    assert law.heights.tolist() == [0.05, 0.15, 0.25]
    assert law.below(np.array([-1, 0, 1, 2.5, 6, 9])).tolist() == pytest.approx([0, 0, 0.05, 0.175, 0.8, 0.8])
    assert law.height(np.array([-0.5, 0, 2, 5.5, 6])).tolist() == [0, 0.05, 0.15, 0.25, 0]
    placement, atoms = (Fraction(0), Fraction(1)), np.array([0.0, 6.0])
    assert law.mean(placement, atoms) == pytest.approx(0.1 * 1 + 0.45 * 3.5 + 0.25 * 5.5 + 0.1 * 6)
    square = (0.05 * 2**3 + 0.15 * (5**3 - 2**3) + 0.25 * (6**3 - 5**3)) / 3 + 0.1 * 36
    assert law.moment(2, 0.0, placement, atoms) == pytest.approx(square)


@pytest.mark.parametrize(
    ("first", "last", "shift"), [(0, 6, 0), (1, 4, 0), (3, 3, 0), (2, 9, 4), (-5, 20, 2), (7, 9, 0)]
)
def test_clamping_moves_what_lies_outside_to_atoms(first, last, shift):
    weights = [1, 1, 3, 3, 3, 5]
    law = Law(np.array([0, 2, 5, 6]), np.array([1, 3, 5], object), 16)
    clamped = law.clamp(first, last, shift=shift)
    below = sum(weight for cell, weight in enumerate(weights) if cell + shift < first)
    above = sum(weight for cell, weight in enumerate(weights) if cell + shift >= last)
    inside = [0] * (last - first)
    for cell, weight in enumerate(weights):
        if first <= cell + shift < last:
            inside[cell + shift - first] = weight
    assert clamped.row(last - first) == [Fraction(weight, 16) for weight in (*inside, below, above)]


def test_the_kernel_divides_exactly_at_every_edge():
    from ldpkit.mechanisms.kernels.pieces import window

    for width, steps, epsilon in [
        (6, 8, 1.0),
        (2, 2, 0.1),
        (635994, 1 << 20, 1.0),
        (50, 1 << 20, 20.0),
        (2, 4, 20.0),
    ]:
        inside, outside = two_levels(width, steps, epsilon)
        edge = width * inside
        cells = [0, 1, width // 2, width - 1]
        others = [0, 1, steps // 2, steps - 1]
        words = [cell * inside + offset for cell in cells for offset in (0, 1, inside - 1)]
        words += [edge + cell * outside + offset for cell in others for offset in (0, 1, outside - 1)]
        for place in (0, 1, steps // 2, steps):
            expected = [place + cell for cell in cells for _ in range(3)]
            expected += [cell + (width if cell >= place else 0) for cell in others for _ in range(3)]
            out = np.empty(len(words), np.uint32)
            arguments = map(np.uint64, (width, inside, outside))
            places = np.full(len(words), place, np.uint32)
            window(np.array(words, np.uint64), places, 1, 0, steps, *arguments, out)
            assert out.tolist() == expected


@pytest.mark.parametrize("stand", ["slide", "clamp", "wrap"])
@pytest.mark.parametrize(("steps", "ratio"), [(8, 0.3), (8, 0.9), (1 << 20, 0.37), (2, 0.5)])
def test_every_edge_of_a_window_is_drawn_where_its_law_has_it(stand, steps, ratio):
    idle = Fraction(7, 10) if stand == "slide" else Fraction(0)
    one = Window(steps, Fraction(ratio), 1.3, stand=stand, idle=idle)
    inside, outside = one.weights
    edge = one.width * inside
    assert edge + (one.cells - one.width) * outside == 1 << 64
    words = np.array([0, inside - 1, edge - inside, edge - 1, edge, (1 << 64) - 1], np.uint64)
    for place in {0, 1, steps // 2, steps - 1}:
        out = np.empty(len(words), np.uint32)
        one.draw(words, np.full(len(words), place, np.uint32), out)
        start, law = one.start(place), one.law(place)
        first, last = start % one.cells, (start + one.width - 1) % one.cells
        assert out[:4].tolist() == [first, first, last, last]
        weights = law.weights[np.searchsorted(law.edges, out, "right") - 1]
        assert weights.tolist() == [inside] * 4 + [outside] * 2
        assert sum(law.weights * np.diff(law.edges)) == 1 << 64


def test_a_clamped_window_holds_the_nearest_cells_and_a_wrapped_one_goes_round():
    clamped, wrapped = (Window(8, Fraction(3, 8), 1.0, stand=stand) for stand in ("clamp", "wrap"))
    for place in range(9):
        middles = np.abs(np.arange(16) + 0.5 - 2 * place)
        nearest = np.sort(np.argsort(middles, kind="stable")[:6])
        start = clamped.start(place)
        assert nearest.tolist() == list(range(start, start + 6))
        around = np.minimum(middles, 16 - middles)
        rows = np.array(wrapped.law(place % 8).row(16))
        assert set(np.argsort(around, kind="stable")[:6]) == set(np.flatnonzero(rows == rows.max()))


def test_rounding_never_exceeds_epsilon_and_wastes_little():
    for epsilon in map(float, np.geomspace(0.001, 20, 60)):
        window = Window(1 << 20, Fraction(math.exp(-epsilon / 2)), epsilon)
        assert epsilon - 1e-6 <= window.epsilon() <= epsilon
        assert epsilon - 1e-5 <= Coin(1 << 20, epsilon).epsilon() <= epsilon
