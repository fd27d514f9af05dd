"""Records with named columns, and the model that predicts a label for each of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldpkit.assurance.classifier.columns import PrivateColumn, as_private_column
from ldpkit.core.errors import InvalidInputError, InvalidParameterError, LdpkitError, UnknownNameError
from ldpkit.core.typing import Floats

__all__ = ["BATCH", "RecordTable", "Sensitive", "Unread", "private_columns", "record_table"]

BATCH = 1 << 16
"""So many rows a model is given at a time."""


class Unread(Exception):  # noqa: N818 (it is no error: another method takes over)
    """Why a model cannot be read; the reason becomes a note of the result."""


@dataclass(frozen=True, eq=False)
class RecordTable:
    """The records as numbers, their column names, and how the model takes them."""

    values: Floats
    names: tuple[str | int, ...]
    model: Any
    wrap: Callable[[Floats], Any]

    @property
    def n(self) -> int:
        """How many records there are."""
        return len(self.values)

    def predict(self, rows: Floats) -> Any:
        """Return the label that the model gives each row, asked in batches."""
        ask = self.model.predict if hasattr(self.model, "predict") else self.model
        with warnings.catch_warnings():
            # A model fitted with names works the same on an array in their order.
            warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
            starts = range(0, len(rows), BATCH)
            try:
                found = [np.asarray(ask(self.wrap(rows[start : start + BATCH]))) for start in starts]
            except LdpkitError:
                raise
            except Exception as error:  # a model is anybody's code
                raise InvalidInputError(
                    f"the model cannot predict these records: {type(error).__name__}: {str(error)[:200]}"
                ) from error
        labels = np.concatenate(found) if found else np.zeros(0)
        if labels.shape != (len(rows),):
            raise InvalidInputError(
                f"the model must give one label for each of {len(rows)} rows, got an array of shape "
                f"{labels.shape}"
            )
        if labels.dtype.kind == "f" and np.isnan(labels).any():
            row = int(np.flatnonzero(np.isnan(labels))[0])
            raise InvalidInputError(f"the model gave no label (nan) for the row {rows[row].tolist()}")
        return labels

    def position(self, column: str | int) -> int:
        """Return where a column stands, or say which there are."""
        if column in self.names:
            return self.names.index(column)
        raise UnknownNameError("column", str(column), [str(name) for name in self.names])


@dataclass(frozen=True)
class Sensitive:
    """A sensitive column: its name, where it stands, and how it is privatized."""

    name: str | int
    position: int
    column: PrivateColumn


def record_table(model: Any, records: Any, columns: Sequence[str] | None = None) -> RecordTable:
    """Return records as a table for a model, or refuse what is not numbers.

    Names come from `columns`, from the frame, or from the model; else columns have numbers.
    A frame with more columns than the model knows is cut to those it knows.
    """
    known = getattr(model, "feature_names_in_", None)
    frame_names = getattr(records, "columns", None)
    names: list[str | int] | None = None
    make: Any = None
    if frame_names is not None:
        names = [str(name) for name in frame_names]
        wanted = [str(name) for name in (frame_names if known is None else known)]
        missing = [name for name in wanted if name not in names]
        if missing:
            raise InvalidInputError(
                f"the model needs the columns {', '.join(wanted)}, and the records lack {', '.join(missing)}"
            )
        records = records[wanted]
        names, make = list(wanted), type(records)
    try:
        values = np.asarray(records, np.float64)
    except (TypeError, ValueError):
        raise InvalidInputError("records must be numbers only: code categories as the model does") from None
    if values.ndim != 2 or not len(values):
        raise InvalidInputError(f"records must be a table of rows, got an array of shape {values.shape}")
    if not np.isfinite(values).all():
        row, column = (int(where) for where in np.argwhere(~np.isfinite(values))[0])
        raise InvalidInputError(f"row {row} has no number in column {column}: fill or remove it")
    if columns is not None:
        names = list(columns)
    elif names is None:
        names = [str(name) for name in known] if known is not None else list(range(values.shape[1]))
    if len(names) != values.shape[1]:
        raise InvalidInputError(f"the records have {values.shape[1]} columns, and {len(names)} are expected")
    expected = getattr(model, "n_features_in_", None)
    if expected is not None and expected != values.shape[1]:
        raise InvalidInputError(
            f"the model takes {expected} features, and the records have {values.shape[1]}"
        )
    wrap = (lambda rows: make(rows, columns=names)) if make is not None else (lambda rows: rows)
    return RecordTable(values, tuple(names), model, wrap)


def private_columns(
    table: RecordTable, mechanisms: Mapping[Any, Any], *, checked: bool = True
) -> list[Sensitive]:
    """Return the sensitive columns: each exists and, but for reports, all its values are in range."""
    if not mechanisms:
        raise InvalidParameterError("name at least one sensitive column, such as {'age': ldpkit.OGPM(...)}")
    found = []
    for name, mechanism in mechanisms.items():
        position, column = table.position(name), as_private_column(mechanism)
        if checked:
            column.check(table.values[:, position], name)
        found.append(Sensitive(name, position, column))
    return found
