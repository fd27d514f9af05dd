"""The corrected model is the posterior mean; label response; steps and scorers of scikit-learn; loading."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ldpkit
from ldpkit.assurance.classifier.corrected import privatized
from ldpkit.assurance.classifier.loading import load_model
from ldpkit.core.errors import FileFormatError, InvalidInputError, InvalidParameterError, MismatchError

pytest.importorskip("sklearn")

from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.model_selection import cross_val_score

from ldpkit.assurance.classifier.sklearn import Privatize, utility_scorer


def fitted(n: int = 400) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(3)
    rows = rng.beta(2, 3, (n, 3))
    labels = (rows[:, 0] + 0.3 * rng.normal(size=n) > 0.45).astype(int)
    return LogisticRegression(C=50).fit(rows, labels), rows, labels


def test_on_a_grid_it_is_bayes_by_hand() -> None:
    model, rows, _ = fitted()
    rows = np.round(rows, 1)
    grid = [step / 10 for step in range(11)]
    oracle = ldpkit.GRR(grid, epsilon=1.5)
    corrected = ldpkit.Corrected(model, {0: oracle}, rows, points=len(rows))
    report = np.array([[0.3, 0.2, 0.9]])
    channel = np.array(oracle.channel().probabilities, float)
    prior = np.array([np.isclose(rows[:, 0], point).mean() for point in grid])
    posterior = prior * channel[:, 3]
    posterior /= posterior.sum()
    asked = np.repeat(report, 11, axis=0)
    asked[:, 0] = grid
    assert np.allclose(corrected.predict_proba(report), posterior @ model.predict_proba(asked))


def test_it_scores_better_than_the_model_on_reports() -> None:
    # Log loss over 400 reports: the difference is far beyond its standard error, here and with other seeds.
    model, rows, labels = fitted()
    chosen = {0: ldpkit.get("ogpm", (0, 1), epsilon=1)}
    reports = privatized(model, rows, chosen, rng=ldpkit.random.seeded(1))
    corrected = ldpkit.Corrected(model, chosen, rows)

    def loss(chances: Any) -> Any:
        return -np.log(np.clip(chances[np.arange(len(labels)), labels], 1e-6, 1))

    gain = loss(model.predict_proba(reports)) - loss(corrected.predict_proba(reports))
    assert gain.mean() > 5 * gain.std() / math.sqrt(len(gain))
    sure = corrected.predict(reports, abstain_below=0.6)
    assert set(sure) == {0, 1, None}
    assert (reports[:, 1:] == rows[:, 1:]).all()


def test_a_prior_from_reports_alone_is_as_good() -> None:
    model, rows, labels = fitted(2000)
    chosen = {0: ldpkit.get("ogpm", (0, 1), epsilon=1), 1: ldpkit.get("ogpm", (0, 1), epsilon=2)}
    reports = privatized(model, rows, chosen, rng=ldpkit.random.seeded(1))
    prior = ldpkit.prior_from_reports(reports, chosen, points=144)
    assert float(prior.shares.sum()) == pytest.approx(1)
    mean = float(prior.points[:, 1] @ prior.shares)
    assert mean == pytest.approx(float(rows[:, 1].mean()), abs=0.05)

    def loss(chances: Any) -> float:
        return float(-np.log(np.clip(chances[np.arange(len(labels)), labels], 1e-6, 1)).mean())

    from_reports = loss(ldpkit.Corrected(model, chosen, prior).predict_proba(reports))
    from_records = loss(ldpkit.Corrected(model, chosen, rows, points=144).predict_proba(reports))
    assert from_reports < loss(model.predict_proba(reports)) - 0.05
    assert from_reports == pytest.approx(from_records, abs=0.03)
    with pytest.raises(MismatchError, match="give them in order"):
        ldpkit.Corrected(model, {0: chosen[0]}, prior)
    with pytest.raises(InvalidInputError, match="row 0 cannot come from these mechanisms"):
        ldpkit.prior_from_reports([[2.0, 0.1, 0.1]], {0: chosen[0]})


def test_what_no_mechanism_reports_and_models_without_chances_are_refused() -> None:
    model, rows, labels = fitted()
    corrected = ldpkit.Corrected(model, {0: ldpkit.get("ogpm", (0, 1), epsilon=1)}, rows)
    with pytest.raises(InvalidInputError, match="row 1 cannot come from these mechanisms"):
        corrected.predict([[0.5, 0.1, 0.1], [1.5, 0.1, 0.1]])
    with pytest.raises(InvalidParameterError, match="predict_proba"):
        ldpkit.Corrected(Perceptron().fit(rows, labels), {0: ldpkit.get("ogpm", (0, 1), epsilon=1)}, rows)


def test_the_label_alone_keeps_more() -> None:
    assert ldpkit.label_response(2, 4) == pytest.approx(math.exp(4) / (math.exp(4) + 1), abs=1e-9)
    assert ldpkit.label_response(10, 1) == pytest.approx(math.e / (math.e + 9), abs=1e-9)


def test_a_step_and_a_scorer() -> None:
    _, rows, labels = fitted()
    chosen = {0: ldpkit.get("ogpm", (0, 1), epsilon=4)}
    step = Privatize(chosen, rng=ldpkit.random.seeded(1)).fit(rows)
    once, again = step.transform(rows), step.transform(rows)
    assert (once[:, 0] != again[:, 0]).any()
    assert (once[:, 1:] == rows[:, 1:]).all()
    assert step.get_feature_names_out().tolist() == ["x0", "x1", "x2"]
    scores = cross_val_score(LogisticRegression(), rows, labels, scoring=utility_scorer(chosen), cv=3)
    whole = ldpkit.utility(LogisticRegression().fit(rows, labels), rows, chosen).average.value
    assert np.allclose(scores, whole, atol=0.05)


def test_models_load_from_skops_and_pickles_only_on_demand(tmp_path: Path) -> None:
    io = pytest.importorskip("skops.io")
    joblib = pytest.importorskip("joblib")
    model, rows, _ = fitted()
    io.dump(model, tmp_path / "model.skops")
    joblib.dump(model, tmp_path / "model.joblib")
    assert (load_model(tmp_path / "model.skops").predict(rows) == model.predict(rows)).all()
    with pytest.raises(InvalidParameterError, match="runs whatever code its author put into it"):
        load_model(tmp_path / "model.joblib")
    pickled = load_model(tmp_path / "model.joblib", unsafe_pickle=True)
    assert (pickled.predict(rows) == model.predict(rows)).all()
    (tmp_path / "broken.skops").write_bytes(b"no zip")
    with pytest.raises(FileFormatError, match="is not a skops file"):
        load_model(tmp_path / "broken.skops")
    with pytest.raises(InvalidInputError, match="no model file"):
        load_model(tmp_path / "none.skops")
    with pytest.raises(InvalidParameterError, match=r"\.skops"):
        load_model(__file__)
