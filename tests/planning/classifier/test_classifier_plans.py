"""Plans for a classifier: the least epsilon, the splits, and models that can only be asked."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import ldpkit
from ldpkit.core.errors import InvalidParameterError, OutOfDomainError
from ldpkit.planning.classifier.choices import column_of, splits

linear = pytest.importorskip("sklearn.linear_model")


def fitted() -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    rows = rng.random((60, 2))
    return linear.LogisticRegression(C=100).fit(rows, rows[:, 0] + 0.1 * rows[:, 1] > 0.55), rows


def test_the_answer_is_the_least_epsilon_that_is_enough() -> None:
    model, rows = fitted()
    found = ldpkit.plan.classifier(model, rows, {0: (0, 1), 1: (0, 1)}, 0.85, mechanisms=["ogpm"])
    best = found.best
    assert best is not None
    assert best.epsilon is not None
    assert best.split == "all to 0"
    even = next(each for each in found.plans if each.split == "even")
    assert even.epsilon is not None
    for factor, enough in ((1.0, True), (0.99, False)):
        ogpm = ldpkit.OGPM((0, 1), epsilon=even.epsilon * factor / 2)
        assert (ldpkit.utility(model, rows, {0: ogpm, 1: ogpm}).average.value >= 0.85) == enough
    label = next(each for each in found.plans if each.mechanism == "label response")
    assert label.epsilon == pytest.approx(math.log(0.85 / 0.15))
    assert [each.epsilon for each in found.plans if each.epsilon] == sorted(
        each.epsilon for each in found.plans if each.epsilon
    )


def test_draws_stand_beside_the_curves_and_predictions_have_a_worth() -> None:
    # 8,000 reports a point: an interval of 95% misses its curve in 1 of 20, more than 3 of 5 never.
    model, rows = fitted()
    target = rows[:, 0] + 0.1 * rows[:, 1] > 0.55
    found = ldpkit.plan.classifier(
        model, rows, {0: (0, 1), 1: (0, 1)}, 0.8, mechanisms=["ogpm"], target=target
    )
    best = found.best
    assert best is not None
    curve = {point[0]: point[1] for point in best.curve}
    inside = [low <= curve[epsilon] <= high for epsilon, _, low, high in best.drawn]
    assert len(inside) == 5
    assert sum(inside) >= 3
    better = next(each for each in found.plans if each.how == "corrected")
    assert better.mechanism == "corrected ogpm"
    assert 0.5 <= found.constant < 0.7
    worth = {each.way: each for each in found.worth}
    assert worth["raw records, no privacy"].kept == 1
    assert worth["raw records, no privacy"].accuracy > worth["the model on reports"].accuracy
    assert "trained on reports" in worth
    assert 0.6 < worth["label response on the device"].kept < 1
    assert len(found.tables()) == 2
    plain = ldpkit.plan.classifier(model, rows, {0: (0, 1)}, 0.8, mechanisms=["ogpm"], drawn=False)
    assert not any(each.drawn or each.how == "corrected" for each in plain.plans)


def test_the_worst_record_may_never_be_kept() -> None:
    model, rows = fitted()
    found = ldpkit.plan.classifier(
        model, rows, {0: (0, 1)}, 0.99, criterion="worst", mechanisms=["laplace"], epsilon_max=2.0
    )
    assert not found.feasible
    assert "no mechanism keeps as much up to epsilon 2" in found.notes()[0]
    assert "not reached" in repr(found)


def test_a_model_that_is_asked_is_drawn_and_says_so() -> None:
    found = ldpkit.plan.classifier(
        lambda rows: (rows[:, 0] > 0.5).astype(int), [[0.1], [0.9]], {0: (0, 1)}, 0.8, mechanisms=["ogpm"]
    )
    assert found.method == "drawn"
    assert any("only asked" in note for note in found.notes())
    exact = ldpkit.get("ogpm", (0, 1), epsilon=found.best.epsilon)
    assert 1 - float(exact.cdf(0.5, 0.9)) == pytest.approx(0.8, abs=0.1)  # 400 draws


def test_what_cannot_be_planned_is_refused() -> None:
    model, rows = fitted()
    with pytest.raises(InvalidParameterError, match="criterion"):
        ldpkit.plan.classifier(model, rows, [0], criterion="median")
    with pytest.raises(InvalidParameterError, match="cannot take the reports of olh"):
        ldpkit.plan.classifier(model, rows, {0: (0, 1)}, mechanisms=["olh"])
    with pytest.raises(OutOfDomainError, match="declare a wider range"):
        ldpkit.plan.classifier(model, rows, {0: (0, 0.5)})
    with pytest.raises(InvalidParameterError, match="epsilon_min"):
        ldpkit.plan.classifier(model, rows, {0: (0, 1)}, epsilon_min=2, epsilon_max=1)


def test_splits_add_up_and_a_withheld_column_costs_nothing() -> None:
    for way in splits(["a", "b", "c"]):
        assert sum(way.shares) == pytest.approx(1)
    domains = {"a": ldpkit.IntervalDomain(0, 1), "b": ldpkit.IntervalDomain(0, 4)}
    first, second = splits(["a", "b"])[2].columns("ogpm", domains, 2.0)
    assert first.mechanism.epsilon == 2.0
    assert second.mechanism.exact_epsilon() == 0.0
    assert second.draw(np.zeros(1)).tolist() == [2.0]
    assert column_of("exponential", domains["b"], 1.0).mechanism.exact_epsilon() <= 1
