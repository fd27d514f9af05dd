"""Reports that a lake holds twice under one id: which rows are the first of their id."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from ldpkit.core.errors import InvalidInputError
from ldpkit.files.arrow import open_parquet

__all__ = ["first_of_each", "read_ids"]

_BATCH = 1 << 18
_ID_BYTES = 16


def read_ids(file: str, column: str) -> np.ndarray[Any, np.dtype[np.void]]:
    """Return 16 bytes for each row of a file that stand for its id; refuse a row without one."""
    import pyarrow as pa

    opened, made, first = open_parquet(file), list[bytes](), 0
    for batch in opened.batches([column], _BATCH):
        cells = batch.column(0)
        if cells.null_count:
            row = first + int(np.argmax(cells.is_null().to_numpy(zero_copy_only=False))) + 1
            raise InvalidInputError(f"{opened.title}, row {row}: no {column} is there: repair the row")
        kinds = pa.types
        is_bytes = (
            kinds.is_binary(cells.type) or kinds.is_large_binary(cells.type)
        ) or kinds.is_fixed_size_binary(cells.type)
        values = cells.to_pylist()
        texts = values if is_bytes else [str(value).encode() for value in values]
        made += [hashlib.blake2b(each, digest_size=_ID_BYTES).digest() for each in texts]
        first += len(batch)
    return np.frombuffer(b"".join(made), f"V{_ID_BYTES}")


def first_of_each(files: list[Any]) -> list[np.ndarray[Any, np.dtype[np.bool_]]]:
    """Return for each row of each file whether no row before it has the same id.

    Examples
    --------
    >>> one = np.frombuffer(b"a" * 16 + b"b" * 16, "V16")
    >>> [kept.tolist() for kept in first_of_each([one, one[:1]])]
    [[True, True], [False]]
    """
    every = np.concatenate(files) if files else np.empty(0, f"V{_ID_BYTES}")
    halves = every.view("<u8").reshape(-1, 2)
    order = np.lexsort((halves[:, 1], halves[:, 0]))  # stable: of equal ids the first row stays in front
    same = (halves[order][1:] == halves[order][:-1]).all(axis=1)
    kept = np.ones(len(every), bool)
    kept[order[1:][same]] = False
    return np.split(kept, np.cumsum([len(file) for file in files])[:-1])
