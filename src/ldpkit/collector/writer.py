"""The one thread that writes: it takes all uploads that wait, commits them together, then answers.

A commit that waits for the disk costs the same for one report and for a hundred thousand. So
uploads queue while a commit runs, and the next one takes them all: their reports are checked and
deduplicated as arrays, kept as chunks and counted in the same transaction. Nobody is told that a
report was accepted before it is on the disk.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ldpkit.client.upload import ID_BYTES
from ldpkit.collector.asked import Asked, Shelf
from ldpkit.collector.database import Connection, Database, DatabaseError
from ldpkit.collector.ids import IdSet
from ldpkit.collector.kept import Place, add_chunk, read_tally, write_tally
from ldpkit.collector.problems import HttpProblem

__all__ = ["Counted", "Upload", "Writer"]

_log = logging.getLogger("ldpkit.collector")

Done = TypeVar("Done")

_GROUP_BYTES = 1 << 25  # of uploads that are committed together
_QUEUE_BYTES = 1 << 28  # that may wait; beyond, devices are asked to come back
_RECONNECT = 1.0  # seconds between two tries to reach a database that is gone


class Counted(NamedTuple):
    """What became of the records of an upload."""

    accepted: int
    duplicate: int
    refused: int


@dataclass(eq=False)
class Upload:
    """Records of one question and round that wait to be written."""

    asked: Asked
    round: int
    records: bytes
    ticket: Any = None
    """What whoever submitted it knows it by, when its fate is told."""


@dataclass(eq=False)
class _Job:
    """Something else that is to be done by the writer, such as closing a round."""

    run: Callable[[Connection], Any]
    done: Callable[[Any, BaseException | None], None]


@dataclass(eq=False)
class _Together:
    """Uploads of one place in one commit, and what is found about them."""

    place: Place
    asked: Asked
    uploads: list[Upload] = field(default_factory=list)
    ids: Any = None
    new: Any = None
    valid: Any = None
    kept: Any = None

    @property
    def subject(self) -> tuple[str, str, int]:
        """What an id counts once for, whatever the version: collection, question and round."""
        return self.place.collection, self.place.question, self.place.round


class Writer(threading.Thread):
    """The writer of a database.

    Parameters
    ----------
    database : Database
        Where to write. The caller holds its writer lock.
    shelf : Shelf
        What is asked now.
    deliver : callable
        Takes the fates of all uploads of a commit at once, in the writer's thread: pairs of a
        ticket and what became of it.
    """

    def __init__(
        self,
        database: Database,
        shelf: Shelf,
        deliver: Callable[[list[tuple[Any, Counted | HttpProblem]]], None],
    ) -> None:
        super().__init__(name="ldpkit-writer", daemon=True)
        self.database, self.shelf, self._deliver = database, shelf, deliver
        self.ids: dict[tuple[str, str, int], IdSet] = {}
        self.tallies: dict[Place, tuple[int, np.ndarray[Any, np.dtype[np.int64]]]] = {}
        self.commits = self.reports = self.duplicates = self.refused = 0
        self._queue: queue.SimpleQueue[Upload | _Job | None] = queue.SimpleQueue()
        self._waiting, self._lock = 0, threading.Lock()
        self._connection: Connection | None = None

    # --- called by those who receive ---------------------------------------------------

    @property
    def waiting_bytes(self) -> int:
        """How many bytes of uploads wait."""
        return self._waiting

    def submit(self, upload: Upload) -> None:
        """Queue an upload, or refuse it if too many wait."""
        with self._lock:
            if self._waiting + len(upload.records) > _QUEUE_BYTES:
                raise HttpProblem("busy", "too many reports wait to be written")
            self._waiting += len(upload.records)
        self._queue.put(upload)

    def call(self, run: Callable[[Connection], Done], *, patience: float = 60.0) -> Done:
        """Run something in the writer's thread, between two commits, and return what it returns."""
        finished = threading.Event()
        outcome: list[Any] = [None, DatabaseError("the writer did not answer in time")]

        def done(result: Any, error: BaseException | None) -> None:
            outcome[:] = [result, error]
            finished.set()

        self._queue.put(_Job(run, done))
        finished.wait(patience)
        if outcome[1] is not None:
            raise outcome[1]
        result: Done = outcome[0]
        return result

    def stop(self) -> None:
        """Write all that waits, then end."""
        self._queue.put(None)
        self.join()

    # --- the thread --------------------------------------------------------------------

    def run(self) -> None:
        """Take what waits, again and again, until told to stop."""
        is_over = False
        while not is_over:
            batch, is_over = self._take()
            uploads = [each for each in batch if isinstance(each, Upload)]
            if uploads:
                self._write(uploads)
            for job in batch:
                if isinstance(job, _Job):
                    self._do(job)
        if self._connection is not None:
            self._connection.close()

    def _take(self) -> tuple[list[Upload | _Job], bool]:
        first = self._queue.get()
        batch, size = list[Upload | _Job](), 0
        while first is not None:
            batch.append(first)
            if isinstance(first, _Job):  # it sees all uploads before it, and none behind it
                break
            size += len(first.records)
            if size >= _GROUP_BYTES:
                break
            try:
                first = self._queue.get_nowait()
            except queue.Empty:
                break
        with self._lock:
            self._waiting -= size
        return batch, first is None

    def _connected(self) -> Connection:
        if self._connection is None:
            self._connection = self.database.connect()
        return self._connection

    def _failed(self, error: Exception) -> None:
        _log.error("a commit failed: %s", error)
        if isinstance(error, DatabaseError) and error.is_gone and self._connection is not None:
            with contextlib.suppress(Exception):
                self._connection.close()
            self._connection = None
            time.sleep(_RECONNECT)

    def _do(self, job: _Job) -> None:
        try:
            result = job.run(self._connected())
        except Exception as error:
            self._failed(error)
            job.done(None, error)
        else:
            job.done(result, None)

    def _write(self, uploads: list[Upload]) -> None:
        fates: list[tuple[Any, Counted | HttpProblem]]
        try:
            closed = [each for each in uploads if self._is_closed(each)]
            groups = _grouped(each for each in uploads if each not in closed)
            fresh = dict[tuple[str, str, int], list[Any]]()
            for group in groups:
                self._examine(group, fresh.setdefault(group.subject, []))
            if groups:
                self._commit(groups)
            fates = [
                (each.ticket, HttpProblem("round-closed", f"round {each.round} is closed")) for each in closed
            ]
            for group in groups:
                fates += _fates(group)
        except Exception as error:
            # Whatever it was, nothing was kept: devices send it again.
            self._failed(error)
            problem = HttpProblem("busy", "the reports could not be written, and nothing of them was kept")
            fates = [(each.ticket, problem) for each in uploads]
        self._deliver(fates)

    def _is_closed(self, upload: Upload) -> bool:
        """Whether the round was closed while the upload waited."""
        entry = self.shelf.get(upload.asked.collection)
        return entry.retired or upload.round in entry.closed

    def _examine(self, group: _Together, fresh: list[Any]) -> None:
        """Find out which reports can be, and which ids are new.

        `fresh` has the new ids of the same question and round under another version.
        """
        data = np.frombuffer(b"".join(each.records for each in group.uploads), np.uint8)
        records = data.reshape(-1, group.asked.record_bytes)
        group.ids = np.ascontiguousarray(records[:, :ID_BYTES]).view("<u8").ravel().astype(np.uint64)
        reports = np.ascontiguousarray(records[:, ID_BYTES:])
        group.valid = group.asked.mechanism.valid_mask(reports.tobytes())
        group.new = np.zeros(len(records), np.bool_)
        group.new[group.valid] = self.ids.setdefault(group.subject, IdSet()).new(group.ids[group.valid])
        for others in fresh:
            group.new &= ~np.isin(group.ids, others)
        fresh.append(group.ids[group.new])
        group.kept = reports[group.new]

    def _commit(self, groups: list[_Together]) -> None:
        connection = self._connected()
        tallies = dict[Place, tuple[int, np.ndarray[Any, np.dtype[np.int64]]]]()
        with connection.transaction():
            for group in groups:
                kept = group.kept
                if len(kept) == 0:
                    continue
                add_chunk(connection, group.place, kept, group.ids[group.new])
                mechanism = group.asked.mechanism
                added = mechanism.tally(mechanism.decode(kept.tobytes()))
                before = self.tallies.get(group.place) or read_tally(connection, group.place)
                n, counts = (
                    (added.n, added.counts)
                    if before is None
                    else (before[0] + added.n, before[1] + added.counts)
                )
                write_tally(connection, group.place, n, counts)
                tallies[group.place] = (n, counts)
        # Only what is on the disk is remembered: a commit that failed has counted nobody.
        self.tallies.update(tallies)
        for group in groups:
            self.ids[group.subject].add(group.ids[group.new])
            self.reports += int(group.new.sum())
            self.refused += int((~group.valid).sum())
            self.duplicates += int((group.valid & ~group.new).sum())
        self.commits += 1


def _grouped(uploads: Iterable[Upload]) -> list[_Together]:
    """Return uploads by what they answer."""
    groups: dict[Place, _Together] = {}
    for upload in uploads:
        place = upload.asked.place(upload.round)
        groups.setdefault(place, _Together(place, upload.asked)).uploads.append(upload)
    return list(groups.values())


def _fates(group: _Together) -> list[tuple[Any, Counted]]:
    """Return for each upload of a group how many of its records were counted."""
    fates, start = [], 0
    for upload in group.uploads:
        stop = start + len(upload.records) // group.asked.record_bytes
        accepted = int(group.new[start:stop].sum())
        refused = stop - start - int(group.valid[start:stop].sum())
        fates.append((upload.ticket, Counted(accepted, stop - start - accepted - refused, refused)))
        start = stop
    return fates
