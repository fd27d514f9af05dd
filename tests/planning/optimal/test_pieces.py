"""Why three pieces suffice, and what SCIP says to it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from ldpkit.core.errors import InvalidParameterError, MissingDependencyError
from ldpkit.mechanisms.cells.widths import clamped_error, optimal_width
from ldpkit.planning.optimal import gpm as module
from ldpkit.planning.optimal.gpm import fit_height, gpm
from ldpkit.planning.optimal.pieces import (
    DensityPiece,
    best_width,
    certificate,
    expected_loss,
    merged,
    two_levels_at,
)


def drawn(rng):
    epsilon, x, power = rng.uniform(0.05, 8), rng.uniform(0, 1), rng.uniform(0.1, 4)
    floor = rng.uniform(math.exp(-epsilon), 1)
    return epsilon, x, floor, power


def test_the_two_level_certificate_at_a_thousand_random_points():
    rng = np.random.default_rng(14)
    for _ in range(1000):
        epsilon, x, floor, power = drawn(rng)
        loss, bound = certificate(epsilon, x, floor, power)
        assert loss == pytest.approx(bound, abs=1e-11)


def test_no_other_density_between_floor_and_ceiling_is_better():
    rng = np.random.default_rng(15)
    for _ in range(200):
        epsilon, x, floor, power = drawn(rng)
        loss, bound = certificate(epsilon, x, floor, power)
        cuts = np.sort(rng.uniform(0, 1, 7))
        edges = np.concatenate([[0.0], cuts, [1.0]])
        heights = rng.uniform(floor, math.exp(epsilon) * floor, 8)
        mass = float(heights @ np.diff(edges))
        # Towards the floor or the ceiling until the mass is one: still between both.
        goal = floor if mass > 1 else math.exp(epsilon) * floor
        share = (1 - mass) / (goal - mass)
        heights = heights + share * (goal - heights)
        pieces = [DensityPiece(*each) for each in zip(edges, edges[1:], heights, strict=False)]
        assert sum(piece.mass for piece in pieces) == pytest.approx(1)
        assert expected_loss(pieces, x, power) >= bound - 1e-11
        assert loss >= bound - 1e-11
    with pytest.raises(
        InvalidParameterError, match=r"no density on an interval of length 1 lies between 0\.1"
    ):
        certificate(1.0, 0.5, 0.1, 1.0)


def test_a_window_beside_the_nearest_outputs_is_no_optimum():
    """The negative control: the same two levels, the window moved aside."""
    epsilon, x, floor = 1.0, 0.5, 0.7
    loss, bound = certificate(epsilon, x, floor, 1.0)
    width = (1 - floor) / ((math.e - 1) * floor)
    aside = [
        DensityPiece(0, width, math.e * floor),
        DensityPiece(width, 1, floor),
    ]
    assert sum(piece.mass for piece in aside) == pytest.approx(1)
    assert expected_loss(aside, x, 1.0) > bound + 0.01
    assert loss == pytest.approx(bound)


def test_the_deduction_is_the_closed_form():
    for epsilon, power in ((0.5, 1.0), (2.0, 2.0), (4.0, 0.5)):
        width = best_width(epsilon, [0.0, 1.0], (0.0, 1.0), power)
        assert width == pytest.approx(float(optimal_width(epsilon, power)), abs=1e-6)
    # Outputs that reach farther than inputs, and a scale: Theorem 6.
    wide = best_width(1.0, [0.0, 10.0], (-5.0, 15.0), 1.0)
    assert wide == pytest.approx(10 * best_width(1.0, [0.0, 1.0], (-0.5, 1.5), 1.0), rel=1e-5)
    loss = expected_loss(two_levels_at(1.0, wide, 0.0, (-5.0, 15.0)), 0.0, 1.0)
    ogpm = expected_loss(two_levels_at(1.0, 10 * 0.377541, 0.0, (0.0, 10.0)), 0.0, 1.0)
    assert loss > ogpm, "outputs outside the inputs are no help in the worst case"


SIX = [(1.0, 0.3), (2.0, 0.5), (4.0, 0.2), (0.5, 0.4), (1.0, 0.5), (3.0, 0.35)]


@pytest.mark.parametrize(("epsilon", "x"), SIX)
def test_scip_closes_three_pieces(epsilon, x):
    pytest.importorskip("pyscipopt")
    found = gpm(epsilon, x, at=x, node_limit=5000)
    closed = clamped_error(epsilon, float(optimal_width(epsilon, 1.0, Fraction(x))), x, 1.0)
    assert found.closed
    assert found.gap <= module.GAP
    assert found.loss == pytest.approx(closed, abs=1e-6)
    assert found.bound == pytest.approx(closed, rel=1e-4)
    assert found.warnings == ()
    assert 1 - 1e-9 < sum(piece.mass for piece in found.pieces) < 1 + 1e-9


@pytest.mark.parametrize("pieces", [4, 5])
@pytest.mark.parametrize(("epsilon", "x", "power"), [(1.0, 0.3, 1.0), (4.0, 0.0, 2.0)])
def test_more_pieces_are_no_better_and_their_gap_is_told(pieces, epsilon, x, power):
    pytest.importorskip("pyscipopt")
    found = gpm(epsilon, x, pieces=pieces, power=power, at=x, node_limit=50)
    closed = clamped_error(epsilon, float(optimal_width(epsilon, power, Fraction(x))), x, power)
    assert found.incumbent_loss == pytest.approx(closed, abs=1e-6)
    assert not found.closed
    assert f"a gap of {found.gap:.2g} left" in found.warnings[0]
    assert found.loss == found.closed_form == pytest.approx(closed, abs=1e-9)
    assert len(found.pieces) <= 3


def test_both_steps_on_another_scale():
    pytest.importorskip("pyscipopt")
    found = gpm(1.0, 3.0, inputs=(0, 10), outputs=(-5, 15), node_limit=100)
    assert found.at in (0, 10), "the densities are those of the worst input"
    assert found.incumbent_loss == pytest.approx(found.closed_form, rel=1e-6)
    assert len(found.incumbent) == len(found.pieces) == 3
    assert not found.closed
    assert found.to_dict()["about"]["gap"] == found.gap


def test_regression_finds_theorem_7():
    """Example 5: the height over epsilon is e^(eps/2), where it is regressed on exact heights."""
    epsilons = np.random.default_rng(5).uniform(0.1, 6, 50)
    heights = np.array([1 / float(optimal_width(epsilon, 1.0)) for epsilon in epsilons])
    heights = np.exp(epsilons) / (1 + np.expm1(epsilons) / heights)
    b1, b2, error = fit_height(epsilons, heights)
    assert (b1, b2) == (pytest.approx(0.5, abs=1e-6), pytest.approx(0, abs=1e-5))
    assert error < 1e-5
    squared = np.array([float(optimal_width(epsilon, 2.0)) for epsilon in epsilons])
    other = fit_height(epsilons, np.exp(epsilons) / (1 + np.expm1(epsilons) * squared))
    assert 0.33 < other[0] < 0.4, "for squared error the height grows as e^(eps/3), not as in Theorem 7"


@pytest.mark.slow
def test_regression_on_what_scip_finds():
    """Example 5 as the thesis has it: the height is solved for at random epsilons, then regressed."""
    pytest.importorskip("pyscipopt")
    epsilons = np.random.default_rng(6).uniform(0.3, 4, 15)
    heights = np.array(
        [max(p.density for p in gpm(e, 0.0, at=0.0, node_limit=50).incumbent) for e in epsilons.tolist()]
    )
    b1, b2, error = fit_height(epsilons, heights)
    assert (b1, b2) == (pytest.approx(0.5, abs=0.005), pytest.approx(0, abs=0.02))
    assert error < 0.05


def test_a_solver_that_finds_nothing_leaves_the_closed_form():
    pytest.importorskip("pyscipopt")
    found = gpm(2.0, 0.3, pieces=9, time_limit=1e-6)
    assert "it found nothing in its time" in found.warnings[0]
    assert found.loss == found.closed_form
    assert found.to_dict()["about"]["gap"] == "infinite"


def test_merging_keeps_mass():
    pieces = [DensityPiece(0, 0.2, 1.0), DensityPiece(0.2, 0.5, 1.00001), DensityPiece(0.5, 1, 0.5)]
    assert sum(each.mass for each in merged(pieces)) == pytest.approx(sum(each.mass for each in pieces))
    assert len(merged(pieces)) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pieces": 1}, "pieces must be from 2 to 9, got 1"),
        ({"power": 0}, "power must be positive"),
        ({"power": -1.0}, "power must be positive"),
        ({"x": 2.0}, r"x must lie in the interval of inputs .*got 2\.0"),
        ({"at": -1.0}, "at must lie in the interval of inputs"),
    ],
)
def test_what_has_no_meaning_is_refused(options, message):
    with pytest.raises(InvalidParameterError, match=message):
        gpm(1.0, **{"x": 0.5, **options})


def test_without_scip_the_extra_is_named(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match="optimisation"):
        gpm(1.0, 0.5)
