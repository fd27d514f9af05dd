"""Parquet files a batch at a time, none of which takes far more memory than the file is long.

A Parquet file of a few hundred bytes can stand for terabytes: a value is written once, and a number
says how often it is there. Text and bytes are therefore read as a dictionary, with each value once, and
written out for as many rows as fit into a bounded batch. What columns of a part of the file unpack to, and
how many rows the file has, is compared with the limit of `ldpkit.core.limits` before they are read.
"""

from __future__ import annotations

import os
from collections import Counter
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
_FOR_A_ROW = 32  # bytes of memory; a row also takes time, which a few bytes may ask for a billion times
_ROWS_A_BYTE = 1024  # more than packed columns of real tables have
_FOR_A_RECORD = (
    700  # bytes that Arrow takes for an entry of a list in the end of the file, before it reads it
)
_MOST_RECORDS = 1_000_000  # what Arrow allows for by itself
_WRITTEN = 4  # copies of a batch of text that is written out
_COPIES = 8  # of values of a fixed length that one batch takes
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
    once : frozenset of str
        The columns that are read so.
    plain : pyarrow.parquet.ParquetFile
        The same, opened so that nothing is.
    pages : PageSizes or None
        What its columns unpack to. Over a network every page would be a request of its own, so there the
        end of the file is believed.
    """

    title: str
    length: int
    file: Any
    once: frozenset[str]
    plain: Any
    pages: PageSizes | None

    @classmethod
    def open(cls, source: Any, title: str, *, is_near: bool = True) -> BoundedParquet:
        """Open a file that pyarrow has opened for reading; `is_near` says that it is on a disk here."""
        import pyarrow.parquet

        length = source.size()
        most = max(1, min(length, _MOST_RECORDS, allowed_memory(length) // _FOR_A_RECORD))
        plain = file = pyarrow.parquet.ParquetFile(source, thrift_container_size_limit=most)
        schema = plain.metadata.schema
        leaves = [schema.column(place) for place in range(len(schema))]
        times = Counter(leaf.path for leaf in leaves)
        known = set(plain.schema_arrow.names)
        text = {leaf.path for leaf in leaves if _reads_once(leaf) and times[leaf.path] == 1} & known
        if text:
            file = pyarrow.parquet.ParquetFile(source, metadata=plain.metadata, read_dictionary=sorted(text))
        optional = frozenset(place for place, leaf in enumerate(leaves) if leaf.max_definition_level)
        pages = PageSizes(title, source, optional, allowed_memory(length)) if is_near else None
        return cls(title, length, file, frozenset(text), plain, pages)

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
        places = [place for place in range(len(schema)) if schema.column(place).path in set(names)]
        leaves = [schema.column(place) for place in places]
        for leaf in leaves:
            if leaf.physical_type == "FIXED_LEN_BYTE_ARRAY":
                check_memory(_COPIES * leaf.length, self.length, f"reading {self.title}")
                most = max(1, min(most, _BATCH // _COPIES // max(1, leaf.length)))
        self._check_rows()
        is_odd = any(leaf.physical_type == "BYTE_ARRAY" and leaf.path not in self.once for leaf in leaves)
        for groups, longest in self._runs(places):
            # What stands in a page once may be written out for every row.
            few = max(1, min(most, allowed_memory(self.length) // _WRITTEN // max(1, longest)))
            for batch in self._read(groups, names, few if is_odd else most, few):
                yield from _written_out(batch)

    def _check_rows(self) -> None:
        """Refuse far more rows than the length of the file gives reason for."""
        metadata = self.file.metadata
        groups = (metadata.row_group(group).num_rows for group in range(metadata.num_row_groups))
        rows = max(self.rows, sum(max(0, int(rows)) for rows in groups))
        if rows > _ROWS_A_BYTE * self.length:
            check_memory(_FOR_A_ROW * rows, self.length, f"a table of {rows:,} rows in {self.title}")

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
        """Yield row groups that are read together, with what may repeat in them; refuse too much."""
        groups, taken, longest = list[int](), 0, 0
        for group in range(self.file.metadata.num_row_groups):
            each = self._unpacked(group, columns)
            check_memory(each.size + each.beside, self.length, f"reading {self.title}")
            if groups and taken + each.size > _RUN:
                yield groups, longest
                groups, taken, longest = [], 0, 0
            groups.append(group)
            taken += each.size
            longest = max(longest, each.longest)
        if groups:
            yield groups, longest

    def _unpacked(self, group: int, columns: Sequence[int]) -> Unpacked:
        if self.pages is not None:
            return self.pages.unpacked(group, columns)
        size = max(0, int(self.file.metadata.row_group(group).total_byte_size))
        return Unpacked(size, 0, size)


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
