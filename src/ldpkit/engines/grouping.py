"""Groups of rows: which rows of a batch have the same keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ldpkit.core.errors import InvalidInputError
from ldpkit.core.typing import Counts

__all__ = ["Key", "grouped"]

Key = tuple[str | None, ...]
"""The values of a group's keys, as text; None where a row has none."""


def grouped(
    batch: Any, by: tuple[str, ...], given: Mapping[str, str | None], title: str
) -> Iterator[tuple[Key, Any]]:
    """Yield the groups of a batch with the rows of each; None stands for all rows."""
    n = len(batch)
    if n == 0:
        return
    if all(name in given for name in by):  # folders tell all keys, so there is nothing to sort
        yield tuple(given[name] for name in by), None
        return
    codes, values = np.zeros(n, np.int64), list[list[str | None]]()
    for name in by:
        if name in given:
            values.append([given[name]])
            continue
        column = batch.column(batch.schema.names.index(name))
        own, texts = _key_column(column, name, title)
        values.append(texts)
        codes = codes * len(texts) + own
    different, inverse = np.unique(codes, return_inverse=True)
    if len(different) == 1:
        yield _key_of(int(different[0]), values), None
        return
    order = np.argsort(inverse, kind="stable")
    starts = np.searchsorted(inverse[order], np.arange(len(different) + 1))
    for place, code in enumerate(different.tolist()):
        yield _key_of(code, values), order[starts[place] : starts[place + 1]]


def _key_column(column: Any, name: str, title: str) -> tuple[Counts, list[str | None]]:
    """Return a column of keys as codes, and the text that each code stands for."""
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    kinds = pa.types
    if kinds.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    is_text = kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_string_view(kind)
    if not (is_text or kinds.is_integer(kind) or kinds.is_date(kind) or kinds.is_boolean(kind)):
        raise InvalidInputError(
            f"{title}: the column {name!r} holds {kind}: group by text, whole numbers, dates or booleans"
        )
    coded = column.dictionary_encode(null_encoding="encode")
    texts: list[str | None] = coded.dictionary.cast(pa.string()).to_pylist()
    return np.asarray(coded.indices.to_numpy(zero_copy_only=False), np.int64), texts


def _key_of(code: int, values: list[list[str | None]]) -> Key:
    found: list[str | None] = []
    for texts in reversed(values):
        code, place = divmod(code, len(texts))
        found.append(texts[place])
    return tuple(reversed(found))
