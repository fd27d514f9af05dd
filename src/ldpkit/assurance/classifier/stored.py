"""Classifiers made of what a file holds, without the library that wrote it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ldpkit.assurance.classifier.networks import Network
from ldpkit.assurance.classifier.trees import Trees
from ldpkit.core.typing import Floats

__all__ = ["StoredNetwork", "StoredTrees"]


class StoredTrees:
    """Boosted trees from a file, as a classifier.

    Parameters
    ----------
    trees : Trees
        What was read.
    names : sequence of str, optional
        The names of the features, where the file has them.
    """

    def __init__(self, trees: Trees, names: Any = None) -> None:
        self.trees, self.classes_ = trees, np.asarray(trees.classes)
        self.n_features_in_ = len(trees.shift)
        _name(self, names)

    def predict(self, rows: Any) -> Any:
        """Return the label of each row."""
        best, _ = self.trees.decide(self.trees.scores(np.asarray(rows, np.float64)))
        return self.classes_[best]

    def predict_proba(self, rows: Any) -> Floats:
        """Return the probability of each label."""
        return _probabilities(self.trees.scores(np.asarray(rows, np.float64)).T)


class StoredNetwork:
    """A dense network from a file, as a classifier; it computes in 32 bits, as it was written.

    Parameters
    ----------
    network : Network
        What was read.
    """

    def __init__(self, network: Network) -> None:
        self.network, self.classes_ = network, np.asarray(network.classes)
        self.n_features_in_ = network.features

    def _scores(self, rows: Any) -> Floats:
        # The products of 32-bit numbers are exact in 64 bits; each layer's sums are rounded once.
        held = np.asarray(rows, np.float64).astype(np.float32).astype(np.float64)
        layers = list(zip(self.network.weights, self.network.biases, strict=True))
        for place, (weight, bias) in enumerate(layers):
            held = (held @ weight + bias).astype(np.float32).astype(np.float64)
            if place < len(layers) - 1:
                held = np.maximum(held, 0.0)
        return held

    def predict(self, rows: Any) -> Any:
        """Return the label of each row."""
        scores = self._scores(rows)
        best = (scores[:, 0] > 0).astype(np.int64) if scores.shape[1] == 1 else scores.argmax(axis=1)
        return self.classes_[best]

    def predict_proba(self, rows: Any) -> Floats:
        """Return the probability of each label."""
        return _probabilities(self._scores(rows))


def _name(model: Any, names: Any) -> None:
    """Keep the names of features, if there is one for each that somebody gave."""
    made_up = [f"Column_{place}" for place in range(model.n_features_in_)]  # by LightGBM, for an array
    if names is not None and len(names) == model.n_features_in_ and list(names) != made_up:
        model.feature_names_in_ = np.array([str(name) for name in names], object)


def _probabilities(scores: Floats) -> Floats:
    """Return the probability of each class from scores, one or one for each class."""
    if scores.shape[1] == 1:
        scores = np.concatenate([np.zeros_like(scores), scores], axis=1)
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))
