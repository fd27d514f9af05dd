"""The store of a device: a database with flipped bits, or one that somebody forged with a steady hand.

The first byte of an input says which. `D` is damage: each record must come back as it was
written, or the store be refused; never may it be called new. `F` is a forgery with
checksums that fit, and `J` one with a journal beside it that SQLite rolls back: any answer will
do that is no traceback and ends.
"""

from __future__ import annotations

import contextlib
import functools
import random
import sqlite3
import struct
import tempfile
from pathlib import Path
from typing import Any

from fuzz.mutate import HOSTILE_TEXTS, NUMBERS, change_bytes
from fuzz.target import Broken, Target, refused_if, require
from ldpkit.client import store as stores
from ldpkit.client.store import DeviceStore

__all__ = ["STORES", "checksum", "forged", "whole"]

checksum = stores._checksum
_OWNER = b"page"
_KEPT = {b"%d" % place: bytes([place]) * 5 for place in range(4)}
_ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c)"
_ALL = "x AS owner, x AS place, x AS content, x AS times, x AS checksum"
_SCHEMAS = (
    "CREATE TRIGGER t AFTER UPDATE ON kept BEGIN DELETE FROM kept; END",
    "CREATE TRIGGER t AFTER INSERT ON kept BEGIN INSERT INTO kept SELECT * FROM kept; END",
    "DROP TABLE kept",
    "DROP TABLE whole",
    "DELETE FROM whole",
    "INSERT INTO whole SELECT * FROM whole",
    f"DROP TABLE whole; CREATE VIEW whole AS {_ENDLESS} SELECT x AS records, x AS checksum FROM c",
    f"ALTER TABLE kept RENAME TO was; CREATE VIEW kept AS {_ENDLESS} SELECT {_ALL} FROM c",
    "ALTER TABLE kept ADD COLUMN more DEFAULT (zeroblob(1000000000))",
    "ALTER TABLE kept RENAME COLUMN content TO contents",
    "CREATE TABLE other (x)",
    "CREATE INDEX i ON kept (content)",
    "PRAGMA user_version=0",
    "PRAGMA user_version=7",
    "PRAGMA application_id=0",
    "PRAGMA journal_mode=WAL",
    "PRAGMA writable_schema=ON; UPDATE sqlite_master SET sql='CREATE TABLE kept (x)' WHERE name='kept'",
    "PRAGMA encoding='UTF-16'; VACUUM",
    "PRAGMA auto_vacuum=FULL; VACUUM",
)


@functools.cache
def whole() -> bytes:
    """Return an undamaged store of four records, in pages as small as SQLite has them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "store.db")
        with DeviceStore(path).transaction() as records:
            for place, content in _KEPT.items():
                records.recall(_OWNER, place, functools.partial(bytes, content), times=int(place) + 1)
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA page_size=512")
            connection.execute("VACUUM")
        return path.read_bytes()


def forged(*statements: str, rows: tuple[tuple[Any, ...], ...] = ()) -> bytes:
    """Return a store after some SQL and with some more rows, whose checksums fit."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "store.db")
        path.write_bytes(whole())
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
            for row in rows:
                with contextlib.suppress(sqlite3.Error):
                    connection.execute("INSERT OR REPLACE INTO kept VALUES (?, ?, ?, ?, ?)", row)
            with contextlib.suppress(sqlite3.Error, TypeError, OverflowError):
                sums = bytes(16)
                for (each,) in connection.execute("SELECT checksum FROM kept").fetchall():
                    sums = stores._both(sums, each)
                connection.execute(
                    "UPDATE whole SET records=(SELECT count(*) FROM kept), checksum=?", (sums,)
                )
            for statement in statements:
                with contextlib.suppress(sqlite3.Error):
                    connection.executescript(statement)
        return b"F" + path.read_bytes()


def _journal(pages: dict[int, bytes], *, count: int, size: int = 512) -> bytes:
    """Return a rollback journal that puts some pages back."""
    made = bytes.fromhex("d9d505f920a163d7") + struct.pack(">5I", len(pages), 7, count, 512, size)
    made += bytes(512 - len(made))
    for number, page in pages.items():
        checksum = 7 + sum(page[at] for at in range(len(page) - 200, 0, -200))
        made += struct.pack(">I", number) + page + struct.pack(">I", checksum)
    return made


def _with_journal(database: bytes, journal: bytes) -> bytes:
    return b"J" + struct.pack(">I", len(database)) + database + journal


def _seeds() -> list[bytes]:
    pages = {number: whole()[512 * number - 512 : 512 * number] for number in (1, 2)}
    journal = _with_journal(whole(), _journal(pages, count=len(whole()) // 512))
    return [b"D" + whole(), forged(), journal, *(forged(each) for each in _SCHEMAS)]


def _cell(rng: random.Random) -> Any:
    if rng.random() < 0.4:
        return rng.choice((_OWNER, b"0", b"", b"x" * 3000, rng.randbytes(5)))
    number = rng.choice(NUMBERS)
    if isinstance(number, int) and not -(2**63) <= number < 2**63:
        number = 2**63 - 1
    return rng.choice(
        (
            number,
            None,
            rng.choice(HOSTILE_TEXTS[:4] + HOSTILE_TEXTS[6:40]).encode("utf-8", "replace").decode(),
        )
    )


def _mutate(rng: random.Random, data: bytes) -> bytes:
    kind = rng.randrange(12)
    if kind == 0:  # costly, and so seldom
        owner, place, content, times = (_cell(rng) for _ in range(4))
        fits = isinstance(owner, bytes) and isinstance(place, bytes) and isinstance(content, bytes)
        fitting: Any = checksum(owner, place, content, times) if fits and type(times) is int else _cell(rng)
        return forged(
            *rng.sample(_SCHEMAS, rng.choice((0, 0, 1))), rows=((owner, place, content, times, fitting),)
        )
    if kind == 1:
        pages = {rng.choice((1, 2, 3, 4, 999)): change_bytes(rng, whole()[:512]).ljust(512, b"\0")[:512]}
        journal = _journal(pages, count=rng.choice((0, 1, 3, 4, 1 << 31)))
        return _with_journal(whole(), journal if rng.random() < 0.5 else change_bytes(rng, journal))
    if kind < 4:
        return b"D" + change_bytes(rng, whole())
    return data[:1] + change_bytes(rng, data[1:])


def _check(data: bytes, folder: Path) -> None:
    refused_if(not data, "not an input of this target")
    path = folder / "store.db"
    if data[:1] == b"J":
        length = int.from_bytes(data[1:5], "big")
        path.write_bytes(data[5 : 5 + length])
        (folder / "store.db-journal").write_bytes(data[5 + length :])
    else:
        path.write_bytes(data[1:])
    store, is_damage = DeviceStore(path), data[:1] == b"D"

    def make() -> bytes:
        if is_damage:
            raise Broken("a damaged store calls a record new")
        return b"new"

    with store.transaction() as records:
        for place, content in _KEPT.items():
            found = records.recall(_OWNER, place, make)
            require(found == content or not is_damage, "a damaged store gives another permanent report")
            require(type(found) is bytes, "a record is not bytes")
    with store.transaction() as records:
        charges = records.charges(_OWNER)
        expected = {place: int(place) + 1 for place in _KEPT}
        require(charges == expected or not is_damage, "a damaged store gives other charges")
    with store.transaction() as records:
        records.recall(_OWNER, b"0", make, times=1)
    with store.transaction() as records:  # what was just written must be there
        require(records.charges(_OWNER).get(b"0") == charges.get(b"0", 0) + 1, "a charge is forgotten")


STORES = Target("stores", _seeds, _mutate, _check)
