"""Past findings: inputs that once were taken, hung, filled the memory or ended in a traceback.

Each is made here, small and readable. Whoever finds another one adds it, or puts the file
that `script/fuzz` kept into a folder with the name of its target beside this module.
"""

from __future__ import annotations

import gzip
import io
import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import ldpkit
from files.parquetforging import GREEDY
from fuzz.targets import collections, models, reports, runlogs, stores, tables, tallies, walks
from fuzz.targets.examples import specs

__all__ = ["Finding", "findings"]


class Finding(NamedTuple):
    """An input with the name of what it is, its target, and whether it must be refused."""

    name: str
    target: str
    data: bytes
    is_refused: bool = True


def findings() -> Iterator[Finding]:
    """Yield all findings."""
    yield from _reports()
    yield from _tallies()
    yield from _descriptions()
    yield from _tables()
    yield from _walks()
    yield from _models()
    yield from _stores()
    yield from _logs()
    yield from _options()
    yield from _collections()
    for file in sorted(Path(__file__).parent.glob("*/*")):
        if file.is_file() and file.parent.name != "__pycache__":
            yield Finding(file.name, file.parent.name.replace("-", " "), file.read_bytes(), False)


def _header(record_length: int = 1, **changes: Any) -> bytes:
    spec = {**ldpkit.GRR(4, epsilon=1).spec(), "record_length": record_length, "ldpkit": "0.1", **changes}
    return json.dumps(spec).encode()


def _reports() -> Iterator[Finding]:
    def file(text: bytes, blocks: tuple[tuple[int, bytes], ...] = ((1, b"\0"),)) -> bytes:
        return reports.assemble((1, text, list(blocks), sum(count for count, _ in blocks)))

    aaa = ldpkit.get("aaa", (0, 1), epsilon=1.0, intervals=2).spec()
    for name, extra in (
        ("a header names a folder to write to", {"cache": "elsewhere/cache"}),
        ("a header sets a time limit", {"time_limit": 1e9}),
        ("a header has something solved", {"descriptor": [0.5, 0.5]}),
    ):
        parameters = {**aaa["parameters"], **extra}
        yield Finding(name, "reports", file(_header(**{**aaa, "parameters": parameters})))
    for intervals in (300, 10**9):
        solved = {**aaa, "parameters": {"epsilon": 1.0, "intervals": intervals, "time_limit": 1e9}}
        yield Finding(f"a header asks for {intervals} intervals", "reports", file(_header(**solved)))
    wide = _header(4, domain=1 << 26)
    yield Finding("many blocks for 2**26 values", "reports", file(wide, ((1, bytes(4)),) * 10))
    yield Finding("a header of 50,000 brackets", "reports", file(b'{"mechanism":' + b"[" * 50_000))
    yield Finding("an epsilon of 400 digits", "reports", file(_header(parameters={"epsilon": 10**400})))
    yield Finding("a mechanism that is a list", "reports", file(_header(mechanism=["grr"])))
    yield Finding("half a character as a label", "reports", file(_header(domain=["a", "\ud800"])), False)
    yield Finding("a NUL in a label", "reports", file(_header(domain=["a", "\0"])))
    alike = [number * (2**61 - 1) for number in range(1, 5000)]  # Python gives all of them one hash
    yield Finding("numbers that have one hash as labels", "reports", file(_header(domain=alike)))
    for name in ("atp", "ngram"):
        square = ldpkit.PlaneDomain.rectangle((0, 0), (1, 1), places=[(0.1, 0.1), (0.5, 0.6), (0.9, 0.2)])
        walk = ldpkit.get(name, square, epsilon=1)
        told = {**walk.spec(), "record_length": walk.report_bytes, "ldpkit": "0.1"}
        unordered = file(json.dumps(told).encode(), ((1, bytes(walk.report_bytes)),))
        yield Finding(f"reports of {name} to be counted", "reports", unordered)
    whole = file(_header())
    yield Finding("one bit of a report", "reports", whole.replace(struct.pack("<I", 0xD202EF8D) + b"\0", b""))


def _tallies() -> Iterator[Finding]:
    def tally(counts: list[int], n: Any, **changes: Any) -> bytes:
        spec = {**ldpkit.GRR(2, epsilon=1).spec(), "n": n, **changes}
        return tallies.assemble(json.dumps(spec).encode(), struct.pack(f"<{len(counts)}q", *counts))

    yield Finding("n of 400 digits", "tallies", tally([1, 1], 10**400))
    yield Finding("three reports support six values", "tallies", tally([3, 3], 3))
    yield Finding("ten reports support twenty values", "tallies", tally([10, 10], 10))
    yield Finding("counts that are negative", "tallies", tally([-1, 3], 2))
    yield Finding("n that is true", "tallies", tally([1, 0], True))
    yield Finding("more reports than fit", "tallies", tally([(1 << 63) - 1, 1], 1 << 63))
    near = ldpkit.get("pm", (0, 1), epsilon=1.0)
    counts = near.tally(near.privatize([0.0, 1.0])).counts.tolist()
    yield Finding("numbers up to 1e200", "tallies", tally(counts, 2, **{**near.spec(), "domain": [0, 1e200]}))
    loud = ldpkit.get("she", 2, epsilon=0.001).spec()
    yield Finding("noise of 138,819 outcomes", "tallies", tally([5, 7], 5488, **loud), False)
    turn = ldpkit.get("von_mises", 360, epsilon=4.0)
    two = turn.tally(turn.privatize([0.0, 90.0], rng=ldpkit.random.seeded(1))).to_bytes()
    words = b'["mean", "FILE", "--level", "0.9999999999999999"]\n'
    yield Finding("a direction at the highest level", "commands", words + two, False)
    noisy = ldpkit.get("she", 2, epsilon=1.0).spec()
    yield Finding("noise beyond 64 bits", "tallies", tally([1 << 62, 0], 21 << 50, **noisy))
    yield Finding("a provenance that is a list", "tallies", tally([1, 1], 2, provenance=[]))
    same = [["0" * 32, 0, 1], ["0" * 32, 0, 1]]
    yield Finding("a report that is there twice", "tallies", tally([1, 1], 2, provenance={"spans": same}))


def _descriptions() -> Iterator[Finding]:
    for domain in (["a", "b"], ["nan", 1], [0, float("inf")], [0, 1e309], [1e-320, 2e-320], [0, 10**400]):
        spec = {"mechanism": "pm", "parameters": {"epsilon": 1.0}, "domain": domain}
        yield Finding(f"an interval {str(domain)[:30]}", "specs", json.dumps(spec).encode())
    aaa = ldpkit.get("aaa", (0, 1), epsilon=1.0, intervals=2).spec()
    for outputs in (["a", "b"], [float("inf"), 1], [0, 10**400], [], [True, False], "01", [0.5, 1.5]):
        table = {**aaa["parameters"], "outputs": outputs}
        yield Finding(
            f"outputs {str(outputs)[:30]}", "aaa tables", json.dumps({**aaa, "parameters": table}).encode()
        )

    for name, epsilon in (("von_mises", 0.5), ("jrr", None)):
        asked = {"name": name, "domain": 10**400, "epsilon": epsilon, "only": ["description"]}
        yield Finding(f"{name} on a domain of 400 digits", "contracts", json.dumps(asked).encode())
    counts = {"spec": 0, "n": 1 << 53, "shape": "first", "estimator": None, "consistency": None}
    for place, told in enumerate(specs()):
        if told["mechanism"] == "group_count":
            many = json.dumps({**counts, "spec": place}).encode()
            yield Finding(f"2**53 groups, epsilon {told['parameters']['epsilon']}", "estimates", many, False)
        if told["mechanism"] == "tracs_c" and told["domain"]["shape"] == "disc":
            wide = {**counts, "spec": place, "n": (1 << 53) + 1, "shape": "even"}
            data = json.dumps(wide).encode().ljust(1 << 13)  # a tally has more bytes than that
            yield Finding("2**53 places on a disc", "estimates", data, False)
    yield Finding("a cached table of 50,000 brackets", "aaa caches", b'{"outputs":' + b"[" * 50_000)


def _tables() -> Iterator[Finding]:
    bomb = gzip.compress(b"1\n" * 20_000_000, 9)
    yield Finding("packed text of a thousand times its length", "values", tables.framed("a.txt.gz", bomb))
    yield Finding("half of a packed file", "values", tables.framed("a.txt.gz", bomb[:5000]))
    yield Finding("half a character", "values", tables.framed("a.txt", b"a\n\xed\xa0\x80\n"))
    empty = gzip.compress(b"1\n" + b"\n" * 10_000_000 + b"1\n", 9)
    yield Finding("packed lines without text", "values", tables.framed("a.txt.gz", empty, "stream"))
    twins = b"value,count\n" + b"".join(b"%d,1\n" % (number % 9999) for number in range(10_000))
    yield Finding("a label that is there twice", "counts", tables.framed("a.csv", twins, "counts"))
    yield Finding(
        "a count of 400 digits", "counts", tables.framed("a.csv", b"value,count\na,%d\nb,1\n" % 10**400)
    )
    long = _parquet({"v": _repeated("x" * 200, 2_000_000)})  # 400 MB as text, 1.6 GB in an array
    for read in ("column", "cells"):
        data = tables.framed("a.parquet", long, read)
        yield Finding(f"a Parquet file with one long value, by {read}", "parquet", data)
    for name, data in GREEDY.items():
        framed = tables.framed("a.parquet", data, "stream")
        yield Finding(f"a Parquet file that asks for too much: {name}", "parquet", framed)
    for name, data in (("without columns", _parquet({})), ("with a name that is not text", _renamed())):
        yield Finding(f"a Parquet file {name}", "parquet", tables.framed("a.parquet", data))


def _repeated(text: str, times: int) -> Any:
    import pyarrow

    return pyarrow.DictionaryArray.from_arrays(
        pyarrow.array(np.zeros(times, np.int32)), pyarrow.array([text])
    )


def _parquet(columns: dict[str, Any]) -> bytes:
    import pyarrow
    from pyarrow import parquet

    stream = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), stream, store_schema=False)
    return stream.getvalue()


def _renamed() -> bytes:
    return _parquet({"agesages": [1, 2]}).replace(b"agesages", b"\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8")


def _walks() -> Iterator[Finding]:
    def feature(row: Any, name: Any = "a", **about: Any) -> bytes:
        shape = {"type": "LineString", "coordinates": [row, [0, 1]]}
        return json.dumps({"type": "Feature", "id": name, "properties": about, "geometry": shape}).encode()

    for title, data in (
        ("a coordinate of 400 digits", feature([10**400, 1])),
        ("a coordinate that is an object", feature({"x": 1, "y": 2})),
        ("a time of 400 digits", feature([1, 1], time=[10**400, 1])),
        ("an id that is true", feature([1, 1], True)),
        ("an hour before the year 1", feature([1, 1], time=["0001-01-01T00:00+23:00", "0002-01-01"])),
    ):
        yield Finding(title, "trajectories", walks.framed("a.geojson", data))
    for name, is_refused in (("\ud800", False), (10**30, False), (1.5, True)):
        data = walks.framed("a.json", feature([1, 1], name))
        yield Finding(f"the id {name!r}", "trajectories", data, is_refused)
    long = walks.framed("a.csv", b"x,y\n1,29223372036854775807\n2,2\n")
    yield Finding("a coordinate of 20 digits", "trajectories", long, False)
    typed = b'<?xml version="1.0"?><!DOCTYPE gpx [<!ENTITY a SYSTEM "/etc/passwd">]><gpx>&a;</gpx>'
    yield Finding("a document type", "trajectories", walks.framed("a.gpx", typed))


def _models() -> Iterator[Finding]:
    for name, data in models.forged().items():
        yield Finding(name, "models", data)


def _stores() -> Iterator[Finding]:
    whole = stores.whole()
    at = whole.index(b"\3\3\3\3\3")
    yield Finding("one bit of a record", "stores", b"D" + whole[:at] + b"\2" + whole[at + 1 :])
    at = whole.index(b"tablekeptkept") - 10  # the length of that record
    yield Finding(
        "a length that is not there", "stores", b"D" + whole[:at] + b"\xff" * 6 + b"\x7f" + whole[at + 7 :]
    )
    for name, times in (("too often to count on", 2**63 - 1), ("less than never", -1)):
        row = (b"page", b"0", b"x", times)
        yield Finding(f"charged {name}", "stores", stores.forged(rows=((*row, stores.checksum(*row)),)))
    yield Finding("a store of one byte", "stores", b"DS")
    yield Finding("a store of no byte", "stores", b"D")
    yield Finding("a memo of 50,000 brackets", "stores", b"D" + b'{"a":' + b"[" * 50_000)
    endless = "WITH RECURSIVE c(records, checksum) AS (SELECT 1, 1 UNION ALL SELECT records, 2 FROM c)"
    view = f"DROP TABLE whole; CREATE VIEW whole AS {endless} SELECT * FROM c"
    yield Finding("a view without end", "stores", stores.forged(view))
    forgets = "CREATE TRIGGER t AFTER UPDATE ON kept BEGIN DELETE FROM kept; END"
    yield Finding("a trigger that forgets", "stores", stores.forged(forgets))


def _logs() -> Iterator[Finding]:
    yield Finding("a log of 50,000 brackets", "run logs", runlogs.chained([b"[" * 50_000]))
    yield Finding("a log of another program", "run logs", b"epsilon,protocol,value\n1,grr,0.5\n")
    yield Finding("a log that begins with a list", "run logs", runlogs.chained([b'["ldpkit_bench"]']))


def _options() -> Iterator[Finding]:
    for option, text in (
        ("population", "zipf:k=8,n=1" + "0" * 400),
        ("population", "zipf:k=1" + "0" * 400 + ",n=8"),
        ("population", "zipf:k=9007199254740992,n=8"),
        ("population", "exponential:k=9223372036854775807,n=8"),
        ("population", "zipf:k=67108864,n=8"),
        ("numbers", "gaussian:n=100000000"),
        ("output", "a\0b.csv"),
        ("output", "a\ud800.csv"),
        ("output", "a" * 5000 + ".csv"),
        ("plugin", "a\0.py"),
        ("plugin", "a" * 5000 + ".py"),
        ("metric", "topk_precision@" + "9" * 5000),
        ("domain", "9" * 5000),
        ("parameters", "d=" + "9" * 5000),
        ("data", "a[/b].txt"),
        ("memory", "9" * 400 + "G"),
    ):
        name = f"{option} {text[:25]!r}"
        yield Finding(name, "options", f"{option}\n{text}".encode("utf-8", "surrogatepass"))


def _collections() -> Iterator[Finding]:
    for name, old, new in (
        ("an epsilon that is no number", "epsilon = 0.5", "epsilon = nan"),
        ("an epsilon that is infinite", "epsilon = 0.5", "epsilon = inf"),
        ("a promise that is infinite without a word", "lifetime = 9.5", "lifetime = inf"),
    ):
        yield Finding(name, "collection texts", collections.TEXT.replace(old, new).encode())
