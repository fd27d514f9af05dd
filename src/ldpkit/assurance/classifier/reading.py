"""Which models can be read, and how: the region of a label as a function of the sensitive columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ldpkit.assurance.classifier.boosting import read_boosted
from ldpkit.assurance.classifier.boxes import BoxRegions, box_regions
from ldpkit.assurance.classifier.networks import Network, read_network
from ldpkit.assurance.classifier.polygons import PolygonRegions
from ldpkit.assurance.classifier.scores import MOST_CURVED, ScoreRegions, Scores, read_scores
from ldpkit.assurance.classifier.table import RecordTable, Unread
from ldpkit.assurance.classifier.trees import Trees, read_trees
from ldpkit.core.errors import InvalidInputError, LdpkitError
from ldpkit.core.typing import Counts, Floats

__all__ = ["Unread", "read_model", "regions"]


def read_model(model: Any) -> Scores | Trees | Network:
    """Return a model as scores, trees or a network, scalers in front pulled back.

    Raises
    ------
    Unread
        If it is none of the models that can be read.
    """
    try:
        from sklearn.pipeline import Pipeline
    except ImportError:
        raise Unread("scikit-learn is not installed, so the model is only asked") from None
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    steps = [step for step in steps if step is not None and step != "passthrough"]
    last = steps[-1]
    try:
        found: Scores | Trees | Network | None = (
            read_scores(last) or read_trees(last) or read_boosted(last) or read_network(last)
        )
    except InvalidInputError as why:  # a kind of tree that is not read; the model itself can still be asked
        raise Unread(f"{why}, so it is only asked") from None
    if found is None:
        raise Unread(f"{type(last).__name__} cannot be read, so it is only asked")
    shift, scale = None, None
    for step in steps[:-1]:
        its_shift, its_scale = _affine(step)
        # (x - shift)/scale first, and its own after it.
        shift, scale = (
            (its_shift, its_scale)
            if shift is None or scale is None
            else (shift + scale * its_shift, scale * its_scale)
        )
    if shift is not None and scale is not None:
        found = found.before(shift, scale)
    if not found.finite:
        raise Unread(f"{type(last).__name__} has weights that are not finite numbers, so it is only asked")
    return found


def _affine(step: Any) -> tuple[Floats, Floats]:
    """Return the shift and scale of a scaler that makes (x - shift) / scale."""
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

    ones = np.ones(getattr(step, "n_features_in_", 0))
    if isinstance(step, StandardScaler):
        mean = step.mean_ if step.with_mean else 0 * ones
        return np.asarray(mean, float), np.asarray(step.scale_ if step.with_std else ones, float)
    if isinstance(step, MinMaxScaler) and not step.clip:
        return -step.min_ / step.scale_, 1 / step.scale_
    if isinstance(step, MaxAbsScaler) and not getattr(step, "clip", False):
        return 0 * ones, np.asarray(step.scale_, float)
    if isinstance(step, RobustScaler):
        centre = step.center_ if step.with_centering else 0 * ones
        return np.asarray(centre, float), np.asarray(step.scale_ if step.with_scaling else ones, float)
    raise Unread(f"{type(step).__name__} in front of the model cannot be pulled back, so it is only asked")


def regions(
    table: RecordTable, rows: Floats, labels: Any, sensitive: Sequence[int]
) -> ScoreRegions | BoxRegions | PolygonRegions:
    """Return where a model keeps labels of rows, as a function of the sensitive columns.

    Raises
    ------
    Unread
        If the model cannot be read, or has more sensitive columns than its method can take.
    """
    try:
        read = read_model(table.model)
        indices = np.searchsorted(read.classes, labels)
        agrees = not isinstance(read, Scores) or bool((read.predict(rows) == table.predict(rows)).all())
    except (AttributeError, TypeError, ValueError, LookupError) as error:  # a file may hold anything
        if isinstance(error, LdpkitError):
            raise
        raise Unread(f"the parts of the model do not fit together ({error}), so it is only asked") from None
    if isinstance(read, Scores):
        if not agrees:
            raise Unread("the model does not predict what its coefficients say, so it is only asked")
        if not read.is_half_space and len(sensitive) > MOST_CURVED:
            raise Unread(
                f"an exact region of this model takes {MOST_CURVED} sensitive columns at most, and there are "
                f"{len(sensitive)}, so it is only asked"
            )
        return ScoreRegions(read, rows, indices, tuple(sensitive))

    def ask(points: Floats) -> Counts:
        return np.asarray(np.searchsorted(read.classes, table.predict(points)))

    if isinstance(read, Network):
        if len(sensitive) > MOST_CURVED:
            raise Unread(
                f"the polygons of a network take {MOST_CURVED} sensitive columns at most, and there are "
                f"{len(sensitive)}, so it is only asked; certified_box gives a bound that holds for certain"
            )
        if ((read.indices(rows) != indices) & (read.gap(rows) > read.rounding(np.abs(rows)))).any():
            raise Unread("the model does not predict what its weights say, so it is only asked")
        return PolygonRegions(read, rows, indices, sensitive, ask)
    best, gap = read.decide(read.scores(rows))
    if ((best != indices) & (gap > read.rounding)).any():
        raise Unread("the model does not predict what its trees say, so it is only asked")
    found = box_regions(read, rows, indices, sensitive, ask)
    if found is None:
        raise Unread(
            f"the boxes of {len(sensitive)} sensitive columns are too many to be added up, so the model is "
            "only asked"
        )
    return found
