"""For scikit-learn: a step that privatizes named columns, and a scorer of predictions that are kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ldpkit.assurance.classifier.corrected import privatized
from ldpkit.assurance.classifier.table import private_columns, record_table
from ldpkit.assurance.classifier.utility import utility
from ldpkit.core.errors import MissingDependencyError
from ldpkit.core.random import RandomSource

try:
    from sklearn.base import BaseEstimator, TransformerMixin
except ImportError:
    raise MissingDependencyError("scikit-learn", "a step of a pipeline", "models") from None

__all__ = ["Privatize", "utility_scorer"]


class Privatize(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A step of a pipeline that privatizes columns, each time it is asked.

    In a pipeline, training sees privatized records as well: this is how to train on what the
    service will get. To privatize only what is predicted on, transform it before.

    Parameters
    ----------
    mechanisms : mapping
        For each sensitive column, by name or number, the mechanism that privatizes it.
    rng : RandomSource, optional
        Secure randomness by default; a seeded source is for experiments.

    Examples
    --------
    >>> import ldpkit
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> rows = np.linspace(0, 1, 50).reshape(-1, 1)
    >>> step = Privatize({0: ldpkit.get("ogpm", (0, 1), epsilon=4)})
    >>> model = make_pipeline(step, LogisticRegression()).fit(rows, rows[:, 0] > 0.5)
    >>> model.predict(rows).shape
    (50,)
    """

    def __init__(self, mechanisms: Mapping[Any, Any], rng: RandomSource | None = None) -> None:
        self.mechanisms = mechanisms
        self.rng = rng

    def fit(self, records: Any, labels: Any = None) -> Privatize:
        """Check that the columns are there and all values in range."""
        table = record_table(None, records)
        private_columns(table, self.mechanisms)
        self.n_features_in_ = table.values.shape[1]
        if hasattr(records, "columns"):
            self.feature_names_in_ = np.array([str(name) for name in records.columns], object)
        return self

    def transform(self, records: Any) -> Any:
        """Return the records with their sensitive columns privatized anew."""
        found = privatized(None, records, self.mechanisms, rng=self.rng)
        if hasattr(records, "columns"):
            return type(records)(found, columns=list(records.columns))
        return found

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns, which stay as they are."""
        if input_features is not None:
            return np.asarray(input_features, object)
        usual = np.array([f"x{place}" for place in range(self.n_features_in_)], object)
        return getattr(self, "feature_names_in_", usual)


def utility_scorer(mechanisms: Mapping[Any, Any], criterion: str = "average") -> Callable[..., float]:
    """Return a scorer for cross-validation: the share of predictions that a fitted model keeps.

    It is the utility of `ldpkit.utility`, exact where the model can be read. Labels play no
    part in it, so use it beside accuracy.

    Parameters
    ----------
    mechanisms : mapping
        For each sensitive column the mechanism that privatizes it.
    criterion : {"average", "worst"}
        Over all records, or for the worst of them.

    Examples
    --------
    >>> import ldpkit
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> rows = np.linspace(0, 1, 60).reshape(-1, 1)
    >>> scorer = utility_scorer({0: ldpkit.get("ogpm", (0, 1), epsilon=4)})
    >>> scores = cross_val_score(LogisticRegression(), rows, np.arange(60) % 2, scoring=scorer, cv=3)
    >>> bool((scores > 0.5).all())
    True
    """

    def score(model: Any, records: Any, labels: Any = None) -> float:
        return float(getattr(utility(model, records, mechanisms), criterion).value)

    return score
