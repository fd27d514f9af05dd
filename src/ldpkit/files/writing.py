"""Rows as CSV and JSON text, written as they come: a million of them would take a gigabyte."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TextIO

from ldpkit.core.results import finite
from ldpkit.core.tables import flat
from ldpkit.files.spreadsheet import harmless_cell

if TYPE_CHECKING:
    from ldpkit.core.results import Columns
    from ldpkit.core.typing import Floats

__all__ = ["write_csv", "write_json"]

_HERE = "\0rows"  # where the rows of an envelope go; no text of a user has a NUL
_INDENT = "\n      "  # of a cell in a row in an envelope


def write_csv(parts: Iterable[Columns], target: TextIO) -> None:
    """Write rows, given by column and some at a time, below the names of the columns."""
    for number, columns in enumerate(parts):
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        if number == 0:
            writer.writerow(columns)
        writer.writerows(zip(*(_texts(each, repr, _csv_cell) for each in columns.values()), strict=True))
        target.write(text.getvalue())


def write_json(envelope: Mapping[str, Any], parts: Iterable[Columns], target: TextIO) -> None:
    """Write an envelope with its rows, which come some at a time, as `json.dumps` would write the whole."""
    head, tail = _json_text({**envelope, "rows": _HERE}).split(json.dumps(_HERE))
    between, last = f"{head}[", ""
    for columns in parts:
        names = [json.dumps(name).replace("%", "%%") for name in columns]
        row = "\n    {" + ",".join(f"{_INDENT}{name}: %s" for name in names) + "\n    }"
        cells = zip(*(_texts(each, _json_number, _json_cell) for each in columns.values()), strict=True)
        target.write(between + ",".join(map(row.__mod__, cells)))
        between, last = ",", "\n  " if columns else ""
    target.write(f"{last}]{tail}\n")


def _texts(column: Any, number: Callable[[float], str], cell: Callable[[Any], Any]) -> list[Any]:
    """Return the cells of a column as text; of an array, each number is turned into text only once.

    Frequencies come from whole counts, so a million of them have few numbers.
    """
    if not hasattr(column, "dtype"):
        return list(map(cell, column))
    import numpy as np

    floats: Floats = np.ascontiguousarray(column, np.float64)
    bits, places = np.unique(floats.view(np.int64), return_inverse=True)  # 0.0 and -0.0 are two
    texts = np.array([number(each) for each in bits.view(np.float64).tolist()], object)
    return list(texts[places])


def _csv_cell(value: Any) -> Any:
    return harmless_cell(flat(value))


def _json_number(value: float) -> str:
    return repr(value) if math.isfinite(value) else _json_text(value)


def _json_cell(value: Any) -> str:
    if type(value) is int:  # as most labels of a large domain are
        return repr(value)
    if type(value) is str:
        return json.dumps(value)
    return _json_text(value).replace("\n", _INDENT)  # no line break of a JSON text is part of a value


def _json_text(value: Any) -> str:
    return json.dumps(finite(value), indent=2, default=float, allow_nan=False)
