"""Groups of rows: which rows of a batch have the same keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from ldpkit.core.errors import InvalidInputError
from ldpkit.core.typing import Counts

__all__ = ["Key", "grouped"]

_MOST_CODES = 1 << 62  # that 64 bits hold

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
    codes, span = np.zeros(n, np.int64), 1
    columns: dict[str, tuple[Counts, list[str | None]]] = {}
    for name in by:
        if name in given:
            continue
        column = batch.column(batch.schema.names.index(name))
        own, texts = columns[name] = _key_column(column, name, title)
        if span * len(texts) > _MOST_CODES:  # then there are fewer groups than codes: number them anew
            different, codes = np.unique(codes, return_inverse=True)
            span = len(different)
        codes, span = codes * len(texts) + own, span * len(texts)

    def key_of(row: int) -> Key:
        found = {name: texts[int(own[row])] for name, (own, texts) in columns.items()}
        return tuple(found[name] if name in found else given[name] for name in by)

    different, inverse = np.unique(codes, return_inverse=True)
    if len(different) == 1:
        yield key_of(0), None
        return
    order = np.argsort(inverse, kind="stable")
    starts = np.searchsorted(inverse[order], np.arange(len(different) + 1))
    for start, stop in pairwise(starts.tolist()):
        yield key_of(int(order[start])), order[start:stop]


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
