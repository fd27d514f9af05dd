"""Metrics against hand examples, SciPy and their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import ldpkit
from ldpkit.core.errors import InvalidInputError, InvalidParameterError, PluginError, UnknownNameError
from ldpkit.core.registry import Registry
from ldpkit.simulation import metrics
from ldpkit.simulation.metrics import METRICS, Metric, metric, metric_for
from ldpkit.simulation.metrics.divergence import SMOOTHING
from ldpkit.simulation.metrics.transport import emd_with_distances

SHIPPED = {
    "l1": False,
    "mae": False,
    "l2": False,
    "mse": False,
    "rmse": False,
    "max_error": False,
    "kl": False,
    "emd": False,
    "kendall_tau": True,
    "topk_precision": True,
    "topk_recall": True,
}


def pairs(
    size: tuple[int, int] = (2, 8), least: float = 0.0
) -> st.SearchStrategy[tuple[np.ndarray, np.ndarray]]:
    """A truth that is positive somewhere, and a batch of estimates."""
    numbers = st.floats(-2, 2, allow_subnormal=False).map(lambda x: round(x, 3))
    return st.integers(*size).flatmap(
        lambda k: st.tuples(
            hnp.arrays(float, k, elements=st.integers(0, 20).map(float)).map(
                lambda a: a + least + (a.sum() == 0)
            ),
            hnp.arrays(float, (3, k), elements=numbers),
        )
    )


# The registry


def test_shipped_metrics_and_their_facts() -> None:
    known = dict(METRICS.items())
    assert {name: known[name].larger_is_better for name in SHIPPED} == SHIPPED
    for name in SHIPPED:
        assert known[name].name == name
        assert known[name].title
        assert known[name].__doc__


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("mean_absolute_error", "mae"),
        ("MAE", "mae"),
        ("kl-divergence", "kl"),
        ("wasserstein", "emd"),
        ("precision_at_k", "topk_precision"),
        ("recall_at_k", "topk_recall"),
        ("tau", "kendall_tau"),
    ],
)
def test_aliases(alias: str, name: str) -> None:
    assert metric_for(alias).name == name


def test_a_decorated_function_is_a_metric(monkeypatch: pytest.MonkeyPatch) -> None:
    own: Registry[Metric] = Registry("metric")
    monkeypatch.setattr(metrics, "METRICS", own)

    @metric("bias", "mean_error", title="mean error", unit="frequency", citation="nobody, never")
    def bias(truth: np.ndarray, estimates: np.ndarray) -> np.ndarray:
        """Return the mean error."""
        return (estimates - truth).mean(1)

    made = metric_for("mean_error")
    assert made is bias
    assert (made.name, made.title, made.larger_is_better, made.at) == ("bias", "mean error", False, None)
    assert made.__doc__ == "Return the mean error."
    assert made([0.5, 0.5], [[0.7, 0.7]]).tolist() == pytest.approx([0.2])
    with pytest.raises(PluginError, match="taken"):

        @metric("bias")
        def another(truth: np.ndarray, estimates: np.ndarray) -> np.ndarray:
            return estimates[:, 0]


def test_numbers_in_names() -> None:
    found = metric_for("topk_precision@20")
    assert (found.name, found.at, found.title) == ("topk_precision@20", 20, "top-k precision, k = 20")
    assert metric_for("recall_at_k@3").name == "topk_recall@3"
    assert metric_for("topk_recall").at == 10


@pytest.mark.parametrize(
    "name", ["topk_recall@", "topk_recall@x", "topk_recall@-1", "topk_recall@1.5", "topk_recall@²"]
)
def test_bad_numbers_in_names(name: str) -> None:
    with pytest.raises(InvalidParameterError, match="whole number"):
        metric_for(name)


def test_other_bad_names() -> None:
    with pytest.raises(InvalidParameterError, match="at least 1"):
        metric_for("topk_recall@0")
    with pytest.raises(InvalidParameterError, match="takes no number"):
        metric_for("mae@3")
    with pytest.raises(UnknownNameError, match="did you mean mae"):
        metric_for("maee")
    with pytest.raises(UnknownNameError, match="topk_recall"):
        metric_for("topk_recal@3")
    with pytest.raises(InvalidParameterError, match="is text"):
        metric_for(3)  # type: ignore[arg-type]  # the mistake under test


# Input


@pytest.mark.parametrize(
    ("truth", "estimates", "message"),
    [
        ([0.5, 0.5], [0.5, 0.5], r"shape \(batch, 2\), got \(2,\): write estimates\[None, :\]"),
        ([0.5, 0.5], [[0.5, 0.3, 0.2]], r"shape \(batch, 2\), got \(1, 3\)"),
        ([[0.5, 0.5]], [[0.5, 0.5]], r"truth must have shape \(k,\)"),
        ([], [[]], r"truth must have shape \(k,\)"),
        ([0.5, np.nan], [[0.5, 0.5]], r"truth must be finite, got nan at position \(1,\)"),
        ([0.5, 0.5], [[0.5, 0.5], [np.inf, 0]], r"estimates must be finite, got inf at position \(1, 0\)"),
        (["a", "b"], [[0.5, 0.5]], "arrays of numbers"),
        ([0.5, 0.5], [[0.5], [0.5, 0.5]], "arrays of numbers"),
    ],
)
def test_wrong_input_is_refused(truth: object, estimates: object, message: str) -> None:
    for name in SHIPPED:
        with pytest.raises(InvalidInputError, match=message):
            metric_for(name)(truth, estimates)  # type: ignore[arg-type]  # the mistake under test


@pytest.mark.parametrize("name", SHIPPED)
def test_empty_batch_and_no_side_effects(name: str) -> None:
    truth = np.linspace(1, 2, 12)
    batch = np.tile(truth[::-1], (2, 1))
    truth.setflags(write=False)
    batch.setflags(write=False)
    assert metric_for(name)(truth, batch[:0]).shape == (0,)
    assert metric_for(name)(truth, batch).shape == (2,)


@pytest.mark.parametrize("name", ["kl", "emd"])
@pytest.mark.parametrize("truth", [[0.5, -0.1], [0.0, 0.0]])
def test_a_truth_that_is_no_distribution_is_refused(name: str, truth: list[float]) -> None:
    with pytest.raises(InvalidInputError, match="not negative, and not all zero"):
        metric_for(name)(truth, [[0.5, 0.5]])


# Distances


def test_distances_by_hand() -> None:
    """The example of the errata: truth (5, 4, 3), estimate (4, 6, 3.5)."""
    expected = {"l1": 3.5, "mae": 3.5 / 3, "l2": 2.291288, "mse": 1.75, "rmse": 1.322876, "max_error": 2.0}
    for name, value in expected.items():
        assert metric_for(name)([5, 4, 3], [[4, 6, 3.5]])[0] == pytest.approx(value, abs=5e-7), name
    as_optimus_writes_it = metric_for("l2")([5, 4, 3], [[4, 6, 3.5]])[0] / 3
    assert as_optimus_writes_it == pytest.approx(0.763763, abs=5e-7)


@given(pair=pairs())
@settings(max_examples=60, deadline=None)
def test_distances_agree_with_each_other(pair: tuple[np.ndarray, np.ndarray]) -> None:
    truth, batch = pair
    size = len(truth)
    values = {
        name: metric_for(name)(truth, batch) for name in ("l1", "mae", "l2", "mse", "rmse", "max_error")
    }
    np.testing.assert_allclose(values["mae"] * size, values["l1"])
    np.testing.assert_allclose(values["rmse"] ** 2, values["mse"], atol=1e-12)
    np.testing.assert_allclose(values["l2"], values["rmse"] * np.sqrt(size), atol=1e-12)
    assert (values["max_error"] <= values["l2"] + 1e-9).all()
    assert (values["l2"] <= values["l1"] + 1e-9).all()


@pytest.mark.parametrize("name", [name for name, larger in SHIPPED.items() if not larger])
@given(pair=pairs())
@settings(max_examples=20, deadline=None)
def test_errors_are_zero_at_the_truth_and_never_negative(
    name: str, pair: tuple[np.ndarray, np.ndarray]
) -> None:
    truth, batch = pair
    assert metric_for(name)(truth, truth[None, :])[0] == pytest.approx(0, abs=1e-12)
    assert (metric_for(name)(truth, batch) >= 0).all()


# Kullback-Leibler divergence


def test_kl_by_hand_and_the_right_way_round() -> None:
    truth, estimate = np.array([0.9, 0.1]), np.array([0.5, 0.5])
    right = 0.9 * np.log(1.8) + 0.1 * np.log(0.2)
    wrong = 0.5 * np.log(5 / 9) + 0.5 * np.log(5)
    value = metric_for("kl")(truth, estimate[None, :])[0]
    assert value == pytest.approx(right, abs=3e-6)
    assert abs(value - wrong) > 0.1, "the negative control must fail: KL(estimate || truth)"


def test_kl_is_finite_where_the_estimate_misses_a_value() -> None:
    value = metric_for("kl")([0.25] * 4, [[1 / 3, 1 / 3, 1 / 3, -0.1]])[0]
    missed = 0.25 * np.log(0.25 * 4 / SMOOTHING)
    assert value == pytest.approx(0.75 * np.log(0.75) + missed, abs=1e-5)


def test_kl_normalises_and_calls_nothing_uniform() -> None:
    kl = metric_for("kl")
    np.testing.assert_allclose(kl([30, 10], [[3, 1], [0.3, 0.1]]), 0, atol=1e-12)
    assert kl([0.75, 0.25], [[-1, 0]])[0] == kl([0.75, 0.25], [[0.5, 0.5]])[0]


@given(pair=pairs(least=1.0))
@settings(max_examples=60, deadline=None)
def test_kl_never_exceeds_the_unsmoothed_divergence(pair: tuple[np.ndarray, np.ndarray]) -> None:
    from scipy.stats import entropy

    truth, batch = pair
    positive = np.abs(batch) + 0.01
    exact = np.array([entropy(truth, row) for row in positive])
    smooth = metric_for("kl")(truth, positive)
    assert (smooth <= exact + 1e-12).all()
    np.testing.assert_allclose(smooth, exact, atol=1e-3)


# Earth mover's distance


def test_emd_by_hand() -> None:
    emd = metric_for("emd")
    assert emd([1, 0, 0], [[0, 0, 1], [0.5, 0.5, -0.1], [1, 0, 0]]).tolist() == [2.0, 0.5, 0.0]
    assert emd([0.5, 0, 0.5], [[-1, 0, -1]])[0] == pytest.approx(1 / 3)  # nothing positive: uniform


@given(pair=pairs())
@settings(max_examples=25, deadline=None)
def test_emd_is_the_linear_program_and_scipys_distance(pair: tuple[np.ndarray, np.ndarray]) -> None:
    from scipy.stats import wasserstein_distance

    truth, batch = pair
    places = np.arange(len(truth))
    positive = np.maximum(batch, 0)
    positive[positive.sum(1) == 0] = 1
    value = metric_for("emd")(truth, batch)
    np.testing.assert_allclose(
        value, [wasserstein_distance(places, places, truth, row) for row in positive], atol=1e-9
    )
    program = emd_with_distances(truth, batch, np.abs(places[:, None] - places))
    np.testing.assert_allclose(value, program, atol=1e-7)


def test_emd_with_equal_distances_is_total_variation() -> None:
    generator = ldpkit.random.seeded(4).generator()
    truth, batch = generator.dirichlet(np.ones(7)), generator.dirichlet(np.ones(7), 3)
    value = emd_with_distances(truth, batch, 1 - np.eye(7))
    np.testing.assert_allclose(value, np.abs(batch - truth).sum(1) / 2, atol=1e-9)
    assert np.abs(value - metric_for("emd")(truth, batch)).max() > 0.05, "the negative control must fail"


@pytest.mark.parametrize(
    ("distances", "message"),
    [
        ([[0, 1, 2]], r"shape \(2, 2\), got \(1, 3\)"),
        ([[0, -1], [1, 0]], "finite and not negative"),
        ([[0, np.nan], [1, 0]], "finite and not negative"),
        ("far", "array of numbers"),
    ],
)
def test_bad_distances(distances: object, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        emd_with_distances([0.5, 0.5], [[0.5, 0.5]], distances)  # type: ignore[arg-type]  # the mistake under test


# Kendall's tau


def test_tau_with_ties_does_not_depend_on_the_order_of_items() -> None:
    """The example of the errata: tau-b is 0.632456 either way, the rule of Optimus gives 0.6 and 0.2."""
    tau = metric_for("kendall_tau")
    truth, estimate = np.array([0, 0, 0, 0, 9]), np.array([[1, 2, 3, 4, 5]])
    assert tau(truth, estimate)[0] == pytest.approx(0.632456, abs=5e-7)
    assert tau(truth[::-1], estimate[:, ::-1])[0] == pytest.approx(0.632456, abs=5e-7)


def test_tau_of_no_order_is_zero() -> None:
    tau = metric_for("kendall_tau")
    assert tau([1, 1, 1], [[1, 2, 3]]).tolist() == [0.0]
    assert tau([1, 2, 3], [[2, 2, 2], [1, 2, 3], [3, 2, 1]]).tolist() == pytest.approx([0, 1, -1])


def tau_b_by_pairs(x: np.ndarray, y: np.ndarray) -> float:
    sign_x, sign_y = np.sign(x[:, None] - x), np.sign(y[:, None] - y)
    untied = np.sqrt((sign_x**2).sum() * (sign_y**2).sum())
    return float((sign_x * sign_y).sum() / untied) if untied else 0.0


@given(pair=pairs())
@settings(max_examples=60, deadline=None)
def test_tau_is_tau_b(pair: tuple[np.ndarray, np.ndarray]) -> None:
    truth, batch = pair
    batch = batch.round(0)  # many ties
    expected = [tau_b_by_pairs(truth, row) for row in batch]
    np.testing.assert_allclose(metric_for("kendall_tau")(truth, batch), expected, atol=1e-12)


# Top k


@pytest.mark.parametrize(
    ("truth", "estimate", "at", "precision", "recall"),
    [
        ([4, 3, 2, 1], [5, 1, 4, 0], 2, 1 / 2, 1 / 2),
        ([4, 3, 2, 1], [9, 8, 0, 0], 2, 1, 1),
        ([4, 3, 2, 1], [0.1, 0.2, 3, 4], 2, 0, 0),
        ([4, 3, 3, 1], [5, 1, 4, 0], 2, 1, 2 / 3),  # three values are the true top two
        ([4, 3, 2, 1], [5, 1, 1, 1], 2, 2 / 3, 2 / 3),  # one place, drawn among three: 1 + 1/3 hits
        ([4, 3, 2, 1], [5, -1, 0, -1], 2, 1, 1 / 2),  # only one value is positive, so one is listed
        ([4, 3, 2, 1], [-1, -1, 0, -1], 2, 0, 0),
        ([4, 0, 0, 0], [5, 1, 4, 0], 2, 1 / 2, 1),  # zeros are never the true top
        ([0, 0, 0, 0], [5, 1, 4, 0], 2, 0, 1),
    ],
)
def test_top_k_by_hand(
    truth: list[int], estimate: list[float], at: int, precision: float, recall: float
) -> None:
    assert metric_for(f"topk_precision@{at}")(truth, [estimate])[0] == pytest.approx(precision)
    assert metric_for(f"topk_recall@{at}")(truth, [estimate])[0] == pytest.approx(recall)


def test_top_k_is_ten_by_default() -> None:
    truth = np.arange(20.0, 0, -1)
    estimate = truth.copy()
    estimate[[0, 15]] = estimate[[15, 0]]
    assert metric_for("topk_precision")(truth, estimate[None, :]).tolist() == [0.9]
    assert metric_for("topk_precision@16")(truth, estimate[None, :]).tolist() == [1.0]


def test_top_k_of_too_few_values() -> None:
    with pytest.raises(
        InvalidInputError, match=r"needs at least 10 values, the domain has 3: use topk_recall@3"
    ):
        metric_for("topk_recall")([1, 2, 3], [[1, 2, 3]])


@given(pair=pairs((4, 9)), order=st.permutations(range(9)), at=st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_top_k_does_not_depend_on_the_order_of_items(
    pair: tuple[np.ndarray, np.ndarray], order: list[int], at: int
) -> None:
    truth, batch = pair
    batch = batch.round(0)
    moved = [place for place in order if place < len(truth)]
    for name in (f"topk_precision@{at}", f"topk_recall@{at}"):
        value = metric_for(name)(truth, batch)
        np.testing.assert_allclose(metric_for(name)(truth[moved], batch[:, moved]), value, atol=1e-12)
        assert ((value >= 0) & (value <= 1 + 1e-12)).all()
