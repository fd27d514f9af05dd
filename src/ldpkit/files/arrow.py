"""Reports in Arrow columns and Parquet files: one fixed-length binary value a report."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldpkit.core.errors import MissingDependencyError
from ldpkit.core.wholefile import whole_file

if TYPE_CHECKING:
    from ldpkit.core.provenance import Provenance
    from ldpkit.core.typing import Reports
    from ldpkit.mechanisms.base import Mechanism

__all__ = ["write_parquet"]

_KEY = b"ldpkit"  # of the description in the metadata of a file


def write_parquet(path: Path, mechanism: Mechanism, parts: Iterable[Reports], provenance: Provenance) -> None:
    """Write reports to a Parquet file whose metadata says what made them."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingDependencyError("pyarrow", "a Parquet file", "frames") from None
    told = json.dumps({**mechanism.spec(), "record_length": mechanism.report_bytes, **provenance.to_json()})
    length = mechanism.report_bytes
    schema = pa.schema(
        [pa.field("report", pa.binary(length), nullable=False)], metadata={_KEY: told.encode()}
    )
    with whole_file(path) as stream, pq.ParquetWriter(stream, schema) as writer:
        for reports in parts:
            data = pa.py_buffer(mechanism.encode(reports))
            column: Any = pa.FixedSizeBinaryArray.from_buffers(
                pa.binary(length), data.size // length, [None, data]
            )
            writer.write_table(pa.Table.from_arrays([column], schema=schema))
