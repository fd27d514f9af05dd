"""Pages and figures of many values: bounded in size, and their curves computed once."""

from __future__ import annotations

import numpy as np
import pytest

import ldpkit
from ldpkit.core.random import seeded
from ldpkit.figures import capacity as capacity_figures
from ldpkit.figures import plan as plan_figures
from ldpkit.figures import result_page
from ldpkit.planning.searches import TrialRunner


@pytest.fixture
def budget_plans():
    return ldpkit.plan.budget([600, 300, 100], "oue", metric="max_error", at_most=0.05, search="analytic")


@pytest.fixture
def capacity_plans():
    return ldpkit.plan.capacity({0: 400, 1: 600}, 500, "fn", "grr", at_most=0.05)


def test_the_curves_of_a_budget_are_simulated_once_for_figure_and_page(budget_plans, monkeypatch):
    """They took 100 CPU seconds for 100,000 values, and were simulated five times."""
    tried, draw = [], TrialRunner.draw
    monkeypatch.setattr(
        TrialRunner,
        "draw",
        lambda self, epsilon, runs: tried.append((epsilon, runs)) or draw(self, epsilon, runs),
    )
    budget_plans.figure()
    budget_plans.figure(narrow=True)
    assert len(tried) == len(set(tried)) == 25
    assert {runs for _, runs in tried} == {100}


@pytest.mark.parametrize(("many", "runs"), [(2, 66), (0.1, 10)])
def test_a_budget_of_many_values_draws_fewer_collections(budget_plans, monkeypatch, many, runs):
    tried, draw = [], TrialRunner.draw
    monkeypatch.setattr(plan_figures, "_MANY_VALUES", many)
    monkeypatch.setattr(
        TrialRunner, "draw", lambda self, epsilon, count: tried.append(count) or draw(self, epsilon, count)
    )
    (curve,) = plan_figures._budget_curves(budget_plans).values()
    assert len(curve.line) == len(tried) == 10
    assert set(tried) == {runs}


def test_the_curves_of_a_capacity_are_computed_once_and_have_fewer_points_for_many_values(
    capacity_plans, monkeypatch
):
    points, curve = [], capacity_figures._curve
    monkeypatch.setattr(
        capacity_figures,
        "_curve",
        lambda question, name, at: points.append(len(at)) or curve(question, name, at),
    )
    capacity_plans.figure()
    capacity_plans.figure(narrow=True)
    assert points == [80]
    capacity_figures._CURVES.pop(capacity_plans)
    monkeypatch.setattr(capacity_figures, "_MANY_VALUES", 1)
    capacity_plans.figure()
    assert points == [80, 20]


def test_rows_of_a_capacity_are_computed_once_and_cannot_be_changed(capacity_plans, monkeypatch):
    first = capacity_plans.rows()
    monkeypatch.setattr(type(capacity_plans), "_row", lambda self, plan: pytest.fail("computed again"))
    first[0]["epsilon"] = 0.0
    assert capacity_plans.rows()[0]["epsilon"] == capacity_plans.plans[0].epsilon


def test_the_page_of_an_audit_does_not_carry_a_million_labels(monkeypatch):
    """The description of the mechanism lists them: a page of 100,000 had three megabytes."""
    monkeypatch.setattr(result_page, "_LONGEST_DOWNLOAD", 8000)
    labels = [f"{'long ' * 80} {place}" for place in range(30)]
    found = ldpkit.audit(ldpkit.GRR(labels, epsilon=1), reports=1000, rng=seeded(1))
    page = result_page._downloads(found)
    assert len(page) < 10_000
    assert "audit.json has " in page
    assert "too many for a page: write it with" in page
    assert 'download="audit.csv"' in page
    small = ldpkit.audit(ldpkit.GRR(labels[:5], epsilon=1), reports=1000, rng=seeded(1))
    assert 'download="audit.json"' in result_page._downloads(small)


def test_the_page_of_an_estimate_shows_the_most_frequent_and_says_of_how_many(monkeypatch):
    monkeypatch.setattr(result_page, "_MOST_DOWNLOADED", 1000)
    oracle = ldpkit.OUE(6000, epsilon=1)
    page = ldpkit.Tally(oracle, 10_000, np.arange(6000) % 5000).estimate().page()
    assert len(page) < 200_000
    assert "the 200 most frequent of 6000 values" in page
    assert "6,000 rows are too many for a page" in page
