"""The records of a plan from a file: the columns that the model was trained with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ldpkit.core.domains.interval import as_interval
from ldpkit.core.errors import InvalidInputError, UnknownNameError
from ldpkit.core.typing import Floats
from ldpkit.files.readers import column_names, read_column

__all__ = ["read_records"]


def read_records(
    model: Any, path: str | Path, ranges: Mapping[str, tuple[float, float]], *, clip: bool = False
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
    """
    there = column_names(path)
    known = getattr(model, "feature_names_in_", None)
    wanted = there if known is None else [str(name) for name in known]
    missing = [name for name in wanted if name not in there]
    if missing:
        raise InvalidInputError(
            f"{str(path)!r} lacks the columns {', '.join(missing)} that the model was trained with"
        )
    for name in ranges:
        if name not in wanted:
            raise UnknownNameError("column of the model", name, wanted)
    columns, moved = list[Floats](), dict[str, int]()
    for name in wanted:
        try:
            values = np.asarray(read_column(path, name), np.float64)
        except (TypeError, ValueError):
            raise InvalidInputError(f"column {name!r} of {str(path)!r} must have numbers only") from None
        if name in ranges and clip:
            values, count = as_interval(ranges[name]).clip(values)
            if count:
                moved[name] = count
        columns.append(values)
    return wanted, np.column_stack(columns), moved
