"""Dense networks with rectified units: what can be read of them, and how far rounding can move a score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.typing import Counts, Floats

__all__ = ["Network", "read_network"]


@dataclass(frozen=True, eq=False)
class Network:
    """Layers h -> max(h W + b, 0), the last one without the maximum.

    A single score means two classes, the second where it is above zero; with several, the
    class of the largest is predicted.

    Parameters
    ----------
    weights, biases : tuples of arrays
        One of each for a layer; weights have a row for each input.
    classes : array
        The labels.
    unit : float
        Half the spacing of the model's own floating-point numbers around 1.
    shifted : array or float
        What a scaler in front that was pulled back adds to the first layer and takes away again.

    Examples
    --------
    >>> network = Network((np.array([[1.0, -1.0]]), np.array([[1.0], [1.0]])), (np.zeros(2), np.zeros(1) - 1),
    ...     np.array([0, 1]))
    >>> network.scores(np.array([[-3.0], [0.5]])).tolist()          # |x| - 1
    [[2.0], [-0.5]]
    """

    weights: tuple[Floats, ...]
    biases: tuple[Floats, ...]
    classes: Any
    unit: float = 2.0**-53
    shifted: Floats | float = 0.0

    @property
    def finite(self) -> bool:
        """Whether all weights are numbers."""
        return all(bool(np.isfinite(each).all()) for each in (*self.weights, *self.biases))

    @property
    def features(self) -> int:
        """How many columns a row has."""
        return len(self.weights[0])

    def scores(self, rows: Floats) -> Floats:
        """Return the scores of rows."""
        held = rows
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            held = np.maximum(held @ weight + bias, 0)
        return np.asarray(held @ self.weights[-1] + self.biases[-1])

    def indices(self, rows: Floats) -> Counts:
        """Return the index of the class that each row has."""
        scores = self.scores(rows)
        return (scores[:, 0] > 0).astype(np.int64) if scores.shape[1] == 1 else scores.argmax(axis=1)

    def gap(self, rows: Floats) -> Floats:
        """Return how far the label of each row is ahead of the next."""
        scores = self.scores(rows)
        if scores.shape[1] == 1:
            return np.abs(scores[:, 0])
        top = np.partition(scores, -2, axis=1)
        return np.asarray(top[:, -1] - top[:, -2])

    def before(self, shift: Floats, scale: Floats) -> Network:
        """Return the network behind a scaler that makes (x - shift) / scale."""
        first = self.weights[0] / scale[:, None]
        moved = self.biases[0] - shift @ first
        return replace(
            self,
            weights=(first, *self.weights[1:]),
            biases=(moved, *self.biases[1:]),
            shifted=np.abs(shift) @ np.abs(first) + np.abs(self.biases[0]),
        )

    def differences(self, label: int) -> tuple[Floats, Floats]:
        """Return the last layer as scores that are all positive where a label is predicted."""
        weight, bias = self.weights[-1], self.biases[-1]
        if weight.shape[1] == 1:
            sign = 1.0 if label == 1 else -1.0
            return sign * weight, sign * bias
        others = [other for other in range(weight.shape[1]) if other != label]
        return weight[:, [label]] - weight[:, others], bias[label] - bias[others]

    @cached_property
    def _steps(self) -> float:
        """How many roundings a number goes through at most, input and output included."""
        return float(sum(len(weight) + 4 for weight in self.weights) + 4)

    def rounding(self, reach: Floats) -> Floats:
        """Return how far scores may be off, in the model's arithmetic and in ours, for inputs up to `reach`.

        Every path through the network is a product with `_steps` roundings at most, and the
        sum of all paths' sizes is the network of absolute values. Our own pieces are computed
        in 64 bits with a few more steps.
        """
        held = reach
        for place, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            held = held @ np.abs(weight) + np.abs(bias) + (self.shifted if place == 0 else 0.0)
        total = held.max(axis=1) * 2.0  # a difference of two scores
        return np.asarray(total * self._steps * 1.1 * (self.unit + 16 * 2.0**-53) + 1e-15)


def read_network(model: Any) -> Network | None:
    """Return the network of a scikit-learn classifier with rectified units, or of an ONNX file; else None."""
    network = getattr(model, "network", None)
    if isinstance(network, Network):
        return network
    from sklearn.neural_network import MLPClassifier

    if not isinstance(model, MLPClassifier) or model.activation != "relu":
        return None
    if model.out_activation_ == "logistic" and model.n_outputs_ != 1:  # several labels at once
        return None
    weights = tuple(np.asarray(each, np.float64) for each in model.coefs_)
    biases = tuple(np.asarray(each, np.float64) for each in model.intercepts_)
    return Network(weights, biases, model.classes_)
