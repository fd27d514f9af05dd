"""Parquet files a batch at a time, none of which takes far more memory than the file is long.

A Parquet file of a few hundred bytes can stand for terabytes: a value is written once, and a number
says how often it is there. Text and bytes are therefore read as a dictionary, with each value once, and
written out for as many rows as fit into a bounded batch. What columns of a part of the file unpack to is
compared with the limit of `ldpkit.core.limits` before they are read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ldpkit.core.errors import InvalidInputError
from ldpkit.core.limits import allowed_memory, check_memory
from ldpkit.files.parquetpages import PageSizes, Unpacked

__all__ = ["BoundedParquet"]

_BATCH = 1 << 26  # bytes of text that are written out at once, unless one value is longer
_RUN = 1 << 26  # bytes that row groups unpack to which are read together, unless one is larger
_NO_DICTIONARY = "Not yet implemented"  # what Arrow says of text whose encoding it reads only as it stands


@dataclass(frozen=True)
class BoundedParquet:
    """An open Parquet file.

    Arrow is not asked what the end of a file says of the columns of a row group: if that is damaged, it
    ends the process.

    Parameters
    ----------
    title : str
        What the file is called in a message.
    length : int
        How many bytes it has.
    file : pyarrow.parquet.ParquetFile
        The file, opened so that text is read as a dictionary.
    plain : pyarrow.parquet.ParquetFile
        The same, opened so that nothing is.
    pages : PageSizes or None
        What its columns unpack to. Over a network every page would be a request of its own, so there the
        end of the file is believed.
    """

    title: str
    length: int
    file: Any
    plain: Any
    pages: PageSizes | None

    @classmethod
    def open(cls, source: Any, title: str, *, is_near: bool = True) -> BoundedParquet:
        """Open a file that pyarrow has opened for reading; `is_near` says that it is on a disk here."""
        import pyarrow.parquet

        plain = file = pyarrow.parquet.ParquetFile(source)
        names = [name for name in dict.fromkeys(plain.schema_arrow.names) if _is_text(plain, name)]
        if names:
            file = pyarrow.parquet.ParquetFile(source, metadata=plain.metadata, read_dictionary=names)
        pages = PageSizes(title, source, plain.metadata) if is_near else None
        return cls(title, source.size(), file, plain, pages)

    @classmethod
    def open_path(cls, path: str | Path, title: str) -> BoundedParquet:
        """Open a file by its path."""
        import pyarrow

        return cls.open(pyarrow.OSFile(os.fspath(path)), title)

    @property
    def schema(self) -> Any:
        """The types of its columns, as they are written."""
        return self.plain.schema_arrow

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
        schema = self.file.metadata.schema
        places = sorted({leaf for name in names for leaf in _leaves(self.file, name)})
        leaves = [schema.column(place) for place in places]
        for leaf in leaves:
            if leaf.physical_type == "FIXED_LEN_BYTE_ARRAY":
                most = max(1, min(most, _BATCH // max(1, leaf.length)))
        for groups, size in self._runs(places):
            # Values that are no dictionary may each be as long as all that there is.
            few = max(1, min(most, allowed_memory(self.length) // max(1, size)))
            is_odd = any(leaf.physical_type == "BYTE_ARRAY" and not _reads_once(leaf) for leaf in leaves)
            for batch in self._read(groups, names, few if is_odd else most, few):
                yield from _written_out(batch)

    def _read(self, groups: list[int], names: Sequence[str], most: int, few: int) -> Iterator[Any]:
        """Yield the batches of some row groups; few rows at a time from where text is no dictionary."""
        done = 0
        try:
            for batch in self.file.iter_batches(most, row_groups=groups, columns=list(names)):
                yield batch
                done += len(batch)
            return
        except OSError as error:
            if not str(error).startswith(_NO_DICTIONARY):
                raise
        for batch in self.plain.iter_batches(few, row_groups=groups, columns=list(names)):
            some = batch.slice(min(done, len(batch)))
            done -= len(batch) - len(some)
            if len(some):
                yield some

    def _runs(self, columns: Sequence[int]) -> Iterator[tuple[list[int], int]]:
        """Yield row groups that are read together, and what columns of them unpack to; refuse too much."""
        groups, taken = list[int](), 0
        for group in range(self.file.metadata.num_row_groups):
            size, lengths = self._unpacked(group, columns)
            check_memory(size + lengths, self.length, f"reading {self.title}")
            if groups and taken + size > _RUN:
                yield groups, taken
                groups, taken = [], 0
            groups.append(group)
            taken += size
        if groups:
            yield groups, taken

    def _unpacked(self, group: int, columns: Sequence[int]) -> Unpacked:
        if self.pages is not None:
            return self.pages.unpacked(group, columns)
        return Unpacked(max(0, int(self.file.metadata.row_group(group).total_byte_size)), 0)


def _leaves(file: Any, name: str) -> list[int]:
    """Return where a column that is not nested stands among those that are stored."""
    schema = file.metadata.schema
    return [place for place in range(len(schema)) if schema.column(place).path == name]


def _is_text(file: Any, name: str) -> bool:
    """Whether a column holds text or bytes, which may be read as a dictionary."""
    leaves = _leaves(file, name)
    return len(leaves) == 1 and _reads_once(file.metadata.schema.column(leaves[0]))


def _reads_once(leaf: Any) -> bool:
    return bool(leaf.physical_type == "BYTE_ARRAY" and str(leaf.logical_type.type) != "DECIMAL")


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
