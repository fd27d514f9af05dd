"""Data frames: the columns of a result in the library that a reader has."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

from ldpkit.core.errors import InvalidParameterError, MissingDependencyError

__all__ = ["BACKENDS", "make_frame"]

BACKENDS = ("polars", "pandas", "pyarrow")
"""The libraries of data frames, in the order in which "auto" looks for them."""


def make_frame(rows: Sequence[Mapping[str, Any]], backend: str = "auto") -> Any:
    """Return records with the same keys as a data frame that narwhals understands.

    Parameters
    ----------
    rows : sequence of mappings
        The records.
    backend : {"auto", "polars", "pandas", "pyarrow"}
        The library; "auto" takes the first of these that is installed.
    """
    if backend != "auto" and backend not in BACKENDS:
        raise InvalidParameterError(f"backend must be auto, {', '.join(BACKENDS)}, got {backend!r}")
    columns = {name: [_kept(row[name]) for row in rows] for name in (rows[0] if rows else ())}
    for library in BACKENDS if backend == "auto" else (backend,):
        try:
            module = importlib.import_module(library)
        except ImportError:
            continue
        return module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    raise MissingDependencyError("polars, pandas or pyarrow", "to_frame()", "frames")


def _kept(cell: Any) -> Any:
    """Return a cell as a frame can keep it; a lone surrogate, which is no character, becomes an escape."""
    is_plain = not isinstance(cell, str) or cell.isascii()
    return cell if is_plain else cell.encode("utf-8", "backslashreplace").decode()
