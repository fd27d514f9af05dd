"""The reproduction of chapter 7: worked numbers, and the stroke table where it is there."""

from __future__ import annotations

import os

import numpy as np
import pytest

import ldpkit
from ldpkit.papers import Settings, Verdict
from ldpkit.papers.classifier.bounds import bound_claims, relaxation_claims
from ldpkit.papers.classifier.tables import MECHANISMS, load_table, tables_claims
from ldpkit.papers.classifier.worked import example_claims, worked_claims

REAL = pytest.mark.skipif(
    not os.environ.get("LDPKIT_DATA"), reason="LDPKIT_DATA names no directory of data sets"
)


def test_the_worked_numbers():
    claims = [*worked_claims(), *example_claims(Settings()), *bound_claims(), *relaxation_claims()]
    found = {claim.claim: claim for claim in claims}
    assert found["7.2: Laplace keeps 0.8 from epsilon"].ours == pytest.approx(5.3648, abs=1e-4)
    assert found["7.3: PM keeps 0.8 from epsilon"].ours == pytest.approx(1.3863, abs=1e-4)
    assert found["examples 11 and 15: the radius at (0.5, 0.5)"].ours == pytest.approx(0.3848, abs=5e-5)
    assert found["example 15: the class at (0.5, 0.5)"].ours == 2
    assert found["example 14: the l2 radius of the QDA at (0.5, 0.5)"].verdict is Verdict.REPRODUCED
    assert not [claim for claim in claims if claim.verdict is Verdict.NOT_REPRODUCED]


def test_without_the_tables_it_says_what_is_missing(monkeypatch, tmp_path):
    pytest.importorskip("sklearn")
    monkeypatch.setenv("LDPKIT_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    claims = list(tables_claims(Settings()))
    assert [claim.verdict for claim in claims] == [Verdict.NO_DATA] * 2


@REAL
def test_stroke_has_the_numbers_of_the_errata_and_the_published_box_is_above_them():
    linear = pytest.importorskip("sklearn.linear_model")
    from sklearn.model_selection import train_test_split

    names, rows, labels = load_table("stroke_age", "stroke")
    train, _, known, _ = train_test_split(rows, labels, test_size=0.2, random_state=42, stratify=labels)
    model = linear.LogisticRegression(max_iter=1000).fit(train, known)
    printed = {
        "OGPM": (0.5756, 0.9138, 0.9883),
        "Exponential": (0.4516, 0.6737, 0.8398),
        "clipped Laplace": (0.5707, 0.7285, 0.8527),
        "k-RR": (0.3746, 0.5850, 0.9792),
    }
    for name, expected in printed.items():
        for epsilon, value in zip((1.0, 4.0, 8.0), expected, strict=True):
            chosen = {each: MECHANISMS[name](epsilon) for each in ("age", "bmi")}
            kept = ldpkit.utility(model, rows[4:5], chosen, columns=names)[0].value
            assert kept == pytest.approx(value, abs=0.002)
            if name == "OGPM":
                box = 1 - float(ldpkit.OGPM((0, 1), epsilon=epsilon).cdf(0.63, 0.79))
                assert box > kept + 1e-4
    with pytest.raises(ldpkit.errors.OutOfDomainError, match="20 values outside"):
        ldpkit.utility(model, rows, chosen, columns=names)
    rows[:, names.index("bmi")] = np.minimum(rows[:, names.index("bmi")], 1)
    for epsilon, average, worst in ((1.0, 0.7788, 0.303), (4.0, 0.9209, 0.473), (8.0, 0.9882, 0.549)):
        chosen = {each: MECHANISMS["OGPM"](epsilon) for each in ("age", "bmi")}
        found = ldpkit.utility(model, rows, chosen, columns=names)
        assert found.average.value == pytest.approx(average, abs=2e-4)
        assert found.worst.value == pytest.approx(worst, abs=1e-3)


@REAL
@pytest.mark.slow
def test_the_stroke_forest_is_that_of_200_000_draws():
    ensemble = pytest.importorskip("sklearn.ensemble")
    from sklearn.model_selection import train_test_split

    names, rows, labels = load_table("stroke_age", "stroke")
    train, _, known, _ = train_test_split(rows, labels, test_size=0.2, random_state=42, stratify=labels)
    forest = ensemble.RandomForestClassifier(random_state=42).fit(train, known)
    for epsilon, value in ((1.0, 0.622), (8.0, 0.985)):
        chosen = {each: MECHANISMS["OGPM"](epsilon) for each in ("age", "bmi")}
        exact = ldpkit.utility(forest, rows[4:5], chosen, columns=names)[0]
        assert exact.value == pytest.approx(value, abs=5e-4)
        drawn = ldpkit.utility(
            lambda x: forest.predict(x), rows[4:5], chosen, columns=names, draws=200_000, confidence=0.9999
        )[0]
        assert drawn.low <= exact.value <= drawn.high
