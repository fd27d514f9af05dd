"""Networks: polygons against draws and by hand, certified boxes, and files of ONNX.

Draws are compared at five standard errors with fixed seeds: with some 60 comparisons a false
alarm has a chance below 5e-5.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ldpkit
from ldpkit.assurance.classifier.cells import CellList
from ldpkit.assurance.classifier.loading import load_model
from ldpkit.assurance.classifier.networks import Network
from ldpkit.assurance.classifier.outputs import Outputs
from ldpkit.assurance.classifier.polygons import polygon_masses
from ldpkit.assurance.classifier.stored import StoredNetwork
from ldpkit.core.errors import FileFormatError, InvalidInputError, InvalidParameterError
from slow import slow

pytest.importorskip("sklearn")

from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

DRAWS = 3000
WAYS: dict[str, Any] = {
    "ogpm": lambda: ldpkit.get("ogpm", (0, 1), epsilon=2),
    "truncated laplace": lambda: ldpkit.get("truncated_laplace", (0, 1), epsilon=2),
    "hm": lambda: ldpkit.get("hm", (0, 1), epsilon=2),
    "k-RR": lambda: ldpkit.NearestPoint(ldpkit.GRR(np.linspace(0, 1, 9), epsilon=2)),
}


def fitted(hidden: tuple[int, ...], classes: int = 2) -> tuple[Any, Any]:
    rng = np.random.default_rng(4)
    rows = rng.random((120, 4))
    score = np.sin(6 * rows[:, 0]) + 2 * rows[:, 1] ** 2 + 0.5 * rows[:, 2]
    labels = np.searchsorted(np.quantile(score, np.arange(1, classes) / classes), score)
    model = MLPClassifier(hidden, solver="lbfgs", max_iter=60, random_state=1)
    return make_pipeline(StandardScaler(), model).fit(rows, labels), rows


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("hidden", "classes", "columns", "ways"),
    [
        ((8,), 2, (0,), ("ogpm",)),
        ((12,), 2, (0, 1), ("ogpm", "ogpm")),
        ((6, 5), 3, (0, 2), ("truncated laplace", "ogpm")),
        ((), 3, (1, 2), ("hm", "k-RR")),
        *slow(
            ((40, 20), 2, (0, 1), ("hm", "truncated laplace")),
            ((60,), 4, (0, 1), ("k-RR", "ogpm")),
            ((10, 10, 10), 3, (1, 2), ("ogpm", "hm")),
        ),
    ],
)
def test_polygons_are_what_draws_say(hidden: Any, classes: int, columns: Any, ways: Any) -> None:
    model, rows = fitted(hidden, classes)
    chosen = {column: WAYS[way]() for column, way in zip(columns, ways, strict=True)}
    found = ldpkit.utility(model, rows[:8], chosen)
    assert (found.method, found.exact) == ("polygons", True)
    assert (found.highs - found.lows).max() < 2e-4
    asked = ldpkit.utility(
        lambda x: model.predict(x), rows[:8], chosen, draws=DRAWS, rng=ldpkit.random.seeded(3)
    )
    spread = np.sqrt(np.maximum(found.values * (1 - found.values), 1 / DRAWS) / DRAWS)
    assert (np.abs(found.values - asked.values) <= 5 * spread + 1e-9).all()


def test_a_network_by_hand() -> None:
    # 1 where max(x, 0) + max(y, 0) > 1: on the square of reports in [0, 1], a triangle.
    network = Network((np.eye(2), np.ones((2, 1))), (np.zeros(2), -np.ones(1)), np.array([0, 1]))
    even = [ldpkit.get("ogpm", (0, 1), epsilon=0.001)] * 2  # nearly even reports
    found = ldpkit.utility(StoredNetwork(network), [[0.9, 0.9], [0.1, 0.1]], dict(enumerate(even)))
    assert found.values == pytest.approx(0.5, abs=2e-3)
    linear = ldpkit.utility(lambda x: (x.sum(axis=1) > 1).astype(int), [[0.9, 0.9]], dict(enumerate(even)))
    assert linear.lows[0] <= found.values[0] <= linear.highs[0]


def test_the_mass_of_polygons_adds_up() -> None:
    rng = np.random.default_rng(2)
    edges = np.sort(rng.random((2, 6)), axis=1)
    laws = [Outputs(edges[[axis]], np.full((1, 5), 0.2), np.zeros(0), np.zeros((1, 0))) for axis in (0, 1)]
    middle, ring = rng.uniform(0.2, 0.8, 2), np.array([[0, 0], [1, 0], [1, 1], [0, 1]], float)
    parts = np.stack([np.array([ring[side], ring[(side + 1) % 4], middle]) for side in range(4)])
    masses = polygon_masses(CellList(np.zeros(4, np.int64), parts), laws, 1)
    assert masses[0] == pytest.approx(1, abs=1e-12)
    points = [np.interp(rng.random(200_000), np.linspace(0, 1, 6), edges[axis]) for axis in (0, 1)]
    one = polygon_masses(CellList(np.zeros(1, np.int64), parts[:1]), laws, 1)[0]
    a, b, c = parts[0]
    turns = [
        (q[0] - p[0]) * (points[1] - p[1]) - (q[1] - p[1]) * (points[0] - p[0])
        for p, q in ((a, b), (b, c), (c, a))
    ]
    assert one == pytest.approx(float((np.min(turns, axis=0) > 0).mean()), abs=0.006)  # five errors


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_certified_box_is_below_the_truth_and_touches_the_boundary() -> None:
    model, rows = fitted((8,))
    chosen = {column: WAYS["ogpm"]() for column in (0, 1, 2)}
    box = ldpkit.certified_box(model, rows[:1], chosen)
    drawn = ldpkit.utility(model, rows[:1], chosen, draws=DRAWS, confidence=0.99999)
    assert not drawn.exact
    assert any("certified_box" in note for note in drawn.notes())
    assert 0 < box.bound(chosen) <= drawn.highs[0]
    assert box.share > 0.9
    corners = np.array(np.meshgrid(*zip(box.low, box.high, strict=True))).reshape(3, -1).T
    inside = np.repeat(rows[:1], 2000, axis=0)
    inside[:, :3] = np.random.default_rng(1).uniform(box.low, box.high, (2000, 3))
    inside[: len(corners), :3] = corners
    assert len(set(model.predict(inside))) == 1
    # A box half as large again is not certified: the check does fail.
    wide = np.repeat(rows[:1], 4000, axis=0)
    centre, low, high = (np.array(each) for each in (box.record, box.low, box.high))
    wide[:, :3] = np.random.default_rng(1).uniform(
        centre + 1.5 * (low - centre), centre + 1.5 * (high - centre), (4000, 3)
    )
    assert len(set(model.predict(wide))) > 1
    with pytest.raises(InvalidInputError, match="around one record"):
        ldpkit.certified_box(model, rows[:2], chosen)
    with pytest.raises(InvalidParameterError, match="robust_box takes any model"):
        ldpkit.certified_box(lambda x: x[:, 0] > 0, rows[:1], chosen)


def test_the_solver_gets_indices_of_32_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    from scipy import optimize

    solve, kinds = optimize.milp, list[Any]()

    def watched(*args: Any, constraints: Any, **options: Any) -> Any:
        kinds.extend([constraints.A.indices.dtype, constraints.A.indptr.dtype])
        return solve(*args, constraints=constraints, **options)

    monkeypatch.setattr(optimize, "milp", watched)
    weights = np.array([[1.0, -1.0]]), np.array([[1.0], [1.0]])
    network = Network(weights, (np.zeros(2), np.zeros(1) - 0.5), np.array([0, 1]))
    ldpkit.certified_box(StoredNetwork(network), [[0.1]], {0: ldpkit.OGPM((-1, 1), epsilon=2)})
    assert set(kinds) == {np.dtype(np.int32)}  # the SciPy of before 1.15 refuses others


def onnx_file(path: Path, *, op: str = "Relu") -> Network:
    """Write a network with a scaler in front, and return what it should be."""
    onnx = pytest.importorskip("onnx")
    helper, to_tensor = onnx.helper, onnx.numpy_helper.from_array
    rng = np.random.default_rng(5)
    arrays = {
        "shift": rng.normal(size=3),
        "w": rng.normal(size=(5, 3)),
        "b": rng.normal(size=5),
        "v": rng.normal(size=(5, 1)),
        "c": rng.normal(size=1),
    }
    arrays = {name: value.astype(np.float32) for name, value in arrays.items()}
    nodes = [
        helper.make_node("Sub", ["x", "shift"], ["moved"]),
        helper.make_node("Gemm", ["moved", "w", "b"], ["sums"], transB=1),
        helper.make_node(op, ["sums"], ["held"]),
        helper.make_node("MatMul", ["held", "v"], ["raw"]),
        helper.make_node("Add", ["raw", "c"], ["score"]),
        helper.make_node("Sigmoid", ["score"], ["p"]),
    ]
    graph = helper.make_graph(
        nodes,
        "network",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [None, 3])],
        [helper.make_tensor_value_info("p", onnx.TensorProto.FLOAT, [None, 1])],
        [to_tensor(value, name) for name, value in arrays.items()],
    )
    path.write_bytes(helper.make_model(graph).SerializeToString())
    w, b = arrays["w"].astype(float), arrays["b"].astype(float)
    return Network(
        (w.T, arrays["v"].astype(float)),
        (b - arrays["shift"].astype(float) @ w.T, arrays["c"].astype(float)),
        np.arange(2),
    )


def test_a_network_from_onnx_is_read_and_nothing_else_is(tmp_path: Path) -> None:
    expected = onnx_file(tmp_path / "a.onnx")
    model = load_model(tmp_path / "a.onnx")
    rows = np.random.default_rng(6).random((50, 3))
    assert (model.predict(rows) == expected.indices(rows)).all()
    scores = expected.scores(rows)[:, 0]
    assert np.allclose(model.predict_proba(rows)[:, 1], 1 / (1 + np.exp(-scores)), atol=1e-5)
    found = ldpkit.utility(model, rows[:5], {0: WAYS["ogpm"](), 2: WAYS["ogpm"]()})
    assert found.method == "polygons"
    onnx_file(tmp_path / "b.onnx", op="Tanh")
    with pytest.raises(InvalidInputError, match="a node 'Tanh', which ldpkit does not support"):
        load_model(tmp_path / "b.onnx")
    whole = (tmp_path / "a.onnx").read_bytes()
    (tmp_path / "c.onnx").write_bytes(whole[:60])
    with pytest.raises((FileFormatError, InvalidInputError)):
        load_model(tmp_path / "c.onnx")


def test_weights_that_are_no_numbers_are_only_asked() -> None:
    network = Network((np.array([[np.nan]]),), (np.zeros(1),), np.array([0, 1]))
    found = ldpkit.utility(StoredNetwork(network), [[0.5]], {0: WAYS["ogpm"]()}, draws=50)
    assert not found.exact
    assert "not finite" in found.reason
