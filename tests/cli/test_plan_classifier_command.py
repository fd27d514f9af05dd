"""`ldpkit plan classifier`, as a user asks for it."""

from __future__ import annotations

import json

import numpy as np
import pytest

linear = pytest.importorskip("sklearn.linear_model")
io = pytest.importorskip("skops.io")


@pytest.fixture
def files(tmp_path):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    table = pandas.DataFrame(rng.random((40, 2)), columns=["age", "bmi"])
    model = linear.LogisticRegression(C=50).fit(table, table.age > 0.5)
    io.dump(model, tmp_path / "model.skops")
    table["stroke"] = (table.age > 0.5).astype(int)
    table.to_csv(tmp_path / "people.csv", index=False)
    table.loc[3, "bmi"] = 1.25
    table.to_csv(tmp_path / "wide.csv", index=False)
    return tmp_path


def test_a_table_a_figure_and_json(run, files):
    asked = ("plan", "classifier", files / "model.skops", files / "people.csv", "--sensitive", "age,bmi")
    figure = files / "kept.png"
    result = run(*asked, "--keep", 0.8, "-p", "ogpm", "--figure", figure)
    assert "label response" in result.out
    assert "best with the model as it is: ogpm, all to age" in result.err
    assert figure.stat().st_size > 10_000
    told = json.loads(run(*asked, "--keep", 0.8, "-p", "ogpm", "--format", "json").out)
    assert told["kind"] == "plan classifier"
    assert told["about"]["method"] == "half-space"


def test_values_out_of_range_are_refused_or_clipped(run, files):
    asked = ("plan", "classifier", files / "model.skops", files / "wide.csv", "--sensitive")
    assert (
        "'bmi' has 1 value outside [0, 1], such as 1.25 in row 3"
        in run(*asked, "age,bmi", "-p", "ogpm", code=2).error_line
    )
    clipped = run(*asked, "bmi", "-p", "ogpm", "--clip")
    assert "1 values of 'bmi' were outside its range" in clipped.err
    assert "best" in run(*asked, "bmi=0:2", "-p", "ogpm").err


def test_refusals(run, files):
    model, table = files / "model.skops", files / "people.csv"
    (files / "model.pkl").write_bytes(b"")
    asked = ("plan", "classifier")
    pickle = run(*asked, files / "model.pkl", table, "--sensitive", "age", code=2).error_line
    assert "runs whatever code its author put into it" in pickle
    assert "--unsafe-pickle" in pickle
    assert "did you mean age" in run(*asked, model, table, "--sensitive", "aeg", code=2).error_line
    assert "two numbers" in run(*asked, model, table, "--sensitive", "age=1", code=2).error_line
    assert "different columns" in run(*asked, model, table, "--sensitive", "age,age", code=2).error_line
    (files / "other.csv").write_text("age,x\n0.1,2\n")
    lacking = run(*asked, model, files / "other.csv", "--sensitive", "age", code=2).error_line
    assert "lacks the columns bmi that the model was trained with" in lacking


def test_output_files_true_labels_and_models_without_names(run, files):
    asked = ("plan", "classifier", files / "model.skops", files / "people.csv", "--sensitive", "age")
    result = run(*asked, "--keep", 0.8, "-p", "ogpm", "grr", "--target", "stroke", "-o", files / "plan.csv")
    assert "a constant answer keeps" in result.err
    assert (files / "plan.csv").read_text().startswith("mechanism,split,epsilon")
    assert "exists" in run(*asked, "-p", "ogpm", "-o", files / "plan.csv", code=2).error_line
    assert "--output is written as" in run(*asked, "-o", files / "plan.xlsx", code=2).error_line
    assert "unknown column 'strok'" in run(*asked, "--target", "strok", code=2).error_line
    mixed = ("plan", "classifier", files / "model.skops", files / "coded.csv", "--sensitive", "age,bmi=0/1")
    (files / "coded.csv").write_text("age,bmi\n0.2,0\n0.7,1\n0.9,0\n")
    told = json.loads(run(*mixed, "-p", "ogpm", "--keep", 0.7, "--format", "json").out)
    assert told["about"]["method"] == "half-space"
    assert (
        "outside the 2 points of the grid"
        in run(*mixed[:3], files / "people.csv", *mixed[4:], code=2).error_line
    )
    xgboost = pytest.importorskip("xgboost")
    rows = np.random.default_rng(1).random((60, 2))
    model = xgboost.XGBClassifier(n_estimators=3, max_depth=2, n_jobs=1).fit(rows, rows[:, 0] > 0.5)
    model.save_model(files / "boosted.json")
    asked = ("plan", "classifier", files / "boosted.json", files / "people.csv", "--sensitive", "age")
    assert "name its columns with --columns" in run(*asked, code=2).error_line
    told = run(*asked, "--columns", "age,bmi", "-p", "ogpm", "--keep", 0.8, "--format", "json").out
    assert json.loads(told)["about"]["method"] == "boxes"
