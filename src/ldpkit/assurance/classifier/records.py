"""The records of a plan from a file: the columns that the model was trained with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ldpkit.core.domains.categorical import CategoricalDomain
from ldpkit.core.domains.interval import as_interval
from ldpkit.core.errors import InvalidInputError, UnknownNameError
from ldpkit.core.typing import Floats
from ldpkit.files.readers import column_names, read_column

__all__ = ["read_records", "read_target"]


def read_records(
    model: Any,
    path: str | Path,
    ranges: Mapping[str, tuple[float, float] | CategoricalDomain],
    *,
    clip: bool = False,
    columns: Sequence[str] | None = None,
) -> tuple[list[str], Floats, dict[str, int]]:
    """Return the names and values of a model's columns, and how many values were clipped in which.

    Parameters
    ----------
    model : object
        With `feature_names_in_` if it was trained on a frame; else all columns of the table are taken.
    path : path
        A table with a header.
    ranges : mapping
        The range of each sensitive column.
    clip : bool
        Whether to move values of these outside their range to its ends.
    columns : sequence of str, optional
        The columns that the model takes, in its order, where it does not name them itself.
    """
    there = column_names(path)
    known = getattr(model, "feature_names_in_", None)
    wanted = list(columns or there) if known is None else [str(name) for name in known]
    if columns is not None and list(columns) != wanted:
        raise InvalidInputError(f"the model names its columns itself: {', '.join(wanted)}")
    missing = [name for name in wanted if name not in there]
    if missing:
        raise InvalidInputError(
            f"{str(path)!r} lacks the columns {', '.join(missing)} that the model was trained with"
        )
    expected = getattr(model, "n_features_in_", len(wanted))
    if expected != len(wanted):
        raise InvalidInputError(
            f"the model takes {expected} features and does not name them, and {str(path)!r} has "
            f"{len(wanted)}: name its columns with --columns"
        )
    for name in ranges:
        if name not in wanted:
            raise UnknownNameError("column of the model", name, wanted)
    found, moved = list[Floats](), dict[str, int]()
    for name in wanted:
        try:
            values = np.asarray(read_column(path, name), np.float64)
        except (TypeError, ValueError):
            raise InvalidInputError(f"column {name!r} of {str(path)!r} must have numbers only") from None
        ends = ranges.get(name)
        if clip and isinstance(ends, tuple):  # not categories, between which nothing can be moved
            values, count = as_interval(ends).clip(values)
            if count:
                moved[name] = count
        found.append(values)
    return wanted, np.column_stack(found), moved


def read_target(model: Any, path: str | Path, name: str) -> Any:
    """Return the true labels of a table, as the model has them, or refuse those that it does not know."""
    there = column_names(path)
    if name not in there:
        raise UnknownNameError("column", name, there)
    labels = np.asarray(read_column(path, name))
    known = getattr(model, "classes_", None)
    if known is None:
        return labels
    known = np.asarray(known)
    if known.dtype.kind in "biuf" and labels.dtype.kind in "biuf":
        labels = labels.astype(np.float64)
        match: dict[Any, Any] = {float(each): each for each in known}
    else:
        labels, match = labels.astype(str), {str(each): each for each in known}
    strange = [row for row, label in enumerate(labels.tolist()) if label not in match]
    if strange:
        raise InvalidInputError(
            f"column {name!r} has {labels[strange[0]]} in row {strange[0]}, and the model knows "
            f"{', '.join(map(str, match))}"
        )
    return np.array([match[label] for label in labels.tolist()], known.dtype)
