"""Reports in Arrow columns and Parquet files: what a cluster reads.

The first line of an input is JSON that says what made the reports and how the column is laid out;
behind it are the values of the column, or a Parquet file with a description in its metadata.
"""

from __future__ import annotations

import functools
import io
import json
import random
from pathlib import Path
from typing import Any

import ldpkit
from fuzz.mutate import change_bytes, change_json
from fuzz.target import Target, refused_if, require
from fuzz.targets.tables import change_footer
from ldpkit.core.errors import LdpkitError
from ldpkit.core.random import seeded
from ldpkit.files.arrow import decode_column, open_parquet, report_column
from ldpkit.files.description import described, fingerprint
from ldpkit.mechanisms.base import from_spec

__all__ = ["COLUMNS", "REPORT_TABLES"]

_LAYOUTS = ("fixed", "binary", "large", "view", "dictionary", "chunks", "sliced", "text", "numbers")
_MOST_VALUES = 300


@functools.cache
def _mechanisms() -> tuple[Any, ...]:
    return (ldpkit.GRR(4, epsilon=1), ldpkit.OUE(9, epsilon=1), ldpkit.get("pm", (0, 1), epsilon=1))


def _values(mechanism: Any) -> bytes:
    some = [0, 1, 2, 3] if mechanism.name != "pm" else [0.1, 0.4, 0.5, 1.0]
    made: bytes = mechanism.encode(mechanism.privatize(some, rng=seeded(1)))
    return made


def _seeds() -> list[bytes]:
    made = []
    for index, mechanism in enumerate(_mechanisms()):
        for place, layout in enumerate(_LAYOUTS):
            asked = {"mechanism": index, "layout": layout, "bad": "count" if place % 2 else "refuse"}
            more = {"nulls": [1] if place % 3 == 1 else [], "blocks": place % 4 == 3, "odd": place % 5 == 4}
            made.append(json.dumps({**asked, **more}).encode() + b"\n" + _values(mechanism))
    return made


def _mutate(rng: random.Random, data: bytes) -> bytes:
    first, _, content = data.partition(b"\n")
    asked = json.loads(first)
    kind = rng.randrange(8)
    if kind == 0:
        asked["layout"] = rng.choice(_LAYOUTS)
    elif kind == 1:
        asked["nulls"] = [rng.randrange(6) for _ in range(rng.randrange(4))]
    elif kind == 2:
        asked[rng.choice(("blocks", "odd"))] = rng.random() < 0.5
    elif kind == 3:
        asked["bad"] = rng.choice(("refuse", "count"))
    elif kind == 4:
        asked["mechanism"] = rng.randrange(len(_mechanisms()))
    else:
        content = change_bytes(rng, content)[:3000]
    return json.dumps(asked).encode() + b"\n" + content


def _column(asked: dict[str, Any], content: bytes, width: int) -> tuple[Any, list[bytes | None]]:
    """Return a column of some layout, and its values."""
    import pyarrow as pa

    layout = asked["layout"]
    values: list[bytes | None] = [content[at : at + width] for at in range(0, len(content), width)]
    values = values[:_MOST_VALUES]
    if asked["blocks"] and values:
        values = [b"".join(each or b"" for each in values[:2]), *values[2:]]
    for place in asked["nulls"]:
        if place < len(values):
            values[place] = None
    if layout == "fixed":
        values = [None if each is None else each.ljust(width, b"\0")[:width] for each in values]
        return pa.array(values, pa.binary(width + (1 if asked["odd"] and not values else 0))), values
    if asked["odd"] and values:
        values.append(b"odd" * 5)
    if layout == "text":
        return pa.array([None if each is None else each.hex() for each in values], pa.string()), values
    if layout == "numbers":
        return pa.array([None if each is None else len(each) for each in values], pa.int64()), values
    if layout == "chunks":
        return pa.chunked_array([values[:2], values[2:]], pa.binary()), values
    if layout == "sliced":
        whole = pa.array([b"before", *values, b"behind"], pa.binary())
        return whole.slice(1, len(values)), values
    if layout == "dictionary":
        return pa.array(values, pa.binary()).dictionary_encode(), values
    types = {"binary": pa.binary(), "large": pa.large_binary(), "view": pa.binary_view()}
    return pa.array(values, types[layout]), values


def _check(data: bytes, folder: Path) -> None:
    first, _, content = data.partition(b"\n")
    try:
        asked = json.loads(first)
        mechanism = _mechanisms()[asked["mechanism"]]
        column, values = _column(asked, content, mechanism.report_bytes)
    except (ValueError, TypeError, KeyError, IndexError):
        raise LdpkitError("not a question of this target") from None
    found = decode_column(column, mechanism, bad=asked["bad"], blocks=asked["blocks"])
    _check_found(found, mechanism, values, asked["blocks"])


def _check_found(found: Any, mechanism: Any, values: list[bytes | None], blocks: bool) -> None:
    width = mechanism.report_bytes
    bad = set(found.bad.tolist())
    rows = range(len(values)) if found.rows is None else found.rows.tolist()
    require(len(found.reports) == len(rows), "reports without a row")
    require(bad <= set(range(len(values))), "a bad row that there is not")
    require(blocks or not bad & set(rows), "a row is good and bad")
    require(blocks or len(rows) + len(bad) == len(values), "rows are lost")
    encoded = mechanism.encode(found.reports)
    if not blocks:
        kept = b"".join(values[row] or b"" for row in rows)
        require(encoded == kept, "reports are not those of their rows")
    require(mechanism.tally(found.reports).n == len(encoded) // width, "reports are lost")


@functools.cache
def _tables() -> tuple[bytes, ...]:
    import pyarrow as pa
    from pyarrow import parquet

    made = []
    for mechanism in _mechanisms():
        reports = mechanism.decode(_values(mechanism))
        for is_described in (True, False):
            schema = pa.schema([pa.field("report", pa.binary(mechanism.report_bytes))])
            if is_described:
                schema = described(schema, mechanism)
            stream = io.BytesIO()
            table = pa.Table.from_arrays([report_column(mechanism, reports)], schema=schema)
            parquet.write_table(table, stream, compression="none")
            made.append(stream.getvalue())
    return tuple(made)


def _mutate_table(rng: random.Random, data: bytes) -> bytes:
    kind = rng.randrange(8)
    if kind < 3:
        return change_footer(rng, data)
    if kind == 3:
        return change_bytes(rng, data)
    import pyarrow as pa
    from pyarrow import parquet

    try:
        table = parquet.read_table(io.BytesIO(data))
        told = json.loads(table.schema.metadata[b"ldpkit"])
    except (pa.ArrowException, OSError, TypeError, KeyError, ValueError):
        return rng.choice(_tables())
    told = change_json(rng, told, ("record_length", "fingerprint", "batch", "epsilon", "domain", "mechanism"))
    if isinstance(told, dict) and rng.random() < 0.8:  # as a forger would, who knows the checksum
        try:
            mechanism = from_spec(told)
            told["record_length"], told["fingerprint"] = mechanism.report_bytes, fingerprint(mechanism)
        except (LdpkitError, ArithmeticError, RecursionError):
            pass
    text = json.dumps(told).encode("utf-8", "replace")
    stream = io.BytesIO()
    parquet.write_table(table.replace_schema_metadata({b"ldpkit": text}), stream, compression="none")
    return stream.getvalue()


def _check_table(data: bytes, folder: Path) -> None:
    path = folder / "a.parquet"
    path.write_bytes(data)
    opened = open_parquet(path)
    mechanism = _mechanisms()[0] if opened.description is None else opened.description.mechanism
    if opened.description is not None:
        opened.description.of_rows(opened.rows)
    refused_if("report" not in opened.names, "no column of reports")
    first = 0
    for batch in opened.batches(["report"], 1000):
        column = batch.column(0)
        found = decode_column(column, mechanism, bad="count", title=opened.title, first=first)
        values = column.to_pylist()
        require(all(each is None or isinstance(each, bytes) for each in values), "a report that is no bytes")
        _check_found(found, mechanism, values, False)
        first += len(values)
    require(first == opened.rows, "rows are lost")


COLUMNS = Target("report columns", _seeds, _mutate, _check)
REPORT_TABLES = Target("report tables", _tables, _mutate_table, _check_table)
