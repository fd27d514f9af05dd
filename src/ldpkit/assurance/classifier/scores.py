"""Models that can be read as scores: linear and quadratic functions of the features.

A model with one score has two classes, the second where the score is above zero; a model
with several predicts the class of the largest. Scalers in front are pulled back, so that
scores are functions of what the user has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldpkit.assurance.classifier.halfspace import half_space
from ldpkit.assurance.classifier.outputs import Outputs
from ldpkit.assurance.classifier.sections import Conic, section_probability
from ldpkit.core.typing import Counts, Floats

__all__ = ["MOST_CURVED", "ScoreRegions", "Scores", "read_scores"]

MOST_CURVED = 2
"""So many privatized columns at most for regions that are not half-spaces."""


@dataclass(frozen=True, eq=False)
class Scores:
    """The functions x Q x + w x + c of a model, one or one for each class.

    Parameters
    ----------
    quadratic : array, scores x features x features
        Symmetric matrices, all zero for a linear model.
    linear : array, scores x features
        The weights.
    constant : array
        One number for each score.
    classes : array
        The labels, two for a single score.
    shifted : array, optional
        What scalers that were pulled back add and take away again in each score: rounding grows with it.
    """

    quadratic: Floats
    linear: Floats
    constant: Floats
    classes: Any
    shifted: Floats | float = 0.0

    @property
    def finite(self) -> bool:
        """Whether all coefficients are numbers."""
        return all(bool(np.isfinite(each).all()) for each in (self.quadratic, self.linear, self.constant))

    @property
    def is_half_space(self) -> bool:
        """Whether the region of a class is a half-space."""
        return len(self.constant) == 1 and not self.quadratic.any()

    def of(self, rows: Floats) -> Floats:
        """Return the scores of rows."""
        curved = np.einsum("ni,kij,nj->nk", rows, self.quadratic, rows, optimize=True)
        return np.asarray(curved + rows @ self.linear.T + self.constant)

    def predict(self, rows: Floats) -> Any:
        """Return the labels of rows."""
        scores = self.of(rows)
        index = (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)
        return self.classes[index]

    def before(self, shift: Floats, scale: Floats) -> Scores:
        """Return the scores as functions of x, where these are functions of (x - shift) / scale."""
        inverse = 1.0 / scale
        quadratic = self.quadratic * inverse[:, None] * inverse[None, :]
        linear = self.linear * inverse
        constant = self.constant - linear @ shift + np.einsum("i,kij,j->k", shift, quadratic, shift)
        shifted = np.abs(linear) @ np.abs(shift) + np.einsum(
            "i,kij,j->k", np.abs(shift), np.abs(quadratic), np.abs(shift)
        )
        return Scores(quadratic, linear - 2 * quadratic @ shift, constant, self.classes, shifted)

    def rounding(self, reach: Floats) -> Floats:
        """Return how far scores computed in floating point may be off, where columns reach up to `reach`.

        Every sum and product is off by one part in 2^53 at most, or by the least number there is; there
        are a few for each column.
        """
        size = np.einsum("ni,kij,nj->nk", reach, np.abs(self.quadratic), reach, optimize=True)
        size = size + reach @ np.abs(self.linear).T + np.abs(self.constant) + self.shifted
        return np.asarray((size * 2.0**-53 + 2.0**-1074) * (8 * reach.shape[1] + 16))


@dataclass(frozen=True, eq=False)
class ScoreRegions:
    """Where the model keeps given labels of given records, as functions of the sensitive columns."""

    scores: Scores
    rows: Floats
    labels: Counts
    sensitive: tuple[int, ...]

    @property
    def method(self) -> str:
        """How probabilities are computed."""
        if not self.scores.is_half_space:
            return "conic"
        return "half-space" if len(self.sensitive) <= 2 else "convolution"

    exact = True

    def take(self, rows: Counts) -> ScoreRegions:
        """Return the regions of some records."""
        return ScoreRegions(self.scores, self.rows[rows], self.labels[rows], self.sensitive)

    def probability(self, laws: Sequence[Outputs]) -> tuple[Floats, Floats, Floats]:
        """Return the probability that each record keeps its label, and its bounds."""
        return self._linear(laws) if self.scores.is_half_space else self._curved(laws)

    def _linear(self, laws: Sequence[Outputs]) -> tuple[Floats, Floats, Floats]:
        others = self.rows.copy()
        others[:, list(self.sensitive)] = 0.0
        constants = others @ self.scores.linear[0] + self.scores.constant[0]
        weights = self.scores.linear[0, list(self.sensitive)]
        if not weights.any():  # whatever is reported, the score is the same to the last digit
            ones = np.ones(len(self.rows))
            return ones, ones, ones
        off = self.scores.rounding(self._reach(laws))[:, 0]
        value, low, high = half_space([float(weight) for weight in weights], constants, laws, off)
        positive = self.labels == 1
        return (
            np.where(positive, value, 1 - value),
            np.where(positive, low, 1 - high),
            np.where(positive, high, 1 - low),
        )

    def _reach(self, laws: Sequence[Outputs]) -> Floats:
        """Return how large each column of each record can become."""
        reach = np.abs(self.rows)
        for position, law in zip(self.sensitive, laws, strict=True):
            reach[:, position] = law.reach
        return reach

    def _curved(self, laws: Sequence[Outputs]) -> tuple[Floats, Floats, Floats]:
        off = self.scores.rounding(self._reach(laws)).max(axis=1) * 2
        found = [
            section_probability(self._conics(self.rows[row], label), laws, row, float(off[row]))
            for row, label in enumerate(self.labels.tolist())
        ]
        value, low, high = (np.array(each) for each in zip(*found, strict=True))
        return value, low, high

    def _conics(self, record: Floats, label: int) -> list[Conic]:
        """Return the functions of the sensitive columns that are positive where the label is kept."""
        scores, chosen = self.scores, list(self.sensitive)
        rest = record.copy()
        rest[chosen] = 0.0
        constant = np.einsum("i,kij,j->k", rest, scores.quadratic, rest) + scores.linear @ rest
        constant = constant + scores.constant
        linear = (scores.linear + 2 * scores.quadratic @ rest)[:, chosen]
        quadratic = scores.quadratic[:, chosen][:, :, chosen]
        if len(scores.constant) == 1:
            sign = 1.0 if label == 1 else -1.0
            pairs = [(sign * quadratic[0], sign * linear[0], sign * constant[0])]
        else:
            others = [other for other in range(len(scores.constant)) if other != label]
            pairs = [
                (
                    quadratic[label] - quadratic[other],
                    linear[label] - linear[other],
                    constant[label] - constant[other],
                )
                for other in others
            ]
        return [_conic(*each) for each in pairs]


def _conic(quadratic: Floats, linear: Floats, constant: float) -> Conic:
    if len(linear) == 1:
        return Conic(float(quadratic[0, 0]), 0.0, 0.0, float(linear[0]), 0.0, float(constant))
    return Conic(
        float(quadratic[0, 0]),
        float(2 * quadratic[0, 1]),
        float(quadratic[1, 1]),
        float(linear[0]),
        float(linear[1]),
        float(constant),
    )


def read_scores(model: Any) -> Scores | None:
    """Return the scores of a scikit-learn model, or None if it has none that can be read.

    Linear and logistic models, linear support vector machines, linear and quadratic
    discriminant analysis, and Gaussian naive Bayes are read.
    """
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
    from sklearn.linear_model import RidgeClassifier
    from sklearn.linear_model._base import LinearClassifierMixin
    from sklearn.naive_bayes import GaussianNB
    from sklearn.svm import SVC

    if isinstance(model, GaussianNB):
        return _naive_bayes(model)
    if isinstance(model, QuadraticDiscriminantAnalysis):
        return _discriminant(model)
    linear = isinstance(model, (LinearClassifierMixin, RidgeClassifier))
    linear |= isinstance(model, SVC) and model.kernel == "linear" and len(model.classes_) == 2
    if not linear:
        return None
    weights = np.atleast_2d(np.asarray(model.coef_, np.float64))
    features = weights.shape[1]
    constant = np.broadcast_to(np.asarray(model.intercept_, np.float64), (len(weights),)).copy()
    return Scores(np.zeros((len(weights), features, features)), weights, constant, model.classes_)


def _naive_bayes(model: Any) -> Scores:
    variances = np.asarray(model.var_, np.float64)
    means = np.asarray(model.theta_, np.float64)
    quadratic = np.stack([np.diag(-0.5 / each) for each in variances])
    constant = np.log(model.class_prior_) - 0.5 * (np.log(2 * np.pi * variances) + means**2 / variances).sum(
        1
    )
    return Scores(quadratic, means / variances, constant, model.classes_)


def _discriminant(model: Any) -> Scores:
    quadratic, linear, constant = [], [], []
    for mean, rotation, scaling, prior in zip(
        model.means_, model.rotations_, model.scalings_, model.priors_, strict=True
    ):
        precision = (rotation / scaling) @ rotation.T
        quadratic.append(-0.5 * precision)
        linear.append(precision @ mean)
        constant.append(np.log(prior) - 0.5 * (np.log(scaling).sum() + mean @ precision @ mean))
    return Scores(np.stack(quadratic), np.stack(linear), np.array(constant), model.classes_)
