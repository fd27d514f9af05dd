"""Circular mechanisms against their closed forms, and beside mechanisms of a line on the same circle."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import i0, i1

import ldpkit
from ldpkit.core.errors import InvalidParameterError
from ldpkit.mechanisms.cells.widths import end_error, most_informative_width
from ldpkit.mechanisms.circular.circulant import _ONE, _cosines

EPSILONS = [0.5, 1.0, 2.0, 4.0, 8.0]
TURN = 2 * math.pi
NAMES = ldpkit.list_mechanisms("circular")


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_theorem_9(epsilon):
    p, c = math.exp(epsilon / 2) / TURN, math.pi / (1 + math.exp(epsilon / 2))
    closed = 2 / 3 * ((math.pi**3 - c**3) * p / math.exp(epsilon) + c**3 * p)
    mechanism = ldpkit.get("circular_ogpm", TURN, epsilon=epsilon)
    assert mechanism.error([0.0, 3.0, 6.2], 2) == pytest.approx(np.full(3, closed), abs=1e-6)
    assert epsilon - 1e-6 <= mechanism.exact_epsilon() <= epsilon
    # The same integral on the half circle, scaled to [0, 1].
    from ldpkit.mechanisms.cells.widths import clamped_error

    unit = clamped_error(epsilon, 1 / (1 + math.exp(epsilon / 2)), 0.0, 2.0)
    assert math.pi**2 * unit == pytest.approx(closed, rel=1e-12)


@pytest.mark.parametrize("power", [1.0, 2.0, 0.5])
def test_the_error_is_the_closed_form_for_every_power(power):
    for epsilon in (1.0, 4.0):
        mechanism = ldpkit.get("circular_ogpm", 360, epsilon=epsilon, power=power)
        closed = end_error(epsilon, power, 180)
        assert mechanism.error(123.4, power) == pytest.approx(closed, rel=1e-6)


def test_the_cubic_gains_a_sixth_at_epsilon_4():
    right, theorem_8 = (ldpkit.get("circular_ogpm", TURN, epsilon=4, power=power) for power in (2, 1))
    assert theorem_8.error(0.0, 2) / right.error(0.0, 2) == pytest.approx(1.211, abs=1e-3)


def flat_error(mechanism, share, power):
    """The expected power of the arc for a mechanism of a line, whose reports lie on the circle."""
    period = mechanism.domain.width
    law = mechanism.law(int(mechanism.domain.encode([share * period], steps=mechanism.grid)[0]))
    middles = np.linspace(0, 1, 4097)[:-1] + 1 / 8192
    away = np.abs(middles - share)
    chances = law.height(middles * mechanism.cells) * mechanism.cells / 4096
    return float(chances @ np.minimum(away, 1 - away) ** power) * period**power


@pytest.mark.parametrize(
    ("epsilon", "published", "fair"),
    [(2.0, (0.476, 0.431), (0.856, 0.819)), (4.0, (0.413, 0.246), (0.762, 0.487))],
)
def test_the_errors_of_section_5_6_as_published_and_with_one_distance_for_all(epsilon, published, fair):
    ours = ldpkit.get("circular_ogpm", TURN, epsilon=epsilon, power=2).error(0.0, 2)
    shares = (np.arange(64) + 0.5) / 64
    for name, along_a_line, along_arcs in zip(
        ("compressed_pm", "compressed_sw"), published, fair, strict=True
    ):
        other = ldpkit.get(name, (0, TURN), epsilon=epsilon)
        assert ours / other.error(TURN * shares, 2).mean() == pytest.approx(along_a_line, abs=6e-4)
        arcs = np.mean([flat_error(other, share, 2) for share in shares])
        assert ours / arcs == pytest.approx(along_arcs, abs=6e-4)


def test_the_resultant_length_at_epsilon_2():
    mechanism = ldpkit.get("circular_ogpm", TURN, epsilon=2)
    width = 1 / (1 + math.e)
    closed = math.e / (1 + math.e) * (1 - math.exp(-2)) * math.sin(math.pi * width) / (math.pi * width)
    assert mechanism.resultant() == pytest.approx(closed, abs=1e-6)
    assert mechanism.resultant() == pytest.approx(0.5596, abs=1e-4)
    # The arithmetic mean of reports of 0 is the middle of the turn: only the circular mean is unbiased.
    edges = mechanism.law(0).edges / mechanism.cells
    assert mechanism.law(0).masses @ (edges[1:] + edges[:-1]) / 2 * TURN == pytest.approx(math.pi, abs=1e-9)


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 8.0])
def test_purkayastha_and_von_mises_are_the_laws_of_their_names(epsilon):
    exponential = ldpkit.get("purkayastha", TURN, epsilon=epsilon)
    closed = math.pi / epsilon - math.pi / math.expm1(epsilon)
    assert exponential.error(1.0) == pytest.approx(closed, rel=1e-3)
    bell = ldpkit.get("von_mises", TURN, epsilon=epsilon)
    assert bell.resultant() == pytest.approx(i1(epsilon / 2) / i0(epsilon / 2), rel=1e-4)
    for mechanism in (exponential, bell):
        assert epsilon - 1e-6 <= mechanism.exact_epsilon() <= epsilon
        assert mechanism.error(1.0) > ldpkit.get("circular_ogpm", TURN, epsilon=epsilon).error(1.0)
        assert 2 * sum(mechanism.weights) == 1 << 64
        assert list(mechanism.weights) == sorted(mechanism.weights, reverse=True)


def test_cosines_in_integers():
    for cells in (2, 8, 4096):
        angles = math.pi * (np.arange(cells) + 0.5) / cells
        assert [cosine / _ONE for cosine in _cosines(cells)] == pytest.approx(np.cos(angles), abs=1e-15)


def information(epsilon, width):
    """The mutual information of a report and a value that is equally likely everywhere."""
    gain = math.expm1(epsilon)
    density = 1 / (1 + gain * width)
    inside = width * density * (gain + 1)
    return inside * math.log((gain + 1) * density) + (1 - inside) * math.log(density)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_the_square_wave_tells_the_most(epsilon):
    width = float(most_informative_width(epsilon))
    nearby = [information(epsilon, width * by) for by in (0.95, 1.05)]
    assert information(epsilon, width) > max(nearby)
    mechanism = ldpkit.get("circular_sw", 1.0, epsilon=epsilon)
    assert mechanism.details()["width"] == pytest.approx(width, abs=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_takes_a_circle_for_a_line(name):
    mechanism = ldpkit.get(name, 360, epsilon=1)
    assert mechanism.kind == "circular"
    assert name not in ldpkit.list_mechanisms("numeric")
    assert not isinstance(mechanism, ldpkit.NumericMechanism)
    tally = mechanism.tally(mechanism.privatize([1.0], rng=ldpkit.random.seeded(1)))
    for estimator in ("mean", "density", "mi"):
        with pytest.raises(ldpkit.LdpkitError):
            tally.estimate(estimator)
    with pytest.raises(InvalidParameterError):
        ldpkit.SampledAttributes(mechanism=name, epsilon=1, domains=[(0, 1)])
    with pytest.raises(InvalidParameterError):
        ldpkit.get(name, (0, 360), epsilon=1)
    pm = ldpkit.get("pm", (0, 360), epsilon=1)
    with pytest.raises(ldpkit.LdpkitError, match='estimate with "mean"'):
        pm.tally(pm.privatize([1.0])).estimate("direction")
