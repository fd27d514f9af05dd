"""What figures show: no text on text, equal lines as one, shares that can be read, colours in the dark."""

from __future__ import annotations

import re
from xml.dom import minidom

import numpy as np
import pytest

import ldpkit
from ldpkit.core.domains.circle import CircleDomain
from ldpkit.core.text import is_unseen
from ldpkit.estimation.circular_density import CircularDensity
from ldpkit.figures.canvas import label_ends, new_figure, save_figure, svg_text
from ldpkit.figures.page import listed, section, write_page
from ldpkit.figures.theme import FAINT, dark_rules

pytest.importorskip("matplotlib")


def test_the_names_in_the_picture_of_pairs_do_not_cover_each_other():
    figure = ldpkit.plan.pairs(20_000, 1, 2, ones=(600, 800)).figure()
    figure.canvas.draw()
    (axes,) = figure.axes
    legend = axes.get_legend().get_window_extent()
    assert not [text.get_text() for text in axes.texts if legend.overlaps(text.get_window_extent())]
    narrow = ldpkit.plan.pairs(20_000, 1, 2, ones=(600, 800)).figure(narrow=True)
    narrow.canvas.draw()
    (below,) = narrow.legends
    assert below.get_window_extent().x1 <= narrow.bbox.x1


def test_mechanisms_with_the_same_risk_are_one_line_with_both_names():
    answers = {"never": 6200, "once": 2300, "often": 1100, "daily": 400}
    (axes,) = ldpkit.risk(["grr", "oue", "ss"], epsilon=[1, 4], data=answers).figure().axes
    names = {text.get_text() for text in axes.texts}
    assert {"grr = ss", "oue"} < names
    assert (
        len([line for line in axes.lines if len(line.get_xdata()) == 2 and line.get_marker() != "None"]) == 2
    )


def test_no_place_is_marked_where_an_axis_has_only_names():
    axes = new_figure(5, 3).subplots()
    axes.plot([0, 30], [1, 2])
    label_ends(axes, [(30.0, 2.0, "a long name of a line", "#0072b2")])
    assert axes.get_xlim()[1] > 35
    assert max(axes.get_xticks()) == 30


def test_a_hill_at_the_beginning_of_a_turn_is_not_cut():
    masses = np.array([0.4, 0.1, 0, 0, 0, 0, 0.1, 0.4])
    (axes,) = CircularDensity(np.linspace(0, 24, 9), masses, 9, CircleDomain(24), {}, None).figure().axes
    start, end = axes.get_xlim()
    assert (start, end - start) == (12, 24)
    names = [int(text.get_text()) for text in axes.get_xticklabels()]
    assert names == [12, 15, 18, 21, 0, 3, 6, 9, 12]
    even = CircularDensity(np.linspace(0, 24, 9), np.full(8, 1 / 8), 9, CircleDomain(24), {}, None)
    assert even.figure().axes[0].get_xlim() == (0, 24)


def test_a_distribution_is_drawn_in_shares_that_add_up_to_everybody():
    masses = np.array([0.1, 0.4, 0.3, 0.2])
    found = CircularDensity(np.linspace(0, 360, 5), masses, 9, CircleDomain(360), {}, None)
    (axes,) = found.figure(unit="degrees").axes
    assert axes.get_ylabel() == "share of people in bins of 90 degrees"
    assert axes.patches[0].get_data().values.sum() == pytest.approx(1)


def test_points_and_hatched_bars_change_their_colours_in_the_dark():
    town = ldpkit.PlaneDomain.rectangle((0, 0), (10, 10))
    trips = ldpkit.Trajectories.from_list([[(1.0, 1.0), (2.0, 2.0)], [(3.0, 3.0), (4.0, 5.0)]])
    rng = ldpkit.random.seeded(1)
    drawn = ldpkit.evaluate_trajectories(trips, town, ["planar_window"], epsilon=6, rng=rng).figure()
    assert "<image" not in svg_text(drawn)
    bars = ldpkit.Tally(ldpkit.GRR(["bus", "car"], epsilon=1), 50, [40, 10]).estimate().figure()
    hatched = re.findall(r'<rect[^>]*fill="(#\w+)"', svg_text(bars))
    assert hatched == [FAINT]
    assert f'[fill="{FAINT}"]' in dark_rules()


HOSTILE = "\x1b[31m\u202eRome\x00"


def test_nothing_unseen_stands_in_a_figure(tmp_path):
    figure = new_figure(4, 3)
    axes = figure.subplots()
    axes.bar([0, 1], [1, 2], label=HOSTILE)
    axes.set_xticks([0, 1], labels=[HOSTILE, "b"])
    axes.set(title=HOSTILE, ylabel=HOSTILE)
    axes.legend()
    path = tmp_path / "figure.svg"
    save_figure(figure, path, alt=HOSTILE)
    text = path.read_text()
    assert not any(map(is_unseen, text))
    assert text.count(r"\x1b[31m") >= 5  # written out, not left out
    minidom.parseString(text)


def test_nothing_unseen_stands_on_a_page():
    page = write_page(
        HOSTILE, section("a", HOSTILE, listed([HOSTILE])), command=HOSTILE, facts={"of": HOSTILE}
    )
    assert not any(map(is_unseen, page))
    assert page.count("Rome") >= 5
