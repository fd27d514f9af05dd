"""What a plan draws: checks of its exact curves, the corrected model, and models trained on reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldpkit.assurance.classifier.columns import PrivateColumn
from ldpkit.assurance.classifier.corrected import Corrected, label_response, privatized
from ldpkit.assurance.classifier.table import RecordTable, Sensitive
from ldpkit.assurance.classifier.utility import drawn_utility
from ldpkit.core.binomial import binomial_interval
from ldpkit.core.errors import InvalidInputError
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Floats

__all__ = ["Worth", "can_be_corrected", "corrected_utility", "drawn_average", "worth_of_reports"]

_ROWS = 8000  # reports that a point of a curve is drawn from, about
_CORRECTED_RECORDS = 250
_POINTS = 64  # of the prior
_CONFIDENCE = 0.95
_FOLDS = 2


@dataclass(frozen=True)
class Worth:
    """What predictions on privatized records are worth, in one way of making them."""

    way: str
    kept: float
    """The share of predictions that are those of the raw records."""
    accuracy: float
    stderr: float
    """Of the accuracy."""


def drawn_average(
    table: RecordTable, labels: Any, names: Sequence[Any], columns: Sequence[PrivateColumn], rng: RandomSource
) -> tuple[float, float, float]:
    """Return the average utility from draws of the mechanisms themselves, with its 95% interval.

    Records differ, so fewer predictions vary than in so many equal trials: the interval is a
    little wide.
    """
    chosen = [
        Sensitive(name, table.position(name), column) for name, column in zip(names, columns, strict=True)
    ]
    draws = max(_ROWS // table.n, 1)
    value, _, _ = drawn_utility(table, labels, chosen, draws, _CONFIDENCE, rng)
    tries = draws * table.n
    low, high = binomial_interval(round(float(value.sum()) * draws), tries, _CONFIDENCE)
    return float(value.mean()), float(low), float(high)


def can_be_corrected(model: Any) -> bool:
    """Whether a model gives probabilities that can be averaged."""
    return callable(getattr(model, "predict_proba", None)) and getattr(model, "classes_", None) is not None


def corrected_utility(
    table: RecordTable,
    labels: Any,
    names: Sequence[Any],
    columns: Sequence[PrivateColumn],
    rng: RandomSource,
) -> Floats:
    """Return for some records whether the corrected model, on one report of each, says what the raw one does.

    The prior is that of the records.
    """
    mechanisms = dict(zip(names, columns, strict=True))
    better = Corrected(table.model, mechanisms, table.values, columns=_named(table), points=_POINTS)
    some = np.unique(np.linspace(0, table.n - 1, min(_CORRECTED_RECORDS, table.n)).astype(int))
    repeats = max(2 * _CORRECTED_RECORDS // len(some), 1)
    rows = np.repeat(table.values[some], repeats, axis=0)
    reports = privatized(table.model, rows, mechanisms, columns=_named(table), rng=rng)
    same = np.asarray(better.predict(reports)) == np.repeat(labels[some], repeats)
    return np.asarray(same.reshape(len(some), repeats).mean(axis=1))


def worth_of_reports(
    table: RecordTable,
    labels: Any,
    target: Any,
    mechanisms: Mapping[Any, PrivateColumn],
    epsilon: float,
    rng: RandomSource,
) -> list[Worth]:
    """Return what predictions are worth against true labels, for one report of each record.

    A model that is trained on reports is trained on one half of them and asked about the other.

    Parameters
    ----------
    table : RecordTable
        The records and the model.
    labels : array
        What the model says about the raw records.
    target : array
        The true labels.
    mechanisms : mapping
        How the sensitive columns are privatized.
    epsilon : float
        The total, which the label response has to itself.
    rng : RandomSource
        For the reports.
    """
    if len(target) != table.n:
        raise InvalidInputError(f"there are {len(target)} true labels for {table.n} records")
    target = np.asarray(target).astype(np.asarray(labels).dtype, copy=False)
    first, second = rng.spawn(2)
    reports = privatized(table.model, table.values, mechanisms, columns=_named(table), rng=first)
    kinds, counts = np.unique(target, return_counts=True)
    ways: list[tuple[str, Any]] = [
        ("raw records, no privacy", labels),
        ("always the most common label", np.full(table.n, kinds[counts.argmax()])),
        ("the model on reports", table.predict(reports)),
    ]
    if can_be_corrected(table.model):
        better = Corrected(table.model, mechanisms, table.values, columns=_named(table), points=_POINTS)
        ways.append(("corrected model on reports", better.predict(reports)))
    trained = _trained(table, reports, target)
    if trained is not None:
        ways.append(("trained on reports", trained))
    found = [_worth(way, said, labels, target) for way, said in ways]
    classes = max(len(np.unique(np.concatenate([kinds, np.unique(labels)]))), 2)
    kept = label_response(classes, epsilon)
    every = np.unique(np.concatenate([np.unique(labels), kinds]))
    generator = second.generator()
    lies = generator.random(table.n) >= kept
    places = np.searchsorted(every, labels)
    moved = (places + generator.integers(1, classes, table.n)) % classes if len(every) > 1 else places
    said = every[np.where(lies, moved, places)]
    return [*found, _worth("label response on the device", said, labels, target)]


def _worth(way: str, said: Any, labels: Any, target: Any) -> Worth:
    right = float((said == target).mean())
    return Worth(
        way, float((said == labels).mean()), right, float(np.sqrt(right * (1 - right) / len(target)))
    )


def _trained(table: RecordTable, reports: Floats, target: Any) -> Any:
    """Return what a model of the same kind says that was trained on reports; None if it cannot be."""
    try:
        from sklearn.base import BaseEstimator, clone
    except ImportError:
        return None
    if not isinstance(table.model, BaseEstimator):
        return None
    import warnings

    said = np.asarray(target).copy()
    turns = np.arange(table.n) % _FOLDS
    for turn in range(_FOLDS):
        train, test = turns != turn, turns == turn
        if len(np.unique(target[train])) < 2 or not test.any():
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fresh = clone(table.model).fit(table.wrap(reports[train]), target[train])
            said[test] = fresh.predict(table.wrap(reports[test]))
    return said


def _named(table: RecordTable) -> list[str] | None:
    return None if isinstance(table.names[0], int) else [str(name) for name in table.names]
