"""Parquet files a batch at a time, none of which takes far more memory than the file is long.

A Parquet file of a few hundred bytes can stand for terabytes: a value is written once, and a number
says how often it is there. Text and bytes are therefore read as a dictionary, with each value once, and
written out for as many rows as fit into a bounded batch. What a part of the file unpacks to is compared
with the limit of `ldpkit.core.limits` before it is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldpkit.core.errors import InvalidInputError
from ldpkit.core.limits import allowed_memory, check_memory

__all__ = ["BoundedParquet"]

_BATCH = 1 << 26  # bytes of text that are written out at once, unless one value is longer
_RUN = 1 << 26  # bytes that row groups unpack to which are read together, unless one is larger
_ONCE = frozenset(("PLAIN", "PLAIN_DICTIONARY", "RLE_DICTIONARY", "RLE", "BIT_PACKED"))


@dataclass(frozen=True)
class BoundedParquet:
    """An open Parquet file.

    Parameters
    ----------
    title : str
        What the file is called in a message.
    length : int
        How many bytes it has.
    file : pyarrow.parquet.ParquetFile
        The file, opened so that text is read as a dictionary.
    schema : pyarrow.Schema
        The types of its columns, as they are written.
    """

    title: str
    length: int
    file: Any
    schema: Any

    @classmethod
    def open(cls, source: Any, title: str, length: int) -> BoundedParquet:
        """Open a file by its path, or one that is open for reading."""
        import pyarrow.parquet

        file = pyarrow.parquet.ParquetFile(source)
        names = [name for name in dict.fromkeys(file.schema_arrow.names) if _is_read_once(file, name)]
        schema = file.schema_arrow
        if names:
            file = pyarrow.parquet.ParquetFile(source, metadata=file.metadata, read_dictionary=names)
        return cls(title, length, file, schema)

    @property
    def rows(self) -> int:
        """The number of rows, as the end of the file says."""
        return int(self.file.metadata.num_rows)

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.schema.names)

    def batches(self, names: Sequence[str], most: int) -> Iterator[Any]:
        """Yield some columns in record batches of at most so many rows, fewer where values are long."""
        import pyarrow

        for name in names:
            for place in self.schema.get_all_field_indices(name):
                kind = self.schema.field(place).type
                if pyarrow.types.is_nested(kind):
                    raise InvalidInputError(
                        f"{self.title}: the column {name!r} holds {kind}, not values: choose another"
                    )
        leaves = [leaf for name in names for leaf in _leaves(self.file, name)]
        for groups, size in self._runs(leaves):
            rows = self._fitting(leaves, size, most)
            for batch in self.file.iter_batches(rows, row_groups=groups, columns=list(names)):
                yield from _written_out(batch)

    def _runs(self, leaves: Sequence[int]) -> Iterator[tuple[list[int], int]]:
        """Yield row groups that are read together, and what they unpack to; refuse one that is too large."""
        groups, taken = list[int](), 0
        for group in range(self.file.metadata.num_row_groups):
            about = self.file.metadata.row_group(group)
            size = sum(max(0, int(about.column(leaf).total_uncompressed_size)) for leaf in leaves)
            check_memory(size, self.length, f"reading {self.title}")
            if groups and taken + size > _RUN:
                yield groups, taken
                groups, taken = [], 0
            groups.append(group)
            taken += size
        if groups:
            yield groups, taken

    def _fitting(self, leaves: Sequence[int], size: int, most: int) -> int:
        """Return how many rows may be read at once, where a column cannot be read as a dictionary."""
        for leaf in leaves:
            column = self.file.metadata.schema.column(leaf)
            if column.physical_type == "FIXED_LEN_BYTE_ARRAY":
                most = min(most, _BATCH // max(1, column.length))
            elif column.physical_type == "BYTE_ARRAY" and not _is_read_once(self.file, column.path):
                most = min(most, allowed_memory(self.length) // max(1, size))  # no value is longer than all
        return max(1, most)


def _leaves(file: Any, name: str) -> list[int]:
    """Return where a column that is not nested stands among those that are stored."""
    schema = file.metadata.schema
    return [place for place in range(len(schema)) if schema.column(place).path == name]


def _is_read_once(file: Any, name: str) -> bool:
    """Whether a column can be read as a dictionary: it holds text or bytes, and its encoding allows it."""
    leaves = _leaves(file, name)
    if len(leaves) != 1 or file.metadata.schema.column(leaves[0]).physical_type != "BYTE_ARRAY":
        return False
    if str(file.metadata.schema.column(leaves[0]).logical_type.type) == "DECIMAL":
        return False
    groups = range(file.metadata.num_row_groups)
    return all(
        _ONCE.issuperset(file.metadata.row_group(group).column(leaves[0]).encodings) for group in groups
    )


def _written_out(batch: Any) -> Iterator[Any]:
    """Yield a batch without dictionaries, in as many pieces as its text needs."""
    import pyarrow

    places = [place for place, each in enumerate(batch.schema) if pyarrow.types.is_dictionary(each.type)]
    if not places:
        yield batch
        return
    ends = np.zeros(len(batch), np.int64)
    for place in places:
        ends += _lengths(batch.column(place))
    np.cumsum(ends, out=ends)
    start = 0
    while start < len(batch):
        taken = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, taken + _BATCH, "right")))
        some = batch.slice(start, stop - start)
        for place in places:
            column = some.column(place)
            some = some.set_column(place, batch.schema.names[place], column.cast(column.type.value_type))
        yield some
        start = stop


def _lengths(column: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return how many bytes each value of a dictionary column has."""
    import pyarrow.compute

    lengths = pyarrow.compute.binary_length(column.dictionary)
    lengths = lengths.take(column.indices).fill_null(0)
    return np.asarray(lengths.to_numpy(zero_copy_only=False), np.int64)
