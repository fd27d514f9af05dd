"""Exact utilities against draws, enumeration and closed forms; and the published box as negative control.

Draws are compared at five standard errors: with some 200 comparisons a false alarm has a
chance below 2e-4, and seeds are fixed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ldpkit
from ldpkit.assurance.classifier.columns import as_private_column
from ldpkit.assurance.classifier.halfspace import half_space
from ldpkit.assurance.classifier.outputs import Outputs
from ldpkit.assurance.classifier.sections import Conic, section_probability
from ldpkit.core.errors import InvalidInputError, InvalidParameterError, UnknownNameError
from slow import slow

sklearn = pytest.importorskip("sklearn")

# Without it there is nothing to import, so that these come late.
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis  # noqa: E402
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.naive_bayes import GaussianNB  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import MinMaxScaler, StandardScaler  # noqa: E402
from sklearn.svm import LinearSVC  # noqa: E402
from sklearn.tree import DecisionTreeClassifier  # noqa: E402

DRAWS = 2000


def data(classes: int = 2, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    rows = rng.random((160, 4))
    score = rows @ np.array([2.0, -1.0, 0.7, 0.4]) + 0.3 * rng.normal(size=160) + np.sin(5 * rows[:, 0])
    edges = np.quantile(score, np.arange(1, classes) / classes)
    return rows, np.searchsorted(edges, score)


MODELS: dict[str, tuple[Any, int, str]] = {
    "logistic": (LogisticRegression(), 2, "half-space"),
    "scaled svm": (make_pipeline(StandardScaler(), LinearSVC()), 2, "half-space"),
    "three classes": (make_pipeline(MinMaxScaler(), LogisticRegression()), 3, "conic"),
    "naive bayes": (make_pipeline(StandardScaler(), GaussianNB()), 3, "conic"),
    "qda": (QuadraticDiscriminantAnalysis(), 2, "conic"),
    "tree": (make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=6)), 3, "boxes"),
    "forest": (RandomForestClassifier(12, max_depth=6, random_state=1), 2, "boxes"),
    "boosted": (GradientBoostingClassifier(n_estimators=12, random_state=1), 3, "boxes"),
    "callable": (None, 2, "drawn"),
}
WAYS: dict[str, Any] = {
    "ogpm": lambda epsilon: ldpkit.get("ogpm", (0, 1), epsilon=epsilon),
    "clipped laplace": lambda epsilon: ldpkit.Clipped(ldpkit.get("laplace", (0, 1), epsilon=epsilon)),
    "k-RR": lambda epsilon: ldpkit.NearestPoint(ldpkit.GRR(np.linspace(0, 1, 21), epsilon=epsilon)),
}


@pytest.mark.parametrize(
    ("name", "way"),
    [
        *((name, "ogpm") for name in MODELS),
        ("logistic", "clipped laplace"),
        ("qda", "clipped laplace"),
        ("forest", "k-RR"),
        *slow(*((name, way) for name in MODELS for way in WAYS if way != "ogpm")),
    ],
)
def test_the_exact_utility_is_that_of_draws(name: str, way: str) -> None:
    model, classes, method = MODELS[name]
    rows, labels = data(classes)
    some, chosen = rows[:12], {0: WAYS[way](2.0), 2: WAYS[way](3.0)}
    fitted: Any = (lambda x: (x[:, 0] > x[:, 2]).astype(int)) if model is None else model.fit(rows, labels)
    found = ldpkit.utility(fitted, some, chosen, rng=ldpkit.random.seeded(5), draws=DRAWS)
    if way == "k-RR":
        assert found.exact  # a model that cannot be read is asked about all points
    else:
        assert found.method == method
    ask = fitted if model is None else fitted.predict
    asked = ldpkit.utility(
        lambda x: ask(x),
        some,
        {0: WAYS["ogpm"](2.0), 2: WAYS["ogpm"](3.0)} if way == "ogpm" else chosen,
        rng=ldpkit.random.seeded(1),
        draws=DRAWS,
    )
    spread = np.sqrt(np.maximum(found.values * (1 - found.values), 1 / DRAWS) / DRAWS)
    tolerance = 1e-9 if asked.exact else 5 * spread * (1 if found.exact else 1.5) + found.highs - found.values
    assert (np.abs(found.values - asked.values) <= tolerance).all()
    assert ((found.lows <= found.values) & (found.values <= found.highs)).all()
    if found.exact:
        assert (found.highs - found.lows).max() < 1e-3


def test_only_the_sensitive_columns_are_perturbed_and_a_withheld_one_is_constant() -> None:
    rows, labels = data()
    model = LogisticRegression().fit(rows, labels)
    ogpm = ldpkit.get("ogpm", (0, 1), epsilon=2)
    one = ldpkit.utility(model, rows[:20], {0: ogpm})
    moved = rows[:20].copy()
    moved[:, 2] = 0.5
    both = ldpkit.utility(model, rows[:20], {0: ogpm, 2: ldpkit.Withheld(0.5)})
    same = model.predict(moved) == model.predict(rows[:20])
    alone = ldpkit.utility(model, moved, {0: ogpm})
    assert np.allclose(both.values, np.where(same, alone.values, 1 - alone.values), atol=2e-6)  # a cell
    assert both.epsilon == pytest.approx(one.epsilon)


def test_three_columns_have_bounds_that_enclose_the_truth() -> None:
    even = Outputs(np.array([[0.0, 1.0]]), np.ones((1, 1)), np.zeros(0), np.zeros((1, 0)))
    for limit, truth in ((1.0, 5 / 6), (1.5, 0.5), (2.5, 1 / 48)):  # Irwin and Hall
        value, low, high = half_space([1.0, 1.0, 1.0], np.array([-limit]), [even] * 3)
        assert low[0] <= truth <= high[0]
        assert high[0] - low[0] < 5e-4
        assert value[0] == pytest.approx(truth, abs=3e-4)
    rows, labels = data()
    model = LogisticRegression().fit(rows, labels)
    chosen = {place: WAYS["clipped laplace"](3.0) for place in (0, 1, 3)}
    found = ldpkit.utility(model, rows[:3], chosen)
    asked = ldpkit.utility(
        lambda x: model.predict(x),
        rows[:3],
        chosen,
        draws=8000,
        rng=ldpkit.random.seeded(2),
        confidence=0.9999,
    )
    assert found.method == "convolution"
    assert ((asked.lows <= found.highs) & (found.lows <= asked.highs)).all()


def test_a_tree_compares_numbers_of_32_bits() -> None:
    rows = np.array([[0.1], [0.1 + 1e-9]])
    model = DecisionTreeClassifier().fit(np.array([[0.1], [0.2]]), [0, 1])
    threshold = float(model.tree_.threshold[0])
    nearest = float(np.float32(threshold))
    step = float(np.spacing(np.float32(threshold)))
    points = sorted([nearest + share * step for share in (-0.6, -0.4, 0.0, 0.4, 0.6)])
    found = ldpkit.utility(model, rows[:1], {0: ldpkit.GRR([0.1, *points], epsilon=1)})
    chances = ldpkit.GRR(6, epsilon=1).channel().probabilities[0]
    truth = sum(
        float(chance)
        for chance, label in zip(chances, model.predict([[0.1], *([p] for p in points)]), strict=True)
        if label == 0
    )
    assert found.method == "boxes"
    assert found[0].value == pytest.approx(truth, abs=1e-12)


def test_the_circle_of_example_14() -> None:
    # -0.5 (x^2 + y^2) against -0.25 ((x-1)^2 + (y-1)^2) - ln 2: a circle around (-1, -1).
    circle = Conic(-0.25, 0.0, -0.25, -0.5, -0.5, 0.5 + np.log(2))
    radius = 2 * np.sqrt(np.log(2) + 1)
    assert abs(radius - np.hypot(1.5, 1.5)) == pytest.approx(0.4811, abs=5e-5)
    assert float(circle.at(np.array(0.5), np.array(0.5))) > 0
    even = Outputs(np.array([[0.0, 1.0]]), np.ones((1, 1)), np.zeros(0), np.zeros((1, 0)))
    value, low, high = section_probability([circle], [even, even], 0)
    points = (np.arange(1000) + 0.5) / 1000
    x, y = np.meshgrid(points, points)
    assert value == pytest.approx(float((np.hypot(x + 1, y + 1) < radius).mean()), abs=1e-4)
    assert high - low < 1e-5


def test_categories_and_numbers_together() -> None:
    rows, labels = data()
    rows[:, 1] = np.round(rows[:, 1])
    model = RandomForestClassifier(8, random_state=0).fit(rows, labels)
    chosen = {0: WAYS["ogpm"](2.0), 1: ldpkit.GRR([0, 1], epsilon=1)}
    found = ldpkit.utility(model, rows[:6], chosen)
    p = float(ldpkit.GRR([0, 1], epsilon=1).p)
    flipped = rows[:6].copy()
    flipped[:, 1] = 1 - flipped[:, 1]
    same = model.predict(flipped) == model.predict(rows[:6])
    other = ldpkit.utility(model, flipped, {0: chosen[0]})
    kept = ldpkit.utility(model, rows[:6], {0: chosen[0]}).values
    # With two classes, keeping the label of the raw record is losing the other one's.
    assert found.exact
    assert np.allclose(found.values, p * kept + (1 - p) * np.where(same, other.values, 1 - other.values))


def test_what_cannot_be_asked_is_refused() -> None:
    rows, labels = data()
    model = LogisticRegression().fit(rows, labels)
    ogpm = ldpkit.get("ogpm", (0, 1), epsilon=1)
    with pytest.raises(UnknownNameError, match="unknown column 'aeg': did you mean age"):
        ldpkit.utility(model, rows, {"aeg": ogpm}, columns=["age", "b", "c", "d"])
    with pytest.raises(InvalidInputError, match="takes 4 features"):
        ldpkit.utility(model, rows[:, :3], {0: ogpm})
    with pytest.raises(InvalidParameterError, match="at least one"):
        ldpkit.utility(model, rows, {})
    bad = rows.copy()
    bad[7, 2] = np.nan
    with pytest.raises(InvalidInputError, match="row 7 has no number in column 2"):
        ldpkit.utility(model, bad, {0: ogpm})
    many = ldpkit.utility(
        QuadraticDiscriminantAnalysis().fit(rows, labels), rows[:2], {0: ogpm, 1: ogpm, 2: ogpm}, draws=50
    )
    assert not many.exact
    assert any("takes 2 sensitive columns at most, and there are 3" in note for note in many.notes())


def test_a_result_is_a_record_like_all_others() -> None:
    rows, labels = data()
    found = ldpkit.utility(LogisticRegression().fit(rows, labels), rows[:30], {0: WAYS["ogpm"](2.0)})
    assert found.average.value == pytest.approx(float(found.values.mean()))
    assert found.worst.value == found.values.min()
    assert found.rows(1)[0]["utility"] == found.worst.value
    assert found.to_dict()["about"]["exact"] is True
    assert "at worst" in repr(found)
    pytest.importorskip("matplotlib")
    assert found.figure().axes[0].get_xlabel()


def test_as_private_column_takes_what_it_made() -> None:
    column = as_private_column(ldpkit.Withheld(0.2))
    assert as_private_column(column) is column


def test_reports_are_the_middles_of_cells() -> None:
    # With 16 places a report is one of 32 numbers: spreading them evenly is far off, counting them is not.
    coarse = ldpkit.OGPM((0, 1), epsilon=2, grid=16)
    reports, chances = np.arange(coarse.cells), coarse.law(coarse.grid // 2).row(coarse.cells)
    numbers = coarse.values_of(reports.astype(coarse.report_dtype))
    for limit in (0.3, float(numbers[9]), float(np.nextafter(numbers[9], 1)), 0.77):
        truth = float(sum(chance for number, chance in zip(numbers, chances, strict=True) if number <= limit))
        line = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
        line.coef_, line.intercept_ = np.array([[1.0]]), np.array([-limit])
        exact = ldpkit.utility(line, [[0.5]], {0: coarse})
        kept = truth if line.predict([[0.5]])[0] == 0 else 1 - truth
        assert exact[0].low - 1e-12 <= kept <= exact[0].high + 1e-12
        near = np.isclose(numbers, limit, rtol=1e-15).any()  # rounding of the score may decide
        assert near or exact[0].high - exact[0].low < 1e-9
    both = {0: coarse, 1: coarse}
    flat = LogisticRegression().fit([[0.0, 0.0], [1.0, 1.0]], [0, 1])
    flat.coef_, flat.intercept_ = np.array([[1.0, 0.7]]), np.array([-0.9])
    found = ldpkit.utility(flat, [[0.5, 0.5]], both)
    grid = np.add.outer(numbers, 0.7 * numbers) - 0.9 > 0
    weights = np.array([float(chance) for chance in chances])
    above = float(weights @ grid @ weights)
    truth = above if flat.predict([[0.5, 0.5]])[0] == 1 else 1 - above
    assert found[0].low <= truth <= found[0].high
    assert abs(found[0].value - truth) > 1e-4  # what would be claimed without the cells' own allowance


def test_a_point_on_the_boundary_may_fall_on_either_side() -> None:
    model = LogisticRegression().fit([[0.0, 0.0], [1.0, 1.0]], [0, 1])
    model.coef_, model.intercept_ = np.array([[1.0, 1.0]]), np.array([-1.0])
    grid = [step / 100 for step in range(101)]
    records = np.array([[0.1, 0.9], [0.29, 0.71], [0.57, 0.43]])
    found = ldpkit.utility(model, records, {0: ldpkit.GRR(grid, epsilon=1), 1: ldpkit.GRR(grid, epsilon=1)})
    channel = np.array(
        [[float(p) for p in row] for row in ldpkit.GRR(101, epsilon=1).channel().probabilities]
    )
    points = np.array([(x, y) for x in grid for y in grid])
    told = model.predict(points).reshape(101, 101)
    for row, record in enumerate(records):
        first, second = (channel[round(100 * value)] for value in record)
        truth = float(first @ (told == model.predict([record])[0]) @ second)
        assert found.lows[row] <= truth <= found.highs[row]


def test_degenerate_models_are_read_or_asked() -> None:
    rows, labels = data()
    one = DecisionTreeClassifier().fit(rows, np.zeros(len(rows)))
    assert (
        ldpkit.utility(one, rows[:3], {0: WAYS["ogpm"](1.0), 1: WAYS["ogpm"](1.0)}).values.tolist() == [1] * 3
    )
    stump = DecisionTreeClassifier(max_depth=1).fit(rows, rows[:, 3] > 0.5)
    assert ldpkit.utility(stump, rows[:3], {0: WAYS["ogpm"](1.0), 3: WAYS["ogpm"](1.0)}).exact
    model = LogisticRegression().fit(rows, labels)
    model.coef_, model.intercept_ = np.zeros((1, 4)), np.zeros(1)
    found = ldpkit.utility(model, rows[:3], {0: WAYS["ogpm"](1.0)})
    assert (found.lows.tolist(), found.highs.tolist()) == ([1] * 3, [1] * 3)
    model.coef_ = np.array([[5e-324, 0, 0, 0]])  # products that vanish
    found = ldpkit.utility(model, rows[:3], {0: WAYS["ogpm"](1.0)})
    assert found.lows.max() < 0.5 < found.highs.min()
    model.coef_ = np.array([[np.nan, 0, 0, 0]])
    found = ldpkit.utility(model, rows[:3], {0: WAYS["ogpm"](1.0)}, draws=20)
    assert not found.exact
    assert "not finite numbers" in found.reason
    with pytest.raises(InvalidInputError, match="gave no label"):
        ldpkit.utility(lambda x: np.full(len(x), np.nan), rows[:3], {0: WAYS["ogpm"](1.0)})
