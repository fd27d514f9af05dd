"""Lose less without retraining: the service averages its model over what the reports may have been.

Given a privatized record, the values that the device may have held have a posterior: a prior,
such as the training data, times the likelihood of the report under each. The corrected model
is the mean of the model's probabilities over that posterior. It is post-processing, so
epsilon stays as it is.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ldpkit.assurance.classifier.prior import Prior, relative_likelihoods
from ldpkit.assurance.classifier.table import BATCH, private_columns, record_table
from ldpkit.core.errors import InvalidParameterError, MismatchError
from ldpkit.core.exact import RandomisedResponse
from ldpkit.core.parameters import check_fraction, check_whole
from ldpkit.core.random import RandomSource, resolve
from ldpkit.core.typing import Floats

__all__ = ["Corrected", "label_response", "privatized"]


class Corrected:
    """A classifier for privatized records, made of one for raw records.

    Parameters
    ----------
    model : object with predict_proba
        The classifier for raw records.
    mechanisms : mapping
        For each sensitive column the mechanism that privatizes it.
    prior : table of numbers or Prior
        Records like those of the people who will report, never theirs: the training data. Or what
        `prior_from_reports` finds, where there are no such records.
    columns : sequence of str, optional
        The names of the columns of an array.
    points : int
        So many records of the prior are used at most, evenly spaced; the model is asked about
        each of them for every privatized record.

    Examples
    --------
    >>> import ldpkit
    >>> class Above:
    ...     classes_ = np.array([0, 1])
    ...     def predict_proba(self, rows):
    ...         above = (rows[:, 0] > 0.5).astype(float)
    ...         return np.column_stack([1 - above, above])
    >>> prior = np.array([[0.4], [0.45], [0.9]])
    >>> model = Corrected(Above(), {0: ldpkit.get("ogpm", (0, 1), epsilon=1)}, prior)
    >>> model.predict_proba([[0.55]]).round(3).tolist()
    [[0.845, 0.155]]
    >>> model.predict([[0.55], [0.99]], abstain_below=0.8, abstained=-1).tolist()
    [0, -1]
    """

    def __init__(
        self,
        model: Any,
        mechanisms: Mapping[Any, Any],
        prior: Any,
        *,
        columns: Sequence[str] | None = None,
        points: int = 256,
    ) -> None:
        if not hasattr(model, "predict_proba"):
            raise InvalidParameterError(
                f"{type(model).__name__} gives no probabilities to average: use a model with predict_proba"
            )
        check_whole(points, "points")
        if isinstance(prior, Prior):
            given = prior
            if tuple(mechanisms) != prior.names:
                raise MismatchError(
                    f"the prior is one of {prior.names}, got mechanisms for {tuple(mechanisms)}: give them "
                    "in order"
                )
            known = getattr(model, "feature_names_in_", None)
            self._names = columns if known is None else [str(name) for name in known]
            width = max(getattr(model, "n_features_in_", 0), len(self._names or ()), 1 + max(prior.positions))
            table = record_table(model, np.zeros((1, width)), self._names)
            self.sensitive = private_columns(table, mechanisms, checked=False)
        else:
            table = record_table(model, prior, columns)
            self._names = [str(name) for name in table.names]
            self.sensitive = private_columns(table, mechanisms)
            given = Prior.of_records(table.values, self.sensitive, points)
        self._table, self.classes_ = table, model.classes_
        self._points, self._logs = given.points, np.log(given.shares)
        self._laws = given.laws(self.sensitive)

    def posterior(self, reports: Any) -> Floats:
        """Return how likely each point of the prior is, a row for each privatized record."""
        rows = self._rows(reports)
        shares = relative_likelihoods(rows, self.sensitive, self._laws, self._logs)
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def predict_proba(self, reports: Any) -> Floats:
        """Return the model's probabilities, averaged over the posterior of each privatized record."""
        rows, weights = self._rows(reports), self.posterior(reports)
        positions = [each.position for each in self.sensitive]
        step = max(BATCH // len(self._points), 1)
        found = []
        for start in range(0, len(rows), step):
            some = rows[start : start + step]
            asked = np.repeat(some, len(self._points), axis=0)
            asked[:, positions] = np.tile(self._points, (len(some), 1))
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
                told = np.asarray(self._table.model.predict_proba(self._table.wrap(asked)))
            told = told.reshape(len(some), len(self._points), -1)
            found.append(np.einsum("nm,nmk->nk", weights[start : start + step], told))
        return np.concatenate(found)

    def predict(self, reports: Any, *, abstain_below: float | None = None, abstained: Any = None) -> Any:
        """Return the likeliest label of each privatized record.

        Parameters
        ----------
        reports : table of numbers
            Records whose sensitive columns are privatized.
        abstain_below : float, optional
            Where the likeliest label has less probability than this, `abstained` is returned.
        abstained : object
            What stands for no answer.
        """
        chances = self.predict_proba(reports)
        labels = np.asarray(self.classes_)[chances.argmax(axis=1)]
        if abstain_below is None:
            return labels
        unsure = chances.max(axis=1) < check_fraction(abstain_below, "abstain_below")
        if abstained is None:
            labels = labels.astype(object)
        labels[unsure] = abstained
        return labels

    def _rows(self, reports: Any) -> Floats:
        return record_table(self._table.model, reports, self._names).values


def privatized(
    model: Any,
    records: Any,
    mechanisms: Mapping[Any, Any],
    *,
    columns: Sequence[str] | None = None,
    rng: RandomSource | None = None,
) -> Floats:
    """Return records with their sensitive columns privatized once, as an array in the model's order.

    Examples
    --------
    >>> import ldpkit
    >>> ogpm = ldpkit.get("ogpm", (0, 1), epsilon=1)
    >>> privatized(lambda rows: rows[:, 0], [[0.5, 7.0]], {0: ogpm}, rng=ldpkit.random.seeded(1))[:, 1]
    array([7.])
    """
    table = record_table(model, records, columns)
    sensitive = private_columns(table, mechanisms)
    rows = table.values.copy()
    for each, source in zip(sensitive, resolve(rng).spawn(len(sensitive)), strict=True):
        rows[:, each.position] = each.column.draw(rows[:, each.position], source)
    return rows


def label_response(classes: int, epsilon: float) -> float:
    """Return how likely a label is kept where the model runs on the device and only its label is privatized.

    It goes through randomised response with the whole budget, and no feature is sent.

    Examples
    --------
    >>> round(label_response(2, 4.0), 4)
    0.982
    """
    return float(RandomisedResponse(check_whole(classes, "classes", least=2), epsilon).p)
