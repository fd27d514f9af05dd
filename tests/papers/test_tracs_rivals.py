"""NGram, L-SRR and ATP in the reproduction of TraCS: as coded, and with the epsilon that they state."""

from __future__ import annotations

import os

import numpy as np
import pytest

from ldpkit.core.domains.trajectories import Trajectories
from ldpkit.core.random import seeded
from ldpkit.papers import Settings, Verdict
from ldpkit.papers.tracs import discrete, real_places
from ldpkit.papers.tracs.data import EPSILONS, load_city
from ldpkit.papers.tracs.rivals import EDGE, RIVALS, calibrated, grid_points, published
from ldpkit.papers.tracs.runs import thesis_c
from ldpkit.simulation.metrics.trajectories import trajectory_errors

REAL = pytest.mark.skipif(
    not os.environ.get("LDPKIT_DATA"), reason="LDPKIT_DATA names no directory of data sets"
)
PLACES = grid_points(10)
WALKS = Trajectories(PLACES[np.random.default_rng(1).integers(0, 121, 2000)], np.arange(0, 2001, 100))


def error(answers):
    return float(trajectory_errors(WALKS, answers).mean())


def test_percentages_of_figure_8_as_coded():
    source, means = seeded(2), dict.fromkeys(("TraCS-C", *RIVALS), 0.0)
    for epsilon in EPSILONS:
        plain = thesis_c(epsilon)
        answers = plain.points_of(plain.privatize(WALKS.points, rng=source))
        means["TraCS-C"] += error(np.floor(answers * 10) / 10)
        for name in RIVALS:
            means[name] += error(published(name, WALKS, PLACES, epsilon, source))
    for name, printed in (("NGram", 66.1), ("L-SRR", 57.1), ("ATP", 63.8)):
        # Theirs is of one trajectory, which strays by 2 points.
        assert 100 * means["TraCS-C"] / means[name] == pytest.approx(printed, abs=5), "fixed seed"


def test_what_keeps_epsilon_is_not_what_was_coded():
    source = seeded(3)
    coded, kept = (error(each("L-SRR", WALKS, PLACES, 4.0, source)) for each in (published, calibrated))
    assert kept < 0.9 * coded  # it has 4, not the 1.9 of the code
    each = calibrated("NGram", WALKS, PLACES, np.linspace(2, 40, len(WALKS)), source)
    assert (each[:, None] == PLACES).all(axis=2).any(axis=1).all()


def test_epsilons_and_times_that_the_table_does_not_have():
    found = list(discrete._rival_epsilons())
    assert [each.verdict for each in found] == [Verdict.CORRECTED] * 3
    assert [each.ours for each in found][1] == "infinite"
    assert [each.verdict for each in discrete._time_shares()].count(Verdict.CORRECTED) == 1


@REAL
def test_figure_9_of_chicago_as_coded():
    city = load_city("chi")
    known = city.paper.with_points(city.paper.points * city.degrees)
    answers = published("NGram", city.paper, city.places, 4.0, seeded(1), EDGE)
    far = float(trajectory_errors(known, answers * city.degrees).mean())
    assert far == pytest.approx(0.1219, abs=0.012), "one run strays by 0.004"
    walks = real_places._walks(city, Settings(quick=True), alone=False)
    budgets = real_places._budgets(walks, 4.0, 13)
    assert budgets * walks.lengths == pytest.approx(np.full(len(walks), 52.0))
