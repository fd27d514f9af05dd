"""Boosted trees: the library's own predictions at every threshold, from memory and from files."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ldpkit
from ldpkit.assurance.classifier.loading import load_model
from ldpkit.assurance.classifier.reading import read_model
from ldpkit.assurance.classifier.trees import Trees
from ldpkit.core.errors import FileFormatError, InvalidInputError, LdpkitError

pytest.importorskip("sklearn")

from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier


def data(classes: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    rows = rng.random((150, 3)).round(3)
    score = np.sin(6 * rows[:, 0]) + 2 * rows[:, 1] ** 2 + 0.2 * rng.normal(size=150)
    return rows, np.searchsorted(np.quantile(score, np.arange(1, classes) / classes), score)


def made(name: str) -> Any:
    if name == "xgboost":
        return pytest.importorskip("xgboost").XGBClassifier(n_estimators=8, max_depth=4, n_jobs=1)
    if name == "lightgbm":
        return pytest.importorskip("lightgbm").LGBMClassifier(
            n_estimators=8, min_child_samples=4, verbose=-1, n_jobs=1
        )
    if name == "histogram":
        return HistGradientBoostingClassifier(max_iter=8, min_samples_leaf=4)
    return GradientBoostingClassifier(n_estimators=8, random_state=0)


def adversarial(trees: Trees, rows: Any) -> Any:
    """Return rows with one feature at a threshold, or one step of 32 or 64 bits beside it."""
    rng, found = np.random.default_rng(2), []
    for feature in range(rows.shape[1]):
        used = (trees.left >= 0) & (trees.feature == feature)
        for threshold in np.unique(trees.threshold[used])[:40]:
            single = np.float32(threshold)
            above, below = (float(np.nextafter(single, np.float32(way))) for way in (9, -9))
            nearest = float(single)
            around = [threshold, nearest, above, below, (nearest + above) / 2, (nearest + below) / 2]
            for value in [*around, *np.nextafter(around, 9), *np.nextafter(around, -9)]:
                found.append(rows[rng.integers(len(rows))].copy())
                found[-1][feature] = value
    return np.array(found)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("name", ["xgboost", "lightgbm", "histogram", "gradient"])
@pytest.mark.parametrize("classes", [2, 3])
def test_thresholds_are_those_of_predict(name: str, classes: int, tmp_path: Path) -> None:
    rows, labels = data(classes)
    model = made(name).fit(rows, labels)
    trees = read_model(model)
    assert isinstance(trees, Trees)
    asked = adversarial(trees, rows)
    best, gap = trees.decide(trees.scores(asked))
    truth = model.predict(asked)
    assert (trees.classes[best] == truth).all() or gap[trees.classes[best] != truth].max() <= trees.rounding
    # The edges of regions are the last numbers that go left.
    _, last = trees.edges(0)
    seen = trees.seen(
        np.column_stack([np.concatenate([last, np.nextafter(last, 9)]), *np.zeros((2, 2 * len(last)))])
    )
    thresholds = np.unique(trees.threshold[(trees.left >= 0) & (trees.feature == 0)])
    assert (seen[: len(last), 0] <= thresholds).all()
    assert (seen[len(last) :, 0] > thresholds).all()
    for path in written(name, model, tmp_path):
        loaded = load_model(path)
        assert (loaded.predict(asked) == truth).all()
        assert np.allclose(loaded.predict_proba(asked), model.predict_proba(asked), atol=1e-6)


def written(name: str, model: Any, folder: Path) -> list[Path]:
    if name == "xgboost":
        model.save_model(folder / "model.json")
        return [folder / "model.json"]
    if name == "lightgbm":
        (folder / "model.json").write_text(json.dumps(model.booster_.dump_model()))
        model.booster_.save_model(folder / "model.txt")
        return [folder / "model.json", folder / "model.txt"]
    return []


def test_grid_points_at_thresholds_fall_on_the_right_side() -> None:
    rows, labels = data(2)
    model = made("xgboost").fit(rows, labels)
    trees = read_model(model)
    assert isinstance(trees, Trees)
    threshold = float(np.unique(trees.threshold[(trees.left >= 0) & (trees.feature == 0)])[3])
    step = float(np.spacing(np.float32(threshold)))
    points = [0.1, *(threshold + share * step for share in (-0.6, -0.4, 0.0, 0.4, 0.5, 0.6, 1.0, 1.4))]
    record = rows[:1].copy()
    record[0, 0] = 0.1
    found = ldpkit.utility(model, record, {0: ldpkit.GRR(points, epsilon=1)})
    asked = np.repeat(record, len(points), axis=0)
    asked[:, 0] = points
    chances = [float(each) for each in ldpkit.GRR(len(points), epsilon=1).channel().probabilities[0]]
    kept = model.predict(asked) == model.predict(record)[0]
    assert found.method == "boxes"
    assert found[0].value == pytest.approx(float(np.array(chances) @ kept), abs=1e-12)


def test_early_stopping_takes_the_trees_that_predict_takes() -> None:
    xgboost = pytest.importorskip("xgboost")
    rows, labels = data(3)
    model = xgboost.XGBClassifier(n_estimators=30, early_stopping_rounds=1, learning_rate=1.0, n_jobs=1)
    model.fit(rows[:100], labels[:100], eval_set=[(rows[100:], labels[100:])], verbose=False)
    trees = read_model(model)
    assert isinstance(trees, Trees)
    assert len(trees.roots) == 3 * (model.best_iteration + 1) < 3 * model.get_booster().num_boosted_rounds()
    assert (trees.decide(trees.scores(rows))[0] == model.predict(rows)).all()


@pytest.mark.filterwarnings("ignore:.*booster=dart:UserWarning")  # deprecated, and in files of others
def test_kinds_that_are_not_read_are_asked() -> None:
    xgboost = pytest.importorskip("xgboost")
    rows, labels = data(2)
    dart = xgboost.XGBClassifier(n_estimators=4, booster="dart", rate_drop=0.9, one_drop=1, n_jobs=1)
    dart.fit(rows, labels)
    found = ldpkit.utility(dart, rows[:2], {0: ldpkit.get("ogpm", (0, 1), epsilon=1)}, draws=20)
    assert not found.exact
    assert re.search("'dart'.* does not support", found.reason)


def test_weights_of_dropout_are_not_taken_for_trees_as_they_are(tmp_path: Path) -> None:
    """XGBoost 3.4 keeps them beside the trees of a "gbtree", which are worth so much less."""
    tree = {"left_children": [-1], "right_children": [-1], "split_indices": [0], "split_conditions": [0.5]}
    model = {"gbtree_model_param": {}, "tree_info": [0, 0], "trees": [tree, tree], "weight_drop": [1.0, 1.0]}
    learner = {
        "gradient_booster": {"name": "gbtree", "model": model},
        "objective": {"name": "binary:logistic"},
        "learner_model_param": {"num_class": "0", "num_feature": "1", "base_score": "0.5"},
    }
    path = tmp_path / "model.json"
    path.write_text(json.dumps({"learner": learner}))
    load_model(path)
    model["weight_drop"] = [1.0, 0.75]
    path.write_text(json.dumps({"learner": learner}))
    with pytest.raises(InvalidInputError, match="weights its trees"):
        load_model(path)


def test_files_that_are_no_models_are_refused(tmp_path: Path) -> None:
    rows, labels = data(2)
    path = tmp_path / "model.json"
    made("xgboost").fit(rows, labels).save_model(path)
    text = path.read_text()
    document = json.loads(text)

    def refused(change: Any, match: str) -> None:
        broken = json.loads(text)
        change(broken["learner"])
        path.write_text(json.dumps(broken))
        with pytest.raises(LdpkitError, match=match):
            load_model(path)

    tree = document["learner"]["gradient_booster"]["model"]["trees"][0]
    assert tree["left_children"][0] == 1

    def first(learner: Any) -> Any:
        return learner["gradient_booster"]["model"]["trees"][0]

    refused(lambda it: first(it)["left_children"].__setitem__(0, 0), "do not make trees")
    refused(lambda it: first(it)["left_children"].__setitem__(0, 10**6), "do not make trees")
    refused(lambda it: first(it)["split_indices"].__setitem__(0, 99), "a feature beyond its 3")
    refused(lambda it: first(it)["split_conditions"].__setitem__(0, float("nan")), "not a finite number")
    refused(lambda it: first(it)["split_type"].__setitem__(0, 1), "categorical splits")
    refused(
        lambda it: it["objective"].__setitem__("name", "rank:ndcg"),
        "the objective 'rank:ndcg', which ldpkit does not support",
    )
    refused(lambda it: it["learner_model_param"].__setitem__("num_feature", "3000000000"), "1 to 1,000,000")
    refused(lambda it: it.pop("objective"), "lacks 'objective'")
    path.write_text("[" * 100_000)
    with pytest.raises(FileFormatError):
        load_model(path)
    path.write_text('{"a": 1}')
    with pytest.raises(FileFormatError, match="neither 'learner' nor 'tree_info'"):
        load_model(path)
    lightgbm = made("lightgbm").fit(rows, labels).booster_
    lightgbm.save_model(tmp_path / "model.txt")
    told = (tmp_path / "model.txt").read_text()
    (tmp_path / "model.txt").write_text(re.sub(r"left_child=-?\d+", "left_child=0", told, count=1))
    with pytest.raises(InvalidInputError, match="do not make trees"):
        load_model(tmp_path / "model.txt")
